// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// Valid calls of the backward operations, with any statistics: every target gives the bits of the scalar reference.
#include <cstring>
#include <string>

#include "addnorm/training.h"
#include "call.h"
#include "input.h"
#include "support/backward.h"
#include "support/dtype.h"
#include "support/targets.h"

namespace addnorm_test {
namespace {

std::string Run(const Args& args) {
  const addnorm_status status = args.Call();
  if (status != ADDNORM_OK) Fail(args, "%s", addnorm_status_text(status));
  return Outputs(args);
}

// Whether bytes outside of the outputs changed: their elements are put back first.
bool ChangedOthers(const Args& args, const unsigned char* before) {
  static unsigned char after[kFuzzMemory];
  std::memcpy(after, FuzzCall::memory(), kFuzzMemory);
  for (const OperandField& field : args.op().operands) {
    const addnorm_output operand = args.Get(field);
    if (!field.written || operand.data == nullptr) continue;
    const size_t size = DtypeSize(operand.dtype);
    const int64_t rows = field.shape == Shape::kVector ? 1 : args.rows();
    for (int64_t row = 0; row < rows; ++row) {
      const size_t at = static_cast<size_t>(static_cast<unsigned char*>(operand.data) - FuzzCall::memory()) +
                        static_cast<size_t>(row * operand.row_stride) * size;
      std::memcpy(after + at, before + at, static_cast<size_t>(args.cols()) * size);
    }
  }
  return std::memcmp(after, before, kFuzzMemory) != 0;
}

}  // namespace
}  // namespace addnorm_test

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace addnorm_test;
  static unsigned char before[kFuzzMemory];
  FuzzInput in(data, size);
  FuzzCall call(&in, AllBackwardCases());
  call.AddDropout();
  const Args& args = call.args();
  std::memcpy(before, FuzzCall::memory(), kFuzzMemory);
  std::string wanted;
  {
    const ScopedTarget scalar("scalar");
    wanted = Run(args);
  }
  for (const std::string& target : TestedTargets()) {
    const ScopedTarget scoped(target);
    std::memcpy(FuzzCall::memory(), before, kFuzzMemory);
    if (Run(args) != wanted) Fail(args, "on %s: the bits differ from scalar's", addnorm_target_name());
    if (ChangedOthers(args, before)) Fail(args, "on %s: wrote beside the outputs", addnorm_target_name());
  }
  return 0;
}
