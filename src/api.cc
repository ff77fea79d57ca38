// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
// The public functions: read the arguments, check them, and run the one kernel that suits them.
#include <cstddef>

#include "addnorm/addnorm.h"
#include "src/args.h"
#include "src/call.h"
#include "src/dropout.h"
#include "src/fp_environment.h"
#include "src/status.h"
#include "src/targets.h"
#include "src/validate.h"

namespace addnorm {

template <>
struct Layout<addnorm_reduce_args> {
  static constexpr size_t kRequired = offsetof(addnorm_reduce_args, parallel);
  static constexpr addnorm_reduce_args kDefaults = ADDNORM_REDUCE_ARGS_INIT;
};
template <>
struct Layout<addnorm_add_args> {
  static constexpr size_t kRequired = offsetof(addnorm_add_args, bias);
  static constexpr addnorm_add_args kDefaults = ADDNORM_ADD_ARGS_INIT;
};
template <>
struct Layout<addnorm_norm_args> {
  static constexpr size_t kRequired = offsetof(addnorm_norm_args, gamma);
  static constexpr addnorm_norm_args kDefaults = ADDNORM_NORM_ARGS_INIT;
};
template <>
struct Layout<addnorm_add_norm_args> {
  static constexpr size_t kRequired = offsetof(addnorm_add_norm_args, sum_out);
  static constexpr addnorm_add_norm_args kDefaults = ADDNORM_ADD_NORM_ARGS_INIT;
};
template <>
struct Layout<addnorm_norm_add_args> {
  static constexpr size_t kRequired = offsetof(addnorm_norm_add_args, gamma);
  static constexpr addnorm_norm_add_args kDefaults = ADDNORM_NORM_ADD_ARGS_INIT;
};

namespace {

// ---- Lowering: each argument struct to the one that all kernels take.

addnorm_dtype Or(addnorm_dtype dtype, addnorm_dtype otherwise) { return dtype != 0 ? dtype : otherwise; }

// That of an operand; 0 where it is absent, as it may be in an empty call: its dtype is not looked at then.
addnorm_dtype DtypeOf(const addnorm_input& in) { return in.data != nullptr ? in.dtype : 0; }

// What all norms have.
template <class Args>
addnorm_status LowerNorm(const Args& args, Call& call) {
  call.y = ToOperand(args.y);
  call.gamma = ToOperand(args.gamma);
  call.beta = ToOperand(args.beta);
  call.mean = ToOperand(args.mean);
  call.rstd = ToOperand(args.rstd);
  call.epsilon = args.epsilon;
  call.gamma_offset = args.gamma_offset;
  call.norm_dtype = Or(args.norm_dtype, ADDNORM_F32);
  call.store = args.store;
  return args.reserved == 0 ? ADDNORM_OK : MakeStatus(ADDNORM_RESERVED_NOT_ZERO, Subject::kReserved);
}

addnorm_status Lower(const addnorm_reduce_args& args, Call& call) {
  call.mean = ToOperand(args.mean);
  call.variance = ToOperand(args.variance);
  call.mean_square = ToOperand(args.mean_square);
  call.rms = ToOperand(args.rms);
  return ADDNORM_OK;
}

addnorm_status Lower(const addnorm_add_args& args, Call& call) {
  call.residual = ToOperand(args.residual);
  call.sum_out = ToOperand(args.sum_out);
  call.bias = ToOperand(args.bias);
  call.residual_scale = args.residual_scale;
  call.sum_dtype = args.sum_out.dtype;
  call.store = args.store;
  return ADDNORM_OK;
}

addnorm_status Lower(const addnorm_norm_args& args, Call& call) { return LowerNorm(args, call); }

addnorm_status Lower(const addnorm_add_norm_args& args, Call& call) {
  call.residual = ToOperand(args.residual);
  call.sum_out = ToOperand(args.sum_out);
  call.bias = ToOperand(args.bias);
  call.residual_scale = args.residual_scale;
  call.sum_dtype = Or(args.sum_dtype, DtypeOf(args.residual));
  return LowerNorm(args, call);
}

addnorm_status Lower(const addnorm_norm_add_args& args, Call& call) {
  call.residual = ToOperand(args.residual);
  call.residual_scale = args.residual_scale;
  call.norm_out_dtype = Or(args.norm_out_dtype, DtypeOf(args.x));
  return LowerNorm(args, call);
}

// ---- Rows on the caller's threads

struct RangeTask {
  Kernel kernel;
  const Call* call;
};

void RunRange(void* task, int64_t begin, int64_t end) {
  const auto [kernel, call] = *static_cast<const RangeTask*>(task);
  if (begin < 0 || begin >= end || end > call->rows) return;
  const DefaultFpEnvironment environment;
  kernel(call->Range(begin, end));
}

template <addnorm_op kOp, class Args>
addnorm_status Run(const Args* caller_args) {
  if (caller_args == nullptr) return MakeStatus(ADDNORM_NULL_POINTER, Subject::kArgs);
  Args storage;
  const Args* args = ReadArgs(caller_args, &storage);
  if (args == nullptr) return MakeStatus(ADDNORM_WRONG_STRUCT_SIZE, Subject::kStructSize);

  Call call;
  call.rows = args->rows;
  call.cols = args->cols;
  call.x = ToOperand(args->x);
  addnorm_status status = Lower(*args, call);
  if (status != ADDNORM_OK) return status;

  constexpr Family kFamily = kOps[kOp].family;
  RangeTask task = {nullptr, &call};
  Dropout dropout;
  {
    // Before the checks: they compare numbers, which denormals-are-zero and unmasked exceptions would change.
    const DefaultFpEnvironment environment;
    if constexpr (kFamily == Family::kAdd || kFamily == Family::kAddNorm) {
      if (args->dropout != nullptr) {
        status = ReadDropout(*args->dropout, &dropout);
        if (status != ADDNORM_OK) return status;
        call.dropout = &dropout;
      }
    }
    size_t index;
    status = Validate<kOp>(call, &index);
    if (status != ADDNORM_OK || index == kNothingToDo) return status;
    if (call.dropout != nullptr) {
      status = ValidateMasks(call);
      if (status != ADDNORM_OK) return status;
    }

    if constexpr (kFamily != Family::kReduce) {
      call.streams = Streams(call, kFamily == Family::kAdd ? call.sum_out : call.y);
    }
    task.kernel = (*ActiveTable()->ops[kOp])[index];
    if (args->parallel.parallel_for == nullptr || call.rows == 1) {
      task.kernel(call);
      return ADDNORM_OK;
    }
  }
  // In the caller's floating-point mode, as it is the caller's code.
  args->parallel.parallel_for(args->parallel.context, call.rows, &RunRange, &task);
  return ADDNORM_OK;
}

}  // namespace
}  // namespace addnorm

extern "C" {

addnorm_status addnorm_mean(const addnorm_reduce_args* args) { return addnorm::Run<ADDNORM_OP_MEAN>(args); }

addnorm_status addnorm_variance(const addnorm_reduce_args* args) { return addnorm::Run<ADDNORM_OP_VARIANCE>(args); }

addnorm_status addnorm_mean_variance(const addnorm_reduce_args* args) {
  return addnorm::Run<ADDNORM_OP_MEAN_VARIANCE>(args);
}

addnorm_status addnorm_mean_square(const addnorm_reduce_args* args) {
  return addnorm::Run<ADDNORM_OP_MEAN_SQUARE>(args);
}

addnorm_status addnorm_rms(const addnorm_reduce_args* args) { return addnorm::Run<ADDNORM_OP_RMS>(args); }

addnorm_status addnorm_add(const addnorm_add_args* args) { return addnorm::Run<ADDNORM_OP_ADD>(args); }

addnorm_status addnorm_layer_norm(const addnorm_norm_args* args) { return addnorm::Run<ADDNORM_OP_LAYER_NORM>(args); }

addnorm_status addnorm_rms_norm(const addnorm_norm_args* args) { return addnorm::Run<ADDNORM_OP_RMS_NORM>(args); }

addnorm_status addnorm_add_layer_norm(const addnorm_add_norm_args* args) {
  return addnorm::Run<ADDNORM_OP_ADD_LAYER_NORM>(args);
}

addnorm_status addnorm_add_rms_norm(const addnorm_add_norm_args* args) {
  return addnorm::Run<ADDNORM_OP_ADD_RMS_NORM>(args);
}

addnorm_status addnorm_layer_norm_add(const addnorm_norm_add_args* args) {
  return addnorm::Run<ADDNORM_OP_LAYER_NORM_ADD>(args);
}

addnorm_status addnorm_rms_norm_add(const addnorm_norm_add_args* args) {
  return addnorm::Run<ADDNORM_OP_RMS_NORM_ADD>(args);
}

}  // extern "C"
