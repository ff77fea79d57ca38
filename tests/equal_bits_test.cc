// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// The bits depend on the values of the row and the options, and on nothing else: every target, batch size, row
// position, alignment, stride and number of threads gives those of the scalar reference for the packed rows.
#include "support/equal_bits.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/dtype.h"
#include "support/inputs.h"
#include "support/op_case.h"
#include "support/targets.h"
#include "support/threads.h"

namespace addnorm_test {
namespace {

// Every target against the scalar reference.
void CheckTargets(std::vector<Problem>& problems) {
  std::vector<std::string> wanted;
  {
    const ScopedTarget scoped("scalar");
    for (Problem& problem : problems) wanted.push_back(RunOn("scalar", problem));
  }
  for (const std::string& target : TestedTargets()) {
    const ScopedTarget scoped(target);
    for (size_t i = 0; i < problems.size(); ++i) {
      EXPECT_TRUE(SameBits(target, RunOn(target, problems[i]), wanted[i], problems[i]));
    }
  }
}

void AddProblem(std::vector<Problem>* problems, const OpCase& op_case, const Options& options, int64_t rows,
                int64_t cols, uint64_t seed) {
  problems->emplace_back(op_case, options, rows, cols);
  problems->back().FillByKind(seed, static_cast<int>(seed % kDataKinds));
}

TEST(EqualBits, EveryTargetToTwoBlocks) {
  for (const OpCase& op_case : AllOpCases()) {
    const std::vector<Options> all = OptionsOf(op_case);
    for (size_t i = 0; i < all.size(); ++i) {
      std::vector<Problem> problems;
      for (int64_t cols = 1; cols <= 131; ++cols) {
        if (cols > 67 && (i + static_cast<size_t>(cols)) % 3 != 1) continue;
        AddProblem(&problems, op_case, all[i], kDataKinds, cols, 7);
      }
      CheckTargets(problems);
      if (HasFailure()) return;
    }
  }
}

TEST(EqualBits, EveryTargetAtHiddenSizes) {
  for (const OpCase& op_case : AllOpCases()) {
    const std::vector<Options> all = OptionsOf(op_case);
    std::vector<Problem> problems;
    uint64_t next = 0;
    for (const int64_t cols : {384, 576, 768, 1000, 1024, 4096, 5120}) {
      for (int i = 0; i < 2; ++i) {
        ++next;
        AddProblem(&problems, op_case, all[next % all.size()], 9, cols, static_cast<uint64_t>(cols) + next);
      }
    }
    for (const int64_t cols : {65535, 65536, 65537}) {
      ++next;
      AddProblem(&problems, op_case, all[next % all.size()], 1, cols, static_cast<uint64_t>(cols) * 5 + next);
    }
    CheckTargets(problems);
    if (HasFailure()) return;
  }
}

// So many rows that those to come are asked for ahead, in pieces of a row.
TEST(EqualBits, EveryTargetBeyondTheCaches) {
  for (const OpCase& op_case : AllOpCases()) {
    if (!IsNorm(op_case.op()) || AddsBefore(op_case.op())) continue;
    const std::vector<Options> all = OptionsOf(op_case);
    std::vector<Problem> problems;
    AddProblem(&problems, op_case, all[static_cast<size_t>(op_case.op()) % all.size()], 1030, 515, 5);
    CheckTargets(problems);
    if (HasFailure()) return;
  }
}

// Rows of a large batch, alone and in smaller batches, at every position that a batch of 8 rows in flight may give
// them.
TEST(EqualBits, AnyBatchSizeAndRowPosition) {
  for (const OpCase& op_case : AllOpCases()) {
    const std::vector<Options> all = OptionsOf(op_case);
    size_t next = static_cast<size_t>(op_case.op());
    for (const int64_t cols : {1, 5, 16, 48, 64, 67, 130, 768}) {
      const Options& options = all[next++ % all.size()];
      Problem batch(op_case, options, 64, cols);
      batch.FillByKind(static_cast<uint64_t>(cols));
      RunOn("scalar", batch);
      std::vector<std::string> wanted;
      for (int64_t row = 0; row < batch.rows(); ++row) wanted.push_back(batch.OutputsOfRows(row, 1));
      for (const std::string& target : TestedTargets()) {
        const ScopedTarget scoped(target);
        for (const int64_t rows : {1, 2, 3, 7, 8, 9, 17, 64}) {
          for (int64_t first = 0; first + rows <= batch.rows(); first += rows < 7 ? 5 : rows) {
            Problem part(op_case, options, rows, cols);
            part.CopyInputs(batch, first);
            std::string expected;
            for (int64_t row = first; row < first + rows; ++row) expected += wanted[static_cast<size_t>(row)];
            EXPECT_TRUE(SameBits(target, RunOn(target, part), expected, part)) << "rows from " << first;
          }
        }
      }
      if (HasFailure()) return;
    }
  }
}

// Each operand at its own distance from a 64-byte boundary, from one element up, and with its own stride.
TEST(EqualBits, AnyAlignmentAndStride) {
  for (const OpCase& op_case : AllOpCases()) {
    const std::vector<Options> all = OptionsOf(op_case);
    size_t next = static_cast<size_t>(op_case.op());
    for (const int64_t cols : {1, 15, 33, 64, 131}) {
      const Options& options = all[next++ % all.size()];
      Problem packed(op_case, options, 9, cols);
      packed.FillByKind(static_cast<uint64_t>(cols) * 3);
      const std::string wanted = RunOn("scalar", packed);
      std::vector<Problem> placed;
      for (int64_t shift = 1; shift <= 33; shift += shift < 17 ? 1 : 8) {
        Layout layout;
        for (size_t i = 0; i < kOperands; ++i) {
          layout.at[i].offset = (shift * (1 + static_cast<int64_t>(i) % 3)) % 35;
          layout.at[i].gap = (shift * (3 + static_cast<int64_t>(i))) % 11;
        }
        placed.emplace_back(op_case, options, 9, cols, layout);
        placed.back().CopyInputs(packed);
      }
      for (const std::string& target : TestedTargets()) {
        const ScopedTarget scoped(target);
        for (Problem& problem : placed) {
          EXPECT_TRUE(SameBits(target, RunOn(target, problem), wanted, problem)) << "shift " << &problem - &placed[0];
        }
      }
      if (HasFailure()) return;
    }
  }
}

// Rows split between threads, each calling on its own part.
TEST(EqualBits, AnySplitBetweenThreads) {
  constexpr int64_t kThreads = 8;
  for (const OpCase& op_case : AllOpCases()) {
    const std::vector<Options> all = OptionsOf(op_case);
    for (const int64_t cols : {7, 515}) {
      const Options& options = all[static_cast<size_t>(op_case.op()) % all.size()];
      Problem whole(op_case, options, 41, cols);
      whole.FillByKind(static_cast<uint64_t>(cols) * 5);
      const std::string wanted = RunOn("scalar", whole);
      for (const std::string& target : TestedTargets()) {
        const ScopedTarget scoped(target);
        RunInThreads(whole, kThreads);
        EXPECT_TRUE(SameBits(target, whole.Outputs(), wanted, whole));
      }
    }
  }
}

// Views of a wider matrix: https://github.com/ggml-org/llama.cpp/pull/7519,
// https://github.com/vllm-project/vllm/pull/28103
TEST(EqualBits, ViewsOfAWiderMatrix) {
  struct View {
    int64_t rows, cols, input_gap, output_gap;
  };
  for (const View& view :
       {View{3, 512, 64, 0}, View{3, 512, 0, 64}, View{4, 128, 4096 - 128, 0}, View{32, 128, 4096 - 128, 128}}) {
    Layout layout;
    for (const Operand input : {kX, kResidual}) layout.at[input].gap = view.input_gap;
    for (const Operand output : {kY, kSumOut}) layout.at[output].gap = view.output_gap;
    for (const OpCase& op_case : AllOpCases()) {
      const std::vector<Options> all = OptionsOf(op_case);
      for (const Options& options : {all[1], all.back()}) {  // of a norm: with gamma and beta, without gamma
        Problem packed(op_case, options, view.rows, view.cols), placed(op_case, options, view.rows, view.cols, layout);
        packed.FillByKind(3);
        placed.CopyInputs(packed);
        ExpectBitsOf(packed, placed);
      }
    }
  }
}

}  // namespace
}  // namespace addnorm_test
