// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// Compiled with -O3 -ffast-math -march=native. It includes no header with functions, so that none compiled in this way
// can end up in the rest of the program. The pragmas say that no element depends on another one.
#include "peers/plain_loops.h"

namespace addnorm_bench {
namespace {

enum class Statistic { kRms, kLayerOnePass, kLayerTwoPasses };
enum class Residual { kNone, kBefore, kAfter };

void Add(const PeerCall& call) {
  const float* const x = static_cast<const float*>(call.x);
  const float* const residual = static_cast<const float*>(call.residual);
  float* const sum = static_cast<float*>(call.sum);
  const int64_t n = call.rows * call.cols;
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) sum[i] = x[i] + residual[i];
}

template <Statistic kStatistic, Residual kResidual>
void NormRow(const float* x, const float* residual, const float* gamma, const float* beta, float* sum, float* y,
             int64_t n, float epsilon) {
  constexpr bool kLayerNorm = kStatistic != Statistic::kRms;
  const float length = static_cast<float>(n);
  float total = 0, squares = 0;
#pragma omp simd reduction(+ : total, squares)
  for (int64_t i = 0; i < n; ++i) {
    float value = x[i];
    if constexpr (kResidual == Residual::kBefore) {
      value += residual[i];
      sum[i] = value;
    }
    if constexpr (kLayerNorm) total += value;
    if constexpr (kStatistic != Statistic::kLayerTwoPasses) squares += value * value;
  }
  const float* const row = kResidual == Residual::kBefore ? sum : x;
  const float mean = total / length;
  if constexpr (kStatistic == Statistic::kLayerTwoPasses) {
#pragma omp simd reduction(+ : squares)
    for (int64_t i = 0; i < n; ++i) squares += (row[i] - mean) * (row[i] - mean);
  }
  float variance = squares / length;
  if constexpr (kStatistic == Statistic::kLayerOnePass) variance -= mean * mean;
  const float scale = 1.0f / __builtin_sqrtf(variance + epsilon);
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) {
    float value = kLayerNorm ? (row[i] - mean) * scale * gamma[i] + beta[i] : row[i] * scale * gamma[i];
    if constexpr (kResidual == Residual::kAfter) value += residual[i];
    y[i] = value;
  }
}

template <Statistic kStatistic, Residual kResidual>
void Norm(const PeerCall& call) {
  const float* const gamma = static_cast<const float*>(call.gamma);
  const float* const beta = static_cast<const float*>(call.beta);
  for (int64_t row = 0; row < call.rows; ++row) {
    const int64_t at = row * call.cols;
    const float* const x = static_cast<const float*>(call.x) + at;
    const float* const residual =
        kResidual == Residual::kNone ? nullptr : static_cast<const float*>(call.residual) + at;
    float* const y = static_cast<float*>(call.y) + at;
    float* const sum = call.sum == nullptr ? y : static_cast<float*>(call.sum) + at;
    NormRow<kStatistic, kResidual>(x, residual, gamma, beta, sum, y, call.cols, static_cast<float>(call.epsilon));
  }
}

}  // namespace

const PlainLoop kPlainLoops[kPlainLoopCount] = {
    {ADDNORM_OP_ADD, "add", &Add},
    {ADDNORM_OP_RMS_NORM, "one pass", &Norm<Statistic::kRms, Residual::kNone>},
    {ADDNORM_OP_LAYER_NORM, "one pass", &Norm<Statistic::kLayerOnePass, Residual::kNone>},
    {ADDNORM_OP_LAYER_NORM, "two passes", &Norm<Statistic::kLayerTwoPasses, Residual::kNone>},
    {ADDNORM_OP_ADD_RMS_NORM, "one pass", &Norm<Statistic::kRms, Residual::kBefore>},
    {ADDNORM_OP_ADD_LAYER_NORM, "one pass", &Norm<Statistic::kLayerOnePass, Residual::kBefore>},
    {ADDNORM_OP_ADD_LAYER_NORM, "two passes", &Norm<Statistic::kLayerTwoPasses, Residual::kBefore>},
    {ADDNORM_OP_RMS_NORM_ADD, "one pass", &Norm<Statistic::kRms, Residual::kAfter>},
    {ADDNORM_OP_LAYER_NORM_ADD, "one pass", &Norm<Statistic::kLayerOnePass, Residual::kAfter>},
    {ADDNORM_OP_LAYER_NORM_ADD, "two passes", &Norm<Statistic::kLayerTwoPasses, Residual::kAfter>},
};

}  // namespace addnorm_bench
