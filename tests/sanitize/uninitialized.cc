// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// For MemorySanitizer: every operation on every target depends on its operands' elements alone. All other memory of a
// call is marked uninitialized, also that of the outputs, and has to be without influence. Then each input in turn has
// one element marked, which has to be noticed: in the outputs, or by the sanitizer where a branch hangs on it.
#include <sanitizer/msan_interface.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "addnorm/addnorm.h"
#include "support/arena.h"
#include "support/backward.h"
#include "support/dropout.h"
#include "support/op_case.h"
#include "support/targets.h"

namespace addnorm_test {
namespace {

// Marks rows and what is between them uninitialized, then, if they are read, the rows as good.
void MarkMask(const uint8_t* mask, int64_t stride, const Args& args, bool is_read) {
  for (int64_t row = 0; mask != nullptr && row < args.rows(); ++row) {
    __msan_poison(mask + row * stride, static_cast<size_t>(stride));
    if (is_read) __msan_unpoison(mask + row * stride, static_cast<size_t>(MaskBytes(args.cols())));
  }
}

// Marks all bytes uninitialized, then the inputs' elements as good.
void Mark(const Arena& arena) {
  __msan_poison(arena.begin(), arena.size());
  arena.ForEachRow([](const OperandField& field, const unsigned char* row, size_t bytes) {
    if (!field.written) __msan_unpoison(row, bytes);
  });
  if (const addnorm_dropout* dropout = arena.args().dropout()) {
    MarkMask(dropout->mask, dropout->mask_row_stride, arena.args(), true);
    MarkMask(dropout->mask_out, dropout->mask_out_row_stride, arena.args(), false);
  }
}

bool OutputsAreInitialized(const Arena& arena) {
  bool good = true;
  arena.ForEachRow([&good](const OperandField& field, const unsigned char* row, size_t bytes) {
    if (field.written && __msan_test_shadow(row, bytes) >= 0) good = false;
  });
  const addnorm_dropout* dropout = arena.args().dropout();
  if (dropout == nullptr || dropout->mask_out == nullptr) return good;
  for (int64_t row = 0; row < arena.args().rows(); ++row) {
    const uint8_t* bits = dropout->mask_out + row * dropout->mask_out_row_stride;
    if (__msan_test_shadow(bits, static_cast<size_t>(MaskBytes(arena.args().cols()))) >= 0) good = false;
  }
  return good;
}

[[noreturn]] void Fail(const Arena& arena, const char* what) {
  std::fprintf(stderr, "%s, cols %d on %s: %s\n", arena.args().op().name, static_cast<int>(arena.args().cols()),
               addnorm_target_name(), what);
  std::exit(1);
}

void CheckClean(const Arena& arena) {
  Mark(arena);
  if (arena.args().Call() != ADDNORM_OK) Fail(arena, "the call failed");
  if (!OutputsAreInitialized(arena)) Fail(arena, "an output depends on memory that is no operand's");
}

// In a process of its own, as the sanitizer ends it. The first element: Clang 19 takes what masked loads of AVX2 read,
// at the end of a row, as initialized; guard pages see to those.
bool IsNoticed(const Arena& arena, const void* element, size_t size) {
  Mark(arena);
  __msan_poison(element, size);
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    if (std::freopen("/dev/null", "w", stderr) == nullptr) _exit(2);
    _exit(arena.args().Call() == ADDNORM_OK && OutputsAreInitialized(arena) ? 0 : 1);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) Fail(arena, "fork failed");
  return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

int64_t Check(const OpCase& op_case) {
  int64_t checks = 0;
  for (const int64_t cols : {1, 2, 3, 7, 8, 15, 16, 17, 31, 33, 63, 64, 65, 100}) {
    for (const int64_t rows : {1, 3, 9}) {
      CheckClean(Arena(*op_case.fields, op_case.dtypes, rows, cols));
      ++checks;
    }
  }
  const Arena arena(*op_case.fields, op_case.dtypes, 2, 37);
  for (const OperandField& field : op_case.fields->operands) {
    if (field.written) continue;
    const addnorm_output operand = arena.args().Get(field);
    if (!IsNoticed(arena, operand.data, DtypeSize(operand.dtype))) {
      Fail(arena, (std::string("not noticed: ") + field.name).c_str());
    }
    ++checks;
  }
  return checks;
}

// The same with dropout: its masks, with bytes between their rows.
int64_t CheckDropout(const OpCase& op_case) {
  if (!op_case.fields->drops_out()) return 0;
  constexpr int64_t kRows = 3, kGap = 5;
  int64_t checks = 0;
  const bool is_backward = op_case.fields->workspace != 0;  // which writes no mask
  for (const Masks masks :
       {is_backward ? Masks::kGenerated : Masks::kWritten, is_backward ? Masks::kGiven : Masks::kGivenAndWritten}) {
    DropoutOptions options;
    options.probability = 0.3;
    options.masks = masks;
    for (const int64_t cols : {1, 8, 9, 100, 128, 129, 1100}) {
      Arena arena(*op_case.fields, op_case.dtypes, kRows, cols);
      const DropoutMemory memory(options, kRows, cols, kGap);
      arena.args().set_dropout(memory.args());
      CheckClean(arena);
      if (options.given() && !IsNoticed(arena, memory.args()->mask, 1)) Fail(arena, "not noticed: mask");
      ++checks;
    }
  }
  return checks;
}

}  // namespace
}  // namespace addnorm_test

int main() {
  using namespace addnorm_test;
  for (const std::string& name : TestedTargets()) {
    const ScopedTarget target(name);
    int64_t checks = 0;
    for (const std::vector<OpCase>* op_cases : {&AllOpCases(), &AllBackwardCases()}) {
      for (const OpCase& op_case : *op_cases) checks += Check(op_case) + CheckDropout(op_case);
    }
    std::printf("%s: %lld calls, and no influence of other memory\n", name.c_str(), static_cast<long long>(checks));
  }
}
