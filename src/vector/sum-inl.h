// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
// The add of a residual, as a source of elements that stores what it gives.

// Per-target include guard
#if defined(ADDNORM_SRC_VECTOR_SUM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ADDNORM_SRC_VECTOR_SUM_INL_H_
#undef ADDNORM_SRC_VECTOR_SUM_INL_H_
#else
#define ADDNORM_SRC_VECTOR_SUM_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "src/vector/dropout-inl.h"
#include "src/vector/loops-inl.h"
#include "src/vector/storage-inl.h"

HWY_BEFORE_NAMESPACE();
namespace addnorm {
namespace HWY_NAMESPACE {

template <class R, class Extent>
HWY_INLINE V32 AddResidual(D32 d, float scale, const R* residual, Extent extent, V32 value) {
  return hn::MulAdd(hn::Set(d, scale), Packing<R>::Load(d, residual, extent), value);
}

// The add: fma(scale, residual, x + bias), rounded to S and stored on the way.
template <class X, class R, class S, class T, bool kHasBias, class Write = Cached>
struct SumRow {
  static constexpr bool kByPairs = kAreBF16<X, R, S> && !kHasBias;

  template <class Extent>
  HWY_INLINE V32 Value(D32 d, size_t col, Extent extent) const {
    V32 value = Packing<X>::Load(d, x + col, extent);
    if constexpr (kHasBias) value = hn::Add(value, bias.Load(d, col, extent));
    return AddResidual(d, scale, residual + col, extent, value);
  }
  template <class Extent>
  HWY_INLINE V32 Load(D32 d, size_t col, Extent extent) const {
    return Write::Store(d, Value(d, col, extent), sum + col, extent);
  }
  HWY_INLINE void StorePair(size_t col) const {
    Packing<S>::StorePair(Value(D32(), col, Even()), Value(D32(), col, Odd()), sum + col);
  }

  template <class Extent>
  HWY_INLINE void Widen(D64 d, size_t col, Extent extent, V64& low, V64& high) const {
    const V32 v = Load(D32(), col, extent);
    low = hn::PromoteLowerTo(d, v);
    high = hn::PromoteUpperTo(d, v);
  }

  const X* x;
  const R* residual;
  S* sum;
  VectorOperand<T> bias;
  float scale;
};

// Stores the sums of columns `begin` to `end`.
template <class Sum>
HWY_INLINE void StoreSums(const Sum& sum, size_t begin, size_t end) {
  if constexpr (Sum::kByPairs) begin = ForEachPair(begin, end, [&](size_t col) HWY_ATTR { sum.StorePair(col); });
  ForEachVector<Sum::kByPairs ? 1 : 4>(begin, end,
                                       [&](size_t col, auto extent) HWY_ATTR { sum.Load(D32(), col, extent); });
}

template <class Sum>
HWY_NOINLINE void Evaluate(const Sum& row, size_t count) {
  const Sum sum = row;  // as in FirstPass
  StoreSums(sum, 0, count);
}

// Asks for as many elements as a block of a mask has.
template <class T>
HWY_INLINE void PrefetchBlock(const T* from) {
  for (size_t i = 0; i < static_cast<size_t>(kMaskBlock); i += 64 / sizeof(T)) hwy::Prefetch(from + i);
}

// The same of a call with dropout, from column `begin` of a row on, which is the first of a block of its mask. Only a
// block at a time, the next one asked for, so that memory is not idle while a mask is generated.
template <class X, class R, class S, class T, class Write>
HWY_NOINLINE void EvaluateDropped(const Call& c, int64_t row, size_t begin, size_t count, S* to) {
  const X* x = c.x.Row<const X>(row) + begin;
  const R* residual = c.residual.Row<const R>(row) + begin;
  const VectorOperand<T> bias(c.bias);
  const float factor = c.dropout->scale, scale = c.residual_scale;
  const MaskRow mask(c, row);
  constexpr size_t kBlock = static_cast<size_t>(kMaskBlock);
  for (size_t first = 0; first < count; first += kBlock) {
    if (first + 2 * kBlock <= count) {
      PrefetchBlock(x + first + kBlock);
      PrefetchBlock(residual + first + kBlock);
    }
    const MaskBits kept = mask.Block(begin + first);
    ForEachVector<1>(first, std::min(first + kBlock, count), [&](size_t col, auto extent) HWY_ATTR {
      const D32 d;
      V32 value = Packing<X>::Load(d, x + col, extent);
      if (bias.data != nullptr) value = hn::Add(value, bias.Load(d, begin + col, extent));
      value = hn::IfThenElse(kept.Kept(d, col - first), hn::Mul(value, hn::Set(d, factor)), hn::Set(d, -0.0f));
      Write::Store(d, AddResidual(d, scale, residual + col, extent, value), to + col, extent);
    });
  }
}

// The sums of a call. T is the 16-bit type that bias may have.
template <class X, class R, class S, class T>
struct SumRows {
  bool HasBias() const { return c.bias.data != nullptr; }

  // Columns `begin` and on of a row, to be stored at `to`.
  template <bool kHasBias, class Write = Cached>
  HWY_INLINE SumRow<X, R, S, T, kHasBias, Write> Row(int64_t row, size_t begin, S* to) const {
    return {c.x.Row<const X>(row) + begin, c.residual.Row<const R>(row) + begin, to,
            VectorOperand<T>(c.bias).From(begin), c.residual_scale};
  }

  template <class Write = Cached>
  void Evaluate(int64_t row, size_t begin, size_t count, S* to) const {
    if (HWY_UNLIKELY(c.dropout != nullptr)) {
      EvaluateDropped<X, R, S, T, Write>(c, row, begin, count, to);
    } else if (HasBias()) {
      HWY_NAMESPACE::Evaluate(Row<true, Write>(row, begin, to), count);
    } else {
      HWY_NAMESPACE::Evaluate(Row<false, Write>(row, begin, to), count);
    }
  }

  const Call& c;
};

}  // namespace HWY_NAMESPACE
}  // namespace addnorm
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
