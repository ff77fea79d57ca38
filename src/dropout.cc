// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#include "src/dropout.h"

#include "src/args.h"
#include "src/status.h"

namespace addnorm {

template <>
struct Layout<addnorm_dropout> {
  static constexpr size_t kRequired = offsetof(addnorm_dropout, first_row);
  static constexpr addnorm_dropout kDefaults = ADDNORM_DROPOUT_INIT;
};

addnorm_status ReadDropout(const addnorm_dropout& given, Dropout* dropout) {
  addnorm_dropout storage;
  const addnorm_dropout* args = ReadArgs(&given, &storage);
  if (args == nullptr) return MakeStatus(ADDNORM_WRONG_STRUCT_SIZE, Subject::kDropout);
  const double p = args->probability;
  if (!(p >= 0.0 && p <= 1.0)) return MakeStatus(ADDNORM_BAD_NUMBER, Subject::kProbability);
  const double numbers = p * 0x1p32;  // that are dropped, exact
  const auto whole = static_cast<uint64_t>(numbers);
  dropout->seed = args->seed;
  dropout->first_row = args->first_row;
  dropout->threshold = whole + (numbers - static_cast<double>(whole) >= 0.5 ? 1 : 0);
  dropout->scale = p < 1.0 ? static_cast<float>(1.0 / (1.0 - p)) : 0.0f;
  dropout->mask = p == 1.0 ? nullptr : args->mask;  // whatever it says, nothing is kept
  dropout->mask_row_stride = args->mask_row_stride;
  dropout->mask_out = args->mask_out;
  dropout->mask_out_row_stride = args->mask_out_row_stride;
  return ADDNORM_OK;
}

namespace {

using internal::Overlap;
using internal::Region;

// Fills in where a mask lies. False if it reaches beyond the address space.
bool Locate(const uint8_t* data, int64_t rows, int64_t cols, int64_t stride, bool is_output, Region* region) {
  if (rows > 1 && stride > INT64_MAX / 16 / (rows - 1)) return false;
  const auto row_bytes = static_cast<uintptr_t>(MaskBytes(cols));
  *region = {data, row_bytes, rows > 1 ? static_cast<uintptr_t>(stride) : 0, 0, false, is_output};
  return static_cast<uint64_t>(rows - 1) * region->stride_bytes + row_bytes <=
         UINTPTR_MAX - reinterpret_cast<uintptr_t>(data);
}

}  // namespace

addnorm_status CheckMasks(const Dropout& dropout, int64_t rows, int64_t cols, const Region* operands, size_t count) {
  Region mask = {}, mask_out = {};
  const auto place = [&](const uint8_t* data, int64_t stride, Subject subject, Region* region) -> addnorm_status {
    if (data == nullptr) return ADDNORM_OK;
    if (rows > 1 && stride < MaskBytes(cols)) return MakeStatus(ADDNORM_STRIDE_TOO_SMALL, subject);
    if (!Locate(data, rows, cols, stride, subject == Subject::kMaskOut, region)) {
      return MakeStatus(ADDNORM_SIZE_TOO_LARGE, subject);
    }
    return ADDNORM_OK;
  };
  addnorm_status status = place(dropout.mask, dropout.mask_row_stride, Subject::kMask, &mask);
  if (status != ADDNORM_OK) return status;
  status = place(dropout.mask_out, dropout.mask_out_row_stride, Subject::kMaskOut, &mask_out);
  if (status != ADDNORM_OK) return status;
  if (Overlap(mask_out, mask, rows)) return MakeStatus(ADDNORM_FORBIDDEN_OVERLAP, Subject::kMaskOut);
  for (size_t i = 0; i < count; ++i) {
    if (Overlap(mask_out, operands[i], rows)) return MakeStatus(ADDNORM_FORBIDDEN_OVERLAP, Subject::kMaskOut);
    if (operands[i].is_output && Overlap(operands[i], mask, rows)) {
      return MakeStatus(ADDNORM_FORBIDDEN_OVERLAP, Subject::kMask);
    }
  }
  return ADDNORM_OK;
}

}  // namespace addnorm
