// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// The encoder layer against values that were computed elsewhere, in f64: by PyTorch, forward and backward, and of a
// layer of a real model. ADDNORM_REFERENCE names others of their formats. What PyTorch has no layer for is compared
// with the oracle, whose formula the PyTorch cases confirm.
#include "encoder/encoder_layer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "encoder/oracle.h"
#include "support/reference_values.h"

namespace encoder {
namespace {

using addnorm_test::ReferenceValues;

// Largest difference, as a part of the tensor's largest element: 32 u, where u = 2^-24 is the rounding of f32, in which
// the layer computes. addnorm's calls add a few u. A dot product of K terms in Eigen may add K * u of the sum of its
// terms' magnitudes, but as errors have either sign about sqrt(K) * u is seen, of which the largest element of a
// tensor, itself a sum of K terms, hides most; a gradient passes about ten products. Seen: 7.7 u with PyTorch's cases,
// 2.7 u with MiniLM's, at most 17 u in 400 random layers.
constexpr double kTolerance = 32 * 0x1p-24;
// The oracle and PyTorch differ by roundings in f64 only.
constexpr double kOracleTolerance = 1e-12;

// Largest difference as a part of the largest element; NaN never compares as small.
double Difference(const std::vector<double>& got, const std::vector<double>& want) {
  EXPECT_EQ(got.size(), want.size());
  double largest = 0, difference = 0;
  for (size_t i = 0; i < std::min(got.size(), want.size()); ++i) {
    largest = std::max(largest, std::abs(want[i]));
    if (!(std::abs(got[i] - want[i]) <= difference)) difference = std::abs(got[i] - want[i]);
    if (std::isnan(difference)) break;
  }
  return difference == 0 ? 0 : difference / largest;
}

std::vector<double> ToDoubles(const Matrix& matrix) { return {matrix.data(), matrix.data() + matrix.size()}; }

Matrix ToMatrix(const std::vector<double>& values, Eigen::Index rows) {
  Matrix matrix(rows, static_cast<Eigen::Index>(values.size()) / rows);
  std::transform(values.begin(), values.end(), matrix.data(), [](double v) { return static_cast<float>(v); });
  return matrix;
}

void SetParameters(const Values& values, EncoderLayer* layer) {
  for (const NamedParameter& named : layer->parameters()) {
    Matrix& value = named.parameter->value;
    const std::vector<double>& from = values.at(named.name);
    ASSERT_EQ(static_cast<size_t>(value.size()), from.size()) << named.name;
    value = ToMatrix(from, value.rows());
  }
}

// Collects what was compared, and tells the worst of it.
class Comparison {
 public:
  explicit Comparison(double tolerance) : tolerance_(tolerance) {}
  ~Comparison() { std::printf("largest difference: %.1f u, %s\n", worst_ * 0x1p24, name_.c_str()); }
  void Add(const std::string& name, const std::vector<double>& got, const std::vector<double>& want) {
    const double difference = Difference(got, want);
    EXPECT_LE(difference, tolerance_) << name;
    if (!(difference <= worst_)) {
      worst_ = difference;
      name_ = name;
    }
  }

 private:
  double tolerance_;
  double worst_ = 0;
  std::string name_ = "none";
};

// One of PyTorch's cases: config, inputs, result and gradients.
struct PyTorchCase {
  PyTorchCase(const std::string& name, Placement placement) {
    const ReferenceValues file("reference-1", "pytorch-reference.safetensors");
    const std::vector<int64_t>& shape = file[name + ".x"].shape;
    config.placement = placement;
    config.width = static_cast<int>(shape.at(2));
    config.heads = std::stoi(file.metadata("heads"));
    config.hidden = static_cast<int>(file[name + ".linear1.bias"].values.size());
    config.epsilon = std::stod(file.metadata("epsilon"));
    time = static_cast<int>(shape.at(1));
    rows = shape.at(0) * shape.at(1);
    const std::string prefix = name + ".";
    for (const auto& [tensor, content] : file.tensors()) {
      if (tensor.compare(0, prefix.size(), prefix) == 0) values[tensor.substr(prefix.size())] = content.values;
    }
  }

  LayerConfig config;
  int time = 0;
  Eigen::Index rows = 0;
  Values values;
};

void CheckPyTorch(const std::string& name, Placement placement) {
  const PyTorchCase reference(name, placement);
  const Values& values = reference.values;
  EncoderLayer layer(reference.config);
  SetParameters(values, &layer);
  Comparison compare(kTolerance);
  compare.Add("y", ToDoubles(layer.Forward(ToMatrix(values.at("x"), reference.rows), reference.time)), values.at("y"));
  const Matrix dx = layer.Backward(ToMatrix(values.at("dy"), reference.rows));
  compare.Add("d_x", ToDoubles(dx), values.at("d_x"));
  for (const NamedParameter& named : layer.parameters()) {
    compare.Add("d_" + named.name, ToDoubles(named.parameter->gradient), values.at("d_" + named.name));
  }
  EXPECT_EQ(layer.parameters().size(), 12u);

  const std::vector<double> oracle = OracleForward(reference.config, values, values.at("x"), reference.time);
  EXPECT_LE(Difference(oracle, values.at("y")), kOracleTolerance) << "the oracle itself";
}

TEST(EncoderLayerReference, PyTorchPostLn) { CheckPyTorch("encoder_layer_post", Placement::kPostLn); }

TEST(EncoderLayerReference, PyTorchPreLn) { CheckPyTorch("encoder_layer_pre", Placement::kPreLn); }

TEST(EncoderLayerReference, MiniLm) {
  const ReferenceValues file("encoder-layer-1", "minilm-encoder-layer0.safetensors");
  const std::vector<int64_t>& shape = file["x"].shape;
  LayerConfig config;
  config.width = static_cast<int>(shape.at(1));
  config.heads = std::stoi(file.metadata("heads"));
  config.hidden = static_cast<int>(file["intermediate.dense.bias"].values.size());
  config.epsilon = std::stod(file.metadata("epsilon"));
  ASSERT_EQ(file.metadata("placement"), "post");

  // The model's names; its queries, keys and values are separate.
  Values values;
  for (const char* kind : {"weight", "bias"}) {
    std::vector<double>& in_proj = values[std::string("self_attn.in_proj_") + kind];
    for (const char* part : {"query", "key", "value"}) {
      const std::vector<double>& rows = file[std::string("attention.self.") + part + "." + kind].values;
      in_proj.insert(in_proj.end(), rows.begin(), rows.end());
    }
    for (const auto& [to, from] :
         {std::pair("self_attn.out_proj.", "attention.output.dense."),
          std::pair("norm1.", "attention.output.LayerNorm."), std::pair("linear1.", "intermediate.dense."),
          std::pair("linear2.", "output.dense."), std::pair("norm2.", "output.LayerNorm.")}) {
      values[std::string(to) + kind] = file[std::string(from) + kind].values;
    }
  }
  EncoderLayer layer(config);
  SetParameters(values, &layer);
  const int time = static_cast<int>(shape.at(0));
  const Matrix y = layer.Forward(ToMatrix(file["x"].values, time), time);
  Comparison compare(kTolerance);
  compare.Add("after_attention", ToDoubles(layer.after_attention()), file["after_attention"].values);
  compare.Add("y", ToDoubles(y), file["y"].values);
}

// Forward, and the gradients of x and of every parameter, against central differences of the oracle.
void CheckOracle(Placement placement, NormKind norm) {
  const LayerConfig config = {placement, norm, 8, 2, 12, 1e-5};
  constexpr int kTime = 3, kRows = 6;
  std::mt19937 generator(static_cast<unsigned>(placement) * 2 + static_cast<unsigned>(norm));
  const auto random = [&generator](std::vector<double>* values, double mean, double scale) {
    for (double& v : *values) {
      v = static_cast<float>(mean + scale * (static_cast<double>(generator()) * 0x1p-31 - 1));
    }
  };
  EncoderLayer layer(config);
  Values values;
  for (const NamedParameter& named : layer.parameters()) {
    std::vector<double>& value = values[named.name];
    value.resize(static_cast<size_t>(named.parameter->value.size()));
    random(&value, named.name == "norm1.weight" || named.name == "norm2.weight" ? 1 : 0, 0.6);
  }
  SetParameters(values, &layer);
  std::vector<double> x(static_cast<size_t>(kRows * config.width)), dy(x.size());
  random(&x, 0.1, 1.5);
  random(&dy, 0, 1);

  Comparison compare(kTolerance);
  compare.Add("y", ToDoubles(layer.Forward(ToMatrix(x, kRows), kTime)), OracleForward(config, values, x, kTime));
  const Matrix dx = layer.Backward(ToMatrix(dy, kRows));
  compare.Add("d_x", ToDoubles(dx), OracleGradient(config, &values, &x, kTime, dy, &x));
  for (const NamedParameter& named : layer.parameters()) {
    compare.Add("d_" + named.name, ToDoubles(named.parameter->gradient),
                OracleGradient(config, &values, &x, kTime, dy, &values.at(named.name)));
  }
}

TEST(EncoderLayer, EveryPlacementAgainstTheOracle) {
  for (const Placement placement : {Placement::kNoResidual, Placement::kNoNorm, Placement::kPostLn, Placement::kPreLn,
                                    Placement::kPostNormInResidual}) {
    for (const NormKind norm : {NormKind::kLayerNorm, NormKind::kRmsNorm}) {
      SCOPED_TRACE(testing::Message() << "placement " << static_cast<int>(placement) << ", norm "
                                      << static_cast<int>(norm));
      CheckOracle(placement, norm);
    }
  }
}

}  // namespace
}  // namespace encoder
