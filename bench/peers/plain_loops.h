// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// The obvious loops in f32, as one writes them who leaves speed to the compiler.
#ifndef ADDNORM_BENCH_PEERS_PLAIN_LOOPS_H_
#define ADDNORM_BENCH_PEERS_PLAIN_LOOPS_H_

#include "peers/call.h"

namespace addnorm_bench {

struct PlainLoop {
  addnorm_op op;
  const char* name;
  void (*run)(const PeerCall&);
};

constexpr int kPlainLoopCount = 10;
extern const PlainLoop kPlainLoops[kPlainLoopCount];

struct PlainBackwardLoop {
  addnorm_op op;
  void (*run)(const BackwardPeerCall&);
};

constexpr int kPlainBackwardLoopCount = 7;
extern const PlainBackwardLoop kPlainBackwardLoops[kPlainBackwardLoopCount];

}  // namespace addnorm_bench

#endif  // ADDNORM_BENCH_PEERS_PLAIN_LOOPS_H_
