// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
// Kernels of addnorm_add_layer_norm and addnorm_add_rms_norm.
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

// Sums that the first pass leaves in memory: in sum_out, or in y, which the second pass overwrites in place.
template <Statistic kStatistic, class X, class R, class S, class Y, class T>
struct StoredSumRows {
  static constexpr bool kFused = true;
  static constexpr bool kPrefetches = false;
  static int64_t Together(int64_t cols) { return RowsTogether(cols); }
  StoredInput<S> Input(int64_t row) const { return {{place.Row<const S>(row)}}; }
  StoreResult<Y> Sink(int64_t row) const { return {sums.c, row}; }
  Sums FirstPass(int64_t row, size_t cols) const {
    S* to = place.Row<S>(row);
    if (HWY_LIKELY(!sums.HasBias())) {
      return HWY_NAMESPACE::FirstPass<kStatistic>(sums.template Row<false>(row, 0, to), cols);
    }
    // Stored first, then read again: one more loop would cost more code than it gains time.
    sums.Evaluate(row, 0, cols, to);
    return HWY_NAMESPACE::FirstPass<kStatistic>(StoredRow<S>{to}, cols);
  }

  SumRows<X, R, S, T> sums;
  const Operand& place;
};

// Sums in f32 without a place in memory, since y is too narrow and sum_out not asked for.
template <Statistic kStatistic, class X, class R, class Y, class T>
struct UnstoredSumRows {
  static constexpr bool kFused = false;
  static constexpr bool kPrefetches = false;
  static int64_t Together(int64_t) { return 1; }
  RecomputedInput<X, R, T> Input(int64_t row) const { return {sums, row}; }
  StoreResult<Y> Sink(int64_t row) const { return {sums.c, row}; }
  Sums FirstPass(int64_t row, size_t cols) const {
    return Input(row).SumPieces(cols, [&](const StoredRow<float>& piece, size_t count, RowSums<StoredLanes>& lanes)
                                          HWY_ATTR { AccumulateStatistic<kStatistic>(piece, count, lanes); });
  }

  SumRows<X, R, float, T> sums;
};

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
    const bool has_sum_out = c.sum_out.data != nullptr;
    if constexpr (!std::is_same_v<S, Y>) {
      if (!has_sum_out) return NormalizeRows<kStatistic, T>(c, UnstoredSumRows<kStatistic, X, R, Y, T>{{c}});
    }
    NormalizeRows<kStatistic, T>(c, StoredSumRows<kStatistic, X, R, S, Y, T>{{c}, has_sum_out ? c.sum_out : c.y});
  }
};

}  // namespace

const Kernels kAddLayerNorm = MakeKernels<AddNorm<Statistic::kLayerNorm>, Family::kAddNorm>();
const Kernels kAddRmsNorm = MakeKernels<AddNorm<Statistic::kRmsNorm>, Family::kAddNorm>();

}  // namespace HWY_NAMESPACE
}  // namespace addnorm
HWY_AFTER_NAMESPACE();
#endif  // ADDNORM_VECTOR_TARGET
