// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#ifndef ADDNORM_TOOLS_REPLAY_REPORT_H_
#define ADDNORM_TOOLS_REPLAY_REPORT_H_

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "check.h"
#include "step.h"
#include "timing.h"

namespace addnorm_test::replay {

// One capture on one target.
struct TargetResult {
  std::string path;
  std::string model;
  std::string target;
  Calls calls = Calls::kFused;
  size_t positions = 0;
  int64_t rows = 0;
  int64_t cols = 0;
  Accuracy accuracy;
  bool bits_equal = true;  // to the scalar reference's fused result, and the sum to the capture's
  Timing timing;
};

struct Report {
  std::vector<TargetResult> results;
  std::vector<std::string> failures;
};

void PrintTable(const Report& report, std::ostream& out);
void WriteJson(const Report& report, std::ostream& out);

}  // namespace addnorm_test::replay

#endif  // ADDNORM_TOOLS_REPLAY_REPORT_H_
