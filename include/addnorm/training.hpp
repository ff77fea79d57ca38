// addnorm: the backward pass of Add & Norm, for training.
// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#ifndef ADDNORM_TRAINING_HPP_
#define ADDNORM_TRAINING_HPP_

/** @file
 * The C++17 layer over training.h, as addnorm.hpp is over addnorm.h: each function is one call of the C function of its
 * name, whose documentation holds.
 *
 *     addnorm::Gradients out;
 *     out.dx = addnorm::Matrix<float>(dx_data, rows, cols);
 *     out.dgamma = addnorm::ParameterGradient<float>(dgamma_data, cols);
 *     out.workspace = addnorm::Workspace(memory, size);  // of addnorm::BackwardWorkspace(rows, cols, 1, &size)
 *     addnorm::Status status = addnorm::RmsNormBackward(dy, x, out, 1e-6, options); */

#include <cstddef>
#include <cstdint>

#include "addnorm/addnorm.hpp"
#include "addnorm/training.h"

namespace addnorm {

/** A view of the gradient of gamma, beta or bias, a sum over rows: float or double. */
template <typename T>
class ParameterGradient : public SharedVector<T> {
  static_assert(detail::kDType<T> == DType::kF32 || detail::kDType<T> == DType::kF64, "elements are float or double");

 public:
  using SharedVector<T>::SharedVector;
};
/** The element type is that of the data. */
template <typename T>
ParameterGradient(T*, int64_t) -> ParameterGradient<T>;

using ColumnIn = Any<Column, const void>;                  /**< a statistic that is read */
using ParameterGradientOut = Any<ParameterGradient, void>; /**< the gradient of gamma, beta or bias */

/** Dropout of what is added to the residual: see addnorm_dropout. Has to live until the call ends. */
class Dropout {
 public:
  /** Drops elements with this probability, as the seed says. */
  constexpr Dropout(double probability, uint64_t seed) noexcept {
    dropout_.probability = probability;
    dropout_.seed = seed;
  }
  /** The number of the call's first row, for a part of a batch. */
  constexpr Dropout& first_row(uint64_t row) noexcept {
    dropout_.first_row = row;
    return *this;
  }
  /** Bits to use, in rows `row_stride` bytes apart, in place of generated ones. */
  constexpr Dropout& mask(const uint8_t* bits, int64_t row_stride) noexcept {
    dropout_.mask = bits;
    dropout_.mask_row_stride = row_stride;
    return *this;
  }
  /** Where to write the bits that were applied; forward calls only. */
  constexpr Dropout& mask_out(uint8_t* bits, int64_t row_stride) noexcept {
    dropout_.mask_out = bits;
    dropout_.mask_out_row_stride = row_stride;
    return *this;
  }
  /** The struct of training.h, for the options of a call. */
  constexpr const addnorm_dropout* get() const noexcept { return &dropout_; }

 private:
  addnorm_dropout dropout_ = ADDNORM_DROPOUT_INIT;
};

/** Memory for the sums over rows: see addnorm_backward_workspace. */
struct Workspace {
  /** None, where no sum over rows is asked for. */
  constexpr Workspace() noexcept = default;
  /** `bytes` bytes that start at a multiple of ADDNORM_WORKSPACE_ALIGNMENT. */
  constexpr Workspace(void* memory, size_t bytes) noexcept : data(memory), size(bytes) {}

  void* data = nullptr; /**< first byte */
  size_t size = 0;      /**< bytes */
};

/** What a backward call writes, and what it needs for that. Each gradient is optional, but one has to be there; an
 * operation takes those that it has. */
struct Gradients {
  MatrixOut dx;                /**< of x */
  MatrixOut d_residual;        /**< of residual */
  ParameterGradientOut dgamma; /**< of gamma: a sum over rows, as are the next two */
  ParameterGradientOut dbeta;  /**< of beta */
  ParameterGradientOut dbias;  /**< of bias */
  bool accumulate = false;     /**< dgamma, dbeta and dbias are added to, not overwritten */
  Workspace workspace;         /**< for dgamma, dbeta and dbias */
};

/** Options of AddBackward. */
struct AddBackwardOptions {
  float residual_scale = 1;                 /**< as in the forward call */
  Parallel parallel;                        /**< the caller's threads, or none */
  const addnorm_dropout* dropout = nullptr; /**< as in the forward call, without mask_out */
};

/** Options of the backward functions of all norms. */
struct NormBackwardOptions {
  VectorIn gamma;                           /**< as in the forward call */
  float gamma_offset = 0;                   /**< as in the forward call */
  float residual_scale = 1;                 /**< as in the forward call */
  ColumnIn mean;                            /**< as the forward call wrote it; LayerNorm only, and with rstd */
  ColumnIn rstd;                            /**< as the forward call wrote it */
  MatrixIn d_sum;                           /**< the gradient of sum_out; Add*Norm only; absent: 0 */
  Parallel parallel;                        /**< the caller's threads, or none */
  const addnorm_dropout* dropout = nullptr; /**< as in the forward call, without mask_out; Add*Norm only */
};

/** @cond internal */
namespace detail {

inline Status NormBackward(addnorm_status (*function)(const addnorm_norm_backward_args*), const MatrixIn& dy,
                           const MatrixIn& x, const Gradients& out, double epsilon,
                           const NormBackwardOptions& options) noexcept {
  using Args = addnorm_norm_backward_args;
  Call<Args> call(ADDNORM_NORM_BACKWARD_ARGS_INIT, x);
  call.Set(&Args::dy, dy).Set(&Args::gamma, options.gamma).Set(&Args::mean, options.mean);
  call.Set(&Args::rstd, options.rstd).Set(&Args::d_sum, options.d_sum).Set(&Args::dx, out.dx);
  call.Set(&Args::d_residual, out.d_residual).Set(&Args::dgamma, out.dgamma).Set(&Args::dbeta, out.dbeta);
  call.Set(&Args::dbias, out.dbias);
  Args& args = call.args();
  args.epsilon = epsilon;
  args.gamma_offset = options.gamma_offset;
  args.residual_scale = options.residual_scale;
  args.accumulate = out.accumulate ? 1 : 0;
  args.workspace = out.workspace.data;
  args.workspace_size = out.workspace.size;
  args.parallel = options.parallel.get();
  args.dropout = options.dropout;
  return call.Run(function);
}

}  // namespace detail
/** @endcond */

/** @name Backward
 * All matrices have the shape of x. dx and d_residual may each be dy, x or d_sum in place.
 * @{ */

/** Writes how many bytes of workspace a call needs that asks for `sums` of dgamma, dbeta and dbias. See
 * addnorm_backward_workspace. */
inline Status BackwardWorkspace(int64_t rows, int64_t cols, int32_t sums, size_t* bytes) noexcept {
  return Status(addnorm_backward_workspace(rows, cols, sums, bytes));
}

/** dx = d_sum, d_residual = residual_scale * d_sum, dbias = sum over rows of d_sum. See addnorm_add_backward. */
inline Status AddBackward(const MatrixIn& d_sum, const Gradients& out,
                          const AddBackwardOptions& options = {}) noexcept {
  using Args = addnorm_add_backward_args;
  Args args = ADDNORM_ADD_BACKWARD_ARGS_INIT;
  args.rows = d_sum.rows();
  args.cols = d_sum.cols();
  args.d_sum = d_sum.operand();
  args.dx = out.dx.operand();
  args.d_residual = out.d_residual.operand();
  args.dbias = out.dbias.operand();
  args.residual_scale = options.residual_scale;
  args.accumulate = out.accumulate ? 1 : 0;
  args.workspace = out.workspace.data;
  args.workspace_size = out.workspace.size;
  args.parallel = options.parallel.get();
  args.dropout = options.dropout;
  const bool fits = out.dx.fits(args.rows, args.cols) && out.d_residual.fits(args.rows, args.cols) &&
                    out.dbias.fits(args.rows, args.cols);
  return Status(fits ? addnorm_add_backward(&args) : ADDNORM_SHAPE_MISMATCH);
}

/** The gradients of LayerNorm. See addnorm_layer_norm_backward. */
inline Status LayerNormBackward(const MatrixIn& dy, const MatrixIn& x, const Gradients& out, double epsilon,
                                const NormBackwardOptions& options = {}) noexcept {
  return detail::NormBackward(addnorm_layer_norm_backward, dy, x, out, epsilon, options);
}

/** The gradients of RmsNorm. See addnorm_rms_norm_backward. */
inline Status RmsNormBackward(const MatrixIn& dy, const MatrixIn& x, const Gradients& out, double epsilon,
                              const NormBackwardOptions& options = {}) noexcept {
  return detail::NormBackward(addnorm_rms_norm_backward, dy, x, out, epsilon, options);
}

/** The gradients of AddLayerNorm, from its sum. See addnorm_add_layer_norm_backward. */
inline Status AddLayerNormBackward(const MatrixIn& dy, const MatrixIn& sum, const Gradients& out, double epsilon,
                                   const NormBackwardOptions& options = {}) noexcept {
  return detail::NormBackward(addnorm_add_layer_norm_backward, dy, sum, out, epsilon, options);
}

/** The gradients of AddRmsNorm, from its sum. See addnorm_add_rms_norm_backward. */
inline Status AddRmsNormBackward(const MatrixIn& dy, const MatrixIn& sum, const Gradients& out, double epsilon,
                                 const NormBackwardOptions& options = {}) noexcept {
  return detail::NormBackward(addnorm_add_rms_norm_backward, dy, sum, out, epsilon, options);
}

/** The gradients of LayerNormAdd. See addnorm_layer_norm_add_backward. */
inline Status LayerNormAddBackward(const MatrixIn& dy, const MatrixIn& x, const Gradients& out, double epsilon,
                                   const NormBackwardOptions& options = {}) noexcept {
  return detail::NormBackward(addnorm_layer_norm_add_backward, dy, x, out, epsilon, options);
}

/** The gradients of RmsNormAdd. See addnorm_rms_norm_add_backward. */
inline Status RmsNormAddBackward(const MatrixIn& dy, const MatrixIn& x, const Gradients& out, double epsilon,
                                 const NormBackwardOptions& options = {}) noexcept {
  return detail::NormBackward(addnorm_rms_norm_add_backward, dy, x, out, epsilon, options);
}
/** @} */

}  // namespace addnorm

#endif  // ADDNORM_TRAINING_HPP_
