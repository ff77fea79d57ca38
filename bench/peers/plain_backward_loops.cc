// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// The backward of what plain_loops.cc has, compiled in the same way: the means of a row, then its gradients and what it
// adds to the sums over rows.
#include "peers/plain_loops.h"

namespace addnorm_bench {
namespace {

enum class Residual { kNone, kBefore, kAfter };

void AddBackward(const BackwardPeerCall& call) {
  const float* const d_sum = static_cast<const float*>(call.d_sum);
  float* const dx = static_cast<float*>(call.dx);
  float* const d_residual = static_cast<float*>(call.d_residual);
  const int64_t n = call.rows * call.cols;
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) dx[i] = d_residual[i] = d_sum[i];
}

// A row: of the matrices, the part that begins with it.
template <bool kLayerNorm, Residual kResidual>
void NormRow(const BackwardPeerCall& row, float mean, float rstd) {
  const float* const dy = static_cast<const float*>(row.dy);
  const float* const x = static_cast<const float*>(row.x);
  const float* const gamma = static_cast<const float*>(row.gamma);
  const float* const d_sum = static_cast<const float*>(row.d_sum);
  float* const dx = static_cast<float*>(row.dx);
  float* const d_residual = static_cast<float*>(row.d_residual);
  float* const dgamma = row.dgamma;
  float* const dbeta = row.dbeta;
  const int64_t n = row.cols;
  const float length = static_cast<float>(n);
  float sum_h = 0, sum_ht = 0;
#pragma omp simd reduction(+ : sum_h, sum_ht)
  for (int64_t i = 0; i < n; ++i) {
    const float h = dy[i] * gamma[i];
    if constexpr (kLayerNorm) sum_h += h;
    sum_ht += h * (x[i] - mean) * rstd;
  }
  const float mean_h = sum_h / length, mean_ht = sum_ht / length;
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) {
    const float t = (x[i] - mean) * rstd;
    float ds = (dy[i] * gamma[i] - mean_h - t * mean_ht) * rstd;
    dgamma[i] += dy[i] * t;
    if constexpr (kLayerNorm) dbeta[i] += dy[i];
    if constexpr (kResidual == Residual::kBefore) ds += d_sum[i];
    if constexpr (kResidual != Residual::kNone) d_residual[i] = kResidual == Residual::kBefore ? ds : dy[i];
    dx[i] = ds;
  }
}

template <bool kLayerNorm, Residual kResidual>
void NormBackward(const BackwardPeerCall& call) {
  for (int64_t i = 0; i < call.cols; ++i) call.dgamma[i] = 0;
  if constexpr (kLayerNorm) {
    for (int64_t i = 0; i < call.cols; ++i) call.dbeta[i] = 0;
  }
  for (int64_t r = 0; r < call.rows; ++r) {
    const int64_t at = r * call.cols;
    BackwardPeerCall row = call;
    row.dy = static_cast<const float*>(call.dy) + at;
    row.x = static_cast<const float*>(call.x) + at;
    row.dx = static_cast<float*>(call.dx) + at;
    if (kResidual == Residual::kBefore) row.d_sum = static_cast<const float*>(call.d_sum) + at;
    if (kResidual != Residual::kNone) row.d_residual = static_cast<float*>(call.d_residual) + at;
    NormRow<kLayerNorm, kResidual>(row, kLayerNorm ? call.mean[r] : 0.0f, call.rstd[r]);
  }
}

}  // namespace

const PlainBackwardLoop kPlainBackwardLoops[kPlainBackwardLoopCount] = {
    {ADDNORM_OP_ADD_BACKWARD, &AddBackward},
    {ADDNORM_OP_LAYER_NORM_BACKWARD, &NormBackward<true, Residual::kNone>},
    {ADDNORM_OP_RMS_NORM_BACKWARD, &NormBackward<false, Residual::kNone>},
    {ADDNORM_OP_ADD_LAYER_NORM_BACKWARD, &NormBackward<true, Residual::kBefore>},
    {ADDNORM_OP_ADD_RMS_NORM_BACKWARD, &NormBackward<false, Residual::kBefore>},
    {ADDNORM_OP_LAYER_NORM_ADD_BACKWARD, &NormBackward<true, Residual::kAfter>},
    {ADDNORM_OP_RMS_NORM_ADD_BACKWARD, &NormBackward<false, Residual::kAfter>},
};

}  // namespace addnorm_bench
