// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#include "support/targets.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "addnorm/addnorm.h"

namespace addnorm_test {
namespace {

std::map<std::string, int64_t>& Checks() {
  static std::map<std::string, int64_t> checks;
  return checks;
}

std::string& CurrentTarget() {
  static std::string current;  // empty: none is forced
  return current;
}

}  // namespace

const std::vector<std::string>& SupportedTargets() {
  static const std::vector<std::string> targets = [] {
    std::vector<const char*> names(static_cast<size_t>(addnorm_supported_targets(nullptr, 0)));
    addnorm_supported_targets(names.data(), static_cast<int32_t>(names.size()));
    return std::vector<std::string>(names.begin(), names.end());
  }();
  return targets;
}

const std::vector<std::string>& TestedTargets() {
  static const std::vector<std::string> targets = [] {
    const char* names = std::getenv("ADDNORM_TESTED_TARGETS");
    if (names == nullptr) return SupportedTargets();
    std::vector<std::string> tested;
    std::istringstream list(names);
    for (std::string name; std::getline(list, name, ',');) {
      const std::vector<std::string>& all = SupportedTargets();
      if (std::find(all.begin(), all.end(), name) == all.end()) {
        std::fprintf(stderr, "ADDNORM_TESTED_TARGETS: this CPU has no target %s\n", name.c_str());
        std::abort();
      }
      tested.push_back(name);
    }
    if (tested.empty()) std::abort();
    return tested;
  }();
  return targets;
}

ScopedTarget::ScopedTarget(const std::string& name) : outermost_(CurrentTarget().empty()) {
  if (!outermost_ && name != CurrentTarget()) {
    std::fprintf(stderr, "target %s was asked for inside of %s\n", name.c_str(), CurrentTarget().c_str());
    std::abort();
  }
  const addnorm_status status = outermost_ ? addnorm_set_max_target(name.c_str()) : ADDNORM_OK;
  if (status != ADDNORM_OK || name != addnorm_target_name()) {
    std::fprintf(stderr, "target %s was asked for, %s is used: %s\n", name.c_str(), addnorm_target_name(),
                 addnorm_status_text(status));
    std::abort();
  }
  CurrentTarget() = name;
}

ScopedTarget::~ScopedTarget() {
  if (!outermost_) return;
  CurrentTarget().clear();
  addnorm_set_max_target(nullptr);
}

void CountChecks(const std::string& target, int64_t checks) { Checks()[target] += checks; }

const std::map<std::string, int64_t>& ChecksByTarget() { return Checks(); }

}  // namespace addnorm_test
