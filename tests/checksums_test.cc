// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// The bits of a fixed set of inputs, over all op cases, options and kinds of data, as committed in
// numerics/checksums.txt with the numerics version: one file for all CPUs. A change of any bit has to raise
// addnorm_numerics_version(), and then ADDNORM_WRITE_CHECKSUMS=1 in the environment writes the file anew.
#include <gtest/gtest.h>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "support/backward_equal_bits.h"
#include "support/boundaries.h"
#include "support/equal_bits.h"
#include "support/op_case.h"
#include "support/targets.h"

namespace addnorm_test {
namespace {

const char* Path() { return ADDNORM_TEST_DATA "/numerics/checksums.txt"; }

// The inputs of a line of the file.
std::vector<Problem> Problems(const OpCase& op_case, const Options& options) {
  std::vector<Problem> problems;
  for (const int64_t cols : {1, 2, 3, 5, 15, 16, 17, 33, 64, 65, 67, 131, 320}) {
    if (options.dropout.present() && cols < 131 && cols != 17) continue;  // the sums are those of the others
    problems.emplace_back(op_case, options, kDataKinds, cols);
    problems.back().FillByKind(static_cast<uint64_t>(cols) + 1000);
  }
  // The rules for long rows.
  const bool variance = op_case.op() == ADDNORM_OP_VARIANCE || op_case.op() == ADDNORM_OP_MEAN_VARIANCE;
  if (options.name == "affine" || (variance && options.name == "f64")) {
    problems.emplace_back(op_case, options, 1, 65537);
    problems.back().Fill(DataKind::kNormal, 1);
  }
  // The boundaries between paths, where a shifted condition changes bits.
  if (op_case.dtypes.vectors != ADDNORM_F16 && (options.name == "extreme" || options.name == "f64")) {
    Options wide = options;
    wide.rstd = ADDNORM_F64;
    for (const Boundary& boundary : kBoundaries) {
      problems.push_back(BoundaryProblem(op_case, wide, boundary, boundary.cols));
    }
  }
  return problems;
}

std::vector<BackwardProblem> Problems(const OpCase& op_case, const BackwardOptions& options) {
  std::vector<BackwardProblem> problems;
  for (const int64_t cols : {1, 2, 3, 5, 15, 16, 17, 33, 67, 131, 320}) {
    if (options.dropout.present() && cols < 131 && cols != 17) continue;
    problems.emplace_back(op_case, options, kDataKinds, cols);
    problems.back().FillByKind(static_cast<uint64_t>(cols) + 1000);
  }
  // Around the borders of blocks of rows.
  for (const int64_t rows : {31, 32, 33, 65, 4097}) {
    if (rows > 1000 && (op_case.dtypes.vectors != ADDNORM_F32 || options.dropout.present())) continue;
    problems.emplace_back(op_case, options, rows, 3);
    problems.back().FillByKind(static_cast<uint64_t>(rows) + 2000);
  }
  return problems;
}

template <class AnyOptions>
std::string Line(const OpCase& op_case, const AnyOptions& options) {
  return op_case.name + " " + options.name;
}

// Calls f(op_case, options) for each line of the file.
template <class Function>
void ForEachLine(const Function& f) {
  for (const OpCase& op_case : AllOpCases()) {
    for (const Options& options : OptionsOf(op_case)) f(op_case, options);
    for (const Options& options : DropoutOptionsOf(op_case)) f(op_case, options);
  }
  for (const OpCase& op_case : AllBackwardCases()) {
    for (const BackwardOptions& options : BackwardOptionsOf(op_case)) f(op_case, options);
    for (const BackwardOptions& options : BackwardDropoutOptionsOf(op_case)) f(op_case, options);
  }
}

std::map<std::string, std::string> ReadCommitted(std::string* version) {
  std::map<std::string, std::string> lines;
  std::ifstream file(Path());
  std::string text;
  while (std::getline(file, text)) {
    if (text.empty() || text[0] == '#') continue;
    std::istringstream words(text);
    std::string first, second, third;
    words >> first >> second >> third;
    if (first == "numerics_version") {
      *version = second;
    } else {
      lines[first + " " + second] = third;
    }
  }
  return lines;
}

std::string Hex(uint64_t hash) {
  char text[17];
  std::snprintf(text, sizeof(text), "%016" PRIx64, hash);
  return text;
}

void WriteFile() {
  const ScopedTarget scoped("scalar");
  std::ofstream file(Path());
  file << "# Checksums of the results of a fixed set of inputs: FNV-1a, 64 bits, over the little-endian bits, every "
          "NaN being\n"
          "# one pattern. Written by ADDNORM_WRITE_CHECKSUMS=1 addnorm_tests --gtest_filter='Checksums.*'; see "
          "checksums_test.cc.\n"
       << "numerics_version " << addnorm_numerics_version() << "\n";
  ForEachLine([&](const OpCase& op_case, const auto& options) {
    uint64_t hash = Fnv1a("");
    for (auto& problem : Problems(op_case, options)) hash = Fnv1a(RunOn("scalar", problem), hash);
    file << Line(op_case, options) << " " << Hex(hash) << "\n";
  });
  ASSERT_TRUE(file.good()) << Path();
  std::printf("written: %s\n", Path());
}

TEST(Checksums, AreTheCommittedOnes) {
  const char* write = std::getenv("ADDNORM_WRITE_CHECKSUMS");
  if (write != nullptr && std::string(write) == "1") WriteFile();
  std::string version;
  std::map<std::string, std::string> committed = ReadCommitted(&version);
  ASSERT_EQ(version, std::to_string(addnorm_numerics_version())) << Path() << " is of another numerics version";
  ForEachLine([&](const OpCase& op_case, const auto& options) {
    const std::string line = Line(op_case, options);
    ASSERT_EQ(committed.count(line), 1u) << line << " has no checksum in " << Path();
    auto problems = Problems(op_case, options);
    for (const std::string& target : TestedTargets()) {
      const ScopedTarget scoped(target);
      uint64_t hash = Fnv1a("");
      for (auto& problem : problems) {
        const std::string outputs = RunOn(target, problem);
        hash = Fnv1a(outputs, hash);
        CountChecks(target, static_cast<int64_t>(outputs.size()));
      }
      EXPECT_EQ(Hex(hash), committed[line]) << line << " on " << target << ": bits changed";
    }
    committed.erase(line);
  });
  for (const auto& line : committed) ADD_FAILURE() << line.first << " is in " << Path() << " but is no op case";
}

}  // namespace
}  // namespace addnorm_test
