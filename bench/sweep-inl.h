// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// Included by one source file for each width of vectors, compiled for that instruction set, with ADDNORM_SWEEP_BYTES.
// It includes no header with functions, so that none compiled for a newer CPU can end up in the rest of the program.
#include "sweep.h"

namespace addnorm_bench {
namespace {

constexpr size_t kBytes = ADDNORM_SWEEP_BYTES;
// Unaligned, and free to alias.
typedef unsigned int Vector __attribute__((vector_size(ADDNORM_SWEEP_BYTES), aligned(1), may_alias));

// The exclusive or of kCount vectors, all of which are read.
template <int kCount>
Vector LoadAll(const char* from, Vector value) {
  for (int i = 0; i < kCount; ++i) value ^= *reinterpret_cast<const Vector*>(from + static_cast<size_t>(i) * kBytes);
  return value;
}

template <int kCount>
void StoreAll(Vector value, char* to) {
  for (int i = 0; i < kCount; ++i) *reinterpret_cast<Vector*>(to + static_cast<size_t>(i) * kBytes) = value;
}

// Bytes that do not fill a vector.
template <int kX, int kResidual, int kVectors, int kSum, int kY>
char SweepTail(const SweepOperands& o, size_t row, size_t begin) {
  char all = 0;
  for (size_t at = begin; at < o.row_bytes; ++at) {
    const size_t wide = row * o.row_bytes + at;
    char value = 0;
    for (size_t i = 0; i < kX; ++i) value = static_cast<char>(value ^ o.x[wide * kX + i]);
    for (size_t i = 0; i < kResidual; ++i) value = static_cast<char>(value ^ o.residual[wide * kResidual + i]);
    for (size_t i = 0; i < kSum; ++i) o.sum[wide * kSum + i] = value;
    for (size_t i = 0; i < kVectors; ++i) value = static_cast<char>(value ^ o.vectors[i][at]);
    for (size_t i = 0; i < kY; ++i) o.y[wide * kY + i] = value;
    all = static_cast<char>(all ^ value);
  }
  return all;
}

template <int kX, int kResidual, int kVectors, int kSum, int kY, int kUnroll>
void SweepRows(const SweepOperands& operands) {
  const SweepOperands o = operands;  // no store of the loop can change it: it stays in registers
  Vector kept[kUnroll] = {};         // what is read must be used where nothing is written
  char tail = 0;
  for (size_t row = 0; row < o.rows; ++row) {
    const char* const x = o.x + row * o.row_bytes * kX;
    const char* const residual = kResidual != 0 ? o.residual + row * o.row_bytes * kResidual : nullptr;
    char* const sum = kSum != 0 ? o.sum + row * o.row_bytes * kSum : nullptr;
    char* const y = kY != 0 ? o.y + row * o.row_bytes * kY : nullptr;
    const auto step = [&](size_t at, int slot) {
      Vector value = LoadAll<kX>(x + at * kX, Vector{});
      value = LoadAll<kResidual>(residual + at * kResidual, value);
      StoreAll<kSum>(value, sum + at * kSum);
      for (int i = 0; i < kVectors; ++i) value = LoadAll<1>(o.vectors[i] + at, value);
      StoreAll<kY>(value, y + at * kY);
      if (kSum == 0 && kY == 0) kept[slot] ^= value;
    };
    size_t at = 0;
    for (; at + kUnroll * kBytes <= o.row_bytes; at += kUnroll * kBytes) {
      for (int slot = 0; slot < kUnroll; ++slot) step(at + static_cast<size_t>(slot) * kBytes, slot);
    }
    for (; at + kBytes <= o.row_bytes; at += kBytes) step(at, 0);
    if (at < o.row_bytes) tail = static_cast<char>(tail ^ SweepTail<kX, kResidual, kVectors, kSum, kY>(o, row, at));
  }
  Vector all = {};
  for (int slot = 0; slot < kUnroll; ++slot) all ^= kept[slot];
  __asm__ volatile("" : : "m"(all), "m"(tail) : "memory");
}

// Each loop as it stands, and unrolled.
#define ADDNORM_SWEEP(x, residual, vectors, sum, y)                                       \
  {{x, residual, vectors, sum, y}, 1, &SweepRows<x, residual, vectors, sum, y, 1>},       \
      {{x, residual, vectors, sum, y}, 2, &SweepRows<x, residual, vectors, sum, y, 2>}, { \
    {x, residual, vectors, sum, y}, 4, &SweepRows<x, residual, vectors, sum, y, 4>        \
  }
// Without gamma, with gamma, with gamma and beta.
#define ADDNORM_NORM_SWEEPS(x, residual, sum, y) \
  ADDNORM_SWEEP(x, residual, 0, sum, y), ADDNORM_SWEEP(x, residual, 1, sum, y), ADDNORM_SWEEP(x, residual, 2, sum, y)

constexpr Sweep kSweeps[] = {
    ADDNORM_SWEEP(1, 0, 0, 0, 0),                                   // reductions
    ADDNORM_SWEEP(1, 1, 0, 1, 0),                                   // add
    ADDNORM_SWEEP(1, 2, 0, 2, 0),    ADDNORM_SWEEP(1, 1, 0, 2, 0),  //
    ADDNORM_NORM_SWEEPS(1, 0, 0, 1),                                // norms, and a copy
    ADDNORM_NORM_SWEEPS(2, 0, 0, 1),                                //
    ADDNORM_NORM_SWEEPS(1, 1, 1, 1),                                // add and norm
    ADDNORM_NORM_SWEEPS(1, 2, 2, 1),                                //
    ADDNORM_NORM_SWEEPS(1, 1, 2, 1),                                //
    ADDNORM_NORM_SWEEPS(1, 1, 0, 1),                                // norm and add
    ADDNORM_NORM_SWEEPS(1, 2, 0, 2),                                //
};

#undef ADDNORM_NORM_SWEEPS
#undef ADDNORM_SWEEP

constexpr int kSweepCount = static_cast<int>(sizeof(kSweeps) / sizeof(kSweeps[0]));

}  // namespace
}  // namespace addnorm_bench
