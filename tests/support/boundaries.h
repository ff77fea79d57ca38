// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// The boundaries between the paths that a row may take (docs/NUMERICS.md), as rows on them and to each side.
#ifndef ADDNORM_TESTS_SUPPORT_BOUNDARIES_H_
#define ADDNORM_TESTS_SUPPORT_BOUNDARIES_H_

#include "support/dtype.h"
#include "support/op_case.h"

namespace addnorm_test {

// How a row is made of the value at the boundary.
enum class Pattern {
  kSame,         // v, v, v, ...
  kAlternating,  // v, -v, v, ...
  kAround,       // v + 1, v - 1, v + 1, ...
  kFirst,        // v, 0, 0, ...
};

enum class Path { kExactSquares, kSecondPass, kWide, kExtremes };

struct Boundary {
  Path path;
  const char* what;
  float value;
  Pattern pattern;
  double epsilon;
  int64_t cols;
};

constexpr Boundary kBoundaries[] = {
    // RMSNorm sums exact squares unless 2^-100 <= ms < inf.
    {Path::kExactSquares, "ms = 2^-100", 0x1p-50f, Pattern::kSame, 0.0, 68},
    {Path::kExactSquares, "ms = 2^-100, one element of 4", 0x1p-49f, Pattern::kFirst, 0.0, 4},
    {Path::kExactSquares, "ms = 2^-100, one element of 64", 0x1p-47f, Pattern::kFirst, 1e-30, 64},
    {Path::kExactSquares, "ms = 2^-100, one element of 1024", 0x1p-45f, Pattern::kFirst, 0.0, 1024},
    {Path::kExactSquares, "four squares = 2^128", 0x1p63f, Pattern::kSame, 1e-5, 64},
    {Path::kExactSquares, "two squares = 2^128", 0x1.6a09e6p63f, Pattern::kSame, 1e-5, 68},
    {Path::kExactSquares, "one square = 2^128", 0x1p64f, Pattern::kFirst, 1e-5, 68},
    // LayerNorm takes a second pass unless var >= 2^-10 * ms: here var = 1, ms = 1024.
    {Path::kSecondPass, "var = 2^-10 * ms", 0x1.ffbff8p4f, Pattern::kAround, 0.0, 68},
    {Path::kSecondPass, "var = 2^-10 * ms", 0x1.ffbff8p4f, Pattern::kAround, 1e-5, 1024},
    // The apply is in f64 unless 2^-126 <= rstd < 2^127 ...
    {Path::kWide, "rstd = 2^127", 0x1p-127f, Pattern::kSame, 0.0, 68},
    {Path::kWide, "rstd = 2^127", 0x1p-127f, Pattern::kAlternating, 0.0, 68},
    {Path::kWide, "rstd = 2^127, one element of 4", 0x1p-126f, Pattern::kFirst, 0.0, 4},
    {Path::kWide, "rstd = 2^-126", 0x1p126f, Pattern::kSame, 0.0, 68},
    {Path::kWide, "rstd = 2^-126", 0x1p126f, Pattern::kAlternating, 1e-5, 4},
    {Path::kWide, "rstd = 2^127 by epsilon", 0x1p-140f, Pattern::kAlternating, 0x1p-254, 68},
    {Path::kWide, "rstd below 2^127 by epsilon", 0x1p-140f, Pattern::kAlternating, 0x1.0000000000001p-254, 68},
    {Path::kWide, "rstd = 2^-126 by epsilon", 1.0f, Pattern::kAlternating, 0x1p252, 68},
    {Path::kWide, "rstd beyond 2^-126 by epsilon", 1.0f, Pattern::kAlternating, 0x1.0000000000002p252, 68},
    {Path::kWide, "largest epsilon", 1.0f, Pattern::kAlternating, 0x1.fffffffffffffp1023, 16},
    {Path::kWide, "smallest epsilon", 0x1p-145f, Pattern::kAlternating, 0x1p-1074, 16},
    // ... and for LayerNorm N * var < 2^252.
    {Path::kWide, "N var = 2^252, N = 4", 0x1p125f, Pattern::kAlternating, 1e-5, 4},
    {Path::kWide, "N var = 2^252, N = 16", 0x1p124f, Pattern::kAlternating, 0.0, 16},
    {Path::kWide, "N var = 2^252, N = 64", 0x1p123f, Pattern::kAlternating, 0.0, 64},
    {Path::kWide, "N var = 2^252, N = 1024", 0x1p121f, Pattern::kAlternating, 0.0, 1024},
    // The ends of f32.
    {Path::kExtremes, "largest f32", 0x1.ffffeep127f, Pattern::kSame, 0.0, 68},
    {Path::kExtremes, "largest f32", 0x1.ffffeep127f, Pattern::kAlternating, 0.0, 68},
    {Path::kExtremes, "largest f32", 0x1.ffffeep127f, Pattern::kFirst, 0.0, 68},
    {Path::kExtremes, "smallest f32", 0x1p-146f, Pattern::kSame, 0.0, 68},
    {Path::kExtremes, "smallest f32", 0x1p-146f, Pattern::kAlternating, 0.0, 68},
    {Path::kExtremes, "smallest f32", 0x1p-146f, Pattern::kFirst, 0.0, 68},
};

// The element at `col` of the row that is `ulps` of f32 from the boundary.
inline float BoundaryElement(const Boundary& boundary, int64_t ulps, int64_t col) {
  const float v = F32OfBits(static_cast<uint32_t>(static_cast<int64_t>(BitsOf(boundary.value)) + ulps));
  const bool even = col % 2 == 0;
  switch (boundary.pattern) {
    case Pattern::kSame:
      return v;
    case Pattern::kAlternating:
      return even ? v : -v;
    case Pattern::kAround:
      return even ? v + 1.0f : v - 1.0f;
    default:
      return col == 0 ? v : 0.0f;
  }
}

constexpr int kUlpsToEachSide = 8;  // rows

// A row for each distance from the boundary, in ULP of f32.
inline Problem BoundaryProblem(const OpCase& op_case, Options options, const Boundary& boundary, int64_t cols) {
  options.epsilon = boundary.epsilon;
  options.residual_scale = 1.0f;
  Problem problem(op_case, options, 2 * kUlpsToEachSide + 1, cols);
  problem.FillVectors(9);
  for (int64_t row = 0; row < problem.rows(); ++row) {
    for (int64_t col = 0; col < cols; ++col) {
      problem.Set(kX, row, col, BoundaryElement(boundary, row - kUlpsToEachSide, col));
      problem.Set(kResidual, row, col, AddsBefore(op_case.op()) ? 0.0f : boundary.value);
    }
  }
  return problem;
}

}  // namespace addnorm_test

#endif  // ADDNORM_TESTS_SUPPORT_BOUNDARIES_H_
