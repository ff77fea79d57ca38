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
#include "src/vector/dropout-inl.h"
#include "src/vector/elements-inl.h"
#include "src/vector/loops-inl.h"
#include "src/vector/means-inl.h"

HWY_BEFORE_NAMESPACE();
namespace addnorm {
namespace HWY_NAMESPACE {

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

// n of one half vector, before it is rounded. h = dy * g is exact, so that one fma gives h - mean_h.
template <Statistic kStatistic>
HWY_INLINE V64 NormGradient(D64 d, V64 dy, V64 g, V64 x, const RowGradient& r) {
  const V64 h = kStatistic == Statistic::kLayerNorm ? hn::MulSub(dy, g, hn::Set(d, r.mean_h)) : hn::Mul(dy, g);
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
      for (int64_t i = 0; Drops() && i < count_; ++i) masks_[i].Read(call_, first_ + i, begin_, piece);
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

// Where there is none.
struct NoMasks {
  HWY_INLINE V32 DropOut(D32, int64_t, size_t, V32 ds) const { return ds; }
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
  // Combine would clear the upper half first.
  return hn::ConcatLowerLower(d, hn::ResizeBitCast(d, hn::DemoteTo(half, high)),
                              hn::ResizeBitCast(d, hn::DemoteTo(half, low)));
}

// What the gradients of a few rows have in common, as copies: stores do not change them.
template <Elements kElements>
struct GradientCall {
  GradientCall(const BackwardCall& c, const BlockSums& block)
      : gamma(c), sums(block), scale(c.residual_scale), adds_after(c.adds_after) {}

  EffectiveGamma<kElements> gamma;
  BlockSums sums;
  float scale;
  bool adds_after;
};

// The gradients of row i, one vector of columns, and what they add to the sums.
template <Statistic kStatistic, Elements kElements, class Masks, class Extent>
HWY_INLINE void RowGradients(const GradientCall<kElements>& call, const BackwardRow<kElements>& row, const Masks& masks,
                             int64_t i, size_t col, Extent extent, V64 g_low, V64 g_high, V64& dgamma_low,
                             V64& dgamma_high, V64& dbeta_low, V64& dbeta_high, V64& dbias_low, V64& dbias_high) {
  const D32 d;
  const D64 d64;
  V64 dy_low, dy_high, x_low, x_high;
  row.dy.Widen(d64, col, extent, dy_low, dy_high);
  row.x.Widen(d64, col, extent, x_low, x_high);
  x_low = Centered<kStatistic>(d64, x_low, row.r);
  x_high = Centered<kStatistic>(d64, x_high, row.r);
  if (call.sums.gamma != nullptr) {
    const V64 inverse = hn::Set(d64, row.r.inverse);
    dgamma_low = hn::MulAdd(dy_low, hn::Mul(x_low, inverse), dgamma_low);
    dgamma_high = hn::MulAdd(dy_high, hn::Mul(x_high, inverse), dgamma_high);
  }
  dbeta_low = hn::Add(dbeta_low, dy_low);
  dbeta_high = hn::Add(dbeta_high, dy_high);
  V32 ds = Narrow(d, NormGradient<kStatistic>(d64, dy_low, g_low, x_low, row.r),
                  NormGradient<kStatistic>(d64, dy_high, g_high, x_high, row.r));
  ds = row.x.Round(d, ds);
  if (row.d_sum.data != nullptr) ds = row.x.Round(d, hn::Add(row.d_sum.Load(d, col, extent), ds));
  const V32 dx = masks.DropOut(d, i, col, ds);
  if (call.sums.bias != nullptr) {
    dbias_low = hn::Add(dbias_low, hn::PromoteLowerTo(d64, dx));
    dbias_high = hn::Add(dbias_high, hn::PromoteUpperTo(d64, dx));
  }
  StoreGradients(d, row, call.scale, dx, call.adds_after ? row.dy.Load(d, col, extent) : ds, col, extent);
}

// Calls add_rows(g_low, g_high, sums of dgamma, dbeta and dbias) with gamma and the sums of one vector of columns.
template <Elements kElements, class Extent, class AddRows>
HWY_INLINE void ColumnGradients(const GradientCall<kElements>& call, size_t col, Extent extent,
                                const AddRows& add_rows) {
  V64 g_low, g_high;
  call.gamma.Widen(D64(), col, extent, g_low, g_high);
  const SumVector dgamma(call.sums.gamma, col), dbeta(call.sums.beta, col), dbias(call.sums.bias, col);
  V64 dgamma_low = dgamma.Low(), dgamma_high = dgamma.High();
  V64 dbeta_low = dbeta.Low(), dbeta_high = dbeta.High();
  V64 dbias_low = dbias.Low(), dbias_high = dbias.High();
  add_rows(g_low, g_high, dgamma_low, dgamma_high, dbeta_low, dbeta_high, dbias_low, dbias_high);
  dgamma.Store(dgamma_low, dgamma_high);
  dbeta.Store(dbeta_low, dbeta_high);
  dbias.Store(dbias_low, dbias_high);
}

template <Statistic kStatistic, Elements kElements, class Extent>
HWY_INLINE void GroupGradients(const GradientCall<kElements>& call, const BackwardRow<kElements>* rows, int64_t count,
                               const RowsAhead& ahead, const RowMasks& masks, size_t col, Extent extent) {
  ColumnGradients(call, col, extent, [&](V64 g_low, V64 g_high, auto&... row_sums) HWY_ATTR ADDNORM_INLINE_LAMBDA {
    for (int64_t i = 0; i < count; ++i) {
      ahead.Prefetch(i, rows[i], col);
      RowGradients<kStatistic>(call, rows[i], masks, i, col, extent, g_low, g_high, row_sums...);
    }
  });
}

template <Statistic kStatistic, Elements kElements>
HWY_NOINLINE void GroupGradientsAtEnd(const GradientCall<kElements>& call, const BackwardRow<kElements>* rows,
                                      int64_t count, const RowsAhead& ahead, const RowMasks& masks, size_t col,
                                      Partial extent) {
  GroupGradients<kStatistic>(call, rows, count, ahead, masks, col, extent);
}

template <Statistic kStatistic, Elements kElements>
HWY_NOINLINE void NormGradients(const BackwardCall& c, const BackwardRow<kElements>* rows, int64_t first, int64_t count,
                                const RowsAhead& rows_ahead, const BlockSums& sums) {
  const GradientCall<kElements> call(c, sums);
  const RowsAhead ahead = rows_ahead;
  RowMasks masks(c, first, count);
  masks.ForEachVector([&](size_t col, auto extent) HWY_ATTR ADDNORM_INLINE_LAMBDA {
    if constexpr (std::is_same_v<decltype(extent), Full>) {
      GroupGradients<kStatistic>(call, rows, count, ahead, masks, col, extent);
    } else {
      GroupGradientsAtEnd<kStatistic>(call, rows, count, ahead, masks, col, extent);
    }
  });
}

// The gradients of a group of rows, and in the same loop the means of the rows that follow: what one computes hides how
// the other waits for memory (without prefetches, which cost more here than they gain), and gamma is widened once for
// both. For vectors that hold all lanes, cols that are whole vectors, and no dropout.
template <class Rows>
struct GradientsWithMeans;

template <size_t... kRow>
struct GradientsWithMeans<std::index_sequence<kRow...>> {
  template <Statistic kStatistic, Elements kElements>
  static HWY_INLINE void Run(const BackwardCall& c, const BackwardRow<kElements>* rows, BackwardRow<kElements>* next,
                             const BlockSums& sums, internal::Register<kRow>... h_low,
                             internal::Register<kRow>... h_high, internal::Register<kRow>... hd_low,
                             internal::Register<kRow>... hd_high) {
    const GradientCall<kElements> call(c, sums);
    const size_t cols = static_cast<size_t>(c.cols);
    for (size_t col = 0; col < cols; col += hn::Lanes(D32())) {
      ColumnGradients(call, col, Full(), [&](V64 g_low, V64 g_high, auto&... row_sums) HWY_ATTR ADDNORM_INLINE_LAMBDA {
        ((RowGradients<kStatistic>(call, rows[kRow], NoMasks(), kRow, col, Full(), g_low, g_high, row_sums...),
          AddProducts<kStatistic>(D64(), next[kRow].x, next[kRow].dy, next[kRow].r, col, Full(), g_low, g_high, h_low,
                                  h_high, hd_low, hd_high)),
         ...);
      });
    }
    (SetMeans(internal::FoldRegisters(h_low, h_high), internal::FoldRegisters(hd_low, hd_high), c.cols, next[kRow].r),
     ...);
  }
};

template <Statistic kStatistic, Elements kElements, size_t... kRow>
HWY_NOINLINE void NormGradientsWithMeans(std::index_sequence<kRow...> all_rows, const BackwardCall& c,
                                         const BackwardRow<kElements>* rows, BackwardRow<kElements>* next,
                                         const BlockSums& sums) {
  const auto zero = [](size_t) HWY_ATTR { return hn::Zero(D64()); };
  GradientsWithMeans<decltype(all_rows)>::template Run<kStatistic>(c, rows, next, sums, zero(kRow)..., zero(kRow)...,
                                                                   zero(kRow)..., zero(kRow)...);
}

// Whether the gradient of what was normalized is asked for, by itself or in what is made of it.
HWY_INLINE bool NeedsNormGradient(const BackwardCall& c) {
  return c.dx.data != nullptr || c.dbias.data != nullptr || (c.d_residual.data != nullptr && !c.adds_after);
}

// Signalling NaNs as quiet ones: rounding to bf16 wants those that come from arithmetic.
HWY_INLINE V32 WithQuietNaNs(D32 d, V32 v) {
  const hn::RebindToUnsigned<D32> du;
  return hn::IfThenElse(hn::Eq(v, v), v, hn::Or(v, hn::BitCast(d, hn::Set(du, 0x00400000u))));
}

// The gradients of the add alone.
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
      V32 ds = rows[i].d_sum.Load(d, col, extent);
      if constexpr (kElements == Elements::kAny) ds = WithQuietNaNs(d, ds);  // no arithmetic did
      const V32 dx = masks.DropOut(d, i, col, ds);
      low = hn::Add(low, hn::PromoteLowerTo(d64, dx));
      high = hn::Add(high, hn::PromoteUpperTo(d64, dx));
      StoreGradients(d, rows[i], scale, dx, ds, col, extent);
    }
    dbias.Store(low, high);
  });
}

// ---- The loop over the rows of blocks. Statistic::kNone is the add alone.

// A few rows on their way through the loop.
template <Elements kElements>
struct BackwardGroup {
  int64_t begin = 0;  // the first row's number
  int64_t count = 0;
  BackwardRow<kElements> rows[kMaxBackwardRows];
};

// Member by member: a struct written in parts and copied whole waits for its parts.
template <Statistic kStatistic, Elements kElements>
HWY_NOINLINE void BeginRow(const BackwardCall& c, int64_t row, BackwardRow<kElements>& begun) {
  begun.dy = ElementRow<kElements>(c.dy, row);
  begun.x = ElementRow<kElements>(c.x, row);
  begun.d_sum = ElementRow<kElements>(c.d_sum, row);
  begun.dx = ElementRow<kElements>(c.dx, row);
  begun.d_residual = ElementRow<kElements>(c.d_residual, row);
  if constexpr (kStatistic != Statistic::kNone) begun.r = Statistics<kStatistic, kElements>(c, row);
}

template <Statistic kStatistic, Elements kElements>
HWY_INLINE void SetGroupMeans(const BackwardCall& c, BackwardGroup<kElements>& group) {
  if (!NeedsNormGradient(c)) return;
  for (int64_t i = 0; i < group.count; ++i) {
    SetRowMeans<kStatistic, kElements>(c, group.begin + i, group.rows[i].r);
  }
}

// The gradients of a group, and the means of the one that follows. Either may be empty.
template <Statistic kStatistic, Elements kElements>
HWY_INLINE void NormGroup(const BackwardCall& c, const BackwardGroup<kElements>& group, BackwardGroup<kElements>& next,
                          const BlockSums& sums) {
  constexpr bool kHoldsLanes = !HWY_HAVE_SCALABLE && hn::MaxLanes(D32()) == kLanes;
  if constexpr (kHoldsLanes && kElements == Elements::kF32) {
    if (group.count + next.count == 2 * kMaxBackwardRows && c.cols % static_cast<int64_t>(kLanes) == 0 &&
        NeedsNormGradient(c) && c.dropout == nullptr) {
      return NormGradientsWithMeans<kStatistic>(std::make_index_sequence<kMaxBackwardRows>(), c, group.rows, next.rows,
                                                sums);
    }
  }
  if (group.count != 0)
    NormGradients<kStatistic>(c, group.rows, group.begin, group.count, RowsAhead(c, group.begin, group.count), sums);
  SetGroupMeans<kStatistic>(c, next);
}

template <Statistic kStatistic, Elements kElements>
HWY_NOINLINE void BackwardBlocksOf(const BackwardCall& c, int64_t begin, int64_t end, BeginBlock begin_block) {
  const int64_t together = BackwardRows(c.cols), block_rows = BlockRows(c.rows);
  const int64_t end_row = std::min(c.rows, end * block_rows);
  int64_t block = begin - 1, end_of_block = begin * block_rows;  // of the group
  BlockSums sums;
  BackwardGroup<kElements> groups[2];
  BackwardGroup<kElements>*group = &groups[0], *next = &groups[1];
  next->begin = end_of_block;
  do {
    std::swap(group, next);
    if (group->count != 0 && group->begin == end_of_block) {
      sums = begin_block(c, ++block);
      end_of_block += block_rows;
    }
    const int64_t after = group->begin + group->count;
    const int64_t left = (after == end_of_block ? after + block_rows : end_of_block) - after;  // in its block
    next->begin = after;
    next->count = std::min({together, left, end_row - after});
    for (int64_t i = 0; i < next->count; ++i) BeginRow<kStatistic>(c, after + i, next->rows[i]);
    if constexpr (kStatistic == Statistic::kNone) {
      if (group->count != 0) AddGradients(c, group->rows, group->begin, group->count, sums);
    } else {
      NormGroup<kStatistic>(c, *group, *next, sums);
    }
  } while (next->count != 0);
}

// Whether all that is loaded or stored by columns is f32.
HWY_INLINE bool IsF32(const BackwardCall& c) {
  for (const Operand* operand : {&c.dy, &c.x, &c.d_sum, &c.dx, &c.d_residual, static_cast<const Operand*>(&c.gamma)}) {
    if (operand->data != nullptr && operand->dtype != ADDNORM_F32) return false;
  }
  return true;
}

template <Statistic kStatistic>
void RunBackward(const BackwardCall& c, int64_t begin, int64_t end, BeginBlock begin_block) {
  if (IsF32(c)) {
    BackwardBlocksOf<kStatistic, Elements::kF32>(c, begin, end, begin_block);
  } else {
    BackwardBlocksOf<kStatistic, Elements::kAny>(c, begin, end, begin_block);
  }
#if HWY_ARCH_X86
  _mm256_zeroupper();  // as in kernels-inl.h
#endif
}

}  // namespace HWY_NAMESPACE
}  // namespace addnorm
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
