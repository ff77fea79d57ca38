// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
// A row in memory as a source of elements. Sources give them as f32, and widened to f64 in the two halves that hold the
// lanes of a f32 vector; the other source is the add, in sum-inl.h.

// Per-target include guard
#if defined(ADDNORM_SRC_VECTOR_SOURCES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ADDNORM_SRC_VECTOR_SOURCES_INL_H_
#undef ADDNORM_SRC_VECTOR_SOURCES_INL_H_
#else
#define ADDNORM_SRC_VECTOR_SOURCES_INL_H_
#endif

#include <cstddef>

#include "src/vector/storage-inl.h"

HWY_BEFORE_NAMESPACE();
namespace addnorm {
namespace HWY_NAMESPACE {

// A row in memory.
template <class T>
struct StoredRow {
  static constexpr bool kIsBF16 = kAreBF16<T>;

  template <class Extent>
  HWY_INLINE V32 Load(D32 d, size_t col, Extent extent) const {
    return Packing<T>::Load(d, from + col, extent);
  }

  // Half vectors are loaded again rather than cut from a whole one: converting from memory saves a shuffle.
  HWY_INLINE void Widen(D64 d, size_t col, Full full, V64& low, V64& high) const {
    const hn::Rebind<float, D64> half;
    low = hn::PromoteTo(d, Packing<T>::Load(half, from + col, full));
    high = hn::PromoteTo(d, Packing<T>::Load(half, from + col + hn::Lanes(d), full));
  }
  HWY_INLINE void Widen(D64 d, size_t col, Partial extent, V64& low, V64& high) const {
    const V32 v = Load(D32(), col, extent);
    low = hn::PromoteLowerTo(d, v);
    high = hn::PromoteUpperTo(d, v);
  }

  const T* from;
};

}  // namespace HWY_NAMESPACE
}  // namespace addnorm
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
