// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// What addnorm is compared with: plain loops, always, and the libraries that were found when this was configured.
#ifndef ADDNORM_BENCH_PEERS_PEER_H_
#define ADDNORM_BENCH_PEERS_PEER_H_

#include <functional>
#include <string>
#include <vector>

#include "peers/call.h"

namespace addnorm_bench {

struct Peer {
  std::string name;     // "oneDNN"
  std::string version;  // "3.12.1"; empty for what has none
  // The ways that a user of it would write this call, each ready to be made any number of times on one thread; none
  // where it cannot do it. The call's operands outlive them.
  struct Way {
    std::string name;
    std::function<void()> make;
    // Puts results where the call wants them, for what does not do so by itself; for the check, not timed.
    std::function<void()> finish = nullptr;
  };
  std::vector<Way> (*prepare)(const PeerCall& call);
  std::vector<Way> (*prepare_backward)(const BackwardPeerCall& call) = nullptr;  // null: it has none
};

Peer PlainPeer();
Peer OneDnnPeer();
Peer EigenPeer();
Peer TorchPeer();
Peer GgmlPeer();
Peer OnnxRuntimePeer();

// Those compiled in.
const std::vector<Peer>& AllPeers();

}  // namespace addnorm_bench

#endif  // ADDNORM_BENCH_PEERS_PEER_H_
