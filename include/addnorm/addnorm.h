/* addnorm: exact and fast Add & Norm kernels for CPUs.
 * Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0 */
#ifndef ADDNORM_ADDNORM_H_
#define ADDNORM_ADDNORM_H_

/** @file
 * The C interface (C11, also valid C++17). All of addnorm is reached through it.
 *
 * Operands are matrices of `rows` x `cols`: a row is a token (batch * time), `cols` is the hidden size over which a row
 * is normalized. Every call does one pass of the same pipeline over each row, in which a stage not asked for costs
 * nothing:
 *
 *     load x, residual -> add -> norm (statistic, then scale) -> gamma, beta -> add after -> store y
 *
 * What holds for every function:
 *  - **Bits.** A result depends on the values of its row, on the options and on nothing else: not on the CPU, the
 * batch, the row's position, alignment, strides, aliasing, threads, or the caller's floating-point mode. A fused call
 * gives the bits of its unfused sequence. docs/NUMERICS.md fixes the order of operations.
 *  - **Accuracy.** Within a proven bound (docs/NUMERICS.md, "Bounds") for every finite row, whatever its mean and
 * scale. A NaN in a row makes the whole row NaN; in gamma, beta or an operand added after the norm, only its element.
 *  - **Errors.** Every precondition is checked once a call. A bad call returns a status that names the operand and the
 *    fault, and writes nothing. Nothing here allocates, throws, aborts, logs, or starts threads.
 *  - **Empty calls.** With rows = 0 or cols = 0 an operation succeeds and does nothing; pointers may then be null. Only
 *    the reductions refuse cols = 0, as the mean of nothing is not a number.
 *  - **Aliasing.** `y` may be the same memory as `x` or `residual`, and so may `sum_out` (same start, dtype and row
 *    stride; `y` and `sum_out` not the same one). Inputs may overlap each other. Every other overlap of an output with
 *    an operand is refused, also of what lies between their rows. Only rows of equal stride in bytes may interleave,
 *    if they share no element.
 *  - **Threads.** All functions may be called from any number of threads at once.
 *  - **Floating-point mode.** Calls compute in the default mode (round to nearest, gradual underflow, exceptions
 *    masked) and restore the caller's, on x86-64 and 64-bit ARM; elsewhere the caller's has to be the default. With the
 *    default mode they may raise sticky exception flags.
 *  - **Stack.** A call uses less than 32 KiB of it, whatever the sizes. */

#include <stddef.h>
#include <stdint.h>

/** @def ADDNORM_API
 * Marks an exported function. */
#if defined(ADDNORM_SHARED) && defined(_WIN32)
#ifdef ADDNORM_BUILDING
#define ADDNORM_API __declspec(dllexport)
#else
#define ADDNORM_API __declspec(dllimport)
#endif
#elif defined(__GNUC__) && (defined(ADDNORM_SHARED) || !defined(ADDNORM_BUILDING))
#define ADDNORM_API __attribute__((visibility("default")))
#else /* a static library: the program or shared object that it is linked into keeps it to itself */
#define ADDNORM_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** @name Data types
 * @{ */

/** Storage type of an operand, one of the ADDNORM_F32 ... constants; 0 means "the default" where that is documented. */
typedef int32_t addnorm_dtype;
enum {
  ADDNORM_F32 = 1,  /**< IEEE binary32 */
  ADDNORM_F16 = 2,  /**< IEEE binary16, stored as uint16_t */
  ADDNORM_BF16 = 3, /**< bfloat16: the upper half of a binary32, stored as uint16_t */
  ADDNORM_F64 = 4   /**< IEEE binary64; only for statistics that are written out */
};

/** A matrix, vector or column that is read. */
typedef struct addnorm_input {
  const void* data;    /**< first element, aligned to its type; null where the operand is optional and absent */
  int64_t row_stride;  /**< elements between the starts of two rows, >= cols; not looked at when rows <= 1.
                            0 for gamma, beta and bias: one vector of cols elements for all rows */
  addnorm_dtype dtype; /**< type of the elements; not looked at when the operand is absent */
  int32_t reserved;    /**< 0 */
} addnorm_input;

/** A matrix or column that is written; see addnorm_input. Elements between cols and row_stride are never touched. */
typedef struct addnorm_output {
  void* data;          /**< first element */
  int64_t row_stride;  /**< elements between the starts of two rows, >= cols (>= 1 for statistics, one value a row) */
  addnorm_dtype dtype; /**< type of the elements */
  int32_t reserved;    /**< 0 */
} addnorm_output;
/** @} */

/** @name Status
 * @{ */

/** 0 (ADDNORM_OK), or a fault: its kind, one of the constants below, and the operand at fault. */
typedef int32_t addnorm_status;
enum {
  ADDNORM_OK = 0,
  ADDNORM_NULL_POINTER = 1,       /**< a required pointer is null */
  ADDNORM_WRONG_STRUCT_SIZE = 2,  /**< struct_size is none this version can read */
  ADDNORM_NEGATIVE_SIZE = 3,      /**< rows or cols < 0 */
  ADDNORM_SIZE_TOO_LARGE = 4,     /**< cols > ADDNORM_MAX_COLS, or the operand's extent overflows */
  ADDNORM_STRIDE_TOO_SMALL = 5,   /**< row_stride < cols (or not 0 for gamma, beta and bias) */
  ADDNORM_UNALIGNED = 6,          /**< data is not aligned to its element */
  ADDNORM_UNKNOWN_DTYPE = 7,      /**< dtype is none of the constants allowed there */
  ADDNORM_UNPROMISED_DTYPES = 8,  /**< this combination of dtypes is not in the list (addnorm_promised_dtypes) */
  ADDNORM_BAD_NUMBER = 9,         /**< a parameter is not finite, or beyond what it may be */
  ADDNORM_FORBIDDEN_OVERLAP = 10, /**< an output overlaps another operand other than documented */
  ADDNORM_UNUSED_OPERAND = 11,    /**< an operand is given that this operation does not have */
  ADDNORM_RESERVED_NOT_ZERO = 12, /**< a reserved field is not 0 */
  ADDNORM_EMPTY_REDUCTION = 13,   /**< cols = 0 in a reduction */
  ADDNORM_UNKNOWN_TARGET = 14,    /**< no target of that name was compiled in */
  ADDNORM_OUT_OF_RANGE = 15,      /**< an index or enumerator beyond its list */
  ADDNORM_SHAPE_MISMATCH = 16,    /**< addnorm.hpp only: rows or cols of an operand differ from those of x */
  ADDNORM_MISSING_STATISTIC = 17, /**< training.h: mean without rstd, or LayerNorm's rstd without mean */
  ADDNORM_SMALL_WORKSPACE = 18    /**< training.h: workspace_size is below what addnorm_backward_workspace says */
};

/** The kind of fault, one of the constants above, without the operand. */
ADDNORM_API addnorm_status addnorm_status_kind(addnorm_status status);

/** What is wrong, as in "residual: row_stride is smaller than cols". A fixed string, never null. */
ADDNORM_API const char* addnorm_status_text(addnorm_status status);
/** @} */

/** Longest row that is accepted: what the proofs of the bounds cover. */
#define ADDNORM_MAX_COLS ((int64_t)1 << 28)

/** @name Arguments
 * Each struct begins with its own size, which tells the library which fields its caller knows: a later version may
 * append fields, and a caller compiled against an earlier one gets their defaults. Start from the _INIT macro, which
 * sets struct_size and the defaults, then set the required fields. A size that ends before the required fields or is
 * not a multiple of 8 is refused, as is a size beyond this version's unless all bytes there are zero, or one beyond
 * 4096.
 * @{ */

/** Rows `begin` to `end` of a call, one range of those that addnorm_parallel's parallel_for hands out. `task` is the
 * library's own. */
typedef void (*addnorm_range_body)(void* task, int64_t begin, int64_t end);

/** How a call is spread over threads. The library has none: it hands its rows to the caller's. Every result is the
 * same, bit for bit, however the rows are split. The arguments are checked before, by the calling thread; parallel_for
 * is not called if they are refused, nor for less than two rows. Each range computes in the default floating-point
 * mode, whatever the thread's, and the thread's comes back. */
typedef struct addnorm_parallel {
  /** Calls body(task, begin, end) for ranges that cover 0 to rows, each row in one range, on any threads, in any order,
   * and returns when all have returned. Must not throw. A range that is not within 0 to rows is left out. Null: the
   * calling thread does all rows. */
  void (*parallel_for)(void* context, int64_t rows, addnorm_range_body body, void* task);
  void* context; /**< handed to parallel_for as it is */
} addnorm_parallel;

/** How results are stored, one of the ADDNORM_STORE_ constants. No bit depends on it. */
typedef int32_t addnorm_store;
enum {
  ADDNORM_STORE_AUTOMATIC = 0, /**< streaming for outputs of 32 MiB and more, from where on the step and a reader of
                                    its output gain together (docs/BENCHMARKS.md); else cached */
  ADDNORM_STORE_CACHED = 1,    /**< ordinary stores: the next step finds its operand in a cache that is large enough */
  /** Past the caches: gains where an output is larger than they are, or not read soon; costs elsewhere. y, or sum_out
   * of addnorm_add, if it is f32 and its rows are aligned to 64 bytes; stored as cached otherwise. */
  ADDNORM_STORE_STREAMING = 2
};

struct addnorm_dropout; /* training.h */

/** Arguments of the reductions. Give exactly the outputs that the function names. */
typedef struct addnorm_reduce_args {
  size_t struct_size;         /**< sizeof(addnorm_reduce_args) */
  int64_t rows;               /**< number of rows */
  int64_t cols;               /**< elements reduced in each row, >= 1 */
  addnorm_input x;            /**< rows x cols */
  addnorm_output mean;        /**< rows x 1, f32 or f64 */
  addnorm_output variance;    /**< rows x 1, f32 or f64 */
  addnorm_output mean_square; /**< rows x 1, f32 or f64 */
  addnorm_output rms;         /**< rows x 1, f32 or f64 */
  /* Optional from here. */
  addnorm_parallel parallel; /**< the caller's threads, or none */
} addnorm_reduce_args;

/** Arguments of addnorm_add. */
typedef struct addnorm_add_args {
  size_t struct_size;     /**< sizeof(addnorm_add_args) */
  int64_t rows;           /**< number of rows */
  int64_t cols;           /**< elements in each row */
  addnorm_input x;        /**< rows x cols: the sub-layer's output */
  addnorm_input residual; /**< rows x cols: the residual stream */
  addnorm_output sum_out; /**< rows x cols: the sum, rounded to its dtype */
  /* Optional from here. */
  addnorm_input bias;                    /**< cols, or absent: added to x first */
  float residual_scale;                  /**< factor of residual, finite, not 0; 1 in a plain sum */
  addnorm_store store;                   /**< how sum_out is stored */
  addnorm_parallel parallel;             /**< the caller's threads, or none */
  const struct addnorm_dropout* dropout; /**< training.h: dropout of x before the sum; null: none */
} addnorm_add_args;

/** Arguments of addnorm_layer_norm and addnorm_rms_norm. */
typedef struct addnorm_norm_args {
  size_t struct_size; /**< sizeof(addnorm_norm_args) */
  int64_t rows;       /**< number of rows */
  int64_t cols;       /**< elements normalized together in each row */
  addnorm_input x;    /**< rows x cols */
  addnorm_output y;   /**< rows x cols */
  double epsilon;     /**< added to the variance or mean square, inside the root; finite, >= 0, no default */
  /* Optional from here. */
  addnorm_input gamma;      /**< cols, or absent: 1 */
  addnorm_input beta;       /**< cols, or absent: nothing is added */
  float gamma_offset;       /**< added to gamma in f32 (1 for Gemma); finite; 0 adds nothing */
  addnorm_dtype norm_dtype; /**< the normalized value is rounded to it before gamma and beta; 0 or ADDNORM_F32: it stays
                                 in f32. ADDNORM_BF16 and ADDNORM_F16 reproduce Hugging Face's Llama */
  addnorm_output mean;      /**< rows x 1, f32 or f64, or absent: the mean that was applied; LayerNorm only */
  addnorm_output rstd; /**< rows x 1, f32 or f64, or absent: 1 / sqrt(variance or mean square + epsilon) as applied */
  addnorm_parallel parallel; /**< the caller's threads, or none */
  addnorm_store store;       /**< how y is stored */
  int32_t reserved;          /**< 0 */
} addnorm_norm_args;

/** Arguments of addnorm_add_layer_norm and addnorm_add_rms_norm. */
typedef struct addnorm_add_norm_args {
  size_t struct_size;     /**< sizeof(addnorm_add_norm_args) */
  int64_t rows;           /**< number of rows */
  int64_t cols;           /**< elements normalized together in each row */
  addnorm_input x;        /**< rows x cols: the sub-layer's output */
  addnorm_input residual; /**< rows x cols: the residual stream */
  addnorm_output y;       /**< rows x cols */
  double epsilon;         /**< as in addnorm_norm_args */
  /* Optional from here. */
  addnorm_output sum_out;    /**< rows x cols of sum_dtype, or absent: the sum (Pre-LN's new residual stream) */
  addnorm_input gamma;       /**< as in addnorm_norm_args */
  addnorm_input beta;        /**< as in addnorm_norm_args */
  addnorm_input bias;        /**< cols, or absent: added to x before the residual */
  float residual_scale;      /**< factor of residual, finite, not 0; 1 in a plain sum, DeepNorm's alpha */
  addnorm_dtype sum_dtype;   /**< the sum is rounded to it before the norm; 0: the dtype of residual */
  float gamma_offset;        /**< as in addnorm_norm_args */
  addnorm_dtype norm_dtype;  /**< as in addnorm_norm_args */
  addnorm_output mean;       /**< as in addnorm_norm_args */
  addnorm_output rstd;       /**< as in addnorm_norm_args */
  addnorm_parallel parallel; /**< as in addnorm_norm_args */
  addnorm_store store;       /**< how y is stored; sum_out, which the norm reads again, is always cached */
  int32_t reserved;          /**< 0 */
  const struct addnorm_dropout* dropout; /**< as in addnorm_add_args */
} addnorm_add_norm_args;

/** Arguments of addnorm_layer_norm_add and addnorm_rms_norm_add. */
typedef struct addnorm_norm_add_args {
  size_t struct_size;     /**< sizeof(addnorm_norm_add_args) */
  int64_t rows;           /**< number of rows */
  int64_t cols;           /**< elements normalized together in each row */
  addnorm_input x;        /**< rows x cols: the sub-layer's output, which is normalized */
  addnorm_input residual; /**< rows x cols: the residual stream */
  addnorm_output y;       /**< rows x cols */
  double epsilon;         /**< as in addnorm_norm_args */
  /* Optional from here. */
  addnorm_input gamma;          /**< as in addnorm_norm_args */
  addnorm_input beta;           /**< as in addnorm_norm_args */
  float residual_scale;         /**< factor of residual, finite, not 0 */
  addnorm_dtype norm_out_dtype; /**< the norm's result is rounded to it before the sum; 0: the dtype of x */
  float gamma_offset;           /**< as in addnorm_norm_args */
  addnorm_dtype norm_dtype;     /**< as in addnorm_norm_args */
  addnorm_output mean;          /**< as in addnorm_norm_args */
  addnorm_output rstd;          /**< as in addnorm_norm_args */
  addnorm_parallel parallel;    /**< as in addnorm_norm_args */
  addnorm_store store;          /**< as in addnorm_norm_args */
  int32_t reserved;             /**< 0 */
} addnorm_norm_add_args;

/* clang-format off */
/** An absent or not yet set operand. */
#define ADDNORM_NONE \
  { 0, 0, 0, 0 }
/** No threads but the calling one. */
#define ADDNORM_SERIAL \
  { 0, 0 }
/** Initial value of an addnorm_reduce_args. */
#define ADDNORM_REDUCE_ARGS_INIT \
  { sizeof(addnorm_reduce_args), 0, 0, ADDNORM_NONE, ADDNORM_NONE, ADDNORM_NONE, ADDNORM_NONE, ADDNORM_NONE, \
    ADDNORM_SERIAL }
/** Initial value of an addnorm_add_args: residual_scale is 1. */
#define ADDNORM_ADD_ARGS_INIT \
  { sizeof(addnorm_add_args), 0, 0, ADDNORM_NONE, ADDNORM_NONE, ADDNORM_NONE, ADDNORM_NONE, 1.0f, 0, \
    ADDNORM_SERIAL, 0 }
/** Initial value of an addnorm_norm_args. epsilon has to be set. */
#define ADDNORM_NORM_ARGS_INIT                                                                                      \
  {                                                                                                                 \
    sizeof(addnorm_norm_args), 0, 0, ADDNORM_NONE, ADDNORM_NONE, ADDNORM_UNSET_EPSILON, ADDNORM_NONE, ADDNORM_NONE, \
        0.0f, 0, ADDNORM_NONE, ADDNORM_NONE, ADDNORM_SERIAL, 0, 0 \
  }
/** Initial value of an addnorm_add_norm_args: residual_scale is 1, epsilon has to be set. */
#define ADDNORM_ADD_NORM_ARGS_INIT                                                                           \
  {                                                                                                          \
    sizeof(addnorm_add_norm_args), 0, 0, ADDNORM_NONE, ADDNORM_NONE, ADDNORM_NONE, ADDNORM_UNSET_EPSILON,    \
        ADDNORM_NONE, ADDNORM_NONE, ADDNORM_NONE, ADDNORM_NONE, 1.0f, 0, 0.0f, 0, ADDNORM_NONE, ADDNORM_NONE, ADDNORM_SERIAL, \
        0, 0, 0 \
  }
/** Initial value of an addnorm_norm_add_args: residual_scale is 1, epsilon has to be set. */
#define ADDNORM_NORM_ADD_ARGS_INIT                                                                        \
  {                                                                                                       \
    sizeof(addnorm_norm_add_args), 0, 0, ADDNORM_NONE, ADDNORM_NONE, ADDNORM_NONE, ADDNORM_UNSET_EPSILON, \
        ADDNORM_NONE, ADDNORM_NONE, 1.0f, 0, 0.0f, 0, ADDNORM_NONE, ADDNORM_NONE, ADDNORM_SERIAL, 0, 0 \
  }
/* clang-format on */
/** An epsilon that every function refuses: there is no default that suits all models. */
#define ADDNORM_UNSET_EPSILON (-1.0)
/** @} */

/** @name Reductions
 * Statistics of each row, from f64 sums. With u = 2^-53, k = cols / 16 + 6 and ms the mean square of the row:
 * mean to within 0.5 ULP of its dtype + k * u * mean(|x|); mean square k * u relative; variance
 * 3 * k * u * max(1, ms / variance) relative; then one rounding to the output's dtype. x is f32, f16 or bf16.
 * @{ */

/** mean = sum(x) / cols of each row. Writes args->mean. Source, as of all sums here: 16 interleaved f64 lanes and a
 * tree, Higham, "Accuracy and Stability of Numerical Algorithms", 2002, section 4.2. */
ADDNORM_API addnorm_status addnorm_mean(const addnorm_reduce_args* args);

/** variance = sum((x - mean)^2) / cols of each row, the population variance. Writes args->variance. Never negative, and
 * 0 exactly for a constant row. Source: two-pass with correction term, Chan, Golub & LeVeque, "Algorithms for computing
 * the sample variance", 1983, where one pass in f64 does not suffice (docs/NUMERICS.md). */
ADDNORM_API addnorm_status addnorm_variance(const addnorm_reduce_args* args);

/** addnorm_mean and addnorm_variance in one sweep, with the same bits. Writes args->mean and args->variance. */
ADDNORM_API addnorm_status addnorm_mean_variance(const addnorm_reduce_args* args);

/** mean_square = sum(x^2) / cols of each row. Writes args->mean_square. */
ADDNORM_API addnorm_status addnorm_mean_square(const addnorm_reduce_args* args);

/** rms = sqrt(sum(x^2) / cols) of each row, as accurate as the mean square. Writes args->rms. Source: Zhang & Sennrich,
 * "Root Mean Square Layer Normalization", 2019. */
ADDNORM_API addnorm_status addnorm_rms(const addnorm_reduce_args* args);
/** @} */

/** @name Add & Norm
 * Bounds below are in ULP of the larger of the exact result and its terms, for f32 results; f16 and bf16 results are
 * the rounding of a value within it. Dtypes: addnorm_promised_dtypes. RN(v) is v rounded to nearest even.
 * @{ */

/** The residual add alone: sum_out = RN(fma(residual_scale, residual, bias ? RN(x + bias) : x)), in f32, then rounded
 * to sum_out's dtype; with args->dropout of what is added to the residual (training.h). No other rounding: exact in
 * that sense. sum_out may be x or residual in place. Source: He et al., "Deep Residual Learning", 2015; residual_scale:
 * Wang et al., "DeepNet", 2022. */
ADDNORM_API addnorm_status addnorm_add(const addnorm_add_args* args);

/** Layer normalization: y = (x - mean) / sqrt(variance + epsilon) * (gamma + gamma_offset) + beta over each row. A
 * constant row gives beta (0 without), also with epsilon = 0. Within 4.5 ULP. Source: Ba, Kiros & Hinton, "Layer
 * Normalization", 2016. */
ADDNORM_API addnorm_status addnorm_layer_norm(const addnorm_norm_args* args);

/** RMS normalization: y = x / sqrt(mean(x^2) + epsilon) * (gamma + gamma_offset) + beta over each row. args->mean must
 * be absent. A row of zeros gives beta (0 without), also with epsilon = 0. Within 4.5 ULP. Source: Zhang & Sennrich,
 * "Root Mean Square Layer Normalization", 2019. */
ADDNORM_API addnorm_status addnorm_rms_norm(const addnorm_norm_args* args);

/** Post-LN, and Pre-LN with sum_out: s = the sum of addnorm_add in sum_dtype; y = LayerNorm(s), as addnorm_layer_norm.
 * Within 4.5 ULP, given s. Asking for sum_out, mean or rstd never changes y. Source: Vaswani et al., "Attention Is All
 * You Need", 2017; DeepNorm with residual_scale = alpha. */
ADDNORM_API addnorm_status addnorm_add_layer_norm(const addnorm_add_norm_args* args);

/** s = the sum of addnorm_add in sum_dtype; y = RMSNorm(s), as addnorm_rms_norm. args->mean must be absent. Within 4.5
 * ULP, given s. Source: the fused_add_rms_norm of vLLM and FlashInfer. */
ADDNORM_API addnorm_status addnorm_add_rms_norm(const addnorm_add_norm_args* args);

/** Post-norm inside the residual: n = LayerNorm(x) as addnorm_layer_norm, rounded to norm_out_dtype;
 * y = RN(fma(residual_scale, residual, n)). Within one ULP more than the norm. Source: Liu et al., "Swin Transformer
 * V2", 2022. */
ADDNORM_API addnorm_status addnorm_layer_norm_add(const addnorm_norm_add_args* args);

/** n = RMSNorm(x) as addnorm_rms_norm, rounded to norm_out_dtype; y = RN(fma(residual_scale, residual, n)). args->mean
 * must be absent. Within one ULP more than the norm. Source: OLMo 2, "2 OLMo 2 Furious", 2025. */
ADDNORM_API addnorm_status addnorm_rms_norm_add(const addnorm_norm_add_args* args);
/** @} */

/** @name Promised dtypes
 * @{ */

/** The operations, for addnorm_promised_dtypes. */
typedef int32_t addnorm_op;
enum {
  ADDNORM_OP_MEAN = 0,
  ADDNORM_OP_VARIANCE = 1,
  ADDNORM_OP_MEAN_VARIANCE = 2,
  ADDNORM_OP_MEAN_SQUARE = 3,
  ADDNORM_OP_RMS = 4,
  ADDNORM_OP_ADD = 5,
  ADDNORM_OP_LAYER_NORM = 6,
  ADDNORM_OP_RMS_NORM = 7,
  ADDNORM_OP_ADD_LAYER_NORM = 8,
  ADDNORM_OP_ADD_RMS_NORM = 9,
  ADDNORM_OP_LAYER_NORM_ADD = 10,
  ADDNORM_OP_RMS_NORM_ADD = 11,
  /* Of training.h. The promised dtypes are those of the forward operation. */
  ADDNORM_OP_ADD_BACKWARD = 12,
  ADDNORM_OP_LAYER_NORM_BACKWARD = 13,
  ADDNORM_OP_RMS_NORM_BACKWARD = 14,
  ADDNORM_OP_ADD_LAYER_NORM_BACKWARD = 15,
  ADDNORM_OP_ADD_RMS_NORM_BACKWARD = 16,
  ADDNORM_OP_LAYER_NORM_ADD_BACKWARD = 17,
  ADDNORM_OP_RMS_NORM_ADD_BACKWARD = 18,
  ADDNORM_OP_COUNT = 19
};

/** One promised combination; a field is 0 where the operation has no such operand. */
typedef struct addnorm_dtypes {
  addnorm_dtype x;        /**< of x */
  addnorm_dtype residual; /**< of residual */
  addnorm_dtype sum;      /**< of sum_out, and what sum_dtype may be */
  addnorm_dtype y;        /**< of y */
  addnorm_dtype vectors;  /**< gamma, beta and bias may each be f32 or this */
} addnorm_dtypes;

/** Writes the index-th promised combination of op, 0, 1, 2, ...; ADDNORM_OUT_OF_RANGE after the last. */
ADDNORM_API addnorm_status addnorm_promised_dtypes(addnorm_op op, int32_t index, addnorm_dtypes* dtypes);
/** @} */

/** @name Targets
 * The instruction sets compiled in: "scalar" always; "avx2" and "avx512" on x86; "neon" and "sve" on ARM. The best one
 * that the CPU has is used, but NEON where SVE is no wider than 128 bits. The choice changes speed, never a bit.
 * @{ */

/** Name of the target that the next call uses. */
ADDNORM_API const char* addnorm_target_name(void);

/** Writes the names of up to `capacity` targets that this CPU can run, best first, and returns how many there are.
 * `names` may be null when capacity is 0. */
ADDNORM_API int32_t addnorm_supported_targets(const char** names, int32_t capacity);

/** Caps the choice: no target better than `name` is used from the next call on, in any thread. Null lifts the cap, that
 * of the environment too. An unknown name is refused with ADDNORM_UNKNOWN_TARGET and changes nothing. */
ADDNORM_API addnorm_status addnorm_set_max_target(const char* name);

/** The environment variable ADDNORM_MAX_TARGET, read once at the first call, caps the choice like
 * addnorm_set_max_target. This tells how it was taken: ADDNORM_OK (also when not set), or ADDNORM_UNKNOWN_TARGET, and
 * it was ignored. */
ADDNORM_API addnorm_status addnorm_environment_status(void);
/** @} */

/** @name Versions
 * @{ */

/** Version of the library: 10000 * major + 100 * minor + patch. */
ADDNORM_API uint32_t addnorm_version(void);

/** A number that changes whenever any bit of any result may change; tests/numerics/checksums.txt carries it. */
ADDNORM_API uint32_t addnorm_numerics_version(void);
/** @} */

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* ADDNORM_ADDNORM_H_ */
