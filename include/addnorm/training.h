/* addnorm: dropout before the add, and the backward pass of Add & Norm, for training.
 * Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0 */
#ifndef ADDNORM_TRAINING_H_
#define ADDNORM_TRAINING_H_

/** @file
 * The gradients of the operations of addnorm.h, and dropout before the add, for training. C11, also valid C++17. All
 * that addnorm.h says of every function holds here too: bits, errors, threads, floating-point mode, stack.
 * docs/GRADIENTS.md has the order of operations and the proofs of the bounds.
 *
 * Notation, for a loss L: dy = dL/dy comes in, dx = dL/dx and so on go out. For each row of N = cols elements, with s
 * what the forward call normalized, g = gamma + gamma_offset, mean and rstd of s, and mean() the mean over the row:
 *
 *     t  = (s - mean) * rstd          (RMSNorm: s * rstd)
 *     h  = dy * g
 *     dn = RN((h - mean(h) - t * mean(h * t)) * rstd)          (RMSNorm: without mean(h))
 *     dgamma = sum over rows of dy * t;   dbeta = sum over rows of dy
 *
 * All of it is computed in f64; dn is rounded to f32 and then to the dtype of s. A row whose rstd is infinite (no
 * spread and epsilon 0) has rstd = 0 in these formulas, so dn = 0. The rounding of sum_dtype, norm_dtype and
 * norm_out_dtype in the forward call counts as the identity (straight-through).
 *
 *  - **Dtypes.** The gradient of an operand has the dtype that the operand has in the forward call, so the promised
 *    combinations are those of the forward operation (addnorm_promised_dtypes gives them for the
 * ADDNORM_OP_..._BACKWARD constants too); absent operands fit any. dgamma, dbeta and dbias are f32 or f64.
 *  - **Statistics.** mean and rstd as the forward call wrote them, in f32 or f64, or neither: then they are computed
 *    from x and epsilon as the forward call does. The result has the same bits as with mean and rstd saved in f64.
 *  - **Sums over rows.** dgamma, dbeta and dbias are summed in f64 in an order that depends on `rows` alone, and
 * rounded once: equal bits for any threads. Before that rounding within (b + n + 3) 2^-53 of the sum of
 * the terms' magnitudes, given the statistics, with b = max(32, rows / 128 + 8) and n = min(128, rows / 32 + 1). With
 * accumulate they are added to what is there, f64(old) + sum, rounded once. They need a workspace
 * (addnorm_backward_workspace); without them there is none.
 *  - **Outputs.** Each is optional, but one has to be given. What is not asked for costs nothing, and changes no other.
 *  - **Fusion.** A fused call has the bits of its unfused sequence: Add*Norm's backward is the norm's, addnorm_add with
 *    d_sum, then Add's backward.
 *  - **Aliasing.** dx and d_residual may each be the same memory as dy, x or d_sum (same start, dtype and row stride).
 *  - **Empty calls.** With cols = 0 nothing is done. With rows = 0 dgamma, dbeta and dbias become the empty sum, 0
 * (with accumulate they stay); other operands may then be null.
 *  - **Errors.** As in addnorm.h, and: no output at all, or a sum over rows without a workspace: ADDNORM_NULL_POINTER,
 *    which names dx or the workspace; a workspace that is too small, or not at a multiple of
 * ADDNORM_WORKSPACE_ALIGNMENT: ADDNORM_SMALL_WORKSPACE, ADDNORM_UNALIGNED; accumulate neither 0 nor 1:
 * ADDNORM_BAD_NUMBER; outputs that overlap each other, the workspace, or an input other than as above:
 * ADDNORM_FORBIDDEN_OVERLAP; of LayerNorm mean without rstd or rstd without mean: ADDNORM_MISSING_STATISTIC.
 *  - **Source.** The formulas are those of the papers that addnorm.h names for each operation, differentiated; the
 *    gradient of a residual connection: He et al., "Identity Mappings in Deep Residual Networks", 2016.
 *  - **Special values.** A NaN or infinity in x, dy or d_sum spoils its own row of dx and d_residual (at least its
 *    element), and its column of the sums; never another row. */

#include "addnorm/addnorm.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @name Dropout
 * @{ */

/** Dropout of what is added to the residual, `dropout` of the arguments of addnorm_add, addnorm_add_layer_norm and
 * addnorm_add_rms_norm and of their backward operations (null: none). In f32, RN to nearest even:
 *
 *     a = bias ? RN(x + bias) : x;    a' = kept ? RN(a * scale) : -0.0;    s = RN(fma(residual_scale, residual, a'))
 *
 * with scale = RN32(1 / (1 - probability)), computed in f64. The gradient of x and bias is kept ? RN(ds * scale) : 0,
 * that of the residual is what it is without dropout. What is dropped is not looked at: a NaN there changes nothing.
 *
 *  - **Mask.** An element is kept iff its 32-bit random number is at least floor(probability * 2^32 + 1/2). The number
 *    has its upper half of the counter {c / 128 * 16 + c % 32 / 2, 0, r's low half, r's high half} of Philox 4x32-10
 *    with the key {seed's low half, seed's high half}: of word c / 32 % 4 the lower 16 bits where the column c is even,
 *    the upper ones where it is odd; its lower half likewise with 1 in place of 0. The row r is first_row + the row's
 *    index in the call, modulo 2^64. So seed, row and column decide: not the CPU, the batch, a split of it, strides or
 *    cols. The backward call with the same fields has the same mask. Each call of a training step wants a seed of its
 *    own.
 *  - **Masks in memory** have a bit for each element: that of column c is bit c % 8 of the row's byte c / 8, 1 where it
 *    is kept. Their strides are in bytes, at least (cols + 7) / 8, and not looked at when rows <= 1. `mask` is read
 *    instead of the generator; `mask_out`, of the forward calls alone, gets what was applied, be it generated or given,
 *    with zeros in the unused bits of a row's last byte. mask_out overlaps no operand, mask no output.
 *  - probability 0 without a mask has the bits of no dropout; with 1 all is dropped, whatever `mask` says, and the sum
 *    is residual_scale * residual.
 *  - **Errors.** A probability beyond 0 to 1 or NaN: ADDNORM_BAD_NUMBER; dropout of another operation, or mask_out in a
 *    backward call: ADDNORM_UNUSED_OPERAND.
 *
 * Source: Srivastava et al., "Dropout", 2014; Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011. */
typedef struct addnorm_dropout {
  size_t struct_size; /**< sizeof(addnorm_dropout), by the rules of the argument structs */
  double probability; /**< with which an element is dropped, 0 to 1; no default */
  uint64_t seed;      /**< of the generator */
  /* Optional from here. */
  uint64_t first_row;          /**< number of the call's first row, for a part of a batch */
  const uint8_t* mask;         /**< rows x cols bits to use, or null: they are generated */
  int64_t mask_row_stride;     /**< bytes between the starts of two rows of mask */
  uint8_t* mask_out;           /**< rows x cols bits to be written, or null */
  int64_t mask_out_row_stride; /**< bytes between the starts of two rows of mask_out; what is between stays */
} addnorm_dropout;

/** Initial value of an addnorm_dropout: probability and seed have to be set. */
#define ADDNORM_DROPOUT_INIT {sizeof(addnorm_dropout), -1.0, 0, 0, 0, 0, 0, 0}
/** @} */

/** Bytes that the address of a workspace has to be a multiple of. */
#define ADDNORM_WORKSPACE_ALIGNMENT 64

/** @name Arguments
 * By the rules of the argument structs in addnorm.h. `parallel` hands out blocks of rows, not rows: parallel_for is
 * called with their number, and a second time, with a number of groups of columns, where sums over rows are asked for.
 * It is not called for less than two blocks.
 * @{ */

/** Arguments of addnorm_add_backward. */
typedef struct addnorm_add_backward_args {
  size_t struct_size;  /**< sizeof(addnorm_add_backward_args) */
  int64_t rows;        /**< number of rows */
  int64_t cols;        /**< elements in each row */
  addnorm_input d_sum; /**< rows x cols: the gradient of sum_out, in its dtype */
  /* Optional from here; at least one output. */
  addnorm_output dx;              /**< rows x cols, of x's dtype: the gradient of x */
  addnorm_output d_residual;      /**< rows x cols, of residual's dtype: the gradient of residual */
  addnorm_output dbias;           /**< cols, f32 or f64: the gradient of bias, a sum over rows; row_stride 0 */
  float residual_scale;           /**< as in the forward call */
  int32_t accumulate;             /**< 0: dbias is overwritten; 1: added to */
  void* workspace;                /**< for dbias: addnorm_backward_workspace bytes; its contents do not matter */
  size_t workspace_size;          /**< bytes of it */
  addnorm_parallel parallel;      /**< the caller's threads, or none */
  const addnorm_dropout* dropout; /**< as in the forward call */
} addnorm_add_backward_args;

/** Arguments of the backward functions of all norms. */
typedef struct addnorm_norm_backward_args {
  size_t struct_size; /**< sizeof(addnorm_norm_backward_args) */
  int64_t rows;       /**< number of rows */
  int64_t cols;       /**< elements that were normalized together in each row */
  addnorm_input dy;   /**< rows x cols: the gradient of y, in its dtype */
  addnorm_input x;    /**< rows x cols: what was normalized: the forward call's x, but the sum_out of the Add*Norm */
  double epsilon;     /**< as in the forward call */
  /* Optional from here; at least one output. */
  addnorm_input gamma;       /**< as in the forward call */
  addnorm_input mean;        /**< rows x 1, f32 or f64: as the forward call wrote it; LayerNorm only, and with rstd */
  addnorm_input rstd;        /**< rows x 1, f32 or f64: as the forward call wrote it; of LayerNorm with mean */
  addnorm_input d_sum;       /**< rows x cols: the gradient of sum_out, in its dtype; Add*Norm only; absent: 0 */
  float gamma_offset;        /**< as in the forward call */
  float residual_scale;      /**< as in the forward call; Add*Norm and *NormAdd only */
  addnorm_output dx;         /**< rows x cols, of x's dtype: the gradient of x */
  addnorm_output d_residual; /**< rows x cols, of residual's dtype: that of residual; Add*Norm and *NormAdd only */
  addnorm_output dgamma;     /**< cols, f32 or f64: the gradient of gamma, a sum over rows; row_stride 0 */
  addnorm_output dbeta;      /**< the same of beta */
  addnorm_output dbias;      /**< the same of bias; Add*Norm only */
  int32_t accumulate;        /**< 0: dgamma, dbeta and dbias are overwritten; 1: added to */
  int32_t reserved;          /**< 0 */
  void* workspace;           /**< for dgamma, dbeta and dbias: addnorm_backward_workspace bytes; its contents do not
                                  matter */
  size_t workspace_size;     /**< bytes of it */
  addnorm_parallel parallel; /**< the caller's threads, or none */
  const addnorm_dropout* dropout; /**< as in the forward call; Add*Norm only */
} addnorm_norm_backward_args;

/* clang-format off */
/** Initial value of an addnorm_add_backward_args: residual_scale is 1. */
#define ADDNORM_ADD_BACKWARD_ARGS_INIT \
  { sizeof(addnorm_add_backward_args), 0, 0, ADDNORM_NONE, ADDNORM_NONE, ADDNORM_NONE, ADDNORM_NONE, 1.0f, 0, 0, 0, \
    ADDNORM_SERIAL, 0 }
/** Initial value of an addnorm_norm_backward_args: residual_scale is 1, epsilon has to be set. */
#define ADDNORM_NORM_BACKWARD_ARGS_INIT \
  { sizeof(addnorm_norm_backward_args), 0, 0, ADDNORM_NONE, ADDNORM_NONE, ADDNORM_UNSET_EPSILON, ADDNORM_NONE, \
    ADDNORM_NONE, ADDNORM_NONE, ADDNORM_NONE, 0.0f, 1.0f, ADDNORM_NONE, ADDNORM_NONE, ADDNORM_NONE, ADDNORM_NONE, \
    ADDNORM_NONE, 0, 0, 0, 0, ADDNORM_SERIAL, 0 }
/* clang-format on */

/** Writes how many bytes of workspace a backward call over rows x cols needs that asks for `sums` of dgamma, dbeta and
 * dbias; 0 for none. At most 128 * sums * (cols + 15) * 8. The workspace starts at a multiple of
 * ADDNORM_WORKSPACE_ALIGNMENT and overlaps no operand. Sizes as in a call; `sums` beyond 0 to 3 is
 * ADDNORM_OUT_OF_RANGE. */
ADDNORM_API addnorm_status addnorm_backward_workspace(int64_t rows, int64_t cols, int32_t sums, size_t* bytes);
/** @} */

/** @name Backward
 * Bounds are for f32 results, in ULP of M, the largest magnitude among the exact result, its terms and their means
 * (docs/GRADIENTS.md), given the statistics; f16 and bf16 results are the rounding of a value within it.
 * @{ */

/** Of addnorm_add: dx = RN(d_sum) (with dropout see addnorm_dropout, also for dbias), d_residual = RN(residual_scale *
 * d_sum), dbias = sum over rows of d_sum, which is what the residual connection exists for: the gradient reaches the
 * stream as it is. Exact but for these roundings. */
ADDNORM_API addnorm_status addnorm_add_backward(const addnorm_add_backward_args* args);

/** Of addnorm_layer_norm: dx = dn, dgamma, dbeta. dx within 1 ULP. Source: Ba, Kiros & Hinton, "Layer Normalization",
 * 2016; the form with saved statistics is that of every framework. */
ADDNORM_API addnorm_status addnorm_layer_norm_backward(const addnorm_norm_backward_args* args);

/** Of addnorm_rms_norm: dx = dn, dgamma, dbeta. args->mean must be absent. dx within 1 ULP. Source: Zhang & Sennrich,
 * "Root Mean Square Layer Normalization", 2019. */
ADDNORM_API addnorm_status addnorm_rms_norm_backward(const addnorm_norm_backward_args* args);

/** Of addnorm_add_layer_norm, args->x its sum_out: ds = RN(dn + d_sum), rounded to f32 and then to the sum's dtype; dx
 * = RN(ds) (with dropout see addnorm_dropout, also for dbias), d_residual = RN(residual_scale * ds), dbias = sum over
 * rows of ds, dgamma, dbeta. ds within 1.5 ULP. */
ADDNORM_API addnorm_status addnorm_add_layer_norm_backward(const addnorm_norm_backward_args* args);

/** Of addnorm_add_rms_norm, as addnorm_add_layer_norm_backward, its bound too. args->mean must be absent. */
ADDNORM_API addnorm_status addnorm_add_rms_norm_backward(const addnorm_norm_backward_args* args);

/** Of addnorm_layer_norm_add: dx = dn, d_residual = RN(residual_scale * dy), dgamma, dbeta. dx within 1 ULP. */
ADDNORM_API addnorm_status addnorm_layer_norm_add_backward(const addnorm_norm_backward_args* args);

/** Of addnorm_rms_norm_add, as addnorm_layer_norm_add_backward, its bound too. args->mean must be absent. */
ADDNORM_API addnorm_status addnorm_rms_norm_add_backward(const addnorm_norm_backward_args* args);
/** @} */

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* ADDNORM_TRAINING_H_ */
