// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// What the figures are of.
#ifndef ADDNORM_BENCH_MACHINE_H_
#define ADDNORM_BENCH_MACHINE_H_

#include <cstddef>
#include <string>

namespace addnorm_bench {

struct Machine {
  std::string cpu;  // as it calls itself, with family and model, which tell CPUs apart that call themselves alike
  int cores = 0;
  size_t l1d_bytes = 0, l2_bytes = 0, l3_bytes = 0;  // of one core, one core, all that share it; 0 where unknown
  bool is_virtual = false;
  std::string system;    // as in "Linux 6.1.0 x86_64"
  std::string compiler;  // as in "GCC 12.2.0"
};

Machine ThisMachine();

// Of the last level of cache; a guess where it is not known.
size_t LastCacheBytes();

// How many processes wanted to run in the last minute: on a quiet machine, this one. Negative where unknown.
double LoadAverage();

// As in "2026-11-30T03:10:00Z".
std::string Now();

}  // namespace addnorm_bench

#endif  // ADDNORM_BENCH_MACHINE_H_
