// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// Every op case on every target against the exact result, within the proven bounds, on data of all kinds.
#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "support/equal_bits.h"
#include "support/evaluate.h"
#include "support/op_case.h"
#include "support/targets.h"

namespace addnorm_test {
namespace {

// What the run prints at its end: the largest error seen for each op case on each target.
struct Seen {
  Evaluation largest;
  std::string where;
};
std::map<std::string, std::map<std::string, Seen>>& AllSeen() {
  static std::map<std::string, std::map<std::string, Seen>> seen;
  return seen;
}

class PrintErrors : public ::testing::Environment {
 public:
  void TearDown() override {
    if (AllSeen().empty()) return;
    std::printf(
        "Largest errors, in ULP of the bounds (for f16 and bf16: beyond the correct rounding); on rows normalized in "
        "f64:\n");
    for (const auto& [op_case, targets] : AllSeen()) {
      for (const auto& [target, seen] : targets) {
        std::printf("  %-36s %-7s %6.4f  wide %6.4f  statistics %4.2f of their bound  (%s)\n", op_case.c_str(),
                    target.c_str(), seen.largest.worst, seen.largest.worst_wide, seen.largest.worst_statistic,
                    seen.where.c_str());
      }
    }
  }
};
const ::testing::Environment* const kPrintErrors = ::testing::AddGlobalTestEnvironment(new PrintErrors);

struct Batch {
  Problem problem;  // row r holds the kind first_kind + r
  int first_kind;
  std::vector<std::pair<std::string, Evaluation>> evaluated;  // bits of the outputs, and how far they are from exact
};

void Note(const std::string& target, const Batch& batch, const Evaluation& evaluation) {
  const Problem& problem = batch.problem;
  EXPECT_EQ(evaluation.failures, 0) << "on " << target << ", kind "
                                    << DataKindName(static_cast<DataKind>(batch.first_kind))
                                    << " + row: " << evaluation.first_failure;
  CountChecks(target, evaluation.checks);
  Seen& seen = AllSeen()[problem.op_case().name][target];
  if (evaluation.worst > seen.largest.worst) {
    seen.where = problem.options().name + ", " + std::to_string(problem.cols()) + " cols, " +
                 DataKindName(static_cast<DataKind>((batch.first_kind + evaluation.worst_row) % kDataKinds));
  }
  seen.largest.Merge(evaluation);
}

// Runs all on every target. The oracle's work is done once for targets whose bits are the same.
void CheckOnAllTargets(std::vector<Batch>& batches, Oracle& oracle) {
  for (const std::string& target : TestedTargets()) {
    const ScopedTarget scoped(target);
    for (Batch& batch : batches) {
      const std::string outputs = RunOn(target, batch.problem);
      const Evaluation* evaluation = nullptr;
      for (const auto& [bits, known] : batch.evaluated) {
        if (bits == outputs) evaluation = &known;
      }
      if (evaluation == nullptr) {
        batch.evaluated.emplace_back(outputs, Evaluate(batch.problem, oracle));
        evaluation = &batch.evaluated.back().second;
      }
      EXPECT_EQ(batch.evaluated.size(), 1u) << batch.problem.op_case().name << " [" << batch.problem.options().name
                                            << "]: the bits on " << target << " differ from another target's";
      Note(target, batch, *evaluation);
    }
  }
}

bool HasF16(const OpCase& c) { return c.dtypes.vectors == ADDNORM_F16; }

// Adds rows of every kind with these columns; the placement in memory changes with the columns.
void AddCols(std::vector<Batch>* batches, const OpCase& op_case, const Options& options, int64_t cols,
             int64_t rows = kDataKinds, int first_kind = 0) {
  batches->push_back({Problem(op_case, options, rows, cols, Layout::Shifted(cols % 5, cols % 7)), first_kind, {}});
  batches->back().problem.FillByKind(static_cast<uint64_t>(cols) * 31 + static_cast<uint64_t>(op_case.op()),
                                     first_kind);
}

// Every cols from 1 to 4 V + 3, all kinds of data, one set of options after another.
void CheckShortRows(bool f16) {
  Oracle oracle;
  for (const OpCase& op_case : AllOpCases()) {
    if (HasF16(op_case) != f16) continue;
    const std::vector<Options> options = OptionsOf(op_case);
    std::vector<Batch> batches;
    for (int64_t cols = 1; cols <= 67; ++cols) {
      AddCols(&batches, op_case, options[static_cast<size_t>(cols) % options.size()], cols);
    }
    CheckOnAllTargets(batches, oracle);
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(AccuracyShort, F32AndBf16) { CheckShortRows(false); }
TEST(AccuracyShort, F16) { CheckShortRows(true); }

// Every cols from 1 to two blocks of RMSNorm and 3, every set of options.
TEST(Accuracy, EveryColsTo131) {
  Oracle oracle;
  for (const OpCase& op_case : AllOpCases()) {
    const std::vector<Options> options = OptionsOf(op_case);
    std::vector<Batch> batches;
    for (int64_t cols = 1; cols <= 131; ++cols) {
      for (size_t i = 0; i < options.size(); ++i) {
        if (cols > 35 && (i + static_cast<size_t>(cols)) % 3 != 0) continue;
        AddCols(&batches, op_case, options[i], cols);
      }
    }
    CheckOnAllTargets(batches, oracle);
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(Accuracy, HiddenSizes) {
  Oracle oracle;
  for (const OpCase& op_case : AllOpCases()) {
    const std::vector<Options> options = OptionsOf(op_case);
    std::vector<Batch> batches;
    size_t next = 0;
    for (const int64_t cols : {384, 576, 768, 1000, 1024, 4096, 5120}) {
      const int64_t rows = cols > 1024 ? 3 : kDataKinds;
      for (int first_kind = 0; first_kind < kDataKinds; first_kind += static_cast<int>(rows)) {
        AddCols(&batches, op_case, options[next++ % options.size()], cols, rows, first_kind);
      }
    }
    CheckOnAllTargets(batches, oracle);
    if (::testing::Test::HasFailure()) return;
  }
}

// The first length at which LayerNorm always takes its second pass, and more.
TEST(Accuracy, LongRows) {
  Oracle oracle;
  size_t next = 0;
  for (const OpCase& op_case : AllOpCases()) {
    const std::vector<Options> options = OptionsOf(op_case);
    std::vector<Batch> batches;
    for (int i = 0; i < 6; ++i) {
      const int kind = (static_cast<int>(next) * 7) % kDataKinds;
      AddCols(&batches, op_case, options[next++ % options.size()], 65537, 1, kind);
    }
    CheckOnAllTargets(batches, oracle);
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(Accuracy, MillionColumnsOfBf16) {
  Oracle oracle;
  for (const OpCase& op_case : AllOpCases()) {
    if (op_case.dtypes.x != ADDNORM_BF16 || op_case.dtypes.residual == ADDNORM_F32 ||
        op_case.dtypes.sum == ADDNORM_F32) {
      continue;
    }
    const std::vector<Options> options = OptionsOf(op_case);
    std::vector<Batch> batches;
    for (const DataKind kind : {DataKind::kNormal, DataKind::kMeanFar}) {
      AddCols(&batches, op_case, options[options.size() / 2], int64_t{1} << 20, 1, static_cast<int>(kind));
    }
    CheckOnAllTargets(batches, oracle);
    if (::testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace addnorm_test
