// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// One row of any operation, as the search for large errors changes it and calls addnorm with it.
#ifndef ADDNORM_TESTS_SEARCH_ROW_H_
#define ADDNORM_TESTS_SEARCH_ROW_H_

#include <cstdint>
#include <string>
#include <vector>

#include "addnorm/addnorm.h"
#include "support/dtype.h"
#include "support/op_case.h"

namespace addnorm_test {

// Elements of one operand: their values, and what is stored for them where that is not f32.
class Elements {
 public:
  explicit Elements(addnorm_dtype dtype = ADDNORM_F32) : dtype_(dtype) {}

  addnorm_dtype dtype() const { return dtype_; }
  bool empty() const { return values_.empty(); }
  size_t size() const { return values_.size(); }
  float operator[](size_t i) const { return values_[i]; }
  const std::vector<float>& values() const { return values_; }
  const void* data() const {
    return dtype_ == ADDNORM_F32 ? static_cast<const void*>(values_.data()) : static_cast<const void*>(stored_.data());
  }

  void Resize(size_t size) {
    values_.assign(size, 0.0f);
    if (dtype_ != ADDNORM_F32) stored_.assign(size, 0);
  }
  // Rounds to the dtype.
  void Set(size_t i, float v) {
    if (dtype_ == ADDNORM_F32) {
      values_[i] = v;
    } else if (dtype_ == ADDNORM_BF16) {
      SetBits(i, F32ToBf16(v));
    } else {
      SetBits(i, F32ToF16(v));
    }
  }
  // The bits of an element, of its dtype.
  uint32_t Bits(size_t i) const { return dtype_ == ADDNORM_F32 ? BitsOf(values_[i]) : stored_[i]; }
  void SetBits(size_t i, uint32_t bits) {
    if (dtype_ == ADDNORM_F32) {
      values_[i] = F32OfBits(bits);
      return;
    }
    stored_[i] = static_cast<uint16_t>(bits);
    values_[i] = dtype_ == ADDNORM_BF16 ? Bf16ToF32(stored_[i]) : F16ToF32(stored_[i]);
  }

 private:
  addnorm_dtype dtype_;
  std::vector<float> values_;
  std::vector<uint16_t> stored_;
};

// All that the result depends on. x, residual, the sum and y have one dtype; gamma, beta and norm_out_dtype are f32.
struct Row {
  const OpCase* op_case = nullptr;
  Elements x, residual, gamma, beta;  // the last three may be empty
  double epsilon = 0.0;
  float residual_scale = 1.0f;
  std::string kind;

  addnorm_op op() const { return op_case->op(); }
  addnorm_dtype dtype() const { return op_case->dtypes.x; }
  size_t cols() const { return x.size(); }
};

// What an operation wrote for a row: y, and the statistics of a reduction in f64.
struct Result {
  std::vector<float> y, sum;
  double mean = 0.0, variance = 0.0, mean_square = 0.0, rms = 0.0;
};

class Caller {
 public:
  // Ends the program if the call is refused.
  void Run(const Row& row, Result* result);

 private:
  std::vector<unsigned char> y_, sum_;
};

// The row that is normalized: x, or its sum with the residual as R2 of docs/NUMERICS.md has it.
float SummedElement(const Row& row, size_t i);

// As text, from which the row can be made again; elements of gamma, beta and residual other than `at` are left out.
std::string RowText(const Row& row, size_t at);

}  // namespace addnorm_test

#endif  // ADDNORM_TESTS_SEARCH_ROW_H_
