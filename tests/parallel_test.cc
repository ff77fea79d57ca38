// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
// Rows on the caller's threads: the bits of one thread for any split, and no range that was not checked.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cfenv>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "addnorm/addnorm.hpp"
#include "support/equal_bits.h"
#include "support/op_case.h"
#include "support/targets.h"

namespace addnorm_test {
namespace {

using Ranges = std::vector<std::pair<int64_t, int64_t>>;

// Hands out given ranges, the last first, each on a thread of its own that rounds upwards.
struct Ranger {
  addnorm_parallel parallel() { return {&Ranger::ParallelFor, this}; }

  static void ParallelFor(void* context, int64_t rows, addnorm_range_body body, void* task) {
    auto& self = *static_cast<Ranger*>(context);
    ++self.calls;
    self.rows = rows;
    std::vector<std::thread> threads;
    for (size_t i = self.ranges.size(); i-- > 0;) {
      threads.emplace_back([&self, body, task, range = self.ranges[i]] {
        std::fesetround(FE_UPWARD);
        body(task, range.first, range.second);
        if (std::fegetround() != FE_UPWARD) self.mode_kept = false;
      });
    }
    for (std::thread& thread : threads) thread.join();
  }

  Ranges ranges;
  int calls = 0;
  int64_t rows = 0;
  std::atomic<bool> mode_kept{true};
};

addnorm_status RunWith(Problem& problem, const addnorm_parallel& parallel) {
  problem.Reset();
  Args args = problem.MakeArgs();
  args.set_parallel(parallel);
  return args.Call();
}

TEST(Parallel, AnySplitGivesTheBitsOfOneThread) {
  constexpr int64_t kRows = 23;
  const Ranges splits[] = {{{0, 23}}, {{0, 1}, {1, 2}, {2, 10}, {10, 23}}, {{0, 8}, {8, 16}, {16, 23}}};
  size_t next = 0;
  for (const OpCase& op_case : AllOpCases()) {
    for (const Options& options : OptionsOf(op_case)) {
      const int64_t cols = next % 2 == 0 ? 37 : 600;
      Problem problem(op_case, options, kRows, cols, Layout::Shifted(1, 3));
      problem.FillByKind(next);
      const std::string wanted = RunOn("scalar", problem);
      for (const std::string& target : TestedTargets()) {
        const ScopedTarget scoped(target);
        Ranger ranger;
        ranger.ranges = splits[next++ % 3];
        ASSERT_EQ(RunWith(problem, ranger.parallel()), ADDNORM_OK);
        EXPECT_TRUE(SameBits(target, problem.Outputs(), wanted, problem));
        EXPECT_EQ(problem.Untouched(), "");
        EXPECT_EQ(ranger.calls, 1);
        EXPECT_EQ(ranger.rows, kRows);
        EXPECT_TRUE(ranger.mode_kept) << "the thread's rounding mode has to come back";
      }
      if (HasFailure()) return;
    }
  }
}

TEST(Parallel, RangesBeyondTheRowsAreLeftOut) {
  for (const OpCase& op_case : AllOpCases()) {
    Problem problem(op_case, OptionsOf(op_case)[0], 4, 20);
    problem.FillByKind(1);
    problem.Reset();
    const std::string before = problem.Outputs();
    Ranger ranger;
    ranger.ranges = {{-1, 2}, {0, 5}, {3, 3}, {3, 1}, {4, 5}, {INT64_MIN, INT64_MAX}};
    ASSERT_EQ(RunWith(problem, ranger.parallel()), ADDNORM_OK);
    EXPECT_EQ(problem.Outputs(), before) << op_case.name;
    EXPECT_EQ(problem.Untouched(), "") << op_case.name;
  }
}

TEST(Parallel, IsNotAskedForARefusedCallNorForOneRow) {
  for (const OpCase& op_case : AllOpCases()) {
    for (const int64_t rows : {0, 1}) {
      Problem problem(op_case, OptionsOf(op_case)[0], rows, 20);
      problem.FillByKind(1);
      Ranger ranger;
      EXPECT_EQ(RunWith(problem, ranger.parallel()), ADDNORM_OK);
      EXPECT_EQ(ranger.calls, 0) << op_case.name << " " << rows;
    }
    Problem problem(op_case, OptionsOf(op_case)[0], 4, 20);
    problem.FillByKind(1);
    problem.Reset();
    Args args = problem.MakeArgs();
    Ranger ranger;
    args.set_parallel(ranger.parallel());
    args.set_cols(-1);
    EXPECT_EQ(addnorm_status_kind(args.Call()), ADDNORM_NEGATIVE_SIZE) << op_case.name;
    EXPECT_EQ(ranger.calls, 0) << op_case.name;
  }
}

TEST(Parallel, AnyCallableServesInCpp) {
  constexpr int64_t kRows = 9, kCols = 33;
  std::vector<float> x(kRows * kCols), alone(x.size()), split(x.size());
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 17) - 4.0f;
  const addnorm::Matrix<const float> input(x.data(), kRows, kCols);
  int ranges = 0;
  const auto in_twos = [&ranges](int64_t rows, const auto& body) {
    for (int64_t row = 0; row < rows; row += 2, ++ranges) body(row, std::min(row + 2, rows));
  };
  addnorm::NormOptions options;
  ASSERT_TRUE(addnorm::LayerNorm(input, addnorm::Matrix(alone.data(), kRows, kCols), 1e-5, options));
  options.parallel = addnorm::Parallel::For(in_twos);
  ASSERT_TRUE(addnorm::LayerNorm(input, addnorm::Matrix(split.data(), kRows, kCols), 1e-5, options));
  EXPECT_EQ(ranges, 5);
  EXPECT_EQ(alone, split);

  std::vector<double> means(kRows);
  addnorm::ReduceOptions reduce;
  reduce.parallel = options.parallel;
  ASSERT_TRUE(addnorm::Mean(input, addnorm::Column(means.data(), kRows), reduce));
  EXPECT_EQ(ranges, 10);
}

}  // namespace
}  // namespace addnorm_test
