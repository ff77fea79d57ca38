// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
// The loop over rows that all norms share: the first pass over a few rows, their scales, then the rows normalized. Each
// step is a function of a few rows, so that one loop serves all kernels.

// Per-target include guard
#if defined(ADDNORM_SRC_VECTOR_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ADDNORM_SRC_VECTOR_ROWS_INL_H_
#undef ADDNORM_SRC_VECTOR_ROWS_INL_H_
#else
#define ADDNORM_SRC_VECTOR_ROWS_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "src/vector/staged-inl.h"

HWY_BEFORE_NAMESPACE();
namespace addnorm {
namespace HWY_NAMESPACE {

// Rows whose statistics are gathered before the first of them is normalized: their divisions and roots are those of one
// vector.
inline constexpr int64_t kMaxRowsTogether = 8;

// A few rows on their way through the loop. Arrays, not structs of a row: compilers then compute the scales in vectors.
struct RowGroup {
  int64_t begin = 0;  // the first row's number
  int64_t count = 0;
  // From the first pass.
  double values[kMaxRowsTogether] = {};
  double squares[kMaxRowsTogether] = {};
  // From the scales.
  double mean_lo[kMaxRowsTogether];
  double inverse64[kMaxRowsTogether];
  double rstd[kMaxRowsTogether];
  float mean_hi[kMaxRowsTogether];
  float inverse[kMaxRowsTogether];
  float correction[kMaxRowsTogether];
  int64_t hard[kMaxRowsTogether];  // not 0 if the row needs more than the first pass, or f64 to be normalized
  bool any_hard;

  HWY_INLINE Scale Get(int64_t r) const {
    return {mean_lo[r], inverse64[r], rstd[r], mean_hi[r], inverse[r], correction[r], hard[r] != 0};
  }
  HWY_INLINE void Set(int64_t r, const Scale& s) {
    mean_lo[r] = s.mean_lo;
    inverse64[r] = s.inverse64;
    rstd[r] = s.rstd;
    mean_hi[r] = s.mean_hi;
    inverse[r] = s.inverse;
    correction[r] = s.correction;
    hard[r] = s.wide;
  }
};

// What a kernel is made of, chosen once a call.
struct RowKernel {
  // Fills in the sums of a group.
  void (*first_pass)(const Call&, RowGroup&);
  // The sums of a row that the first pass was not good enough for: about a pivot for LayerNorm, exact for RMSNorm.
  Sums (*second_pass)(const Call&, int64_t row, double pivot);
  // The rows of a group, none of them hard. Null where only stages will do.
  void (*normalize)(const Call&, const RowGroup&, int64_t first, int64_t last);
  // The same, and the first pass over as many rows of a later group in the same loop. Null where that is not wanted.
  void (*normalize_with_first_pass)(const Call&, const RowGroup&, RowGroup& later);
  void (*normalize_staged)(const Call&, int64_t row, const Scale&);
  int64_t rows_together;
};

// ---- The first pass

// Adds what the statistic needs of a row, or of a piece of one.
template <Statistic kStatistic, class Source, class Lanes, class Beside = NothingBeside>
HWY_INLINE void AccumulateStatistic(const Source& source, size_t cols, RowSums<Lanes>& sums,
                                    const Beside& beside = Beside()) {
  if constexpr (kStatistic == Statistic::kLayerNorm) {
    AccumulatePowers<Powers::kBoth>(source, cols, 0.0, sums, beside);
  } else {
    AccumulateFastSquares(source, cols, sums, beside);
  }
}

// The sums of a group. Rows::Source(call, row) is what the first pass reads; beside(r) what is done in the same loop.
template <Statistic kStatistic, class Rows, class MakeBeside>
HWY_INLINE void SumGroup(const Call& c, RowGroup& group, const MakeBeside& beside) {
  for (int64_t r = 0; r < group.count; ++r) {
    RowSums<FoldedLanes> sums;
    AccumulateStatistic<kStatistic>(Rows::Source(c, group.begin + r), static_cast<size_t>(c.cols), sums, beside(r));
    group.values[r] = sums.values.Fold();
    group.squares[r] = sums.squares.Fold();
  }
}

template <Statistic kStatistic, class Rows>
HWY_NOINLINE void FirstPass(const Call& c, RowGroup& group) {
  SumGroup<kStatistic, Rows>(c, group, [](int64_t) HWY_ATTR { return NothingBeside(); });
}

// ---- The scales

// From the first pass's sums to the moments of the row; second_pass(pivot) gives the sums about a pivot.
template <class SecondPass>
HWY_INLINE Moments RowMoments(int64_t cols, double values, double squares, const SecondPass& second_pass) {
  Moments m = OnePassMoments(values, squares, cols);
  if (HWY_UNLIKELY(m.needs_second_pass)) {
    const Sums about_mean = second_pass(static_cast<double>(m.mean_hi));
    SecondPassMoments(about_mean.values, about_mean.squares, cols, m);
  }
  return m;
}

// The scale of any row.
template <Statistic kStatistic>
HWY_NOINLINE Scale RowScale(const Call& c, const RowKernel& kernel, int64_t row, double values, double squares) {
  if constexpr (kStatistic == Statistic::kLayerNorm) {
    const auto second_pass = [&](double pivot) HWY_ATTR { return kernel.second_pass(c, row, pivot); };
    return LayerNormScale(RowMoments(c.cols, values, squares, second_pass), c.epsilon, c.cols);
  } else {
    double mean_square = squares / static_cast<double>(c.cols);
    if (HWY_UNLIKELY(NeedsExactSquares(mean_square, c.cols))) {
      mean_square = kernel.second_pass(c, row, 0.0).squares / static_cast<double>(c.cols);
    }
    return RmsNormScale(mean_square, c.epsilon);
  }
}

// The scales of kCount rows as if none were hard, and which of them are. Straight code, which compilers vectorize.
template <Statistic kStatistic, int64_t kCount>
HWY_NOINLINE void PlainScales(const Call& c, RowGroup& group) {
  const int64_t cols = c.cols;
  const double epsilon = c.epsilon;
  RowGroup& HWY_RESTRICT g = group;
  for (int64_t r = 0; r < kCount; ++r) {
    if constexpr (kStatistic == Statistic::kLayerNorm) {
      const Moments m = OnePassMoments(g.values[r], g.squares[r], cols);
      g.Set(r, LayerNormScale(m, epsilon, cols));
      g.hard[r] |= m.needs_second_pass;
    } else {
      const double mean_square = g.squares[r] / static_cast<double>(cols);
      g.Set(r, RmsNormScale(mean_square, epsilon));
      g.hard[r] |= NeedsExactSquares(mean_square, cols);
    }
  }
}

template <Statistic kStatistic>
HWY_NOINLINE void ScaleRows(const Call& c, const RowKernel& kernel, RowGroup& group) {
  if (group.count == 1) {
    PlainScales<kStatistic, 1>(c, group);
  } else if (group.count <= 4) {
    PlainScales<kStatistic, 4>(c, group);
  } else {
    PlainScales<kStatistic, kMaxRowsTogether>(c, group);
  }
  int64_t hard = 0;
  for (int64_t r = 0; r < group.count; ++r) hard |= group.hard[r];
  group.any_hard = hard != 0;
  if (HWY_UNLIKELY(group.any_hard)) {
    for (int64_t r = 0; r < group.count; ++r) {
      if (group.hard[r] == 0) continue;
      group.Set(r, RowScale<kStatistic>(c, kernel, group.begin + r, group.values[r], group.squares[r]));
    }
  }
}

// ---- The loop

HWY_INLINE void NormalizeGroup(const Call& c, const RowKernel& kernel, const RowGroup& group) {
  if (HWY_LIKELY(!group.any_hard && kernel.normalize != nullptr)) return kernel.normalize(c, group, 0, group.count);
  for (int64_t r = 0; r < group.count; ++r) {
    if (kernel.normalize == nullptr || group.hard[r] != 0) {
      kernel.normalize_staged(c, group.begin + r, group.Get(r));
    } else {
      kernel.normalize(c, group, r, r + 1);
    }
  }
}

HWY_INLINE void StoreStatistics(const Call& c, const RowGroup& group) {
  if (c.mean.data == nullptr && c.rstd.data == nullptr) return;
  for (int64_t r = 0; r < group.count; ++r) {
    c.mean.StoreStatistic(group.begin + r, static_cast<double>(group.mean_hi[r]) + group.mean_lo[r]);
    c.rstd.StoreStatistic(group.begin + r, group.rstd[r]);
  }
}

// A group at a time.
template <Statistic kStatistic>
HWY_NOINLINE void NormalizeGroups(const Call& c, const RowKernel& kernel) {
  RowGroup group;
  for (; group.begin < c.rows; group.begin += group.count) {
    group.count = std::min(kernel.rows_together, c.rows - group.begin);
    kernel.first_pass(c, group);
    ScaleRows<kStatistic>(c, kernel, group);
    StoreStatistics(c, group);
    NormalizeGroup(c, kernel, group);
  }
}

// Three groups on their way: while one is normalized the scales of the next are computed, and the first pass goes over
// the one after, so that neither divisions and roots nor memory are waited for.
template <Statistic kStatistic>
HWY_NOINLINE void NormalizeGroupsAhead(const Call& c, const RowKernel& kernel) {
  RowGroup groups[3];
  int64_t begun = 0;
  const auto begin = [&](RowGroup& group) HWY_ATTR {
    group.begin = begun;
    group.count = std::min(kernel.rows_together, c.rows - begun);
    begun += group.count;
  };
  RowGroup *group = &groups[0], *next = &groups[1], *later = &groups[2];
  begin(*group);
  kernel.first_pass(c, *group);
  ScaleRows<kStatistic>(c, kernel, *group);
  begin(*next);
  kernel.first_pass(c, *next);
  while (group->count != 0) {
    if (next->count != 0) ScaleRows<kStatistic>(c, kernel, *next);
    StoreStatistics(c, *group);
    begin(*later);
    if (HWY_LIKELY(later->count == group->count && !group->any_hard)) {
      kernel.normalize_with_first_pass(c, *group, *later);
    } else {
      kernel.first_pass(c, *later);
      NormalizeGroup(c, kernel, *group);
    }
    RowGroup* const done = group;
    group = next;
    next = later;
    later = done;
  }
}

// All rows of a call.
template <Statistic kStatistic>
HWY_INLINE void NormalizeRows(const Call& c, const RowKernel& kernel) {
  if (kernel.normalize_with_first_pass == nullptr || c.rows <= kernel.rows_together) {
    NormalizeGroups<kStatistic>(c, kernel);
  } else {
    NormalizeGroupsAhead<kStatistic>(c, kernel);
  }
  if (c.streams) hwy::FlushStream();
}

// ---- The steps that differ between kernels

template <Statistic kStatistic>
using NarrowNormalize = std::conditional_t<kStatistic == Statistic::kLayerNorm, NarrowLayerNorm, NarrowRmsNorm>;

// Rows::Input(call, row) is what is read after the first pass.
template <Statistic kStatistic, class Rows>
HWY_NOINLINE Sums SecondPass(const Call& c, int64_t row, double pivot) {
  constexpr Powers kPowers = kStatistic == Statistic::kLayerNorm ? Powers::kBothAboutPivot : Powers::kSquares;
  return Rows::Input(c, row).template SumPowers<kPowers>(static_cast<size_t>(c.cols), pivot);
}

// One row of a group.
template <class Rows, class Normalize, class Affine, class Sink>
struct NormalizeRow {
  using Source = decltype(Rows::Input(Call(), 0).row);
  static constexpr bool kByPairs = Source::kIsBF16 && Affine::kIsBF16 && Sink::kIsBF16;

  NormalizeRow(const Call& c, const RowGroup& group, int64_t r, const Affine& of_call)
      : source(Rows::Input(c, group.begin + r).row),
        normalize(group.Get(r)),
        affine(of_call),
        sink(c, group.begin + r) {}

  template <class Extent>
  HWY_INLINE V32 Value(size_t col, Extent extent) const {
    const D32 d;
    return affine(d, normalize(d, source.Load(d, col, extent)), col, extent);
  }
  template <class Extent>
  HWY_INLINE void Vector(size_t col, Extent extent) const {
    StoreTo(sink, Value(col, extent), col, extent);
  }
  HWY_INLINE void Pair(size_t col) const { StorePairTo(sink, Value(col, Even()), Value(col, Odd()), col); }
  // Columns beside the sums of another row.
  template <class Count>
  HWY_INLINE void operator()(size_t begin, Count count) const {
    ForEachVectorOf(begin, count, [&](size_t col, auto extent) HWY_ATTR { Vector(col, extent); });
  }

  Source source;
  Normalize normalize;
  Affine affine;
  Sink sink;
};

template <class Rows, class Normalize, class Affine, class Sink>
HWY_NOINLINE void NormalizeNarrow(const Call& c, const RowGroup& group, int64_t first, int64_t last) {
  const Affine affine(c);
  for (int64_t r = first; r < last; ++r) {
    const NormalizeRow<Rows, Normalize, Affine, Sink> row(c, group, r, affine);
    constexpr size_t kUnroll = std::is_same_v<decltype(row.source), StoredRow<float>> ? 2 : 1;  // conversions are large
    const size_t cols = static_cast<size_t>(c.cols);
    size_t col = 0;
    if constexpr (row.kByPairs) col = ForEachPair(0, cols, [&](size_t at) HWY_ATTR { row.Pair(at); });
    ForEachVector<kUnroll>(col, cols, [&](size_t at, auto extent) HWY_ATTR { row.Vector(at, extent); });
  }
}

// Each row of `group` is normalized in the loop that sums a row of `later`: what one computes hides what the other
// waits for.
template <Statistic kStatistic, class Rows, class Normalize, class Affine, class Sink>
HWY_NOINLINE void NormalizeWithFirstPass(const Call& c, const RowGroup& group, RowGroup& later) {
  const Affine affine(c);
  SumGroup<kStatistic, Rows>(
      c, later, [&](int64_t r) HWY_ATTR { return NormalizeRow<Rows, Normalize, Affine, Sink>(c, group, r, affine); });
}

template <class Rows, class Normalize, class Sink, class T>
HWY_NOINLINE void NormalizeStaged(const Call& c, int64_t row, const Scale& scale) {
  NormalizeRowStaged<Normalize>(Rows::Input(c, row), static_cast<size_t>(c.cols), scale, AnyAffine<T>(c), Sink(c, row));
}

// A kernel without a first pass, in stages. T is the 16-bit type that gamma and beta may have.
template <Statistic kStatistic, class Rows, class Sink, class T>
HWY_INLINE RowKernel StagedKernel() {
  RowKernel kernel = {};
  kernel.second_pass = SecondPass<kStatistic, Rows>;
  kernel.normalize_staged = NormalizeStaged<Rows, NarrowNormalize<kStatistic>, Sink, T>;
  kernel.rows_together = 1;
  return kernel;
}

// Whether the first pass over later rows gains more than it costs: that rows may leave L1 until they are normalized.
// For RMSNorm, which has little to compute, not where rows are short, nor where they are long and memory is near.
template <Statistic kStatistic>
HWY_INLINE bool IsBetterAhead(const Call& c) {
  constexpr int64_t kMinCols = 256, kMaxColsInL1 = 2048, kElementsInL2 = int64_t{1} << 18;
  if constexpr (kStatistic == Statistic::kLayerNorm) return true;
  return c.cols >= kMinCols && (c.cols <= kMaxColsInL1 || c.rows > kElementsInL2 / c.cols);
}

// So many rows stay in L1 until they are normalized, alone or with the next two groups on their way. LayerNorm's scales
// take long enough to be shared by a few long rows.
template <Statistic kStatistic>
HWY_INLINE int64_t RowsTogether(int64_t cols, bool ahead) {
  constexpr int64_t kElementsAhead = kStatistic == Statistic::kLayerNorm ? 3072 : 1024;
  const int64_t elements = ahead ? kElementsAhead : 4096;
  return cols > elements / 3 ? 1 : std::min(elements / cols, kMaxRowsTogether);
}

// The same with one loop for plain rows, where the affine has one; and, if all matrices are f32 and the affine is a
// usual one, with one for them and the first pass, which reads Rows::Source. The others would cost more code than they
// gain time.
template <Statistic kStatistic, class Rows, class Sink, class T>
HWY_INLINE RowKernel FusedKernel(const Call& c) {
  using Normalize = NarrowNormalize<kStatistic>;
  RowKernel kernel = StagedKernel<kStatistic, Rows, Sink, T>();
  const auto set_loops = [&](auto affine, auto sink) HWY_ATTR {
    using Affine = typename decltype(affine)::Type;
    using To = typename decltype(sink)::Type;
    kernel.normalize = NormalizeNarrow<Rows, Normalize, Affine, To>;
    if constexpr (std::is_same_v<T, float> && Affine::kIsUsual) {
      if (!IsBetterAhead<kStatistic>(c)) return;
      kernel.normalize_with_first_pass = NormalizeWithFirstPass<kStatistic, Rows, Normalize, Affine, To>;
    }
  };
  WithAffine<kStatistic, T>(c, [&](auto affine) HWY_ATTR {
    if constexpr (std::is_same_v<T, float> && decltype(affine)::Type::kIsUsual) {
      if (c.streams) return set_loops(affine, TypeTag<typename Sink::WithStreaming>());
    }
    set_loops(affine, TypeTag<Sink>());
  });
  kernel.first_pass = FirstPass<kStatistic, Rows>;
  kernel.rows_together = RowsTogether<kStatistic>(c.cols, kernel.normalize_with_first_pass != nullptr);
  return kernel;
}

}  // namespace HWY_NAMESPACE
}  // namespace addnorm
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
