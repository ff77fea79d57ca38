// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
// What a caller can ask the library about itself.
#include "addnorm/addnorm.h"
#include "src/lists.h"
#include "src/statistics.h"
#include "src/status.h"

namespace addnorm {
namespace {

template <Family kFamily>
addnorm_status ReadList(int32_t index, addnorm_dtypes* dtypes) {
  const auto& list = PromisedDtypes<kFamily>();
  if (index < 0 || static_cast<size_t>(index) >= list.size()) return ADDNORM_OUT_OF_RANGE;
  const Dtypes& d = list[static_cast<size_t>(index)];
  const auto number = [](Dtype dtype) { return static_cast<addnorm_dtype>(dtype); };
  *dtypes = {number(d.x), number(d.residual), number(d.sum), number(d.y), number(VectorDtype(d))};
  return ADDNORM_OK;
}

}  // namespace
}  // namespace addnorm

extern "C" {

addnorm_status addnorm_promised_dtypes(addnorm_op op, int32_t index, addnorm_dtypes* dtypes) {
  using addnorm::Family;
  if (op < 0 || op >= ADDNORM_OP_COUNT) return ADDNORM_OUT_OF_RANGE;
  if (dtypes == nullptr) return ADDNORM_NULL_POINTER;
  switch (addnorm::kOps[static_cast<size_t>(op)].family) {
    case Family::kReduce:
      return addnorm::ReadList<Family::kReduce>(index, dtypes);
    case Family::kAdd:
      return addnorm::ReadList<Family::kAdd>(index, dtypes);
    case Family::kNorm:
      return addnorm::ReadList<Family::kNorm>(index, dtypes);
    case Family::kAddNorm:
      return addnorm::ReadList<Family::kAddNorm>(index, dtypes);
    case Family::kNormAdd:
      break;
  }
  return addnorm::ReadList<Family::kNormAdd>(index, dtypes);
}

uint32_t addnorm_version(void) { return ADDNORM_VERSION_NUMBER; }

uint32_t addnorm_numerics_version(void) { return addnorm::kNumericsVersion; }

}  // extern "C"
