// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
// What compilers spell in their own ways; the vector code has Highway's macros for the same. (MSVC is untried.)
#ifndef ADDNORM_SRC_COMPILER_H_
#define ADDNORM_SRC_COMPILER_H_

#if defined(_MSC_VER) && !defined(__clang__)
#include <intrin.h>
#define ADDNORM_INLINE __forceinline
#define ADDNORM_INLINE_LAMBDA
#define ADDNORM_TRAP() __fastfail(7)  // FAST_FAIL_FATAL_APP_EXIT
#define ADDNORM_PREFETCH_L2(address) ((void)(address))
#else
#define ADDNORM_INLINE inline __attribute__((always_inline))
#define ADDNORM_INLINE_LAMBDA __attribute__((always_inline))
#define ADDNORM_TRAP() __builtin_trap()
#define ADDNORM_PREFETCH_L2(address) __builtin_prefetch(address, 0, 2)
#endif

#endif  // ADDNORM_SRC_COMPILER_H_
