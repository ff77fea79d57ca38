// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// Times of several pieces of code, measured in turns so that whatever else the machine does falls on all alike.
#ifndef ADDNORM_BENCH_MEASURE_H_
#define ADDNORM_BENCH_MEASURE_H_

#include <functional>
#include <string>
#include <vector>

namespace addnorm_bench {

struct Candidate {
  std::string name;
  std::function<void(long)> run;            // so many times
  std::function<void()> prepare = nullptr;  // what has to be done before, untimed
};

struct Timing {
  std::string name;      // of the fastest way
  double ns = 0;         // minimum
  double median_ns = 0;  // of all rounds
  // By what part of the minimum the minima of the four quarters of the rounds differ: how far to trust it.
  double spread = 0;
  size_t rounds = 0;
};

// One way or several to do the same; its time is that of the fastest. None: it has no time.
class Contestant {
 public:
  // `hot`: each sample begins with a call that is not timed, which brings what fits back into the caches.
  Contestant(std::vector<Candidate> candidates, bool hot);

  bool empty() const { return entries_.empty(); }
  // So many calls that are not timed.
  void Settle(long times) const;
  // Drops the candidates that are clearly not the fastest.
  void Qualify();
  // Times each candidate once more; returns the nanoseconds of the fastest of them this time.
  double Round();

  double best_ns() const { return entries_[best_].best_ns; }
  const std::string& best_name() const { return entries_[best_].candidate.name; }
  Timing timing() const;

 private:
  struct Entry {
    Candidate candidate;
    long repeats = 1;  // in one sample, so that the clock's resolution does not matter
    double best_ns = 0;
    std::vector<double> samples = {};
  };
  double TimeNs(const Candidate& candidate, long repeats) const;
  double Sample(Entry* entry) const;
  void Drop(double limit_ns);

  bool hot_;
  std::vector<Entry> entries_;
  size_t best_ = 0;
};

// The core that the calling thread runs on; negative where that is not to be had.
int CurrentCore();
// Keeps the calling thread on one core. False if that is not to be had.
bool PinToCore(int cpu);

}  // namespace addnorm_bench

#endif  // ADDNORM_BENCH_MEASURE_H_
