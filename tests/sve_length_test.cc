// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// A program may change the length of its SVE vectors between calls: no bit changes.
#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <vector>

#include "support/backward.h"
#include "support/backward_equal_bits.h"
#include "support/equal_bits.h"
#include "support/op_case.h"
#include "support/targets.h"

#if defined(__aarch64__) && defined(__linux__)
#include <sys/prctl.h>

namespace addnorm_test {
namespace {

#ifndef PR_SVE_SET_VL
#define PR_SVE_SET_VL 50
#define PR_SVE_GET_VL 51
#define PR_SVE_VL_LEN_MASK 0xffff
#endif

// In bytes; 0 where there is no SVE.
int VectorLength() {
  const int length = prctl(PR_SVE_GET_VL);
  return length < 0 ? 0 : length & PR_SVE_VL_LEN_MASK;
}
void SetVectorLength(int bytes) { prctl(PR_SVE_SET_VL, bytes); }

// Those that this CPU has, ascending.
std::vector<int> VectorLengths() {
  const int first = VectorLength();
  std::vector<int> lengths;
  for (int bytes = 16; bytes <= 256; bytes += 16) {
    SetVectorLength(bytes);
    if (VectorLength() == bytes) lengths.push_back(bytes);
  }
  SetVectorLength(first);
  return lengths;
}

// Longest and shortest in turn: what was chosen for one is as wrong as can be for the next.
std::vector<int> Turns(const std::vector<int>& lengths) {
  std::vector<int> turns;
  for (size_t i = 0; i < lengths.size(); ++i)
    turns.push_back(i % 2 == 0 ? lengths[i / 2] : lengths[lengths.size() - 1 - i / 2]);
  return turns;
}

class SveLength : public testing::Test {
 protected:
  void SetUp() override {
    if (first_ == 0) GTEST_SKIP() << "this CPU has no SVE";
    const std::vector<int> lengths = VectorLengths();
    ASSERT_FALSE(lengths.empty());
    std::string names;
    for (const int bytes : lengths) names += " " + std::to_string(8 * bytes);
    std::printf("SVE lengths of this CPU:%s bits\n", names.c_str());
    turns_ = Turns(lengths);
  }

  // At every length every target gives the bits of the scalar reference.
  template <class AnyProblem>
  void ExpectNoLengthToMatter(AnyProblem& problem) {
    const std::string wanted = RunOn("scalar", problem);
    for (const std::string& target : TestedTargets()) {
      const ScopedTarget scoped(target);
      for (const int bytes : turns_) {
        problem.Reset();
        const Args args = problem.MakeArgs();
        SetVectorLength(bytes);
        const addnorm_status status = args.Call();
        SetVectorLength(first_);
        EXPECT_EQ(status, ADDNORM_OK);
        EXPECT_TRUE(SameBits(target, problem.Outputs(), wanted, problem)) << "SVE of " << 8 * bytes << " bits";
      }
    }
  }

 private:
  const int first_ = VectorLength();
  std::vector<int> turns_;
};

TEST_F(SveLength, ChangesNoBitBetweenCalls) {
  for (const OpCase& op_case : AllOpCases()) {
    const std::vector<Options> all = OptionsOf(op_case);
    for (const int64_t cols : {1, 17, 131, 2100}) {
      Problem problem(op_case, all[static_cast<size_t>(cols) % all.size()], 3, cols);
      problem.FillByKind(static_cast<uint64_t>(cols) + 5);
      ExpectNoLengthToMatter(problem);
    }
    if (HasFailure()) return;
  }
}

TEST_F(SveLength, ChangesNoBitBetweenBackwardCalls) {
  for (const OpCase& op_case : AllBackwardCases()) {
    const std::vector<BackwardOptions> all = BackwardOptionsOf(op_case);
    for (const int64_t cols : {1, 17, 131, 515}) {
      BackwardProblem problem(op_case, all[static_cast<size_t>(cols) % all.size()], 5, cols);
      problem.FillByKind(static_cast<uint64_t>(cols) + 6);
      ExpectNoLengthToMatter(problem);
    }
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace addnorm_test
#endif  // 64-bit ARM with Linux
