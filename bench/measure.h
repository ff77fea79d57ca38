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

// One way or several to do the same; its time is that of the fastest.
class Contestant {
 public:
  explicit Contestant(std::vector<Candidate> candidates);

  // Drops the candidates that are clearly not the fastest.
  void Qualify();
  // Times each candidate once more; returns the nanoseconds of the fastest of them this time.
  double Round();

  double best_ns() const { return entries_[best_].best_ns; }
  const std::string& best_name() const { return entries_[best_].candidate.name; }

 private:
  struct Entry {
    Candidate candidate;
    long repeats = 1;  // in one sample, so that the clock's resolution does not matter
    double best_ns = 0;
  };
  static double Sample(Entry* entry);
  void FindBest();

  std::vector<Entry> entries_;
  size_t best_ = 0;
};

// Keeps the calling thread on one core: `cpu`, or the current one if negative. False if that is not to be had.
bool PinToCore(int cpu);

}  // namespace addnorm_bench

#endif  // ADDNORM_BENCH_MEASURE_H_
