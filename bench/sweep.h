// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// The roofs: loops that move the operands of an operation and compute nothing that any of its results needs.
#ifndef ADDNORM_BENCH_SWEEP_H_
#define ADDNORM_BENCH_SWEEP_H_

#include <stddef.h>

namespace addnorm_bench {

// Contiguous rows. Each row of gamma and beta (`vectors`), the type of the narrowest operand, takes row_bytes. They are
// read for every row; what is summed over rows is written once.
struct SweepOperands {
  const char* inputs[3];
  const char* vectors[2];
  char* outputs[2];
  char* sums[2];
  size_t rows;
  size_t row_bytes;
  size_t sum_bytes;  // of each of the sums
};

// Which operands there are, and how wide: bytes of an element, in those of the narrowest operand; 0 for an absent one.
struct SweepShape {
  int inputs[3];
  int vectors;  // how many of the two there are
  int outputs[2];
};

inline bool operator==(const SweepShape& a, const SweepShape& b) {
  return a.inputs[0] == b.inputs[0] && a.inputs[1] == b.inputs[1] && a.inputs[2] == b.inputs[2] &&
         a.vectors == b.vectors && a.outputs[0] == b.outputs[0] && a.outputs[1] == b.outputs[1];
}

struct SweepLoop {
  int unroll;
  bool streaming;  // stores go past the caches; each must be aligned
  void (*run)(const SweepOperands&);
};

constexpr int kSweepLoops = 5;

struct Sweep {
  SweepShape shape;
  const SweepLoop* loops;  // kSweepLoops of them; without `run` where the compiler has no streaming stores
};

struct SweepList {
  const char* name;  // of the vectors used
  size_t vector_bytes;
  const Sweep* sweeps;
  int count;
};

// The same loops with vectors of 16, 32 and 64 bytes; the latter two only on x86.
SweepList BaseSweeps();
SweepList Avx2Sweeps();
SweepList Avx512Sweeps();

}  // namespace addnorm_bench

#endif  // ADDNORM_BENCH_SWEEP_H_
