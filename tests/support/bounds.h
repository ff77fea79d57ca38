// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// The proven error bounds, the only place in the sources that states them: docs/NUMERICS.md proves them, and
// BoundsTest checks that it states these numbers. In units of ULP32(M); see Expected in oracle.h for M.
#ifndef ADDNORM_TESTS_SUPPORT_BOUNDS_H_
#define ADDNORM_TESTS_SUPPORT_BOUNDS_H_

#include <algorithm>
#include <cstdint>

namespace addnorm_test {

constexpr double kRmsNormBound = 4.5;
constexpr double kLayerNormBound = 4.5;
constexpr double kNormAddExtra = 1.0;  // what the sum after the norm adds
constexpr double kWideBound = 1.5;     // a row normalized in f64
// What follows a 16-bit rounding point (norm_dtype, norm_out_dtype), given the value that was rounded there.
constexpr double kAfterRoundingBound = 0.51;

// Statistics, from f64 sums over 16 lanes. u = 2^-53.
constexpr double kUnitF64 = 0x1p-53;
inline double ReductionSteps(int64_t cols) { return static_cast<double>(cols) / 16.0 + 6.0; }
// Absolute error of the mean before it is rounded to its dtype.
inline double MeanBound(int64_t cols, double mean_abs) { return ReductionSteps(cols) * kUnitF64 * mean_abs; }
// Relative error of the mean square, and of the rms.
inline double MeanSquareBound(int64_t cols) { return ReductionSteps(cols) * kUnitF64; }
// Relative error of the rstd that a norm applies. RMSNorm may sum four squares in f32.
constexpr double kUnitF32 = 0x1p-24;
constexpr double kLayerNormRstdBound = 0.076 * kUnitF32 + 3.0 * kUnitF64;
inline double RmsNormRstdBound(int64_t cols) {
  return 1.5 * kUnitF32 + kUnitF32 * kUnitF32 + ReductionSteps(cols) * kUnitF64;
}
// Relative error of the variance.
inline double VarianceBound(int64_t cols, double mean_square_over_variance) {
  return 3.0 * ReductionSteps(cols) * kUnitF64 * std::max(1.0, mean_square_over_variance);
}

// Backward (docs/GRADIENTS.md), in ULP32(M) before dn is rounded to f32: for the statistics that were taken, and for
// the exact ones where the call computes them.
inline double BackwardBound(int64_t cols) { return (2.0 * ReductionSteps(cols) + 9.0) * 0x1p-29; }
constexpr double kLayerNormBackwardExtra = 0.48;
constexpr double kRmsNormBackwardExtra = 6.01;
inline double LayerNormBackwardBound(int64_t cols, double mean_over_spread) {
  return BackwardBound(cols) + kLayerNormBackwardExtra + 0x1p-28 * mean_over_spread;
}
inline double RmsNormBackwardBound(int64_t cols) { return 3.0 * BackwardBound(cols) + kRmsNormBackwardExtra; }
// Error of a normalized value in dgamma against that of exact statistics.
inline double NormalizedBound(bool layer_norm, int64_t cols, double t, double mean_over_spread) {
  return layer_norm ? kLayerNormRstdBound * t + 0.045 * kUnitF32 + 2.0 * kUnitF64 * mean_over_spread
                    : RmsNormRstdBound(cols) * t;
}
// Error of dgamma, dbeta and dbias before the last rounding, relative to the sum of the terms' magnitudes: additions in
// a block, of blocks, and what the terms have.
inline double RowSumBound(int64_t rows) {
  const int64_t in_block = std::max<int64_t>(32, rows / 128 + 8), blocks = std::min<int64_t>(128, rows / 32 + 1);
  return static_cast<double>(in_block + blocks + 3) * kUnitF64;
}

}  // namespace addnorm_test

#endif  // ADDNORM_TESTS_SUPPORT_BOUNDS_H_
