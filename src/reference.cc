// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
// The scalar reference: plain C++ that defines the canonical order of operations (docs/NUMERICS.md), and the target of
// CPUs without FMA. Written to be read; nothing here is tuned.
#include "src/reference.h"

#include <cmath>
#include <cstddef>
#include <utility>

#include "src/call.h"
#include "src/statistics.h"
#include "src/targets.h"

namespace addnorm {
namespace {

using namespace reference;

// ---- One element: normalize, gamma and beta.

template <Statistic kStatistic>
float Normalize(const Call& c, const Scale& s, float x, int64_t col) {
  float gamma = c.gamma.data != nullptr ? Load(c.gamma, 0, col) : 1.0f;
  if (c.gamma_offset != 0.0f) gamma += c.gamma_offset;
  const float beta = c.beta.data != nullptr ? Load(c.beta, 0, col) : -0.0f;
  if (s.wide) {
    double t = ((static_cast<double>(x) - static_cast<double>(s.mean_hi)) - s.mean_lo) * s.inverse64;
    if (c.norm_dtype != ADDNORM_F32) t = static_cast<double>(RoundTo(c.norm_dtype, static_cast<float>(t)));
    return static_cast<float>(std::fma(t, static_cast<double>(gamma), static_cast<double>(beta)));
  }
  const float t =
      kStatistic == Statistic::kLayerNorm ? std::fma(x - s.mean_hi, s.inverse, s.correction) : x * s.inverse;
  return std::fma(RoundTo(c.norm_dtype, t), gamma, beta);
}

// ---- Operations. All of a row is read before any of it is written, so any documented aliasing is safe.

template <Family kFamily, Statistic kStatistic>
void NormRow(const Call& c, int64_t row) {
  const Scale scale = RowScale<kFamily, kStatistic>(c, row);
  c.mean.StoreStatistic(row, static_cast<double>(scale.mean_hi) + scale.mean_lo);
  c.rstd.StoreStatistic(row, scale.rstd);
  for (int64_t col = 0; col < c.cols; ++col) {
    const float input = Input<kFamily>(c, row, col);
    float result = Normalize<kStatistic>(c, scale, input, col);
    if constexpr (kFamily == Family::kNormAdd) {
      result = std::fma(c.residual_scale, Load(c.residual, row, col), RoundTo(c.norm_out_dtype, result));
    }
    if (c.sum_out.data != nullptr) Store(c.sum_out, row, col, input);
    Store(c.y, row, col, result);
  }
}

template <Statistic kStatistic>
void ReduceRow(const Call& c, int64_t row) {
  constexpr Family kFamily = Family::kReduce;
  if constexpr (kStatistic == Statistic::kMeanSquare || kStatistic == Statistic::kRms) {
    const double mean_square = MeanSquare<kFamily>(c, row);
    c.mean_square.StoreStatistic(row, mean_square);
    c.rms.StoreStatistic(row, std::sqrt(mean_square));
  } else {
    const Moments m = RowMoments<kFamily>(c, row);
    c.mean.StoreStatistic(row, m.mean);
    c.variance.StoreStatistic(row, m.variance);
  }
}

template <Family kFamily, Statistic kStatistic>
void Run(const Call& c) {
  for (int64_t row = 0; row < c.rows; ++row) {
    WriteMask(c, row);
    if constexpr (kFamily == Family::kReduce) {
      ReduceRow<kStatistic>(c, row);
    } else if constexpr (kFamily == Family::kAdd) {
      for (int64_t col = 0; col < c.cols; ++col) Store(c.sum_out, row, col, Sum(c, row, col));
    } else {
      NormRow<kFamily, kStatistic>(c, row);
    }
  }
}

// The reference reads dtypes at run time: one kernel serves all combinations of an operation.
template <size_t kOp>
constexpr Kernels RepeatedKernel() {
  Kernels kernels = {};
  for (Kernel& kernel : kernels) kernel = &Run<kOps[kOp].family, kOps[kOp].statistic>;
  return kernels;
}

template <size_t kOp>
constexpr Kernels kKernels = RepeatedKernel<kOp>();

template <size_t... kOp>
constexpr KernelTable ReferenceTable(std::index_sequence<kOp...>) {
  return {{{&kKernels<kOp>...}}, &kScalarBackward};
}

}  // namespace

constexpr KernelTable kScalarTable = ReferenceTable(std::make_index_sequence<kForwardOps>());

}  // namespace addnorm
