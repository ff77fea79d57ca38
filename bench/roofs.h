// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// What a kernel is compared with.
//  - Copy roof: the fastest way to move as many bytes, half of them read and half written.
//  - One-pass roof: the fastest single sweep over the same operands in the same memory, that reads every one (gamma and
//    beta once a row), writes every output (dgamma and dbeta once), and reduces nothing.
// Each with ordinary stores (for the copy also memcpy), and with streaming stores, which go past the caches.
#ifndef ADDNORM_BENCH_ROOFS_H_
#define ADDNORM_BENCH_ROOFS_H_

#include <array>
#include <vector>

#include "measure.h"
#include "operands.h"
#include "team.h"

namespace addnorm_bench {

enum RoofKind { kCopy, kOnePass, kCopyStreaming, kOnePassStreaming, kRoofs };
const char* RoofName(RoofKind kind);  // as in the JSON: "copy", "one_pass", "copy_streaming", "one_pass_streaming"

class Roofs {
 public:
  // Of one call with these operands, none of which the sweeps may not know (bias, statistics of norms). Both must
  // outlive this.
  Roofs(const Operands& operands, Runner* runner);

  // Ways to do it, of which the fastest is the roof. Streaming: none where operands are not aligned to vectors, or the
  // compiler has no such stores.
  const std::vector<Candidate>& ways(RoofKind kind) const { return ways_[kind]; }

 private:
  void AddCopies(const Operands& operands, Runner* runner);

  AlignedMemory memory_;
  std::array<std::vector<Candidate>, kRoofs> ways_;
};

}  // namespace addnorm_bench

#endif  // ADDNORM_BENCH_ROOFS_H_
