// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
// The kernels of one target, and the choice between targets.
#ifndef ADDNORM_SRC_TARGETS_H_
#define ADDNORM_SRC_TARGETS_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "src/backward.h"
#include "src/call.h"
#include "src/lists.h"

namespace addnorm {

inline constexpr size_t kMaxCombinations = std::max({dtypes::kReduce.size(), dtypes::kAdd.size(), dtypes::kNorm.size(),
                                                     dtypes::kAddNorm.size(), dtypes::kNormAdd.size()});

// The kernels of an operation, in the order of its promised dtypes.
using Kernels = std::array<Kernel, kMaxCombinations>;

// The kernels of a target, in the order of the operations.
struct KernelTable {
  std::array<const Kernels*, kForwardOps> ops;
  const BackwardKernels* backward;
};

// A target that was compiled in.
struct Target {
  const char* name;
  int64_t bit;               // Highway's; a lower one is better
  size_t (*vector_bytes)();  // null if fixed
  const KernelTable* table;
};

// The scalar reference, which every CPU can run.
extern const KernelTable kScalarTable;
inline constexpr int64_t kScalarBit = int64_t{1} << 62;

// The compiled targets, with their number in *count, in no particular order.
const Target* CompiledTargets(size_t* count);

// The bits of the targets that this CPU and operating system can run.
int64_t SupportedTargetBits();

// The table that the next call uses.
const KernelTable* ActiveTable();

}  // namespace addnorm

#endif  // ADDNORM_SRC_TARGETS_H_
