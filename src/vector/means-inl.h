// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
// The first loop of the backward pass over a row: its statistics, where they are not given, and the means that its
// gradients need.

// Per-target include guard
#if defined(ADDNORM_SRC_VECTOR_MEANS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ADDNORM_SRC_VECTOR_MEANS_INL_H_
#undef ADDNORM_SRC_VECTOR_MEANS_INL_H_
#else
#define ADDNORM_SRC_VECTOR_MEANS_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "src/backward.h"
#include "src/vector/accumulate-inl.h"
#include "src/vector/elements-inl.h"

HWY_BEFORE_NAMESPACE();
namespace addnorm {
namespace HWY_NAMESPACE {

// ---- The statistics of a row, as the forward call computes them.

template <Elements kElements>
HWY_NOINLINE Sums SquaresAbout(const ElementRow<kElements>& row, size_t cols, double pivot) {
  RowSums<FoldedLanes> sums;
  AccumulatePowers<Powers::kBothAboutPivot>(row, cols, pivot, sums);
  return {sums.values.Fold(), sums.squares.Fold()};
}

template <Statistic kStatistic, Elements kElements>
HWY_NOINLINE Scale ForwardScale(const ElementRow<kElements>& row, int64_t cols, double epsilon) {
  const size_t count = static_cast<size_t>(cols);
  RowSums<FoldedLanes> sums;
  if constexpr (kStatistic == Statistic::kLayerNorm) {
    AccumulatePowers<Powers::kBoth>(row, count, 0.0, sums);
    Moments m = OnePassMoments(sums.values.Fold(), sums.squares.Fold(), cols);
    if (HWY_UNLIKELY(m.needs_second_pass)) {
      const Sums about_mean = SquaresAbout(row, count, static_cast<double>(m.mean_hi));
      SecondPassMoments(about_mean.values, about_mean.squares, cols, m);
    }
    return LayerNormScale(m, epsilon, cols);
  } else {
    AccumulateFastSquares(row, count, sums);
    double mean_square = sums.squares.Fold() / static_cast<double>(cols);
    if (HWY_UNLIKELY(NeedsExactSquares(mean_square, cols))) {
      mean_square = SquaresAbout(row, count, 0.0).squares / static_cast<double>(cols);
    }
    return RmsNormScale(mean_square, epsilon);
  }
}

template <Statistic kStatistic, Elements kElements>
HWY_INLINE RowGradient Statistics(const BackwardCall& c, int64_t row) {
  if (c.rstd.data != nullptr) {
    const double mean = kStatistic == Statistic::kLayerNorm ? LoadStatistic(c.mean, row) : 0.0;
    return NormalizedBy(mean, LoadStatistic(c.rstd, row));
  }
  const Scale scale = ForwardScale<kStatistic>(ElementRow<kElements>(c.x, row), c.cols, c.epsilon);
  return NormalizedBy(static_cast<double>(scale.mean_hi) + scale.mean_lo, scale.rstd);
}

// ---- The sums of h and h * d over a row, in the canonical order.

// d = x - mean of one half vector.
template <Statistic kStatistic>
HWY_INLINE V64 Centered(D64 d, V64 x, const RowGradient& r) {
  if constexpr (kStatistic == Statistic::kLayerNorm) return hn::Sub(x, hn::Set(d, r.mean));
  return x;
}

// Adds h and h * d of one vector of columns to their lanes.
template <Statistic kStatistic, Elements kElements, class Extent>
HWY_INLINE void AddProducts(D64 d, const ElementRow<kElements>& x, const ElementRow<kElements>& dy,
                            const RowGradient& r, size_t col, Extent extent, V64 g_low, V64 g_high, V64& h_low,
                            V64& h_high, V64& hd_low, V64& hd_high) {
  V64 x_low, x_high, dy_low, dy_high;
  x.Widen(d, col, extent, x_low, x_high);
  dy.Widen(d, col, extent, dy_low, dy_high);
  x_low = Centered<kStatistic>(d, x_low, r);
  x_high = Centered<kStatistic>(d, x_high, r);
  if constexpr (std::is_same_v<Extent, Partial>) {  // beyond the row counts as zero, whatever the mean
    const size_t half = hn::Lanes(d), count = extent.count;
    x_low = hn::IfThenElseZero(hn::FirstN(d, std::min(count, half)), x_low);
    x_high = hn::IfThenElseZero(hn::FirstN(d, count - std::min(count, half)), x_high);
  }
  const V64 low = hn::Mul(dy_low, g_low), high = hn::Mul(dy_high, g_high);
  if constexpr (kStatistic == Statistic::kLayerNorm) {
    h_low = hn::Add(h_low, low);
    h_high = hn::Add(h_high, high);
  }
  hd_low = hn::MulAdd(low, x_low, hd_low);
  hd_high = hn::MulAdd(high, x_high, hd_high);
}

template <Statistic kStatistic, Elements kElements>
struct ProductSums {
  template <class Extent>
  HWY_INLINE void Step(D64 d, size_t col, Extent extent, V64& h_low, V64& h_high, V64& hd_low, V64& hd_high) const {
    V64 g_low, g_high;
    gamma.Widen(d, col, extent, g_low, g_high);
    AddProducts<kStatistic>(d, x, dy, r, col, extent, g_low, g_high, h_low, h_high, hd_low, hd_high);
  }

  HWY_INLINE void LastStep(D64 d, size_t col, size_t cols, V64& h_low, V64& h_high, V64& hd_low, V64& hd_high) const {
    const Partial extent = internal::Remaining(D32(), col, cols);
    if (extent.count != 0) Step(d, col, extent, h_low, h_high, hd_low, hd_high);
  }

  ElementRow<kElements> x, dy;
  EffectiveGamma<kElements> gamma;
  RowGradient r;
};

// The loop over the columns; kLane counts the members of the lane packs, as in RowLoop.
template <class Lanes>
struct ProductLoop;

template <size_t... kLane>
struct ProductLoop<std::index_sequence<kLane...>> {
  template <Statistic kStatistic, Elements kElements>
  static HWY_INLINE void Run(const ProductSums<kStatistic, kElements>& row, size_t cols, RowSums<FoldedLanes>& sums,
                             internal::Register<kLane>... h_low, internal::Register<kLane>... h_high,
                             internal::Register<kLane>... hd_low, internal::Register<kLane>... hd_high) {
    const D64 d;
    const size_t n = hn::Lanes(D32());
    size_t col = 0;
    for (; col + kLanes <= cols; col += kLanes) {
      (row.Step(d, col + kLane * n, Full(), h_low, h_high, hd_low, hd_high), ...);
    }
    if (col < cols) (row.LastStep(d, col + kLane * n, cols, h_low, h_high, hd_low, hd_high), ...);
    if constexpr (kStatistic == Statistic::kLayerNorm) sums.values.Finish(h_low..., h_high...);
    sums.squares.Finish(hd_low..., hd_high...);
  }
};

template <class Row, size_t... kLane>
HWY_INLINE void SumProducts(std::index_sequence<kLane...> lanes, const Row& row, size_t cols,
                            RowSums<FoldedLanes>& sums) {
  ProductLoop<decltype(lanes)>::Run(row, cols, sums, sums.values.Low(kLane)..., sums.values.High(kLane)...,
                                    sums.squares.Low(kLane)..., sums.squares.High(kLane)...);
}

template <Statistic kStatistic, Elements kElements>
HWY_NOINLINE void SetRowMeans(const BackwardCall& c, int64_t row, RowGradient& r) {
  const ProductSums<kStatistic, kElements> products = {{c.x, row}, {c.dy, row}, EffectiveGamma<kElements>(c), r};
  RowSums<FoldedLanes> sums;
  WithRegisters([&](auto lanes) HWY_ATTR { SumProducts(lanes, products, static_cast<size_t>(c.cols), sums); });
  SetMeans(sums.values.Fold(), sums.squares.Fold(), c.cols, r);
}

}  // namespace HWY_NAMESPACE
}  // namespace addnorm
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
