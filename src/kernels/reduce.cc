// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
// Kernels of addnorm_mean, addnorm_variance, addnorm_mean_variance, addnorm_mean_square and addnorm_rms.
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/reduce.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "src/vector/kernels-inl.h"

#if ADDNORM_VECTOR_TARGET
#include "src/vector/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace addnorm {
namespace HWY_NAMESPACE {
namespace {

template <Statistic kStatistic>
constexpr Powers PowersOf() {
  if (kStatistic == Statistic::kMean) return Powers::kValues;
  if (kStatistic == Statistic::kMeanSquare || kStatistic == Statistic::kRms) return Powers::kSquares;
  return Powers::kBoth;
}

template <Statistic kStatistic, class T>
HWY_INLINE void ReduceRow(const Call& c, int64_t row) {
  const StoredInput<T> input{{c.x.Row<const T>(row)}};
  const double n = static_cast<double>(c.cols);
  const Sums sums = input.template SumPowers<PowersOf<kStatistic>()>(static_cast<size_t>(c.cols), 0.0);
  if constexpr (kStatistic == Statistic::kMean) {
    c.mean.StoreStatistic(row, sums.values / n);
  } else if constexpr (PowersOf<kStatistic>() == Powers::kSquares) {
    const double mean_square = sums.squares / n;
    c.mean_square.StoreStatistic(row, mean_square);
    c.rms.StoreStatistic(row, std::sqrt(mean_square));
  } else {
    const auto second_pass = [&](double pivot) HWY_ATTR {
      return input.template SumPowers<Powers::kBothAboutPivot>(static_cast<size_t>(c.cols), pivot);
    };
    const Moments m = RowMoments(c.cols, sums.values, sums.squares, second_pass);
    c.mean.StoreStatistic(row, m.mean);
    c.variance.StoreStatistic(row, m.variance);
  }
}

template <Statistic kStatistic>
struct Reduce {
  template <size_t kIndex>
  static void Run(const Call& c) {
    for (int64_t row = 0; row < c.rows; ++row) ReduceRow<kStatistic, Storage<dtypes::kReduce[kIndex].x>>(c, row);
  }
};

}  // namespace

const Kernels kMean = MakeKernels<Reduce<Statistic::kMean>, Family::kReduce>();
const Kernels kVariance = MakeKernels<Reduce<Statistic::kVariance>, Family::kReduce>();
const Kernels kMeanVariance = MakeKernels<Reduce<Statistic::kMeanVariance>, Family::kReduce>();
const Kernels kMeanSquare = MakeKernels<Reduce<Statistic::kMeanSquare>, Family::kReduce>();
const Kernels kRms = MakeKernels<Reduce<Statistic::kRms>, Family::kReduce>();

}  // namespace HWY_NAMESPACE
}  // namespace addnorm
HWY_AFTER_NAMESPACE();
#endif  // ADDNORM_VECTOR_TARGET
