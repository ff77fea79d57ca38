// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// Eigen, as expressions over a row, compiled with -O3 -march=native. f32 only.
#include <Eigen/Core>
#include <cmath>

#include "peers/peer.h"
#include "support/ops.h"

namespace addnorm_bench {
namespace {

using Row = ::Eigen::Map<::Eigen::ArrayXf>;
using ConstRow = ::Eigen::Map<const ::Eigen::ArrayXf>;

ConstRow RowOf(const void* data, int64_t row, int64_t cols) {
  return ConstRow(static_cast<const float*>(data) + row * cols, cols);
}

Row RowOf(void* data, int64_t row, int64_t cols) { return Row(static_cast<float*>(data) + row * cols, cols); }

void Run(const PeerCall& call) {
  const float epsilon = static_cast<float>(call.epsilon);
  const bool layer_norm = addnorm_test::IsLayerNorm(call.op);
  const bool adds_after = addnorm_test::AddsAfter(call.op);
  const ConstRow gamma = RowOf(call.gamma, 0, call.cols);
  for (int64_t r = 0; r < call.rows; ++r) {
    ConstRow x = RowOf(call.x, r, call.cols);
    if (addnorm_test::AddsBefore(call.op)) {
      Row sum = RowOf(call.sum == nullptr ? call.y : call.sum, r, call.cols);
      sum = x + RowOf(call.residual, r, call.cols);
      new (&x) ConstRow(sum.data(), call.cols);
    }
    if (!addnorm_test::IsNorm(call.op)) continue;
    Row y = RowOf(call.y, r, call.cols);
    const float mean = layer_norm ? x.mean() : 0.0f;
    const float mean_square = layer_norm ? (x - mean).square().mean() : x.square().mean();
    const float scale = 1.0f / std::sqrt(mean_square + epsilon);
    if (layer_norm) {
      const ConstRow beta = RowOf(call.beta, 0, call.cols);
      if (adds_after) {
        y = (x - mean) * scale * gamma + beta + RowOf(call.residual, r, call.cols);
      } else {
        y = (x - mean) * scale * gamma + beta;
      }
    } else if (adds_after) {
      y = x * scale * gamma + RowOf(call.residual, r, call.cols);
    } else {
      y = x * scale * gamma;
    }
  }
}

std::vector<Peer::Way> Prepare(const PeerCall& call) {
  if (call.dtype != ADDNORM_F32) return {};
  return {{"", [call] { Run(call); }}};
}

}  // namespace

Peer EigenPeer() { return {"Eigen", ADDNORM_BENCH_EIGEN, &Prepare}; }

}  // namespace addnorm_bench
