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

#include "addnorm/addnorm.h"
#include "support/arena.h"
#include "support/backward.h"
#include "support/op_case.h"
#include "support/targets.h"

namespace addnorm_test {
namespace {

// Marks all bytes uninitialized, then the inputs' elements as good.
void Mark(const Arena& arena) {
  __msan_poison(arena.begin(), arena.size());
  arena.ForEachRow([](const OperandField& field, const unsigned char* row, size_t bytes) {
    if (!field.written) __msan_unpoison(row, bytes);
  });
}

bool OutputsAreInitialized(const Arena& arena) {
  bool good = true;
  arena.ForEachRow([&good](const OperandField& field, const unsigned char* row, size_t bytes) {
    if (field.written && __msan_test_shadow(row, bytes) >= 0) good = false;
  });
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
bool IsNoticed(const Arena& arena, const OperandField& input) {
  Mark(arena);
  const addnorm_output operand = arena.args().Get(input);
  __msan_poison(operand.data, DtypeSize(operand.dtype));
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
    if (!IsNoticed(arena, field)) Fail(arena, (std::string("not noticed: ") + field.name).c_str());
    ++checks;
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
    for (const OpCase& op_case : AllOpCases()) checks += Check(op_case);
    for (const OpCase& op_case : AllBackwardCases()) checks += Check(op_case);
    std::printf("%s: %lld calls, and no influence of other memory\n", name.c_str(), static_cast<long long>(checks));
  }
}
