// addnorm: exact and fast Add & Norm kernels for CPUs.
// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#ifndef ADDNORM_DTYPES_HPP_
#define ADDNORM_DTYPES_HPP_

/** @file
 * The storage types of addnorm.hpp. */

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "addnorm/addnorm.h"

namespace addnorm {

/** @cond internal */
namespace detail {

template <typename To, typename From>
To BitCast(From from) noexcept {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof(to));
  return to;
}

// The conversions are in integers: exact in whatever floating-point mode the caller runs.

inline float FloatFromF16(uint16_t bits) noexcept {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000u) << 16;
  uint32_t exponent = (bits >> 10) & 0x1fu;
  uint32_t mantissa = bits & 0x3ffu;
  if (exponent == 0x1f) return BitCast<float>(sign | 0x7f800000u | (mantissa << 13));
  if (exponent == 0) {
    if (mantissa == 0) return BitCast<float>(sign);
    for (exponent = 1; (mantissa & 0x400u) == 0; --exponent) mantissa <<= 1;  // may wrap below 0; the sum below unwraps
  }
  return BitCast<float>(sign | ((exponent + 112) << 23) | ((mantissa & 0x3ffu) << 13));
}

inline uint16_t F16FromFloat(float value) noexcept {
  const uint32_t bits = BitCast<uint32_t>(value);
  const uint32_t sign = (bits >> 16) & 0x8000u;
  const uint32_t magnitude = bits & 0x7fffffffu;
  uint32_t result = 0;            // below 2^-25: zero
  if (magnitude > 0x7f800000u) {  // NaN: keep it one, quiet
    result = 0x7e00u | ((magnitude >> 13) & 0x3ffu);
  } else if (magnitude >= 0x47800000u) {  // 2^16 and above
    result = 0x7c00u;
  } else if (magnitude >= 0x38800000u) {  // normal; a carry may reach infinity
    result = ((magnitude + 0xfffu + ((magnitude >> 13) & 1u)) >> 13) - (112u << 10);
  } else if (magnitude >= 0x33000000u) {  // subnormal, in units of 2^-24
    const uint32_t mantissa = (magnitude & 0x7fffffu) | 0x800000u;
    const uint32_t shift = 126u - (magnitude >> 23);
    result = (mantissa + (1u << (shift - 1)) - 1u + ((mantissa >> shift) & 1u)) >> shift;
  }
  return static_cast<uint16_t>(sign | result);
}

inline uint16_t BF16FromFloat(float value) noexcept {
  const uint32_t bits = BitCast<uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<uint16_t>((bits >> 16) | 0x40u);
  return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

}  // namespace detail
/** @endcond */

/** IEEE binary16 as it is stored. */
struct float16 {
  uint16_t bits; /**< sign, 5 bits of exponent, 10 of fraction */

  float16() noexcept = default;
  /** Rounds to nearest even; NaN stays NaN. */
  explicit float16(float value) noexcept : bits(detail::F16FromFloat(value)) {}
  /** The exact value. */
  explicit operator float() const noexcept { return detail::FloatFromF16(bits); }
  /** The number with these bits. */
  static float16 FromBits(uint16_t bits) noexcept { return detail::BitCast<float16>(bits); }
};

/** bfloat16 as it is stored: the upper half of a binary32. */
struct bfloat16 {
  uint16_t bits; /**< sign, 8 bits of exponent, 7 of fraction */

  bfloat16() noexcept = default;
  /** Rounds to nearest even; NaN stays NaN. */
  explicit bfloat16(float value) noexcept : bits(detail::BF16FromFloat(value)) {}
  /** The exact value. */
  explicit operator float() const noexcept { return detail::BitCast<float>(static_cast<uint32_t>(bits) << 16); }
  /** The number with these bits. */
  static bfloat16 FromBits(uint16_t bits) noexcept { return detail::BitCast<bfloat16>(bits); }
};

/** Storage type of an operand, or of an intermediate value that is rounded. */
enum class DType : addnorm_dtype {
  kDefault = 0,         /**< what the option documents */
  kF32 = ADDNORM_F32,   /**< float */
  kF16 = ADDNORM_F16,   /**< float16 */
  kBF16 = ADDNORM_BF16, /**< bfloat16 */
  kF64 = ADDNORM_F64    /**< double; statistics only */
};

/** The DType of an element type T, undefined for types that are none. Specialize it for another library's 16-bit type
 * of the same layout to use that in views. */
template <typename T>
struct DTypeOf;
/** @cond internal */
template <>
struct DTypeOf<float> : std::integral_constant<DType, DType::kF32> {};
template <>
struct DTypeOf<float16> : std::integral_constant<DType, DType::kF16> {};
template <>
struct DTypeOf<bfloat16> : std::integral_constant<DType, DType::kBF16> {};
template <>
struct DTypeOf<double> : std::integral_constant<DType, DType::kF64> {};

namespace detail {

template <typename T>
inline constexpr DType kDType = DTypeOf<std::remove_const_t<T>>::value;

}  // namespace detail
/** @endcond */

}  // namespace addnorm

#endif  // ADDNORM_DTYPES_HPP_
