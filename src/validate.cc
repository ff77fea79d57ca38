// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#include "src/validate.h"

#include "src/dropout.h"
#include "src/overlap.h"

namespace addnorm {
namespace internal {
namespace {

// Rows of equal stride may interleave, as the heads of a fused QKV projection do.
bool Interleave(const Region& a, const Region& b) {
  const uintptr_t stride = a.stride_bytes;
  if (stride == 0 || stride != b.stride_bytes) return false;
  const auto a_begin = reinterpret_cast<uintptr_t>(a.data);
  const auto b_begin = reinterpret_cast<uintptr_t>(b.data);
  const bool a_first = a_begin <= b_begin;
  const uintptr_t offset = (a_first ? b_begin - a_begin : a_begin - b_begin) % stride;
  return offset >= (a_first ? a : b).row_bytes && stride - offset >= (a_first ? b : a).row_bytes;
}

// Whether an output is, as it may be, the memory of an input matrix.
bool IsInPlace(const Region& output, const Region& other) {
  return output.is_matrix && other.is_matrix && !other.is_output && output.data == other.data &&
         output.dtype == other.dtype && output.stride_bytes == other.stride_bytes;
}

// Of regions whose extents meet.
bool IsForbidden(const Region& output, const Region& other) {
  return !Interleave(output, other) && !IsInPlace(output, other);
}

}  // namespace

bool Overlap(const Region& output, const Region& other, int64_t rows) {
  if (output.data == nullptr || other.data == nullptr) return false;
  const auto begin = [](const Region& r) { return reinterpret_cast<uintptr_t>(r.data); };
  const auto end = [&](const Region& r) {
    return begin(r) + static_cast<uintptr_t>(rows - 1) * r.stride_bytes + r.row_bytes;
  };
  return begin(output) < end(other) && begin(other) < end(output) && IsForbidden(output, other);
}

bool IsForbiddenOverlap(const Call& call, const OperandRule& output, const OperandRule& other) {
  return IsForbidden(RegionOf(call, output), RegionOf(call, other));
}

}  // namespace internal

addnorm_status ValidateMasks(const Call& call) {
  std::array<internal::Region, internal::kOperands.size()> operands;
  size_t count = 0;
  for (const internal::OperandRule& rule : internal::kOperands) {
    if ((call.*rule.operand).data != nullptr) operands[count++] = internal::RegionOf(call, rule);
  }
  return CheckMasks(*call.dropout, call.rows, call.cols, operands.data(), count);
}

}  // namespace addnorm
