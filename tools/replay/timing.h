// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// How long the steps of a capture take, and a copy of as many bytes beside them.
#ifndef ADDNORM_TOOLS_REPLAY_TIMING_H_
#define ADDNORM_TOOLS_REPLAY_TIMING_H_

#include <cstddef>
#include <vector>

#include "step.h"

namespace addnorm_test::replay {

struct Timing {
  double ns_per_step = 0;       // best round, divided by the number of steps
  double copy_ns_per_step = 0;  // the same for memcpy of half the bytes, which reads and writes as many as the steps
  size_t bytes_per_step = 0;    // on average

  double GigabytesPerSecond() const { return static_cast<double>(bytes_per_step) / ns_per_step; }
  double MultipleOfCopy() const { return ns_per_step / copy_ns_per_step; }
};

// Runs all steps in model order, as a transformer does, alternating with the copy.
Timing TimeSteps(std::vector<Step>* steps);

}  // namespace addnorm_test::replay

#endif  // ADDNORM_TOOLS_REPLAY_TIMING_H_
