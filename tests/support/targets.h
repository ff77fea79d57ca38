// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// The targets that this CPU can run, one after another, and how much was checked on each.
#ifndef ADDNORM_TESTS_SUPPORT_TARGETS_H_
#define ADDNORM_TESTS_SUPPORT_TARGETS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace addnorm_test {

// As the library tells, best first; the scalar reference is always among them.
const std::vector<std::string>& SupportedTargets();

// Those of them that loops over targets run. All, or what the environment names in ADDNORM_TESTED_TARGETS
// (comma-separated): an emulator of many CPUs need not run on each what is the same on all. Ends the program if one is
// not supported.
const std::vector<std::string>& TestedTargets();

// Runs calls on one target while it lives, then lifts the cap. Ends the program if the library picks another target: no
// test may pass on a target that it did not run on. One inside another for the same target does nothing: switching asks
// the CPU what it has, which is slow in virtual machines, so loops over many calls are inside one.
class ScopedTarget {
 public:
  explicit ScopedTarget(const std::string& name);
  ~ScopedTarget();
  ScopedTarget(const ScopedTarget&) = delete;
  ScopedTarget& operator=(const ScopedTarget&) = delete;

 private:
  bool outermost_;
};

// Counts values or properties that were checked on a target.
void CountChecks(const std::string& target, int64_t checks);
const std::map<std::string, int64_t>& ChecksByTarget();

}  // namespace addnorm_test

#endif  // ADDNORM_TESTS_SUPPORT_TARGETS_H_
