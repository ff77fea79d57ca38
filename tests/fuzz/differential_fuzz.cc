// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// Valid calls with hard rows likely: every target gives the bits of the scalar reference, for all rows in one call and
// for each row in a call of its own.
#include <cstring>
#include <string>

#include "addnorm/addnorm.h"
#include "call.h"
#include "input.h"
#include "support/dtype.h"
#include "support/targets.h"

namespace addnorm_test {
namespace {

void Run(const Args& args) {
  const addnorm_status status = args.Call();
  if (status != ADDNORM_OK) Fail(args, "%s", addnorm_status_text(status));
}

void RunRowByRow(const Args& args) {
  Args one = args;
  one.set_rows(1);
  addnorm_dropout dropout = ADDNORM_DROPOUT_INIT;
  for (int64_t row = 0; row < args.rows(); ++row) {
    if (args.dropout() != nullptr) {
      dropout = *args.dropout();
      dropout.first_row += static_cast<uint64_t>(row);
      if (dropout.mask != nullptr) dropout.mask += row * dropout.mask_row_stride;
      if (dropout.mask_out != nullptr) dropout.mask_out += row * dropout.mask_out_row_stride;
      one.set_dropout(&dropout);
    }
    for (const OperandField& field : args.op().operands) {
      addnorm_output operand = args.Get(field);
      if (operand.data == nullptr) continue;
      operand.data = static_cast<unsigned char*>(operand.data) +
                     static_cast<size_t>(row * operand.row_stride) * DtypeSize(operand.dtype);
      one.Set(field, operand);
    }
    Run(one);
  }
}

// Runs, and compares all memory: what the scalar reference left of it is in `wanted`.
template <class Function>
void Compare(const Args& args, const unsigned char* before, const unsigned char* wanted, const Function& run,
             const char* how) {
  unsigned char* memory = FuzzCall::memory();
  std::memcpy(memory, before, kFuzzMemory);
  run(args);
  if (std::memcmp(memory, wanted, kFuzzMemory) == 0) return;
  // The bits of NaNs may differ.
  const std::string got = Outputs(args);
  std::memcpy(memory, wanted, kFuzzMemory);
  if (got != Outputs(args)) Fail(args, "%s on %s: the bits differ from scalar's", how, addnorm_target_name());
}

}  // namespace
}  // namespace addnorm_test

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace addnorm_test;
  static unsigned char before[kFuzzMemory], wanted[kFuzzMemory];
  FuzzInput in(data, size);
  FuzzCall call(&in);
  call.AddDropout();
  const Args& args = call.args();
  std::memcpy(before, FuzzCall::memory(), kFuzzMemory);
  {
    const ScopedTarget scalar("scalar");
    Run(args);
    std::memcpy(wanted, FuzzCall::memory(), kFuzzMemory);
  }
  for (const std::string& target : TestedTargets()) {
    if (target == "scalar") continue;
    const ScopedTarget scoped(target);
    Compare(args, before, wanted, Run, "all rows");
    if (args.rows() > 1) Compare(args, before, wanted, RunRowByRow, "row by row");
  }
  return 0;
}
