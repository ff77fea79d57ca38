// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
// When the memory of two operands meets.
#ifndef ADDNORM_SRC_OVERLAP_H_
#define ADDNORM_SRC_OVERLAP_H_

#include <cstdint>

#include "addnorm/addnorm.h"

namespace addnorm {
namespace internal {

// Where an operand lies.
struct Region {
  const void* data;
  uintptr_t row_bytes;
  uintptr_t stride_bytes;  // between rows; 0 if there is but one
  addnorm_dtype dtype;
  bool is_matrix;
  bool is_output;
};

// Of two regions whose extents meet: whether a byte belongs to both, where the contract does not allow it.
bool IsForbiddenOverlap(const Region& output, const Region& other);

}  // namespace internal
}  // namespace addnorm

#endif  // ADDNORM_SRC_OVERLAP_H_
