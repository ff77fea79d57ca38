// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// The backward operations: within their bounds of the exact gradients, and the same bits on every target, for any
// threads, strides and batch.
#include "support/backward.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "support/backward_equal_bits.h"
#include "support/backward_oracle.h"
#include "support/targets.h"

namespace addnorm_test {
namespace {

TEST(AccuracyBackward, WithinTheBounds) {
  BackwardOracle oracle;
  BackwardEvaluation all;
  size_t next = 0;
  for (const OpCase& op_case : AllBackwardCases()) {
    for (const BackwardOptions& options : BackwardOptionsOf(op_case)) {
      for (const int64_t cols : {1, 2, 3, 16, 17, 67, 320}) {
        BackwardProblem problem(op_case, options, cols < 100 ? kDataKinds + 16 : 5, cols);
        ++next;
        problem.FillByKind(next, static_cast<int>(next));
        RunOn(SupportedTargets().front(), problem);
        const BackwardEvaluation e = Evaluate(problem, oracle);
        EXPECT_EQ(e.failures, 0) << e.first_failure << " (of " << e.checks << " checks)";
        all.checks += e.checks;
        all.worst = std::max(all.worst, e.worst);
        all.worst_true = std::max(all.worst_true, e.worst_true);
        all.worst_sum = std::max(all.worst_sum, e.worst_sum);
        if (HasFailure()) return;
      }
    }
  }
  std::printf(
      "%lld checks; dx %.4f ULP for the statistics taken, %.4f for exact ones; sums over rows %.3f of their bound\n",
      static_cast<long long>(all.checks), all.worst, all.worst_true, all.worst_sum);
}

TEST(AccuracyBackward, ManyRows) {
  BackwardOracle oracle;
  for (const OpCase& op_case : AllBackwardCases()) {
    BackwardOptions options;
    options.sums = ADDNORM_F64;
    options.gamma = VectorType::kF32;
    for (const int64_t rows : {31, 32, 33, 64, 65, 129, 4095, 4097, 9000}) {
      if (rows > 1000 && op_case.dtypes.vectors != ADDNORM_F32) continue;
      BackwardProblem problem(op_case, options, rows, 3);
      problem.Fill(DataKind::kNormal, DataKind::kNormal, static_cast<uint64_t>(rows));
      RunOn(SupportedTargets().front(), problem);
      const BackwardEvaluation e = Evaluate(problem, oracle);
      EXPECT_EQ(e.failures, 0) << e.first_failure;
    }
    if (HasFailure()) return;
  }
}

TEST(EqualBitsBackward, EveryTargetAtEveryLength) {
  for (const OpCase& op_case : AllBackwardCases()) {
    const std::vector<BackwardOptions> all = BackwardOptionsOf(op_case);
    for (int64_t cols = 1; cols <= 131; ++cols) {
      for (size_t i = 0; i < all.size(); ++i) {
        if (cols > 35 && (i + static_cast<size_t>(cols)) % 5 != 1) continue;
        BackwardProblem problem(op_case, all[i], 7, cols);
        problem.FillByKind(static_cast<uint64_t>(cols), static_cast<int>(cols));
        ExpectEqualBits(problem);
      }
      if (HasFailure()) return;
    }
  }
}

TEST(EqualBitsBackward, EveryTargetWithManyRowsAndLongRows) {
  size_t next = 0;
  for (const OpCase& op_case : AllBackwardCases()) {
    const std::vector<BackwardOptions> all = BackwardOptionsOf(op_case);
    for (const int64_t rows : {1, 4, 5, 32, 33, 64, 65, 129, 4097}) {
      BackwardProblem problem(op_case, all[++next % all.size()], rows, rows > 1000 ? 5 : 67);
      problem.FillByKind(next);
      ExpectEqualBits(problem);
    }
    for (const int64_t cols : {768, 1000, 4096, 5120, 8191, 20000, 65537}) {
      BackwardProblem problem(op_case, all[++next % all.size()], cols > 10000 ? 2 : 9, cols);
      problem.FillByKind(next, static_cast<int>(next));
      ExpectEqualBits(problem);
    }
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace addnorm_test
