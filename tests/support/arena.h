// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
// Memory for every operand of one call, with bytes around and between them whose change is noticed.
#ifndef ADDNORM_TESTS_SUPPORT_ARENA_H_
#define ADDNORM_TESTS_SUPPORT_ARENA_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "support/args.h"
#include "support/dtype.h"

namespace addnorm_test {

// The dtypes of the operands of one call; vectors and statistics take turns between the dtypes that they may have.
addnorm_dtype DtypeOfOperand(const OperandField& field, const addnorm_dtypes& dtypes);

class Arena {
 public:
  // A call of `op` that is valid and gives every operand, optional ones too, with `gap` elements between rows and at
  // least `margin` bytes, a multiple of 64, before and after each operand.
  Arena(const OpFields& op, const addnorm_dtypes& dtypes, int64_t rows, int64_t cols, int64_t gap = 3,
        size_t margin = 64);
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  Args& args() { return args_; }
  const Args& args() const { return args_; }

  // Places the operand where `other` is, plus `elements` of its own.
  void MoveTo(const OperandField& field, const OperandField& other, int64_t elements = 0);
  // Room for any operand, of which none uses it.
  void* Spare() { return Start(spare_); }

  // Remembers all bytes, then tells which changed, or puts them back.
  void Snapshot() { snapshot_ = memory_; }
  void Restore() { memory_ = snapshot_; }
  bool Untouched() const { return snapshot_ == memory_; }
  // Empty if exactly the outputs' elements changed since the snapshot; else what is wrong.
  std::string CheckWritten() const;
  // Empty if no byte outside the outputs' elements changed since the snapshot.
  std::string CheckOutside() const;

  const unsigned char* begin() const { return memory_.data(); }
  size_t size() const { return memory_.size(); }
  // Calls function(field, start, bytes) for each row of each operand that is given.
  template <class Function>
  void ForEachRow(const Function& function) const {
    for (const OperandField& field : args_.op().operands) {
      const addnorm_output operand = args_.Get(field);
      if (operand.data == nullptr) continue;
      const size_t element = DtypeSize(operand.dtype);
      const int64_t rows = field.shape == Shape::kVector ? 1 : args_.rows();
      const int64_t cols = field.shape == Shape::kColumn ? 1 : args_.cols();
      for (int64_t row = 0; row < rows; ++row) {
        const unsigned char* start =
            static_cast<const unsigned char*>(operand.data) + static_cast<size_t>(row * operand.row_stride) * element;
        function(field, start, static_cast<size_t>(cols) * element);
      }
    }
  }

  // The bytes of an output's elements, row after row.
  std::vector<unsigned char> Contents(const OperandField& field) const;

 private:
  unsigned char* Start(size_t offset) { return memory_.data() + offset; }
  std::vector<char> Mask() const;  // which bytes are elements of outputs

  Args args_;
  std::vector<unsigned char> memory_;
  std::vector<unsigned char> snapshot_;
  size_t spare_ = 0;
};

}  // namespace addnorm_test

#endif  // ADDNORM_TESTS_SUPPORT_ARENA_H_
