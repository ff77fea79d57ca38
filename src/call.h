// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
// What every public function is lowered to, and what every kernel takes.
#ifndef ADDNORM_SRC_CALL_H_
#define ADDNORM_SRC_CALL_H_

#include <cstddef>
#include <cstdint>

#include "src/lists.h"

namespace addnorm {

struct Dropout;

// A matrix, vector or column: addnorm_input and addnorm_output without the difference. Where data is null nothing else
// is looked at, nor set: clearing all of a Call takes longer than a short row.
struct Operand {
  Operand() = default;
  Operand(void* to, int64_t stride, addnorm_dtype type, int32_t zero)
      : data(to), row_stride(stride), dtype(type), reserved(zero) {}

  void* data = nullptr;
  int64_t row_stride;
  addnorm_dtype dtype;
  int32_t reserved;

  // Start of a row; T is the storage type that dtype stands for.
  template <class T>
  T* Row(int64_t row) const {
    return static_cast<T*>(data) + row * row_stride;
  }

  void SkipRows(int64_t rows) {
    if (data == nullptr) return;
    data = static_cast<char*>(data) + rows * row_stride * static_cast<int64_t>(SizeOf(static_cast<Dtype>(dtype)));
  }

  // Writes the one value of a row of a statistic, f32 or f64, if the caller asked for it.
  void StoreStatistic(int64_t row, double value) const {
    if (data == nullptr) return;
    if (dtype == ADDNORM_F64) {
      *Row<double>(row) = value;
    } else {
      *Row<float>(row) = static_cast<float>(value);
    }
  }
};

// One checked call: the union of all argument structs. Absent operands have null data.
struct Call {
  int64_t rows = 0;
  int64_t cols = 0;
  Operand x, residual, gamma, beta, bias;
  Operand y, sum_out, mean, rstd, variance, mean_square, rms;
  double epsilon = 0.0;
  float gamma_offset = 0.0f;
  float residual_scale = 1.0f;
  addnorm_dtype sum_dtype = 0;
  addnorm_dtype norm_dtype = ADDNORM_F32;
  addnorm_dtype norm_out_dtype = ADDNORM_F32;
  addnorm_store store = ADDNORM_STORE_AUTOMATIC;
  bool streams = false;              // what becomes of `store`
  const Dropout* dropout = nullptr;  // of what is added to the residual
  int64_t first_row = 0;             // the number of row 0 in the caller's call

  // The same of the rows `begin` to `end` alone.
  Call Range(int64_t begin, int64_t end) const {
    Call part = *this;
    part.rows = end - begin;
    part.first_row += begin;
    for (Operand Call::* member : {&Call::x, &Call::residual, &Call::y, &Call::sum_out, &Call::mean, &Call::rstd,
                                   &Call::variance, &Call::mean_square, &Call::rms}) {
      (part.*member).SkipRows(begin);
    }
    return part;
  }
};

// Whether an output of a call is stored past the caches: if the caller wants it, or where it was measured to gain, a
// reader of the output included (docs/BENCHMARKS.md). All whole vectors have to be aligned.
inline bool Streams(const Call& call, const Operand& output) {
  constexpr int64_t kMinElements = int64_t{1} << 23;
  constexpr uintptr_t kAlignment = 64;
  const bool wanted = call.store == ADDNORM_STORE_AUTOMATIC ? call.rows * call.cols >= kMinElements
                                                            : call.store == ADDNORM_STORE_STREAMING;
  return wanted && output.dtype == ADDNORM_F32 && reinterpret_cast<uintptr_t>(output.data) % kAlignment == 0 &&
         (call.rows == 1 || static_cast<uintptr_t>(output.row_stride) * sizeof(float) % kAlignment == 0);
}

using Kernel = void (*)(const Call&);

}  // namespace addnorm

#endif  // ADDNORM_SRC_CALL_H_
