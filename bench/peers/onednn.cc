// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// oneDNN, as its documentation has it: layer_normalization with gamma and beta as scale and shift (flag rms_norm for
// RMSNorm). It has no fused add before a norm: a user adds with the binary primitive, whose result is sum. An add after
// the norm is a post-op, or a binary primitive again: which is faster depends on the shape.
#include <dlfcn.h>

#include <dnnl.hpp>
#include <memory>
#include <unordered_map>

#include "peers/peer.h"
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
  explicit Steps(const PeerCall& call) : call_(call) {
    type_ = call.dtype == ADDNORM_F32   ? memory::data_type::f32
            : call.dtype == ADDNORM_F16 ? memory::data_type::f16
                                        : memory::data_type::bf16;
    matrix_ = memory::desc({call.rows, call.cols}, type_, memory::format_tag::ab);
  }

  void AddBinary(const void* a, const void* b, void* sum) {
    const dnnl::binary::primitive_desc add(Engine(), dnnl::algorithm::binary_add, matrix_, matrix_, matrix_);
    const Arguments arguments = {{DNNL_ARG_SRC_0, Matrix(a)}, {DNNL_ARG_SRC_1, Matrix(b)}, {DNNL_ARG_DST, Matrix(sum)}};
    steps_.push_back({dnnl::binary(add), arguments});
  }

  void AddNorm(const void* from, const void* residual_after) {
    using Norm = dnnl::layer_normalization_forward;
    using Flags = dnnl::normalization_flags;
    const bool layer_norm = addnorm_test::IsLayerNorm(call_.op);
    const Flags flags = layer_norm ? Flags::use_scale | Flags::use_shift : Flags::use_scale | Flags::rms_norm;
    const memory::desc vector({call_.cols}, type_, memory::format_tag::a);
    Arguments arguments = {{DNNL_ARG_SRC, Matrix(from)},
                           {DNNL_ARG_DST, Matrix(call_.y)},
                           {DNNL_ARG_SCALE, memory(vector, Engine(), const_cast<void*>(call_.gamma))}};
    if (layer_norm) arguments[DNNL_ARG_SHIFT] = memory(vector, Engine(), const_cast<void*>(call_.beta));
    dnnl::primitive_attr attributes;
    if (residual_after != nullptr) {
      dnnl::post_ops add;
      add.append_binary(dnnl::algorithm::binary_add, matrix_);
      attributes.set_post_ops(add);
      arguments[DNNL_ARG_ATTR_MULTIPLE_POST_OP(0) | DNNL_ARG_SRC_1] = Matrix(residual_after);
    }
    const Norm::primitive_desc norm(Engine(), dnnl::prop_kind::forward_inference, matrix_, matrix_, type_,
                                    static_cast<float>(call_.epsilon), flags, attributes);
    steps_.push_back({Norm(norm), arguments});
  }

  void Run(dnnl::stream* stream) const {
    for (const Step& step : steps_) step.primitive.execute(*stream, step.arguments);
    stream->wait();
  }

 private:
  memory Matrix(const void* data) const { return memory(matrix_, Engine(), const_cast<void*>(data)); }

  PeerCall call_;
  memory::data_type type_;
  memory::desc matrix_;
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
    if (addnorm_test::IsNorm(call.op)) steps->AddNorm(from, adds_after && post_op ? call.residual : nullptr);
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

}  // namespace

Peer OneDnnPeer() {
  UseOneThread();
  return {"oneDNN", ADDNORM_BENCH_ONEDNN, &Prepare};
}

}  // namespace addnorm_bench
