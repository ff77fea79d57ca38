// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#ifndef ADDNORM_BENCH_COMPETITION_H_
#define ADDNORM_BENCH_COMPETITION_H_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "cases.h"
#include "measure.h"

namespace addnorm_bench {

// One case with its operands: the library's kernels on some targets, and the roofs, measured against each other.
class Competition {
 public:
  Competition(const BenchCase& bench_case, const std::vector<std::string>& targets);
  ~Competition();

  // The slower ways to do the same leave; then rounds may be run.
  void Qualify();
  // Times everything once more; returns the nanoseconds of a call on the first target this time.
  double Round();
  // Qualify, then rounds for this long.
  void Run(double budget_ms);

  size_t bytes() const { return bytes_; }
  double KernelNs(size_t target) const { return kernels_[target].best_ns(); }
  const Contestant& copy() const { return roofs_[0]; }
  const Contestant& one_pass() const { return roofs_[1]; }

 private:
  struct Operands;
  std::unique_ptr<Operands> operands_;
  size_t bytes_ = 0;
  int rounds_ = 0;
  std::vector<Contestant> kernels_, roofs_;
};

}  // namespace addnorm_bench

#endif  // ADDNORM_BENCH_COMPETITION_H_
