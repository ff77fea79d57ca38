// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// The tests' own view of the storage types: conversions in integer code, which share nothing with the library.
#ifndef ADDNORM_TESTS_SUPPORT_DTYPE_H_
#define ADDNORM_TESTS_SUPPORT_DTYPE_H_

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "addnorm/addnorm.h"

namespace addnorm_test {

inline uint32_t BitsOf(float v) {
  uint32_t bits;
  std::memcpy(&bits, &v, sizeof(bits));
  return bits;
}
inline uint64_t BitsOf(double v) {
  uint64_t bits;
  std::memcpy(&bits, &v, sizeof(bits));
  return bits;
}
inline float F32OfBits(uint32_t bits) {
  float v;
  std::memcpy(&v, &bits, sizeof(v));
  return v;
}
inline double F64OfBits(uint64_t bits) {
  double v;
  std::memcpy(&v, &bits, sizeof(v));
  return v;
}

// An IEEE-like format: `digits` significant bits, the implicit one included.
struct Format {
  int digits;
  int max_exponent;  // of the largest finite value, as in 2^max_exponent * 1.f
  int min_exponent;  // of the smallest normal value
};

inline Format FormatOf(addnorm_dtype dtype) {
  switch (dtype) {
    case ADDNORM_F16:
      return {11, 15, -14};
    case ADDNORM_BF16:
      return {8, 127, -126};
    case ADDNORM_F64:
      return {53, 1023, -1022};
    default:
      return {24, 127, -126};
  }
}

inline const char* DtypeName(addnorm_dtype dtype) {
  switch (dtype) {
    case 0:
      return "none";
    case ADDNORM_F32:
      return "f32";
    case ADDNORM_F16:
      return "f16";
    case ADDNORM_BF16:
      return "bf16";
    case ADDNORM_F64:
      return "f64";
    default:
      return "?";
  }
}

inline size_t DtypeSize(addnorm_dtype dtype) {
  switch (dtype) {
    case ADDNORM_F32:
      return 4;
    case ADDNORM_F64:
      return 8;
    default:
      return 2;
  }
}

inline double MaxFinite(addnorm_dtype dtype) {
  const Format f = FormatOf(dtype);
  return std::ldexp(2.0 - std::ldexp(1.0, 1 - f.digits), f.max_exponent);
}

// The 16-bit pattern nearest to `v`, ties to even, of a format with `mantissa` stored fraction bits. In integers, from
// the bits of the f32: independent of the rounding mode and of what the library does.
inline uint16_t RoundToBits16(float v, int mantissa, int max_exponent) {
  const uint32_t bits = BitsOf(v);
  const uint32_t sign = (bits >> 16) & 0x8000u;
  const uint32_t magnitude = bits & 0x7fffffffu;
  const int bias = max_exponent;
  const uint32_t infinity = static_cast<uint32_t>(2 * bias + 1) << mantissa;
  if (magnitude > 0x7f800000u) return static_cast<uint16_t>(sign | infinity | (1u << (mantissa - 1)));  // a quiet NaN
  if (magnitude == 0x7f800000u) return static_cast<uint16_t>(sign | infinity);
  // value = significand * 2^exponent, with a 24-bit significand for normal f32.
  int exponent = static_cast<int>(magnitude >> 23);
  uint32_t significand = magnitude & 0x7fffffu;
  if (exponent == 0) {
    exponent = 1;
  } else {
    significand |= 0x800000u;
  }
  exponent -= 150;
  // The result's unit in the last place: that of its binade, or of the subnormals.
  int top = 23;
  while (top > 0 && (significand >> top) == 0) --top;
  const int binade = exponent + top;  // floor(log2 |v|); not looked at for 0
  const int min_exponent = 1 - bias;
  const int unit = (binade < min_exponent ? min_exponent : binade) - mantissa;
  const int shift = unit - exponent;  // >= 0 when the format is narrower
  uint32_t rounded;
  if (shift <= 0) {
    rounded = significand << -shift;
  } else if (shift > 25) {
    rounded = 0;
  } else {
    const uint32_t half = 1u << (shift - 1);
    const uint32_t rest = significand & ((half << 1) - 1);
    rounded = significand >> shift;
    if (rest > half || (rest == half && (rounded & 1u) != 0)) ++rounded;
  }
  // `rounded` counts units; adding it to the exponent field lets a carry move into the next binade, and to infinity.
  uint32_t pattern;
  if (binade < min_exponent) {
    pattern = rounded;
  } else {
    pattern = (static_cast<uint32_t>(binade + bias - 1) << mantissa) + rounded;
  }
  if (pattern > infinity) pattern = infinity;
  return static_cast<uint16_t>(sign | pattern);
}

inline uint16_t F32ToBf16(float v) { return RoundToBits16(v, 7, 127); }
inline uint16_t F32ToF16(float v) { return RoundToBits16(v, 10, 15); }

inline float Bf16ToF32(uint16_t bits) { return F32OfBits(static_cast<uint32_t>(bits) << 16); }

inline float F16ToF32(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000u) << 16;
  const uint32_t exponent = (bits >> 10) & 31u;
  const uint32_t fraction = bits & 0x3ffu;
  if (exponent == 31) return F32OfBits(sign | 0x7f800000u | (fraction << 13));
  if (exponent == 0) {
    const float magnitude = static_cast<float>(fraction) * 0x1p-24f;  // exact
    return F32OfBits(sign | BitsOf(magnitude));
  }
  return F32OfBits(sign | ((exponent + 112) << 23) | (fraction << 13));
}

// The value at `index`, widened without rounding.
inline double LoadValue(const void* data, int64_t index, addnorm_dtype dtype) {
  const unsigned char* at = static_cast<const unsigned char*>(data) + static_cast<size_t>(index) * DtypeSize(dtype);
  if (dtype == ADDNORM_F64) {
    double v;
    std::memcpy(&v, at, sizeof(v));
    return v;
  }
  if (dtype == ADDNORM_F32) {
    float v;
    std::memcpy(&v, at, sizeof(v));
    return static_cast<double>(v);
  }
  uint16_t bits;
  std::memcpy(&bits, at, sizeof(bits));
  return static_cast<double>(dtype == ADDNORM_F16 ? F16ToF32(bits) : Bf16ToF32(bits));
}

// Stores `v`, rounded to nearest even.
inline void StoreValue(void* data, int64_t index, addnorm_dtype dtype, float v) {
  unsigned char* at = static_cast<unsigned char*>(data) + static_cast<size_t>(index) * DtypeSize(dtype);
  if (dtype == ADDNORM_F64) {
    const double wide = static_cast<double>(v);
    std::memcpy(at, &wide, sizeof(wide));
  } else if (dtype == ADDNORM_F32) {
    std::memcpy(at, &v, sizeof(v));
  } else {
    const uint16_t bits = dtype == ADDNORM_F16 ? F32ToF16(v) : F32ToBf16(v);
    std::memcpy(at, &bits, sizeof(bits));
  }
}

// `v` rounded to a storage type and widened again.
inline float RoundF32To(float v, addnorm_dtype dtype) {
  if (dtype == ADDNORM_F16) return F16ToF32(F32ToF16(v));
  if (dtype == ADDNORM_BF16) return Bf16ToF32(F32ToBf16(v));
  return v;
}

// `v` rounded to nearest even in one step, straight from f64.
inline double RoundF64To(double v, addnorm_dtype dtype) {
  if (dtype == ADDNORM_F64 || v == 0.0 || !std::isfinite(v)) return v;
  const Format f = FormatOf(dtype);
  const int binade = std::ilogb(v);
  const int unit = (binade < f.min_exponent ? f.min_exponent : binade) - (f.digits - 1);
  const double scaled = std::ldexp(v, -unit);  // exact: f64's exponents exceed every format's here
  double whole = std::floor(scaled);
  const double rest = scaled - whole;
  if (rest > 0.5 || (rest == 0.5 && std::fmod(whole, 2.0) != 0.0)) whole += 1.0;
  const double rounded = std::ldexp(whole, unit);
  if (std::fabs(rounded) > MaxFinite(dtype)) {
    return std::copysign(std::numeric_limits<double>::infinity(), v);
  }
  return std::copysign(rounded, v);
}

}  // namespace addnorm_test

#endif  // ADDNORM_TESTS_SUPPORT_DTYPE_H_
