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

// Whether a byte belongs to two operands of a call of so many rows, where the contract does not allow it. None does
// where data is null.
bool Overlap(const Region& output, const Region& other, int64_t rows);

}  // namespace internal
}  // namespace addnorm

#endif  // ADDNORM_SRC_OVERLAP_H_
