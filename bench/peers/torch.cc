// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// Torch's C++ interface, as eager code calls it: add, then layer_norm or rms_norm, each of which makes a new tensor.
// Backward, what autograd calls: it has a function for LayerNorm only.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>

#include <memory>
#include <tuple>

#include "peers/peer.h"
#include "support/backward.h"
#include "support/ops.h"

namespace addnorm_bench {
namespace {

struct Tensors {
  at::Tensor x, residual, gamma, beta, sum, y;
};

at::Tensor Over(const void* data, addnorm_dtype dtype, at::IntArrayRef shape) {
  if (data == nullptr) return at::Tensor();
  const at::ScalarType type = dtype == ADDNORM_F32 ? at::kFloat : dtype == ADDNORM_F16 ? at::kHalf : at::kBFloat16;
  return at::from_blob(const_cast<void*>(data), shape, at::TensorOptions().dtype(type));
}

void Run(const PeerCall& call, Tensors* t) {
  const c10::InferenceMode guard;
  at::Tensor row = t->x;
  if (addnorm_test::AddsBefore(call.op)) row = t->sum = t->x + t->residual;
  if (addnorm_test::IsLayerNorm(call.op)) {
    row = at::layer_norm(row, {call.cols}, t->gamma, t->beta, call.epsilon);
  } else if (addnorm_test::IsNorm(call.op)) {
    row = at::rms_norm(row, {call.cols}, t->gamma, call.epsilon);
  }
  if (addnorm_test::AddsAfter(call.op)) row = row + t->residual;
  t->y = row;
}

// Into the call's own memory, to be looked at.
void Finish(const PeerCall& call, const Tensors& t) {
  const c10::InferenceMode guard;
  if (call.sum != nullptr) Over(call.sum, call.dtype, {call.rows, call.cols}).copy_(t.sum);
  if (call.y != nullptr) Over(call.y, call.dtype, {call.rows, call.cols}).copy_(t.y);
}

std::vector<Peer::Way> Prepare(const PeerCall& call) {
  const auto t = std::make_shared<Tensors>();
  t->x = Over(call.x, call.dtype, {call.rows, call.cols});
  t->residual = Over(call.residual, call.dtype, {call.rows, call.cols});
  t->gamma = Over(call.gamma, call.dtype, {call.cols});
  t->beta = Over(call.beta, call.dtype, {call.cols});
  return {{"", [call, t] { Run(call, t.get()); }, [call, t] { Finish(call, *t); }}};
}

struct Gradients {
  at::Tensor dy, x, gamma, mean, rstd, d_sum, beta;
  at::Tensor dx, dgamma, dbeta;
};

void RunBackward(const BackwardPeerCall& call, Gradients* t) {
  const c10::InferenceMode guard;
  std::tie(t->dx, t->dgamma, t->dbeta) =
      at::native_layer_norm_backward(t->dy, t->x, {call.cols}, t->mean, t->rstd, t->gamma, t->beta, {true, true, true});
  if (t->d_sum.defined()) t->dx = t->dx + t->d_sum;
}

void FinishBackward(const BackwardPeerCall& call, const Gradients& t) {
  const c10::InferenceMode guard;
  Over(call.dx, call.dtype, {call.rows, call.cols}).copy_(t.dx);
  Over(call.dgamma, ADDNORM_F32, {call.cols}).copy_(t.dgamma);
  Over(call.dbeta, ADDNORM_F32, {call.cols}).copy_(t.dbeta);
  if (call.d_residual == nullptr) return;
  // For autograd it is the same tensor.
  const bool adds_after = addnorm_test::IsBackwardOfNormAdd(call.op);
  Over(call.d_residual, call.dtype, {call.rows, call.cols}).copy_(adds_after ? t.dy : t.dx);
}

std::vector<Peer::Way> PrepareBackward(const BackwardPeerCall& call) {
  if (!addnorm_test::IsBackwardOfLayerNorm(call.op)) return {};
  const c10::InferenceMode guard;
  const auto t = std::make_shared<Gradients>();
  t->dy = Over(call.dy, call.dtype, {call.rows, call.cols});
  t->x = Over(call.x, call.dtype, {call.rows, call.cols});
  t->gamma = Over(call.gamma, call.dtype, {call.cols});
  t->beta = at::zeros_like(t->gamma);
  // Of the dtype that its forward function saves them in.
  t->mean = Over(call.mean, ADDNORM_F32, {call.rows, 1}).to(t->x.scalar_type());
  t->rstd = Over(call.rstd, ADDNORM_F32, {call.rows, 1}).to(t->x.scalar_type());
  t->d_sum = Over(call.d_sum, call.dtype, {call.rows, call.cols});
  return {{"", [call, t] { RunBackward(call, t.get()); }, [call, t] { FinishBackward(call, *t); }}};
}

}  // namespace

Peer TorchPeer() {
  at::set_num_threads(1);
  return {"Torch", ADDNORM_BENCH_TORCH, &Prepare, &PrepareBackward};
}

}  // namespace addnorm_bench
