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

// https://github.com/ggml-org/llama.cpp/pull/24305, https://github.com/ikawrakow/ik_llama.cpp/pull/916
TEST(InPlace, EqualsSeparateMemory) {
  int64_t pairs = 0;
  for (const OpCase& op_case : AllOpCases()) {
    if (IsReduction(op_case.op())) continue;
    for (const Options& options : OptionsOf(op_case)) {
      for (const int64_t cols : {1, 7, 16, 67, 131, 4099}) {
        const int64_t rows = cols > 1000 ? 3 : kDataKinds;
        // Gaps differ by operand only where the operand has its own memory.
        Problem separate(op_case, options, rows, cols);
        separate.FillByKind(static_cast<uint64_t>(cols) + 11,
                            cols > 1000 ? static_cast<int>(cols + op_case.op()) % kDataKinds : 0);
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
          }
          ++pairs;
          if (cols != 7 && cols < 1000) continue;
          for (const std::string& target : TestedTargets()) {
            const ScopedTarget scoped(target);
            RunInThreads(in_place, 8);
            EXPECT_TRUE(SameBits(target, in_place.Outputs(), wanted, in_place)) << aliasing.name << ", 8 threads";
          }
        }
        if (HasFailure()) return;
      }
    }
  }
  EXPECT_GT(pairs, 500);
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
