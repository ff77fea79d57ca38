// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
// Every precondition of every call. Compiled once for each operation, so that what it does not have costs nothing: a
// row of 16 elements takes less time than a loop over all that might be wrong.
#ifndef ADDNORM_SRC_VALIDATE_H_
#define ADDNORM_SRC_VALIDATE_H_

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "src/call.h"
#include "src/lists.h"
#include "src/overlap.h"
#include "src/status.h"

namespace addnorm {

// In place of an index: rows or cols is 0.
inline constexpr size_t kNothingToDo = ~size_t{0};

namespace internal {

enum class Shape { kMatrix, kVector, kColumn };
enum class Use { kRequired, kOptional, kForbidden };

struct OperandRule {
  Operand Call::* operand;
  Subject subject;
  Shape shape;
  bool is_output;
};

inline constexpr std::array<OperandRule, 12> kOperands = {{
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

// The use of the operand that is this member of Call.
constexpr Use UseOf(const Uses& uses, Operand Call::* operand) {
  size_t i = 0;
  while (kOperands[i].operand != operand) ++i;
  return uses[i];
}

constexpr bool IsStorage(addnorm_dtype dtype) {
  return dtype == ADDNORM_F32 || dtype == ADDNORM_F16 || dtype == ADDNORM_BF16;
}

constexpr bool Allows(Shape shape, addnorm_dtype dtype) {
  return shape == Shape::kColumn ? dtype == ADDNORM_F32 || dtype == ADDNORM_F64 : IsStorage(dtype);
}

// The sizes and numbers of any call; what an operation does not have is what it is by default.
inline addnorm_status CheckNumbers(const Call& call) {
  if (call.rows < 0) return MakeStatus(ADDNORM_NEGATIVE_SIZE, Subject::kRows);
  if (call.cols < 0) return MakeStatus(ADDNORM_NEGATIVE_SIZE, Subject::kCols);
  if (call.cols > ADDNORM_MAX_COLS) return MakeStatus(ADDNORM_SIZE_TOO_LARGE, Subject::kCols);
  if (!(call.epsilon >= 0.0) || !std::isfinite(call.epsilon)) return MakeStatus(ADDNORM_BAD_NUMBER, Subject::kEpsilon);
  if (!std::isfinite(call.gamma_offset)) return MakeStatus(ADDNORM_BAD_NUMBER, Subject::kGammaOffset);
  if (!std::isfinite(call.residual_scale) || call.residual_scale == 0.0f) {
    return MakeStatus(ADDNORM_BAD_NUMBER, Subject::kResidualScale);
  }
  if (!IsStorage(call.norm_dtype)) return MakeStatus(ADDNORM_UNKNOWN_DTYPE, Subject::kNormDtype);
  if (call.store < ADDNORM_STORE_AUTOMATIC || call.store > ADDNORM_STORE_STREAMING) {
    return MakeStatus(ADDNORM_OUT_OF_RANGE, Subject::kStore);
  }
  return ADDNORM_OK;
}

constexpr int64_t RowElements(Shape shape, const Call& call) { return shape == Shape::kColumn ? 1 : call.cols; }

// The bytes that an operand spans; none if it is absent.
struct Extent {
  uintptr_t begin = 0;
  uintptr_t end = 0;
};

// Where an operand of a call lies, forward or backward.
template <class AnyCall, class Rule>
Region RegionOf(const AnyCall& call, const Rule& rule) {
  const Operand& operand = call.*rule.operand;
  const uintptr_t size = SizeOf(static_cast<Dtype>(operand.dtype));
  const bool one_row = call.rows <= 1 || rule.shape == Shape::kVector;
  return {operand.data,
          static_cast<uintptr_t>(RowElements(rule.shape, call)) * size,
          one_row ? 0 : static_cast<uintptr_t>(operand.row_stride) * size,
          operand.dtype,
          rule.shape == Shape::kMatrix,
          rule.is_output};
}

// Of two operands whose extents meet: whether a byte belongs to both, where the contract does not allow it. Out of
// line, as it is rarely asked.
bool IsForbiddenOverlap(const Call& call, const OperandRule& output, const OperandRule& other);

// The checks of one operation.
template <addnorm_op kOp>
class Checks {
 public:
  explicit Checks(const Call& call) : call_(call), empty_(call.rows == 0 || call.cols == 0) {}

  addnorm_status Run(size_t* index) {
    addnorm_status status = CheckNumbers(call_);
    if (status != ADDNORM_OK) return status;
    if (kFamily == Family::kReduce && call_.cols == 0) return MakeStatus(ADDNORM_EMPTY_REDUCTION, Subject::kCols);
    status = CheckOperands(kAllOperands);
    if (status != ADDNORM_OK) return status;
    if (kFamily == Family::kAddNorm && !IsNamed(call_.sum_dtype)) {
      return MakeStatus(ADDNORM_UNKNOWN_DTYPE, Subject::kSumDtype);
    }
    if (kFamily == Family::kNormAdd && !IsNamed(call_.norm_out_dtype)) {
      return MakeStatus(ADDNORM_UNKNOWN_DTYPE, Subject::kNormOutDtype);
    }
    if (empty_) {
      *index = kNothingToDo;
      return ADDNORM_OK;
    }
    status = CheckDtypes(index);
    if (status != ADDNORM_OK) return status;
    status = LocateOperands(kAllOperands);
    if (status != ADDNORM_OK) return status;
    return CheckOverlaps(kAllOperands);
  }

 private:
  static constexpr Family kFamily = kOps[kOp].family;
  static constexpr Uses kUses = UsesOf(kOps[kOp]);
  static constexpr auto kAllOperands = std::make_index_sequence<kOperands.size()>();

  // 0 stands for the dtype of an operand, which may be absent in an empty call.
  bool IsNamed(addnorm_dtype dtype) const { return IsStorage(dtype) || (empty_ && dtype == 0); }

  // ---- Each operand alone

  template <size_t kOperand>
  addnorm_status CheckOperand() const {
    constexpr OperandRule kRule = kOperands[kOperand];
    const Operand& operand = call_.*kRule.operand;
    if (operand.data == nullptr) {
      return kUses[kOperand] == Use::kRequired && !empty_ ? MakeStatus(ADDNORM_NULL_POINTER, kRule.subject)
                                                          : ADDNORM_OK;
    }
    if (kUses[kOperand] == Use::kForbidden) return MakeStatus(ADDNORM_UNUSED_OPERAND, kRule.subject);
    if (operand.reserved != 0) return MakeStatus(ADDNORM_RESERVED_NOT_ZERO, kRule.subject);
    if (!Allows(kRule.shape, operand.dtype)) return MakeStatus(ADDNORM_UNKNOWN_DTYPE, kRule.subject);
    if ((reinterpret_cast<uintptr_t>(operand.data) & (SizeOf(static_cast<Dtype>(operand.dtype)) - 1)) != 0) {
      return MakeStatus(ADDNORM_UNALIGNED, kRule.subject);
    }
    if (call_.rows > 1) {
      const bool good = kRule.shape == Shape::kVector ? operand.row_stride == 0
                                                      : operand.row_stride >= RowElements(kRule.shape, call_);
      if (!good) return MakeStatus(ADDNORM_STRIDE_TOO_SMALL, kRule.subject);
    }
    return ADDNORM_OK;
  }

  template <size_t... kOperand>
  addnorm_status CheckOperands(std::index_sequence<kOperand...>) const {
    addnorm_status status = ADDNORM_OK;
    static_cast<void>(((status = CheckOperand<kOperand>(), status == ADDNORM_OK) && ...));
    return status;
  }

  // ---- Their dtypes together

  static Dtype DtypeIfUsed(Operand Call::* operand, addnorm_dtype dtype) {
    return UseOf(kUses, operand) == Use::kForbidden ? Dtype::kNone : static_cast<Dtype>(dtype);
  }

  addnorm_status CheckDtypes(size_t* index) const {
    const Dtypes d = {DtypeIfUsed(&Call::x, call_.x.dtype), DtypeIfUsed(&Call::residual, call_.residual.dtype),
                      DtypeIfUsed(&Call::sum_out, call_.sum_dtype), DtypeIfUsed(&Call::y, call_.y.dtype)};
    constexpr const auto& kPromised = PromisedDtypes<kFamily>();
    size_t found = 0;
    while (found < kPromised.size() && !(kPromised[found] == d)) ++found;
    if (found == kPromised.size()) return MakeStatus(ADDNORM_UNPROMISED_DTYPES, Subject::kX);
    *index = found;
    const auto vectors = static_cast<addnorm_dtype>(VectorDtype(d));
    const auto fits = [vectors](const Operand& operand) {
      return operand.data == nullptr || operand.dtype == ADDNORM_F32 || operand.dtype == vectors;
    };
    if (!fits(call_.gamma)) return MakeStatus(ADDNORM_UNPROMISED_DTYPES, Subject::kGamma);
    if (!fits(call_.beta)) return MakeStatus(ADDNORM_UNPROMISED_DTYPES, Subject::kBeta);
    if (!fits(call_.bias)) return MakeStatus(ADDNORM_UNPROMISED_DTYPES, Subject::kBias);
    if (call_.sum_out.data != nullptr && call_.sum_out.dtype != call_.sum_dtype) {
      return MakeStatus(ADDNORM_UNPROMISED_DTYPES, Subject::kSumOut);
    }
    return ADDNORM_OK;
  }

  // ---- Memory

  // Fills in where an operand lies. False if it reaches beyond the address space.
  template <size_t kOperand>
  bool Locate() {
    constexpr OperandRule kRule = kOperands[kOperand];
    const Operand& operand = call_.*kRule.operand;
    if (kUses[kOperand] == Use::kForbidden || operand.data == nullptr) return true;
    int64_t elements = RowElements(kRule.shape, call_);
    if (call_.rows > 1 && kRule.shape != Shape::kVector) {
      constexpr int64_t kMaxElements = INT64_MAX / 16;  // bytes of 8 each, and no sum of two overflows
      if (operand.row_stride > (kMaxElements - call_.cols) / (call_.rows - 1)) return false;
      elements += (call_.rows - 1) * operand.row_stride;
    }
    const uint64_t bytes = static_cast<uint64_t>(elements) * SizeOf(static_cast<Dtype>(operand.dtype));
    Extent& extent = extents_[kOperand];
    extent.begin = reinterpret_cast<uintptr_t>(operand.data);
    if (bytes > UINTPTR_MAX - extent.begin) return false;
    extent.end = extent.begin + static_cast<uintptr_t>(bytes);
    return true;
  }

  template <size_t... kOperand>
  addnorm_status LocateOperands(std::index_sequence<kOperand...>) {
    addnorm_status status = ADDNORM_OK;
    (void)((Locate<kOperand>() || (status = MakeStatus(ADDNORM_SIZE_TOO_LARGE, kOperands[kOperand].subject), false)) &&
           ...);
    return status;
  }

  template <size_t kOutput, size_t kOther>
  bool Overlaps() const {
    // Absent operands are empty, and overlap nothing.
    const Extent& a = extents_[kOutput];
    const Extent& b = extents_[kOther];
    if (kOutput == kOther || kUses[kOther] == Use::kForbidden || a.end <= b.begin || b.end <= a.begin) return false;
    return IsForbiddenOverlap(call_, kOperands[kOutput], kOperands[kOther]);
  }

  template <size_t kOutput, size_t... kOther>
  bool OverlapsAny(std::index_sequence<kOther...>) const {
    if constexpr (!kOperands[kOutput].is_output || kUses[kOutput] == Use::kForbidden) {
      return false;
    } else {
      return (Overlaps<kOutput, kOther>() || ...);
    }
  }

  template <size_t... kOperand>
  addnorm_status CheckOverlaps(std::index_sequence<kOperand...> operands) const {
    addnorm_status status = ADDNORM_OK;
    (void)((!OverlapsAny<kOperand>(operands) ||
            (status = MakeStatus(ADDNORM_FORBIDDEN_OVERLAP, kOperands[kOperand].subject), false)) &&
           ...);
    return status;
  }

  const Call& call_;
  const bool empty_;
  std::array<Extent, kOperands.size()> extents_;
};

}  // namespace internal

// Where the masks of a checked call's dropout lie.
addnorm_status ValidateMasks(const Call& call);

// Checks a call and finds the index of its dtypes in the family's list. On success, *index is kNothingToDo if rows or
// cols is 0.
template <addnorm_op kOp>
inline addnorm_status Validate(const Call& call, size_t* index) {
  return internal::Checks<kOp>(call).Run(index);
}

}  // namespace addnorm

#endif  // ADDNORM_SRC_VALIDATE_H_
