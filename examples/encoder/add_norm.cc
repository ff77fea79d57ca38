// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#include "encoder/add_norm.h"

#include <stdexcept>

namespace encoder {
namespace {

addnorm::Matrix<const float> In(const Matrix& matrix) { return {matrix.data(), matrix.rows(), matrix.cols()}; }

addnorm::Matrix<float> Out(Matrix* matrix) { return {matrix->data(), matrix->rows(), matrix->cols()}; }

// Here an error is one of the program.
void Check(addnorm::Status status) {
  if (!status) throw std::logic_error(status.text());
}

}  // namespace

AddNormStep::AddNormStep(NormKind kind, int width, double epsilon)
    : kind_(kind), epsilon_(epsilon), gamma_(1, width), beta_(1, width) {
  gamma_.value.setOnes();
}

void AddNormStep::SetOptions(addnorm::NormOptions* options) {
  const int64_t rows = normalized_.rows();
  options->gamma = addnorm::Vector<const float>(gamma_.value.data(), gamma_.value.cols());
  rstd_.resize(static_cast<size_t>(rows));
  options->rstd = addnorm::Column(rstd_.data(), rows);
  if (kind_ == NormKind::kRmsNorm) return;
  options->beta = addnorm::Vector<const float>(beta_.value.data(), beta_.value.cols());
  mean_.resize(static_cast<size_t>(rows));
  options->mean = addnorm::Column(mean_.data(), rows);
}

Matrix AddNormStep::Norm(const Matrix& x) {
  normalized_ = x;
  Matrix y(x.rows(), x.cols());
  addnorm::NormOptions options;
  SetOptions(&options);
  const auto norm = kind_ == NormKind::kLayerNorm ? addnorm::LayerNorm : addnorm::RmsNorm;
  Check(norm(In(x), Out(&y), epsilon_, options));
  return y;
}

Matrix AddNormStep::AddNorm(const Matrix& x, const Matrix& residual, Matrix* sum_out) {
  normalized_.resize(x.rows(), x.cols());
  Matrix y(x.rows(), x.cols());
  addnorm::AddNormOptions options;
  SetOptions(&options);
  options.sum_out = Out(&normalized_);
  const auto add_norm = kind_ == NormKind::kLayerNorm ? addnorm::AddLayerNorm : addnorm::AddRmsNorm;
  Check(add_norm(In(x), In(residual), Out(&y), epsilon_, options));
  if (sum_out != nullptr) *sum_out = normalized_;
  return y;
}

Matrix AddNormStep::NormAdd(const Matrix& x, const Matrix& residual) {
  normalized_ = x;
  Matrix y(x.rows(), x.cols());
  addnorm::NormAddOptions options;
  SetOptions(&options);
  const auto norm_add = kind_ == NormKind::kLayerNorm ? addnorm::LayerNormAdd : addnorm::RmsNormAdd;
  Check(norm_add(In(x), In(residual), Out(&y), epsilon_, options));
  return y;
}

StepGradients AddNormStep::Backward(BackwardFunction* function, const Matrix& dy, const Matrix* d_sum,
                                    bool has_residual) {
  const int64_t rows = dy.rows(), cols = dy.cols();
  addnorm::NormBackwardOptions options;
  options.gamma = addnorm::Vector<const float>(gamma_.value.data(), cols);
  options.rstd = addnorm::Column<const double>(rstd_.data(), rows);
  StepGradients gradients;
  gradients.x.resize(rows, cols);
  addnorm::Gradients out;
  out.dx = Out(&gradients.x);
  out.dgamma = addnorm::ParameterGradient(gamma_.gradient.data(), cols);
  if (kind_ == NormKind::kLayerNorm) {
    options.mean = addnorm::Column<const double>(mean_.data(), rows);
    out.dbeta = addnorm::ParameterGradient(beta_.gradient.data(), cols);
  }
  if (d_sum != nullptr) options.d_sum = In(*d_sum);
  if (has_residual) {
    gradients.residual.resize(rows, cols);
    out.d_residual = Out(&gradients.residual);
  }
  size_t bytes = 0;
  Check(addnorm::BackwardWorkspace(rows, cols, kind_ == NormKind::kLayerNorm ? 2 : 1, &bytes));
  workspace_.resize((bytes + sizeof(Block) - 1) / sizeof(Block));
  out.workspace = addnorm::Workspace(workspace_.data(), bytes);
  Check(function(In(dy), In(normalized_), out, epsilon_, options));
  return gradients;
}

Matrix AddNormStep::NormBackward(const Matrix& dy) {
  const auto function = kind_ == NormKind::kLayerNorm ? addnorm::LayerNormBackward : addnorm::RmsNormBackward;
  return Backward(function, dy, nullptr, false).x;
}

StepGradients AddNormStep::AddNormBackward(const Matrix& dy, const Matrix* d_sum) {
  const auto function = kind_ == NormKind::kLayerNorm ? addnorm::AddLayerNormBackward : addnorm::AddRmsNormBackward;
  return Backward(function, dy, d_sum, true);
}

StepGradients AddNormStep::NormAddBackward(const Matrix& dy) {
  const auto function = kind_ == NormKind::kLayerNorm ? addnorm::LayerNormAddBackward : addnorm::RmsNormAddBackward;
  return Backward(function, dy, nullptr, true);
}

Matrix AddNormStep::NormOfStreamBackward(const Matrix& dy, const Matrix& d_stream) {
  return AddNormBackward(dy, &d_stream).residual;
}

Parameters AddNormStep::parameters() {
  Parameters parameters = {{"weight", &gamma_}};
  if (kind_ == NormKind::kLayerNorm) parameters.push_back({"bias", &beta_});
  return parameters;
}

Matrix Add(const Matrix& x, const Matrix& residual) {
  Matrix sum(x.rows(), x.cols());
  Check(addnorm::Add(In(x), In(residual), Out(&sum)));
  return sum;
}

}  // namespace encoder
