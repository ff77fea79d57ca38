// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#include "peers/peer.h"
#include "peers/plain_loops.h"

namespace addnorm_bench {
namespace {

std::vector<Peer::Way> Prepare(const PeerCall& call) {
  std::vector<Peer::Way> ways;
  if (call.dtype != ADDNORM_F32) return ways;
  for (const PlainLoop& loop : kPlainLoops) {
    if (loop.op == call.op) ways.push_back({loop.name, [run = loop.run, call] { run(call); }});
  }
  return ways;
}

std::vector<Peer::Way> PrepareBackward(const BackwardPeerCall& call) {
  if (call.dtype != ADDNORM_F32) return {};
  for (const PlainBackwardLoop& loop : kPlainBackwardLoops) {
    if (loop.op == call.op) return {{"two passes", [run = loop.run, call] { run(call); }}};
  }
  return {};
}

}  // namespace

Peer PlainPeer() { return {"plain", "", &Prepare, &PrepareBackward}; }

}  // namespace addnorm_bench
