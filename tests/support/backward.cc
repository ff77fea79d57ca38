// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#include "support/backward.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "support/arena.h"
#include "support/dtype.h"

namespace addnorm_test {
namespace {

constexpr size_t kMargin = 64;
constexpr unsigned char kUntouched = 0xff;  // a NaN in every dtype: reading what is not an operand spoils the result

BackwardOptions Named(const char* name) {
  BackwardOptions options;
  options.name = name;
  return options;
}

void StoreF64(void* to, int64_t index, addnorm_dtype dtype, double value) {
  if (dtype == ADDNORM_F64) {
    std::memcpy(static_cast<unsigned char*>(to) + static_cast<size_t>(index) * 8, &value, 8);
  } else {
    StoreValue(to, index, dtype, static_cast<float>(value));
  }
}

}  // namespace

const std::vector<OpCase>& AllBackwardCases() {
  static const std::vector<OpCase> cases = CasesOf(BackwardOpFields());
  return cases;
}

std::vector<BackwardOptions> BackwardOptionsOf(const OpCase& op_case) {
  std::vector<BackwardOptions> all;
  BackwardOptions o = Named("plain");
  all.push_back(o);

  o = Named("saved");
  o.gamma = VectorType::kF32;
  o.saved = ADDNORM_F64;
  o.sums = ADDNORM_F64;
  o.residual_scale = 2.8284271f;
  all.push_back(o);

  o = Named("no_d_sum");
  o.gamma = VectorType::kStorage;
  o.gamma_offset = 1.0f;
  o.d_sum = false;
  o.accumulate = true;
  o.epsilon = 1e-6;
  if (op_case.op() != ADDNORM_OP_ADD_BACKWARD) all.push_back(o);

  o = Named("extreme");
  o.gamma = VectorType::kF32;
  o.vectors = VectorKind::kExtreme;
  o.epsilon = 0.0;
  o.accumulate = true;
  o.sums = ADDNORM_F64;
  o.residual_scale = -0.5f;
  all.push_back(o);

  o = Named("saved_f32");
  o.gamma = VectorType::kStorage;
  o.saved = ADDNORM_F32;
  o.sums = 0;
  if (op_case.op() != ADDNORM_OP_ADD_BACKWARD) all.push_back(o);

  o = Named("sums_only");
  o.gamma = VectorType::kStorage;
  o.dx = o.d_residual = false;
  all.push_back(o);
  return all;
}

std::vector<BackwardOptions> BackwardDropoutOptionsOf(const OpCase& op_case) {
  std::vector<BackwardOptions> all;
  if (!op_case.fields->drops_out()) return all;
  BackwardOptions o = Named("dropout");
  o.dropout.probability = 0.1;
  o.sums = ADDNORM_F64;
  o.residual_scale = 2.8284271f;
  all.push_back(o);

  o = Named("dropout_given");
  o.gamma = VectorType::kF32;
  o.saved = ADDNORM_F64;
  o.d_sum = false;
  o.accumulate = true;
  o.dropout.probability = 0.75;
  o.dropout.masks = Masks::kGiven;
  all.push_back(o);
  return all;
}

bool BackwardProblem::IsAsked(const OperandField& field) const {
  const std::string name = field.name;
  if (name == "gamma") return options_.gamma != VectorType::kAbsent;
  if (field.shape == Shape::kColumn) return options_.saved != 0;
  if (name == "d_sum") return field.required || options_.d_sum;
  if (name == "dx") return options_.dx;
  if (name == "d_residual") return options_.d_residual;
  if (name == "dbeta") return options_.dbeta && options_.sums != 0;
  if (name == "dbias") return options_.dbias && options_.sums != 0;
  return field.shape != Shape::kVector || options_.sums != 0;
}

addnorm_dtype BackwardProblem::DtypeOf(const OperandField& field) const {
  if (field.dtype != nullptr) return case_->dtypes.*field.dtype;
  if (field.shape == Shape::kColumn) return options_.saved;
  if (field.written) return options_.sums;
  return options_.gamma == VectorType::kStorage ? case_->dtypes.vectors : ADDNORM_F32;
}

BackwardProblem::BackwardProblem(const OpCase& op_case, const BackwardOptions& options, int64_t rows, int64_t cols,
                                 int64_t offset, int64_t gap)
    : case_(&op_case), options_(options), rows_(rows), cols_(cols) {
  int32_t sums = 0;
  for (const OperandField& field : case_->fields->operands) {
    if (!IsAsked(field)) continue;
    AddOperand(field, offset, gap);
    sums += field.written && field.shape == Shape::kVector;
  }
  if (addnorm_backward_workspace(rows, cols, sums, &workspace_size_) != ADDNORM_OK) std::abort();
  workspace_.assign(workspace_size_ + 3 * 64, kUntouched);
  if (options_.dropout.present()) dropout_.reset(new DropoutMemory(options_.dropout, rows, cols, gap));
  workspace_start_ = 64 + (64 - reinterpret_cast<uintptr_t>(workspace_.data()) % 64) % 64;
}

void BackwardProblem::AddOperand(const OperandField& field, int64_t offset, int64_t gap) {
  Buffer b;
  b.field = &field;
  b.dtype = DtypeOf(field);
  b.rows = field.shape == Shape::kVector ? 1 : rows_;
  b.cols = field.shape == Shape::kColumn ? 1 : cols_;
  b.stride = field.shape == Shape::kVector ? 0 : b.cols + gap;
  const size_t size = DtypeSize(b.dtype);
  const size_t extent = static_cast<size_t>((b.rows > 0 ? b.rows - 1 : 0) * b.stride + b.cols) * size;
  b.memory.assign(2 * kMargin + 64 + static_cast<size_t>(offset) * size + extent, kUntouched);
  const uintptr_t address = reinterpret_cast<uintptr_t>(b.memory.data()) + kMargin;
  b.start = kMargin + static_cast<size_t>((64 - address % 64) % 64) + static_cast<size_t>(offset) * size;
  if (field.written && options_.accumulate && field.shape == Shape::kVector) {
    for (int64_t col = 0; col < cols_; ++col) {
      StoreF64(b.memory.data() + b.start, col, b.dtype, 0.25 * static_cast<double>(col % 7) - 0.5);
    }
  }
  b.first = b.memory;
  buffers_.emplace(field.name, std::move(b));
}

const BackwardProblem::Buffer& BackwardProblem::At(const std::string& operand) const {
  const auto placed = in_place_.find(operand);
  return buffers_.at(placed != in_place_.end() ? placed->second : operand);
}

void BackwardProblem::Set(const std::string& operand, int64_t row, int64_t col, double value) {
  const auto found = buffers_.find(operand);
  if (found == buffers_.end()) return;
  Buffer& b = found->second;
  StoreF64(b.first.data() + b.start, row * b.stride + col, b.dtype, value);
}

void BackwardProblem::FillRow(const std::string& operand, int64_t row, DataKind kind, uint64_t seed) {
  if (!Has(operand)) return;
  const std::vector<float> values = MakeRow(kind, Dtype(operand), cols_, seed);
  for (int64_t col = 0; col < cols_; ++col) {
    Set(operand, row, col, static_cast<double>(values[static_cast<size_t>(col)]));
  }
}

void BackwardProblem::FillByKind(uint64_t seed, int first_kind) {
  // Gradients are of all kinds, but most of them plain.
  const auto gradient = [](int n) {
    return n % 3 == 0 ? static_cast<DataKind>(n / 3 % kDataKinds) : DataKind::kNormal;
  };
  for (int64_t row = 0; row < rows_; ++row) {
    const int kind = first_kind + static_cast<int>(row);
    const uint64_t row_seed = seed * 1000003u + static_cast<uint64_t>(row) * 3u;
    FillRow("x", row, static_cast<DataKind>(kind % kDataKinds), row_seed);
    FillRow("dy", row, gradient(kind + 1), row_seed + 1);
    FillRow("d_sum", row, gradient(kind + 2), row_seed + 2);
  }
  if (Has("gamma")) {
    const std::vector<float> gamma = MakeGamma(options_.vectors, Dtype("gamma"), cols_, seed + 77);
    for (int64_t col = 0; col < cols_; ++col)
      Set("gamma", 0, col, static_cast<double>(gamma[static_cast<size_t>(col)]));
  }
  SaveStatistics();
}

void BackwardProblem::Fill(DataKind x, DataKind dy, uint64_t seed) {
  FillByKind(seed);
  for (int64_t row = 0; row < rows_; ++row) {
    const uint64_t row_seed = seed * 1000003u + static_cast<uint64_t>(row) * 3u;
    FillRow("x", row, x, row_seed);
    FillRow("dy", row, dy, row_seed + 1);
    FillRow("d_sum", row, dy, row_seed + 2);
  }
  SaveStatistics();
}

void BackwardProblem::SaveStatistics() {
  if (!Has("rstd") || rows_ == 0 || cols_ == 0) return;
  const Buffer& x = buffers_.at("x");
  std::vector<float> y(static_cast<size_t>(cols_));
  std::vector<uint16_t> y16(static_cast<size_t>(cols_));
  for (int64_t row = 0; row < rows_; ++row) {
    double mean = 0.0, rstd = 0.0;
    addnorm_norm_args args = ADDNORM_NORM_ARGS_INIT;
    args.rows = 1;
    args.cols = cols_;
    args.x = {x.first.data() + x.start + static_cast<size_t>(row * x.stride) * DtypeSize(x.dtype), cols_, x.dtype, 0};
    args.y = {x.dtype == ADDNORM_F32 ? static_cast<void*>(y.data()) : y16.data(), cols_, x.dtype, 0};
    args.epsilon = options_.epsilon;
    args.rstd = {&rstd, 1, ADDNORM_F64, 0};
    if (Has("mean")) args.mean = {&mean, 1, ADDNORM_F64, 0};
    if ((Has("mean") ? addnorm_layer_norm : addnorm_rms_norm)(&args) != ADDNORM_OK) std::abort();
    Set("rstd", row, 0, rstd);
    Set("mean", row, 0, mean);
  }
}

void BackwardProblem::CopyInputs(const BackwardProblem& from, int64_t from_row) {
  for (auto& [name, b] : buffers_) {
    if (b.field->written || !from.Has(name)) continue;
    const int64_t first = b.field->shape == Shape::kVector ? 0 : from_row;
    for (int64_t row = 0; row < b.rows; ++row) {
      for (int64_t col = 0; col < b.cols; ++col) Set(name, row, col, from.Input(name, first + row, col));
    }
  }
}

void BackwardProblem::Reset() {
  for (auto& [name, b] : buffers_) b.memory = b.first;
  workspace_.assign(workspace_.size(), kUntouched);
}

Args BackwardProblem::MakeArgs() const {
  Args args(*case_->fields);
  args.set_rows(rows_);
  args.set_cols(cols_);
  for (const OperandField& field : case_->fields->operands) {
    if (!Has(field.name)) continue;
    const Buffer& b = At(field.name);
    args.Set(field, {const_cast<unsigned char*>(b.memory.data()) + b.start, b.stride, b.dtype, 0});
  }
  for (const NumberField& field : case_->fields->numbers) {
    const std::string name = field.name;
    if (name == "epsilon") args.Set(field, options_.epsilon);
    if (name == "gamma_offset") args.Set(field, static_cast<double>(options_.gamma_offset));
    if (name == "residual_scale") args.Set(field, static_cast<double>(options_.residual_scale));
  }
  const bool add = case_->op() == ADDNORM_OP_ADD_BACKWARD;
  args.set_int(add ? offsetof(addnorm_add_backward_args, accumulate) : offsetof(addnorm_norm_backward_args, accumulate),
               options_.accumulate ? 1 : 0);
  if (workspace_size_ != 0) {
    args.set_workspace(const_cast<unsigned char*>(workspace_.data()) + workspace_start_, workspace_size_);
  }
  if (dropout_ != nullptr) args.set_dropout(dropout_->args());
  return args;
}

addnorm_status BackwardProblem::Run() {
  Reset();
  return MakeArgs().Call();
}

double BackwardProblem::Get(const std::string& operand, int64_t row, int64_t col) const {
  const Buffer& b = At(operand);
  return LoadValue(b.memory.data() + b.start, row * b.stride + col, b.dtype);
}

double BackwardProblem::Input(const std::string& operand, int64_t row, int64_t col) const {
  const Buffer& b = buffers_.at(operand);
  return LoadValue(b.first.data() + b.start, row * b.stride + col, b.dtype);
}

std::string BackwardProblem::Outputs(const std::vector<std::string>& operands, int64_t first_row, int64_t count) const {
  std::string bytes;
  for (const std::string& name : operands) {
    if (!Has(name)) continue;
    const Buffer& b = At(name);
    const bool vector = b.rows == 1 && b.stride == 0;
    const int64_t first = vector ? 0 : first_row, last = vector ? 1 : count < 0 ? rows_ : first_row + count;
    for (int64_t row = first; row < last; ++row) {
      for (int64_t col = 0; col < b.cols; ++col) {
        const size_t size = DtypeSize(b.dtype);
        const double value = Get(name, row, col);
        if (std::isnan(value)) {
          bytes.append(size, '\x7f');
        } else {
          bytes.append(reinterpret_cast<const char*>(b.memory.data()) + b.start +
                           static_cast<size_t>(row * b.stride + col) * size,
                       size);
        }
      }
    }
  }
  return bytes;
}

std::string BackwardProblem::Untouched() const {
  for (const auto& [name, b] : buffers_) {
    std::vector<unsigned char> expected = b.first;
    bool written = b.field->written && in_place_.count(name) == 0;
    for (const auto& placed : in_place_) written = written || placed.second == name;
    if (written) {
      const size_t size = DtypeSize(b.dtype);
      for (int64_t row = 0; row < b.rows; ++row) {
        const size_t at = b.start + static_cast<size_t>(row * b.stride) * size;
        std::memcpy(expected.data() + at, b.memory.data() + at, static_cast<size_t>(b.cols) * size);
      }
    }
    if (expected != b.memory) return name + " was changed where it must not be";
  }
  for (size_t i = 0; i < workspace_.size(); ++i) {
    if ((i < workspace_start_ || i >= workspace_start_ + workspace_size_) && workspace_[i] != kUntouched) {
      return "written beyond the workspace";
    }
  }
  if (dropout_ != nullptr && !dropout_->Untouched()) return "the mask was changed";
  return "";
}

}  // namespace addnorm_test
