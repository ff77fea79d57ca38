// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// Dropout before the add: the mask is that of the generator that training.h names, results are exact or within the
// bounds, and the bits are the same on every target, for any split, stride and place in memory.
#include "support/dropout.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "addnorm/training.hpp"
#include "support/dtype.h"
#include "support/equal_bits.h"
#include "support/evaluate.h"
#include "support/op_case.h"
#include "support/targets.h"
#include "support/threads.h"

namespace addnorm_test {
namespace {

// Of Random123, kat_vectors, "philox4x32 10".
TEST(Dropout, GeneratorGivesTheKnownAnswers) {
  using Counter = std::array<uint32_t, 4>;
  constexpr uint32_t kOnes = 0xffffffff;
  EXPECT_EQ(Philox({0, 0, 0, 0}, {0, 0}), (Counter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(Philox({kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes}),
            (Counter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(Philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Counter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

// The mask that addnorm_add applies and writes.
std::vector<std::string> MaskOut(const std::string& target, const DropoutOptions& dropout, int64_t rows, int64_t cols) {
  const ScopedTarget scoped(target);
  DropoutOptions written = dropout;
  written.masks = Masks::kWritten;
  DropoutMemory memory(written, rows, cols);
  std::vector<float> x(static_cast<size_t>(rows * cols), 1.0f), residual(x.size(), 0.0f), sum(x.size());
  addnorm_add_args args = ADDNORM_ADD_ARGS_INIT;
  args.rows = rows;
  args.cols = cols;
  args.x = {x.data(), cols, ADDNORM_F32, 0};
  args.residual = {residual.data(), cols, ADDNORM_F32, 0};
  args.sum_out = {sum.data(), cols, ADDNORM_F32, 0};
  args.dropout = memory.args();
  EXPECT_EQ(addnorm_add(&args), ADDNORM_OK);
  std::vector<std::string> masks;
  for (int64_t row = 0; row < rows; ++row) {
    masks.push_back(memory.MaskOut(row));
    for (int64_t col = 0; col < cols; ++col) {
      const bool kept = (masks.back()[static_cast<size_t>(col / 8)] >> (col % 8) & 1) != 0;
      const float wanted = kept ? dropout.Scale() : 0.0f;
      EXPECT_EQ(sum[static_cast<size_t>(row * cols + col)], wanted) << row << ", " << col << " on " << target;
    }
  }
  return masks;
}

// What MaskOut has to give.
std::vector<std::string> Mask(const DropoutOptions& dropout, int64_t rows, int64_t cols) {
  std::vector<std::string> masks;
  for (int64_t row = 0; row < rows; ++row) {
    std::string bytes(static_cast<size_t>((cols + 7) / 8), '\0');
    for (int64_t col = 0; col < cols; ++col) {
      char& byte = bytes[static_cast<size_t>(col / 8)];
      if (dropout.IsKept(row, col)) byte = static_cast<char>(byte | 1 << (col % 8));
    }
    masks.push_back(bytes);
  }
  return masks;
}

TEST(Dropout, MaskIsThatOfTheGenerator) {
  const double probabilities[] = {0.1, 0.5, 0.75, 1.0 / 3, 0.999, 0x1p-17, 1 - 0x1p-17};
  const uint64_t seeds[] = {0, 1, 0xffffffffu, uint64_t{1} << 32, ~uint64_t{0}, 0x0123456789abcdefu};
  const uint64_t first_rows[] = {0, 0xffffffffu, ~uint64_t{0}};  // and over the ends of 32 and 64 bits
  size_t next = 0;
  for (const int64_t cols : {1, 7, 8, 9, 31, 63, 64, 65, 127, 128, 129, 200, 255, 256, 257, 1025, 4097}) {
    for (const std::string& target : TestedTargets()) {
      DropoutOptions dropout;
      dropout.probability = probabilities[++next % 7];
      dropout.seed = seeds[next % 6];
      dropout.first_row = first_rows[next % 3];
      EXPECT_EQ(MaskOut(target, dropout, 2, cols), Mask(dropout, 2, cols)) << cols << " on " << target;
      CountChecks(target, 2 * cols);
    }
  }
}

// A number is dropped by the next probability that is larger, and by no smaller one: all of its 32 bits count.
TEST(Dropout, EveryBitOfANumberCounts) {
  constexpr int64_t kCols = 130;
  DropoutOptions dropout;
  for (const std::string& target : TestedTargets()) {
    for (const int64_t col : {0, 1, 2, 31, 32, 63, 64, 95, 96, 126, 127, 128, 129}) {
      const double number = static_cast<double>(DropoutNumber(dropout.seed, 0, col));
      const auto kept = [&](double probability) {
        dropout.probability = probability;
        const std::vector<std::string> got = MaskOut(target, dropout, 1, kCols);
        EXPECT_EQ(got, Mask(dropout, 1, kCols)) << target;
        return (got[0][static_cast<size_t>(col / 8)] >> (col % 8) & 1) != 0;
      };
      EXPECT_TRUE(kept(number * 0x1p-32)) << col << " on " << target;
      EXPECT_TRUE(kept((number + 0.49) * 0x1p-32)) << col << " on " << target;
      EXPECT_FALSE(kept((number + 0.5) * 0x1p-32)) << col << " on " << target;
      EXPECT_FALSE(kept((number + 1) * 0x1p-32)) << col << " on " << target;
    }
  }
}

TEST(Dropout, WithinTheBounds) {
  Oracle oracle;
  size_t next = 0;
  for (const OpCase& op_case : AllOpCases()) {
    for (const Options& options : DropoutOptionsOf(op_case)) {
      for (const int64_t cols : {5, 67, 300}) {
        Problem problem(op_case, options, kDataKinds, cols);
        problem.FillByKind(++next);
        RunOn(SupportedTargets().front(), problem);
        const Evaluation e = Evaluate(problem, oracle);
        EXPECT_EQ(e.failures, 0) << e.first_failure;
        EXPECT_GT(e.checks, 0);
      }
    }
  }
}

TEST(Dropout, EveryTargetAtEveryLength) {
  size_t next = 0;
  for (const OpCase& op_case : AllOpCases()) {
    const std::vector<Options> all = DropoutOptionsOf(op_case);
    for (int64_t cols = 1; cols <= 131 && !all.empty(); ++cols) {
      Problem problem(op_case, all[++next % all.size()], 3, cols);
      problem.FillByKind(next, static_cast<int>(next));
      ExpectEqualBits(problem);
    }
    if (HasFailure()) return;
  }
}

// Rows of many pieces, and so many that operands are asked for ahead, and results stored past the caches.
TEST(Dropout, EveryTargetWithLongAndManyRows) {
  size_t next = 0;
  for (const OpCase& op_case : AllOpCases()) {
    const std::vector<Options> all = DropoutOptionsOf(op_case);
    for (const int64_t cols : {256, 511, 1024, 1025, 2049, 70000}) {
      if (all.empty()) break;
      const int64_t rows = cols == 511 && op_case.dtypes.vectors == ADDNORM_F32 ? 515 : cols > 10000 ? 1 : 2;
      Problem problem(op_case, all[++next % all.size()], rows, cols);
      problem.FillByKind(next, static_cast<int>(next));
      ExpectEqualBits(problem);
    }
    if (HasFailure()) return;
  }
}

// A part of a batch with the number of its first row, other strides and alignments, threads: the bits of the whole.
TEST(Dropout, AnySplitStrideAndAlignment) {
  constexpr int64_t kRows = 23;
  size_t next = 0;
  for (const OpCase& op_case : AllOpCases()) {
    for (const Options& options : DropoutOptionsOf(op_case)) {
      for (const int64_t cols : {37, 300}) {
        Problem whole(op_case, options, kRows, cols);
        whole.FillByKind(++next);
        const std::string wanted = RunOn("scalar", whole);
        std::vector<std::string> rows;
        for (int64_t row = 0; row < kRows; ++row) rows.push_back(whole.OutputsOfRows(row, 1));
        for (const std::string& target : TestedTargets()) {
          const ScopedTarget scoped(target);
          for (const int64_t first : {0, 1, 9, 22}) {
            Options part_options = options;
            part_options.dropout.first_row += static_cast<uint64_t>(first);
            const int64_t count = std::min<int64_t>(kRows - first, first == 0 ? 1 : 8);
            Problem part(op_case, part_options, count, cols, Layout::Shifted(first, first % 5));
            part.CopyInputs(whole, first);
            std::string expected;
            for (int64_t row = first; row < first + count; ++row) expected += rows[static_cast<size_t>(row)];
            EXPECT_TRUE(SameBits(target, RunOn(target, part), expected, part)) << "rows from " << first;
          }
          whole.Reset();
          Args args = whole.MakeArgs();
          args.set_parallel(addnorm_parallel{[](void*, int64_t count, addnorm_range_body body, void* task) {
                                               for (int64_t end = count; end > 0; end -= 5) {
                                                 body(task, std::max<int64_t>(end - 5, 0), end);
                                               }
                                             },
                                             nullptr});
          EXPECT_EQ(args.Call(), ADDNORM_OK);
          EXPECT_TRUE(SameBits(target, whole.Outputs(), wanted, whole));
        }
      }
    }
    if (HasFailure()) return;
  }
}

TEST(Dropout, InPlaceEqualsSeparateMemory) {
  for (const OpCase& op_case : AllOpCases()) {
    for (const Options& options : DropoutOptionsOf(op_case)) {
      const addnorm_dtypes& d = op_case.dtypes;
      for (const Operand input : {kX, kResidual}) {
        const addnorm_dtype dtype = input == kX ? d.x : d.residual;
        Layout layout;
        if (op_case.op() == ADDNORM_OP_ADD || options.sum_out) {
          if (dtype != d.sum) continue;
          layout.sum_is = input;
        } else {
          if (dtype != d.y) continue;
          layout.y_is = input;
        }
        for (const int64_t cols : {3, 600}) {
          Problem apart(op_case, options, 4, cols), in_place(op_case, options, 4, cols, layout);
          apart.FillByKind(3);
          in_place.CopyInputs(apart);
          ExpectBitsOf(apart, in_place);
        }
      }
    }
  }
}

TEST(Dropout, ProbabilityZeroIsNoDropout) {
  for (const OpCase& op_case : AllOpCases()) {
    for (Options options : DropoutOptionsOf(op_case)) {
      for (const double probability : {0.0, 0x1p-40}) {
        options.dropout = DropoutOptions();
        Problem without(op_case, options, kDataKinds, 67);
        options.dropout.probability = probability;
        Problem with(op_case, options, kDataKinds, 67);
        without.FillByKind(4);
        with.CopyInputs(without);
        ExpectBitsOf(without, with);
      }
    }
  }
}

// Also where x is NaN, and whatever a mask says.
TEST(Dropout, ProbabilityOneGivesTheResidual) {
  for (const OpCase& op_case : AllOpCases()) {
    if (op_case.op() != ADDNORM_OP_ADD) continue;
    for (const Masks masks : {Masks::kGenerated, Masks::kGivenAndWritten}) {
      for (const double probability : {1.0, 1 - 0x1p-40}) {
        if (masks != Masks::kGenerated && probability != 1.0) continue;
        Options options;
        options.dropout.probability = probability;
        options.dropout.masks = masks;
        Problem problem(op_case, options, kDataKinds, 67);
        problem.FillByKind(4);
        problem.Set(kX, 0, 5, std::numeric_limits<float>::quiet_NaN());
        problem.Set(kResidual, 0, 6, -0.0f);
        for (const std::string& target : TestedTargets()) {
          RunOn(target, problem);
          for (int64_t row = 0; row < problem.rows(); ++row) {
            for (int64_t col = 0; col < problem.cols(); ++col) {
              const double residual = static_cast<double>(problem.Input(kResidual, row, col));
              EXPECT_EQ(BitsOf(problem.Get(kSumOut, row, col)), BitsOf(residual)) << op_case.name << " on " << target;
            }
          }
        }
      }
    }
  }
}

TEST(Dropout, WhatIsDroppedIsNotLookedAt) {
  for (const OpCase& op_case : AllOpCases()) {
    for (const Options& options : DropoutOptionsOf(op_case)) {
      Problem clean(op_case, options, 3, 131), spoiled(op_case, options, 3, 131);
      clean.Fill(DataKind::kNormal, 5);
      spoiled.CopyInputs(clean);
      for (int64_t row = 0; row < 3; ++row) {
        for (int64_t col = 0; col < 131; ++col) {
          if (options.dropout.IsKept(row, col)) continue;
          spoiled.Set(kX, row, col, col % 2 == 0 ? std::nanf("") : std::numeric_limits<float>::infinity());
        }
      }
      for (const std::string& target : TestedTargets()) {
        const std::string wanted = RunOn(target, clean);
        EXPECT_TRUE(SameBits(target, RunOn(target, spoiled), wanted, clean));
      }
    }
  }
}

TEST(Dropout, AMaskThatWasWrittenGivesTheSameBits) {
  constexpr int64_t kRows = 5, kCols = 131, kBytes = (kCols + 7) / 8;
  std::vector<float> x(kRows * kCols), residual(x.size()), first(x.size()), second(x.size());
  for (size_t i = 0; i < x.size(); ++i) x[i] = 1.0f + static_cast<float>(i % 7);
  std::vector<uint8_t> bits(kRows * kBytes), copied(bits.size());
  using namespace addnorm;
  const Matrix in(x.data(), kRows, kCols), stream(residual.data(), kRows, kCols);
  Dropout dropout(0.3, 99);
  dropout.first_row(7).mask_out(bits.data(), kBytes);
  AddOptions add;
  add.dropout = dropout.get();
  ASSERT_TRUE(Add(in, stream, Matrix(first.data(), kRows, kCols), add));
  Dropout given(0.3, 1);  // another seed
  given.mask(bits.data(), kBytes).mask_out(copied.data(), kBytes);
  add.dropout = given.get();
  ASSERT_TRUE(Add(in, stream, Matrix(second.data(), kRows, kCols), add));
  EXPECT_EQ(first, second);
  EXPECT_EQ(bits, copied);
  DropoutOptions options;
  options.probability = 0.3;
  options.seed = 99;
  options.first_row = 7;
  for (int64_t i = 0; i < kRows * kCols; ++i) {
    const float kept = options.IsKept(i / kCols, i % kCols) ? x[static_cast<size_t>(i)] * options.Scale() : 0.0f;
    EXPECT_EQ(first[static_cast<size_t>(i)], kept);
  }
}

// Add passes its options on above.
TEST(Dropout, CppOptionsAreTheCFields) {
  constexpr int64_t kRows = 3, kCols = 40;
  for (const addnorm_op op : {ADDNORM_OP_ADD_LAYER_NORM, ADDNORM_OP_ADD_RMS_NORM}) {
    Options options;
    options.dropout.probability = 0.3;
    options.dropout.first_row = 5;
    Problem problem(FindOpCase(op, {ADDNORM_F32, ADDNORM_F32, ADDNORM_F32, ADDNORM_F32, 0}), options, kRows, kCols);
    problem.Fill(DataKind::kNormal, 1);
    ASSERT_EQ(problem.Run(), ADDNORM_OK);
    const std::string wanted = problem.Outputs();
    problem.Reset();
    const Args args = problem.MakeArgs();
    using namespace addnorm;
    const auto matrix = [&](const char* name) {
      return Matrix(static_cast<float*>(args.Get(*args.op().Find(name)).data), kRows, kCols);
    };
    Dropout dropout(options.dropout.probability, options.dropout.seed);
    AddNormOptions add_norm;
    add_norm.sum_out = matrix("sum_out");
    add_norm.dropout = dropout.first_row(5).get();
    const auto function = op == ADDNORM_OP_ADD_LAYER_NORM ? AddLayerNorm : AddRmsNorm;
    EXPECT_TRUE(function(matrix("x"), matrix("residual"), matrix("y"), options.epsilon, add_norm));
    EXPECT_TRUE(problem.Outputs() == wanted);
  }
}

// Of 2^18 elements, the part that is kept, in all and of each column, and how alike two seeds and two rows are, is what
// chance makes it: within 5 standard deviations.
TEST(Dropout, TheKeptPartIsWhatChanceMakesIt) {
  constexpr int64_t kRows = 512, kCols = 512;
  const std::string& target = SupportedTargets().front();
  for (const double p : {0.1, 0.5, 0.9}) {
    DropoutOptions options;
    options.probability = p;
    options.seed = 3;
    const std::vector<std::string> one = MaskOut(target, options, kRows, kCols);
    options.seed = 4;
    const std::vector<std::string> other = MaskOut(target, options, kRows, kCols);
    const auto bit = [](const std::vector<std::string>& mask, int64_t row, int64_t col) {
      return (mask[static_cast<size_t>(row % kRows)][static_cast<size_t>(col % kCols / 8)] >> (col % 8) & 1) != 0;
    };
    double kept = 0, seeds = 0, rows = 0, cols = 0;
    std::vector<double> of_column(kCols);
    for (int64_t row = 0; row < kRows; ++row) {
      for (int64_t col = 0; col < kCols; ++col) {
        const bool is_kept = bit(one, row, col);
        kept += is_kept;
        of_column[static_cast<size_t>(col)] += is_kept;
        seeds += is_kept == bit(other, row, col);
        rows += is_kept == bit(one, row + 1, col);
        cols += is_kept == bit(one, row, col + 1);
      }
    }
    const auto expect = [&](double count, double n, double probability) {
      const double deviation = std::sqrt(n * probability * (1 - probability));
      EXPECT_NEAR(count, n * probability, 5 * deviation) << "probability " << p;
    };
    const double same = p * p + (1 - p) * (1 - p), all = kRows * kCols;
    expect(kept, all, 1 - p);
    for (const double count : of_column) expect(count, kRows, 1 - p);
    for (const double count : {seeds, rows, cols}) {
      // Neighbours are not independent of each other: at most twice the deviation.
      EXPECT_NEAR(count, all * same, 10 * std::sqrt(all * same * (1 - same))) << "probability " << p;
    }
  }
}

}  // namespace
}  // namespace addnorm_test
