// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
// Loads and stores by storage type: the only place that knows how elements lie in memory. Values are f32 outside.

// Per-target include guard
#if defined(ADDNORM_SRC_VECTOR_STORAGE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ADDNORM_SRC_VECTOR_STORAGE_INL_H_
#undef ADDNORM_SRC_VECTOR_STORAGE_INL_H_
#else
#define ADDNORM_SRC_VECTOR_STORAGE_INL_H_
#endif

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "hwy/cache_control.h"
#include "hwy/highway.h"
#include "src/call.h"
#include "src/statistics.h"
#include "src/storage.h"

HWY_BEFORE_NAMESPACE();
namespace addnorm {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Vectors of at most V f32 lanes, and of half as many f64 lanes: longer ones (SVE beyond 512 bits) stay part empty.
using D32 = hn::CappedTag<float, kLanes>;
using D64 = hn::CappedTag<double, kLanes / 2>;
using V32 = hn::Vec<D32>;
using V64 = hn::Vec<D64>;

// How much of a vector lies within the row.
struct Full {};
struct Partial {
  size_t count;
};
// Every second of the elements of two vectors, of 16-bit types: such elements are the halves of 32-bit lanes, and need
// not be moved between lanes. For loops without an order.
struct Even {};
struct Odd {};

// Whether a loop without an order takes two vectors at a time: where all of its operands are bf16. With f32 among them,
// it would move more between lanes than it saves; f16 has no such halves.
template <class... T>
inline constexpr bool kAreBF16 = (std::is_same_v<T, BF16> && ...);

namespace internal {

template <class D, typename T>
HWY_INLINE hn::Vec<D> LoadElements(D d, const T* from, Full) {
  return hn::LoadU(d, from);
}
template <class D>
HWY_INLINE hn::Vec<D> LoadElements(D d, const float* from, Partial extent) {
  return hn::LoadN(d, from, extent.count);
}

template <class D, typename T>
HWY_INLINE void StoreElements(hn::Vec<D> v, D d, T* to, Full) {
  hn::StoreU(v, d, to);
}
template <class D>
HWY_INLINE void StoreElements(hn::Vec<D> v, D d, float* to, Partial extent) {
  hn::StoreN(v, d, to, extent.count);
}

// Where 16-bit lanes cannot be masked, these are long: one copy, not one in each loop's tail.
#if HWY_TARGET == HWY_AVX2 || (HWY_TARGET & HWY_ALL_NEON)
#define ADDNORM_INLINE_IF_MASKED HWY_NOINLINE
#else
#define ADDNORM_INLINE_IF_MASKED HWY_INLINE
#endif
template <class D>
ADDNORM_INLINE_IF_MASKED hn::Vec<D> LoadElements(D d, const uint16_t* from, Partial extent) {
  return hn::LoadN(d, from, extent.count);
}
template <class D>
ADDNORM_INLINE_IF_MASKED void StoreElements(hn::Vec<D> v, D d, uint16_t* to, Partial extent) {
  hn::StoreN(v, d, to, extent.count);
}
#undef ADDNORM_INLINE_IF_MASKED

// f32 to a 16-bit storage type and back.
template <class T>
struct Conversion {
  template <class D>
  static HWY_INLINE hn::Vec<D> Widen(D d, hn::Vec<hn::Rebind<uint16_t, D>> stored) {
    return hn::PromoteTo(d, hn::BitCast(hn::Rebind<hwy::float16_t, D>(), stored));
  }
  // Stores what v is rounded to, nearest even, with `store`, and returns it as f32.
  template <class D, class StoreBits>
  static HWY_INLINE hn::Vec<D> Narrow(D d, hn::Vec<D> v, const StoreBits& store) {
    const auto rounded = hn::DemoteTo(hn::Rebind<hwy::float16_t, D>(), v);
    store(hn::BitCast(hn::Rebind<uint16_t, D>(), rounded));
    return hn::PromoteTo(d, rounded);
  }
};

// Rounded in f32, of which bf16 is the upper half. Faster than Highway's conversion, which also makes signalling NaNs
// quiet: here v comes from arithmetic, whose NaNs are quiet, and remain NaNs when they are cut (WithQuietNaNs
// otherwise).
template <>
struct Conversion<BF16> {
  template <class D>
  static HWY_INLINE hn::Vec<D> Widen(D d, hn::Vec<hn::Rebind<uint16_t, D>> stored) {
    return hn::PromoteTo(d, hn::BitCast(hn::Rebind<hwy::bfloat16_t, D>(), stored));
  }
  template <class D, class StoreBits>
  static HWY_INLINE hn::Vec<D> Narrow(D d, hn::Vec<D> v, const StoreBits& store) {
    const hn::RebindToUnsigned<D> du;
    const auto bits = hn::BitCast(du, v);
    const auto half = hn::Add(hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 1u)), hn::Set(du, 0x7fffu));
    const auto rounded = hn::MaskedAddOr(bits, hn::RebindMask(du, hn::Eq(v, v)), bits, half);
    store(hn::TruncateTo(hn::Rebind<uint16_t, D>(), hn::ShiftRight<16>(rounded)));
    return hn::BitCast(d, hn::And(rounded, hn::Set(du, 0xffff0000u)));
  }

  using Lanes = hn::Vec<hn::RebindToUnsigned<D32>>;
  static HWY_INLINE V32 WidenEven(D32 d, Lanes stored) { return hn::BitCast(d, hn::ShiftLeft<16>(stored)); }
  static HWY_INLINE V32 WidenOdd(D32 d, Lanes stored) {
    return hn::BitCast(d, hn::And(stored, hn::Set(hn::RebindToUnsigned<D32>(), 0xffff0000u)));
  }
  // The upper halves plus 1 where lower + 0x7fff + (upper & 1) carries, which is bit 15 of an average. Not for NaNs
  // with a payload in the lower half, which can come of f32 operands alone.
  static HWY_INLINE hn::Vec<hn::Repartition<uint16_t, D32>> NarrowPair(V32 even, V32 odd) {
    const hn::RebindToUnsigned<D32> du;
    const hn::Repartition<uint16_t, D32> d;
    const auto even_bits = hn::BitCast(du, even), odd_bits = hn::BitCast(du, odd);
    const auto upper = hn::OddEven(hn::BitCast(d, odd_bits), hn::BitCast(d, hn::ShiftRight<16>(even_bits)));
    const auto lower = hn::OddEven(hn::BitCast(d, hn::ShiftLeft<16>(odd_bits)), hn::BitCast(d, even_bits));
    const auto half = hn::Or(hn::And(upper, hn::Set(d, uint16_t{1})), hn::Set(d, uint16_t{0x7ffe}));
    return hn::Add(upper, hn::ShiftRight<15>(hn::AverageRound(lower, half)));
  }
};

}  // namespace internal

// Storage types packed as they lie in memory: f32 as they are, 16-bit types in vectors of half the size.
template <class T>
struct Packing {
  // Elements as f32, exactly. D is D32 or half of it.
  template <class D, class Extent>
  static HWY_INLINE hn::Vec<D> Load(D d, const T* from, Extent extent) {
    const hn::Rebind<uint16_t, D> bits;
    return internal::Conversion<T>::Widen(
        d, internal::LoadElements(bits, reinterpret_cast<const uint16_t*>(from), extent));
  }

  static HWY_INLINE V32 Load(D32 d, const T* from, Even) { return internal::Conversion<T>::WidenEven(d, Lanes(from)); }
  static HWY_INLINE V32 Load(D32 d, const T* from, Odd) { return internal::Conversion<T>::WidenOdd(d, Lanes(from)); }

  // Stores v rounded to nearest even, and returns what was stored.
  template <class Extent>
  static HWY_INLINE V32 Store(D32 d, V32 v, T* to, Extent extent) {
    return internal::Conversion<T>::Narrow(d, v, [&](auto packed) HWY_ATTR {
      internal::StoreElements(packed, hn::Rebind<uint16_t, D32>(), reinterpret_cast<uint16_t*>(to), extent);
    });
  }

  // Stores the elements of two vectors, loaded as Even and Odd.
  static HWY_INLINE void StorePair(V32 even, V32 odd, T* to) {
    const hn::Repartition<uint16_t, D32> bits;
    hn::StoreU(internal::Conversion<T>::NarrowPair(even, odd), bits, reinterpret_cast<uint16_t*>(to));
  }

  template <class D>
  static HWY_INLINE hn::Vec<D> Round(D d, hn::Vec<D> v) {
    return internal::Conversion<T>::Narrow(d, v, [](auto) HWY_ATTR {});
  }

 private:
  static HWY_INLINE hn::Vec<hn::RebindToUnsigned<D32>> Lanes(const T* from) {
    const hn::Repartition<uint16_t, D32> bits;
    return hn::BitCast(hn::RebindToUnsigned<D32>(), hn::LoadU(bits, reinterpret_cast<const uint16_t*>(from)));
  }
};

template <>
struct Packing<float> {
  template <class D, class Extent>
  static HWY_INLINE hn::Vec<D> Load(D d, const float* from, Extent extent) {
    return internal::LoadElements(d, from, extent);
  }

  template <class Extent>
  static HWY_INLINE V32 Store(D32 d, V32 v, float* to, Extent extent) {
    internal::StoreElements(v, d, to, extent);
    return v;
  }

  template <class D>
  static HWY_INLINE hn::Vec<D> Round(D, hn::Vec<D> v) {
    return v;
  }
};

// How whole vectors are stored.
struct Cached {
  template <class T, class Extent>
  static HWY_INLINE V32 Store(D32 d, V32 v, T* to, Extent extent) {
    return Packing<T>::Store(d, v, to, extent);
  }
};

// Past the caches, to aligned addresses.
struct Streaming {
  static HWY_INLINE V32 Store(D32 d, V32 v, float* to, Full) {
    hn::Stream(v, d, to);
    return v;
  }
  static HWY_INLINE V32 Store(D32 d, V32 v, float* to, Partial extent) {
    return Packing<float>::Store(d, v, to, extent);
  }
};

// Rounds to a dtype known at run time. A branch that always goes the same way costs less than a copy of the loop.
template <class D>
HWY_INLINE hn::Vec<D> RoundTo(D d, addnorm_dtype dtype, hn::Vec<D> v) {
  if (dtype == ADDNORM_BF16) return Packing<BF16>::Round(d, v);
  if (dtype == ADDNORM_F16) return Packing<F16>::Round(d, v);
  return v;
}

// gamma, beta or bias: f32 or the combination's 16-bit type T, known at run time.
template <class T>
struct VectorOperand {
  explicit VectorOperand(const Operand& operand)
      : data(operand.data), is_f32(operand.dtype == ADDNORM_F32 || std::is_same_v<T, float>) {}

  // The same vector from column `begin` on.
  VectorOperand From(size_t begin) const {
    VectorOperand piece = *this;
    if (data != nullptr) piece.data = static_cast<const char*>(data) + begin * (is_f32 ? sizeof(float) : sizeof(T));
    return piece;
  }

  template <class Extent>
  HWY_INLINE V32 Load(D32 d, size_t col, Extent extent) const {
    if (is_f32) return Packing<float>::Load(d, static_cast<const float*>(data) + col, extent);
    return Packing<T>::Load(d, static_cast<const T*>(data) + col, extent);
  }

  const void* data;
  bool is_f32;
};

}  // namespace HWY_NAMESPACE
}  // namespace addnorm
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
