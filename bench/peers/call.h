// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#ifndef ADDNORM_BENCH_PEERS_CALL_H_
#define ADDNORM_BENCH_PEERS_CALL_H_

#include <addnorm/addnorm.h>

namespace addnorm_bench {

// What a peer has to compute: an operation on contiguous rows of one dtype, with gamma, and beta where it is a
// LayerNorm. sum and residual are null where the operation has none; sum also where it is not asked for.
struct PeerCall {
  addnorm_op op;
  addnorm_dtype dtype;
  int64_t rows;
  int64_t cols;
  const void* x;
  const void* residual;
  const void* gamma;
  const void* beta;
  void* sum;
  void* y;
  double epsilon;
};

// The same of the backward: dy where there is a norm, d_sum where there is an add before it or none; statistics in f32,
// mean only of LayerNorm; sums over rows in f32, dbeta only of LayerNorm.
struct BackwardPeerCall {
  addnorm_op op;
  addnorm_dtype dtype;
  int64_t rows;
  int64_t cols;
  const void* dy;
  const void* x;
  const void* gamma;
  const float* mean;
  const float* rstd;
  const void* d_sum;
  void* dx;
  void* d_residual;
  float* dgamma;
  float* dbeta;
  double epsilon;
};

}  // namespace addnorm_bench

#endif  // ADDNORM_BENCH_PEERS_CALL_H_
