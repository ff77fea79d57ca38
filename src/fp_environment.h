// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
// The floating-point mode that the kernels compute in, whatever the caller's.
#ifndef ADDNORM_SRC_FP_ENVIRONMENT_H_
#define ADDNORM_SRC_FP_ENVIRONMENT_H_

#include <cstdint>

#if defined(__SSE2__) || defined(_M_X64)
#include <xmmintrin.h>
#endif

#include "src/compiler.h"

namespace addnorm {

// Round to nearest even, gradual underflow, no traps. Costs one read where the caller's mode is that already; the
// caller's comes back at the end, its sticky flags as they were.
class DefaultFpEnvironment {
 public:
  DefaultFpEnvironment() : saved_(Read()) {
    if ((saved_ & kControl) != kDefault) Write(kDefault);
  }
  ~DefaultFpEnvironment() {
    if ((saved_ & kControl) != kDefault) Write(saved_);
  }
  DefaultFpEnvironment(const DefaultFpEnvironment&) = delete;
  DefaultFpEnvironment& operator=(const DefaultFpEnvironment&) = delete;

 private:
#if defined(__SSE2__) || defined(_M_X64)
  using Register = uint32_t;
  static constexpr Register kControl = 0xffc0;  // all but the sticky flags of MXCSR
  static constexpr Register kDefault = 0x1f80;
  static Register Read() { return _mm_getcsr(); }
  static void Write(Register value) { _mm_setcsr(value); }
#elif defined(__aarch64__) || defined(_M_ARM64)
  using Register = uint64_t;
  static constexpr Register kControl = ~Register{0};  // FPCR holds control bits only
  static constexpr Register kDefault = 0;
#if defined(_MSC_VER) && !defined(__clang__)
  static Register Read() { return static_cast<Register>(_ReadStatusReg(ARM64_FPCR)); }
  static void Write(Register value) { _WriteStatusReg(ARM64_FPCR, static_cast<int64_t>(value)); }
#else
  static Register Read() {
    Register value;
    __asm__ volatile("mrs %0, fpcr" : "=r"(value));
    return value;
  }
  // The clobber keeps loads and stores, and with them the arithmetic between, on their side.
  static void Write(Register value) { __asm__ volatile("msr fpcr, %0" : : "r"(value) : "memory"); }
#endif
#else
  using Register = uint32_t;  // other architectures: the caller's mode has to be the default
  static constexpr Register kControl = 0;
  static constexpr Register kDefault = 0;
  static Register Read() { return 0; }
  static void Write(Register) {}
#endif

  const Register saved_;
};

}  // namespace addnorm

#endif  // ADDNORM_SRC_FP_ENVIRONMENT_H_
