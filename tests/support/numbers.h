// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// The two arithmetics that the oracle computes in: MPFR, and long double where there is no time for that.
#ifndef ADDNORM_TESTS_SUPPORT_NUMBERS_H_
#define ADDNORM_TESTS_SUPPORT_NUMBERS_H_

#include <mpfr.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "support/dtype.h"
#include "support/oracle.h"

namespace addnorm_test {

// The spread of a row of f32 is at least 2^-38 of its mean: x - mean keeps 86 bits and more. MPFR has fast paths for
// two limbs, if all operands have the same precision.
constexpr mpfr_prec_t kElementBits = 124;

class MpfrNumber {
 public:
  explicit MpfrNumber(mpfr_prec_t bits = kElementBits) { mpfr_init2(v_, bits); }
  ~MpfrNumber() { mpfr_clear(v_); }
  MpfrNumber(const MpfrNumber&) = delete;
  MpfrNumber& operator=(const MpfrNumber&) = delete;
  operator mpfr_ptr() { return v_; }
  operator mpfr_srcptr() const { return v_; }

  // Each rounds to the precision of this number.
  void Set(double v) { mpfr_set_d(v_, v, MPFR_RNDN); }
  void Set(const MpfrNumber& v) { mpfr_set(v_, v, MPFR_RNDN); }
  void SetInfinity() { mpfr_set_inf(v_, 1); }
  void Add(const MpfrNumber& a, double b) { mpfr_add_d(v_, a, b, MPFR_RNDN); }
  void Add(const MpfrNumber& a, const MpfrNumber& b) { mpfr_add(v_, a, b, MPFR_RNDN); }
  void Subtract(const MpfrNumber& a, const MpfrNumber& b) { mpfr_sub(v_, a, b, MPFR_RNDN); }
  void Multiply(const MpfrNumber& a, const MpfrNumber& b) { mpfr_mul(v_, a, b, MPFR_RNDN); }
  void SquareRoot(const MpfrNumber& a) { mpfr_sqrt(v_, a, MPFR_RNDN); }
  void InverseSquareRoot(const MpfrNumber& a) { mpfr_rec_sqrt(v_, a, MPFR_RNDN); }
  bool IsZero() const { return mpfr_zero_p(v_) != 0; }
  double Nearest() const { return mpfr_get_d(v_, MPFR_RNDN); }

 private:
  mpfr_t v_;
};

// 64 bits, and a range in which no square of an f32 or f64 overflows. Not exact: what it finds wrong by little is for
// MPFR to judge.
class LongDoubleNumber {
 public:
  void Set(double v) { v_ = static_cast<long double>(v); }
  void Set(long double v) { v_ = v; }
  void Set(const LongDoubleNumber& v) { v_ = v.v_; }
  void SetInfinity() { v_ = static_cast<long double>(HUGE_VAL); }
  void Add(const LongDoubleNumber& a, double b) { v_ = a.v_ + static_cast<long double>(b); }
  void Add(const LongDoubleNumber& a, const LongDoubleNumber& b) { v_ = a.v_ + b.v_; }
  void Subtract(const LongDoubleNumber& a, const LongDoubleNumber& b) { v_ = a.v_ - b.v_; }
  void Multiply(const LongDoubleNumber& a, const LongDoubleNumber& b) { v_ = a.v_ * b.v_; }
  void SquareRoot(const LongDoubleNumber& a) { v_ = std::sqrt(a.v_); }
  void InverseSquareRoot(const LongDoubleNumber& a) { v_ = 1.0L / std::sqrt(a.v_); }
  bool IsZero() const { return v_ == 0.0L; }
  double Nearest() const { return static_cast<double>(v_); }
  long double value() const { return v_; }

 private:
  long double v_ = 0.0L;
};

// An exact sum of f64 values: a fixed-point number of 32-bit digits, which take their carries at the end.
class ExactSum {
 public:
  void Clear() { digits_.fill(0); }
  // At most 2^30 values.
  void Add(double v) {
    if (v == 0.0) return;
    const uint64_t bits = BitsOf(v);
    const int field = static_cast<int>((bits >> 52) & 0x7ff);
    const uint64_t fraction = bits & ((uint64_t{1} << 52) - 1);
    const uint64_t significand = field == 0 ? fraction : fraction | (uint64_t{1} << 52);
    const int position = field == 0 ? 0 : field - 1;  // in units of 2^-1074
    const int shift = position % 32;
    const size_t digit = static_cast<size_t>(position / 32);
    const uint64_t low = (significand & 0xffffffffu) << shift, high = (significand >> 32) << shift;
    const uint64_t middle = (low >> 32) + (high & 0xffffffffu);
    const int64_t sign = v < 0 ? -1 : 1;
    digits_[digit] += sign * static_cast<int64_t>(low & 0xffffffffu);
    digits_[digit + 1] += sign * static_cast<int64_t>(middle);
    digits_[digit + 2] += sign * static_cast<int64_t>(high >> 32);
  }
  // `to` has the bits to hold the sum.
  void Get(MpfrNumber* to, MpfrNumber* scratch) const {
    mpfr_set_zero(*to, 1);
    for (size_t i = 0; i < digits_.size(); ++i) {
      if (digits_[i] == 0) continue;
      mpfr_set_si_2exp(*scratch, static_cast<long>(digits_[i]), static_cast<mpfr_exp_t>(32 * i) - 1074, MPFR_RNDN);
      to->Add(*to, *scratch);
    }
  }

 private:
  std::array<int64_t, 2048 / 32 + 3> digits_ = {};
};

// Mean, variance and mean square of a row, each rounded once from exact sums.
class MpfrStatistics {
 public:
  void Compute(const std::vector<float>& row) {
    exact_sum_.Clear();
    exact_squares_.Clear();
    for (const float value : row) {
      const double v = static_cast<double>(value);
      exact_sum_.Add(v);
      exact_squares_.Add(v * v);  // exact
    }
    exact_sum_.Get(&sum_, &scratch_);
    exact_squares_.Get(&squares_, &scratch_);
    const unsigned long count = static_cast<unsigned long>(row.size());
    mpfr_div_ui(mean, sum_, count, MPFR_RNDN);
    mpfr_div_ui(mean_square, squares_, count, MPFR_RNDN);
    // variance = (N * Q - S * S) / N^2, exact up to the division.
    mpfr_mul_ui(squares_, squares_, count, MPFR_RNDN);
    mpfr_sqr(spread_, sum_, MPFR_RNDN);
    mpfr_sub(spread_, squares_, spread_, MPFR_RNDN);
    mpfr_div_ui(spread_, spread_, count, MPFR_RNDN);
    mpfr_div_ui(variance, spread_, count, MPFR_RNDN);
  }

  static constexpr mpfr_prec_t kRowBits = 256;
  MpfrNumber mean{kRowBits}, variance{kRowBits}, mean_square{kRowBits}, rms{kRowBits}, rstd{kRowBits};
  MpfrNumber denominator{kRowBits};

 private:
  // Sums and sums of squares of f32 are exact in these: 277 and 554 bits, and 28 for the count, which squares to less
  // than 700 in N * Q - S * S.
  static constexpr mpfr_prec_t kExactBits = 704;
  MpfrNumber sum_{kExactBits}, squares_{kExactBits}, spread_{kExactBits}, scratch_;
  ExactSum exact_sum_, exact_squares_;
};

// The same in long double, in two passes.
class LongDoubleStatistics {
 public:
  void Compute(const std::vector<float>& row) {
    const long double count = static_cast<long double>(row.size());
    long double sum = 0.0L, squares = 0.0L, spread = 0.0L;
    for (const float v : row) {
      sum += static_cast<long double>(v);
      squares += static_cast<long double>(v) * static_cast<long double>(v);
    }
    const long double average = sum / count;
    for (const float v : row) {
      const long double d = static_cast<long double>(v) - average;
      spread += d * d;
    }
    mean.Set(average);
    mean_square.Set(squares / count);
    variance.Set(spread / count);
  }

  LongDoubleNumber mean, variance, mean_square, rms, rstd, denominator;
};

}  // namespace addnorm_test

#endif  // ADDNORM_TESTS_SUPPORT_NUMBERS_H_
