// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#include "peers/peer.h"

namespace addnorm_bench {

const std::vector<Peer>& AllPeers() {
  static const std::vector<Peer> peers = {
      PlainLoops(),
#ifdef ADDNORM_BENCH_ONEDNN
      OneDnn(),
#endif
#ifdef ADDNORM_BENCH_EIGEN
      Eigen(),
#endif
#ifdef ADDNORM_BENCH_TORCH
      Torch(),
#endif
#ifdef ADDNORM_BENCH_GGML
      Ggml(),
#endif
#ifdef ADDNORM_BENCH_ONNXRUNTIME
      OnnxRuntime(),
#endif
  };
  return peers;
}

}  // namespace addnorm_bench
