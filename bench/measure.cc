// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#include "measure.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <limits>
#include <utility>

#ifdef __linux__
#include <sched.h>
#endif

namespace addnorm_bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kSampleNs = 20e3;
constexpr int kQualifyingRounds = 5;
constexpr double kFarFromBest = 1.5;
constexpr double kClearlySlower = 1.1;
constexpr size_t kMaxFinalists = 3;
constexpr size_t kQuarters = 4;

}  // namespace

double Contestant::TimeNs(const Candidate& candidate, long repeats) const {
  if (candidate.prepare) candidate.prepare();
  if (hot_) candidate.run(1);
  const Clock::time_point start = Clock::now();
  candidate.run(repeats);
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count() / static_cast<double>(repeats);
}

Contestant::Contestant(std::vector<Candidate> candidates, bool hot) : hot_(hot) {
  for (Candidate& candidate : candidates) {
    Entry entry;
    entry.candidate = std::move(candidate);
    entry.best_ns = kInfinity;
    double once = TimeNs(entry.candidate, 1);
    // The first call may have waited for memory or a core.
    if (hot_) once = std::min(once, TimeNs(entry.candidate, 3));
    once = std::max(once, 1.0);
    entry.repeats = std::max(1L, static_cast<long>(kSampleNs / once));
    entries_.push_back(std::move(entry));
  }
}

void Contestant::Settle(long times) const {
  const Candidate& candidate = entries_[best_].candidate;
  if (candidate.prepare) candidate.prepare();
  candidate.run(times);
}

double Contestant::Sample(Entry* entry) const {
  const double ns = TimeNs(entry->candidate, entry->repeats);
  entry->samples.push_back(ns);
  entry->best_ns = std::min(entry->best_ns, ns);
  return ns;
}

void Contestant::Drop(double limit_ns) {
  entries_.erase(
      std::remove_if(entries_.begin(), entries_.end(), [&](const Entry& entry) { return entry.best_ns > limit_ns; }),
      entries_.end());
  best_ = 0;
}

void Contestant::Qualify() {
  if (entries_.empty()) return;
  for (int round = 0; round < kQualifyingRounds && entries_.size() > 1; ++round) {
    Round();
    if (round > 0) Drop(best_ns() * kFarFromBest);
  }
  std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) { return a.best_ns < b.best_ns; });
  best_ = 0;
  if (entries_.size() > 1) Drop(best_ns() * kClearlySlower);
  if (entries_.size() > kMaxFinalists) entries_.resize(kMaxFinalists);
}

double Contestant::Round() {
  double ns = kInfinity;
  for (Entry& entry : entries_) ns = std::min(ns, Sample(&entry));
  for (size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].best_ns < entries_[best_].best_ns) best_ = i;
  }
  return ns;
}

Timing Contestant::timing() const {
  const Entry& entry = entries_[best_];
  Timing timing;
  timing.name = entry.candidate.name;
  timing.ns = entry.best_ns;
  timing.rounds = entry.samples.size();
  std::vector<double> sorted = entry.samples;
  std::sort(sorted.begin(), sorted.end());
  timing.median_ns = sorted[sorted.size() / 2];
  const size_t quarters = std::min(kQuarters, entry.samples.size());
  for (size_t q = 0; q < quarters; ++q) {
    const auto at = [&](size_t quarter) {
      return entry.samples.begin() + static_cast<ptrdiff_t>(entry.samples.size() * quarter / quarters);
    };
    timing.spread = std::max(timing.spread, *std::min_element(at(q), at(q + 1)) / timing.ns - 1.0);
  }
  return timing;
}

#ifdef __linux__
int CurrentCore() { return sched_getcpu(); }

bool PinToCore(int cpu) {
  if (cpu < 0 || cpu >= CPU_SETSIZE) return false;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<unsigned>(cpu), &set);
  return sched_setaffinity(0, sizeof(set), &set) == 0;
}
#else
int CurrentCore() { return -1; }
bool PinToCore(int) { return false; }
#endif

}  // namespace addnorm_bench
