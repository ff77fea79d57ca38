// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
// Rows whose dtype is known at run time, as sources and sinks of the backward pass. Calls in f32 alone have loops of
// their own; those with 16-bit operands share one, in which the dtype is a branch that always goes the same way.

// Per-target include guard
#if defined(ADDNORM_SRC_VECTOR_ELEMENTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ADDNORM_SRC_VECTOR_ELEMENTS_INL_H_
#undef ADDNORM_SRC_VECTOR_ELEMENTS_INL_H_
#else
#define ADDNORM_SRC_VECTOR_ELEMENTS_INL_H_
#endif

#include <cstddef>
#include <cstdint>

#include "src/vector/storage-inl.h"

HWY_BEFORE_NAMESPACE();
namespace addnorm {
namespace HWY_NAMESPACE {

enum class Elements { kF32, kAny };

// The ends of rows of any dtype: one copy, not one in each loop's tail.
inline HWY_NOINLINE V32 LoadEnd(const void* from, addnorm_dtype dtype, Partial extent) {
  const D32 d;
  if (dtype == ADDNORM_BF16) return Packing<BF16>::Load(d, static_cast<const BF16*>(from), extent);
  if (dtype == ADDNORM_F16) return Packing<F16>::Load(d, static_cast<const F16*>(from), extent);
  return Packing<float>::Load(d, static_cast<const float*>(from), extent);
}

inline HWY_NOINLINE void StoreEnd(V32 v, void* to, addnorm_dtype dtype, Partial extent) {
  const D32 d;
  if (dtype == ADDNORM_BF16) {
    Packing<BF16>::Store(d, v, static_cast<BF16*>(to), extent);
  } else if (dtype == ADDNORM_F16) {
    Packing<F16>::Store(d, v, static_cast<F16*>(to), extent);
  } else {
    Packing<float>::Store(d, v, static_cast<float*>(to), extent);
  }
}

// A row of a matrix, or a vector for all rows.
template <Elements kElements>
struct ElementRow {
  ElementRow() = default;
  HWY_INLINE ElementRow(const Operand& operand, int64_t row)
      : data(operand.data), dtype(operand.data != nullptr ? operand.dtype : ADDNORM_F32) {
    if (data != nullptr) data = static_cast<char*>(data) + row * operand.row_stride * Size();
  }

  int64_t Size() const { return kElements == Elements::kF32 || dtype == ADDNORM_F32 ? 4 : 2; }

  template <class T>
  HWY_INLINE T* At(size_t col) const {
    return static_cast<T*>(data) + col;
  }

  void* End(size_t col) const { return static_cast<char*>(data) + static_cast<int64_t>(col) * Size(); }

  template <class D>
  HWY_INLINE hn::Vec<D> LoadFull(D d, size_t col) const {
    if constexpr (kElements == Elements::kAny) {
      if (dtype == ADDNORM_BF16) return Packing<BF16>::Load(d, At<const BF16>(col), Full());
      if (dtype == ADDNORM_F16) return Packing<F16>::Load(d, At<const F16>(col), Full());
    }
    return Packing<float>::Load(d, At<const float>(col), Full());
  }

  HWY_INLINE V32 Load(D32 d, size_t col, Full) const { return LoadFull(d, col); }
  HWY_INLINE V32 Load(D32 d, size_t col, Partial extent) const {
    if constexpr (kElements == Elements::kAny) return LoadEnd(End(col), dtype, extent);
    return Packing<float>::Load(d, At<const float>(col), extent);
  }

  // As StoredRow does it.
  HWY_INLINE void Widen(D64 d, size_t col, Full, V64& low, V64& high) const {
    const hn::Rebind<float, D64> half;
    low = hn::PromoteTo(d, LoadFull(half, col));
    high = hn::PromoteTo(d, LoadFull(half, col + hn::Lanes(d)));
  }
  HWY_INLINE void Widen(D64 d, size_t col, Partial extent, V64& low, V64& high) const {
    const V32 v = Load(D32(), col, extent);
    low = hn::PromoteLowerTo(d, v);
    high = hn::PromoteUpperTo(d, v);
  }

  HWY_INLINE void Store(D32 d, V32 v, size_t col, Full full) const {
    if constexpr (kElements == Elements::kAny) {
      if (dtype == ADDNORM_BF16) return static_cast<void>(Packing<BF16>::Store(d, v, At<BF16>(col), full));
      if (dtype == ADDNORM_F16) return static_cast<void>(Packing<F16>::Store(d, v, At<F16>(col), full));
    }
    Packing<float>::Store(d, v, At<float>(col), full);
  }
  HWY_INLINE void Store(D32 d, V32 v, size_t col, Partial extent) const {
    if constexpr (kElements == Elements::kAny) return StoreEnd(v, End(col), dtype, extent);
    Packing<float>::Store(d, v, At<float>(col), extent);
  }

  // Rounded to the dtype of the row.
  HWY_INLINE V32 Round(D32 d, V32 v) const {
    if constexpr (kElements == Elements::kAny) return RoundTo(d, dtype, v);
    return v;
  }

  void* data;
  addnorm_dtype dtype;
};

// gamma + gamma_offset; what is absent is 1.
template <Elements kElements>
struct EffectiveGamma {
  explicit EffectiveGamma(const Call& c) : row(c.gamma, 0), offset(c.gamma_offset) {}

  // In f64, in the two halves that hold the lanes of a f32 vector.
  template <class Extent>
  HWY_INLINE void Widen(D64 d, size_t col, Extent extent, V64& low, V64& high) const {
    if (HWY_LIKELY(row.data != nullptr && offset == 0.0f)) return row.Widen(d, col, extent, low, high);
    const D32 d32;
    V32 g = row.data != nullptr ? row.Load(d32, col, extent) : hn::Set(d32, 1.0f);
    if (offset != 0.0f) g = hn::Add(g, hn::Set(d32, offset));
    low = hn::PromoteLowerTo(d, g);
    high = hn::PromoteUpperTo(d, g);
  }

  ElementRow<kElements> row;
  float offset;
};

}  // namespace HWY_NAMESPACE
}  // namespace addnorm
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
