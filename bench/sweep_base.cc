// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#define ADDNORM_SWEEP_BYTES 16
#include "sweep-inl.h"

namespace addnorm_bench {

SweepList BaseSweeps() { return {"128 bits", kBytes, kSweeps, kSweepCount}; }

}  // namespace addnorm_bench
