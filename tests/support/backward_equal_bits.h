// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// Comparing the bits of backward runs.
#ifndef ADDNORM_TESTS_SUPPORT_BACKWARD_EQUAL_BITS_H_
#define ADDNORM_TESTS_SUPPORT_BACKWARD_EQUAL_BITS_H_

#include <gtest/gtest.h>

#include <string>

#include "support/backward.h"
#include "support/equal_bits.h"
#include "support/targets.h"

namespace addnorm_test {

inline std::string Describe(const BackwardProblem& p) {
  return p.op_case().name + " [" + p.options().name + "] " + std::to_string(p.rows()) + " x " +
         std::to_string(p.cols());
}

// Runs on one target and returns all outputs; fails the test if the call does, or touches anything else.
inline std::string RunOn(const std::string& target, BackwardProblem& problem) {
  const ScopedTarget scoped(target);
  const addnorm_status status = problem.Run();
  EXPECT_EQ(status, ADDNORM_OK) << Describe(problem) << ": " << addnorm_status_text(status);
  EXPECT_EQ(problem.Untouched(), "") << Describe(problem) << " on " << target;
  return problem.Outputs();
}

inline ::testing::AssertionResult SameBits(const std::string& target, const std::string& got, const std::string& wanted,
                                           const BackwardProblem& problem) {
  CountChecks(target, static_cast<int64_t>(wanted.size()));
  if (got == wanted) return ::testing::AssertionSuccess();
  size_t at = 0;
  while (at < got.size() && at < wanted.size() && got[at] == wanted[at]) ++at;
  return ::testing::AssertionFailure() << Describe(problem) << " on " << target << ": byte " << at << " of "
                                       << wanted.size() << " of the outputs differs";
}

}  // namespace addnorm_test

#endif  // ADDNORM_TESTS_SUPPORT_BACKWARD_EQUAL_BITS_H_
