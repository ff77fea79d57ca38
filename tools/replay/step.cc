// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#include "step.h"

#include <cstdlib>
#include <cstring>
#include <new>
#include <stdexcept>

namespace addnorm_test::replay {
namespace {

constexpr size_t kAlignment = 4096;

float* Allocate(size_t size) {
  const size_t bytes = (size * sizeof(float) + kAlignment - 1) / kAlignment * kAlignment;
  void* data = std::aligned_alloc(kAlignment, bytes == 0 ? kAlignment : bytes);
  if (data == nullptr) throw std::bad_alloc();
  return static_cast<float*>(data);
}

addnorm_input Input(const Operand& operand, int64_t row_stride) {
  if (operand.size() == 0) return ADDNORM_NONE;
  return {operand.data(), row_stride, ADDNORM_F32, 0};
}

addnorm_output Output(const Operand& operand, int64_t row_stride) {
  return {operand.data(), row_stride, ADDNORM_F32, 0};
}

void Check(addnorm_status status, const char* function) {
  if (status != ADDNORM_OK) throw std::runtime_error(std::string(function) + ": " + addnorm_status_text(status));
}

}  // namespace

Operand::Operand(size_t size) : size_(size), data_(Allocate(size)) {}

Operand::Operand(const std::vector<float>& values) : Operand(values.size()) {
  if (!values.empty()) std::memcpy(data(), values.data(), values.size() * sizeof(float));
}

void Operand::Free::operator()(float* data) const { std::free(data); }

Step::Step(const Capture& capture, const Position& position, Calls calls, bool with_sum)
    : norm_(capture.norm),
      epsilon_(capture.epsilon),
      rows_(capture.rows),
      cols_(capture.cols),
      calls_(calls),
      has_add_(position.has_add),
      has_sum_(position.has_add && (with_sum || calls == Calls::kUnfused)),
      residual_(position.residual),
      // Where there is no add, the norm's input is the stream itself.
      x_(position.has_add ? position.x : position.sum),
      gamma_(position.gamma),
      beta_(position.beta),
      sum_(position.sum.size()),
      y_(position.y.size()) {
  CountBytes();
  ClearOutputs();
}

void Step::CountBytes() {
  size_t matrices = 2;                                                     // a norm reads one and writes y
  if (has_add_) matrices += calls_ == Calls::kUnfused ? 3 : 1 + has_sum_;  // Add: 2 in, 1 out
  bytes_ = (matrices * y_.size() + gamma_.size() + beta_.size()) * sizeof(float);
}

void Step::ClearOutputs() {
  std::memset(sum_.data(), 0xff, sum_.size() * sizeof(float));
  std::memset(y_.data(), 0xff, y_.size() * sizeof(float));
}

void Step::Run() {
  if (!has_add_) return RunNorm(x_);
  if (calls_ == Calls::kUnfused) {
    addnorm_add_args args = ADDNORM_ADD_ARGS_INIT;
    args.rows = rows_;
    args.cols = cols_;
    args.x = Input(x_, cols_);
    args.residual = Input(residual_, cols_);
    args.sum_out = Output(sum_, cols_);
    Check(addnorm_add(&args), "addnorm_add");
    return RunNorm(sum_);
  }
  addnorm_add_norm_args args = ADDNORM_ADD_NORM_ARGS_INIT;
  args.rows = rows_;
  args.cols = cols_;
  args.x = Input(x_, cols_);
  args.residual = Input(residual_, cols_);
  args.y = Output(y_, cols_);
  args.epsilon = epsilon_;
  if (has_sum_) args.sum_out = Output(sum_, cols_);
  args.gamma = Input(gamma_, 0);
  args.beta = Input(beta_, 0);
  if (norm_ == NormKind::kLayer) return Check(addnorm_add_layer_norm(&args), "addnorm_add_layer_norm");
  Check(addnorm_add_rms_norm(&args), "addnorm_add_rms_norm");
}

void Step::RunNorm(const Operand& input) {
  addnorm_norm_args args = ADDNORM_NORM_ARGS_INIT;
  args.rows = rows_;
  args.cols = cols_;
  args.x = Input(input, cols_);
  args.y = Output(y_, cols_);
  args.epsilon = epsilon_;
  args.gamma = Input(gamma_, 0);
  args.beta = Input(beta_, 0);
  if (norm_ == NormKind::kLayer) return Check(addnorm_layer_norm(&args), "addnorm_layer_norm");
  Check(addnorm_rms_norm(&args), "addnorm_rms_norm");
}

}  // namespace addnorm_test::replay
