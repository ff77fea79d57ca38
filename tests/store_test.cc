// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
// How results are stored changes no bit, whatever the shape, and touches nothing else.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "addnorm/addnorm.hpp"
#include "support/equal_bits.h"
#include "support/op_case.h"
#include "support/targets.h"

namespace addnorm_test {
namespace {

// Every operand at a 64-byte boundary, and if `padded` every row of f32 too.
Layout Aligned(int64_t cols, bool padded) {
  constexpr int64_t kElements = 16;
  Layout layout;
  for (const Operand matrix : {kX, kResidual, kY, kSumOut}) {
    layout.at[matrix].gap = padded ? (kElements - cols % kElements) % kElements : 0;
  }
  return layout;
}

std::string RunWith(addnorm_store store, Problem& problem) {
  problem.Reset();
  Args args = problem.MakeArgs();
  args.set_store(store);
  EXPECT_EQ(args.Call(), ADDNORM_OK);
  EXPECT_EQ(problem.Untouched(), "");
  return problem.Outputs();
}

TEST(Store, EveryKindGivesTheSameBits) {
  size_t next = 0;
  for (const OpCase& op_case : AllOpCases()) {
    if (op_case.fields->store == 0) continue;  // reductions store no matrix
    for (const Options& options : OptionsOf(op_case)) {
      for (const int64_t cols : {1, 15, 16, 64, 100, 777}) {
        for (const int64_t rows : {1, 2, 19}) {
          Problem problem(op_case, options, rows, cols, Aligned(cols, next % 4 != 0));
          problem.FillByKind(next++);
          const std::string wanted = RunOn("scalar", problem);
          for (const std::string& target : TestedTargets()) {
            const ScopedTarget scoped(target);
            for (const addnorm_store store : {ADDNORM_STORE_CACHED, ADDNORM_STORE_STREAMING}) {
              ASSERT_TRUE(SameBits(target, RunWith(store, problem), wanted, problem)) << "store " << store;
            }
          }
        }
      }
    }
  }
}

TEST(Store, AutomaticGivesTheBitsOfCachedForLargeOutputs) {
  constexpr int64_t kRows = 8193, kCols = 1024;  // more than 32 MiB
  constexpr size_t kElements = static_cast<size_t>(kRows * kCols);
  std::vector<float> x(kElements), cached(kElements), automatic(kElements + 16);
  for (size_t i = 0; i < kElements; ++i) x[i] = static_cast<float>(i % 1013) - 500.0f;
  float* y = automatic.data();
  while (reinterpret_cast<uintptr_t>(y) % 64 != 0) ++y;
  const addnorm::Matrix<const float> in(x.data(), kRows, kCols);
  const std::vector<float> gamma(kCols, 1.5f);
  addnorm::NormOptions options;
  options.gamma = addnorm::Vector(gamma.data(), kCols);
  ASSERT_TRUE(addnorm::RmsNorm(in, addnorm::Matrix(y, kRows, kCols), 1e-5, options).ok());
  options.store = addnorm::Store::kCached;
  ASSERT_TRUE(addnorm::RmsNorm(in, addnorm::Matrix(cached.data(), kRows, kCols), 1e-5, options).ok());
  EXPECT_EQ(std::memcmp(y, cached.data(), kElements * sizeof(float)), 0);
}

TEST(Store, IsAnOptionInCpp) {
  alignas(64) float x[64], y[64], sum[64];
  for (int i = 0; i < 64; ++i) x[i] = static_cast<float>(i);
  addnorm::NormOptions norm;
  norm.store = addnorm::Store::kStreaming;
  EXPECT_TRUE(addnorm::RmsNorm(addnorm::Matrix(x, 2, 32), addnorm::Matrix(y, 2, 32), 1e-5, norm).ok());
  addnorm::AddOptions add;
  add.store = static_cast<addnorm::Store>(7);
  const addnorm::Matrix in(x, 2, 32);
  EXPECT_EQ(addnorm::Add(in, in, addnorm::Matrix(sum, 2, 32), add).kind(), ADDNORM_OUT_OF_RANGE);
  add.store = addnorm::Store::kStreaming;
  EXPECT_TRUE(addnorm::Add(in, in, addnorm::Matrix(sum, 2, 32), add).ok());
  EXPECT_EQ(sum[63], 126.0f);
}

}  // namespace
}  // namespace addnorm_test
