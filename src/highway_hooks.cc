// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
// What Highway calls in debug builds and on CPUs below the compiled baseline. The library never writes anything.
#include <cstdarg>

#include "hwy/base.h"
#include "src/compiler.h"

namespace hwy {

HWY_DLLEXPORT void HWY_FORMAT(3, 4) Warn(const char*, int, const char*, ...) {}

HWY_DLLEXPORT HWY_NORETURN void HWY_FORMAT(3, 4) Abort(const char*, int, const char*, ...) { ADDNORM_TRAP(); }

}  // namespace hwy
