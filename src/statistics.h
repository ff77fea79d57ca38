// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
// The scalar arithmetic once a row: from folded sums to the numbers that scale it. Shared by the scalar reference and
// all vector targets, in the order that docs/NUMERICS.md fixes.
#ifndef ADDNORM_SRC_STATISTICS_H_
#define ADDNORM_SRC_STATISTICS_H_

#include <cfloat>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "src/compiler.h"

// All of it is ADDNORM_INLINE: an out-of-line copy would be compiled for the baseline, where fma is a call.
namespace addnorm {

static_assert(FLT_EVAL_METHOD == 0, "expressions in f32 have to be evaluated in f32");

// Changes with any bit of any result; CHANGELOG.md says what changed, tests/numerics/checksums.txt carries it.
inline constexpr uint32_t kNumericsVersion = 1;

// V of docs/NUMERICS.md: f64 lanes that the elements of a row are dealt to in turn.
inline constexpr size_t kLanes = 16;
// Squares that RMSNorm sums in f32 before they are added to an f64 lane.
inline constexpr size_t kSquaresPerStep = 4;
// Longer rows take LayerNorm's second pass, and RMSNorm's exact squares, whatever their values.
inline constexpr int64_t kMaxOnePassCols = 65536;

// Mean and variance of a row. The mean is mean_hi + mean_lo, of which mean_hi is what f32 elements are compared with.
struct Moments {
  double mean;  // sum / cols, as the reductions return it
  float mean_hi;
  double mean_lo;
  double variance;
  bool needs_second_pass;
};

// One pass, without a pivot. The second pass is for rows where the difference of large numbers loses too much.
ADDNORM_INLINE Moments OnePassMoments(double sum, double sum_of_squares, int64_t cols) {
  const double n = static_cast<double>(cols);
  Moments m;
  m.mean = sum / n;
  m.mean_hi = static_cast<float>(m.mean);
  m.mean_lo = m.mean - static_cast<double>(m.mean_hi);
  const double mean_square = sum_of_squares / n;
  m.variance = std::fma(-m.mean, m.mean, mean_square);
  m.needs_second_pass = !(m.variance >= 0x1p-10 * mean_square) || cols > kMaxOnePassCols;
  return m;
}

// From the sums of d and d^2, d = x - mean_hi (Chan, Golub & LeVeque 1983, the corrected two-pass algorithm).
ADDNORM_INLINE void SecondPassMoments(double sum, double sum_of_squares, int64_t cols, Moments& m) {
  const double n = static_cast<double>(cols);
  const double mean = sum / n;
  m.mean_lo = mean;
  m.variance = std::fma(-mean, mean, sum_of_squares / n);
  if (m.variance < 0.0) m.variance = 0.0;  // rounding only; NaN stays
  m.needs_second_pass = false;
}

// Whether squares summed in f32 may have overflowed or lost digits, to underflow or to a long row; NaN says yes.
ADDNORM_INLINE bool NeedsExactSquares(double mean_square, int64_t cols) {
  return !(mean_square >= 0x1p-100 && mean_square < std::numeric_limits<double>::infinity()) || cols > kMaxOnePassCols;
}

// What normalizes the elements of a row: t = (x - mean_hi - mean_lo) * inverse64; for RMSNorm the means are 0.
struct Scale {
  double mean_lo;
  double inverse64;  // 1 / root, or 0 where the root is 0
  double rstd;       // as written out: 1 / root
  // For the narrow path, in f32: t = fma(x - mean_hi, inverse, correction).
  float mean_hi;
  float inverse;
  float correction;
  // Set where f32 cannot hold the inverse or a difference from the mean: t is computed in f64.
  bool wide;
};

ADDNORM_INLINE Scale InverseRoot(double denominator) {
  Scale s;
  const bool zero = denominator == 0.0;
  s.mean_lo = 0.0;
  s.rstd = 1.0 / std::sqrt(denominator);
  s.inverse64 = zero ? 0.0 : s.rstd;
  s.mean_hi = 0.0f;
  s.inverse = static_cast<float>(s.inverse64);
  s.correction = -0.0f;
  s.wide = !zero && !(s.inverse64 >= 0x1p-126 && s.inverse64 < 0x1p127);
  return s;
}

ADDNORM_INLINE Scale LayerNormScale(const Moments& m, double epsilon, int64_t cols) {
  Scale s = InverseRoot(m.variance + epsilon);
  s.mean_hi = m.mean_hi;
  s.mean_lo = m.mean_lo;
  s.correction = static_cast<float>(-m.mean_lo * static_cast<double>(s.inverse));
  s.wide = s.wide || !(static_cast<double>(cols) * m.variance < 0x1p252);
  return s;
}

ADDNORM_INLINE Scale RmsNormScale(double mean_square, double epsilon) { return InverseRoot(mean_square + epsilon); }

}  // namespace addnorm

#endif  // ADDNORM_SRC_STATISTICS_H_
