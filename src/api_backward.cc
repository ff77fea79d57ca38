// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
// The public functions of training.h: read the arguments, check them, run the kernel over blocks of rows, and sum what
// the blocks have left in the workspace.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "addnorm/training.h"
#include "src/args.h"
#include "src/backward.h"
#include "src/dropout.h"
#include "src/fp_environment.h"
#include "src/status.h"
#include "src/targets.h"

namespace addnorm {

template <>
struct Layout<addnorm_add_backward_args> {
  static constexpr size_t kRequired = offsetof(addnorm_add_backward_args, dx);
  static constexpr addnorm_add_backward_args kDefaults = ADDNORM_ADD_BACKWARD_ARGS_INIT;
};
template <>
struct Layout<addnorm_norm_backward_args> {
  static constexpr size_t kRequired = offsetof(addnorm_norm_backward_args, gamma);
  static constexpr addnorm_norm_backward_args kDefaults = ADDNORM_NORM_BACKWARD_ARGS_INIT;
};

namespace {

// ---- Lowering

template <class Args>
addnorm_status LowerBackward(const Args& args, BackwardCall& call) {
  call.rows = args.rows;
  call.cols = args.cols;
  call.d_sum = ToOperand(args.d_sum);
  call.dx = ToOperand(args.dx);
  call.d_residual = ToOperand(args.d_residual);
  call.dbias = ToOperand(args.dbias);
  call.residual_scale = args.residual_scale;
  call.accumulate = args.accumulate == 1;
  call.workspace = args.workspace;
  call.workspace_size = args.workspace_size;
  const bool good = args.accumulate == 0 || args.accumulate == 1;
  return good ? ADDNORM_OK : MakeStatus(ADDNORM_BAD_NUMBER, Subject::kAccumulate);
}

addnorm_status Lower(const addnorm_add_backward_args& args, BackwardCall& call) { return LowerBackward(args, call); }

addnorm_status Lower(const addnorm_norm_backward_args& args, BackwardCall& call) {
  call.dy = ToOperand(args.dy);
  call.x = ToOperand(args.x);
  call.gamma = ToOperand(args.gamma);
  call.mean = ToOperand(args.mean);
  call.rstd = ToOperand(args.rstd);
  call.dgamma = ToOperand(args.dgamma);
  call.dbeta = ToOperand(args.dbeta);
  call.epsilon = args.epsilon;
  call.gamma_offset = args.gamma_offset;
  if (args.reserved != 0) return MakeStatus(ADDNORM_RESERVED_NOT_ZERO, Subject::kReserved);
  return LowerBackward(args, call);
}

// ---- Blocks of rows

// What all ranges of a call share.
struct BackwardTask {
  BackwardKernel kernel;
  const BackwardCall* call;
  int64_t blocks;  // that the workspace holds
};

// f64 elements of a block in the workspace.
int64_t BlockElements(const BackwardCall& call) { return SumElements(call.cols) * static_cast<int64_t>(call.Sums()); }

double* StartOfBlock(const BackwardCall& call, int64_t block) {
  return static_cast<double*>(call.workspace) + block * BlockElements(call);
}

BlockSums SumsOfBlock(const BackwardCall& call, int64_t block) {
  if (call.Sums() == 0) return BlockSums();
  double* next = StartOfBlock(call, block);
  const auto take = [&](const Operand& sum) {
    double* taken = sum.data != nullptr ? next : nullptr;
    if (sum.data != nullptr) next += SumElements(call.cols);
    return taken;
  };
  BlockSums sums;
  sums.gamma = take(call.dgamma);
  sums.beta = take(call.dbeta);
  sums.bias = take(call.dbias);
  return sums;
}

BlockSums ClearedBlock(const BackwardCall& call, int64_t block) {
  const size_t bytes = static_cast<size_t>(BlockElements(call)) * sizeof(double);
  if (bytes != 0) std::memset(StartOfBlock(call, block), 0, bytes);
  return SumsOfBlock(call, block);
}

void RunBlocks(void* erased, int64_t begin, int64_t end) {
  const BackwardTask& task = *static_cast<const BackwardTask*>(erased);
  if (begin < 0 || begin >= end || end > BlockCount(task.call->rows)) return;
  const DefaultFpEnvironment environment;
  task.kernel(*task.call, begin, end, &ClearedBlock);
}

// Adds the sums in the place of the second block to those of the first, and clears them.
void AddSecondBlock(const BackwardCall& call) {
  const int64_t elements = BlockElements(call);
  if (elements == 0) return;
  double* const total = StartOfBlock(call, 0);
  double* const block = StartOfBlock(call, 1);
  for (int64_t i = 0; i < elements; ++i) {
    total[i] += block[i];
    block[i] = 0.0;
  }
}

// On one thread the sums of all blocks but the first take turns in the place of the second: they stay in cache.
BlockSums ClearedTurn(const BackwardCall& call, int64_t block) {
  if (block <= 1) return ClearedBlock(call, block);
  AddSecondBlock(call);
  return SumsOfBlock(call, 1);
}

// ---- The sums of all blocks, in ascending order.

// Columns that are summed together, on one thread.
constexpr int64_t kGroupCols = 256;

int64_t GroupCount(int64_t cols) { return (cols + kGroupCols - 1) / kGroupCols; }

template <class T>
void StoreSums(const Operand& to, int64_t begin, int64_t count, const double* totals, bool accumulate) {
  T* out = static_cast<T*>(to.data) + begin;
  for (int64_t i = 0; i < count; ++i) {
    out[i] = static_cast<T>(accumulate ? static_cast<double>(out[i]) + totals[i] : totals[i]);
  }
}

void SumBlocks(const BackwardTask& task, const Operand& to, const double* first, int64_t begin, int64_t count) {
  if (to.data == nullptr) return;
  const BackwardCall& call = *task.call;
  const int64_t step = BlockElements(call);
  double added[kGroupCols] = {};
  const double* totals = task.blocks != 0 ? first + begin : added;
  for (int64_t block = 1; block < task.blocks; ++block) {
    const double* sums = first + block * step + begin;
    for (int64_t i = 0; i < count; ++i) added[i] = totals[i] + sums[i];
    totals = added;
  }
  if (to.dtype == ADDNORM_F64) {
    StoreSums<double>(to, begin, count, totals, call.accumulate);
  } else {
    StoreSums<float>(to, begin, count, totals, call.accumulate);
  }
}

void SumGroups(void* erased, int64_t begin, int64_t end) {
  const BackwardTask& task = *static_cast<const BackwardTask*>(erased);
  const BackwardCall& call = *task.call;
  if (begin < 0 || begin >= end || end > GroupCount(call.cols)) return;
  const DefaultFpEnvironment environment;
  const BlockSums sums = task.blocks != 0 ? SumsOfBlock(call, 0) : BlockSums();  // of no rows: no workspace
  for (int64_t group = begin; group < end; ++group) {
    const int64_t col = group * kGroupCols;
    const int64_t count = std::min(kGroupCols, call.cols - col);
    SumBlocks(task, call.dgamma, sums.gamma, col, count);
    SumBlocks(task, call.dbeta, sums.beta, col, count);
    SumBlocks(task, call.dbias, sums.bias, col, count);
  }
}

// ---- A call

void RunSerially(BackwardTask& task) {
  const BackwardCall& call = *task.call;
  const DefaultFpEnvironment environment;
  const int64_t blocks = BlockCount(call.rows);
  task.kernel(call, 0, blocks, &ClearedTurn);
  if (blocks > 1) AddSecondBlock(call);
  task.blocks = std::min<int64_t>(blocks, 1);
  if (call.Sums() != 0 && !(blocks == 0 && call.accumulate)) SumGroups(&task, 0, GroupCount(call.cols));
}

template <class Args>
addnorm_status Run(addnorm_op op, const Args* caller_args) {
  if (caller_args == nullptr) return MakeStatus(ADDNORM_NULL_POINTER, Subject::kArgs);
  Args storage;
  const Args* args = ReadArgs(caller_args, &storage);
  if (args == nullptr) return MakeStatus(ADDNORM_WRONG_STRUCT_SIZE, Subject::kStructSize);

  const Family family = kOps[static_cast<size_t>(op)].family;
  BackwardCall call;
  call.adds_after = family == Family::kNormAdd;
  addnorm_status status = Lower(*args, call);
  if (status != ADDNORM_OK) return status;
  Dropout dropout;
  {
    const DefaultFpEnvironment environment;
    if (args->dropout != nullptr) {
      if (family != Family::kAdd && family != Family::kAddNorm) {
        return MakeStatus(ADDNORM_UNUSED_OPERAND, Subject::kDropout);
      }
      status = ReadDropout(*args->dropout, &dropout);
      if (status != ADDNORM_OK) return status;
      if (dropout.mask_out != nullptr) return MakeStatus(ADDNORM_UNUSED_OPERAND, Subject::kMaskOut);
      call.dropout = &dropout;
    }
    status = ValidateBackward(op, call);
  }
  if (status != ADDNORM_OK || call.cols == 0) return status;

  const BackwardKernels& kernels = *ActiveTable()->backward;
  BackwardTask task = {kernels[static_cast<size_t>(op) - kForwardOps], &call, BlockCount(call.rows)};
  const addnorm_parallel& parallel = args->parallel;
  if (parallel.parallel_for == nullptr || task.blocks <= 1) {
    RunSerially(task);
  } else {
    // In the caller's floating-point mode, as it is the caller's code.
    parallel.parallel_for(parallel.context, task.blocks, &RunBlocks, &task);
    if (call.Sums() != 0) parallel.parallel_for(parallel.context, GroupCount(call.cols), &SumGroups, &task);
  }
  return ADDNORM_OK;
}

}  // namespace
}  // namespace addnorm

extern "C" {

addnorm_status addnorm_backward_workspace(int64_t rows, int64_t cols, int32_t sums, size_t* bytes) {
  using addnorm::MakeStatus;
  using addnorm::Subject;
  if (bytes == nullptr) return MakeStatus(ADDNORM_NULL_POINTER, Subject::kBytes);
  if (rows < 0) return MakeStatus(ADDNORM_NEGATIVE_SIZE, Subject::kRows);
  if (cols < 0) return MakeStatus(ADDNORM_NEGATIVE_SIZE, Subject::kCols);
  if (cols > ADDNORM_MAX_COLS) return MakeStatus(ADDNORM_SIZE_TOO_LARGE, Subject::kCols);
  if (sums < 0 || sums > 3) return MakeStatus(ADDNORM_OUT_OF_RANGE, Subject::kSums);
  const size_t needed = addnorm::WorkspaceBytes(rows, cols, static_cast<size_t>(sums));
  if (needed == 0 && rows != 0 && cols != 0 && sums != 0) return MakeStatus(ADDNORM_SIZE_TOO_LARGE, Subject::kCols);
  *bytes = needed;
  return ADDNORM_OK;
}

addnorm_status addnorm_add_backward(const addnorm_add_backward_args* args) {
  return addnorm::Run(ADDNORM_OP_ADD_BACKWARD, args);
}

addnorm_status addnorm_layer_norm_backward(const addnorm_norm_backward_args* args) {
  return addnorm::Run(ADDNORM_OP_LAYER_NORM_BACKWARD, args);
}

addnorm_status addnorm_rms_norm_backward(const addnorm_norm_backward_args* args) {
  return addnorm::Run(ADDNORM_OP_RMS_NORM_BACKWARD, args);
}

addnorm_status addnorm_add_layer_norm_backward(const addnorm_norm_backward_args* args) {
  return addnorm::Run(ADDNORM_OP_ADD_LAYER_NORM_BACKWARD, args);
}

addnorm_status addnorm_add_rms_norm_backward(const addnorm_norm_backward_args* args) {
  return addnorm::Run(ADDNORM_OP_ADD_RMS_NORM_BACKWARD, args);
}

addnorm_status addnorm_layer_norm_add_backward(const addnorm_norm_backward_args* args) {
  return addnorm::Run(ADDNORM_OP_LAYER_NORM_ADD_BACKWARD, args);
}

addnorm_status addnorm_rms_norm_add_backward(const addnorm_norm_backward_args* args) {
  return addnorm::Run(ADDNORM_OP_RMS_NORM_ADD_BACKWARD, args);
}

}  // extern "C"
