// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
// Every precondition of the backward calls, against one table of operands. They are long enough for a loop.
#include <array>
#include <cstddef>
#include <cstdint>

#include "src/backward.h"
#include "src/dropout.h"
#include "src/overlap.h"
#include "src/status.h"
#include "src/validate.h"

namespace addnorm {
namespace {

using internal::Region;
using internal::Shape;
using internal::Use;

struct Rule {
  Operand BackwardCall::* operand;
  Subject subject;
  Shape shape;
  bool is_output;
};

constexpr std::array<Rule, 11> kRules = {{
    {&BackwardCall::dy, Subject::kDy, Shape::kMatrix, false},
    {&BackwardCall::x, Subject::kX, Shape::kMatrix, false},
    {&BackwardCall::d_sum, Subject::kDSum, Shape::kMatrix, false},
    {&BackwardCall::gamma, Subject::kGamma, Shape::kVector, false},
    {&BackwardCall::mean, Subject::kMean, Shape::kColumn, false},
    {&BackwardCall::rstd, Subject::kRstd, Shape::kColumn, false},
    {&BackwardCall::dx, Subject::kDx, Shape::kMatrix, true},
    {&BackwardCall::d_residual, Subject::kDResidual, Shape::kMatrix, true},
    {&BackwardCall::dgamma, Subject::kDGamma, Shape::kVector, true},
    {&BackwardCall::dbeta, Subject::kDBeta, Shape::kVector, true},
    {&BackwardCall::dbias, Subject::kDBias, Shape::kVector, true},
}};

// How an operation uses each of kRules.
std::array<Use, kRules.size()> UsesOf(const Op& op) {
  constexpr Use kYes = Use::kRequired, kMay = Use::kOptional, kNo = Use::kForbidden;
  const Use mean = op.statistic == Statistic::kLayerNorm ? kMay : kNo;
  switch (op.family) {
    case Family::kAdd:
      return {kNo, kNo, kYes, kNo, kNo, kNo, kMay, kMay, kNo, kNo, kMay};
    case Family::kAddNorm:
      return {kYes, kYes, kMay, kMay, mean, kMay, kMay, kMay, kMay, kMay, kMay};
    case Family::kNormAdd:
      return {kYes, kYes, kNo, kMay, mean, kMay, kMay, kMay, kMay, kMay, kNo};
    default:
      return {kYes, kYes, kNo, kMay, mean, kMay, kMay, kNo, kMay, kMay, kNo};
  }
}

// A sum over rows may be what a statistic may be.
bool Allows(const Rule& rule, addnorm_dtype dtype) {
  const bool is_sum = rule.shape == Shape::kVector && rule.is_output;
  return internal::Allows(is_sum ? Shape::kColumn : rule.shape, dtype);
}

class Checks {
 public:
  Checks(addnorm_op op, const BackwardCall& call) : op_(kOps[static_cast<size_t>(op)]), call_(call) {}

  addnorm_status Run() {
    const std::array<Use, kRules.size()> uses = UsesOf(op_);
    addnorm_status status = internal::CheckNumbers(call_);
    if (status != ADDNORM_OK) return status;
    for (size_t i = 0; i < kRules.size(); ++i) {
      status = CheckOperand(kRules[i], uses[i]);
      if (status != ADDNORM_OK) return status;
    }
    status = CheckStatistics();
    if (status != ADDNORM_OK || IsEmpty()) return status;
    if (call_.rows != 0) {
      status = CheckDtypes();
      if (status != ADDNORM_OK) return status;
    }
    for (size_t i = 0; i < kRules.size(); ++i) {
      if (!Locate(kRules[i], &regions_[i])) {
        return MakeStatus(ADDNORM_SIZE_TOO_LARGE, kRules[i].subject);
      }
    }
    status = CheckWorkspace();
    if (status == ADDNORM_OK) status = CheckOverlaps();
    if (status != ADDNORM_OK || call_.dropout == nullptr || call_.rows == 0) return status;
    return CheckMasks(*call_.dropout, call_.rows, call_.cols, regions_.data(), regions_.size());
  }

 private:
  static constexpr size_t kWorkspaceRegion = kRules.size();

  // Nothing is written: only sums over rows are of no rows at all.
  bool IsEmpty() const { return call_.cols == 0 || (call_.rows == 0 && call_.Sums() == 0); }

  addnorm_status CheckOperand(const Rule& rule, Use use) const {
    const Operand& operand = call_.*rule.operand;
    if (operand.data == nullptr) {
      const bool missing = use == Use::kRequired && call_.rows != 0 && call_.cols != 0;
      return missing ? MakeStatus(ADDNORM_NULL_POINTER, rule.subject) : ADDNORM_OK;
    }
    if (use == Use::kForbidden) return MakeStatus(ADDNORM_UNUSED_OPERAND, rule.subject);
    if (operand.reserved != 0) return MakeStatus(ADDNORM_RESERVED_NOT_ZERO, rule.subject);
    if (!Allows(rule, operand.dtype)) return MakeStatus(ADDNORM_UNKNOWN_DTYPE, rule.subject);
    if (reinterpret_cast<uintptr_t>(operand.data) % SizeOf(static_cast<Dtype>(operand.dtype)) != 0) {
      return MakeStatus(ADDNORM_UNALIGNED, rule.subject);
    }
    if (call_.rows > 1) {
      const bool good = rule.shape == Shape::kVector ? operand.row_stride == 0
                                                     : operand.row_stride >= internal::RowElements(rule.shape, call_);
      if (!good) return MakeStatus(ADDNORM_STRIDE_TOO_SMALL, rule.subject);
    }
    return ADDNORM_OK;
  }

  // Both or neither, where the operation has both; and something to compute.
  addnorm_status CheckStatistics() const {
    const bool mean = call_.mean.data != nullptr, rstd = call_.rstd.data != nullptr;
    if (op_.statistic == Statistic::kLayerNorm && mean != rstd) {
      return MakeStatus(ADDNORM_MISSING_STATISTIC, mean ? Subject::kRstd : Subject::kMean);
    }
    const bool any = call_.dx.data != nullptr || call_.d_residual.data != nullptr || call_.Sums() != 0;
    if (!any && call_.rows != 0 && call_.cols != 0) return MakeStatus(ADDNORM_NULL_POINTER, Subject::kDx);
    return ADDNORM_OK;
  }

  // ---- Dtypes: each gradient has that of its operand in the forward call. What is absent fits any.

  static bool Fits(const Operand& operand, Dtype dtype) {
    return operand.data == nullptr || operand.dtype == static_cast<addnorm_dtype>(dtype);
  }

  bool Matches(const Dtypes& d) const {
    const bool is_sum = op_.family == Family::kAddNorm;  // what was normalized
    return Fits(call_.dy, d.y) && Fits(call_.x, is_sum ? d.sum : d.x) && Fits(call_.d_sum, d.sum) &&
           Fits(call_.dx, d.x) && Fits(call_.d_residual, d.residual);
  }

  template <Family kFamily>
  addnorm_status CheckDtypesOf() const {
    for (const Dtypes& d : PromisedDtypes<kFamily>()) {
      if (!Matches(d)) continue;
      return Fits(call_.gamma, Dtype::kF32) || Fits(call_.gamma, VectorDtype(d))
                 ? ADDNORM_OK
                 : MakeStatus(ADDNORM_UNPROMISED_DTYPES, Subject::kGamma);
    }
    return MakeStatus(ADDNORM_UNPROMISED_DTYPES, kFamily == Family::kAdd ? Subject::kDSum : Subject::kDy);
  }

  addnorm_status CheckDtypes() const {
    switch (op_.family) {
      case Family::kAdd:
        return CheckDtypesOf<Family::kAdd>();
      case Family::kAddNorm:
        return CheckDtypesOf<Family::kAddNorm>();
      case Family::kNormAdd:
        return CheckDtypesOf<Family::kNormAdd>();
      default:
        return CheckDtypesOf<Family::kNorm>();
    }
  }

  // ---- Memory

  // Fills in where an operand lies. False if it reaches beyond the address space.
  bool Locate(const Rule& rule, Region* region) const {
    const Operand& operand = call_.*rule.operand;
    *region = {nullptr, 0, 0, 0, false, false};
    if (operand.data == nullptr || (call_.rows == 0 && rule.shape != Shape::kVector)) return true;
    const bool one_row = call_.rows <= 1 || rule.shape == Shape::kVector;
    int64_t elements = internal::RowElements(rule.shape, call_);
    if (!one_row) {
      constexpr int64_t kMaxElements = INT64_MAX / 16;  // bytes of 8 each, and no sum of two overflows
      if (operand.row_stride > (kMaxElements - call_.cols) / (call_.rows - 1)) return false;
      elements += (call_.rows - 1) * operand.row_stride;
    }
    *region = internal::RegionOf(call_, rule);
    const uint64_t bytes = static_cast<uint64_t>(elements) * SizeOf(static_cast<Dtype>(operand.dtype));
    return bytes <= UINTPTR_MAX - reinterpret_cast<uintptr_t>(operand.data);
  }

  addnorm_status CheckWorkspace() {
    const size_t sums = call_.Sums();
    regions_[kWorkspaceRegion] = {nullptr, 0, 0, 0, false, true};
    if (sums == 0 || call_.rows == 0) return ADDNORM_OK;
    const size_t bytes = WorkspaceBytes(call_.rows, call_.cols, sums);
    if (bytes == 0) return MakeStatus(ADDNORM_SIZE_TOO_LARGE, Subject::kCols);
    if (call_.workspace == nullptr) return MakeStatus(ADDNORM_NULL_POINTER, Subject::kWorkspace);
    const auto begin = reinterpret_cast<uintptr_t>(call_.workspace);
    if (begin % ADDNORM_WORKSPACE_ALIGNMENT != 0) return MakeStatus(ADDNORM_UNALIGNED, Subject::kWorkspace);
    if (call_.workspace_size < bytes) return MakeStatus(ADDNORM_SMALL_WORKSPACE, Subject::kWorkspace);
    if (bytes > UINTPTR_MAX - begin) return MakeStatus(ADDNORM_SIZE_TOO_LARGE, Subject::kWorkspace);
    regions_[kWorkspaceRegion].data = call_.workspace;
    regions_[kWorkspaceRegion].row_bytes = bytes;
    return ADDNORM_OK;
  }

  addnorm_status CheckOverlaps() const {
    for (size_t i = 0; i < regions_.size(); ++i) {
      if (!regions_[i].is_output) continue;
      for (size_t j = 0; j < regions_.size(); ++j) {
        if (i != j && internal::Overlap(regions_[i], regions_[j], call_.rows)) {
          return MakeStatus(ADDNORM_FORBIDDEN_OVERLAP, i == kWorkspaceRegion ? Subject::kWorkspace : kRules[i].subject);
        }
      }
    }
    return ADDNORM_OK;
  }

  const Op op_;
  const BackwardCall& call_;
  std::array<Region, kRules.size() + 1> regions_;
};

}  // namespace

addnorm_status ValidateBackward(addnorm_op op, const BackwardCall& call) { return Checks(op, call).Run(); }

size_t WorkspaceBytes(int64_t rows, int64_t cols, size_t sums) {
  const uint64_t bytes = static_cast<uint64_t>(BlockCount(rows)) * static_cast<uint64_t>(SumElements(cols)) *
                         static_cast<uint64_t>(sums) * sizeof(double);
  return bytes <= SIZE_MAX ? static_cast<size_t>(bytes) : 0;
}

}  // namespace addnorm
