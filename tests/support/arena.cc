// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#include "support/arena.h"

#include <algorithm>
#include <cstring>

#include "addnorm/training.h"
#include "support/dtype.h"

namespace addnorm_test {
namespace {

constexpr unsigned char kUntouched = 0xa5;
constexpr size_t kAlignment = 64;

int64_t RowsOf(const OperandField& field, int64_t rows) { return field.shape == Shape::kVector ? 1 : rows; }
int64_t ColsOf(const OperandField& field, int64_t cols) { return field.shape == Shape::kColumn ? 1 : cols; }

}  // namespace

addnorm_dtype DtypeOfOperand(const OperandField& field, const addnorm_dtypes& dtypes) {
  if (field.dtype != nullptr) return dtypes.*field.dtype;
  const std::string name = field.name;
  if (name == "x") return dtypes.x;
  if (name == "residual") return dtypes.residual;
  if (name == "sum_out") return dtypes.sum;
  if (name == "y") return dtypes.y;
  if (field.shape == Shape::kColumn) return name == "mean" || name == "rms" ? ADDNORM_F64 : ADDNORM_F32;
  if (field.written) return name == "dbeta" ? ADDNORM_F32 : ADDNORM_F64;  // a sum over rows
  return name == "beta" ? ADDNORM_F32 : dtypes.vectors;
}

Arena::Arena(const OpFields& op, const addnorm_dtypes& dtypes, int64_t rows, int64_t cols, int64_t gap, size_t margin)
    : args_(op) {
  args_.set_rows(rows);
  args_.set_cols(cols);
  std::vector<size_t> starts;
  size_t size = margin;
  const auto reserve = [&size, margin](int64_t elements, size_t element_size) {
    const size_t start = size;
    size += static_cast<size_t>(elements) * element_size + margin;
    size += (kAlignment - size % kAlignment) % kAlignment;
    return start;
  };
  for (const OperandField& field : op.operands) {
    const int64_t stride = field.shape == Shape::kVector ? 0 : ColsOf(field, cols) + gap;
    addnorm_output operand = {nullptr, stride, DtypeOfOperand(field, dtypes), 0};
    starts.push_back(reserve((ColsOf(field, cols) + gap) * RowsOf(field, rows), DtypeSize(operand.dtype)));
    args_.Set(field, operand);
  }
  size_t workspace_size = 0;
  if (op.workspace != 0) {
    addnorm_backward_workspace(rows, cols, 3, &workspace_size);
    size += 1024;  // further from the operands than tests move them
  }
  const size_t workspace = reserve(static_cast<int64_t>(workspace_size), 1);
  spare_ = reserve(8 * (cols + gap) * rows, 8);
  memory_.assign(size + kAlignment, kUntouched);
  const size_t misalignment = reinterpret_cast<uintptr_t>(memory_.data()) % kAlignment;
  const size_t base = misalignment == 0 ? 0 : kAlignment - misalignment;
  spare_ += base;
  // Not the pattern of what is untouched: a result may be the element that was read from there.
  std::fill_n(memory_.begin() + static_cast<ptrdiff_t>(spare_), static_cast<size_t>(8 * (cols + gap) * rows) * 8,
              static_cast<unsigned char>(0x3c));
  if (op.workspace != 0) args_.set_workspace(Start(base + workspace), workspace_size);
  uint32_t random = 1;
  for (size_t i = 0; i < op.operands.size(); ++i) {
    const OperandField& field = op.operands[i];
    addnorm_output operand = args_.Get(field);
    operand.data = Start(base + starts[i]);
    args_.Set(field, operand);
    if (field.written) continue;
    for (int64_t row = 0; row < RowsOf(field, rows); ++row) {
      for (int64_t col = 0; col < ColsOf(field, cols); ++col) {
        random = random * 1664525u + 1013904223u;
        const float value = static_cast<float>(static_cast<int32_t>(random >> 8) - (1 << 23)) * 0x1p-22f;
        StoreValue(operand.data, row * operand.row_stride + col, operand.dtype, value);
      }
    }
  }
  for (const DtypeField& field : op.dtypes) {
    if (std::string(field.name) == "sum_dtype") args_.Set(field, dtypes.sum);
  }
  Snapshot();
}

void Arena::MoveTo(const OperandField& field, const OperandField& other, int64_t elements) {
  addnorm_output operand = args_.Get(field);
  const int64_t size = static_cast<int64_t>(DtypeSize(operand.dtype));
  operand.data = static_cast<unsigned char*>(args_.Get(other).data) + elements * size;
  args_.Set(field, operand);
}

std::vector<char> Arena::Mask() const {
  std::vector<char> mask(memory_.size(), 0);
  ForEachRow([&](const OperandField& field, const unsigned char* start, size_t bytes) {
    if (field.written) std::memset(mask.data() + (start - memory_.data()), 1, bytes);
  });
  if (args_.op().workspace != 0 && args_.workspace() != nullptr) {
    const unsigned char* start = static_cast<const unsigned char*>(args_.workspace());
    std::memset(mask.data() + (start - memory_.data()), 1, args_.workspace_size());
  }
  return mask;
}

std::string Arena::CheckOutside() const {
  const std::vector<char> mask = Mask();
  for (size_t i = 0; i < memory_.size(); ++i) {
    if (mask[i] == 0 && memory_[i] != snapshot_[i]) return "a byte outside the outputs changed";
  }
  return "";
}

std::string Arena::CheckWritten() const {
  for (const OperandField& field : args_.op().operands) {
    const addnorm_output operand = args_.Get(field);
    if (!field.written || operand.data == nullptr) continue;
    const size_t size = DtypeSize(operand.dtype);
    const std::vector<unsigned char> contents = Contents(field);
    const std::vector<unsigned char> untouched(size, kUntouched);
    for (size_t i = 0; i < contents.size(); i += size) {
      if (std::memcmp(contents.data() + i, untouched.data(), size) == 0) {
        return std::string(field.name) + ": element " + std::to_string(i / size) + " was not written";
      }
    }
  }
  return CheckOutside();
}

std::vector<unsigned char> Arena::Contents(const OperandField& field) const {
  const addnorm_output operand = args_.Get(field);
  const size_t size = DtypeSize(operand.dtype);
  std::vector<unsigned char> contents;
  for (int64_t row = 0; row < RowsOf(field, args_.rows()); ++row) {
    const unsigned char* start =
        static_cast<const unsigned char*>(operand.data) + static_cast<size_t>(row * operand.row_stride) * size;
    contents.insert(contents.end(), start, start + static_cast<size_t>(ColsOf(field, args_.cols())) * size);
  }
  return contents;
}

}  // namespace addnorm_test
