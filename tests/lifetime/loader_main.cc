// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// Loads and unloads the library itself, in a program that is not linked with it. Usage: PROGRAM LIBRARY PREFIX, where
// PREFIX comes before the names of the functions.
#include <dlfcn.h>

#include <cstdio>
#include <string>
#include <thread>

#include "call.h"

namespace {

bool Require(bool good, const char* what) {
  if (!good) std::fprintf(stderr, "%s\n", what);
  return good;
}

bool LoadCallAndUnload(const char* library, const std::string& prefix) {
  void* loaded = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (loaded == nullptr) return Require(false, dlerror());
  const auto layer_norm =
      reinterpret_cast<addnorm_status (*)(const addnorm_norm_args*)>(dlsym(loaded, (prefix + "layer_norm").c_str()));
  const auto target_name = reinterpret_cast<const char* (*)()>(dlsym(loaded, (prefix + "target_name").c_str()));
  bool good = Require(layer_norm != nullptr && target_name != nullptr, "a function is not exported");
  const auto call = [&] {
    good = good && Require(LayerNormIsRight(layer_norm) != 0, "a call is wrong") &&
           Require(IsExpectedTarget(target_name()) != 0, "not the target that is expected");
  };
  call();
  std::thread(call).join();
  return good && Require(dlclose(loaded) == 0, "dlclose fails") &&
         Require(dlopen(library, RTLD_NOW | RTLD_NOLOAD) == nullptr, "it is still loaded");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  for (int i = 0; i < 3; ++i) {
    if (!LoadCallAndUnload(argv[1], argv[2])) return 1;
  }
  return 0;
}
