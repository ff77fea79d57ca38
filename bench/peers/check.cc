// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#include "peers/check.h"

#include <algorithm>
#include <cmath>

#include "support/dtype.h"
#include "support/ops.h"

namespace addnorm_bench {
namespace {

using addnorm_test::OperandField;
using addnorm_test::Shape;

constexpr int64_t kCheckedRows = 40;

double Tolerance(addnorm_dtype dtype) {
  return dtype == ADDNORM_F32 ? 0x1p-16 : dtype == ADDNORM_F16 ? 0x1p-8 : 0x1p-5;
}

std::string Difference(const Operands& right, const Operands& peers, const OperandField& output) {
  const addnorm_output operand = right.MakeArgs(right.All()).Get(output);
  if (operand.data == nullptr) return "";
  const char* const peers_data = peers.Data(output.name, peers.All());
  double tolerance = std::max(Tolerance(operand.dtype), Tolerance(right.op_case().dtypes.x));
  int64_t rows = right.rows();
  if (output.shape == Shape::kVector) {
    tolerance *= std::sqrt(static_cast<double>(rows));
    rows = 1;
  }
  for (int64_t i = 0; i < rows * right.cols(); ++i) {
    const double expected = addnorm_test::LoadValue(operand.data, i, operand.dtype);
    const double value = addnorm_test::LoadValue(peers_data, i, operand.dtype);
    if (std::fabs(value - expected) <= tolerance * std::max(1.0, std::fabs(expected))) continue;
    return std::string(output.name) + "[" + std::to_string(i / right.cols()) + "][" + std::to_string(i % right.cols()) +
           "] is " + std::to_string(value) + ", not " + std::to_string(expected);
  }
  return "";
}

PeerCall ForwardCall(const Operands& operands, const Part& part) {
  PeerCall call = {};
  call.op = operands.op_case().op();
  call.dtype = operands.op_case().dtypes.x;
  call.rows = part.rows;
  call.cols = operands.cols();
  call.x = operands.Data("x", part);
  call.residual = operands.Data("residual", part);
  call.gamma = operands.Data("gamma", part);
  call.beta = operands.Data("beta", part);
  call.sum = operands.Data("sum_out", part);
  call.y = operands.Data("y", part);
  call.epsilon = operands.epsilon();
  return call;
}

BackwardPeerCall BackwardCall(const Operands& operands, const Part& part) {
  const auto floats = [&](const char* operand) { return reinterpret_cast<float*>(operands.Data(operand, part)); };
  BackwardPeerCall call = {};
  call.op = operands.op_case().op();
  call.dtype = operands.op_case().dtypes.x;
  call.rows = part.rows;
  call.cols = operands.cols();
  call.dy = operands.Data("dy", part);
  call.x = operands.Data("x", part);
  call.gamma = operands.Data("gamma", part);
  call.mean = floats("mean");
  call.rstd = floats("rstd");
  call.d_sum = operands.Data("d_sum", part);
  call.dx = operands.Data("dx", part);
  call.d_residual = operands.Data("d_residual", part);
  call.dgamma = floats("dgamma");
  call.dbeta = floats("dbeta");
  call.epsilon = operands.epsilon();
  return call;
}

}  // namespace

std::vector<Peer::Way> PreparePeer(const Peer& peer, const Operands& operands, const Part& part) {
  if (!operands.op_case().fields->is_backward()) return peer.prepare(ForwardCall(operands, part));
  if (peer.prepare_backward == nullptr) return {};
  return peer.prepare_backward(BackwardCall(operands, part));
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
    const std::vector<Peer::Way> prepared = PreparePeer(peer, peers, peers.All());
    ways = prepared.size();
    if (ways == 0) return "";
    prepared[way].make();
    if (prepared[way].finish) prepared[way].finish();
    for (const OperandField& output : right.op_case().fields->operands) {
      if (!output.written) continue;
      const std::string difference = Difference(right, peers, output);
      if (!difference.empty()) return prepared[way].name + ": " + difference;
    }
  }
  return "";
}

}  // namespace addnorm_bench
