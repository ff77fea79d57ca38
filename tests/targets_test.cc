// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// The targets are different code, and the run tells how much was checked on each.
#include "support/targets.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "addnorm/addnorm.h"
#include "src/targets.h"  // internal, for this test
#include "support/op_case.h"

namespace addnorm_test {
namespace {

class PrintTargets : public ::testing::Environment {
 public:
  void TearDown() override {
    std::printf("Targets of this CPU, the address of the kernels of each, and the values compared on it:\n");
    for (const std::string& target : SupportedTargets()) {
      const ScopedTarget scoped(target);
      const auto checks = ChecksByTarget().find(target);
      std::printf("  %-7s %p %14lld checks\n", target.c_str(), static_cast<const void*>(addnorm::ActiveTable()),
                  checks == ChecksByTarget().end() ? 0LL : static_cast<long long>(checks->second));
    }
  }
};
const ::testing::Environment* const kPrintTargets = ::testing::AddGlobalTestEnvironment(new PrintTargets);

TEST(Targets, EachHasKernelsOfItsOwn) {
  const std::vector<std::string>& targets = SupportedTargets();
  ASSERT_FALSE(targets.empty());
  std::set<const void*> tables;
  std::set<std::string> names;
  for (const std::string& target : targets) {
    const ScopedTarget scoped(target);
    tables.insert(addnorm::ActiveTable());
    names.insert(target);
  }
  EXPECT_EQ(tables.size(), targets.size());
  EXPECT_EQ(names.size(), targets.size());
  EXPECT_EQ(names.count("scalar"), 1u);
}

// The name of each is known, also where the CPU lacks it: Dispatch.ACapBeyondThisCpuLeavesTheNextBest takes what is
// refused for a target that was left out.
TEST(Targets, EachThatWasCompiledInIsACap) {
  size_t count = 0;
  const addnorm::Target* targets = addnorm::CompiledTargets(&count);
  ASSERT_GT(count, 0u);
  for (size_t i = 0; i < count; ++i) {
    EXPECT_EQ(addnorm_set_max_target(targets[i].name), ADDNORM_OK) << targets[i].name;
  }
  addnorm_set_max_target(nullptr);
}

// A vector target is used unless a cap says otherwise. (This is about the build and the CPU: it fails where a CPU that
// has a vector target runs the scalar reference.) NEON is preferred to SVE of no more than its length.
TEST(Targets, TheDefaultIsAVectorTarget) {
  addnorm_set_max_target(nullptr);
#if defined(__x86_64__)
  EXPECT_EQ(SupportedTargets().front(), addnorm_target_name());
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    EXPECT_NE(SupportedTargets().front(), "scalar");
  }
#elif defined(__aarch64__)
  EXPECT_STRNE(addnorm_target_name(), "scalar");
#endif
}

}  // namespace
}  // namespace addnorm_test
