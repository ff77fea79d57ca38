// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#include "timing.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>

namespace addnorm_test::replay {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kMinRounds = 3;
constexpr int kMaxRounds = 1000;
constexpr std::chrono::milliseconds kBudget(200);

template <typename Function>
double NanosecondsOf(const Function& function) {
  const Clock::time_point start = Clock::now();
  function();
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
}

}  // namespace

Timing TimeSteps(std::vector<Step>* steps) {
  size_t bytes = 0;
  for (const Step& step : *steps) bytes += step.bytes();
  const size_t copied_floats = bytes / sizeof(float) / 2;
  const Operand from(std::vector<float>(copied_floats, 1.0f));
  const Operand to(std::vector<float>(copied_floats, 0.0f));

  const auto run = [&] {
    for (Step& step : *steps) step.Run();
  };
  const auto copy = [&] {
    size_t done = 0;
    for (const Step& step : *steps) {
      const size_t count = std::min(step.bytes() / sizeof(float) / 2, copied_floats - done);
      std::memcpy(to.data() + done, from.data() + done, count * sizeof(float));
      // Tells the compiler that the copy is looked at.
      __asm__ volatile("" : : "r"(to.data()) : "memory");
      done += count;
    }
  };

  double best_run = std::numeric_limits<double>::infinity();
  double best_copy = std::numeric_limits<double>::infinity();
  const Clock::time_point end = Clock::now() + kBudget;
  for (int round = 0; round < kMaxRounds && (round < kMinRounds || Clock::now() < end); ++round) {
    best_run = std::min(best_run, NanosecondsOf(run));
    best_copy = std::min(best_copy, NanosecondsOf(copy));
  }
  const double count = static_cast<double>(steps->size());
  Timing timing;
  timing.ns_per_step = best_run / count;
  timing.copy_ns_per_step = best_copy / count;
  timing.bytes_per_step = bytes / steps->size();
  return timing;
}

}  // namespace addnorm_test::replay
