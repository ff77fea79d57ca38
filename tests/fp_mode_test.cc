// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// Whatever floating-point mode the caller left behind (rounding, flush-to-zero, denormals-are-zero, unmasked
// exceptions), no bit changes, and the caller gets its mode back.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

#include "addnorm/addnorm.h"
#include "support/backward.h"
#include "support/backward_equal_bits.h"
#include "support/equal_bits.h"
#include "support/op_case.h"
#include "support/targets.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace addnorm_test {
namespace {

struct Mode {
  const char* name;
  uint64_t bits;
};

#if defined(__x86_64__)
uint64_t GetMode() { return _mm_getcsr(); }
void SetMode(uint64_t mode) { _mm_setcsr(static_cast<uint32_t>(mode)); }
constexpr uint64_t kControl = 0xffc0;  // not the sticky flags
constexpr uint64_t kDefault = 0x1f80;
const Mode kAllModes[] = {{"round down", 0x3f80},         {"round up", 0x5f80},
                          {"round to zero", 0x7f80},      {"flush to zero", 0x9f80},
                          {"denormals are zero", 0x1fc0}, {"flush and denormals, round up", 0xdfc0},
                          {"all exceptions trap", 0x0000}};
#elif defined(__aarch64__)
uint64_t GetMode() {
  uint64_t mode;
  asm volatile("mrs %0, fpcr" : "=r"(mode));
  return mode;
}
void SetMode(uint64_t mode) { asm volatile("msr fpcr, %0" : : "r"(mode)); }
constexpr uint64_t kControl = ~uint64_t{0};
constexpr uint64_t kDefault = 0;
const Mode kAllModes[] = {{"round up", 1u << 22},
                          {"round down", 2u << 22},
                          {"round to zero", 3u << 22},
                          {"flush to zero", 1u << 24},
                          {"flush to zero in f16", 1u << 19},
                          {"default NaN", 1u << 25},
                          {"flush, round up", 5u << 22},
                          {"invalid operations trap", 1u << 8},
                          {"all exceptions trap", 0x9f00}};
#else
#error "no floating-point mode known for this CPU"
#endif

// Those that the CPU keeps: on ARM most have no traps, and emulators none.
const std::vector<Mode>& Modes() {
  static const std::vector<Mode> modes = [] {
    std::vector<Mode> kept;
    for (const Mode& mode : kAllModes) {
      SetMode(mode.bits);
      const uint64_t got = GetMode() & kControl;
      SetMode(kDefault);
      if (got == mode.bits) {
        kept.push_back(mode);
      } else {
        std::printf("This CPU does not have the mode \"%s\": it is left out\n", mode.name);
      }
    }
    return kept;
  }();
  return modes;
}

// In every mode every target gives the bits that the scalar reference gives in the default mode.
template <class AnyProblem>
void ExpectNoModeToMatter(AnyProblem& problem) {
  const std::string wanted = RunOn("scalar", problem);
  for (const std::string& target : TestedTargets()) {
    const ScopedTarget scoped(target);
    for (const Mode& mode : Modes()) {
      problem.Reset();
      const Args args = problem.MakeArgs();
      SetMode(mode.bits);
      const uint64_t before = GetMode() & kControl;
      const addnorm_status status = args.Call();
      const uint64_t after = GetMode() & kControl;
      SetMode(kDefault);
      EXPECT_EQ(status, ADDNORM_OK);
      EXPECT_EQ(before, after) << mode.name << ": not restored by " << problem.op_case().name << " on " << target;
      EXPECT_TRUE(SameBits(target, problem.Outputs(), wanted, problem)) << mode.name;
    }
  }
}

// What a call says in this mode.
template <class CallArgs>
addnorm_status StatusIn(const Mode& mode, addnorm_status (*function)(const CallArgs*), const CallArgs& args) {
  SetMode(mode.bits);
  const addnorm_status status = function(&args);
  SetMode(kDefault);
  return addnorm_status_kind(status);
}

// What raises exceptions.
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST(FloatingPointMode, OtherThanTheDefaultCanBeSet) {
  EXPECT_EQ(GetMode() & kControl, kDefault);
  EXPECT_GE(Modes().size(), 6u);
}

TEST(FloatingPointMode, ChangesNoBitAndIsRestored) {
  for (const OpCase& op_case : AllOpCases()) {
    for (const Options& options : OptionsOf(op_case)) {
      for (const int64_t cols : {1, 3, 67, 130}) {
        Problem problem(op_case, options, kDataKinds + 2, cols);
        problem.FillByKind(static_cast<uint64_t>(cols) + 99);
        problem.Set(kX, kDataKinds, cols / 2, kNaN);
        problem.Set(kX, kDataKinds + 1, cols / 2, kInfinity);
        ExpectNoModeToMatter(problem);
      }
      if (HasFailure()) return;
    }
  }
}

TEST(FloatingPointMode, ChangesNoBitOfTheBackwardAndIsRestored) {
  for (const OpCase& op_case : AllBackwardCases()) {
    for (const BackwardOptions& options : BackwardOptionsOf(op_case)) {
      for (const int64_t cols : {3, 67}) {
        BackwardProblem problem(op_case, options, kDataKinds, cols);
        problem.FillByKind(static_cast<uint64_t>(cols) + 98);
        ExpectNoModeToMatter(problem);
        // Apart, as they make the sums over rows NaN.
        for (const std::string input : {"x", "dy", "d_sum"}) {
          if (!problem.Has(input)) continue;
          problem.Set(input, 0, cols / 2, static_cast<double>(kNaN));
          problem.Set(input, 1, cols / 2, static_cast<double>(kInfinity));
        }
        problem.SaveStatistics();
        ExpectNoModeToMatter(problem);
      }
      if (HasFailure()) return;
    }
  }
}

// Numbers are checked in the default mode too: with denormals as zero a negative epsilon would pass and a small scale
// would not, and with unmasked exceptions a NaN would end the program.
TEST(FloatingPointMode, ChangesNoCheck) {
  const float x[4] = {1.0f, 2.0f, 3.0f, 4.0f};
  for (const Mode& mode : Modes()) {
    float y[4];
    const auto expect_epsilons_checked = [&mode](auto function, auto args) {
      args.rows = 1;
      args.cols = 4;
      for (const double bad : {-1e-310, std::numeric_limits<double>::quiet_NaN()}) {
        args.epsilon = bad;
        EXPECT_EQ(StatusIn(mode, function, args), ADDNORM_BAD_NUMBER) << mode.name << " " << bad;
      }
      args.epsilon = 1e-310;
      EXPECT_EQ(StatusIn(mode, function, args), ADDNORM_OK) << mode.name;
    };
    addnorm_norm_args norm = ADDNORM_NORM_ARGS_INIT;
    norm.x = {x, 4, ADDNORM_F32, 0};
    norm.y = {y, 4, ADDNORM_F32, 0};
    expect_epsilons_checked(addnorm_rms_norm, norm);
    addnorm_norm_backward_args backward = ADDNORM_NORM_BACKWARD_ARGS_INIT;
    backward.dy = {x, 4, ADDNORM_F32, 0};
    backward.x = {x, 4, ADDNORM_F32, 0};
    backward.dx = {y, 4, ADDNORM_F32, 0};
    expect_epsilons_checked(addnorm_rms_norm_backward, backward);

    addnorm_add_args add = ADDNORM_ADD_ARGS_INIT;
    add.rows = 1;
    add.cols = 4;
    add.x = {x, 4, ADDNORM_F32, 0};
    add.residual = {x, 4, ADDNORM_F32, 0};
    add.sum_out = {y, 4, ADDNORM_F32, 0};
    add.residual_scale = 1e-39f;
    EXPECT_EQ(StatusIn(mode, addnorm_add, add), ADDNORM_OK) << mode.name;
  }
}

// A bad call returns before it computes, and leaves the mode alone as well.
TEST(FloatingPointMode, IsRestoredByBadCalls) {
  for (const OpFields& fields : AllOpFields()) {
    const Args args(fields);  // no operands
    for (const Mode& mode : Modes()) {
      SetMode(mode.bits);
      const uint64_t before = GetMode() & kControl;
      args.Call();
      const uint64_t after = GetMode() & kControl;
      SetMode(kDefault);
      EXPECT_EQ(before, after) << mode.name << ", " << fields.name;
    }
  }
}

}  // namespace
}  // namespace addnorm_test
