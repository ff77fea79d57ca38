// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#include "row.h"

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "support/args.h"

namespace addnorm_test {
namespace {

addnorm_output ToOperand(const Elements& elements) {
  if (elements.empty()) return {nullptr, 0, 0, 0};
  return {const_cast<void*>(elements.data()), 0, elements.dtype(), 0};
}

void Widen(const std::vector<unsigned char>& from, addnorm_dtype dtype, size_t count, std::vector<float>* to) {
  to->resize(count);
  if (dtype == ADDNORM_F32) {
    std::memcpy(to->data(), from.data(), count * sizeof(float));
    return;
  }
  for (size_t i = 0; i < count; ++i) {
    (*to)[i] = static_cast<float>(LoadValue(from.data(), static_cast<int64_t>(i), dtype));
  }
}

}  // namespace

void Caller::Run(const Row& row, Result* result) {
  const OpFields& op = *row.op_case->fields;
  y_.resize(row.cols() * 4);
  sum_.resize(row.cols() * 4);
  Args args(op);
  args.set_rows(1);
  args.set_cols(static_cast<int64_t>(row.cols()));
  const auto output = [&row](std::vector<unsigned char>& memory) {
    return addnorm_output{memory.data(), 0, row.dtype(), 0};
  };
  for (const OperandField& field : op.operands) {
    switch (OperandOf(field)) {
      case kX:
        args.Set(field, ToOperand(row.x));
        break;
      case kResidual:
        args.Set(field, ToOperand(row.residual));
        break;
      case kGamma:
        args.Set(field, ToOperand(row.gamma));
        break;
      case kBeta:
        args.Set(field, ToOperand(row.beta));
        break;
      case kY:
        args.Set(field, output(y_));
        break;
      case kSumOut:
        args.Set(field, output(sum_));
        break;
      case kMean:
        if (field.required) args.Set(field, {&result->mean, 0, ADDNORM_F64, 0});
        break;
      case kVariance:
        args.Set(field, {&result->variance, 0, ADDNORM_F64, 0});
        break;
      case kMeanSquare:
        args.Set(field, {&result->mean_square, 0, ADDNORM_F64, 0});
        break;
      case kRms:
        args.Set(field, {&result->rms, 0, ADDNORM_F64, 0});
        break;
      default:
        break;
    }
  }
  for (const NumberField& field : op.numbers) {
    if (std::strcmp(field.name, "epsilon") == 0) args.Set(field, row.epsilon);
    if (std::strcmp(field.name, "residual_scale") == 0) args.Set(field, static_cast<double>(row.residual_scale));
  }
  for (const DtypeField& field : op.dtypes) {
    if (std::strcmp(field.name, "norm_out_dtype") == 0) args.Set(field, ADDNORM_F32);
  }
  const addnorm_status status = args.Call();
  if (status != ADDNORM_OK) {
    std::fprintf(stderr, "%s: %s\n", op.name, addnorm_status_text(status));
    std::abort();
  }
  if (IsNorm(row.op())) Widen(y_, row.dtype(), row.cols(), &result->y);
  if (AddsBefore(row.op())) Widen(sum_, row.dtype(), row.cols(), &result->sum);
}

float SummedElement(const Row& row, size_t i) {
  if (!AddsBefore(row.op())) return row.x[i];
  return RoundF32To(FusedF32(row.residual_scale, row.residual[i], row.x[i]), row.dtype());
}

std::string RowText(const Row& row, size_t at) {
  char text[160];
  std::snprintf(text, sizeof(text), "%s %s at %zu epsilon %a residual_scale %a", row.op_case->fields->name,
                DtypeName(row.dtype()), at, row.epsilon, static_cast<double>(row.residual_scale));
  std::string line = text;
  const auto add = [&](const char* name, const Elements& elements, bool all) {
    if (elements.empty()) return;
    line += std::string(" ") + name;
    for (size_t i = all ? 0 : at; i < (all ? elements.size() : at + 1); ++i) {
      std::snprintf(text, sizeof(text), " %" PRIx32, elements.Bits(i));
      line += text;
    }
  };
  add("gamma", row.gamma, false);
  add("beta", row.beta, false);
  add("residual", row.residual, AddsBefore(row.op()));
  add("x", row.x, true);
  return line;
}

}  // namespace addnorm_test
