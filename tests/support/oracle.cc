// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#include "support/oracle.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "support/bounds.h"
#include "support/dtype.h"
#include "support/numbers.h"
#include "support/ops.h"
#include "support/ulp.h"

namespace addnorm_test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kF32Overflow = 0x1p128 - 0x1p103;  // what rounds to an infinity

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

// What each arithmetic brings.
template <class Number>
struct StatisticsOf;
template <>
struct StatisticsOf<MpfrNumber> {
  using Type = MpfrStatistics;
};
template <>
struct StatisticsOf<LongDoubleNumber> {
  using Type = LongDoubleStatistics;
};

template <class Number>
struct BasicOracle<Number>::Numbers {
  typename StatisticsOf<Number>::Type row;
  Number element_mean, element_rstd;  // shorter, for speed
  Number t, n, y, rest, operand;

  Exact Get(const Number& v) {
    Exact e;
    e.hi = v.Nearest();
    if (std::isfinite(e.hi)) {
      operand.Set(e.hi);
      rest.Subtract(v, operand);
      e.lo = rest.Nearest();
    }
    return e;
  }

  void Statistics(const OracleRow& in, OracleResult* out);
  void Element(const OracleRow& in, const OracleResult& result, int64_t i, Expected* e);
  void AffineInto(double g, double beta, const Number& from, Number* to) {
    if (g == 1.0) {
      to->Set(from);
    } else {
      operand.Set(g);
      to->Multiply(from, operand);
    }
    if (beta != 0.0) {
      operand.Set(beta);
      to->Add(*to, operand);
    }
  }
};

template <class Number>
void BasicOracle<Number>::Numbers::Statistics(const OracleRow& in, OracleResult* out) {
  double absolute = 0.0;
  for (const float v : out->row) absolute += std::fabs(static_cast<double>(v));
  out->mean_abs = absolute / static_cast<double>(in.cols);
  row.Compute(out->row);
  row.rms.SquareRoot(row.mean_square);
  const bool layer_norm = IsLayerNorm(in.op);
  row.denominator.Add(layer_norm ? row.variance : row.mean_square, in.epsilon);
  out->constant = row.variance.IsZero();
  out->zero_denominator = row.denominator.IsZero();
  if (out->zero_denominator) {
    row.rstd.SetInfinity();
  } else {
    row.rstd.InverseSquareRoot(row.denominator);
  }
  element_mean.Set(row.mean);
  element_rstd.Set(row.rstd);
  out->mean = Get(row.mean);
  out->variance = Get(row.variance);
  out->mean_square = Get(row.mean_square);
  out->rms = Get(row.rms);
  out->rstd = Get(row.rstd);

  // "Far enough" keeps rows out whose path hangs on the rounding of the kernels' own statistics.
  constexpr double kSlack = 1.0 + 0x1p-20;
  const double r = out->rstd.hi;
  const double spread_bound = out->variance.hi * static_cast<double>(in.cols);
  out->wide = !out->zero_denominator &&
              (r >= 0x1p127 * kSlack || r * kSlack < 0x1p-126 || (layer_norm && spread_bound >= 0x1p252 * kSlack));
}

// The result for element i of a row that is finite, or has infinities where RMSNorm makes all else zero.
template <class Number>
void BasicOracle<Number>::Numbers::Element(const OracleRow& in, const OracleResult& result, int64_t i, Expected* e) {
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
    t.Set(0.0);
  } else {
    t.Set(static_cast<double>(x));
    if (layer_norm) t.Subtract(t, element_mean);
    t.Multiply(t, element_rstd);
  }
  const double t_hi = t.Nearest();
  const double t_margin = result.t_bound * Ulp32(std::max(std::fabs(t_hi), layer_norm ? 1.0 : 0.0));

  // What norm_dtype may make of it.
  const bool t_is_rounded = in.norm_dtype != ADDNORM_F32;
  const Range t_range = t_is_rounded ? RoundedRange(t_hi - t_margin, t_hi + t_margin, in.norm_dtype)
                                     : Range{t_hi - t_margin, t_hi + t_margin, false};

  if (std::isinf(g) || std::isinf(beta)) {
    // IEEE arithmetic from here: what is finite has no influence, but the sign of t has.
    const bool rounds_to_zero = t_is_rounded && t_range.low == 0.0 && t_range.high == 0.0;
    if (std::isinf(g) && (t_is_zero || rounds_to_zero)) {
      e->nan = true;
    } else if (std::isinf(g) && t_range.low <= 0.0 && t_range.high >= 0.0) {
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
  if (!t_is_rounded) {
    AffineInto(g, beta, t, &n);
    norm.value = norm.other = Get(n);
  } else {
    t.Set(t_range.low);
    AffineInto(g, beta, t, &n);
    norm.value = Get(n);
    t.Set(t_range.high);
    AffineInto(g, beta, t, &n);
    norm.other = Get(n);
    norm.anything_between = t_range.more;
    if (!t_is_zero) {
      floor_magnitude = std::max({floor_magnitude, std::fabs(g * t_range.low), std::fabs(g * t_range.high)});
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
  if (std::isinf(after)) {  // NaN where n overflows the other way
    const bool low_is_nan = n_low == -after, high_is_nan = n_high == -after;
    e->nan = low_is_nan && high_is_nan;
    e->nan_allowed = low_is_nan || high_is_nan;
    e->value.hi = e->other.hi = after;
    return;
  }
  const bool unrounded = in.norm_out_dtype == ADDNORM_F32 && n_low == low && n_high == high;
  const auto finish = [&](double rounded, const Exact& exact) {
    if (std::isinf(rounded)) return Exact{rounded, 0.0};
    y.Set(unrounded ? exact.hi : rounded);
    if (unrounded) y.Add(y, exact.lo);
    y.Add(y, after);
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

template <class Number>
BasicOracle<Number>::BasicOracle() : n_(new Numbers) {}
template <class Number>
BasicOracle<Number>::~BasicOracle() = default;

template <class Number>
const OracleResult& BasicOracle<Number>::Compute(const OracleRow& in) {
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
      if (in.kept != nullptr) {
        v = in.kept[i] == 0 ? -0.0f
                            : static_cast<float>(static_cast<double>(v) * static_cast<double>(in.dropout_scale));
      }
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

template class BasicOracle<MpfrNumber>;
template class BasicOracle<LongDoubleNumber>;

}  // namespace addnorm_test
