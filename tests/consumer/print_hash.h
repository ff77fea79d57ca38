/* Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
 *
 * Prints a hash of the bits of some results, for comparison of all ways to use addnorm with one known line
 * (ci/consumers.sh). Bits are made and looked at as integers alone, so that no flag of the program's compiler changes
 * them. */
#ifndef ADDNORM_TESTS_CONSUMER_PRINT_HASH_H_
#define ADDNORM_TESTS_CONSUMER_PRINT_HASH_H_

#include <addnorm/addnorm.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { kRows = 4, kMaxCols = 1031 };

/* LayerNorm (0) or RMSNorm (1) of kRows rows; true if it succeeded. */
typedef int (*norm_function)(int rms, const float *x, float *y, int64_t cols);

/* One row each: numbers about 1, subnormal numbers, a constant, numbers with a NaN among them. */
static inline uint32_t InputBits(int row, int64_t column, int64_t cols) {
  const uint32_t random = (uint32_t)(column * kRows + row + 1) * 2654435761u;
  switch (row) {
    case 0:
      return (random & 0x81ffffffu) + 0x3e800000u;
    case 1:
      return random & 0x807fffffu;
    case 2:
      return 0x40490fdbu;
    default:
      return column == cols / 2 ? 0x7fc00000u : (random & 0x80ffffffu) + 0x3f000000u;
  }
}

/* FNV-1a of both norms at several lengths, every NaN being one pattern; false if a call failed. */
static inline int HashOfNorms(norm_function norm, uint64_t hash[2]) {
  static const int64_t cols[] = {1, 4, 17, 64, 131, kMaxCols};
  static float x[kRows * kMaxCols], y[kRows * kMaxCols];
  int rms, row;
  size_t c;
  int64_t i, column;
  for (rms = 0; rms < 2; ++rms) {
    hash[rms] = 14695981039346656037u;
    for (c = 0; c < sizeof(cols) / sizeof(cols[0]); ++c) {
      for (row = 0; row < kRows; ++row) {
        for (column = 0; column < cols[c]; ++column) {
          const uint32_t bits = InputBits(row, column, cols[c]);
          memcpy(&x[row * cols[c] + column], &bits, sizeof(bits));
        }
      }
      if (!norm(rms, x, y, cols[c])) return 0;
      for (i = 0; i < kRows * cols[c]; ++i) {
        uint32_t bits, byte;
        memcpy(&bits, &y[i], sizeof(bits));
        if ((bits & 0x7fffffffu) > 0x7f800000u) bits = 0x7fc00000u;
        for (byte = 0; byte < 4; ++byte) hash[rms] = (hash[rms] ^ (bits >> (8 * byte) & 0xffu)) * 1099511628211u;
      }
    }
  }
  return 1;
}

/* A line for the target that is chosen and one for each that this CPU has, all to be the same. Returns what main()
 * does. */
static inline int PrintHashOf(norm_function norm) {
  const char *targets[8];
  const int32_t count = addnorm_supported_targets(targets, 8);
  int32_t i;
  for (i = -1; i < count; ++i) {
    uint64_t hash[2];
    if (i >= 0 && addnorm_set_max_target(targets[i]) != ADDNORM_OK) return 1;
    if (!HashOfNorms(norm, hash)) return 1;
    printf("LayerNorm %016" PRIx64 " RMSNorm %016" PRIx64 "\n", hash[0], hash[1]);
  }
  return addnorm_set_max_target(NULL) == ADDNORM_OK ? 0 : 1;
}

static inline int NormInC(int rms, const float *x, float *y, int64_t cols) {
  addnorm_norm_args args = ADDNORM_NORM_ARGS_INIT;
  args.rows = kRows;
  args.cols = cols;
  args.x.data = x;
  args.x.row_stride = cols;
  args.x.dtype = ADDNORM_F32;
  args.y.data = y;
  args.y.row_stride = cols;
  args.y.dtype = ADDNORM_F32;
  args.epsilon = 1e-5;
  return (rms ? addnorm_rms_norm(&args) : addnorm_layer_norm(&args)) == ADDNORM_OK;
}

static inline int PrintHash(void) { return PrintHashOf(NormInC); }

#endif /* ADDNORM_TESTS_CONSUMER_PRINT_HASH_H_ */
