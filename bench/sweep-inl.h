// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// Included by one source file for each width of vectors, compiled for that instruction set, with ADDNORM_SWEEP_BYTES.
// It includes no header with functions but the intrinsics, which are always inlined: none compiled for a newer CPU can
// end up in the rest of the program.
#include "sweep.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace addnorm_bench {
namespace {

constexpr size_t kBytes = ADDNORM_SWEEP_BYTES;
// Unaligned, and free to alias.
typedef unsigned int Vector __attribute__((vector_size(ADDNORM_SWEEP_BYTES), aligned(1), may_alias));

// Past the caches, to an aligned address.
#if defined(__clang__)
constexpr bool kHasStreaming = true;
typedef unsigned int AlignedVector __attribute__((vector_size(ADDNORM_SWEEP_BYTES), may_alias));
inline void Stream(Vector value, char* to) { __builtin_nontemporal_store(value, reinterpret_cast<AlignedVector*>(to)); }
#elif defined(__x86_64__)
constexpr bool kHasStreaming = true;
inline void Stream(Vector value, char* to) {
#if ADDNORM_SWEEP_BYTES == 64
  _mm512_stream_si512(reinterpret_cast<__m512i*>(to), reinterpret_cast<__m512i>(value));
#elif ADDNORM_SWEEP_BYTES == 32
  _mm256_stream_si256(reinterpret_cast<__m256i*>(to), reinterpret_cast<__m256i>(value));
#else
  _mm_stream_si128(reinterpret_cast<__m128i*>(to), reinterpret_cast<__m128i>(value));
#endif
}
#else
constexpr bool kHasStreaming = false;
inline void Stream(Vector, char*) {}
#endif

// Streaming stores become visible to other cores in any order until this.
inline void EndStream() {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

// The exclusive or of kCount vectors, all of which are read.
template <int kCount>
Vector LoadAll(const char* from, Vector value) {
  for (int i = 0; i < kCount; ++i) value ^= *reinterpret_cast<const Vector*>(from + static_cast<size_t>(i) * kBytes);
  return value;
}

template <int kCount, bool kStreaming>
void StoreAll(Vector value, char* to) {
  for (int i = 0; i < kCount; ++i) {
    char* const at = to + static_cast<size_t>(i) * kBytes;
    if constexpr (kStreaming) {
      Stream(value, at);
    } else {
      *reinterpret_cast<Vector*>(at) = value;
    }
  }
}

// Bytes that do not fill a vector.
template <int kInput0, int kInput1, int kInput2, int kVectors, int kOutput0, int kOutput1>
char SweepTail(const SweepOperands& o, size_t row, size_t begin) {
  char all = 0;
  for (size_t at = begin; at < o.row_bytes; ++at) {
    const size_t wide = row * o.row_bytes + at;
    char value = 0;
    for (size_t i = 0; i < kInput0; ++i) value = static_cast<char>(value ^ o.inputs[0][wide * kInput0 + i]);
    for (size_t i = 0; i < kInput1; ++i) value = static_cast<char>(value ^ o.inputs[1][wide * kInput1 + i]);
    for (size_t i = 0; i < kInput2; ++i) value = static_cast<char>(value ^ o.inputs[2][wide * kInput2 + i]);
    for (size_t i = 0; i < kOutput0; ++i) o.outputs[0][wide * kOutput0 + i] = value;
    for (size_t i = 0; i < kVectors; ++i) value = static_cast<char>(value ^ o.vectors[i][at]);
    for (size_t i = 0; i < kOutput1; ++i) o.outputs[1][wide * kOutput1 + i] = value;
    all = static_cast<char>(all ^ value);
  }
  return all;
}

// What is written once.
inline void StoreSums(const SweepOperands& o, Vector value) {
  for (char* const sum : o.sums) {
    if (sum == nullptr) continue;
    size_t at = 0;
    for (; at + kBytes <= o.sum_bytes; at += kBytes) StoreAll<1, false>(value, sum + at);
    for (; at < o.sum_bytes; ++at) sum[at] = 0;
  }
}

template <int kInput0, int kInput1, int kInput2, int kVectors, int kOutput0, int kOutput1, int kUnroll, bool kStreaming>
void SweepRows(const SweepOperands& operands) {
  const SweepOperands o = operands;  // no store of the loop can change it: it stays in registers
  Vector kept[kUnroll] = {};         // what is read must be used where nothing is written
  char tail = 0;
  const auto row_of = [&](auto* first, size_t row, int width) {
    return width != 0 ? first + row * o.row_bytes * static_cast<size_t>(width) : nullptr;
  };
  for (size_t row = 0; row < o.rows; ++row) {
    const char* const input0 = row_of(o.inputs[0], row, kInput0);
    const char* const input1 = row_of(o.inputs[1], row, kInput1);
    const char* const input2 = row_of(o.inputs[2], row, kInput2);
    char* const output0 = row_of(o.outputs[0], row, kOutput0);
    char* const output1 = row_of(o.outputs[1], row, kOutput1);
    const auto step = [&](size_t at, int slot) {
      Vector value = LoadAll<kInput0>(input0 + at * kInput0, Vector{});
      value = LoadAll<kInput1>(input1 + at * kInput1, value);
      value = LoadAll<kInput2>(input2 + at * kInput2, value);
      StoreAll<kOutput0, kStreaming>(value, output0 + at * kOutput0);
      for (int i = 0; i < kVectors; ++i) value = LoadAll<1>(o.vectors[i] + at, value);
      StoreAll<kOutput1, kStreaming>(value, output1 + at * kOutput1);
      if (kOutput0 == 0 && kOutput1 == 0) kept[slot] ^= value;
    };
    size_t at = 0;
    for (; at + kUnroll * kBytes <= o.row_bytes; at += kUnroll * kBytes) {
      for (int slot = 0; slot < kUnroll; ++slot) step(at + static_cast<size_t>(slot) * kBytes, slot);
    }
    for (; at + kBytes <= o.row_bytes; at += kBytes) step(at, 0);
    if (at < o.row_bytes) {
      tail = static_cast<char>(tail ^ SweepTail<kInput0, kInput1, kInput2, kVectors, kOutput0, kOutput1>(o, row, at));
    }
  }
  if (kStreaming) EndStream();
  Vector all = {};
  for (int slot = 0; slot < kUnroll; ++slot) all ^= kept[slot];
  StoreSums(o, all);
  __asm__ volatile("" : : "m"(all), "m"(tail) : "memory");
}

// Each loop as it stands, and unrolled.
template <int... kWidths>
constexpr SweepLoop kLoops[kSweepLoops] = {
    {1, false, &SweepRows<kWidths..., 1, false>},
    {2, false, &SweepRows<kWidths..., 2, false>},
    {4, false, &SweepRows<kWidths..., 4, false>},
    {1, true, kHasStreaming ? &SweepRows<kWidths..., 1, kHasStreaming> : nullptr},
    {4, true, kHasStreaming ? &SweepRows<kWidths..., 4, kHasStreaming> : nullptr}};

template <int kInput0, int kInput1, int kInput2, int kVectors, int kOutput0, int kOutput1>
constexpr Sweep kSweep = {{{kInput0, kInput1, kInput2}, kVectors, {kOutput0, kOutput1}},
                          kLoops<kInput0, kInput1, kInput2, kVectors, kOutput0, kOutput1>};

constexpr Sweep kSweeps[] = {
    kSweep<1, 0, 0, 0, 0, 0>,                                                      // reductions
    kSweep<1, 1, 0, 0, 1, 0>, kSweep<1, 2, 0, 0, 2, 0>, kSweep<1, 1, 0, 0, 2, 0>,  // add
    // Without gamma, with gamma, with gamma and beta:
    kSweep<1, 0, 0, 0, 0, 1>, kSweep<1, 0, 0, 1, 0, 1>, kSweep<1, 0, 0, 2, 0, 1>,  // norms, and a copy
    kSweep<2, 0, 0, 0, 0, 1>, kSweep<2, 0, 0, 1, 0, 1>, kSweep<2, 0, 0, 2, 0, 1>,  //
    kSweep<1, 1, 0, 0, 1, 1>, kSweep<1, 1, 0, 1, 1, 1>, kSweep<1, 1, 0, 2, 1, 1>,  // add and norm
    kSweep<1, 2, 0, 0, 2, 1>, kSweep<1, 2, 0, 1, 2, 1>, kSweep<1, 2, 0, 2, 2, 1>,  //
    kSweep<1, 1, 0, 0, 2, 1>, kSweep<1, 1, 0, 1, 2, 1>, kSweep<1, 1, 0, 2, 2, 1>,  //
    kSweep<1, 1, 0, 0, 0, 1>, kSweep<1, 1, 0, 1, 0, 1>, kSweep<1, 1, 0, 2, 0, 1>,  // norm and add
    kSweep<1, 2, 0, 0, 0, 2>, kSweep<1, 2, 0, 1, 0, 2>, kSweep<1, 2, 0, 2, 0, 2>,  //
    // Backward, with gamma: dy, x and d_sum; d_residual and dx.
    kSweep<0, 0, 1, 0, 1, 1>, kSweep<0, 0, 2, 0, 2, 1>, kSweep<0, 0, 2, 0, 1, 1>,  // add
    kSweep<1, 2, 0, 1, 0, 2>,                                                      // norms; or as norm and add
    kSweep<1, 1, 1, 1, 1, 1>, kSweep<1, 2, 2, 1, 2, 1>, kSweep<1, 2, 2, 1, 1, 1>,  // add and norm
    kSweep<2, 1, 0, 1, 2, 1>,                                                      // norm and add; or as add and norm
};

constexpr int kSweepCount = static_cast<int>(sizeof(kSweeps) / sizeof(kSweeps[0]));

}  // namespace
}  // namespace addnorm_bench
