// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#include "encoder/model.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace encoder {
namespace {

bool LeavesStreamWithoutNorm(Placement placement) {
  return placement == Placement::kPreLn || placement == Placement::kPostNormInResidual;
}

void FillUniform(Matrix* matrix, double limit, Random* random) {
  for (float& value : matrix->reshaped()) value = static_cast<float>(random->Uniform(limit));
}

// Sums in f64: without a residual, gradients are too small for f32 to square.
double Norm(const Matrix& matrix) { return matrix.cast<double>().norm(); }

double RootMeanSquare(const Matrix& matrix) { return Norm(matrix) / std::sqrt(static_cast<double>(matrix.size())); }

}  // namespace

Model::Model(const ModelConfig& config, uint64_t seed)
    : config_(config),
      symbols_(config.symbols, config.layer.width),
      positions_(config.time, config.layer.width),
      layers_(static_cast<size_t>(config.layers), EncoderLayer(config.layer)),
      final_norm_(config.layer.norm, config.layer.width, config.layer.epsilon),
      head_(config.layer.width, config.symbols) {
  Random random(seed);
  for (const NamedParameter& named : parameters()) {
    Matrix& value = named.parameter->value;
    if (value.rows() == 1) continue;
    const double glorot = std::sqrt(6.0 / static_cast<double>(value.rows() + value.cols()));
    // A symbol and a position together have variance 1.
    const bool embedding = named.parameter == &symbols_ || named.parameter == &positions_;
    FillUniform(&value, embedding ? std::sqrt(1.5) : glorot, &random);
  }
}

Parameters Model::parameters() {
  Parameters parameters = {{"symbols", &symbols_}, {"positions", &positions_}};
  for (size_t i = 0; i < layers_.size(); ++i) {
    Append("layers." + std::to_string(i) + ".", layers_[i].parameters(), &parameters);
  }
  if (LeavesStreamWithoutNorm(config_.layer.placement)) Append("norm.", final_norm_.parameters(), &parameters);
  parameters.push_back({"head.weight", &head_.weight});
  parameters.push_back({"head.bias", &head_.bias});
  return parameters;
}

Matrix Model::Embed(const Batch& batch) const {
  Matrix x(static_cast<Eigen::Index>(batch.inputs.size()), config_.layer.width);
  for (Eigen::Index row = 0; row < x.rows(); ++row) {
    x.row(row) = symbols_.value.row(batch.inputs[static_cast<size_t>(row)]) + positions_.value.row(row % config_.time);
  }
  return x;
}

double Model::Forward(const Batch& batch) {
  batch_ = batch;
  scales_.assign(layers_.size() + 1, {});
  Matrix x = Embed(batch);
  scales_[0].activation = RootMeanSquare(x);
  for (size_t i = 0; i < layers_.size(); ++i) {
    x = layers_[i].Forward(x, config_.time);
    scales_[i + 1].activation = RootMeanSquare(x);
  }
  if (LeavesStreamWithoutNorm(config_.layer.placement)) x = final_norm_.Norm(x);
  return Loss(head_.Forward(x), batch);
}

// Keeps the gradient of the logits.
double Model::Loss(const Matrix& logits, const Batch& batch) {
  const double count = static_cast<double>(
      std::count_if(batch.targets.begin(), batch.targets.end(), [](int target) { return target >= 0; }));
  double loss = 0, right = 0;
  d_logits_ = logits;
  SoftmaxRows(&d_logits_);
  for (Eigen::Index row = 0; row < logits.rows(); ++row) {
    const int target = batch.targets[static_cast<size_t>(row)];
    if (target < 0) {
      d_logits_.row(row).setZero();
      continue;
    }
    Eigen::Index best;
    const float top = logits.row(row).maxCoeff(&best);
    loss += top + std::log((logits.row(row).array() - top).exp().sum()) - logits(row, target);
    right += best == target;
    d_logits_(row, target) -= 1;
  }
  d_logits_ /= static_cast<float>(count);
  accuracy_ = right / count;
  return loss / count;
}

void Model::Backward() {
  Matrix dx = head_.Backward(d_logits_);
  if (LeavesStreamWithoutNorm(config_.layer.placement)) dx = final_norm_.NormBackward(dx);
  for (size_t i = layers_.size(); i > 0; --i) {
    scales_[i].stream_gradient = Norm(dx);
    dx = layers_[i - 1].Backward(dx);
    double squares = 0;
    for (const NamedParameter& named : layers_[i - 1].parameters()) {
      const double norm = Norm(named.parameter->gradient);
      squares += norm * norm;
    }
    scales_[i].parameter_gradient = std::sqrt(squares);
  }
  scales_[0].stream_gradient = Norm(dx);
  symbols_.gradient.setZero();
  positions_.gradient.setZero();
  for (Eigen::Index row = 0; row < dx.rows(); ++row) {
    symbols_.gradient.row(batch_.inputs[static_cast<size_t>(row)]) += dx.row(row);
    positions_.gradient.row(row % config_.time) += dx.row(row);
  }
}

Adam::Adam(const Parameters& parameters, double rate, int warmup)
    : parameters_(parameters), rate_(rate), warmup_(warmup) {
  for (const NamedParameter& named : parameters) {
    const Matrix& value = named.parameter->value;
    first_.push_back(Matrix::Zero(value.rows(), value.cols()));
    second_.push_back(first_.back());
  }
}

void Adam::Step() {
  constexpr float kBeta1 = 0.9f, kBeta2 = 0.999f, kEpsilon = 1e-8f;
  ++step_;
  const double rise = std::min(1.0, static_cast<double>(step_) / std::max(warmup_, 1));
  const float correction1 = 1 - static_cast<float>(std::pow(kBeta1, step_));
  const float correction2 = 1 - static_cast<float>(std::pow(kBeta2, step_));
  const float rate = static_cast<float>(rate_ * rise) / correction1;
  for (size_t i = 0; i < parameters_.size(); ++i) {
    const auto gradient = parameters_[i].parameter->gradient.array();
    first_[i].array() += (1 - kBeta1) * (gradient - first_[i].array());
    second_[i].array() += (1 - kBeta2) * (gradient.square() - second_[i].array());
    parameters_[i].parameter->value.array() -=
        rate * first_[i].array() / ((second_[i].array() / correction2).sqrt() + kEpsilon);
  }
}

Batch CopyTask(const ModelConfig& config, int sequences, Random* random) {
  Batch batch;
  const int half = config.time / 2;
  for (int sequence = 0; sequence < sequences; ++sequence) {
    std::vector<int> symbols;
    for (int i = 0; i < half; ++i) symbols.push_back(1 + random->Below(config.symbols - 1));
    batch.inputs.insert(batch.inputs.end(), symbols.begin(), symbols.end());
    batch.inputs.insert(batch.inputs.end(), static_cast<size_t>(half), 0);
    batch.targets.insert(batch.targets.end(), static_cast<size_t>(half), -1);
    batch.targets.insert(batch.targets.end(), symbols.begin(), symbols.end());
  }
  return batch;
}

}  // namespace encoder
