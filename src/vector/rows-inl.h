// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
// The loop over rows that all norms share: statistics of a few rows, their scales, then the rows normalized.

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

template <Statistic kStatistic>
using NarrowNormalize = std::conditional_t<kStatistic == Statistic::kLayerNorm, NarrowLayerNorm, NarrowRmsNorm>;

// Adds what the statistic needs of a row, or of a piece of one.
template <Statistic kStatistic, class Source, class Lanes>
HWY_INLINE void AccumulateStatistic(const Source& source, size_t cols, RowSums<Lanes>& sums) {
  if constexpr (kStatistic == Statistic::kLayerNorm) {
    AccumulatePowers<Powers::kBoth>(source, cols, 0.0, sums);
  } else {
    AccumulateFastSquares(source, cols, sums);
  }
}

// The first pass over a row.
template <Statistic kStatistic, class Source>
HWY_NOINLINE Sums FirstPass(const Source& row, size_t cols) {
  const Source source = row;  // stays in registers, as the stores that it does cannot change it
  RowSums<FoldedLanes> sums;
  AccumulateStatistic<kStatistic>(source, cols, sums);
  return {sums.values.Fold(), sums.squares.Fold()};
}

// From the first pass's sums to the moments of the row, with the second pass if it is needed.
template <class Input>
HWY_INLINE Moments RowMoments(const Input& input, int64_t cols, const Sums& sums) {
  Moments m = OnePassMoments(sums.values, sums.squares, cols);
  if (HWY_UNLIKELY(m.needs_second_pass)) {
    const Sums about_mean =
        input.template SumPowers<Powers::kBothAboutPivot>(static_cast<size_t>(cols), static_cast<double>(m.mean_hi));
    SecondPassMoments(about_mean.values, about_mean.squares, cols, m);
  }
  return m;
}

template <Statistic kStatistic, class Input>
HWY_INLINE Scale RowScale(const Input& input, const Call& c, const Sums& sums) {
  if constexpr (kStatistic == Statistic::kLayerNorm) {
    return LayerNormScale(RowMoments(input, c.cols, sums), c.epsilon, c.cols);
  } else {
    double mean_square = sums.squares / static_cast<double>(c.cols);
    if (HWY_UNLIKELY(NeedsExactSquares(mean_square, c.cols))) {
      mean_square = input.template SumPowers<Powers::kSquares>(static_cast<size_t>(c.cols), 0.0).squares /
                    static_cast<double>(c.cols);
    }
    return RmsNormScale(mean_square, c.epsilon);
  }
}

// Rows whose statistics are gathered before the first of them is normalized: their divisions and roots then overlap.
// They have to stay in L1 until they are.
inline constexpr int64_t kMaxRowsTogether = 8;

HWY_INLINE int64_t RowsTogether(int64_t cols) {
  constexpr int64_t kElementsInL1 = 4096;
  return std::clamp(kElementsInL1 / cols, int64_t{1}, kMaxRowsTogether);
}

// Rows that come from beyond L2 are asked for while the row before is written, a piece at a time, as the hardware does
// not look ahead from one row to the next. Measured to gain for RMSNorm alone: LayerNorm's first pass computes for as
// long as it waits, and a sum reads two rows and writes one in its first pass.
inline constexpr size_t kPrefetchCols = 512;

HWY_INLINE bool IsBeyondCache(const Call& c) {
  constexpr int64_t kElementsInL2 = int64_t{1} << 19;
  return c.cols >= static_cast<int64_t>(kPrefetchCols) && c.rows > kElementsInL2 / c.cols;
}

// Into L2: L1 holds the row before, gamma and beta.
template <class T>
HWY_INLINE void PrefetchElements(const T* from, size_t count) {
  constexpr size_t kStep = 64 / sizeof(T);  // a cache line
  for (size_t i = 0; i < count; i += kStep) __builtin_prefetch(from + i, 0, 2);
}

// Rows gives, by row number: FirstPass; Input, what the row is read from after it; and Sink. kFused unless it needs the
// staged path; kPrefetches if it gains, and then Prefetch, of what FirstPass reads.

// The scales of rows `begin` to `begin` + `count`, at most kMaxRowsTogether.
template <Statistic kStatistic, class Rows>
HWY_NOINLINE void ScaleRows(const Call& c, const Rows& rows, int64_t begin, int64_t count, Scale* scales) {
  Sums sums[kMaxRowsTogether];
  for (int64_t r = 0; r < count; ++r) sums[r] = rows.FirstPass(begin + r, static_cast<size_t>(c.cols));
  for (int64_t r = 0; r < count; ++r) {
    scales[r] = RowScale<kStatistic>(rows.Input(begin + r), c, sums[r]);
    c.mean.StoreStatistic(begin + r, static_cast<double>(scales[r].mean_hi) + scales[r].mean_lo);
    c.rstd.StoreStatistic(begin + r, scales[r].rstd);
  }
}

// Rows that are normalized as they lie in memory.
template <Statistic kStatistic, class X, class SinkType, bool kIsFused = true>
struct PlainRows {
  static constexpr bool kFused = kIsFused;
  static constexpr bool kPrefetches = kStatistic == Statistic::kRmsNorm;
  static int64_t Together(int64_t cols) { return RowsTogether(cols); }
  StoredInput<X> Input(int64_t row) const { return {{c.x.Row<const X>(row)}}; }
  SinkType Sink(int64_t row) const { return SinkType(c, row); }
  void Prefetch(int64_t row, size_t begin, size_t end) const {
    PrefetchElements(c.x.Row<const X>(row) + begin, end - begin);
  }
  Sums FirstPass(int64_t row, size_t cols) const { return HWY_NAMESPACE::FirstPass<kStatistic>(Input(row).row, cols); }

  const Call& c;
};

// All rows of a call. T is the 16-bit type that gamma and beta may have.
template <Statistic kStatistic, class T, class Rows>
HWY_INLINE void NormalizeRows(const Call& c, const Rows& rows) {
  using Normalize = NarrowNormalize<kStatistic>;
  const size_t cols = static_cast<size_t>(c.cols);
  const int64_t together = Rows::Together(c.cols);
  const bool prefetch = Rows::kPrefetches && IsBeyondCache(c);
  const size_t piece_cols = prefetch ? kPrefetchCols : cols;
  WithAffine<T, Rows::kFused>(c, [&](const auto& affine) HWY_ATTR {
    Scale scales[kMaxRowsTogether];
    for (int64_t begin = 0; begin < c.rows; begin += together) {
      const int64_t count = std::min(together, c.rows - begin);
      ScaleRows<kStatistic>(c, rows, begin, count, scales);
      for (int64_t r = 0; r < count; ++r) {
        const auto input = rows.Input(begin + r);
        const auto sink = rows.Sink(begin + r);
        if constexpr (Rows::kFused) {
          if (HWY_LIKELY(!scales[r].wide)) {
            for (size_t piece = 0; piece < cols; piece += piece_cols) {
              const size_t end = std::min(cols, piece + piece_cols);
              if constexpr (Rows::kPrefetches) {
                if (prefetch && begin + r + 1 < c.rows) rows.Prefetch(begin + r + 1, piece, end);
              }
              NormalizeRow(input.row, piece, end, Normalize(scales[r]), affine, sink);
            }
            continue;
          }
        }
        NormalizeRowStaged<Normalize>(input, cols, scales[r], AnyAffine<T>(c), sink);
      }
    }
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace addnorm
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
