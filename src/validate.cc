// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#include "src/validate.h"

namespace addnorm {
namespace internal {
namespace {

// Bytes of one row of an operand.
uintptr_t RowBytes(const Call& call, const OperandRule& rule) {
  return static_cast<uintptr_t>(RowElements(rule.shape, call)) * SizeOf(static_cast<Dtype>((call.*rule.operand).dtype));
}

// Bytes between its rows; 0 if there is but one.
uintptr_t StrideBytes(const Call& call, const OperandRule& rule) {
  const Operand& operand = call.*rule.operand;
  if (call.rows <= 1 || rule.shape == Shape::kVector) return 0;
  return static_cast<uintptr_t>(operand.row_stride) * SizeOf(static_cast<Dtype>(operand.dtype));
}

// Rows of equal stride may interleave, as the heads of a fused QKV projection do.
bool Interleave(const Call& call, const OperandRule& a, const OperandRule& b) {
  const uintptr_t stride = StrideBytes(call, a);
  if (stride == 0 || stride != StrideBytes(call, b)) return false;
  const auto a_begin = reinterpret_cast<uintptr_t>((call.*a.operand).data);
  const auto b_begin = reinterpret_cast<uintptr_t>((call.*b.operand).data);
  const bool a_first = a_begin <= b_begin;
  const uintptr_t offset = (a_first ? b_begin - a_begin : a_begin - b_begin) % stride;
  return offset >= RowBytes(call, a_first ? a : b) && stride - offset >= RowBytes(call, a_first ? b : a);
}

// Whether an output is, as it may be, the memory of an input: y and sum_out in place of x or residual.
bool IsInPlace(const Call& call, const OperandRule& output, const OperandRule& other) {
  const Operand& a = call.*output.operand;
  const Operand& b = call.*other.operand;
  return output.shape == Shape::kMatrix && other.shape == Shape::kMatrix && !other.is_output && a.data == b.data &&
         a.dtype == b.dtype && (call.rows <= 1 || a.row_stride == b.row_stride);
}

}  // namespace

bool IsForbiddenOverlap(const Call& call, const OperandRule& output, const OperandRule& other) {
  return !Interleave(call, output, other) && !IsInPlace(call, output, other);
}

}  // namespace internal
}  // namespace addnorm
