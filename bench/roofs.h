// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// What a kernel is compared with.
//  - Copy roof: the fastest way to move as many bytes, half of them read and half written (memcpy, or a vector loop).
//  - One-pass roof: the fastest single sweep over the same operands in the same memory, that reads every one (gamma and
//  beta
//    once a row), writes every output with ordinary stores, and reduces nothing.
#ifndef ADDNORM_BENCH_ROOFS_H_
#define ADDNORM_BENCH_ROOFS_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "measure.h"
#include "support/op_case.h"

namespace addnorm_bench {

class Roofs {
 public:
  // Of one call of an operation, with the operands of `problem` and none that the sweeps do not know (bias, statistics
  // of norms). Both must outlive this.
  Roofs(const addnorm_test::Problem& problem, const addnorm_test::Args& args);

  // Bytes of all operands, each counted once; statistics, a value a row, are not counted.
  size_t bytes() const { return bytes_; }

  // Ways to do it, of which the fastest is the roof.
  const std::vector<Candidate>& copies() const { return copies_; }
  const std::vector<Candidate>& one_passes() const { return one_passes_; }

 private:
  void AddCopies();

  size_t bytes_ = 0;
  std::unique_ptr<char[]> memory_;
  std::vector<Candidate> copies_, one_passes_;
};

}  // namespace addnorm_bench

#endif  // ADDNORM_BENCH_ROOFS_H_
