// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// Torch's C++ interface, as eager code calls it: add, then layer_norm or rms_norm, each of which makes a new tensor.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>

#include <memory>

#include "peers/peer.h"
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

}  // namespace

Peer TorchPeer() {
  at::set_num_threads(1);
  return {"Torch", ADDNORM_BENCH_TORCH, &Prepare};
}

}  // namespace addnorm_bench
