// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#include "support/oracle.h"

#include <mpfr.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "support/bounds.h"
#include "support/dtype.h"
#include "support/ops.h"
#include "support/ulp.h"

namespace addnorm_test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kF32Overflow = 0x1p128 - 0x1p103;  // what rounds to an infinity

// Sums and sums of squares of f32 are exact in these: 277 and 554 bits, and 28 for the count, which squares to less
// than 700 in N * Q - S * S.
constexpr mpfr_prec_t kExactBits = 704;
constexpr mpfr_prec_t kRowBits = 256;
// The spread of a row of f32 is at least 2^-38 of its mean: x - mean keeps 86 bits and more. MPFR has fast paths for
// two limbs, if all operands have the same precision.
constexpr mpfr_prec_t kElementBits = 124;

class Mp {
 public:
  explicit Mp(mpfr_prec_t bits) { mpfr_init2(v_, bits); }
  ~Mp() { mpfr_clear(v_); }
  Mp(const Mp&) = delete;
  Mp& operator=(const Mp&) = delete;
  operator mpfr_ptr() { return v_; }

 private:
  mpfr_t v_;
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
  void Get(mpfr_ptr to, mpfr_ptr scratch) const {
    mpfr_set_zero(to, 1);
    for (size_t i = 0; i < digits_.size(); ++i) {
      if (digits_[i] == 0) continue;
      mpfr_set_si_2exp(scratch, static_cast<long>(digits_[i]), static_cast<mpfr_exp_t>(32 * i) - 1074, MPFR_RNDN);
      mpfr_add(to, to, scratch, MPFR_RNDN);
    }
  }

 private:
  std::array<int64_t, 2048 / 32 + 3> digits_ = {};
};

// RN(a + b) to f32 through f64 rounded to odd, which makes the second rounding harmless (53 >= 24 + 2 bits).
float AddToF32(double a, double b) {
  double sum = a + b;
  if (!std::isfinite(sum)) return static_cast<float>(sum);
  const double b_part = sum - a;
  const double error = (a - (sum - b_part)) + (b - b_part);
  if (error != 0.0 && (BitsOf(sum) & 1u) == 0) sum = std::nextafter(sum, error > 0 ? kInfinity : -kInfinity);
  return static_cast<float>(sum);
}

bool Adjacent(double low, double high, addnorm_dtype dtype) {
  if (low == high) return true;
  if (std::isinf(low) || std::isinf(high)) return std::fabs(std::isinf(low) ? high : low) == MaxFinite(dtype);
  const double middle = RoundF64To(low + (high - low) / 2, dtype);
  return middle == low || middle == high;
}

// The values that a rounding point may give: one, two neighbours, or all from low to high.
struct Range {
  double low;
  double high;
  bool more;
};

Range RoundedRange(double low, double high, addnorm_dtype dtype) {
  Range r{RoundF64To(low, dtype), RoundF64To(high, dtype), false};
  r.more = !Adjacent(r.low, r.high, dtype);
  return r;
}

}  // namespace

float FusedF32(float a, float b, float c) {
  return AddToF32(static_cast<double>(a) * static_cast<double>(b), static_cast<double>(c));  // the product is exact
}

struct Oracle::Numbers {
  Mp sum{kExactBits}, squares{kExactBits}, spread{kExactBits};
  ExactSum exact_sum, exact_squares;
  Mp mean{kRowBits}, variance{kRowBits}, mean_square{kRowBits}, rms{kRowBits}, rstd{kRowBits}, row{kRowBits};
  Mp element_mean{kElementBits}, element_rstd{kElementBits};  // shorter, for speed
  Mp t{kElementBits}, n{kElementBits}, y{kElementBits}, rest{kElementBits}, operand{kElementBits};

  Exact Get(mpfr_ptr v) {
    Exact e;
    e.hi = mpfr_get_d(v, MPFR_RNDN);
    if (std::isfinite(e.hi)) {
      mpfr_set_d(operand, e.hi, MPFR_RNDN);
      mpfr_sub(rest, v, operand, MPFR_RNDN);
      e.lo = mpfr_get_d(rest, MPFR_RNDN);
    }
    return e;
  }

  void Statistics(const OracleRow& in, OracleResult* out);
  void Element(const OracleRow& in, const OracleResult& result, int64_t i, Expected* e);
  void AffineInto(double g, double beta, mpfr_ptr from, mpfr_ptr to) {
    if (g == 1.0) {
      mpfr_set(to, from, MPFR_RNDN);
    } else {
      mpfr_set_d(operand, g, MPFR_RNDN);
      mpfr_mul(to, from, operand, MPFR_RNDN);
    }
    if (beta != 0.0) {
      mpfr_set_d(operand, beta, MPFR_RNDN);
      mpfr_add(to, to, operand, MPFR_RNDN);
    }
  }
};

void Oracle::Numbers::Statistics(const OracleRow& in, OracleResult* out) {
  exact_sum.Clear();
  exact_squares.Clear();
  double absolute = 0.0;
  for (const float value : out->row) {
    const double v = static_cast<double>(value);
    exact_sum.Add(v);
    exact_squares.Add(v * v);  // exact
    absolute += std::fabs(v);
  }
  exact_sum.Get(sum, rest);
  exact_squares.Get(squares, rest);
  const unsigned long count = static_cast<unsigned long>(in.cols);
  out->mean_abs = absolute / static_cast<double>(in.cols);
  mpfr_div_ui(mean, sum, count, MPFR_RNDN);
  mpfr_div_ui(mean_square, squares, count, MPFR_RNDN);
  // variance = (N * Q - S * S) / N^2, exact up to the division.
  mpfr_mul_ui(squares, squares, count, MPFR_RNDN);
  mpfr_sqr(spread, sum, MPFR_RNDN);
  mpfr_sub(spread, squares, spread, MPFR_RNDN);
  mpfr_div_ui(spread, spread, count, MPFR_RNDN);
  mpfr_div_ui(variance, spread, count, MPFR_RNDN);
  mpfr_sqrt(rms, mean_square, MPFR_RNDN);

  const bool layer_norm = IsLayerNorm(in.op);
  mpfr_add_d(row, layer_norm ? variance : mean_square, in.epsilon, MPFR_RNDN);
  out->constant = mpfr_zero_p(static_cast<mpfr_ptr>(variance)) != 0;
  out->zero_denominator = mpfr_zero_p(static_cast<mpfr_ptr>(row)) != 0;
  if (out->zero_denominator) {
    mpfr_set_inf(rstd, 1);
  } else {
    mpfr_rec_sqrt(rstd, row, MPFR_RNDN);
  }
  mpfr_set(element_mean, mean, MPFR_RNDN);
  mpfr_set(element_rstd, rstd, MPFR_RNDN);
  out->mean = Get(mean);
  out->variance = Get(variance);
  out->mean_square = Get(mean_square);
  out->rms = Get(rms);
  out->rstd = Get(rstd);

  // "Far enough" keeps rows out whose path hangs on the rounding of the kernels' own statistics.
  constexpr double kSlack = 1.0 + 0x1p-20;
  const double r = out->rstd.hi;
  const double spread_bound = out->variance.hi * static_cast<double>(in.cols);
  out->wide = !out->zero_denominator &&
              (r >= 0x1p127 * kSlack || r * kSlack < 0x1p-126 || (layer_norm && spread_bound >= 0x1p252 * kSlack));
}

// The result for element i of a row that is finite, or has infinities where RMSNorm makes all else zero.
void Oracle::Numbers::Element(const OracleRow& in, const OracleResult& result, int64_t i, Expected* e) {
  const bool layer_norm = IsLayerNorm(in.op);
  const float x = result.row[static_cast<size_t>(i)];
  const float gamma = in.gamma == nullptr ? 1.0f : in.gamma[i];
  const double g =
      in.gamma_offset == 0.0f
          ? static_cast<double>(gamma)
          : static_cast<double>(AddToF32(static_cast<double>(gamma), static_cast<double>(in.gamma_offset)));
  const double beta = in.beta == nullptr ? 0.0 : static_cast<double>(in.beta[i]);
  const bool adds_after = AddsAfter(in.op);
  // Exact: a product of two f32.
  const double after = adds_after ? static_cast<double>(in.residual_scale) * static_cast<double>(in.residual[i]) : 0.0;
  const bool t_is_zero = !result.finite || result.zero_denominator || (layer_norm && result.constant);
  if (std::isnan(x) || std::isinf(x) || std::isnan(g) || std::isnan(beta) || std::isnan(after)) {
    e->nan = true;
    return;
  }

  // The normalized value, with the range that norm_dtype's rounding may give.
  if (t_is_zero) {
    mpfr_set_zero(t, 1);
  } else if (layer_norm) {
    mpfr_set_d(operand, static_cast<double>(x), MPFR_RNDN);
    mpfr_sub(t, operand, element_mean, MPFR_RNDN);
    mpfr_mul(t, t, element_rstd, MPFR_RNDN);
  } else {
    mpfr_set_d(operand, static_cast<double>(x), MPFR_RNDN);
    mpfr_mul(t, element_rstd, operand, MPFR_RNDN);
  }
  const double t_hi = mpfr_get_d(t, MPFR_RNDN);
  const double t_margin = result.t_bound * Ulp32(std::max(std::fabs(t_hi), layer_norm ? 1.0 : 0.0));

  if (std::isinf(g) || std::isinf(beta) || std::isinf(after)) {
    // IEEE arithmetic from here: what is finite has no influence, but the sign of t has.
    if (std::isinf(g) && t_is_zero) {
      e->nan = true;
    } else if (std::isinf(g) && std::fabs(t_hi) <= t_margin) {
      e->any_infinity = true;
    } else {
      const double product = std::isinf(g) ? (t_hi < 0 ? -g : g) : 0.0;
      const double sum_all = (product + beta) + after;
      e->nan = std::isnan(sum_all);
      e->value.hi = e->other.hi = sum_all;
    }
    return;
  }

  const bool has_terms = layer_norm || in.beta != nullptr;
  const double gt = std::fabs(g * t_hi);
  double floor_magnitude = has_terms ? std::max({gt, std::fabs(g), std::fabs(beta)}) : 0x1p-126 * std::fabs(g);
  if (t_is_zero) floor_magnitude = 0.0;  // exactly beta

  Expected norm;
  if (in.norm_dtype == ADDNORM_F32) {
    AffineInto(g, beta, t, n);
    norm.value = norm.other = Get(n);
  } else {
    const Range r = RoundedRange(t_hi - t_margin, t_hi + t_margin, in.norm_dtype);
    mpfr_set_d(t, r.low, MPFR_RNDN);
    AffineInto(g, beta, t, n);
    norm.value = Get(n);
    mpfr_set_d(t, r.high, MPFR_RNDN);
    AffineInto(g, beta, t, n);
    norm.other = Get(n);
    norm.anything_between = r.more;
    if (!t_is_zero) {
      floor_magnitude = std::max({floor_magnitude, std::fabs(g * r.low), std::fabs(g * r.high)});
    }
  }
  const double low = std::min(norm.value.hi, norm.other.hi);
  const double high = std::max(norm.value.hi, norm.other.hi);
  norm.magnitude = std::max({floor_magnitude, std::fabs(low), std::fabs(high)});
  if (!adds_after) {
    *e = norm;
    return;
  }

  // The sum after the norm, from n rounded to norm_out_dtype. In f32 that rounding belongs to the bound, except that n
  // may overflow there.
  const double n_margin = (t_is_zero ? 0.0 : result.norm_bound) * Ulp32(norm.magnitude);
  double n_low, n_high;
  if (in.norm_out_dtype != ADDNORM_F32) {
    const Range r = RoundedRange(low - n_margin, high + n_margin, in.norm_out_dtype);
    n_low = r.low;
    n_high = r.high;
    e->anything_between = r.more;
  } else {
    n_low = low - n_margin <= -kF32Overflow ? -kInfinity : low;
    n_high = high + n_margin >= kF32Overflow ? kInfinity : high;
    if (low - n_margin >= kF32Overflow) n_low = kInfinity;
    if (high + n_margin <= -kF32Overflow) n_high = -kInfinity;
    e->anything_between = norm.anything_between;
  }
  const bool unrounded = in.norm_out_dtype == ADDNORM_F32 && n_low == low && n_high == high;
  const auto finish = [&](double rounded, const Exact& exact) {
    if (std::isinf(rounded)) return Exact{rounded, 0.0};
    mpfr_set_d(y, unrounded ? exact.hi : rounded, MPFR_RNDN);
    if (unrounded) mpfr_add_d(y, y, exact.lo, MPFR_RNDN);
    mpfr_add_d(y, y, after, MPFR_RNDN);
    return Get(y);
  };
  const bool swapped = norm.value.hi > norm.other.hi;
  e->value = finish(n_low, swapped ? norm.other : norm.value);
  e->other = finish(n_high, swapped ? norm.value : norm.other);
  e->magnitude = std::max(norm.magnitude, std::fabs(after));
  for (const double v : {n_low, n_high, e->value.hi, e->other.hi}) {
    if (std::isfinite(v)) e->magnitude = std::max(e->magnitude, std::fabs(v));
  }
}

Oracle::Oracle() : n_(new Numbers) {}
Oracle::~Oracle() = default;

const OracleResult& Oracle::Compute(const OracleRow& in) {
  OracleResult& out = result_;
  const size_t cols = static_cast<size_t>(in.cols);
  std::vector<float> row = std::move(out.row);
  std::vector<Expected> y = std::move(out.y);
  out = OracleResult();
  row.resize(cols);
  y.clear();
  for (size_t i = 0; i < cols; ++i) {
    float v = in.x[i];
    if (AddsBefore(in.op)) {
      if (in.bias != nullptr) v = AddToF32(static_cast<double>(v), static_cast<double>(in.bias[i]));
      v = RoundF32To(FusedF32(in.residual_scale, in.residual[i], v), in.sum_dtype);
    }
    row[i] = v;
    out.finite = out.finite && std::isfinite(v);
    out.has_nan = out.has_nan || std::isnan(v);
  }
  out.row = std::move(row);
  if (in.op != ADDNORM_OP_ADD && out.finite && cols != 0) n_->Statistics(in, &out);
  if (IsNorm(in.op)) {
    const bool t_is_zero = !out.finite || out.zero_denominator || (IsLayerNorm(in.op) && out.constant);
    out.t_bound = t_is_zero ? 0.0 : out.wide ? kWideBound : IsLayerNorm(in.op) ? kLayerNormBound : kRmsNormBound;
    out.norm_bound = t_is_zero || in.norm_dtype != ADDNORM_F32 ? kAfterRoundingBound : out.t_bound;
    out.bound = out.norm_bound;
    if (AddsAfter(in.op)) {
      const bool rounded = t_is_zero || in.norm_out_dtype != ADDNORM_F32;
      out.bound = rounded ? kAfterRoundingBound : out.norm_bound + kNormAddExtra;
    }
    y.resize(cols);
    const bool all_nan = out.has_nan || (!out.finite && IsLayerNorm(in.op));
    for (size_t i = 0; i < cols; ++i) {
      if (all_nan) {
        y[i].nan = true;
      } else {
        n_->Element(in, out, static_cast<int64_t>(i), &y[i]);
      }
    }
  }
  out.y = std::move(y);
  return out;
}

}  // namespace addnorm_test
