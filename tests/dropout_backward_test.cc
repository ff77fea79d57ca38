// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// The backward operations with dropout: the gradients of what the forward call computed, with the mask that it had.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "support/backward.h"
#include "support/backward_equal_bits.h"
#include "support/backward_oracle.h"
#include "support/targets.h"

namespace addnorm_test {
namespace {

TEST(DropoutBackward, WithinTheBounds) {
  BackwardOracle oracle;
  size_t next = 0;
  for (const OpCase& op_case : AllBackwardCases()) {
    for (const BackwardOptions& options : BackwardDropoutOptionsOf(op_case)) {
      for (const int64_t cols : {3, 67, 150}) {
        BackwardProblem problem(op_case, options, cols > 100 ? 5 : kDataKinds, cols);
        ++next;
        problem.FillByKind(next, static_cast<int>(next));
        RunOn(SupportedTargets().front(), problem);
        const BackwardEvaluation e = Evaluate(problem, oracle);
        EXPECT_EQ(e.failures, 0) << e.first_failure << " (of " << e.checks << " checks)";
      }
    }
    if (HasFailure()) return;
  }
}

TEST(DropoutBackward, EveryTargetAtEveryLength) {
  size_t next = 0;
  for (const OpCase& op_case : AllBackwardCases()) {
    const std::vector<BackwardOptions> all = BackwardDropoutOptionsOf(op_case);
    for (int64_t cols = 1; cols <= 131 && !all.empty(); ++cols) {
      if (cols > 35 && cols % 5 != (&op_case - AllBackwardCases().data()) % 5) continue;  // each with some cases
      BackwardProblem problem(op_case, all[++next % all.size()], 5, cols, cols % 3, cols % 4);
      problem.FillByKind(next, static_cast<int>(next));
      ExpectEqualBits(problem);
    }
    if (HasFailure()) return;
  }
}

// Of many pieces.
TEST(DropoutBackward, EveryTargetWithLongRows) {
  size_t next = 0;
  for (const OpCase& op_case : AllBackwardCases()) {
    const std::vector<BackwardOptions> all = BackwardDropoutOptionsOf(op_case);
    for (const int64_t cols : {1023, 1025, 2500, 40000}) {
      if (all.empty()) break;
      BackwardProblem problem(op_case, all[++next % all.size()], cols > 10000 ? 2 : 5, cols);
      problem.FillByKind(next);
      ExpectEqualBits(problem);
    }
    if (HasFailure()) return;
  }
}

// dx of a part of the rows, with the number of its first one, is that of the whole; and no more than dx depends on it.
TEST(DropoutBackward, AnySplitOfTheRows) {
  for (const OpCase& op_case : AllBackwardCases()) {
    for (const BackwardOptions& options : BackwardDropoutOptionsOf(op_case)) {
      BackwardProblem whole(op_case, options, 40, 133);
      whole.FillByKind(8);
      RunOn(SupportedTargets().front(), whole);
      for (const int64_t first : {1, 31, 33}) {
        BackwardOptions part_options = options;
        part_options.dropout.first_row += static_cast<uint64_t>(first);
        BackwardProblem part(op_case, part_options, 7, 133);
        part.CopyInputs(whole, first);
        RunOn(SupportedTargets().front(), part);
        const std::vector<std::string> by_row = {"dx", "d_residual"};
        EXPECT_EQ(part.Outputs(by_row), whole.Outputs(by_row, first, 7)) << Describe(part);
      }
      BackwardOptions plain_options = options;
      plain_options.dropout = DropoutOptions();
      BackwardProblem plain(op_case, plain_options, 40, 133);
      plain.CopyInputs(whole);
      RunOn(SupportedTargets().front(), plain);
      for (const char* operand : {"d_residual", "dgamma", "dbeta"}) {
        EXPECT_EQ(whole.Outputs({operand}), plain.Outputs({operand})) << operand << " " << Describe(whole);
      }
    }
  }
}

// What a dropped element would get is not looked at, and what is dropped gets 0: with probability 1 all of it.
TEST(DropoutBackward, DroppedElementsGetZero) {
  for (const OpCase& op_case : AllBackwardCases()) {
    for (BackwardOptions options : BackwardDropoutOptionsOf(op_case)) {
      options.d_sum = true;
      for (const double probability : {options.dropout.probability, 1.0, 0.0}) {
        options.dropout.probability = probability;
        BackwardProblem problem(op_case, options, 3, 70);
        problem.Fill(DataKind::kNormal, DataKind::kNormal, 6);
        for (int64_t row = 0; row < 3; ++row) {
          for (int64_t col = 0; col < 70; ++col) {
            if (!options.dropout.IsKept(row, col)) problem.Set("d_sum", row, col, std::nan(""));
          }
        }
        for (const std::string& target : TestedTargets()) {
          RunOn(target, problem);
          for (int64_t row = 0; row < 3; ++row) {
            for (int64_t col = 0; col < 70; ++col) {
              const double dx = problem.Get("dx", row, col);
              EXPECT_FALSE(std::isnan(dx));
              EXPECT_EQ(std::isnan(problem.Get("d_residual", row, col)), !options.dropout.IsKept(row, col));
              if (!options.dropout.IsKept(row, col)) {
                EXPECT_EQ(BitsOf(dx), 0u) << Describe(problem) << " on " << target;
              }
            }
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace addnorm_test
