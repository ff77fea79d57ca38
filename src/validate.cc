// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#include "src/validate.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <utility>

namespace addnorm {
namespace {

enum class Shape { kMatrix, kVector, kColumn };
enum class Use { kRequired, kOptional, kForbidden };

struct OperandRule {
  Operand Call::* operand;
  Subject subject;
  Shape shape;
  bool is_output;
};

constexpr std::array<OperandRule, 12> kOperands = {{
    {&Call::x, Subject::kX, Shape::kMatrix, false},
    {&Call::residual, Subject::kResidual, Shape::kMatrix, false},
    {&Call::gamma, Subject::kGamma, Shape::kVector, false},
    {&Call::beta, Subject::kBeta, Shape::kVector, false},
    {&Call::bias, Subject::kBias, Shape::kVector, false},
    {&Call::y, Subject::kY, Shape::kMatrix, true},
    {&Call::sum_out, Subject::kSumOut, Shape::kMatrix, true},
    {&Call::mean, Subject::kMean, Shape::kColumn, true},
    {&Call::rstd, Subject::kRstd, Shape::kColumn, true},
    {&Call::variance, Subject::kVariance, Shape::kColumn, true},
    {&Call::mean_square, Subject::kMeanSquare, Shape::kColumn, true},
    {&Call::rms, Subject::kRms, Shape::kColumn, true},
}};

using Uses = std::array<Use, kOperands.size()>;

// How an operation uses each of kOperands.
constexpr Uses UsesOf(const Op& op) {
  constexpr Use kYes = Use::kRequired, kMay = Use::kOptional, kNo = Use::kForbidden;
  const bool layer = op.statistic == Statistic::kLayerNorm;
  const Use mean = layer ? kMay : kNo;
  switch (op.family) {
    case Family::kReduce: {
      const Statistic s = op.statistic;
      return {kYes,
              kNo,
              kNo,
              kNo,
              kNo,
              kNo,
              kNo,
              s == Statistic::kMean || s == Statistic::kMeanVariance ? kYes : kNo,
              kNo,
              s == Statistic::kVariance || s == Statistic::kMeanVariance ? kYes : kNo,
              s == Statistic::kMeanSquare ? kYes : kNo,
              s == Statistic::kRms ? kYes : kNo};
    }
    case Family::kAdd:
      return {kYes, kYes, kNo, kNo, kMay, kNo, kYes, kNo, kNo, kNo, kNo, kNo};
    case Family::kNorm:
      return {kYes, kNo, kMay, kMay, kNo, kYes, kNo, mean, kMay, kNo, kNo, kNo};
    case Family::kAddNorm:
      return {kYes, kYes, kMay, kMay, kMay, kYes, kMay, mean, kMay, kNo, kNo, kNo};
    case Family::kNormAdd:
      break;
  }
  return {kYes, kYes, kMay, kMay, kNo, kYes, kNo, mean, kMay, kNo, kNo, kNo};
}

template <size_t... kOp>
constexpr std::array<Uses, sizeof...(kOp)> MakeUses(std::index_sequence<kOp...>) {
  return {{UsesOf(kOps[kOp])...}};
}

constexpr auto kUses = MakeUses(std::make_index_sequence<kOps.size()>());

// ---- Dtypes

constexpr bool IsStorage(addnorm_dtype dtype) {
  return dtype == ADDNORM_F32 || dtype == ADDNORM_F16 || dtype == ADDNORM_BF16;
}

constexpr bool Allows(Shape shape, addnorm_dtype dtype) {
  return shape == Shape::kColumn ? dtype == ADDNORM_F32 || dtype == ADDNORM_F64 : IsStorage(dtype);
}

// A combination as an index: three bits for each matrix, as the constants of dtypes take.
constexpr size_t Key(Dtype x, Dtype residual, Dtype sum, Dtype y) {
  return static_cast<size_t>(x) | static_cast<size_t>(residual) << 3 | static_cast<size_t>(sum) << 6 |
         static_cast<size_t>(y) << 9;
}

constexpr int8_t kUnpromised = -1;
using Index = std::array<int8_t, size_t{1} << 12>;

template <Family kFamily>
constexpr Index MakeIndex() {
  Index index = {};
  for (int8_t& entry : index) entry = kUnpromised;
  int8_t next = 0;
  for (const Dtypes& d : PromisedDtypes<kFamily>()) index[Key(d.x, d.residual, d.sum, d.y)] = next++;
  return index;
}

// By family, in the order of its enumerators: where a combination stands in the family's list.
constexpr std::array<Index, 5> kIndex = {{MakeIndex<Family::kReduce>(), MakeIndex<Family::kAdd>(),
                                          MakeIndex<Family::kNorm>(), MakeIndex<Family::kAddNorm>(),
                                          MakeIndex<Family::kNormAdd>()}};

Dtype DtypeIfUsed(Use use, addnorm_dtype dtype) {
  return use == Use::kForbidden ? Dtype::kNone : static_cast<Dtype>(dtype);
}

addnorm_status CheckCombination(const Op& op, const Uses& uses, const Call& call, size_t* index) {
  const Dtypes d = {DtypeIfUsed(uses[0], call.x.dtype), DtypeIfUsed(uses[1], call.residual.dtype),
                    DtypeIfUsed(uses[6], call.sum_dtype), DtypeIfUsed(uses[5], call.y.dtype)};
  const int8_t found = kIndex[static_cast<size_t>(op.family)][Key(d.x, d.residual, d.sum, d.y)];
  if (found == kUnpromised) return MakeStatus(ADDNORM_UNPROMISED_DTYPES, Subject::kX);
  const auto vectors = static_cast<addnorm_dtype>(VectorDtype(d));
  for (const OperandRule& rule : kOperands) {
    const Operand& operand = call.*rule.operand;
    if (rule.shape == Shape::kVector && operand.data != nullptr && operand.dtype != ADDNORM_F32 &&
        operand.dtype != vectors) {
      return MakeStatus(ADDNORM_UNPROMISED_DTYPES, rule.subject);
    }
  }
  if (call.sum_out.data != nullptr && call.sum_out.dtype != call.sum_dtype) {
    return MakeStatus(ADDNORM_UNPROMISED_DTYPES, Subject::kSumOut);
  }
  *index = static_cast<size_t>(found);
  return ADDNORM_OK;
}

// ---- Memory

// An operand that is there, and the bytes that it spans.
struct Present {
  const OperandRule* rule;
  const Operand* operand;
  uintptr_t begin;
  uintptr_t end;
  int64_t row_stride;  // in bytes; 0 with a single row
  int64_t row_bytes;
};

// The operands of a call that are there.
struct PresentOperands {
  std::array<Present, kOperands.size()> list;
  size_t count = 0;
};

int64_t RowElements(Shape shape, const Call& call) { return shape == Shape::kColumn ? 1 : call.cols; }

// Fills in where the operand lies. False if it reaches beyond the address space.
bool Locate(const Call& call, Present& p) {
  const auto size = static_cast<int64_t>(SizeOf(static_cast<Dtype>(p.operand->dtype)));
  p.begin = reinterpret_cast<uintptr_t>(p.operand->data);
  p.row_bytes = RowElements(p.rule->shape, call) * size;
  p.row_stride = 0;
  int64_t bytes = p.row_bytes;
  if (call.rows > 1 && p.rule->shape != Shape::kVector) {
    constexpr int64_t kMaxElements = INT64_MAX / 16;  // bytes of 8 each, and no sum of two overflows
    if (p.operand->row_stride > (kMaxElements - call.cols) / (call.rows - 1)) return false;
    p.row_stride = p.operand->row_stride * size;
    bytes += (call.rows - 1) * p.row_stride;
  }
  if (static_cast<uint64_t>(bytes) > UINTPTR_MAX - p.begin) return false;
  p.end = p.begin + static_cast<uintptr_t>(bytes);
  return true;
}

bool Overlap(const Present& a, const Present& b) {
  if (a.end <= b.begin || b.end <= a.begin) return false;
  // Rows of equal stride may interleave, as the heads of a fused QKV projection do.
  if (a.row_stride == 0 || a.row_stride != b.row_stride) return true;
  const auto stride = static_cast<uintptr_t>(a.row_stride);
  const uintptr_t distance = a.begin <= b.begin ? b.begin - a.begin : a.begin - b.begin;
  const uintptr_t offset = distance % stride;
  const Present& first = a.begin <= b.begin ? a : b;
  const Present& second = a.begin <= b.begin ? b : a;
  return offset < static_cast<uintptr_t>(first.row_bytes) || stride - offset < static_cast<uintptr_t>(second.row_bytes);
}

// Whether an output is, as it may be, the memory of an input: y and sum_out in place of x or residual.
bool IsInPlace(const Present& output, const Present& other, int64_t rows) {
  const Operand& a = *output.operand;
  const Operand& b = *other.operand;
  return output.rule->shape == Shape::kMatrix && other.rule->shape == Shape::kMatrix && !other.rule->is_output &&
         a.data == b.data && a.dtype == b.dtype && (rows <= 1 || a.row_stride == b.row_stride);
}

addnorm_status CheckMemory(const Call& call, PresentOperands& present) {
  for (size_t i = 0; i < present.count; ++i) {
    if (!Locate(call, present.list[i])) return MakeStatus(ADDNORM_SIZE_TOO_LARGE, present.list[i].rule->subject);
  }
  for (size_t i = 0; i < present.count; ++i) {
    const Present& output = present.list[i];
    if (!output.rule->is_output) continue;
    for (size_t j = 0; j < present.count; ++j) {
      const Present& other = present.list[j];
      if (i != j && Overlap(output, other) && !IsInPlace(output, other, call.rows)) {
        return MakeStatus(ADDNORM_FORBIDDEN_OVERLAP, output.rule->subject);
      }
    }
  }
  return ADDNORM_OK;
}

// Of an operand that is there.
addnorm_status CheckOperand(const OperandRule& rule, Use use, const Call& call) {
  const Operand& operand = call.*rule.operand;
  if (use == Use::kForbidden) return MakeStatus(ADDNORM_UNUSED_OPERAND, rule.subject);
  if (operand.reserved != 0) return MakeStatus(ADDNORM_RESERVED_NOT_ZERO, rule.subject);
  if (!Allows(rule.shape, operand.dtype)) return MakeStatus(ADDNORM_UNKNOWN_DTYPE, rule.subject);
  if (reinterpret_cast<uintptr_t>(operand.data) % SizeOf(static_cast<Dtype>(operand.dtype)) != 0) {
    return MakeStatus(ADDNORM_UNALIGNED, rule.subject);
  }
  if (call.rows > 1) {
    const bool good =
        rule.shape == Shape::kVector ? operand.row_stride == 0 : operand.row_stride >= RowElements(rule.shape, call);
    if (!good) return MakeStatus(ADDNORM_STRIDE_TOO_SMALL, rule.subject);
  }
  return ADDNORM_OK;
}

addnorm_status CheckNumbers(const Call& call) {
  if (call.rows < 0) return MakeStatus(ADDNORM_NEGATIVE_SIZE, Subject::kRows);
  if (call.cols < 0) return MakeStatus(ADDNORM_NEGATIVE_SIZE, Subject::kCols);
  if (call.cols > ADDNORM_MAX_COLS) return MakeStatus(ADDNORM_SIZE_TOO_LARGE, Subject::kCols);
  if (!(call.epsilon >= 0.0) || !std::isfinite(call.epsilon)) return MakeStatus(ADDNORM_BAD_NUMBER, Subject::kEpsilon);
  if (!std::isfinite(call.gamma_offset)) return MakeStatus(ADDNORM_BAD_NUMBER, Subject::kGammaOffset);
  if (!std::isfinite(call.residual_scale) || call.residual_scale == 0.0f) {
    return MakeStatus(ADDNORM_BAD_NUMBER, Subject::kResidualScale);
  }
  if (!IsStorage(call.norm_dtype)) return MakeStatus(ADDNORM_UNKNOWN_DTYPE, Subject::kNormDtype);
  return ADDNORM_OK;
}

}  // namespace

addnorm_status Validate(addnorm_op op_number, const Call& call, size_t* index) {
  const Op& op = kOps[static_cast<size_t>(op_number)];
  const Uses& uses = kUses[static_cast<size_t>(op_number)];
  addnorm_status status = CheckNumbers(call);
  if (status != ADDNORM_OK) return status;
  if (op.family == Family::kReduce && call.cols == 0) return MakeStatus(ADDNORM_EMPTY_REDUCTION, Subject::kCols);
  const bool empty = call.rows == 0 || call.cols == 0;
  PresentOperands present;
  for (size_t i = 0; i < kOperands.size(); ++i) {
    const Operand& operand = call.*kOperands[i].operand;
    if (operand.data == nullptr) {
      if (uses[i] == Use::kRequired && !empty) return MakeStatus(ADDNORM_NULL_POINTER, kOperands[i].subject);
      continue;
    }
    status = CheckOperand(kOperands[i], uses[i], call);
    if (status != ADDNORM_OK) return status;
    Present& added = present.list[present.count++];
    added.rule = &kOperands[i];
    added.operand = &operand;
  }
  // 0 stands for the dtype of an operand, which may be absent in an empty call.
  if (op.family == Family::kAddNorm && !IsStorage(call.sum_dtype) && !(empty && call.sum_dtype == 0)) {
    return MakeStatus(ADDNORM_UNKNOWN_DTYPE, Subject::kSumDtype);
  }
  if (op.family == Family::kNormAdd && !IsStorage(call.norm_out_dtype) && !(empty && call.norm_out_dtype == 0)) {
    return MakeStatus(ADDNORM_UNKNOWN_DTYPE, Subject::kNormOutDtype);
  }
  if (empty) {
    *index = kNothingToDo;
    return ADDNORM_OK;
  }
  status = CheckCombination(op, uses, call, index);
  if (status != ADDNORM_OK) return status;
  return CheckMemory(call, present);
}

}  // namespace addnorm
