// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#include "call.h"

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "addnorm/training.h"
#include "support/dtype.h"
#include "support/inputs.h"

namespace addnorm_test {
namespace {

// Biased exponents of f32 at which rows change their path, and the ends.
constexpr uint32_t kHardExponents[] = {0,   1,   2,   20,  64,  76,  77,  78,  80,  82,  127,
                                       189, 190, 191, 200, 246, 249, 250, 251, 252, 253, 254};
constexpr int64_t kLongRows[] = {0, 31, 32, 33, 47, 48, 63, 64, 65, 68, 80, 127, 128, 129, 192, 257, 300};
constexpr int64_t kRows[] = {1, 1, 2, 2, 3, 4, 9, 0};
constexpr double kEpsilons[] = {1e-5, 0.0, 1e-6, 1e-12, 0.1, 1e-300, 0x1p-254, 0x1p252};
constexpr float kOffsets[] = {0.0f, 1.0f, -0.25f, -1.0f};
constexpr float kScales[] = {1.0f, -0.5f, 2.8284271f, 0x1p-126f, 0x1p100f};
constexpr double kProbabilities[] = {0.1, 0.5, 0.0, 1.0, 0.9, 1.0 / 3, 0x1p-20, 1 - 0x1p-30};
constexpr addnorm_dtype kRoundings[] = {0, 0, 0, ADDNORM_F32, ADDNORM_F16, ADDNORM_BF16};
constexpr int64_t kMostElements = 320;  // of a matrix

int64_t ElementsOfRow(const OperandField& field, int64_t cols) { return field.shape == Shape::kColumn ? 1 : cols; }
int64_t RowsOf(const OperandField& field, int64_t rows) { return field.shape == Shape::kVector ? 1 : rows; }

}  // namespace

alignas(64) unsigned char FuzzCall::memory_[kFuzzMemory];
alignas(64) unsigned char FuzzCall::workspace_[kFuzzMemory];

FuzzCall::FuzzCall(FuzzInput* in, const std::vector<OpCase>& cases)
    : in_(*in), op_case_(&cases[in->Take<uint16_t>() % cases.size()]), args_(*op_case_->fields) {
  std::memset(memory_, kFuzzUntouched, sizeof(memory_));
  const size_t size = in_.Below(256);
  int64_t cols = size < 216 ? 1 + static_cast<int64_t>(size % 20) : in_.OneOf(kLongRows);
  if (args_.op().is_reduction()) cols = std::max(cols, int64_t{1});
  const int64_t rows = std::min(in_.OneOf(kRows), kMostElements / std::max(cols, int64_t{1}));
  args_.set_rows(rows);
  args_.set_cols(cols);
  for (const OperandField& field : args_.op().operands) Place(field);
  if (args_.op().is_backward()) FinishBackward();
  Numbers();
  for (const OperandField& field : args_.op().operands) {
    if (!field.written && args_.Get(field).data != nullptr) Fill(field);
  }
}

// What operands need each other: mean and rstd, an output at least, and a workspace for the sums over rows.
void FuzzCall::FinishBackward() {
  const OperandField *mean = args_.op().Find("mean"), *rstd = args_.op().Find("rstd"), *dx = args_.op().Find("dx");
  if (mean != nullptr && (args_.Get(*mean).data == nullptr) != (args_.Get(*rstd).data == nullptr)) {
    args_.Set(*mean, {nullptr, 0, 0, 0});
    args_.Set(*rstd, {nullptr, 0, 0, 0});
  }
  bool any = false;
  int32_t sums = 0;
  for (const OperandField& field : args_.op().operands) {
    const bool given = field.written && args_.Get(field).data != nullptr;
    any = any || given;
    sums += given && field.shape == Shape::kVector;
  }
  if (!any) {
    OperandField required = *dx;
    required.required = true;
    Place(required);
  }
  size_t bytes = 0;
  addnorm_backward_workspace(args_.rows(), args_.cols(), sums, &bytes);
  if (bytes > sizeof(workspace_)) std::abort();
  args_.set_workspace(workspace_, bytes);
}

addnorm_dtype FuzzCall::DtypeOf(const OperandField& field) {
  const addnorm_dtypes& d = op_case_->dtypes;
  if (field.dtype != nullptr) return d.*field.dtype;
  if (field.shape == Shape::kVector && field.written) return in_.Below(2) == 0 ? ADDNORM_F32 : ADDNORM_F64;
  if (field.shape == Shape::kVector) return in_.Below(2) == 0 ? ADDNORM_F32 : d.vectors;
  if (field.shape == Shape::kColumn) return in_.Below(2) == 0 ? ADDNORM_F32 : ADDNORM_F64;
  switch (OperandOf(field)) {
    case kX:
      return d.x;
    case kResidual:
      return d.residual;
    case kSumOut:
      return d.sum;
    default:
      return d.y;
  }
}

void FuzzCall::Place(const OperandField& field) {
  const size_t choice = in_.Below(256);
  if (!field.required && choice % 3 == 0) return;
  addnorm_output operand = {nullptr, 0, DtypeOf(field), 0};
  // In the place of an input, where that was there before.
  if (field.written && field.shape == Shape::kMatrix && choice >= 192) {
    const bool backward = args_.op().is_backward();
    const char* const second = backward ? "d_sum" : "residual";
    const OperandField* input = args_.op().Find(choice >= 224 && args_.op().Find(second) ? second : "x");
    if (input == nullptr) input = args_.op().Find(second);
    const OperandField* other = backward ? args_.op().Find(std::strcmp(field.name, "dx") == 0 ? "d_residual" : "dx")
                                         : args_.op().Find(field.name[0] == 'y' ? "sum_out" : "y");
    const addnorm_output shared = args_.Get(*input);
    if (shared.data != nullptr && shared.dtype == operand.dtype &&
        (other == nullptr || args_.Get(*other).data != shared.data)) {
      args_.Set(field, shared);
      return;
    }
  }
  const int64_t gap = field.shape == Shape::kVector ? 0 : static_cast<int64_t>(choice / 8 % 4);
  operand.row_stride = field.shape == Shape::kVector ? 0 : ElementsOfRow(field, args_.cols()) + gap;
  const size_t size = DtypeSize(operand.dtype);
  used_ = (used_ + size - 1) / size * size + in_.Below(8) * size;
  operand.data = memory_ + used_;
  const int64_t rows = RowsOf(field, args_.rows());
  used_ += static_cast<size_t>(rows * (ElementsOfRow(field, args_.cols()) + gap)) * size + 8;
  if (used_ > sizeof(memory_)) std::abort();  // kMostElements is too large
  args_.Set(field, operand);
}

void FuzzCall::Numbers() {
  for (const NumberField& field : args_.op().numbers) {
    const std::string name = field.name;
    const bool raw = in_.Below(8) == 0;
    double value;
    if (name == "epsilon") {
      value = raw ? F64OfBits(in_.Take<uint64_t>() >> 1) : in_.OneOf(kEpsilons);
    } else {
      const auto& usual = name == "gamma_offset" ? in_.OneOf(kOffsets) : in_.OneOf(kScales);
      value = static_cast<double>(raw ? F32OfBits(in_.Take<uint32_t>()) : usual);
      if (name == "residual_scale" && value == 0.0) value = 1.0;
    }
    args_.Set(field, std::isfinite(value) ? value : 1.0);
  }
  for (const DtypeField& field : args_.op().dtypes) {
    const addnorm_dtypes& d = op_case_->dtypes;
    const addnorm_dtype rounding = in_.OneOf(kRoundings);
    const bool is_sum = std::strcmp(field.name, "sum_dtype") == 0;
    args_.Set(field, !is_sum ? rounding : d.sum == d.residual && rounding == 0 ? 0 : d.sum);
  }
  if (args_.op().store != 0) args_.set_store(static_cast<addnorm_store>(in_.Below(3)));
}

void FuzzCall::AddDropout() {
  const size_t choice = in_.Below(256);
  if (choice % 2 == 0 || !args_.op().drops_out()) return;
  dropout_.probability =
      in_.Below(8) == 0 ? static_cast<double>(in_.Take<uint32_t>()) * 0x1p-32 : in_.OneOf(kProbabilities);
  dropout_.seed = in_.Take<uint64_t>();
  dropout_.first_row = in_.Take<uint64_t>();
  const int64_t stride = (args_.cols() + 7) / 8 + static_cast<int64_t>(choice / 32 % 3);
  const auto place = [&] {
    unsigned char* mask = memory_ + used_;
    used_ += static_cast<size_t>(stride * args_.rows()) + 8;
    if (used_ > sizeof(memory_)) std::abort();
    return mask;
  };
  if (choice / 2 % 4 == 1) {
    unsigned char* mask = place();
    Rng rng(in_.Take<uint16_t>());
    for (int64_t i = 0; i < stride * args_.rows(); ++i) mask[i] = static_cast<unsigned char>(rng.Next() >> 40);
    dropout_.mask = mask;
    dropout_.mask_row_stride = stride;
  }
  if (choice / 8 % 2 == 1 && !args_.op().is_backward()) {
    dropout_.mask_out = place();
    dropout_.mask_out_row_stride = stride;
  }
  args_.set_dropout(&dropout_);
}

void FuzzCall::Fill(const OperandField& field) {
  const addnorm_output operand = args_.Get(field);
  for (int64_t row = 0; row < RowsOf(field, args_.rows()); ++row) {
    void* start = static_cast<unsigned char*>(operand.data) +
                  static_cast<size_t>(row * operand.row_stride) * DtypeSize(operand.dtype);
    FillRow(start, ElementsOfRow(field, args_.cols()), operand.dtype);
  }
}

void FuzzCall::FillRow(void* data, int64_t cols, addnorm_dtype dtype) {
  if (cols == 0) return;
  const size_t kind = in_.Below(256);
  const size_t exponent_choice = in_.Below(256);
  Rng rng(in_.Take<uint16_t>());
  uint32_t exponent = exponent_choice < 160 ? 120 + exponent_choice % 16
                                            : kHardExponents[exponent_choice % (sizeof(kHardExponents) / 4)];
  if (dtype == ADDNORM_F16) exponent = 112 + exponent % 31;
  const uint32_t fraction = static_cast<uint32_t>(rng.Next()) & (kind >= 128 ? 0x700000u : 0x7fffffu);
  const uint32_t base = exponent << 23 | fraction;
  const auto down = [exponent](uint64_t binades) {
    return exponent > binades ? (exponent - static_cast<uint32_t>(binades)) << 23 : 0u;
  };
  for (int64_t i = 0; i < cols; ++i) {
    const uint64_t random = rng.Next();
    const uint32_t sign = static_cast<uint32_t>(random >> 63) << 31;
    const uint32_t noise = static_cast<uint32_t>(random) & 0x7fffffu;
    uint32_t bits = base;
    switch (kind % 8) {
      case 0:  // about one size
        bits = sign | exponent << 23 | noise;
        break;
      case 1:  // constant
        break;
      case 2:
        bits = base | static_cast<uint32_t>(i % 2) << 31;
        break;
      case 3:  // a few ULP of the dtype apart
        bits = base + (static_cast<uint32_t>(random >> 61) << (dtype == ADDNORM_F32   ? 0
                                                               : dtype == ADDNORM_F16 ? 13
                                                                                      : 16));
        break;
      case 4:  // two values
        bits = random >> 63 != 0 ? base : down(1) | fraction;
        break;
      case 5:
        bits = sign | down((random >> 32) % 48) | noise;
        break;
      case 6:  // a mean with little around it
        bits = base + (noise >> (random >> 59));
        break;
      default:
        bits = i == 0 ? base : 0;
        break;
    }
    StoreValue(data, i, dtype, F32OfBits(bits));
  }
  // Any bit patterns.
  for (size_t n = in_.Below(256) / 64; n > 0; --n) {
    const int64_t at = static_cast<int64_t>(in_.Below(256)) % cols;
    StoreValue(data, at, dtype, F32OfBits(in_.Take<uint32_t>()));
  }
}

std::string Outputs(const Args& args) {
  std::string all;
  for (const OperandField& field : args.op().operands) {
    const addnorm_output operand = args.Get(field);
    if (!field.written || operand.data == nullptr) continue;
    const size_t size = DtypeSize(operand.dtype);
    for (int64_t row = 0; row < RowsOf(field, args.rows()); ++row) {
      for (int64_t col = 0; col < ElementsOfRow(field, args.cols()); ++col) {
        const int64_t index = row * operand.row_stride + col;
        if (std::isnan(LoadValue(operand.data, index, operand.dtype))) {
          all.append(size, '\xff');
        } else {
          all.append(static_cast<const char*>(operand.data) + static_cast<size_t>(index) * size, size);
        }
      }
    }
  }
  const addnorm_dropout* dropout = args.dropout();
  if (dropout != nullptr && dropout->mask_out != nullptr) {
    for (int64_t row = 0; row < args.rows(); ++row) {
      all.append(reinterpret_cast<const char*>(dropout->mask_out) + row * dropout->mask_out_row_stride,
                 static_cast<size_t>((args.cols() + 7) / 8));
    }
  }
  return all;
}

void Fail(const Args& args, const char* format, ...) {
  std::fprintf(stderr, "%s, rows %lld, cols %lld:", args.op().name, static_cast<long long>(args.rows()),
               static_cast<long long>(args.cols()));
  for (const OperandField& field : args.op().operands) {
    const addnorm_output operand = args.Get(field);
    std::fprintf(stderr, " %s %p dtype %d stride %lld,", field.name, operand.data, static_cast<int>(operand.dtype),
                 static_cast<long long>(operand.row_stride));
  }
  std::fputs("\n  ", stderr);
  va_list list;
  va_start(list, format);
  std::vfprintf(stderr, format, list);
  va_end(list);
  std::fputs("\n", stderr);
  std::abort();
}

}  // namespace addnorm_test
