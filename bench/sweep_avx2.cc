// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#define ADDNORM_SWEEP_BYTES 32
#include "sweep-inl.h"

namespace addnorm_bench {

SweepList Avx2Sweeps() { return {"256 bits", kBytes, kSweeps, kSweepCount}; }

}  // namespace addnorm_bench
