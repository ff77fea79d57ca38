// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
// Reading argument structs of any version.
#ifndef ADDNORM_SRC_ARGS_H_
#define ADDNORM_SRC_ARGS_H_

#include <cstddef>
#include <cstring>

#include "addnorm/addnorm.h"
#include "src/call.h"

namespace addnorm {

inline Operand ToOperand(const addnorm_input& in) {
  return {const_cast<void*>(in.data), in.row_stride, in.dtype, in.reserved};
}
inline Operand ToOperand(const addnorm_output& out) { return {out.data, out.row_stride, out.dtype, out.reserved}; }

// No struct will ever be as large: a size beyond it is a mistake, and its tail is not read.
inline constexpr size_t kMaxStructSize = 4096;

inline bool IsZero(const unsigned char* begin, const unsigned char* end) {
  while (begin != end && *begin == 0) ++begin;
  return begin == end;
}

// Where the required fields of a struct end, kRequired, and what the others are when not given, kDefaults.
template <class Args>
struct Layout;

// The arguments as this version knows them; *storage holds them if the caller's struct is shorter. Null if the size is
// wrong.
template <class Args>
inline const Args* ReadArgs(const Args* args, Args* storage) {
  const size_t size = args->struct_size;
  if (size == sizeof(Args)) return args;
  if (size < Layout<Args>::kRequired || size % 8 != 0 || size > kMaxStructSize) return nullptr;
  if (size > sizeof(Args)) {
    const auto* bytes = reinterpret_cast<const unsigned char*>(args);
    return IsZero(bytes + sizeof(Args), bytes + size) ? args : nullptr;
  }
  *storage = Layout<Args>::kDefaults;
  std::memcpy(storage, args, size);
  return storage;
}

}  // namespace addnorm

#endif  // ADDNORM_SRC_ARGS_H_
