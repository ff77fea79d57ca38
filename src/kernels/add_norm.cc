// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
// Kernels of addnorm_add_layer_norm and addnorm_add_rms_norm.
#include <algorithm>
#include <cstddef>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/add_norm.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "src/vector/kernels-inl.h"

#if ADDNORM_VECTOR_TARGET
#include "src/vector/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace addnorm {
namespace HWY_NAMESPACE {
namespace {

// The sum of a row, where the first pass leaves it in memory: in sum_out, or in y, which the second pass overwrites in
// place.
HWY_INLINE const Operand& SumPlace(const Call& c) { return c.sum_out.data != nullptr ? c.sum_out : c.y; }

template <class S>
struct StoredSums {
  static HWY_INLINE StoredRow<S> Source(const Call& c, int64_t row) { return {SumPlace(c).Row<const S>(row)}; }
  static HWY_INLINE StoredInput<S> Input(const Call& c, int64_t row) { return {Source(c, row)}; }
};

// The same as the first pass adds them.
template <class X, class R, class S, class T>
struct SumsToStore : StoredSums<S> {
  static HWY_INLINE SumRow<X, R, S, T, false> Source(const Call& c, int64_t row) {
    return SumRows<X, R, S, T>{c}.template Row<false>(row, 0, SumPlace(c).Row<S>(row));
  }
};

// Stores the sums of a bf16 row some columns before they are read again, by pairs of vectors, which a loop in the
// canonical order cannot take. For statistics whose steps are whole pairs.
struct SumsAhead {
  static constexpr size_t kColumns = 256;

  template <class Count>
  HWY_INLINE void operator()(size_t col, Count count) const {
    const size_t begin = col + kColumns, end = begin + count;
    if (HWY_UNLIKELY(end > cols)) return StoreSums(sum, std::min(begin, cols), cols);
    for (size_t at = begin; at < end; at += 2 * hn::Lanes(D32())) sum.StorePair(at);
  }

  SumRow<BF16, BF16, BF16, BF16, false> sum;
  size_t cols;
};

template <Statistic kStatistic>
HWY_NOINLINE void FirstPassWithSumsAhead(const Call& c, RowGroup& group) {
  SumGroup<kStatistic, StoredSums<BF16>>(c, group, [&](int64_t r) HWY_ATTR {
    const auto sum = SumsToStore<BF16, BF16, BF16, BF16>::Source(c, group.begin + r);
    Evaluate(sum, SumsAhead::kColumns);
    return SumsAhead{sum, static_cast<size_t>(c.cols)};
  });
}

// A bias or dropout is rare: the sums are stored first, then read again, as one more loop would cost more code than it
// gains time.
template <Statistic kStatistic, class X, class R, class S, class T>
HWY_NOINLINE void FirstPassOverStored(const Call& c, RowGroup& group) {
  for (int64_t row = group.begin; row < group.begin + group.count; ++row) {
    SumRows<X, R, S, T>{c}.Evaluate(row, 0, static_cast<size_t>(c.cols), SumPlace(c).Row<S>(row));
  }
  FirstPass<kStatistic, StoredSums<S>>(c, group);
}

// Sums in f32 without a place in memory, since y is too narrow and sum_out not asked for.
template <class X, class R, class T>
struct RecomputedSums {
  static HWY_INLINE RecomputedInput<X, R, T> Input(const Call& c, int64_t row) { return {{c}, row}; }
};

template <Statistic kStatistic, class X, class R, class T>
HWY_NOINLINE void FirstPassInPieces(const Call& c, RowGroup& group) {
  for (int64_t r = 0; r < group.count; ++r) {
    const Sums sums = RecomputedSums<X, R, T>::Input(c, group.begin + r)
                          .SumPieces(static_cast<size_t>(c.cols),
                                     [&](const StoredRow<float>& piece, size_t count, RowSums<StoredLanes>& lanes)
                                         HWY_ATTR { AccumulateStatistic<kStatistic>(piece, count, lanes); });
    group.values[r] = sums.values;
    group.squares[r] = sums.squares;
  }
}

template <Statistic kStatistic>
struct AddNorm {
  template <size_t kIndex>
  static void Run(const Call& c) {
    constexpr Dtypes kDtypes = dtypes::kAddNorm[kIndex];
    using T = Storage<VectorDtype(kDtypes)>;
    using X = Storage<kDtypes.x>;
    using R = Storage<kDtypes.residual>;
    using S = Storage<kDtypes.sum>;
    using Y = Storage<kDtypes.y>;
    if constexpr (!std::is_same_v<S, Y>) {
      if (c.sum_out.data == nullptr) {
        RowKernel kernel = StagedKernel<kStatistic, RecomputedSums<X, R, T>, StoreResult<Y>, T>();
        kernel.first_pass = FirstPassInPieces<kStatistic, X, R, T>;
        return NormalizeRows<kStatistic>(c, kernel);
      }
    }
    RowKernel kernel = FusedKernel<kStatistic, SumsToStore<X, R, S, T>, StoreResult<Y>, T>(c);
    constexpr bool kStepsArePairs = kStatistic == Statistic::kRmsNorm || 2 * hn::MaxLanes(D32()) <= kLanes;
    if constexpr (kAreBF16<X, R, S> && kStepsArePairs) {
      // Shorter rows gain nothing by it.
      if (c.cols > static_cast<int64_t>(SumsAhead::kColumns)) kernel.first_pass = FirstPassWithSumsAhead<kStatistic>;
    }
    if (HWY_UNLIKELY(c.bias.data != nullptr || c.dropout != nullptr)) {
      kernel.first_pass = FirstPassOverStored<kStatistic, X, R, S, T>;
      kernel.normalize_with_first_pass = nullptr;
    }
    NormalizeRows<kStatistic>(c, kernel);
  }
};

}  // namespace

const Kernels kAddLayerNorm = MakeKernels<AddNorm<Statistic::kLayerNorm>, Family::kAddNorm>();
const Kernels kAddRmsNorm = MakeKernels<AddNorm<Statistic::kRmsNorm>, Family::kAddNorm>();

}  // namespace HWY_NAMESPACE
}  // namespace addnorm
HWY_AFTER_NAMESPACE();
#endif  // ADDNORM_VECTOR_TARGET
