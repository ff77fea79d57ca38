// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// Every documented aliasing gives the bits of the call on separate memory.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/equal_bits.h"
#include "support/op_case.h"
#include "support/targets.h"
#include "support/threads.h"

namespace addnorm_test {
namespace {

struct Aliasing {
  const char* name;
  Operand y_is, sum_is;  // kY and kSumOut: memory of its own
};

const Aliasing kAliasings[] = {
    {"y is x", kX, kSumOut},
    {"y is residual", kResidual, kSumOut},
    {"sum_out is x", kY, kX},
    {"sum_out is residual", kY, kResidual},
    {"sum_out is x, y is residual", kResidual, kX},
    {"sum_out is residual, y is x", kX, kResidual},
};

bool Possible(const OpCase& op_case, const Options& options, Operand output, Operand input) {
  if (input == output) return true;
  const OpFields& fields = *op_case.fields;
  if (fields.Find(OperandName(output)) == nullptr || fields.Find(OperandName(input)) == nullptr) return false;
  if (output == kSumOut && IsNorm(op_case.op()) && !options.sum_out) return false;
  const addnorm_dtype written = output == kY ? op_case.dtypes.y : op_case.dtypes.sum;
  return written == (input == kX ? op_case.dtypes.x : op_case.dtypes.residual);
}

// Every aliasing that is possible on every target, and with `threads` on 8 threads too; returns how many there were.
int64_t CheckAliasings(const OpCase& op_case, const Options& options, int64_t rows, int64_t cols, int first_kind,
                       bool threads) {
  int64_t pairs = 0;
  // Gaps differ by operand only where the operand has its own memory.
  Problem separate(op_case, options, rows, cols);
  separate.FillByKind(static_cast<uint64_t>(cols) + 11, first_kind);
  const std::string wanted = RunOn("scalar", separate);
  for (const Aliasing& aliasing : kAliasings) {
    if (!Possible(op_case, options, kY, aliasing.y_is) || !Possible(op_case, options, kSumOut, aliasing.sum_is)) {
      continue;
    }
    Layout layout = Layout::Shifted(cols % 3, cols % 5);
    layout.y_is = aliasing.y_is;
    layout.sum_is = aliasing.sum_is;
    Problem in_place(op_case, options, rows, cols, layout);
    in_place.CopyInputs(separate);
    for (const std::string& target : TestedTargets()) {
      EXPECT_TRUE(SameBits(target, RunOn(target, in_place), wanted, in_place)) << aliasing.name;
      if (!threads) continue;
      const ScopedTarget scoped(target);
      RunInThreads(in_place, 8);
      EXPECT_TRUE(SameBits(target, in_place.Outputs(), wanted, in_place)) << aliasing.name << ", 8 threads";
    }
    ++pairs;
  }
  return pairs;
}

// https://github.com/ggml-org/llama.cpp/pull/24305, https://github.com/ikawrakow/ik_llama.cpp/pull/916
TEST(InPlace, EqualsSeparateMemory) {
  int64_t pairs = 0;
  for (const OpCase& op_case : AllOpCases()) {
    if (IsReduction(op_case.op())) continue;
    for (const Options& options : OptionsOf(op_case)) {
      for (const int64_t cols : {1, 7, 16, 67, 131}) {
        pairs += CheckAliasings(op_case, options, kDataKinds, cols, 0, cols == 7);
      }
      pairs += CheckAliasings(op_case, options, 3, 4099, static_cast<int>(4099 + op_case.op()) % kDataKinds, true);
      if (HasFailure()) return;
    }
  }
  EXPECT_GT(pairs, 500);
}

// The same, for emulators: one of the options of each case.
TEST(InPlace, EqualsSeparateMemoryInShortRows) {
  int64_t pairs = 0;
  size_t next = 0;
  for (const OpCase& op_case : AllOpCases()) {
    if (IsReduction(op_case.op())) continue;
    const std::vector<Options> all = OptionsOf(op_case);
    for (const int64_t cols : {7, 67}) {
      pairs += CheckAliasings(op_case, all[next++ % all.size()], kDataKinds, cols, 0, false);
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(pairs, 100);
}

// Inputs may overlap each other: x and residual the same matrix, gamma and beta the same vector.
TEST(InPlace, InputsMayBeTheSame) {
  for (const OpCase& op_case : AllOpCases()) {
    if (!AddsBefore(op_case.op()) && !AddsAfter(op_case.op())) continue;
    if (op_case.dtypes.x != op_case.dtypes.residual) continue;
    Options options = OptionsOf(op_case)[1];
    Problem separate(op_case, options, kDataKinds, 67);
    separate.FillByKind(5);
    for (int64_t row = 0; row < separate.rows(); ++row) {
      for (int64_t col = 0; col < separate.cols(); ++col)
        separate.Set(kResidual, row, col, separate.Input(kX, row, col));
    }
    const std::string wanted = RunOn("scalar", separate);
    for (const std::string& target : TestedTargets()) {
      const ScopedTarget scoped(target);
      separate.Reset();
      Args args = separate.MakeArgs();
      args.Set(*args.op().Find("residual"), args.Get(*args.op().Find("x")));
      ASSERT_EQ(args.Call(), ADDNORM_OK);
      EXPECT_TRUE(SameBits(target, separate.Outputs(), wanted, separate));
    }
  }
}

}  // namespace
}  // namespace addnorm_test
