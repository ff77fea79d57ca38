// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#ifndef ADDNORM_BENCH_PEERS_CHECK_H_
#define ADDNORM_BENCH_PEERS_CHECK_H_

#include <string>
#include <vector>

#include "operands.h"
#include "peers/peer.h"

namespace addnorm_bench {

// The peer's ways to make the call with a part of these operands.
std::vector<Peer::Way> PreparePeer(const Peer& peer, const Operands& operands, const Part& part);

// Why the peers do not do a case at all, as in "dtypes differ"; empty where they may.
std::string NotForPeers(const BenchCase& bench_case);

// Makes the call in each of the peer's ways, on the first rows of the case, and compares all outputs with what addnorm
// gives, which its own tests hold to the proven bounds. Right is what differs by no more than 2^-16 (f32), 2^-8 (f16)
// or 2^-5 (bf16) of max(1, |value|), sums over rows by the square root of their number more: the peers' own rounding.
// Empty if all are right; else what is not.
std::string CheckPeer(const BenchCase& bench_case, const Peer& peer);

}  // namespace addnorm_bench

#endif  // ADDNORM_BENCH_PEERS_CHECK_H_
