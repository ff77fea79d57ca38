// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#include "measure.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

#ifdef __linux__
#include <sched.h>
#endif

namespace addnorm_bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kSampleNs = 20e3;
constexpr int kQualifyingRounds = 5;
constexpr double kClearlySlower = 1.1;
constexpr size_t kMaxFinalists = 3;

double TimeNs(const Candidate& candidate, long repeats) {
  if (candidate.prepare) candidate.prepare();
  candidate.run(1);  // brings what fits back into the caches
  const Clock::time_point start = Clock::now();
  candidate.run(repeats);
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count() / static_cast<double>(repeats);
}

}  // namespace

Contestant::Contestant(std::vector<Candidate> candidates) {
  for (Candidate& candidate : candidates) {
    Entry entry;
    entry.candidate = std::move(candidate);
    entry.best_ns = std::numeric_limits<double>::infinity();
    const double once = std::max(1.0, TimeNs(entry.candidate, 3));
    entry.repeats = std::max(1L, static_cast<long>(kSampleNs / once));
    entries_.push_back(std::move(entry));
  }
}

double Contestant::Sample(Entry* entry) {
  const double ns = TimeNs(entry->candidate, entry->repeats);
  entry->best_ns = std::min(entry->best_ns, ns);
  return ns;
}

void Contestant::FindBest() {
  for (size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].best_ns < entries_[best_].best_ns) best_ = i;
  }
}

void Contestant::Qualify() {
  for (int round = 0; round < kQualifyingRounds; ++round) Round();
  std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) { return a.best_ns < b.best_ns; });
  best_ = 0;
  const double limit = entries_[0].best_ns * kClearlySlower;
  while (entries_.size() > kMaxFinalists || entries_.back().best_ns > limit) entries_.pop_back();
}

double Contestant::Round() {
  double ns = std::numeric_limits<double>::infinity();
  for (Entry& entry : entries_) ns = std::min(ns, Sample(&entry));
  FindBest();
  return ns;
}

bool PinToCore(int cpu) {
#ifdef __linux__
  if (cpu < 0) cpu = sched_getcpu();
  if (cpu < 0 || cpu >= CPU_SETSIZE) return false;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<unsigned>(cpu), &set);
  return sched_setaffinity(0, sizeof(set), &set) == 0;
#else
  (void)cpu;
  return false;
#endif
}

}  // namespace addnorm_bench
