// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#include "encoder/add_norm.h"

#include <stdexcept>

namespace encoder {
namespace {

addnorm::Matrix<const float> In(const Matrix& matrix) { return {matrix.data(), matrix.rows(), matrix.cols()}; }

addnorm::Matrix<float> Out(Matrix* matrix) { return {matrix->data(), matrix->rows(), matrix->cols()}; }

addnorm_input InputOf(const Matrix& matrix) { return addnorm::MatrixIn(In(matrix)).operand(); }

addnorm_output OutputOf(Matrix* matrix) { return addnorm::MatrixOut(Out(matrix)).operand(); }

addnorm_input InputOf(const std::vector<double>& column) { return {column.data(), 1, ADDNORM_F64, 0}; }

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

StepGradients AddNormStep::Backward(addnorm_status (*function)(const addnorm_norm_backward_args*), const Matrix& dy,
                                    const Matrix* d_sum, bool has_residual) {
  StepGradients gradients;
  gradients.x.resize(dy.rows(), dy.cols());
  addnorm_norm_backward_args args = ADDNORM_NORM_BACKWARD_ARGS_INIT;
  args.rows = dy.rows();
  args.cols = dy.cols();
  args.dy = InputOf(dy);
  args.x = InputOf(normalized_);
  args.epsilon = epsilon_;
  args.gamma = {gamma_.value.data(), 0, ADDNORM_F32, 0};
  args.rstd = InputOf(rstd_);
  args.dx = OutputOf(&gradients.x);
  args.dgamma = {gamma_.gradient.data(), 0, ADDNORM_F32, 0};
  if (kind_ == NormKind::kLayerNorm) {
    args.mean = InputOf(mean_);
    args.dbeta = {beta_.gradient.data(), 0, ADDNORM_F32, 0};
  }
  if (d_sum != nullptr) args.d_sum = InputOf(*d_sum);
  if (has_residual) {
    gradients.residual.resize(dy.rows(), dy.cols());
    args.d_residual = OutputOf(&gradients.residual);
  }
  const int32_t sums = kind_ == NormKind::kLayerNorm ? 2 : 1;
  Check(addnorm::Status(addnorm_backward_workspace(args.rows, args.cols, sums, &args.workspace_size)));
  workspace_.resize((args.workspace_size + sizeof(Block) - 1) / sizeof(Block));
  args.workspace = workspace_.data();
  Check(addnorm::Status(function(&args)));
  return gradients;
}

Matrix AddNormStep::NormBackward(const Matrix& dy) {
  const auto function = kind_ == NormKind::kLayerNorm ? addnorm_layer_norm_backward : addnorm_rms_norm_backward;
  return Backward(function, dy, nullptr, false).x;
}

StepGradients AddNormStep::AddNormBackward(const Matrix& dy, const Matrix* d_sum) {
  const auto function = kind_ == NormKind::kLayerNorm ? addnorm_add_layer_norm_backward : addnorm_add_rms_norm_backward;
  return Backward(function, dy, d_sum, true);
}

StepGradients AddNormStep::NormAddBackward(const Matrix& dy) {
  const auto function = kind_ == NormKind::kLayerNorm ? addnorm_layer_norm_add_backward : addnorm_rms_norm_add_backward;
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
