// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// What one row of any operation must give, computed with MPFR from the stored inputs: sums are exact, the rest has at
// least 124 bits. It reproduces the rounding points that are part of the formulas (addnorm.h) and nothing of how the
// kernels compute.
#ifndef ADDNORM_TESTS_SUPPORT_ORACLE_H_
#define ADDNORM_TESTS_SUPPORT_ORACLE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "addnorm/addnorm.h"

namespace addnorm_test {

// A value of more than 100 bits: hi + lo, hi nearest to it.
struct Exact {
  double hi = 0.0;
  double lo = 0.0;
};

// What is right for one element of y.
struct Expected {
  // The result before its last rounding. Where a 16-bit rounding point of the formula (norm_dtype, norm_out_dtype) may
  // go either way, because the value rounded there lies within the f32 bound of a tie, `other` is the second
  // possibility, else equal to `value`.
  Exact value;
  Exact other;
  bool anything_between = false;  // more than two possibilities: all from value to other are right
  // M of the bounds: errors are in units of ULP32(M). At least |value|, and the magnitude of the terms that were added.
  double magnitude = 0.0;
  // Inputs that are not finite.
  bool nan = false;           // y is NaN
  bool nan_allowed = false;   // y may be NaN as well: inf * t, where t is 0 within its bound
  bool any_infinity = false;  // y is an infinity of either sign (or NaN): inf * t, where the sign of t is not certain
};

// The operands of one row, widened to f32 (exact for all storage types).
struct OracleRow {
  addnorm_op op = 0;
  int64_t cols = 0;
  const float* x = nullptr;
  const float* residual = nullptr;
  const float* gamma = nullptr;  // this and the next two: null where absent
  const float* beta = nullptr;
  const float* bias = nullptr;
  double epsilon = 0.0;
  float residual_scale = 1.0f;
  float gamma_offset = 0.0f;
  const unsigned char* kept = nullptr;  // of dropout: not 0 where an element is kept; null without
  float dropout_scale = 1.0f;
  addnorm_dtype sum_dtype = ADDNORM_F32;  // of the rounding points; no 0 for a default here
  addnorm_dtype norm_dtype = ADDNORM_F32;
  addnorm_dtype norm_out_dtype = ADDNORM_F32;
};

struct OracleResult {
  // The row that is normalized or reduced: x, or the rounded sum. Exact: the formula fixes each rounding. For Add it is
  // what sum_out has to hold, bit for bit, and y below is empty.
  std::vector<float> row;
  bool finite = true;  // all of `row` is finite; else statistics below have no meaning
  bool has_nan = false;
  bool constant = false;          // finite and variance exactly 0
  bool zero_denominator = false;  // variance or mean square + epsilon is 0: rstd is +inf, the normalized value 0
  bool wide = false;              // far enough into the range where the kernels work in f64 throughout

  Exact mean, variance, mean_square, rms, rstd;  // rstd of the operation's norm
  double mean_abs = 0.0;                         // mean of |x|, for the bound of the mean

  std::vector<Expected> y;  // of norms
  // In ULP32(M), from bounds.h: of the normalized value, of the norm's result, of |y - value|.
  double t_bound = 0.0, norm_bound = 0.0, bound = 0.0;
};

// Reuses its numbers and buffers from row to row; one per thread.
template <class Number>
class BasicOracle {
 public:
  BasicOracle();
  ~BasicOracle();
  BasicOracle(const BasicOracle&) = delete;
  BasicOracle& operator=(const BasicOracle&) = delete;

  // The result stays valid until the next call.
  const OracleResult& Compute(const OracleRow& row);

 private:
  struct Numbers;
  std::unique_ptr<Numbers> n_;
  OracleResult result_;
};

using Oracle = BasicOracle<class MpfrNumber>;
// In long double, for fuzzing: many times as fast, but an error that it finds is for Oracle to confirm.
using QuickOracle = BasicOracle<class LongDoubleNumber>;

// RN32(a * b + c), without an FMA instruction.
float FusedF32(float a, float b, float c);

}  // namespace addnorm_test

#endif  // ADDNORM_TESTS_SUPPORT_ORACLE_H_
