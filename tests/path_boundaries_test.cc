// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// Rows at each boundary between the paths that a row may take, and some ULP to each side: the bits are equal on all
// targets and the errors within the bounds on both sides.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "support/boundaries.h"
#include "support/equal_bits.h"
#include "support/evaluate.h"
#include "support/op_case.h"
#include "support/oracle.h"
#include "support/targets.h"

namespace addnorm_test {
namespace {

void CheckBoundaries(Path path) {
  Oracle oracle;
  for (const OpCase& op_case : AllOpCases()) {
    // f16 has none of these magnitudes; bf16 has the boundaries, but not their neighbours.
    if (op_case.dtypes.vectors == ADDNORM_F16) continue;
    std::vector<std::pair<Problem, std::string>> problems;
    for (const Boundary& boundary : kBoundaries) {
      if (boundary.path != path) continue;
      for (const Options& options : OptionsOf(op_case)) {
        if (options.name != "plain" && options.name != "extreme" && options.name != "rounded" &&
            !IsReduction(op_case.op())) {
          continue;
        }
        for (const int64_t cols : {int64_t{1}, int64_t{2}, int64_t{16}, boundary.cols}) {
          problems.emplace_back(BoundaryProblem(op_case, options, boundary, cols), "");
          Problem& problem = problems.back().first;
          problems.back().second = RunOn("scalar", problem);
          const Evaluation evaluation = Evaluate(problem, oracle);
          EXPECT_EQ(evaluation.failures, 0) << boundary.what << ": " << evaluation.first_failure;
        }
      }
    }
    for (const std::string& target : TestedTargets()) {
      const ScopedTarget scoped(target);
      for (auto& [problem, wanted] : problems) {
        EXPECT_TRUE(SameBits(target, RunOn(target, problem), wanted, problem));
      }
    }
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(PathBoundaries, RmsExactSquares) { CheckBoundaries(Path::kExactSquares); }
TEST(PathBoundaries, LayerNormSecondPass) { CheckBoundaries(Path::kSecondPass); }
TEST(PathBoundaries, Wide) { CheckBoundaries(Path::kWide); }
TEST(PathBoundaries, LargestAndSmallestValues) { CheckBoundaries(Path::kExtremes); }

// A value at a limit itself, on the side that docs/NUMERICS.md says (R4, R7). Only there the last bit tells the paths
// apart: squares summed in f32 round 2 + 2^-45 to 2, and f64 rounds the result a second time, here from just below a
// tie.
TEST(PathBoundaries, LimitsBelongToTheirPath) {
  Options options;
  options.epsilon = 0.0;
  options.rstd = ADDNORM_F64;
  const OpCase& rms_norm = FindOpCase(ADDNORM_OP_RMS_NORM, {ADDNORM_F32, 0, 0, ADDNORM_F32, 0});
  std::vector<float> row(32);
  row[0] = 0x1.000002p-48f;
  row[16] = 0x1.fffffcp-49f;
  Problem squares(rms_norm, options, 1, 32);
  squares.Set(kX, 0, row);
  for (const std::string& target : TestedTargets()) {
    RunOn(target, squares);
    EXPECT_EQ(squares.Get(kRstd, 0), 0x1p50) << "mean square 2^-100: fast squares, on " << target;
  }

  options.gamma = options.beta = VectorType::kF32;
  const float gamma = 0x1.000002p0f, beta = -0x1p-100f;
  const float narrow = FusedF32(1.5f, gamma, beta);
  const float wide = static_cast<float>(std::fma(1.5, static_cast<double>(gamma), static_cast<double>(beta)));
  ASSERT_NE(narrow, wide);
  for (const float rms : {0x1p-127f, 0x1p126f}) {
    for (int i = 0; i < 16; ++i) row[static_cast<size_t>(i)] = i < 4 ? 1.5f * rms : i < 11 ? rms : 0.0f;
    row.resize(16);
    Problem problem(rms_norm, options, 1, 16);
    problem.Set(kX, 0, row);
    problem.Set(kGamma, 0, std::vector<float>(16, gamma));
    problem.Set(kBeta, 0, std::vector<float>(16, beta));
    for (const std::string& target : TestedTargets()) {
      RunOn(target, problem);
      EXPECT_EQ(problem.Get(kRstd, 0), rms < 1.0f ? 0x1p127 : 0x1p-126);
      EXPECT_EQ(problem.Get(kY, 0), static_cast<double>(rms < 1.0f ? wide : narrow)) << "rms " << rms << ", " << target;
    }
  }
}

// All along the way to the second pass and beyond, on rows that make f64 sums of squares err in one direction.
TEST(PathBoundaries, MeanOverSpread) {
  Options options;
  options.mean = options.rstd = ADDNORM_F64;
  options.epsilon = 0.0;
  Oracle oracle;
  for (const int64_t cols : {1000, 4096, 65536}) {
    Problem norm(FindOpCase(ADDNORM_OP_LAYER_NORM, {ADDNORM_F32, 0, 0, ADDNORM_F32, 0}), options, 36, cols);
    Problem variance(FindOpCase(ADDNORM_OP_VARIANCE, {ADDNORM_F32, 0, 0, 0, 0}), options, 36, cols);
    for (int64_t row = 0; row < norm.rows(); ++row) {
      const float mean = row % 3 == 0 ? 1.7320508f : row % 3 == 1 ? 1.1f : 1.9999f;
      const float deviation = std::ldexp(1.0f, -3 - static_cast<int>(row / 3));
      for (int64_t col = 0; col < cols; ++col) {
        norm.Set(kX, row, col, col % 2 == 0 ? mean + deviation : mean - deviation);
      }
    }
    variance.CopyInputs(norm);
    for (Problem* problem : {&norm, &variance}) {
      const std::string wanted = RunOn("scalar", *problem);
      const Evaluation evaluation = Evaluate(*problem, oracle);
      EXPECT_EQ(evaluation.failures, 0) << evaluation.first_failure;
      for (const std::string& target : TestedTargets()) {
        EXPECT_TRUE(SameBits(target, RunOn(target, *problem), wanted, *problem));
      }
    }
  }
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
      for (const std::string& target : TestedTargets()) {
        EXPECT_TRUE(SameBits(target, RunOn(target, problem), wanted, problem));
      }
    }
  }
}

}  // namespace
}  // namespace addnorm_test
