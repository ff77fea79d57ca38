// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
// Seeing and capping the choice of target, versions, and calls from many threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "addnorm/addnorm.h"
#include "support/contract.h"
#include "support/op_case.h"
#include "support/targets.h"

namespace addnorm_test {
namespace {

bool IsSupported(const std::string& name) {
  for (const std::string& target : SupportedTargets()) {
    if (target == name) return true;
  }
  return false;
}

// The names that addnorm.h lists for this architecture, best first, and those for others.
#if defined(__x86_64__) || defined(_M_X64)
const std::vector<std::string> kOwnNames = {"avx512", "avx2", "scalar"}, kForeignNames = {"sve", "neon"};
#elif defined(__aarch64__) || defined(_M_ARM64)
const std::vector<std::string> kOwnNames = {"sve", "neon", "scalar"}, kForeignNames = {"avx512", "avx2"};
#else
const std::vector<std::string> kOwnNames = {"scalar"}, kForeignNames = {"avx512", "avx2", "sve", "neon"};
#endif

// ADDNORM_DISABLED_TARGETS and some compilers leave targets out; one that this CPU runs never is.
bool IsCompiled(const std::string& name) {
  if (IsSupported(name)) return true;
  const bool known = addnorm_set_max_target(name.c_str()) == ADDNORM_OK;
  addnorm_set_max_target(nullptr);
  return known && std::find(kOwnNames.begin(), kOwnNames.end(), name) != kOwnNames.end();
}

// What a cap leaves: the best supported target that is no better than it.
std::string BestUnder(const std::string& cap) {
  auto name = std::find(kOwnNames.begin(), kOwnNames.end(), cap);
  while (!IsSupported(*name)) ++name;  // scalar is
  return *name;
}

// As setenv; null removes it.
void SetVariable(const char* name, const char* value) {
#if defined(_WIN32)
  ASSERT_EQ(_putenv_s(name, value == nullptr ? "" : value), 0);
#else
  ASSERT_EQ(value == nullptr ? unsetenv(name) : setenv(name, value, 1), 0);
#endif
}

// Before main(), and so before any test sets a cap.
const std::string first_choice = addnorm_target_name();
const addnorm_status environment_status = addnorm_environment_status();

// CTest runs this with the variable set to each target, to the name of none, and to nothing.
TEST(Environment, CapsTheChoiceAtTheFirstCall) {
  const char* variable = std::getenv("ADDNORM_MAX_TARGET");
  const std::string name = variable == nullptr ? "" : variable;
  ASSERT_EQ(addnorm_set_max_target(nullptr), ADDNORM_OK);
  const std::string uncapped = addnorm_target_name();
  EXPECT_TRUE(uncapped != "scalar" || SupportedTargets().size() == 1) << "null lifts the environment's cap too";
  if (name.empty()) {
    EXPECT_EQ(environment_status, ADDNORM_OK);
    EXPECT_EQ(first_choice, uncapped);
  } else if (IsCompiled(name)) {
    EXPECT_EQ(environment_status, ADDNORM_OK);
    EXPECT_EQ(first_choice, BestUnder(name));
  } else {
    EXPECT_EQ(addnorm_status_kind(environment_status), ADDNORM_UNKNOWN_TARGET);
    EXPECT_EQ(first_choice, uncapped);
  }
}

TEST(Environment, IsReadOnlyOnce) {
  const char* variable = std::getenv("ADDNORM_MAX_TARGET");
  const std::string saved = variable == nullptr ? "" : variable;
  SetVariable("ADDNORM_MAX_TARGET", saved == "no_such_target" ? "scalar" : "no_such_target");
  EXPECT_EQ(addnorm_environment_status(), environment_status);
  SetVariable("ADDNORM_MAX_TARGET", variable == nullptr ? nullptr : saved.c_str());
}

TEST(Dispatch, ListIsBestFirstWithoutRepetitionAndEndsWithScalar) {
  const std::vector<std::string>& targets = SupportedTargets();
  ASSERT_FALSE(targets.empty());
  EXPECT_EQ(targets.back(), "scalar");
  EXPECT_EQ(std::set<std::string>(targets.begin(), targets.end()).size(), targets.size());
  const std::set<std::string> known = {"scalar", "avx2", "avx512", "neon", "sve"};
  for (const std::string& target : targets) EXPECT_EQ(known.count(target), 1u) << target;
}

// A target that the environment asks for in ADDNORM_EXPECT_TARGETS (comma-separated, all of them, best first) runs: for
// builds and emulators that are meant to have it.
TEST(Dispatch, TargetsAreThoseThatTheRunIsMeantToHave) {
  const char* wanted = std::getenv("ADDNORM_EXPECT_TARGETS");
  if (wanted == nullptr) GTEST_SKIP() << "ADDNORM_EXPECT_TARGETS is not set";
  std::string all;
  for (const std::string& target : SupportedTargets()) all += (all.empty() ? "" : ",") + target;
  EXPECT_EQ(all, wanted);
}

TEST(Dispatch, ListWritesNoMoreThanItsCapacity) {
  const int32_t count = addnorm_supported_targets(nullptr, 0);
  ASSERT_GT(count, 0);
  for (int32_t capacity = 0; capacity <= count + 1; ++capacity) {
    std::vector<const char*> names(static_cast<size_t>(count) + 2, "untouched");
    EXPECT_EQ(addnorm_supported_targets(names.data(), capacity), count);
    for (int32_t i = 0; i < count + 2; ++i) {
      const bool written = i < capacity && i < count;
      EXPECT_EQ(std::string(names[static_cast<size_t>(i)]),
                written ? SupportedTargets()[static_cast<size_t>(i)] : "untouched");
    }
  }
  EXPECT_EQ(addnorm_supported_targets(nullptr, -1), count);
}

TEST(Dispatch, EachCanBeForcedAndTheCapLifted) {
  ASSERT_EQ(addnorm_set_max_target(nullptr), ADDNORM_OK);
  const std::string best = addnorm_target_name();
  EXPECT_TRUE(IsSupported(best));
  for (const std::string& target : SupportedTargets()) {
    EXPECT_EQ(addnorm_set_max_target(target.c_str()), ADDNORM_OK);
    EXPECT_EQ(addnorm_target_name(), target);
  }
  EXPECT_EQ(addnorm_set_max_target(nullptr), ADDNORM_OK);
  EXPECT_EQ(addnorm_target_name(), best);
}

// A program may ask for a cap that only other CPUs reach.
TEST(Dispatch, ACapBeyondThisCpuLeavesTheNextBest) {
  for (const std::string& name : kOwnNames) {
    if (!IsCompiled(name)) {
      std::printf("%s is not compiled in\n", name.c_str());
      continue;
    }
    EXPECT_EQ(addnorm_set_max_target(name.c_str()), ADDNORM_OK) << name;
    EXPECT_EQ(addnorm_target_name(), BestUnder(name)) << name;
    EXPECT_EQ(addnorm_environment_status(), environment_status) << name;
  }
  EXPECT_EQ(addnorm_set_max_target(nullptr), ADDNORM_OK);
}

TEST(Dispatch, UnknownNameIsRefusedAndChangesNothing) {
  std::vector<std::string> unknown = {"", "AVX2", "avx", "avx5122", "scalar ", "no_such_target", "sse4"};
  unknown.insert(unknown.end(), kForeignNames.begin(), kForeignNames.end());
  for (const std::string& target : SupportedTargets()) {
    ScopedTarget scoped(target);
    for (const std::string& name : unknown) {
      const addnorm_status status = addnorm_set_max_target(name.c_str());
      EXPECT_EQ(addnorm_status_kind(status), ADDNORM_UNKNOWN_TARGET) << name;
      EXPECT_EQ(addnorm_target_name(), target) << name;
    }
  }
}

TEST(Versions, AreThoseOfTheProject) {
  EXPECT_GT(addnorm_version(), 0u);
  EXPECT_EQ(addnorm_numerics_version(), 1u);
}

TEST(PromisedDtypes, IndexBeyondTheListIsRefusedAndNothingWritten) {
  for (const OpFields& op : AllOpFields()) {
    const int32_t count = static_cast<int32_t>(PromisedDtypes(op.op).size());
    for (int32_t index : {-1, count, count + 1, INT32_MIN, INT32_MAX}) {
      addnorm_dtypes dtypes = {-7, -7, -7, -7, -7};
      EXPECT_EQ(addnorm_status_kind(addnorm_promised_dtypes(op.op, index, &dtypes)), ADDNORM_OUT_OF_RANGE) << index;
      for (addnorm_dtype d : {dtypes.x, dtypes.residual, dtypes.sum, dtypes.y, dtypes.vectors}) EXPECT_EQ(d, -7);
    }
    EXPECT_EQ(addnorm_status_kind(addnorm_promised_dtypes(op.op, 0, nullptr)), ADDNORM_NULL_POINTER);
  }
  for (addnorm_op op : {-1, static_cast<int>(ADDNORM_OP_COUNT), INT32_MIN, INT32_MAX}) {
    addnorm_dtypes dtypes = {-7, -7, -7, -7, -7};
    EXPECT_EQ(addnorm_status_kind(addnorm_promised_dtypes(op, 0, &dtypes)), ADDNORM_OUT_OF_RANGE) << op;
    EXPECT_EQ(dtypes.x, -7);
  }
}

// At least these, so that a row that is lost from the library's list is noticed.
TEST(PromisedDtypes, HaveTheMixesThatModelsNeed) {
  constexpr addnorm_dtype f = ADDNORM_F32, h = ADDNORM_F16, b = ADDNORM_BF16;
  const auto promised = [](addnorm_op op) {
    std::set<std::string> names;
    for (const addnorm_dtypes& d : PromisedDtypes(op)) {
      names.insert(std::string(DtypeName(d.x)) + " " + DtypeName(d.residual) + " " + DtypeName(d.sum) + " " +
                   DtypeName(d.y) + " " + DtypeName(d.vectors));
    }
    return names;
  };
  for (addnorm_op op = 0; op < ADDNORM_OP_ADD_BACKWARD; ++op) {
    const OpFields& fields = AllOpFields()[static_cast<size_t>(op)];
    const auto is_there = [&](const char* name, addnorm_dtype dtype) {
      return fields.Find(name) != nullptr ? dtype : 0;
    };
    const auto expect = [&](addnorm_dtype x, addnorm_dtype residual, addnorm_dtype sum, addnorm_dtype y) {
      const bool narrow = x != f || y != f;
      std::string name = std::string(DtypeName(x)) + " " + DtypeName(is_there("residual", residual)) + " " +
                         DtypeName(is_there("sum_out", sum)) + " " + DtypeName(is_there("y", y)) + " ";
      name += DtypeName(narrow ? (x != f ? x : y) : f);
      EXPECT_EQ(promised(op).count(name), 1u) << fields.name << ": " << name;
    };
    expect(f, f, f, f);
    for (addnorm_dtype narrow : {h, b}) {
      expect(narrow, narrow, narrow, narrow);
      const bool writes_stream = op == ADDNORM_OP_LAYER_NORM_ADD || op == ADDNORM_OP_RMS_NORM_ADD;
      if (fields.Find("residual") != nullptr) expect(narrow, f, f, writes_stream ? f : narrow);
      if (op == ADDNORM_OP_LAYER_NORM || op == ADDNORM_OP_RMS_NORM) expect(f, f, f, narrow);
    }
  }
}

TEST(Threads, CallsFromManyThreadsGiveTheSameBitsWhileTheTargetChanges) {
  Options options;
  options.gamma = VectorType::kStorage;
  std::vector<std::string> expected;
  std::vector<std::vector<std::unique_ptr<Problem>>> problems(4);  // of each thread
  for (const OpFields& op : AllOpFields()) {
    const OpCase& op_case = FindOpCase(op.op, PromisedDtypes(op.op).back());
    for (auto& each : problems) {
      each.push_back(std::make_unique<Problem>(op_case, options, 3, 100));
      each.back()->FillByKind(1);
    }
    ASSERT_EQ(problems[0].back()->Run(), ADDNORM_OK);
    expected.push_back(problems[0].back()->Outputs());
  }
  std::atomic<bool> stop{false};
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (auto& each : problems) {
    threads.emplace_back([&] {
      for (int repeat = 0; repeat < 20; ++repeat) {
        for (size_t i = 0; i < each.size(); ++i) {
          if (each[i]->Run() != ADDNORM_OK || each[i]->Outputs() != expected[i]) ++wrong;
        }
      }
    });
  }
  std::thread changer([&] {
    for (size_t i = 0; !stop; ++i) {
      addnorm_set_max_target(SupportedTargets()[i % SupportedTargets().size()].c_str());
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  });
  for (std::thread& thread : threads) thread.join();
  stop = true;
  changer.join();
  addnorm_set_max_target(nullptr);
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace addnorm_test
