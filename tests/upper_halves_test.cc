// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
// On x86 a call leaves the upper halves of the vector registers clean: else the caller's SSE code would be many times
// slower from then on.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "support/op_case.h"
#include "support/targets.h"

#if defined(__x86_64__)
#include <cpuid.h>

namespace addnorm_test {
namespace {

// Whether the CPU tells which parts of the registers are in use (XGETBV with ECX = 1).
bool TellsWhatIsInUse() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) == 0 || (ecx & bit_OSXSAVE) == 0 || (ecx & bit_AVX) == 0) return false;
  return __get_cpuid_count(0xd, 1, &eax, &ebx, &ecx, &edx) != 0 && (eax & 4u) != 0;
}

// Bits 2 (upper halves of ymm0-15) and 6 (of zmm0-15).
uint32_t UpperHalvesInUse() {
  uint32_t low = 0, high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(1));
  return low & 0x44u;
}

void CleanUpperHalves() { __asm__ volatile("vzeroupper" : : : "memory"); }
void SoilUpperHalves() { __asm__ volatile("vcmpps $15, %%ymm0, %%ymm0, %%ymm0" : : : "memory", "xmm0"); }

TEST(UpperHalves, AreCleanAfterEveryCall) {
  if (!TellsWhatIsInUse()) GTEST_SKIP() << "this CPU does not tell which registers are in use";
  SoilUpperHalves();
  const bool seen = UpperHalvesInUse() != 0;
  CleanUpperHalves();
  if (!seen || UpperHalvesInUse() != 0) GTEST_SKIP() << "this CPU does not keep track of the upper halves";
  for (const std::string& name : TestedTargets()) {
    ScopedTarget target(name);
    for (const OpCase& op_case : AllOpCases()) {
      for (VectorType vectors : {VectorType::kAbsent, VectorType::kStorage, VectorType::kF32}) {
        Options options;
        options.gamma = options.beta = options.bias = vectors;
        options.rstd = ADDNORM_F64;
        for (int64_t rows : {1, 2, 9}) {
          for (int64_t cols : {1, 5, 16, 31, 64, 100}) {
            Problem problem(op_case, options, rows, cols);
            problem.FillByKind(static_cast<uint64_t>(cols), static_cast<int>(cols + rows));
            problem.Reset();
            const Args args = problem.MakeArgs();
            CleanUpperHalves();
            const addnorm_status status = args.Call();
            const uint32_t in_use = UpperHalvesInUse();
            CleanUpperHalves();
            ASSERT_EQ(status, ADDNORM_OK);
            EXPECT_EQ(in_use, 0u) << op_case.name << " on " << name << ", rows " << rows << ", cols " << cols;
          }
        }
        if (HasFailure()) break;  // one kind of call is enough
      }
    }
    CountChecks(name, 1);
  }
}

}  // namespace
}  // namespace addnorm_test
#endif  // x86-64
