// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

#include "call.h"

int main() {
  // Called after the destructors of objects constructed before this.
  std::atexit([] {
    if (CallIsRight() == 0) std::_Exit(1);
  });
  return CallIsRight() != 0 ? 0 : 1;
}
