// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#include "support/op_case.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "support/dtype.h"

namespace addnorm_test {
namespace {

constexpr size_t kMargin = 64;              // bytes before and after each operand
constexpr unsigned char kUntouched = 0xff;  // a NaN in every dtype: reading what is not an operand spoils the result

std::string CaseName(const OpFields& fields, const addnorm_dtypes& d) {
  std::string name = std::string(fields.name) + "/" + DtypeName(d.x);
  if (d.residual != 0) name += std::string("+") + DtypeName(d.residual);
  if (d.sum != 0) name += std::string(">") + DtypeName(d.sum);
  if (d.y != 0) name += std::string(">") + DtypeName(d.y);
  return name;
}

}  // namespace

std::vector<OpCase> CasesOf(const std::vector<OpFields>& operations) {
  std::vector<OpCase> cases;
  for (const OpFields& fields : operations) {
    for (const addnorm_dtypes& dtypes : PromisedDtypes(fields.op)) {
      cases.push_back({&fields, dtypes, CaseName(fields, dtypes)});
    }
  }
  return cases;
}

const std::vector<OpCase>& AllOpCases() {
  static const std::vector<OpCase> cases = CasesOf(AllOpFields());
  return cases;
}

const OpCase& FindOpCase(addnorm_op op, addnorm_dtypes d) {
  for (const OpCase& c : AllOpCases()) {
    if (c.op() == op && c.dtypes.x == d.x && c.dtypes.residual == d.residual && c.dtypes.sum == d.sum &&
        c.dtypes.y == d.y) {
      return c;
    }
  }
  std::fprintf(stderr, "%s: not promised\n", CaseName(AllOpFields()[static_cast<size_t>(op)], d).c_str());
  std::abort();
}

const char* OperandName(Operand operand) {
  static const char* const kNames[] = {"x",       "residual", "gamma", "beta",     "bias",        "y",
                                       "sum_out", "mean",     "rstd",  "variance", "mean_square", "rms"};
  static_assert(sizeof(kNames) / sizeof(kNames[0]) == kOperands, "a name for each operand");
  return kNames[operand];
}

Operand OperandOf(const OperandField& field) {
  int operand = 0;
  while (std::strcmp(field.name, OperandName(static_cast<Operand>(operand))) != 0) ++operand;
  return static_cast<Operand>(operand);
}

Layout Layout::Shifted(int64_t offset, int64_t gap) {
  Layout layout;
  for (Placement& p : layout.at) p = {offset, gap};
  return layout;
}

uint64_t Fnv1a(const std::string& bytes, uint64_t hash) {
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

// ---- Problem: the operands.

addnorm_dtype Problem::DtypeOf(Operand operand) const {
  const addnorm_dtypes& d = case_->dtypes;
  const auto vector = [&](VectorType type) { return type == VectorType::kStorage ? d.vectors : ADDNORM_F32; };
  switch (operand) {
    case kX:
      return d.x;
    case kResidual:
      return d.residual;
    case kGamma:
      return vector(options_.gamma);
    case kBeta:
      return vector(options_.beta);
    case kBias:
      return vector(options_.bias);
    case kY:
      return d.y;
    case kSumOut:
      return d.sum;
    default:
      if (IsReduction(case_->op())) return options_.statistics;
      return operand == kMean ? options_.mean : options_.rstd;
  }
}

Problem::Problem(const OpCase& op_case, const Options& options, int64_t rows, int64_t cols, const Layout& layout)
    : case_(&op_case), options_(options), rows_(rows), cols_(cols) {
  for (int i = 0; i < kOperands; ++i) {
    const Operand operand = static_cast<Operand>(i);
    const OperandField* field = case_->fields->Find(OperandName(operand));
    if (field == nullptr) continue;
    const bool asked = (operand != kGamma || options_.gamma != VectorType::kAbsent) &&
                       (operand != kBeta || options_.beta != VectorType::kAbsent) &&
                       (operand != kBias || options_.bias != VectorType::kAbsent) &&
                       (operand != kSumOut || field->required || options_.sum_out) &&
                       (operand != kMean || field->required || options_.mean != 0) &&
                       (operand != kRstd || field->required || options_.rstd != 0);
    if (asked) AddOperand(operand, *field, layout);
  }
  if (options_.dropout.present()) {
    dropout_.reset(new DropoutMemory(options_.dropout, rows, cols, layout.at[kX].gap));
  }
}

void Problem::AddOperand(Operand operand, const OperandField& field, const Layout& layout) {
  Buffer& b = At(operand);
  b.present = true;
  b.dtype = DtypeOf(operand);
  b.shape = field.shape;
  b.rows = b.shape == Shape::kVector ? 1 : rows_;
  b.cols = b.shape == Shape::kColumn ? 1 : cols_;
  b.owner = static_cast<size_t>(operand);
  if (operand == kY) b.owner = static_cast<size_t>(layout.y_is);
  if (operand == kSumOut) b.owner = static_cast<size_t>(layout.sum_is);
  if (!IsOutput(operand)) b.values.assign(static_cast<size_t>(b.rows * b.cols), 0.0f);
  if (b.owner != static_cast<size_t>(operand)) {
    const Buffer& input = buffers_[b.owner];
    if (!input.present || input.dtype != b.dtype) {
      std::fprintf(stderr, "%s: %s cannot be in place\n", case_->name.c_str(), OperandName(operand));
      std::abort();
    }
    b.stride = input.stride;
    return;
  }
  const Placement& at = layout.at[static_cast<size_t>(operand)];
  b.stride = b.shape == Shape::kVector ? 0 : b.cols + at.gap;
  const size_t size = DtypeSize(b.dtype);
  const size_t extent = static_cast<size_t>((b.rows > 0 ? b.rows - 1 : 0) * b.stride + b.cols) * size;
  const size_t offset = static_cast<size_t>(at.offset) * size;
  b.memory.assign(kMargin + 64 + offset + extent + kMargin, kUntouched);
  const uintptr_t address = reinterpret_cast<uintptr_t>(b.memory.data()) + kMargin;
  b.start = kMargin + static_cast<size_t>((64 - address % 64) % 64) + offset;
}

const unsigned char* Problem::RowStart(const Buffer& buffer, int64_t row) const {
  const Buffer& owner = buffers_[buffer.owner];
  return owner.memory.data() + owner.start + static_cast<size_t>(row * buffer.stride) * DtypeSize(buffer.dtype);
}

// ---- Inputs.

void Problem::Set(Operand operand, int64_t row, int64_t col, float value) {
  Buffer& b = At(operand);
  if (!b.present) return;
  b.values[static_cast<size_t>(row * b.cols + col)] = RoundF32To(value, b.dtype);
  inputs_changed_ = true;
}

void Problem::Set(Operand operand, int64_t row, const std::vector<float>& values) {
  for (int64_t col = 0; col < cols_; ++col) Set(operand, row, col, values[static_cast<size_t>(col)]);
}

float Problem::Input(Operand operand, int64_t row, int64_t col) const {
  const Buffer& b = At(operand);
  return b.values[static_cast<size_t>(row * b.cols + col)];
}

void Problem::FillVectors(uint64_t seed) {
  if (Has(kGamma)) Set(kGamma, 0, MakeGamma(options_.vectors, Dtype(kGamma), cols_, seed));
  if (Has(kBeta)) Set(kBeta, 0, MakeBeta(options_.vectors, Dtype(kBeta), cols_, seed + 1));
  if (Has(kBias)) Set(kBias, 0, MakeBeta(VectorKind::kUsual, Dtype(kBias), cols_, seed + 2));
}

void Problem::FillByKind(uint64_t seed, int first_kind) {
  FillVectors(seed);
  for (int64_t row = 0; row < rows_; ++row) {
    const DataKind kind = static_cast<DataKind>((first_kind + row) % kDataKinds);
    Set(kX, row, MakeRow(kind, Dtype(kX), cols_, seed * 64 + static_cast<uint64_t>(row)));
    if (Has(kResidual)) {
      Set(kResidual, row, MakeRow(kind, Dtype(kResidual), cols_, seed * 64 + static_cast<uint64_t>(row) + 7777777));
    }
  }
}

void Problem::Fill(DataKind kind, uint64_t seed) {
  FillVectors(seed);
  for (int64_t row = 0; row < rows_; ++row) {
    const uint64_t row_seed = seed * 64 + static_cast<uint64_t>(row);
    Set(kX, row, MakeRow(kind, Dtype(kX), cols_, row_seed));
    if (Has(kResidual)) Set(kResidual, row, MakeRow(kind, Dtype(kResidual), cols_, row_seed + 7777777));
  }
}

void Problem::CopyInputs(const Problem& from, int64_t from_row) {
  for (const Operand operand : {kX, kResidual, kGamma, kBeta, kBias}) {
    Buffer& b = At(operand);
    if (!b.present) continue;
    const Buffer& source = from.At(operand);
    const int64_t first = b.shape == Shape::kVector ? 0 : from_row;
    std::copy_n(source.values.begin() + static_cast<ptrdiff_t>(first * b.cols), b.values.size(), b.values.begin());
  }
  inputs_changed_ = true;
}

void Problem::WriteInputs() {
  for (Buffer& b : buffers_) {
    if (!b.present || b.memory.empty()) continue;
    if (!b.values.empty()) {
      for (int64_t row = 0; row < b.rows; ++row) {
        unsigned char* at = b.memory.data() + b.start + static_cast<size_t>(row * b.stride) * DtypeSize(b.dtype);
        for (int64_t col = 0; col < b.cols; ++col) {
          StoreValue(at, col, b.dtype, b.values[static_cast<size_t>(row * b.cols + col)]);
        }
      }
    }
    b.first = b.memory;
  }
  inputs_changed_ = false;
}

// ---- The call.

void Problem::Reset() {
  for (Buffer& b : buffers_) {
    if (!b.first.empty()) std::copy(b.first.begin(), b.first.end(), b.memory.begin());  // in place: addresses stay
  }
  if (inputs_changed_) WriteInputs();
  if (dropout_ != nullptr) dropout_->Reset();
}

Args Problem::MakeArgs() const {
  Args args(*case_->fields);
  args.set_rows(rows_);
  args.set_cols(cols_);
  for (int i = 0; i < kOperands; ++i) {
    const Buffer& b = buffers_[static_cast<size_t>(i)];
    if (!b.present) continue;
    const addnorm_output operand = {const_cast<unsigned char*>(RowStart(b, 0)), b.stride, b.dtype, 0};
    args.Set(*case_->fields->Find(OperandName(static_cast<Operand>(i))), operand);
  }
  for (const NumberField& field : case_->fields->numbers) {
    const std::string name = field.name;
    args.Set(field, name == "epsilon"        ? options_.epsilon
                    : name == "gamma_offset" ? static_cast<double>(options_.gamma_offset)
                                             : static_cast<double>(options_.residual_scale));
  }
  for (const DtypeField& field : case_->fields->dtypes) {
    const std::string name = field.name;
    const addnorm_dtype sum = case_->dtypes.sum == case_->dtypes.residual ? 0 : case_->dtypes.sum;
    args.Set(field, name == "norm_dtype" ? options_.norm_dtype : name == "sum_dtype" ? sum : options_.norm_out_dtype);
  }
  if (dropout_ != nullptr) args.set_dropout(dropout_->args());
  return args;
}

addnorm_status Problem::Run() {
  Reset();
  return MakeArgs().Call();
}

// ---- Results.

double Problem::Get(Operand output, int64_t row, int64_t col) const {
  const Buffer& b = At(output);
  return LoadValue(RowStart(b, row), col, b.dtype);
}

uint64_t Problem::Bits(Operand output, int64_t row, int64_t col) const {
  const Buffer& b = At(output);
  const size_t size = DtypeSize(b.dtype);
  if (std::isnan(Get(output, row, col))) return 0x7ff8000000000000u >> (64 - 8 * size);
  uint64_t bits = 0;
  std::memcpy(&bits, RowStart(b, row) + static_cast<size_t>(col) * size, size);  // all supported CPUs are little-endian
  return bits;
}

std::string Problem::OutputBytes(Operand output, int64_t row) const {
  const Buffer& b = At(output);
  const size_t size = DtypeSize(b.dtype);
  const char* start = reinterpret_cast<const char*>(RowStart(b, row));
  std::string bytes(start, static_cast<size_t>(b.cols) * size);
  for (int64_t col = 0; col < b.cols; ++col) {
    if (!std::isnan(LoadValue(start, col, b.dtype))) continue;
    const uint64_t bits = Bits(output, row, col);
    std::memcpy(&bytes[static_cast<size_t>(col) * size], &bits, size);
  }
  return bytes;
}

std::string Problem::OutputsOfRows(int64_t first, int64_t count) const {
  std::string all;
  for (int64_t row = first; row < first + count; ++row) {
    for (int i = kY; i < kOperands; ++i) {
      if (Has(static_cast<Operand>(i))) all += OutputBytes(static_cast<Operand>(i), row);
    }
    if (dropout_ != nullptr) all += dropout_->MaskOut(row);
  }
  return all;
}

std::string Problem::Untouched() const {
  for (size_t i = 0; i < buffers_.size(); ++i) {
    if (buffers_[i].memory.empty()) continue;
    const Buffer& b = buffers_[i];
    // The outputs that live in this memory are all rows x cols at the same place.
    bool written = false;
    for (size_t output = kY; output < kOperands; ++output) {
      written = written || (buffers_[output].present && buffers_[output].owner == i);
    }
    const size_t row_bytes = written ? static_cast<size_t>(b.cols) * DtypeSize(b.dtype) : 0;
    const size_t stride_bytes = static_cast<size_t>(b.stride) * DtypeSize(b.dtype);
    size_t from = 0;
    for (int64_t row = 0; row <= b.rows; ++row) {
      const bool last = row == b.rows || !written;
      const size_t to = last ? b.memory.size() : b.start + static_cast<size_t>(row) * stride_bytes;
      if (!std::equal(b.memory.begin() + static_cast<ptrdiff_t>(from), b.memory.begin() + static_cast<ptrdiff_t>(to),
                      b.first.begin() + static_cast<ptrdiff_t>(from))) {
        return std::string(OperandName(static_cast<Operand>(i))) +
               ": bytes outside of the output's elements changed before row " + std::to_string(row);
      }
      if (last) break;
      from = to + row_bytes;
    }
  }
  if (dropout_ != nullptr && !dropout_->Untouched()) return "mask or mask_out was changed where it must not be";
  return "";
}

OracleRow Problem::ForOracle(int64_t row) const {
  const auto values = [&](Operand operand) -> const float* {
    const Buffer& b = At(operand);
    if (!b.present) return nullptr;
    return b.values.data() + (b.shape == Shape::kVector ? 0 : row * b.cols);
  };
  OracleRow r;
  r.op = case_->op();
  r.cols = cols_;
  r.x = values(kX);
  r.residual = values(kResidual);
  r.gamma = values(kGamma);
  r.beta = values(kBeta);
  r.bias = values(kBias);
  r.epsilon = options_.epsilon;
  r.residual_scale = options_.residual_scale;
  r.gamma_offset = options_.gamma_offset;
  r.sum_dtype = case_->dtypes.sum;
  r.norm_dtype = options_.norm_dtype == 0 ? ADDNORM_F32 : options_.norm_dtype;
  r.norm_out_dtype = options_.norm_out_dtype == 0 ? case_->dtypes.x : options_.norm_out_dtype;
  if (dropout_ != nullptr) {
    r.kept = dropout_->Kept(row);
    r.dropout_scale = options_.dropout.Scale();
  }
  return r;
}

}  // namespace addnorm_test
