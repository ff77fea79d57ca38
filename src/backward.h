// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
// What the functions of training.h are lowered to, and how their sums over rows are cut into blocks.
#ifndef ADDNORM_SRC_BACKWARD_H_
#define ADDNORM_SRC_BACKWARD_H_

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "addnorm/training.h"
#include "src/call.h"
#include "src/compiler.h"
#include "src/lists.h"
#include "src/statistics.h"

namespace addnorm {

// One checked backward call. Of Call it uses rows, cols, x (what was normalized), gamma, mean and rstd (as inputs),
// epsilon, gamma_offset and residual_scale.
struct BackwardCall : Call {
  Operand dy, d_sum;
  Operand dx, d_residual;
  Operand dgamma, dbeta, dbias;
  bool adds_after = false;  // *NormAdd: the gradient of the residual is made of dy, not of that of the norm's input
  bool accumulate = false;
  void* workspace = nullptr;
  size_t workspace_size = 0;

  // How many sums over rows are asked for.
  size_t Sums() const {
    return static_cast<size_t>(dgamma.data != nullptr) + static_cast<size_t>(dbeta.data != nullptr) +
           static_cast<size_t>(dbias.data != nullptr);
  }
};

// ---- Blocks of rows, over which dgamma, dbeta and dbias are summed first. Their number depends on rows alone.

inline constexpr int64_t kMinBlockRows = 32;
inline constexpr int64_t kMaxBlocks = 128;

constexpr int64_t BlockRows(int64_t rows) {
  const int64_t least = (rows + kMaxBlocks - 1) / kMaxBlocks;
  return least <= kMinBlockRows ? kMinBlockRows : (least + 7) / 8 * 8;
}

constexpr int64_t BlockCount(int64_t rows) { return (rows + BlockRows(rows) - 1) / BlockRows(rows); }

// f64 elements of one sum in the workspace: whole vectors, so that no sum has a tail.
constexpr int64_t SumElements(int64_t cols) {
  return (cols + static_cast<int64_t>(kLanes) - 1) / static_cast<int64_t>(kLanes) * static_cast<int64_t>(kLanes);
}

// The sums of one block, SumElements(cols) each; null where not asked for.
struct BlockSums {
  double* gamma = nullptr;
  double* beta = nullptr;
  double* bias = nullptr;
};

// Called when a block's first rows come, in ascending order: the places of its sums, which are +0.0 there.
using BeginBlock = BlockSums (*)(const BackwardCall&, int64_t block);

// Computes the blocks `begin` to `end`, and adds what their rows add to their sums.
using BackwardKernel = void (*)(const BackwardCall&, int64_t begin, int64_t end, BeginBlock);

// In the order of the backward operations.
using BackwardKernels = std::array<BackwardKernel, kBackwardOps>;

extern const BackwardKernels kScalarBackward;

// Checks a call of a backward operation. What it reads has to be there unless there is nothing to do.
addnorm_status ValidateBackward(addnorm_op op, const BackwardCall& call);

// Bytes of workspace for so many sums; 0 if they do not fit into size_t.
size_t WorkspaceBytes(int64_t rows, int64_t cols, size_t sums);

// ---- The scalar arithmetic once a row, in f64, shared by the reference and all targets.

// What the gradients of a row are made of besides x, dy and gamma: with d = x - mean and h = dy * gamma,
// (h - mean_h - d * slope) * inverse.
struct RowGradient {
  double mean;
  double inverse;  // rstd, but 0 where that is infinite
  double mean_h;
  double slope;
};

// From the saved or recomputed statistics.
ADDNORM_INLINE RowGradient NormalizedBy(double mean, double rstd) {
  return {mean, std::isinf(rstd) ? 0.0 : rstd, 0.0, 0.0};
}

// From the sums of h and h * d. mean(h * t) * rstd, t = d * rstd, is in range where rstd^2 is not.
ADDNORM_INLINE void SetMeans(double sum_h, double sum_hd, int64_t cols, RowGradient& row) {
  const double n = static_cast<double>(cols);
  row.mean_h = sum_h / n;
  row.slope = (sum_hd / n * row.inverse) * row.inverse;
}

// A statistic that the forward call wrote.
ADDNORM_INLINE double LoadStatistic(const Operand& column, int64_t row) {
  return column.dtype == ADDNORM_F64 ? *column.Row<const double>(row)
                                     : static_cast<double>(*column.Row<const float>(row));
}

}  // namespace addnorm

#endif  // ADDNORM_SRC_BACKWARD_H_
