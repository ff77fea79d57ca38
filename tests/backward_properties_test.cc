// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// What the backward operations promise beside accuracy: threads, memory, batch and fusion change no bit, and nothing of
// one row reaches another.
#include <gtest/gtest.h>

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/backward.h"
#include "support/backward_equal_bits.h"
#include "support/dtype.h"

namespace addnorm_test {
namespace {

const std::vector<std::string> kMatrices = {"dx", "d_residual"};

// Hands out pieces of a given size, the last first, each on a thread of its own that rounds upwards.
struct Pieces {
  addnorm_parallel parallel() { return {&Pieces::ParallelFor, this}; }

  static void ParallelFor(void* context, int64_t count, addnorm_range_body body, void* task) {
    auto& self = *static_cast<Pieces*>(context);
    ++self.calls;
    std::vector<std::thread> threads;
    for (int64_t begin = (count - 1) / self.size * self.size; begin >= 0; begin -= self.size) {
      threads.emplace_back([=, end = std::min(count, begin + self.size)] {
        std::fesetround(FE_UPWARD);
        body(task, begin, end);
        body(task, -1, end);  // left out, as are the next two
        body(task, end, begin);
        body(task, begin, int64_t{1} << 40);
      });
    }
    for (std::thread& thread : threads) thread.join();
  }

  int64_t size;
  int calls = 0;
};

TEST(ParallelBackward, AnySplitGivesTheBitsOfOneThread) {
  size_t next = 0;
  for (const OpCase& op_case : AllBackwardCases()) {
    for (const BackwardOptions& options : BackwardOptionsOf(op_case)) {
      const int64_t rows = next % 3 == 0 ? 300 : next % 3 == 1 ? 70 : 20;
      BackwardProblem problem(op_case, options, rows, next % 2 == 0 ? 37 : 600, 1, 3);
      problem.FillByKind(++next);
      const std::string wanted = RunOn("scalar", problem);
      for (const std::string& target : TestedTargets()) {
        const ScopedTarget scoped(target);
        Pieces pieces{1 + static_cast<int64_t>(next % 3)};
        problem.Reset();
        Args args = problem.MakeArgs();
        args.set_parallel(pieces.parallel());
        ASSERT_EQ(args.Call(), ADDNORM_OK);
        EXPECT_TRUE(SameBits(target, problem.Outputs(), wanted, problem));
        EXPECT_EQ(problem.Untouched(), "");
        EXPECT_EQ(pieces.calls, rows <= 32 ? 0 : options.sums != 0 ? 2 : 1);
      }
      if (HasFailure()) return;
    }
  }
}

TEST(EqualBitsBackward, AnyAlignmentAndStride) {
  size_t next = 0;
  for (const OpCase& op_case : AllBackwardCases()) {
    const std::vector<BackwardOptions> all = BackwardOptionsOf(op_case);
    for (const int64_t cols : {1, 15, 33, 64, 131}) {
      const BackwardOptions& options = all[next++ % all.size()];
      BackwardProblem packed(op_case, options, 9, cols);
      packed.FillByKind(static_cast<uint64_t>(cols) * 3);
      const std::string wanted = RunOn("scalar", packed);
      for (int64_t shift = 1; shift <= 33; shift += shift < 17 ? 1 : 8) {
        BackwardProblem placed(op_case, options, 9, cols, shift, shift * 3 % 11);
        placed.CopyInputs(packed);
        for (const std::string& target : TestedTargets()) {
          EXPECT_TRUE(SameBits(target, RunOn(target, placed), wanted, placed)) << "shift " << shift;
        }
      }
      if (HasFailure()) return;
    }
  }
}

TEST(EqualBitsBackward, RowsDoNotDependOnTheirBatch) {
  size_t next = 0;
  for (const OpCase& op_case : AllBackwardCases()) {
    const std::vector<BackwardOptions> all = BackwardOptionsOf(op_case);
    for (const int64_t cols : {1, 16, 67, 768}) {
      BackwardOptions options = all[next++ % all.size()];
      options.dx = options.d_residual = true;
      BackwardProblem batch(op_case, options, 40, cols);
      batch.FillByKind(static_cast<uint64_t>(cols));
      RunOn("scalar", batch);
      for (const std::string& target : TestedTargets()) {
        for (const int64_t rows : {1, 2, 5, 33}) {
          for (int64_t first = 0; first + rows <= 40; first += 6) {
            BackwardProblem part(op_case, options, rows, cols);
            part.CopyInputs(batch, first);
            RunOn(target, part);
            EXPECT_TRUE(SameBits(target, part.Outputs(kMatrices), batch.Outputs(kMatrices, first, rows), part));
          }
        }
      }
      if (HasFailure()) return;
    }
  }
}

TEST(EqualBitsBackward, InPlaceGivesTheBitsOfOutOfPlace) {
  for (const OpCase& op_case : AllBackwardCases()) {
    for (const BackwardOptions& options : BackwardOptionsOf(op_case)) {
      BackwardProblem apart(op_case, options, 11, 67);
      apart.FillByKind(5);
      const std::string wanted = RunOn("scalar", apart);
      for (const char* input : {"dy", "x", "d_sum"}) {
        for (const char* output : {"dx", "d_residual"}) {
          if (!apart.Has(input) || !apart.Has(output) || apart.Dtype(input) != apart.Dtype(output)) continue;
          BackwardProblem problem(op_case, options, 11, 67);
          problem.CopyInputs(apart);
          problem.PutInPlace(output, input);
          for (const std::string& target : TestedTargets()) {
            EXPECT_TRUE(SameBits(target, RunOn(target, problem), wanted, problem)) << output << " over " << input;
          }
        }
      }
    }
    if (HasFailure()) return;
  }
}

// Activation checkpointing changes no bit: the statistics that the forward call would have saved are those recomputed.
TEST(EqualBitsBackward, SavedStatisticsInF64AreTheRecomputedOnes) {
  for (const OpCase& op_case : AllBackwardCases()) {
    if (op_case.op() == ADDNORM_OP_ADD_BACKWARD) continue;
    for (BackwardOptions options : BackwardOptionsOf(op_case)) {
      for (const int64_t cols : {1, 5, 67, 320, 65537}) {
        if (cols > 1000 && (op_case.dtypes.vectors != ADDNORM_F32 || options.name != "extreme")) continue;
        options.saved = ADDNORM_F64;
        BackwardProblem saved(op_case, options, cols > 1000 ? 2 : kDataKinds, cols);
        saved.FillByKind(static_cast<uint64_t>(cols));
        options.saved = 0;
        BackwardProblem recomputed(op_case, options, saved.rows(), cols);
        recomputed.CopyInputs(saved);
        const std::string& target = SupportedTargets().front();
        EXPECT_TRUE(SameBits(target, RunOn(target, recomputed), RunOn(target, saved), saved));
      }
    }
    if (HasFailure()) return;
  }
}

// What is not asked for changes no other output.
TEST(EqualBitsBackward, OutputsDoNotDependOnEachOther) {
  for (const OpCase& op_case : AllBackwardCases()) {
    BackwardOptions options = BackwardOptionsOf(op_case)[0];
    BackwardProblem all(op_case, options, 40, 67);
    all.FillByKind(4);
    const std::string& target = SupportedTargets().front();
    RunOn(target, all);
    options.sums = 0;
    BackwardProblem rows_only(op_case, options, 40, 67);
    rows_only.CopyInputs(all);
    RunOn(target, rows_only);
    EXPECT_TRUE(SameBits(target, rows_only.Outputs(kMatrices), all.Outputs(kMatrices), all));
    options.sums = ADDNORM_F32;
    options.dx = options.d_residual = false;
    BackwardProblem sums_only(op_case, options, 40, 67);
    sums_only.CopyInputs(all);
    RunOn(target, sums_only);
    EXPECT_TRUE(SameBits(target, sums_only.Outputs(), all.Outputs({"dgamma", "dbeta", "dbias"}), all));
  }
}

// Copies an operand's values as inputs of another problem.
void Copy(const BackwardProblem& from, const char* output, BackwardProblem* to, const char* input) {
  for (int64_t row = 0; row < from.rows(); ++row) {
    for (int64_t col = 0; col < from.cols(); ++col) to->Set(input, row, col, from.Get(output, row, col));
  }
}

const OpCase& FindCase(addnorm_op op, addnorm_dtype x, addnorm_dtype residual, addnorm_dtype sum, addnorm_dtype y) {
  for (const OpCase& c : AllBackwardCases()) {
    const addnorm_dtypes& d = c.dtypes;
    if (c.op() == op && d.x == x && d.residual == residual && d.sum == sum && d.y == y) return c;
  }
  ADD_FAILURE() << "not promised";
  return AllBackwardCases().front();
}

// Add*Norm's backward is the norm's, then addnorm_add with d_sum, then Add's.
TEST(FusionBackward, AddNormHasTheBitsOfItsUnfusedSequence) {
  for (const OpCase& fused_case : AllBackwardCases()) {
    if (!IsBackwardOfAddNorm(fused_case.op())) continue;
    const addnorm_dtypes& d = fused_case.dtypes;
    const bool layer_norm = IsBackwardOfLayerNorm(fused_case.op());
    const OpCase& norm_case =
        FindCase(layer_norm ? ADDNORM_OP_LAYER_NORM_BACKWARD : ADDNORM_OP_RMS_NORM_BACKWARD, d.sum, 0, 0, d.y);
    const OpCase& add_case = FindCase(ADDNORM_OP_ADD_BACKWARD, d.x, d.residual, d.sum, 0);
    for (const BackwardOptions& options : BackwardOptionsOf(fused_case)) {
      BackwardProblem fused(fused_case, options, 40, 67);
      fused.FillByKind(9);
      const std::string& target = SupportedTargets().front();
      RunOn(target, fused);
      BackwardOptions norm_options = options;
      norm_options.dx = true;
      BackwardProblem norm(norm_case, norm_options, 40, 67);
      norm.CopyInputs(fused);
      RunOn(target, norm);
      BackwardProblem add(add_case, options, 40, 67);
      if (fused.Has("d_sum")) {
        Problem sum(FindOpCase(ADDNORM_OP_ADD, {d.sum, d.sum, d.sum, 0, 0}), Options(), 40, 67);
        for (int64_t row = 0; row < 40; ++row) {
          for (int64_t col = 0; col < 67; ++col) {
            sum.Set(kX, row, col, static_cast<float>(norm.Get("dx", row, col)));
            sum.Set(kResidual, row, col, static_cast<float>(fused.Input("d_sum", row, col)));
          }
        }
        ASSERT_EQ(sum.Run(), ADDNORM_OK);
        for (int64_t row = 0; row < 40; ++row) {
          for (int64_t col = 0; col < 67; ++col) add.Set("d_sum", row, col, sum.Get(kSumOut, row, col));
        }
      } else {
        Copy(norm, "dx", &add, "d_sum");
      }
      RunOn(target, add);
      EXPECT_TRUE(SameBits(target, add.Outputs({"dx", "d_residual", "dbias"}),
                           fused.Outputs({"dx", "d_residual", "dbias"}), fused));
      EXPECT_TRUE(SameBits(target, norm.Outputs({"dgamma", "dbeta"}), fused.Outputs({"dgamma", "dbeta"}), fused));
    }
    if (HasFailure()) return;
  }
}

TEST(SpecialRowsBackward, WhatIsNotFiniteStaysInItsRowAndColumn) {
  constexpr int64_t kRows = 9, kCols = 37, kBad = 4, kBadCol = 17;
  const double infinity = std::numeric_limits<double>::infinity();
  for (const OpCase& op_case : AllBackwardCases()) {
    BackwardOptions options;
    options.gamma = VectorType::kF32;
    for (const char* operand : {"x", "dy", "d_sum"}) {
      for (const double value : {std::nan(""), infinity, -infinity}) {
        BackwardProblem good(op_case, options, kRows, kCols), bad(op_case, options, kRows, kCols);
        if (!good.Has(operand)) continue;
        good.Fill(DataKind::kNormal, DataKind::kNormal, 3);
        bad.CopyInputs(good);
        bad.Set(operand, kBad, kBadCol, value);
        for (const std::string& target : TestedTargets()) {
          RunOn(target, good);
          RunOn(target, bad);
          for (int64_t row = 0; row < kRows; ++row) {
            if (row == kBad) continue;
            EXPECT_TRUE(SameBits(target, bad.Outputs(kMatrices, row, 1), good.Outputs(kMatrices, row, 1), bad));
          }
          EXPECT_FALSE(std::isfinite(bad.Get("dx", kBad, kBadCol))) << Describe(bad) << " " << operand << " " << value;
        }
      }
    }
    if (HasFailure()) return;
  }
}

// A gradient that is stored as it came, without arithmetic that would make its NaN a quiet one: a payload in the lower
// half alone must not be cut off, which would leave an infinity.
TEST(SpecialRowsBackward, SignallingNaNStaysNaN) {
  constexpr int64_t kCols = 37;
  for (const addnorm_dtype dtype : {ADDNORM_BF16, ADDNORM_F16}) {
    for (const uint32_t pattern : {0x7f800001u, 0xff800001u, 0x7f801fffu, 0xff80ffffu}) {
      const std::vector<uint32_t> d_sum(kCols, pattern);
      std::vector<uint16_t> dx(kCols);
      addnorm_add_backward_args args = ADDNORM_ADD_BACKWARD_ARGS_INIT;
      args.rows = 1;
      args.cols = kCols;
      args.d_sum = {d_sum.data(), kCols, ADDNORM_F32, 0};
      args.dx = {dx.data(), kCols, dtype, 0};
      for (const std::string& target : TestedTargets()) {
        const ScopedTarget scoped(target);
        std::fill(dx.begin(), dx.end(), uint16_t{0});
        ASSERT_EQ(addnorm_add_backward(&args), ADDNORM_OK);
        for (int64_t col = 0; col < kCols; ++col) {
          EXPECT_TRUE(std::isnan(LoadValue(dx.data(), col, dtype))) << target << " " << DtypeName(dtype) << " " << col;
        }
      }
    }
  }
}

// Rows without spread and epsilon 0: the forward call gives beta whatever x is, and the gradient is 0.
TEST(SpecialRowsBackward, RowsWithInfiniteRstdHaveNoGradient) {
  for (const OpCase& op_case : AllBackwardCases()) {
    if (op_case.op() == ADDNORM_OP_ADD_BACKWARD) continue;
    for (const addnorm_dtype saved : {0, static_cast<int>(ADDNORM_F64)}) {
      BackwardOptions options;
      options.epsilon = 0.0;
      options.d_sum = false;
      options.saved = saved;
      BackwardProblem problem(op_case, options, 3, 21);
      problem.Fill(IsBackwardOfLayerNorm(op_case.op()) ? DataKind::kConstant : DataKind::kZeros, DataKind::kNormal, 3);
      for (const std::string& target : TestedTargets()) {
        RunOn(target, problem);
        for (int64_t col = 0; col < 21; ++col) {
          for (int64_t row = 0; row < 3; ++row) EXPECT_EQ(problem.Get("dx", row, col), 0.0) << Describe(problem);
          EXPECT_EQ(problem.Get("dgamma", 0, col), 0.0) << Describe(problem);
        }
      }
    }
  }
}

}  // namespace
}  // namespace addnorm_test
