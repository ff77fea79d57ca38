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

// The add: fma(scale, residual, x + bias), rounded to S and stored on the way.
template <class X, class R, class S, class T, bool kHasBias, class Write = Cached>
struct SumRow {
  static constexpr bool kByPairs = kAreBF16<X, R, S> && !kHasBias;

  template <class Extent>
  HWY_INLINE V32 Value(D32 d, size_t col, Extent extent) const {
    V32 value = Packing<X>::Load(d, x + col, extent);
    if constexpr (kHasBias) value = hn::Add(value, bias.Load(d, col, extent));
    return hn::MulAdd(hn::Set(d, scale), Packing<R>::Load(d, residual + col, extent), value);
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

// The same of a call with dropout, from column `begin` of a row on: what is left of x + bias comes from a buffer that
// stays in L1.
template <class R, class S, class Write>
HWY_NOINLINE void EvaluateDropped(const Call& c, int64_t row, size_t begin, size_t count, S* to) {
  const R* residual = c.residual.Row<const R>(row) + begin;
  alignas(64) float kept[kDropoutPiece];
  for (size_t first = 0; first < count; first += kDropoutPiece) {
    const size_t piece = std::min(kDropoutPiece, count - first);
    DropOut(c, row, begin + first, piece, kept);
    const SumRow<float, R, S, float, false, Write> sums = {kept, residual + first, to + first,
                                                           VectorOperand<float>(c.bias), c.residual_scale};
    Evaluate(sums, piece);
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
      EvaluateDropped<R, S, Write>(c, row, begin, count, to);
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
