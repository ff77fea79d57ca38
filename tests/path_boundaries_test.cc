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
    for (const std::string& target : SupportedTargets()) {
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
      for (const std::string& target : SupportedTargets()) {
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
      for (const std::string& target : SupportedTargets()) {
        EXPECT_TRUE(SameBits(target, RunOn(target, problem), wanted, problem));
      }
    }
  }
}

}  // namespace
}  // namespace addnorm_test
