// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// A valid call of any operation, with memory and values, made of a fuzzer's bytes.
#ifndef ADDNORM_TESTS_FUZZ_CALL_H_
#define ADDNORM_TESTS_FUZZ_CALL_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "input.h"
#include "support/args.h"
#include "support/op_case.h"

namespace addnorm_test {

// All operands lie in one block of memory, with bytes between them that nobody may touch.
constexpr size_t kFuzzMemory = size_t{6} << 12;
constexpr unsigned char kFuzzUntouched = 0xff;  // a NaN in every dtype

class FuzzCall {
 public:
  // Takes the call's memory over from the last one. Calls are one at a time.
  explicit FuzzCall(FuzzInput* in) : FuzzCall(in, AllOpCases()) {}
  // Of one of these cases, forward or backward.
  FuzzCall(FuzzInput* in, const std::vector<OpCase>& cases);

  const OpCase& op_case() const { return *op_case_; }
  Args& args() { return args_; }
  static unsigned char* memory() { return memory_; }
  // Takes more bytes: dropout, where the operation has it, with masks in the memory.
  void AddDropout();

 private:
  void Place(const OperandField& field);
  void FinishBackward();
  void Fill(const OperandField& field);
  void FillRow(void* data, int64_t cols, addnorm_dtype dtype);
  addnorm_dtype DtypeOf(const OperandField& field);
  void Numbers();

  alignas(64) static unsigned char memory_[kFuzzMemory];
  alignas(64) static unsigned char workspace_[kFuzzMemory];

  FuzzInput& in_;
  const OpCase* op_case_;
  Args args_;
  addnorm_dropout dropout_ = ADDNORM_DROPOUT_INIT;
  size_t used_ = 64;
};

// Values written to an output, all NaN alike.
std::string Outputs(const Args& args);
// Ends the program, saying which call it was.
[[noreturn]] void Fail(const Args& args, const char* format, ...) __attribute__((format(printf, 2, 3)));

}  // namespace addnorm_test

#endif  // ADDNORM_TESTS_FUZZ_CALL_H_
