// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// Comparing the bits of runs.
#ifndef ADDNORM_TESTS_SUPPORT_EQUAL_BITS_H_
#define ADDNORM_TESTS_SUPPORT_EQUAL_BITS_H_

#include <gtest/gtest.h>

#include <string>

#include "support/op_case.h"
#include "support/targets.h"

namespace addnorm_test {

// Runs on one target and returns all outputs; fails the test if the call does, or touches anything else.
inline std::string RunOn(const std::string& target, Problem& problem) {
  const ScopedTarget scoped(target);
  const addnorm_status status = problem.Run();
  EXPECT_EQ(status, ADDNORM_OK) << problem.op_case().name << " [" << problem.options().name
                                << "]: " << addnorm_status_text(status);
  EXPECT_EQ(problem.Untouched(), "") << problem.op_case().name << " [" << problem.options().name << "] on " << target;
  return problem.Outputs();
}

// Compares, counts the bytes as checks of the target, and says where the first difference is.
inline ::testing::AssertionResult SameBits(const std::string& target, const std::string& got, const std::string& wanted,
                                           const Problem& problem) {
  CountChecks(target, static_cast<int64_t>(wanted.size()));
  if (got == wanted) return ::testing::AssertionSuccess();
  size_t at = 0;
  while (at < got.size() && at < wanted.size() && got[at] == wanted[at]) ++at;
  return ::testing::AssertionFailure() << problem.op_case().name << " [" << problem.options().name << "], "
                                       << problem.rows() << " x " << problem.cols() << " on " << target << ": byte "
                                       << at << " of " << wanted.size() << " of the outputs differs (sizes "
                                       << got.size() << ", " << wanted.size() << ")";
}

// Every target gives a problem, of a forward or a backward operation, the bits that the scalar reference gives another
// one with the same inputs, or itself.
template <class AnyProblem>
void ExpectBitsOf(AnyProblem& reference, AnyProblem& problem) {
  const std::string wanted = RunOn("scalar", reference);
  for (const std::string& target : TestedTargets()) {
    EXPECT_TRUE(SameBits(target, RunOn(target, problem), wanted, problem));
  }
}
template <class AnyProblem>
void ExpectEqualBits(AnyProblem& problem) {
  ExpectBitsOf(problem, problem);
}

}  // namespace addnorm_test

#endif  // ADDNORM_TESTS_SUPPORT_EQUAL_BITS_H_
