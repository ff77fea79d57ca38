// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// ONNX Runtime: the fused nodes that its optimizer makes of models, SkipLayerNormalization and
// SkipSimplifiedLayerNormalization, and the norms alone; an add after the norm is a node of its own. f32 only.
#include <onnxruntime_cxx_api.h>

#include <map>
#include <memory>
#include <tuple>

#include "peers/peer.h"
#include "support/ops.h"

namespace addnorm_bench {
namespace {

constexpr int kOpset = 17;
constexpr char kContrib[] = "com.microsoft";

Ort::Env& Environment() {
  static Ort::Env environment(ORT_LOGGING_LEVEL_FATAL);
  return environment;
}

using Names = std::vector<std::string>;

struct Shape {
  int64_t rows, cols;
};

void AddNode(Ort::Graph* graph, const char* op, const char* domain, const Names& inputs, const Names& outputs,
             const float* epsilon) {
  std::vector<Ort::OpAttr> attributes;
  if (epsilon != nullptr) attributes.emplace_back("epsilon", epsilon, 1, ORT_OP_ATTR_FLOAT);
  Ort::Node node(op, domain, op, inputs, outputs, attributes);
  graph->AddNode(node);
}

std::vector<Ort::ValueInfo> Infos(const Names& names, const Shape& shape) {
  std::vector<Ort::ValueInfo> infos;
  for (const std::string& name : names) {
    const bool vector = name == "gamma" || name == "beta";
    const std::vector<int64_t> dims =
        vector ? std::vector<int64_t>{shape.cols} : std::vector<int64_t>{shape.rows, shape.cols};
    const Ort::TensorTypeAndShapeInfo tensor(ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, dims);
    const Ort::TypeInfo type = Ort::TypeInfo::CreateTensorInfo(tensor.GetConst());
    infos.emplace_back(name, type.GetConst());
  }
  return infos;
}

struct Model {
  Names inputs, outputs;
  std::unique_ptr<Ort::Session> session;
};

Model MakeModel(addnorm_op op, const Shape& shape, float epsilon) {
  const bool layer_norm = addnorm_test::IsLayerNorm(op), before = addnorm_test::AddsBefore(op);
  const bool norm = addnorm_test::IsNorm(op), after = addnorm_test::AddsAfter(op);
  Model model;
  model.inputs = {"x"};
  if (before || after) model.inputs.push_back("residual");
  Names vectors;
  if (norm) vectors = layer_norm ? Names{"gamma", "beta"} : Names{"gamma"};
  Names nodes_inputs = before ? model.inputs : Names{"x"};
  nodes_inputs.insert(nodes_inputs.end(), vectors.begin(), vectors.end());
  model.inputs.insert(model.inputs.end(), vectors.begin(), vectors.end());
  if (before) model.outputs.push_back("sum");
  if (norm) model.outputs.push_back("y");

  Ort::Graph graph;
  std::vector<Ort::ValueInfo> inputs = Infos(model.inputs, shape), outputs = Infos(model.outputs, shape);
  graph.SetInputs(inputs);
  graph.SetOutputs(outputs);
  if (!norm) {
    AddNode(&graph, "Add", "", nodes_inputs, {"sum"}, nullptr);
  } else if (before) {
    AddNode(&graph, layer_norm ? "SkipLayerNormalization" : "SkipSimplifiedLayerNormalization", kContrib, nodes_inputs,
            {"y", "", "", "sum"}, &epsilon);
  } else {
    AddNode(&graph, layer_norm ? "LayerNormalization" : "SimplifiedLayerNormalization", "", nodes_inputs,
            {after ? "normalized" : "y"}, &epsilon);
    if (after) AddNode(&graph, "Add", "", {"normalized", "residual"}, {"y"}, nullptr);
  }
  Ort::Model built({{"", kOpset}, {kContrib, 1}});
  built.AddGraph(graph);
  Ort::SessionOptions options;
  options.SetIntraOpNumThreads(1);
  options.SetInterOpNumThreads(1);
  model.session.reset(new Ort::Session(Environment(), built, options));
  return model;
}

class Bound {
 public:
  Bound(const PeerCall& call, Model* model) : model_(model), binding_(*model->session) {
    for (const std::string& name : model->inputs) {
      binding_.BindInput(name.c_str(), Tensor(call, name));
    }
    for (const std::string& name : model->outputs) {
      binding_.BindOutput(name.c_str(), Tensor(call, name));
    }
  }
  void Run() { model_->session->Run(run_, binding_); }

 private:
  Ort::Value Tensor(const PeerCall& call, const std::string& name) {
    const std::map<std::string, const void*> places = {{"x", call.x},         {"residual", call.residual},
                                                       {"gamma", call.gamma}, {"beta", call.beta},
                                                       {"sum", call.sum},     {"y", call.y}};
    const bool vector = name == "gamma" || name == "beta";
    const int64_t matrix[] = {call.rows, call.cols};
    const size_t count = static_cast<size_t>(vector ? call.cols : call.rows * call.cols);
    static const Ort::MemoryInfo memory = Ort::MemoryInfo::CreateCpu(OrtArenaAllocator, OrtMemTypeDefault);
    return Ort::Value::CreateTensor<float>(memory, static_cast<float*>(const_cast<void*>(places.at(name))), count,
                                           vector ? &call.cols : matrix, vector ? 1 : 2);
  }

  Model* model_;
  Ort::IoBinding binding_;
  Ort::RunOptions run_;
};

std::vector<Peer::Way> Prepare(const PeerCall& call) {
  const bool sum_missing = addnorm_test::AddsBefore(call.op) && call.sum == nullptr;
  const bool in_place =
      call.x == call.y || (call.residual != nullptr && (call.residual == call.sum || call.residual == call.y));
  if (call.dtype != ADDNORM_F32 || sum_missing || in_place) return {};
  static std::map<std::tuple<addnorm_op, int64_t, int64_t, double>, Model> models;
  const auto key = std::make_tuple(call.op, call.rows, call.cols, call.epsilon);
  if (models.count(key) == 0) {
    models[key] = MakeModel(call.op, {call.rows, call.cols}, static_cast<float>(call.epsilon));
  }
  const auto bound = std::make_shared<Bound>(call, &models[key]);
  return {{"", [bound] { bound->Run(); }}};
}

}  // namespace

Peer OnnxRuntimePeer() { return {"ONNX Runtime", ADDNORM_BENCH_ONNXRUNTIME, &Prepare}; }

}  // namespace addnorm_bench
