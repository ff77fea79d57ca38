// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
// Every precondition of every call.
#ifndef ADDNORM_SRC_VALIDATE_H_
#define ADDNORM_SRC_VALIDATE_H_

#include <cstddef>

#include "src/call.h"
#include "src/lists.h"
#include "src/status.h"

namespace addnorm {

// Checks a call and finds the index of its dtypes in the family's list. On success, *index is kNothingToDo if rows or
// cols is 0.
inline constexpr size_t kNothingToDo = ~size_t{0};
addnorm_status Validate(addnorm_op op, const Call& call, size_t* index);

}  // namespace addnorm

#endif  // ADDNORM_SRC_VALIDATE_H_
