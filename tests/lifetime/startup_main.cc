// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "call.h"

const char* BeforeTheLibrary();
const char* AfterTheLibrary();

namespace {

template <class Function>
uintptr_t AddressOf(Function* function) {
  return reinterpret_cast<uintptr_t>(function);
}

// Linkers lay code out in the order of their command line.
bool LibraryIsBetween() {
#if defined(ADDNORM_SHARED)
  return BeforeTheLibrary() != AfterTheLibrary();  // the library is in no program: its place is up to the loader
#else
  return AddressOf(&BeforeTheLibrary) < AddressOf(&addnorm_layer_norm) &&
         AddressOf(&addnorm_layer_norm) < AddressOf(&AfterTheLibrary);
#endif
}

}  // namespace

int main() {
  // Called after the destructors of objects constructed before this.
  std::atexit([] {
    if (CallIsRight() == 0) std::_Exit(1);
  });
  if (!LibraryIsBetween()) {
    std::fprintf(stderr, "the library was not linked between %s and %s\n", BeforeTheLibrary(), AfterTheLibrary());
    return 1;
  }
  return CallIsRight() != 0 ? 0 : 1;
}
