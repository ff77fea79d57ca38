// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
// The backward pass (docs/GRADIENTS.md): for a few rows at a time the means that their gradients need, then the rows'
// gradients, a vector of columns after the other, so that the sums over rows are loaded and stored once for all of
// them.

// Per-target include guard
#if defined(ADDNORM_SRC_VECTOR_BACKWARD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ADDNORM_SRC_VECTOR_BACKWARD_INL_H_
#undef ADDNORM_SRC_VECTOR_BACKWARD_INL_H_
#else
#define ADDNORM_SRC_VECTOR_BACKWARD_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "src/backward.h"
#include "src/vector/accumulate-inl.h"
#include "src/vector/dropout-inl.h"
#include "src/vector/elements-inl.h"
#include "src/vector/loops-inl.h"

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

template <Statistic kStatistic, Elements kElements>
struct ProductSums {
  template <class Extent>
  HWY_INLINE void Step(D64 d, size_t col, Extent extent, V64& h_low, V64& h_high, V64& hd_low, V64& hd_high) const {
    V64 x_low, x_high, dy_low, dy_high, g_low, g_high;
    x.Widen(d, col, extent, x_low, x_high);
    dy.Widen(d, col, extent, dy_low, dy_high);
    x_low = Centered<kStatistic>(d, x_low, r);
    x_high = Centered<kStatistic>(d, x_high, r);
    if constexpr (std::is_same_v<Extent, Partial>) {  // beyond the row counts as zero, whatever the mean
      const size_t half = hn::Lanes(d), count = extent.count;
      x_low = hn::IfThenElseZero(hn::FirstN(d, std::min(count, half)), x_low);
      x_high = hn::IfThenElseZero(hn::FirstN(d, count - std::min(count, half)), x_high);
    }
    gamma.Widen(d, col, extent, g_low, g_high);
    const V64 low = hn::Mul(dy_low, g_low), high = hn::Mul(dy_high, g_high);
    if constexpr (kStatistic == Statistic::kLayerNorm) {
      h_low = hn::Add(h_low, low);
      h_high = hn::Add(h_high, high);
    }
    hd_low = hn::MulAdd(low, x_low, hd_low);
    hd_high = hn::MulAdd(high, x_high, hd_high);
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

// ---- The gradients of a few rows

// Rows that share one visit to the sums over rows.
inline constexpr int64_t kMaxBackwardRows = 4;

// They have to stay in L2 between the two loops.
HWY_INLINE int64_t BackwardRows(int64_t cols) {
  constexpr int64_t kElementsInL2 = int64_t{1} << 15;
  return std::max<int64_t>(1, std::min(kMaxBackwardRows, kElementsInL2 / cols));
}

template <Elements kElements>
struct BackwardRow {
  ElementRow<kElements> dy, x, d_sum, dx, d_residual;
  RowGradient r;
};

// Sums over rows of one vector of columns: loaded, added to, and stored. They fill whole vectors.
struct SumVector {
  SumVector(double* sums, size_t col) : at(sums != nullptr ? sums + col : nullptr) {}
  HWY_INLINE V64 Low() const { return at != nullptr ? hn::LoadU(D64(), at) : hn::Zero(D64()); }
  HWY_INLINE V64 High() const { return at != nullptr ? hn::LoadU(D64(), at + hn::Lanes(D64())) : hn::Zero(D64()); }
  HWY_INLINE void Store(V64 low, V64 high) const {
    if (at == nullptr) return;
    hn::StoreU(low, D64(), at);
    hn::StoreU(high, D64(), at + hn::Lanes(D64()));
  }
  double* at;
};

// n of one half vector, before it is rounded.
template <Statistic kStatistic>
HWY_INLINE V64 NormGradient(D64 d, V64 h, V64 x, const RowGradient& r) {
  if constexpr (kStatistic == Statistic::kLayerNorm) h = hn::Sub(h, hn::Set(d, r.mean_h));
  return hn::Mul(hn::NegMulAdd(x, hn::Set(d, r.slope), h), hn::Set(d, r.inverse));
}

// Stores what an add passes on, where asked for.
template <Elements kElements, class Extent>
HWY_INLINE void StoreGradients(D32 d, const BackwardRow<kElements>& row, float scale, V32 dx, V32 stream, size_t col,
                               Extent extent) {
  if (row.dx.data != nullptr) row.dx.Store(d, dx, col, extent);
  if (row.d_residual.data != nullptr) row.d_residual.Store(d, hn::Mul(hn::Set(d, scale), stream), col, extent);
}

// The masks of a few rows, where there is dropout: a piece of their columns at a time.
class RowMasks {
 public:
  RowMasks(const BackwardCall& c, int64_t first, int64_t count)
      : call_(c), first_(first), count_(count), scale_(c.dropout != nullptr ? c.dropout->scale : 1.0f) {}

  // Calls f for each vector of columns.
  template <class Function>
  HWY_INLINE void ForEachVector(const Function& f) {
    const size_t cols = static_cast<size_t>(call_.cols);
    const size_t step = Drops() ? kChunk : cols;
    for (; begin_ < cols; begin_ += step) {
      const size_t piece = std::min(step, cols - begin_);
      for (int64_t i = 0; Drops() && i < count_; ++i) ReadMask(call_, first_ + i, begin_, piece, &masks_[i]);
      HWY_NAMESPACE::ForEachVector<1>(begin_, begin_ + piece, f);
    }
  }

  // What of a gradient reaches x of row i.
  HWY_INLINE V32 DropOut(D32 d, int64_t i, size_t col, V32 ds) const {
    if (HWY_LIKELY(!Drops())) return ds;
    return hn::IfThenElseZero(masks_[i].Kept(d, col - begin_), hn::Mul(ds, hn::Set(d, scale_)));
  }

 private:
  bool Drops() const { return call_.dropout != nullptr; }

  const BackwardCall& call_;
  const int64_t first_, count_;
  const float scale_;
  size_t begin_ = 0;
  MaskChunk masks_[kMaxBackwardRows];
};

// The rows to come, asked for while those before them are written: the first loop over a row computes little, and would
// wait for memory.
struct RowsAhead {
  RowsAhead(const BackwardCall& c, int64_t first, int64_t together) {
    constexpr int64_t kElementsInL2 = int64_t{1} << 17;
    if (c.rows <= kElementsInL2 / c.cols) return;
    count = c.rows - together - first;
    if (count <= 0) return;  // strides mean nothing where there is no next row
    dy = together * c.dy.row_stride * Size(c.dy);
    x = together * c.x.row_stride * Size(c.x);
  }
  static int64_t Size(const Operand& operand) { return operand.dtype == ADDNORM_F32 ? 4 : 2; }

  template <class Row>
  HWY_INLINE void Prefetch(int64_t i, const Row& row, size_t col) const {
    if (i >= count) return;
    ADDNORM_PREFETCH_L2(static_cast<const char*>(row.dy.data) + static_cast<int64_t>(col) * row.dy.Size() + dy);
    ADDNORM_PREFETCH_L2(static_cast<const char*>(row.x.data) + static_cast<int64_t>(col) * row.x.Size() + x);
  }

  int64_t dy = 0, x = 0;  // bytes from a row to the one that takes its place
  int64_t count = 0;      // rows that there are
};

HWY_INLINE V32 Narrow(D32 d, V64 low, V64 high) {
  const hn::Rebind<float, D64> half;
  return hn::Combine(d, hn::DemoteTo(half, high), hn::DemoteTo(half, low));
}

template <Statistic kStatistic, Elements kElements>
HWY_NOINLINE void NormGradients(const BackwardCall& c, const BackwardRow<kElements>* rows, int64_t first, int64_t count,
                                const RowsAhead& rows_ahead, const BlockSums& block) {
  const D32 d;
  const D64 d64;
  const EffectiveGamma<kElements> gamma(c);
  const float scale = c.residual_scale;
  const BlockSums sums = block;
  const RowsAhead ahead = rows_ahead;
  const bool adds_after = c.adds_after;
  RowMasks masks(c, first, count);
  masks.ForEachVector([&](size_t col, auto extent) HWY_ATTR {
    V64 g_low, g_high;
    gamma.Widen(d64, col, extent, g_low, g_high);
    const SumVector dgamma(sums.gamma, col), dbeta(sums.beta, col), dbias(sums.bias, col);
    V64 dgamma_low = dgamma.Low(), dgamma_high = dgamma.High();
    V64 dbeta_low = dbeta.Low(), dbeta_high = dbeta.High();
    V64 dbias_low = dbias.Low(), dbias_high = dbias.High();
    for (int64_t i = 0; i < count; ++i) {
      const BackwardRow<kElements>& row = rows[i];
      ahead.Prefetch(i, row, col);
      V64 dy_low, dy_high, x_low, x_high;
      row.dy.Widen(d64, col, extent, dy_low, dy_high);
      row.x.Widen(d64, col, extent, x_low, x_high);
      x_low = Centered<kStatistic>(d64, x_low, row.r);
      x_high = Centered<kStatistic>(d64, x_high, row.r);
      if (sums.gamma != nullptr) {
        const V64 inverse = hn::Set(d64, row.r.inverse);
        dgamma_low = hn::MulAdd(dy_low, hn::Mul(x_low, inverse), dgamma_low);
        dgamma_high = hn::MulAdd(dy_high, hn::Mul(x_high, inverse), dgamma_high);
      }
      dbeta_low = hn::Add(dbeta_low, dy_low);
      dbeta_high = hn::Add(dbeta_high, dy_high);
      V32 ds = Narrow(d, NormGradient<kStatistic>(d64, hn::Mul(dy_low, g_low), x_low, row.r),
                      NormGradient<kStatistic>(d64, hn::Mul(dy_high, g_high), x_high, row.r));
      ds = row.x.Round(d, ds);
      if (row.d_sum.data != nullptr) ds = row.x.Round(d, hn::Add(row.d_sum.Load(d, col, extent), ds));
      const V32 dx = masks.DropOut(d, i, col, ds);
      if (sums.bias != nullptr) {
        dbias_low = hn::Add(dbias_low, hn::PromoteLowerTo(d64, dx));
        dbias_high = hn::Add(dbias_high, hn::PromoteUpperTo(d64, dx));
      }
      StoreGradients(d, row, scale, dx, adds_after ? row.dy.Load(d, col, extent) : ds, col, extent);
    }
    dgamma.Store(dgamma_low, dgamma_high);
    dbeta.Store(dbeta_low, dbeta_high);
    dbias.Store(dbias_low, dbias_high);
  });
}

// Whether the gradient of what was normalized is asked for, by itself or in what is made of it.
HWY_INLINE bool NeedsNormGradient(const BackwardCall& c) {
  return c.dx.data != nullptr || c.dbias.data != nullptr || (c.d_residual.data != nullptr && !c.adds_after);
}

// The same of the add alone.
template <Elements kElements>
HWY_NOINLINE void AddGradients(const BackwardCall& c, const BackwardRow<kElements>* rows, int64_t first, int64_t count,
                               const BlockSums& block) {
  const D32 d;
  const D64 d64;
  const float scale = c.residual_scale;
  double* const bias = block.bias;
  RowMasks masks(c, first, count);
  masks.ForEachVector([&](size_t col, auto extent) HWY_ATTR {
    const SumVector dbias(bias, col);
    V64 low = dbias.Low(), high = dbias.High();
    for (int64_t i = 0; i < count; ++i) {
      const V32 ds = rows[i].d_sum.Load(d, col, extent);
      const V32 dx = masks.DropOut(d, i, col, ds);
      low = hn::Add(low, hn::PromoteLowerTo(d64, dx));
      high = hn::Add(high, hn::PromoteUpperTo(d64, dx));
      StoreGradients(d, rows[i], scale, dx, ds, col, extent);
    }
    dbias.Store(low, high);
  });
}

// ---- The loop over the rows of a block. Statistic::kNone is the add alone.

template <Statistic kStatistic, Elements kElements>
HWY_NOINLINE void BackwardRowsOf(const BackwardCall& c, int64_t begin, int64_t end, const BlockSums& sums) {
  const int64_t together = BackwardRows(c.cols);
  BackwardRow<kElements> rows[kMaxBackwardRows];
  for (int64_t first = begin; first < end; first += together) {
    const int64_t count = std::min(together, end - first);
    for (int64_t i = 0; i < count; ++i) {
      const int64_t row = first + i;
      rows[i] = {{c.dy, row}, {c.x, row}, {c.d_sum, row}, {c.dx, row}, {c.d_residual, row}, {}};
      if constexpr (kStatistic != Statistic::kNone) {
        rows[i].r = Statistics<kStatistic, kElements>(c, row);
        if (NeedsNormGradient(c)) SetRowMeans<kStatistic, kElements>(c, row, rows[i].r);
      }
    }
    if constexpr (kStatistic == Statistic::kNone) {
      AddGradients(c, rows, first, count, sums);
    } else {
      NormGradients<kStatistic>(c, rows, first, count, RowsAhead(c, first, together), sums);
    }
  }
}

// Whether all that is loaded or stored by columns is f32.
HWY_INLINE bool IsF32(const BackwardCall& c) {
  for (const Operand* operand : {&c.dy, &c.x, &c.d_sum, &c.dx, &c.d_residual, static_cast<const Operand*>(&c.gamma)}) {
    if (operand->data != nullptr && operand->dtype != ADDNORM_F32) return false;
  }
  return true;
}

template <Statistic kStatistic>
void RunBackward(const BackwardCall& c, int64_t begin, int64_t end, const BlockSums& sums) {
  if (IsF32(c)) {
    BackwardRowsOf<kStatistic, Elements::kF32>(c, begin, end, sums);
  } else {
    BackwardRowsOf<kStatistic, Elements::kAny>(c, begin, end, sums);
  }
#if HWY_ARCH_X86
  _mm256_zeroupper();  // as in kernels-inl.h
#endif
}

}  // namespace HWY_NAMESPACE
}  // namespace addnorm
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
