// addnorm: exact and fast Add & Norm kernels for CPUs.
// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#ifndef ADDNORM_ADDNORM_HPP_
#define ADDNORM_ADDNORM_HPP_

/** @file
 * The C++17 layer over addnorm.h: storage types, typed views that carry their shape, options with defaults, a Status
 * that cannot be overlooked. Nothing here allocates, throws or needs RTTI, and every function is one call of the C
 * function of the same name, whose documentation holds: formulas, aliasing, errors, accuracy. An operand whose shape is
 * not that of x gives ADDNORM_SHAPE_MISMATCH, before the call.
 *
 *     addnorm::Matrix<const float> x(x_data, rows, cols);
 *     addnorm::Matrix<float> y(y_data, rows, cols);
 *     addnorm::NormOptions options;
 *     options.gamma = addnorm::Vector<const float>(gamma_data, cols);
 *     addnorm::Status status = addnorm::RmsNorm(x, y, 1e-6, options);
 *     if (!status) std::puts(status.text()); */

#include <cstdint>
#include <type_traits>

#include "addnorm/addnorm.h"
#include "addnorm/dtypes.hpp"
#include "addnorm/views.hpp"

namespace addnorm {

/** Result of every call: ADDNORM_OK, or the kind of fault and the operand at fault. */
class [[nodiscard]] Status {
 public:
  /** Success. */
  constexpr Status() noexcept = default;
  /** What a function of addnorm.h returned. */
  constexpr explicit Status(addnorm_status code) noexcept : code_(code) {}

  /** True when the call did what was asked. */
  constexpr bool ok() const noexcept { return code_ == ADDNORM_OK; }
  /** As ok(). */
  constexpr explicit operator bool() const noexcept { return ok(); }
  /** The kind of fault, one of the ADDNORM_OK ... constants, without the operand. */
  addnorm_status kind() const noexcept { return addnorm_status_kind(code_); }
  /** What is wrong and with which operand: a fixed string, never null. */
  const char* text() const noexcept { return addnorm_status_text(code_); }
  /** The value that the C function returned. */
  constexpr addnorm_status code() const noexcept { return code_; }

  /** Whether the fault is of this kind, whichever the operand. */
  friend bool operator==(Status status, addnorm_status kind) noexcept { return status.kind() == kind; }
  /** As above. */
  friend bool operator==(addnorm_status kind, Status status) noexcept { return status.kind() == kind; }
  /** Whether the fault is of another kind, or there is none. */
  friend bool operator!=(Status status, addnorm_status kind) noexcept { return status.kind() != kind; }
  /** As above. */
  friend bool operator!=(addnorm_status kind, Status status) noexcept { return status.kind() != kind; }

 private:
  addnorm_status code_ = ADDNORM_OK;
};

/** The caller's threads: see addnorm_parallel. Absent: the calling thread does all rows. */
class Parallel {
 public:
  /** No threads but the calling one. */
  constexpr Parallel() noexcept = default;
  /** As it is in the C interface. */
  constexpr explicit Parallel(const addnorm_parallel& parallel) noexcept : parallel_(parallel) {}
  /** A callable f(rows, body) that calls body(begin, end) for ranges that cover 0 to rows, each row in one range, on
   * any threads, and returns when all have returned. It must not throw, and has to live until the call ends. */
  template <typename Function>
  static Parallel For(const Function& function) noexcept {
    return Parallel({[](void* context, int64_t rows, addnorm_range_body body, void* task) {
                       (*static_cast<const Function*>(context))(
                           rows, [body, task](int64_t begin, int64_t end) { body(task, begin, end); });
                     },
                     const_cast<Function*>(&function)});
  }
  /** A temporary would be gone before the call. */
  template <typename Function>
  static Parallel For(const Function&& function) = delete;
  /** The field of addnorm.h. */
  constexpr const addnorm_parallel& get() const noexcept { return parallel_; }

 private:
  addnorm_parallel parallel_ = ADDNORM_SERIAL;
};

/** Options of the reductions. */
struct ReduceOptions {
  Parallel parallel; /**< the caller's threads, or none */
};

/** How results are stored: see addnorm_store. */
enum class Store : addnorm_store {
  kAutomatic = ADDNORM_STORE_AUTOMATIC,
  kCached = ADDNORM_STORE_CACHED,
  kStreaming = ADDNORM_STORE_STREAMING
};

/** Options of Add. */
struct AddOptions {
  VectorIn bias;                            /**< added to x first; absent: nothing */
  float residual_scale = 1;                 /**< factor of residual, finite, not 0 */
  Parallel parallel;                        /**< the caller's threads, or none */
  Store store = Store::kAutomatic;          /**< how the sum is stored */
  const addnorm_dropout* dropout = nullptr; /**< get() of a Dropout (training.hpp), of x + bias; null: none */
};

/** Options of LayerNorm and RmsNorm, and of every operation that contains one of them. */
struct NormOptions {
  VectorIn gamma;                     /**< absent: 1 */
  VectorIn beta;                      /**< absent: nothing is added */
  float gamma_offset = 0;             /**< added to gamma; 1 for Gemma */
  DType norm_dtype = DType::kDefault; /**< the normalized value is rounded to it before gamma and beta; default f32 */
  ColumnOut mean;                     /**< where to write the mean that was applied; LayerNorm only */
  ColumnOut rstd;                     /**< where to write 1 / sqrt(variance or mean square + epsilon) */
  Parallel parallel;                  /**< the caller's threads, or none */
  Store store = Store::kAutomatic;    /**< how y is stored */
};

/** Options of AddLayerNorm and AddRmsNorm. */
struct AddNormOptions : NormOptions {
  MatrixOut sum_out;                 /**< where to write the sum: Pre-LN's new residual stream */
  VectorIn bias;                     /**< added to x before the residual; absent: nothing */
  float residual_scale = 1;          /**< factor of residual, finite, not 0; DeepNorm's alpha */
  DType sum_dtype = DType::kDefault; /**< the sum is rounded to it before the norm; default: the dtype of residual */
  const addnorm_dropout* dropout = nullptr; /**< as in AddOptions */
};

/** Options of LayerNormAdd and RmsNormAdd. */
struct NormAddOptions : NormOptions {
  float residual_scale = 1;               /**< factor of residual, finite, not 0 */
  DType norm_out_dtype = DType::kDefault; /**< the norm's result is rounded to it before the sum; default: that of x */
};

/** @cond internal */
namespace detail {

// Collects the operands of one call, whose shape is that of x, and makes it if they fit together.
template <typename Args>
class Call {
 public:
  Call(const Args& initial, const MatrixIn& x) noexcept : args_(initial) {
    args_.rows = x.rows();
    args_.cols = x.cols();
    args_.x = x.operand();
  }
  template <typename Field, typename Operand>
  Call& Set(Field Args::* field, const Operand& operand) noexcept {
    fits_ = fits_ && operand.fits(args_.rows, args_.cols);
    args_.*field = operand.operand();
    return *this;
  }
  Call& SetNorm(double epsilon, const NormOptions& options) noexcept {
    args_.epsilon = epsilon;
    args_.gamma_offset = options.gamma_offset;
    args_.norm_dtype = static_cast<addnorm_dtype>(options.norm_dtype);
    args_.parallel = options.parallel.get();
    args_.store = static_cast<addnorm_store>(options.store);
    Set(&Args::gamma, options.gamma).Set(&Args::beta, options.beta);
    return Set(&Args::mean, options.mean).Set(&Args::rstd, options.rstd);
  }
  Args& args() noexcept { return args_; }
  Status Run(addnorm_status (*function)(const Args*)) const noexcept {
    return Status(fits_ ? function(&args_) : ADDNORM_SHAPE_MISMATCH);
  }

 private:
  Args args_;
  bool fits_ = true;
};

inline Call<addnorm_reduce_args> ReduceCall(const MatrixIn& x, const ReduceOptions& options) noexcept {
  Call<addnorm_reduce_args> call(ADDNORM_REDUCE_ARGS_INIT, x);
  call.args().parallel = options.parallel.get();
  return call;
}

inline Status Norm(addnorm_status (*function)(const addnorm_norm_args*), const MatrixIn& x, const MatrixOut& y,
                   double epsilon, const NormOptions& options) noexcept {
  Call<addnorm_norm_args> call(ADDNORM_NORM_ARGS_INIT, x);
  call.Set(&addnorm_norm_args::y, y).SetNorm(epsilon, options);
  return call.Run(function);
}

inline Status AddNorm(addnorm_status (*function)(const addnorm_add_norm_args*), const MatrixIn& x,
                      const MatrixIn& residual, const MatrixOut& y, double epsilon,
                      const AddNormOptions& options) noexcept {
  using Args = addnorm_add_norm_args;
  Call<Args> call(ADDNORM_ADD_NORM_ARGS_INIT, x);
  call.Set(&Args::residual, residual).Set(&Args::y, y).SetNorm(epsilon, options);
  call.Set(&Args::sum_out, options.sum_out).Set(&Args::bias, options.bias);
  call.args().residual_scale = options.residual_scale;
  call.args().sum_dtype = static_cast<addnorm_dtype>(options.sum_dtype);
  call.args().dropout = options.dropout;
  return call.Run(function);
}

inline Status NormAdd(addnorm_status (*function)(const addnorm_norm_add_args*), const MatrixIn& x,
                      const MatrixIn& residual, const MatrixOut& y, double epsilon,
                      const NormAddOptions& options) noexcept {
  using Args = addnorm_norm_add_args;
  Call<Args> call(ADDNORM_NORM_ADD_ARGS_INIT, x);
  call.Set(&Args::residual, residual).Set(&Args::y, y).SetNorm(epsilon, options);
  call.args().residual_scale = options.residual_scale;
  call.args().norm_out_dtype = static_cast<addnorm_dtype>(options.norm_out_dtype);
  return call.Run(function);
}

}  // namespace detail
/** @endcond */

/** @name Reductions
 * Statistics of each row of x, from f64 sums. Columns have one value for each row of x.
 * @{ */

/** mean = sum(x) / cols. See addnorm_mean. */
inline Status Mean(const MatrixIn& x, const ColumnOut& mean, const ReduceOptions& options = {}) noexcept {
  return detail::ReduceCall(x, options).Set(&addnorm_reduce_args::mean, mean).Run(addnorm_mean);
}

/** variance = sum((x - mean)^2) / cols. See addnorm_variance. */
inline Status Variance(const MatrixIn& x, const ColumnOut& variance, const ReduceOptions& options = {}) noexcept {
  return detail::ReduceCall(x, options).Set(&addnorm_reduce_args::variance, variance).Run(addnorm_variance);
}

/** Mean and Variance in one sweep, with the same bits. See addnorm_mean_variance. */
inline Status MeanVariance(const MatrixIn& x, const ColumnOut& mean, const ColumnOut& variance,
                           const ReduceOptions& options = {}) noexcept {
  using Args = addnorm_reduce_args;
  return detail::ReduceCall(x, options)
      .Set(&Args::mean, mean)
      .Set(&Args::variance, variance)
      .Run(addnorm_mean_variance);
}

/** mean_square = sum(x^2) / cols. See addnorm_mean_square. */
inline Status MeanSquare(const MatrixIn& x, const ColumnOut& mean_square, const ReduceOptions& options = {}) noexcept {
  return detail::ReduceCall(x, options).Set(&addnorm_reduce_args::mean_square, mean_square).Run(addnorm_mean_square);
}

/** rms = sqrt(sum(x^2) / cols). See addnorm_rms. */
inline Status Rms(const MatrixIn& x, const ColumnOut& rms, const ReduceOptions& options = {}) noexcept {
  return detail::ReduceCall(x, options).Set(&addnorm_reduce_args::rms, rms).Run(addnorm_rms);
}
/** @} */

/** @name Add & Norm
 * All matrices have the shape of x. y and sum_out may each be x or residual in place.
 * @{ */

/** sum = residual_scale * residual + (x + bias). See addnorm_add. */
inline Status Add(const MatrixIn& x, const MatrixIn& residual, const MatrixOut& sum_out,
                  const AddOptions& options = {}) noexcept {
  using Args = addnorm_add_args;
  detail::Call<Args> call(ADDNORM_ADD_ARGS_INIT, x);
  call.Set(&Args::residual, residual).Set(&Args::sum_out, sum_out).Set(&Args::bias, options.bias);
  call.args().residual_scale = options.residual_scale;
  call.args().parallel = options.parallel.get();
  call.args().store = static_cast<addnorm_store>(options.store);
  call.args().dropout = options.dropout;
  return call.Run(addnorm_add);
}

/** y = (x - mean) / sqrt(variance + epsilon) * (gamma + gamma_offset) + beta. See addnorm_layer_norm. */
inline Status LayerNorm(const MatrixIn& x, const MatrixOut& y, double epsilon,
                        const NormOptions& options = {}) noexcept {
  return detail::Norm(addnorm_layer_norm, x, y, epsilon, options);
}

/** y = x / sqrt(mean(x^2) + epsilon) * (gamma + gamma_offset) + beta. See addnorm_rms_norm. */
inline Status RmsNorm(const MatrixIn& x, const MatrixOut& y, double epsilon, const NormOptions& options = {}) noexcept {
  return detail::Norm(addnorm_rms_norm, x, y, epsilon, options);
}

/** s = the sum of Add, in sum_dtype; y = LayerNorm(s). See addnorm_add_layer_norm. */
inline Status AddLayerNorm(const MatrixIn& x, const MatrixIn& residual, const MatrixOut& y, double epsilon,
                           const AddNormOptions& options = {}) noexcept {
  return detail::AddNorm(addnorm_add_layer_norm, x, residual, y, epsilon, options);
}

/** s = the sum of Add, in sum_dtype; y = RmsNorm(s). See addnorm_add_rms_norm. */
inline Status AddRmsNorm(const MatrixIn& x, const MatrixIn& residual, const MatrixOut& y, double epsilon,
                         const AddNormOptions& options = {}) noexcept {
  return detail::AddNorm(addnorm_add_rms_norm, x, residual, y, epsilon, options);
}

/** n = LayerNorm(x), in norm_out_dtype; y = residual_scale * residual + n. See addnorm_layer_norm_add. */
inline Status LayerNormAdd(const MatrixIn& x, const MatrixIn& residual, const MatrixOut& y, double epsilon,
                           const NormAddOptions& options = {}) noexcept {
  return detail::NormAdd(addnorm_layer_norm_add, x, residual, y, epsilon, options);
}

/** n = RmsNorm(x), in norm_out_dtype; y = residual_scale * residual + n. See addnorm_rms_norm_add. */
inline Status RmsNormAdd(const MatrixIn& x, const MatrixIn& residual, const MatrixOut& y, double epsilon,
                         const NormAddOptions& options = {}) noexcept {
  return detail::NormAdd(addnorm_rms_norm_add, x, residual, y, epsilon, options);
}
/** @} */

/** @name Targets and versions
 * @{ */

/** Name of the target that the next call uses. See addnorm_target_name. */
inline const char* TargetName() noexcept { return addnorm_target_name(); }

/** Writes the names of up to `capacity` targets of this CPU, best first; returns how many there are. See
 * addnorm_supported_targets. */
inline int32_t SupportedTargets(const char** names, int32_t capacity) noexcept {
  return addnorm_supported_targets(names, capacity);
}

/** Caps the choice of target; null lifts the cap. See addnorm_set_max_target. */
inline Status SetMaxTarget(const char* name) noexcept { return Status(addnorm_set_max_target(name)); }

/** How ADDNORM_MAX_TARGET was taken. See addnorm_environment_status. */
inline Status EnvironmentStatus() noexcept { return Status(addnorm_environment_status()); }

/** Version of the library that is linked: 10000 * major + 100 * minor + patch. */
inline uint32_t Version() noexcept { return addnorm_version(); }

/** Version of the numerics: changes whenever any bit of any result may change. */
inline uint32_t NumericsVersion() noexcept { return addnorm_numerics_version(); }
/** @} */

}  // namespace addnorm

#endif  // ADDNORM_ADDNORM_HPP_
