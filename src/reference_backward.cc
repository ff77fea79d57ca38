// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
// The scalar reference of the backward operations: defines their order of operations (docs/GRADIENTS.md).
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "src/backward.h"
#include "src/reference.h"
#include "src/statistics.h"

namespace addnorm {
namespace {

using namespace reference;

double LoadF64(const Operand& operand, int64_t row, int64_t col) {
  return static_cast<double>(Load(operand, row, col));
}

double EffectiveGamma(const BackwardCall& c, int64_t col) {
  float gamma = c.gamma.data != nullptr ? Load(c.gamma, 0, col) : 1.0f;
  if (c.gamma_offset != 0.0f) gamma += c.gamma_offset;
  return static_cast<double>(gamma);
}

// ---- A row: its statistics, as the forward call saved or would have saved them, then the means of h and h * d.

template <Statistic kStatistic>
RowGradient Statistics(const BackwardCall& c, int64_t row) {
  constexpr bool kLayerNorm = kStatistic == Statistic::kLayerNorm;
  if (c.rstd.data != nullptr) {
    return NormalizedBy(kLayerNorm ? LoadStatistic(c.mean, row) : 0.0, LoadStatistic(c.rstd, row));
  }
  const Scale scale = RowScale<Family::kNorm, kStatistic>(c, row);
  return NormalizedBy(static_cast<double>(scale.mean_hi) + scale.mean_lo, scale.rstd);
}

double Centered(const BackwardCall& c, const RowGradient& r, int64_t row, int64_t col) {
  return LoadF64(c.x, row, col) - r.mean;
}

template <Statistic kStatistic>
RowGradient Gradient(const BackwardCall& c, int64_t row) {
  RowGradient r = Statistics<kStatistic>(c, row);
  double h_lanes[kLanes] = {};
  double hd_lanes[kLanes] = {};
  for (int64_t col = 0; col < c.cols; ++col) {
    const size_t lane = static_cast<size_t>(col) % kLanes;
    const double h = LoadF64(c.dy, row, col) * EffectiveGamma(c, col);
    h_lanes[lane] += h;
    hd_lanes[lane] = std::fma(h, Centered(c, r, row, col), hd_lanes[lane]);
  }
  SetMeans(kStatistic == Statistic::kLayerNorm ? Fold(h_lanes) : 0.0, Fold(hd_lanes), c.cols, r);
  return r;
}

// ---- Elements

// The gradient of what was normalized, rounded to its dtype.
float NormGradient(const BackwardCall& c, const RowGradient& r, double dy, double d, int64_t col) {
  const double h = dy * EffectiveGamma(c, col);
  const double q = std::fma(-d, r.slope, h - r.mean_h);
  return RoundTo(c.x.dtype, static_cast<float>(q * r.inverse));
}

// Stores a row's elements of all outputs: ds is what reaches x, but for dropout, `stream` what is scaled for the
// residual.
void StoreGradients(const BackwardCall& c, const BlockSums& sums, int64_t row, int64_t col, float ds, float stream) {
  if (c.dropout != nullptr) ds = IsKept(c, row, col) ? ds * c.dropout->scale : 0.0f;
  if (c.dx.data != nullptr) Store(c.dx, row, col, ds);
  if (c.d_residual.data != nullptr) Store(c.d_residual, row, col, c.residual_scale * stream);
  if (sums.bias != nullptr) sums.bias[col] += static_cast<double>(ds);
}

template <Statistic kStatistic>
void RunRow(const BackwardCall& c, int64_t row, const BlockSums& sums) {
  const RowGradient r = Gradient<kStatistic>(c, row);
  for (int64_t col = 0; col < c.cols; ++col) {
    const float dy = Load(c.dy, row, col);
    const double dy64 = static_cast<double>(dy);
    const double d = Centered(c, r, row, col);
    if (sums.gamma != nullptr) sums.gamma[col] = std::fma(dy64, d * r.inverse, sums.gamma[col]);
    if (sums.beta != nullptr) sums.beta[col] += dy64;
    float ds = NormGradient(c, r, dy64, d, col);
    if (c.d_sum.data != nullptr) ds = RoundTo(c.x.dtype, Load(c.d_sum, row, col) + ds);
    StoreGradients(c, sums, row, col, ds, c.adds_after ? dy : ds);
  }
}

// Statistic::kNone is the add alone.
template <Statistic kStatistic>
void Run(const BackwardCall& c, int64_t begin, int64_t end, BeginBlock begin_block) {
  const int64_t block_rows = BlockRows(c.rows);
  BlockSums sums;
  for (int64_t row = begin * block_rows; row < std::min(c.rows, end * block_rows); ++row) {
    if (row % block_rows == 0) sums = begin_block(c, row / block_rows);
    if constexpr (kStatistic == Statistic::kNone) {
      for (int64_t col = 0; col < c.cols; ++col) {
        const float ds = Load(c.d_sum, row, col);
        StoreGradients(c, sums, row, col, ds, ds);
      }
    } else {
      RunRow<kStatistic>(c, row, sums);
    }
  }
}

template <size_t... kOp>
constexpr BackwardKernels ReferenceKernels(std::index_sequence<kOp...>) {
  return {{&Run<kOps[kForwardOps + kOp].statistic>...}};
}

}  // namespace

constexpr BackwardKernels kScalarBackward = ReferenceKernels(std::make_index_sequence<kBackwardOps>());

}  // namespace addnorm
