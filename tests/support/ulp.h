// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// Distances from the exact result, in the units of the proven bounds.
#ifndef ADDNORM_TESTS_SUPPORT_ULP_H_
#define ADDNORM_TESTS_SUPPORT_ULP_H_

#include <algorithm>
#include <cmath>
#include <limits>

#include "support/dtype.h"
#include "support/oracle.h"

namespace addnorm_test {

// The f32 unit in the last place of numbers of this magnitude. Not capped at the largest f32.
inline double Ulp32(double magnitude) {
  if (!(magnitude >= 0x1p-126)) return 0x1p-149;
  return std::ldexp(1.0, std::ilogb(magnitude) - 23);
}

// The reals that round to `y`, a value of the dtype: from `low` to `high`. For f32 this is y itself, as the bounds
// count its last rounding, or for an infinity all that round to it.
struct Preimage {
  double low;
  double high;
};

inline Preimage PreimageOf(double y, addnorm_dtype dtype) {
  const double infinity = std::numeric_limits<double>::infinity();
  const Format f = FormatOf(dtype);
  const double largest = MaxFinite(dtype);
  const double overflow = largest + std::ldexp(1.0, f.max_exponent - f.digits);
  if (std::isinf(y)) return y > 0 ? Preimage{overflow, infinity} : Preimage{-infinity, -overflow};
  if (dtype == ADDNORM_F32 || dtype == ADDNORM_F64) return {y, y};
  const double magnitude = std::fabs(y);
  const int binade = magnitude < std::ldexp(1.0, f.min_exponent) ? f.min_exponent : std::ilogb(magnitude);
  const double half = std::ldexp(1.0, binade - f.digits);
  // Below a power of two the neighbour is half as far away.
  const bool power = binade > f.min_exponent && magnitude == std::ldexp(1.0, binade);
  const double toward_zero = power ? half / 2 : half;
  return y >= 0 ? Preimage{y - toward_zero, y + half} : Preimage{y - half, y + toward_zero};
}

// How far `exact` is outside of [low, high].
inline double Distance(const Exact& exact, const Preimage& p) {
  if (std::isinf(exact.hi)) return (exact.hi > 0 ? p.high : p.low) == exact.hi ? 0.0 : std::fabs(exact.hi);
  const double below = std::isinf(p.low) ? -1.0 : (p.low - exact.hi) - exact.lo;
  const double above = std::isinf(p.high) ? -1.0 : (exact.hi - p.high) + exact.lo;
  return std::max(0.0, std::max(below, above));
}

// The error of `y` in ULP32(M): |y - exact| for f32; for f16 and bf16 the distance from exact to the reals that round
// to y, so that y lies in [RN16(exact - B * ULP32(M)), RN16(exact + B * ULP32(M))] iff the error is at most B. An
// infinity is right iff |exact| + B * ULP32(M) reaches what rounds to it. Infinite where y is wrong in kind.
inline double ErrorUlp(double y, addnorm_dtype dtype, const Expected& expected) {
  const double wrong = std::numeric_limits<double>::infinity();
  if (std::isnan(y)) return expected.nan || expected.nan_allowed || expected.any_infinity ? 0.0 : wrong;
  if (expected.nan) return wrong;
  if (expected.any_infinity) return std::isinf(y) ? 0.0 : wrong;
  const Preimage p = PreimageOf(y, dtype);
  const double to_value = Distance(expected.value, p);
  const double to_other = Distance(expected.other, p);
  if (to_value == 0.0 || to_other == 0.0) return 0.0;
  if (expected.anything_between && ((expected.value.hi < y) != (expected.other.hi < y))) return 0.0;
  return std::min(to_value, to_other) / Ulp32(expected.magnitude);
}

// |v - exact| in units of `unit`, with v an f64.
inline double AbsoluteError(double v, const Exact& exact) { return std::fabs((v - exact.hi) - exact.lo); }

}  // namespace addnorm_test

#endif  // ADDNORM_TESTS_SUPPORT_ULP_H_
