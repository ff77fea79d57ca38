// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// oneDNN, as its documentation has it: layer_normalization with gamma and beta as scale and shift (flag rms_norm for
// RMSNorm). It has no fused add before a norm: a user adds with the binary primitive, whose result is sum. An add after
// the norm is a post-op, or a binary primitive again: which is faster depends on the shape. Backward likewise: the
// norm's, then d_sum added to its result. The gradient of the residual has the same values as that of x or y, and
// shares its memory.
#include <dlfcn.h>

#include <cmath>
#include <cstring>
#include <dnnl.hpp>
#include <memory>
#include <unordered_map>

#include "peers/peer.h"
#include "support/backward.h"
#include "support/ops.h"

namespace addnorm_bench {
namespace {

using dnnl::memory;
using Arguments = std::unordered_map<int, memory>;

struct Step {
  dnnl::primitive primitive;
  Arguments arguments;
};

const dnnl::engine& Engine() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

// One thread, whichever OpenMP oneDNN was built with.
void UseOneThread() {
  using SetNumThreads = void (*)(int);
  void* const set = dlsym(RTLD_DEFAULT, "omp_set_num_threads");
  if (set != nullptr) reinterpret_cast<SetNumThreads>(set)(1);
}

class Steps {
 public:
  // For a PeerCall or a BackwardPeerCall.
  template <class Call>
  explicit Steps(const Call& call) {
    type_ = call.dtype == ADDNORM_F32   ? memory::data_type::f32
            : call.dtype == ADDNORM_F16 ? memory::data_type::f16
                                        : memory::data_type::bf16;
    matrix_ = memory::desc({call.rows, call.cols}, type_, memory::format_tag::ab);
    column_ = memory::desc({call.rows}, memory::data_type::f32, memory::format_tag::a);
    vector_ = memory::desc({call.cols}, type_, memory::format_tag::a);
    sum_ = memory::desc({call.cols}, memory::data_type::f32, memory::format_tag::a);
  }

  void AddBinary(const void* a, const void* b, void* sum) {
    const dnnl::binary::primitive_desc add(Engine(), dnnl::algorithm::binary_add, matrix_, matrix_, matrix_);
    const Arguments arguments = {{DNNL_ARG_SRC_0, Matrix(a)}, {DNNL_ARG_SRC_1, Matrix(b)}, {DNNL_ARG_DST, Matrix(sum)}};
    steps_.push_back({dnnl::binary(add), arguments});
  }

  void AddNorm(const PeerCall& call, const void* from, const void* residual_after) {
    const bool layer_norm = addnorm_test::IsLayerNorm(call.op);
    Arguments arguments = {
        {DNNL_ARG_SRC, Matrix(from)}, {DNNL_ARG_DST, Matrix(call.y)}, {DNNL_ARG_SCALE, Over(vector_, call.gamma)}};
    if (layer_norm) arguments[DNNL_ARG_SHIFT] = Over(vector_, call.beta);
    dnnl::primitive_attr attributes;
    if (residual_after != nullptr) {
      dnnl::post_ops add;
      add.append_binary(dnnl::algorithm::binary_add, matrix_);
      attributes.set_post_ops(add);
      arguments[DNNL_ARG_ATTR_MULTIPLE_POST_OP(0) | DNNL_ARG_SRC_1] = Matrix(residual_after);
    }
    const auto norm = Forward(dnnl::prop_kind::forward_inference, layer_norm, call.epsilon, attributes);
    steps_.push_back({dnnl::layer_normalization_forward(norm), arguments});
  }

  // Of a LayerNorm.
  void AddNormBackward(const BackwardPeerCall& call) {
    using Norm = dnnl::layer_normalization_backward;
    for (int64_t row = 0; row < call.rows; ++row) {
      variance_.push_back(static_cast<float>(std::pow(static_cast<double>(call.rstd[row]), -2.0) - call.epsilon));
    }
    const Arguments arguments = {{DNNL_ARG_SRC, Matrix(call.x)},
                                 {DNNL_ARG_DIFF_DST, Matrix(call.dy)},
                                 {DNNL_ARG_MEAN, Over(column_, call.mean)},
                                 {DNNL_ARG_VARIANCE, Over(column_, variance_.data())},
                                 {DNNL_ARG_SCALE, Over(vector_, call.gamma)},
                                 {DNNL_ARG_DIFF_SRC, Matrix(call.dx)},
                                 {DNNL_ARG_DIFF_SCALE, Over(sum_, call.dgamma)},
                                 {DNNL_ARG_DIFF_SHIFT, Over(sum_, call.dbeta)}};
    const auto forward = Forward(dnnl::prop_kind::forward_training, true, call.epsilon, dnnl::primitive_attr());
    const Norm::primitive_desc norm(Engine(), dnnl::prop_kind::backward, matrix_, matrix_, matrix_, column_,
                                    memory::data_type::f32, type_, static_cast<float>(call.epsilon), FlagsOf(true),
                                    forward);
    steps_.push_back({Norm(norm), arguments});
  }

  void Run(dnnl::stream* stream) const {
    for (const Step& step : steps_) step.primitive.execute(*stream, step.arguments);
    stream->wait();
  }

 private:
  using Flags = dnnl::normalization_flags;
  static Flags FlagsOf(bool layer_norm) { return Flags::use_scale | (layer_norm ? Flags::use_shift : Flags::rms_norm); }

  dnnl::layer_normalization_forward::primitive_desc Forward(dnnl::prop_kind kind, bool layer_norm, double epsilon,
                                                            const dnnl::primitive_attr& attributes) const {
    return {Engine(),  kind, matrix_, matrix_, column_, type_, static_cast<float>(epsilon), FlagsOf(layer_norm),
            attributes};
  }

  static memory Over(const memory::desc& desc, const void* data) {
    return memory(desc, Engine(), const_cast<void*>(data));
  }
  memory Matrix(const void* data) const { return Over(matrix_, data); }

  memory::data_type type_;
  memory::desc matrix_, column_, vector_, sum_;
  std::vector<float> variance_;  // of each row, as oneDNN wants to have it
  std::vector<Step> steps_;
};

// One way, if oneDNN can do it on this CPU.
void AddWay(const PeerCall& call, bool post_op, std::vector<Peer::Way>* ways) {
  const auto steps = std::make_shared<Steps>(call);
  try {
    const void* from = call.x;
    if (addnorm_test::AddsBefore(call.op)) {
      void* const sum = call.sum == nullptr ? call.y : call.sum;
      steps->AddBinary(call.x, call.residual, sum);
      from = sum;
    }
    const bool adds_after = addnorm_test::AddsAfter(call.op);
    if (addnorm_test::IsNorm(call.op)) steps->AddNorm(call, from, adds_after && post_op ? call.residual : nullptr);
    if (adds_after && !post_op) steps->AddBinary(call.y, call.residual, call.y);
  } catch (const dnnl::error&) {
    return;
  }
  const auto stream = std::make_shared<dnnl::stream>(Engine());
  ways->push_back({post_op ? "post-op" : "primitives", [steps, stream] { steps->Run(stream.get()); }});
}

std::vector<Peer::Way> Prepare(const PeerCall& call) {
  std::vector<Peer::Way> ways;
  const bool adds_after = addnorm_test::AddsAfter(call.op);
  if (adds_after) AddWay(call, true, &ways);
  // In place, the norm would overwrite the residual that is added after it.
  if (!adds_after || call.residual != call.y) AddWay(call, false, &ways);
  return ways;
}

std::vector<Peer::Way> PrepareBackward(const BackwardPeerCall& call) {
  // Of RMSNorm oneDNN 3.12 subtracts mean(h) too, as if it were a LayerNorm; of the add there is nothing to compute.
  if (!addnorm_test::IsBackwardOfLayerNorm(call.op)) return {};
  const auto steps = std::make_shared<Steps>(call);
  try {
    steps->AddNormBackward(call);
    if (call.d_sum != nullptr) steps->AddBinary(call.dx, call.d_sum, call.dx);
  } catch (const dnnl::error&) {
    return {};
  }
  const auto stream = std::make_shared<dnnl::stream>(Engine());
  const auto finish = [call] {
    if (call.d_residual == nullptr) return;
    const size_t size = call.dtype == ADDNORM_F32 ? 4 : 2;
    const void* const same = addnorm_test::IsBackwardOfNormAdd(call.op) ? call.dy : call.dx;
    std::memcpy(call.d_residual, same, static_cast<size_t>(call.rows * call.cols) * size);
  };
  return {{"primitives", [steps, stream] { steps->Run(stream.get()); }, finish}};
}

}  // namespace

Peer OneDnnPeer() {
  UseOneThread();
  return {"oneDNN", ADDNORM_BENCH_ONEDNN, &Prepare, &PrepareBackward};
}

}  // namespace addnorm_bench
