// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#include "src/targets.h"

#include <atomic>
#include <cstdlib>
#include <cstring>

namespace addnorm {
namespace {

// SVE of this length is no wider than NEON, and widens f32 to f64 in more instructions.
constexpr size_t kNeonBytes = 16;

const Target* FindTarget(const char* name) {
  size_t count;
  const Target* targets = CompiledTargets(&count);
  for (const Target* t = targets; t != targets + count; ++t) {
    if (std::strcmp(t->name, name) == 0) return t;
  }
  return nullptr;
}

// Asking the CPU is slow, in a virtual machine in particular.
int64_t SupportedBits() {
  static std::atomic<int64_t> cached{0};
  int64_t bits = cached.load(std::memory_order_relaxed);
  if (bits == 0) {
    bits = SupportedTargetBits();
    cached.store(bits, std::memory_order_relaxed);
  }
  return bits;
}

// The index-th best of the targets that this CPU can run, or null.
const Target* SupportedTarget(size_t index) {
  size_t count;
  const Target* targets = CompiledTargets(&count);
  const int64_t supported = SupportedBits();
  int64_t previous = 0;
  const Target* best = nullptr;
  for (size_t i = 0; i <= index; ++i) {
    best = nullptr;
    for (const Target* t = targets; t != targets + count; ++t) {
      if ((t->bit & supported) != 0 && t->bit > previous && (best == nullptr || t->bit < best->bit)) best = t;
    }
    if (best == nullptr) return nullptr;
    previous = best->bit;
  }
  return best;
}

// The best target that is no better than `cap`, if given.
const Target* Choose(const Target* cap) {
  for (size_t i = 0;; ++i) {
    const Target* target = SupportedTarget(i);
    if (target->bit == kScalarBit) return target;
    if (cap != nullptr) {
      if (target->bit >= cap->bit) return target;
    } else if (target->vector_bytes == nullptr || target->vector_bytes() > kNeonBytes) {
      return target;
    }
  }
}

// The cap that ADDNORM_MAX_TARGET names: null if it is not set, or unknown, which *status tells.
const Target* ReadEnvironment(addnorm_status* status) {
  *status = ADDNORM_OK;
  const char* name = std::getenv("ADDNORM_MAX_TARGET");
  if (name == nullptr || *name == '\0') return nullptr;
  const Target* cap = FindTarget(name);
  if (cap == nullptr) *status = ADDNORM_UNKNOWN_TARGET;
  return cap;
}

// What addnorm_set_max_target chose last, if it was called; else what the first call chose, which all threads that find
// it null come to alike. Two variables, as with one a first call would have to exchange it only if null: for 64-bit ARM
// compilers call functions for that which bring a static constructor along.
std::atomic<const Target*> capped_target{nullptr};
std::atomic<const Target*> default_target{nullptr};
std::atomic<addnorm_status> environment_status{ADDNORM_OK};

const Target* ActiveTarget() {
  if (const Target* target = capped_target.load(std::memory_order_acquire)) return target;
  if (const Target* target = default_target.load(std::memory_order_acquire)) return target;
  addnorm_status status;
  const Target* chosen = Choose(ReadEnvironment(&status));
  environment_status.store(status, std::memory_order_relaxed);
  default_target.store(chosen, std::memory_order_release);
  return chosen;
}

}  // namespace

const KernelTable* ActiveTable() {
  const Target* target = ActiveTarget();
  // A program may change the length of its SVE vectors between calls. Lengths that are no power of two, which the
  // architecture has given up but emulators still have, do not divide the kernels' lanes.
  if (target->vector_bytes != nullptr) {
    const size_t bytes = target->vector_bytes();
    if ((bytes & (bytes - 1)) != 0) return &kScalarTable;
  }
  return target->table;
}

}  // namespace addnorm

extern "C" {

const char* addnorm_target_name(void) { return addnorm::ActiveTarget()->name; }

int32_t addnorm_supported_targets(const char** names, int32_t capacity) {
  for (int32_t i = 0;; ++i) {
    const addnorm::Target* target = addnorm::SupportedTarget(static_cast<size_t>(i));
    if (target == nullptr) return i;
    if (i < capacity) names[i] = target->name;
  }
}

addnorm_status addnorm_set_max_target(const char* name) {
  const addnorm::Target* cap = nullptr;
  if (name != nullptr) {
    cap = addnorm::FindTarget(name);
    if (cap == nullptr) return ADDNORM_UNKNOWN_TARGET;
  }
  addnorm::ActiveTarget();  // so that the environment has been read, for addnorm_environment_status
  addnorm::capped_target.store(addnorm::Choose(cap), std::memory_order_release);
  return ADDNORM_OK;
}

addnorm_status addnorm_environment_status(void) {
  addnorm::ActiveTarget();
  return addnorm::environment_status.load(std::memory_order_relaxed);
}

}  // extern "C"
