// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#include "peers/check.h"

#include <algorithm>
#include <cmath>

#include "support/dtype.h"
#include "support/ops.h"

namespace addnorm_bench {
namespace {

using addnorm_test::Operand;

constexpr int64_t kCheckedRows = 40;

double Tolerance(addnorm_dtype dtype) {
  return dtype == ADDNORM_F32 ? 0x1p-16 : dtype == ADDNORM_F16 ? 0x1p-8 : 0x1p-5;
}

std::string Difference(const Operands& right, const Operands& peers, Operand output) {
  if (!right.Has(output)) return "";
  const char* const right_data = right.Data(output, right.All());
  const char* const peers_data = peers.Data(output, peers.All());
  const addnorm_dtype dtype = right.Dtype(output);
  for (int64_t i = 0; i < right.rows() * right.cols(); ++i) {
    const double expected = addnorm_test::LoadValue(right_data, i, dtype);
    const double value = addnorm_test::LoadValue(peers_data, i, dtype);
    if (std::fabs(value - expected) <= Tolerance(dtype) * std::max(1.0, std::fabs(expected))) continue;
    return std::string(addnorm_test::OperandName(output)) + "[" + std::to_string(i / right.cols()) + "][" +
           std::to_string(i % right.cols()) + "] is " + std::to_string(value) + ", not " + std::to_string(expected);
  }
  return "";
}

}  // namespace

PeerCall MakePeerCall(const Operands& operands, const Part& part) {
  PeerCall call = {};
  call.op = operands.op_case().op();
  call.dtype = operands.op_case().dtypes.x;
  call.rows = part.rows;
  call.cols = operands.cols();
  call.x = operands.Data(addnorm_test::kX, part);
  call.residual = operands.Data(addnorm_test::kResidual, part);
  call.gamma = operands.Data(addnorm_test::kGamma, part);
  call.beta = operands.Data(addnorm_test::kBeta, part);
  call.sum = operands.Data(addnorm_test::kSumOut, part);
  call.y = operands.Data(addnorm_test::kY, part);
  call.epsilon = operands.options().epsilon;
  return call;
}

std::string NotForPeers(const BenchCase& c) {
  const addnorm_dtypes& d = c.op_case->dtypes;
  if (addnorm_test::IsReduction(c.op_case->op())) return "reductions";
  for (const addnorm_dtype dtype : {d.residual, d.sum, d.y, d.vectors}) {
    if (dtype != 0 && dtype != d.x) return "operands of more than one dtype";
  }
  if (c.data != addnorm_test::DataKind::kNormal) return "rows off the plain path";
  if (c.options.gamma_offset != 0) return "gamma_offset";
  if (c.options.dropout.present()) return "dropout";
  if (c.threads > 1) return "threads";
  return "";
}

std::string CheckPeer(const BenchCase& bench_case, const Peer& peer) {
  BenchCase hot = bench_case;
  hot.cold = false;
  const Operands right(hot, kCheckedRows);
  if (right.MakeArgs(right.All()).Call() != ADDNORM_OK) return "addnorm refuses the call";
  size_t ways = 1;
  for (size_t way = 0; way < ways; ++way) {
    const Operands peers(hot, kCheckedRows);
    const std::vector<Peer::Way> prepared = peer.prepare(MakePeerCall(peers, peers.All()));
    ways = prepared.size();
    if (ways == 0) return "";
    prepared[way].make();
    if (prepared[way].finish) prepared[way].finish();
    for (const Operand output : {addnorm_test::kSumOut, addnorm_test::kY}) {
      const std::string difference = Difference(right, peers, output);
      if (!difference.empty()) return prepared[way].name + ": " + difference;
    }
  }
  return "";
}

}  // namespace addnorm_bench
