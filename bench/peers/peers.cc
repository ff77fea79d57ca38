// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#include "peers/peer.h"

namespace addnorm_bench {

const std::vector<Peer>& AllPeers() {
  static const std::vector<Peer> peers = {
      PlainPeer(),
#ifdef ADDNORM_BENCH_ONEDNN
      OneDnnPeer(),
#endif
#ifdef ADDNORM_BENCH_EIGEN
      EigenPeer(),
#endif
#ifdef ADDNORM_BENCH_TORCH
      TorchPeer(),
#endif
#ifdef ADDNORM_BENCH_GGML
      GgmlPeer(),
#endif
#ifdef ADDNORM_BENCH_ONNXRUNTIME
      OnnxRuntimePeer(),
#endif
  };
  return peers;
}

}  // namespace addnorm_bench
