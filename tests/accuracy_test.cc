// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// Every op case on every target against the exact result, within the proven bounds, on data of all kinds.
#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <string>
#include <vector>

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

// Runs the problem on every target. The oracle's work is done once for targets whose bits are the same.
void CheckOnAllTargets(Problem& problem, Oracle& oracle, int first_kind) {
  std::vector<std::pair<std::string, Evaluation>> evaluated;
  for (const std::string& target : SupportedTargets()) {
    const ScopedTarget scoped(target);
    ASSERT_EQ(addnorm_status_text(problem.Run()), std::string(addnorm_status_text(ADDNORM_OK)))
        << problem.op_case().name;
    ASSERT_EQ(problem.Untouched(), "") << problem.op_case().name << " on " << target;
    const std::string outputs = problem.Outputs();
    const Evaluation* evaluation = nullptr;
    for (const auto& [bits, known] : evaluated) {
      if (bits == outputs) evaluation = &known;
    }
    if (evaluation == nullptr) {
      evaluated.emplace_back(outputs, Evaluate(problem, oracle));
      evaluation = &evaluated.back().second;
    }
    EXPECT_EQ(evaluation->failures, 0) << "on " << target << ", kind "
                                       << DataKindName(static_cast<DataKind>(first_kind))
                                       << "+row: " << evaluation->first_failure;
    CountChecks(target, evaluation->checks);
    Seen& seen = AllSeen()[problem.op_case().name][target];
    if (evaluation->worst > seen.largest.worst) {
      seen.where = problem.options().name + ", " + std::to_string(problem.cols()) + " cols, " +
                   DataKindName(static_cast<DataKind>((first_kind + evaluation->worst_row) % kDataKinds));
    }
    seen.largest.Merge(*evaluation);
  }
}

bool HasF16(const OpCase& c) { return c.dtypes.vectors == ADDNORM_F16; }

// Rows of every kind with these columns; the placement in memory changes with the columns.
void CheckCols(const OpCase& op_case, const Options& options, int64_t cols, Oracle& oracle, int64_t rows = kDataKinds,
               int first_kind = 0) {
  Problem problem(op_case, options, rows, cols, Layout::Shifted(cols % 5, cols % 7));
  problem.FillByKind(static_cast<uint64_t>(cols) * 31 + static_cast<uint64_t>(op_case.op()), first_kind);
  CheckOnAllTargets(problem, oracle, first_kind);
}

// Every cols from 1 to 4 V + 3, all kinds of data, one set of options after another.
void CheckShortRows(bool f16) {
  Oracle oracle;
  for (const OpCase& op_case : AllOpCases()) {
    if (HasF16(op_case) != f16) continue;
    const std::vector<Options> options = OptionsOf(op_case);
    for (int64_t cols = 1; cols <= 67; ++cols) {
      CheckCols(op_case, options[static_cast<size_t>(cols) % options.size()], cols, oracle);
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(AccuracyShort, F32AndBf16) { CheckShortRows(false); }
TEST(AccuracyShort, F16) { CheckShortRows(true); }

// Every cols from 1 to two blocks of RMSNorm and 3, every set of options.
TEST(Accuracy, EveryColsTo131) {
  Oracle oracle;
  for (const OpCase& op_case : AllOpCases()) {
    const std::vector<Options> options = OptionsOf(op_case);
    for (int64_t cols = 1; cols <= 131; ++cols) {
      for (size_t i = 0; i < options.size(); ++i) {
        if (cols > 35 && (i + static_cast<size_t>(cols)) % 3 != 0) continue;
        CheckCols(op_case, options[i], cols, oracle);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(Accuracy, HiddenSizes) {
  Oracle oracle;
  for (const OpCase& op_case : AllOpCases()) {
    const std::vector<Options> options = OptionsOf(op_case);
    size_t next = 0;
    for (const int64_t cols : {384, 576, 768, 1000, 1024, 4096, 5120}) {
      const int64_t rows = cols > 1024 ? 3 : kDataKinds;
      for (int first_kind = 0; first_kind < kDataKinds; first_kind += static_cast<int>(rows)) {
        CheckCols(op_case, options[next++ % options.size()], cols, oracle, rows, first_kind);
        if (HasFatalFailure()) return;
      }
    }
  }
}

// The first length at which LayerNorm always takes its second pass, and more.
TEST(Accuracy, LongRows) {
  Oracle oracle;
  size_t next = 0;
  for (const OpCase& op_case : AllOpCases()) {
    const std::vector<Options> options = OptionsOf(op_case);
    for (int i = 0; i < 6; ++i) {
      const int kind = (static_cast<int>(next) * 7) % kDataKinds;
      CheckCols(op_case, options[next++ % options.size()], 65537, oracle, 1, kind);
      if (HasFatalFailure()) return;
    }
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
    for (const DataKind kind : {DataKind::kNormal, DataKind::kMeanFar}) {
      CheckCols(op_case, options[options.size() / 2], int64_t{1} << 20, oracle, 1, static_cast<int>(kind));
      if (HasFatalFailure()) return;
    }
  }
}

}  // namespace
}  // namespace addnorm_test
