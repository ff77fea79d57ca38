// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// Rows at each boundary between the paths that a row may take, and some ULP to each side: the bits are equal on all
// targets and the errors within the bounds on both sides.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "support/dtype.h"
#include "support/equal_bits.h"
#include "support/evaluate.h"
#include "support/op_case.h"
#include "support/targets.h"

namespace addnorm_test {
namespace {

// `v` moved by n ULP of f32.
float Moved(float v, int n) { return F32OfBits(static_cast<uint32_t>(static_cast<int64_t>(BitsOf(v)) + n)); }

using MakeElement = float (*)(float value, int64_t col);

float Same(float value, int64_t) { return value; }
float Alternating(float value, int64_t col) { return col % 2 == 0 ? value : -value; }
float AroundOne(float value, int64_t col) { return col % 2 == 0 ? 1.0f + value : 1.0f - value; }
float FirstOnly(float value, int64_t col) { return col == 0 ? value : 0.0f; }

void CheckBoundary(const char* what, float boundary, MakeElement element, double epsilon, int64_t long_cols = 68) {
  constexpr int kSide = 8;  // rows: -8 ... 8 ULP from the boundary
  Oracle oracle;
  for (const OpCase& op_case : AllOpCases()) {
    // f16 has none of these magnitudes; bf16 has the boundaries, but not their neighbours.
    if (op_case.dtypes.vectors == ADDNORM_F16) continue;
    for (Options options : OptionsOf(op_case)) {
      if (options.name != "plain" && options.name != "extreme" && options.name != "rounded" &&
          !IsReduction(op_case.op())) {
        continue;
      }
      options.epsilon = epsilon;
      options.residual_scale = 1.0f;
      for (const int64_t cols : {int64_t{1}, int64_t{2}, int64_t{4}, int64_t{16}, long_cols}) {
        Problem problem(op_case, options, 2 * kSide + 1, cols);
        problem.FillVectors(9);
        for (int64_t row = 0; row < problem.rows(); ++row) {
          for (int64_t col = 0; col < cols; ++col) {
            problem.Set(kX, row, col, element(Moved(boundary, static_cast<int>(row) - kSide), col));
            if (problem.Has(kResidual)) problem.Set(kResidual, row, col, AddsBefore(op_case.op()) ? 0.0f : boundary);
          }
        }
        const std::string wanted = RunOn("scalar", problem);
        const Evaluation evaluation = Evaluate(problem, oracle);
        EXPECT_EQ(evaluation.failures, 0) << what << ": " << evaluation.first_failure;
        for (const std::string& target : SupportedTargets()) {
          EXPECT_TRUE(SameBits(target, RunOn(target, problem), wanted, problem)) << what;
        }
      }
      if (::testing::Test::HasFailure()) return;
    }
  }
}

// RMSNorm: the exact squares are needed unless 2^-100 <= mean square < inf.
TEST(PathBoundaries, RmsSquaresTooSmall) {
  CheckBoundary("ms = 2^-100", 0x1p-50f, Same, 0.0);
  CheckBoundary("ms = 2^-100, one element of 4", 0x1p-49f, FirstOnly, 0.0);
  CheckBoundary("ms = 2^-100, one element of 64", 0x1p-47f, FirstOnly, 1e-30, 64);
  CheckBoundary("ms = 2^-100, one element of 1024", 0x1p-45f, FirstOnly, 0.0, 1024);
}

TEST(PathBoundaries, RmsSquaresOverflow) {
  CheckBoundary("four squares = 2^128", 0x1p63f, Same, 1e-5, 64);
  CheckBoundary("one square = 2^128", 0x1p64f, FirstOnly, 1e-5);
  CheckBoundary("two squares = 2^128", 0x1.6a09e6p63f, Same, 1e-5);
}

// LayerNorm: second pass unless variance >= 2^-10 * mean square.
TEST(PathBoundaries, LayerNormSecondPass) {
  const float deviation = static_cast<float>(1.0 / std::sqrt(1023.0));  // d^2 = 2^-10 * (1 + d^2)
  CheckBoundary("variance = 2^-10 * ms", deviation, AroundOne, 0.0);
  CheckBoundary("variance = 2^-10 * ms", deviation, AroundOne, 1e-5);
}

// The apply in f64, by rstd.
TEST(PathBoundaries, WideByRstd) {
  CheckBoundary("rstd = 2^127", 0x1p-127f, Same, 0.0);
  CheckBoundary("rstd = 2^127", 0x1p-127f, Alternating, 0.0);
  CheckBoundary("rstd = 2^127 in a sum of 4", 0x1p-126f, FirstOnly, 0.0);
  CheckBoundary("rstd = 2^-126", 0x1p126f, Same, 0.0);
  CheckBoundary("rstd = 2^-126", 0x1p126f, Alternating, 1e-5);
  CheckBoundary("rstd = 2^127 by epsilon", 0x1p-140f, Alternating, 0x1p-254);
  CheckBoundary("rstd below 2^127 by epsilon", 0x1p-140f, Alternating, 0x1.0000000000001p-254);
  CheckBoundary("rstd = 2^-126 by epsilon", 1.0f, Alternating, 0x1p252);
  CheckBoundary("rstd beyond 2^-126 by epsilon", 1.0f, Alternating, 0x1.0000000000002p252);
  CheckBoundary("largest epsilon", 1.0f, Alternating, 0x1.fffffffffffffp1023);
  CheckBoundary("smallest epsilon", 0x1p-149f * 16, Alternating, 0x1p-1074);
}

// The apply in f64, by cols * variance = 2^252.
TEST(PathBoundaries, WideBySpread) {
  CheckBoundary("N var = 2^252, N = 4", 0x1p125f, Alternating, 1e-5);
  CheckBoundary("N var = 2^252, N = 16", 0x1p124f, Alternating, 0.0);
  CheckBoundary("N var = 2^252, N = 64", 0x1p123f, Alternating, 0.0, 64);
  CheckBoundary("N var = 2^252, N = 1024", 0x1p121f, Alternating, 0.0, 1024);
}

TEST(PathBoundaries, LargestAndSmallestValues) {
  CheckBoundary("largest f32", Moved(0x1.fffffep127f, -8), Same, 0.0);
  CheckBoundary("largest f32", Moved(0x1.fffffep127f, -8), Alternating, 0.0);
  CheckBoundary("largest f32", Moved(0x1.fffffep127f, -8), FirstOnly, 0.0);
  CheckBoundary("smallest f32", 0x1p-149f * 8, Same, 0.0);
  CheckBoundary("smallest f32", 0x1p-149f * 8, Alternating, 0.0);
  CheckBoundary("smallest f32", 0x1p-149f * 8, FirstOnly, 0.0);
}

// From cols = 65537 on LayerNorm always takes its second pass, and RMSNorm exact squares.
TEST(PathBoundaries, Length) {
  Oracle oracle;
  for (const OpCase& op_case : AllOpCases()) {
    if (op_case.op() == ADDNORM_OP_ADD) continue;
    for (const int64_t cols : {65536, 65537}) {
      Problem problem(op_case, OptionsOf(op_case)[1], 1, cols);
      problem.Fill(DataKind::kNormal, static_cast<uint64_t>(cols));
      const std::string wanted = RunOn("scalar", problem);
      const Evaluation evaluation = Evaluate(problem, oracle);
      EXPECT_EQ(evaluation.failures, 0) << evaluation.first_failure;
      for (const std::string& target : SupportedTargets()) {
        EXPECT_TRUE(SameBits(target, RunOn(target, problem), wanted, problem));
      }
    }
  }
}

}  // namespace
}  // namespace addnorm_test
