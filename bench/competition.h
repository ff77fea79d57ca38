// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#ifndef ADDNORM_BENCH_COMPETITION_H_
#define ADDNORM_BENCH_COMPETITION_H_

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "cases.h"
#include "measure.h"
#include "roofs.h"

namespace addnorm_bench {

struct Contest {
  std::vector<std::string> targets;
  bool peers = true;  // the plain loops, and the libraries
};

struct Result {
  std::string who;     // "addnorm", or a peer
  std::string target;  // of addnorm
  std::string data;    // where it is other than the case's: "normal" next to a hard row, "no dropout" next to dropout
  Timing timing;
};

// One case with its operands: the library's kernels on some targets, others that can do the same, and the roofs, all
// measured against each other.
class Competition {
 public:
  Competition(const BenchCase& bench_case, const Contest& contest);
  ~Competition();

  // The slower ways to do the same leave; then rounds may be run.
  void Qualify();
  // Times everything once more; returns the nanoseconds of a call on the first target this time.
  double Round();
  // Qualify, then rounds for this long.
  void Run(double budget_ms);

  size_t bytes() const { return operands_->bytes(); }
  std::vector<Result> results() const;
  double FirstNs() const { return entries_[0].contestant.best_ns(); }
  // Empty where there is no such roof.
  const Contestant& roof(RoofKind kind) const { return roofs_[static_cast<size_t>(kind)]; }
  // Peers that gave a wrong answer, and what it was.
  const std::vector<std::string>& wrong() const { return wrong_; }

 private:
  struct Entry {
    Result who;
    Contestant contestant;
  };
  void AddKernel(const std::string& target, const Operands& operands, const std::string& data);
  void AddPeers(const BenchCase& bench_case);

  bool hot_ = true;
  std::unique_ptr<Runner> runner_;
  std::unique_ptr<Operands> operands_, plain_operands_;
  std::unique_ptr<Roofs> roof_ways_;
  int rounds_ = 0;
  std::vector<Entry> entries_;
  std::vector<Contestant> roofs_;
  std::vector<std::string> wrong_;
};

}  // namespace addnorm_bench

#endif  // ADDNORM_BENCH_COMPETITION_H_
