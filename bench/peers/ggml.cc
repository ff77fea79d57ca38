// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// ggml: a graph as models build it, ggml_rms_norm or ggml_norm, then ggml_mul by gamma and ggml_add of beta, before or
// after a ggml_add of the residual; each result in its final place. f32 only.
#include <ggml-backend.h>
#include <ggml.h>

#include <memory>

#include "peers/peer.h"
#include "support/ops.h"

namespace addnorm_bench {
namespace {

// The CPU, with one thread; null where there is no backend for it.
ggml_backend_t Backend() {
  static const ggml_backend_t backend = [] {
    ggml_backend_load_all();
    const ggml_backend_t cpu = ggml_backend_init_by_type(GGML_BACKEND_DEVICE_TYPE_CPU, nullptr);
    if (cpu == nullptr) return cpu;
    const ggml_backend_reg_t registry = ggml_backend_dev_backend_reg(ggml_backend_get_device(cpu));
    using SetThreads = void (*)(ggml_backend_t, int);
    void* const set = ggml_backend_reg_get_proc_address(registry, "ggml_backend_set_n_threads");
    if (set != nullptr) reinterpret_cast<SetThreads>(set)(cpu, 1);
    return cpu;
  }();
  return backend;
}

class Graph {
 public:
  explicit Graph(const PeerCall& call) : call_(call) {
    const size_t memory = 16 * ggml_tensor_overhead() + ggml_graph_overhead();
    context_.reset(ggml_init({memory, nullptr, true}));
    ggml_tensor* row = Matrix(call.x);
    if (addnorm_test::AddsBefore(call.op)) {
      row = Placed(ggml_add(context_.get(), row, Matrix(call.residual)), call.sum == nullptr ? call.y : call.sum);
    }
    const float epsilon = static_cast<float>(call.epsilon);
    if (addnorm_test::IsNorm(call.op)) {
      const bool layer_norm = addnorm_test::IsLayerNorm(call.op);
      row = Placed((layer_norm ? ggml_norm : ggml_rms_norm)(context_.get(), row, epsilon), call.y);
      row = Placed(ggml_mul(context_.get(), row, Vector(call.gamma)), call.y);
      if (layer_norm) row = Placed(ggml_add(context_.get(), row, Vector(call.beta)), call.y);
    }
    if (addnorm_test::AddsAfter(call.op)) {
      row = Placed(ggml_add(context_.get(), row, Matrix(call.residual)), call.y);
    }
    graph_ = ggml_new_graph(context_.get());
    ggml_build_forward_expand(graph_, row);
  }

  void Compute() const { ggml_backend_graph_compute(Backend(), graph_); }

 private:
  struct Free {
    void operator()(ggml_context* context) const { ggml_free(context); }
    void operator()(ggml_backend_buffer* buffer) const { ggml_backend_buffer_free(buffer); }
  };

  ggml_tensor* Placed(ggml_tensor* tensor, const void* data) {
    const size_t bytes = ggml_nbytes(tensor);
    void* const place = const_cast<void*>(data);
    buffers_.emplace_back(
        ggml_backend_dev_buffer_from_host_ptr(ggml_backend_get_device(Backend()), place, bytes, bytes));
    ggml_backend_tensor_alloc(buffers_.back().get(), tensor, place);
    return tensor;
  }
  ggml_tensor* Matrix(const void* data) {
    return Placed(ggml_new_tensor_2d(context_.get(), GGML_TYPE_F32, call_.cols, call_.rows), data);
  }
  ggml_tensor* Vector(const void* data) {
    return Placed(ggml_new_tensor_1d(context_.get(), GGML_TYPE_F32, call_.cols), data);
  }

  PeerCall call_;
  std::unique_ptr<ggml_context, Free> context_;
  std::vector<std::unique_ptr<ggml_backend_buffer, Free>> buffers_;
  ggml_cgraph* graph_ = nullptr;
};

std::vector<Peer::Way> Prepare(const PeerCall& call) {
  // In place, the norm would overwrite the residual that is added after it.
  if (call.dtype != ADDNORM_F32 || Backend() == nullptr || call.residual == call.y) return {};
  const auto graph = std::make_shared<Graph>(call);
  return {{"", [graph] { graph->Compute(); }}};
}

}  // namespace

Peer GgmlPeer() { return {"ggml", ADDNORM_BENCH_GGML, &Prepare}; }

}  // namespace addnorm_bench
