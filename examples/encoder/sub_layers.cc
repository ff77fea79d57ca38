// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#include "encoder/sub_layers.h"

#include <cmath>

namespace encoder {
namespace {

constexpr float kSqrtHalf = 0.70710678f;
constexpr float kInvSqrt2Pi = 0.39894228f;

// The normal distribution function.
float Phi(float h) { return 0.5f * std::erfc(-h * kSqrtHalf); }

}  // namespace

Matrix Linear::Forward(const Matrix& x) {
  x_ = x;
  Matrix y = x * weight.value.transpose();
  y.rowwise() += bias.value.row(0);
  return y;
}

Matrix Linear::Backward(const Matrix& dy) {
  weight.gradient.noalias() = dy.transpose() * x_;
  bias.gradient = dy.colwise().sum();
  return dy * weight.value;
}

void SoftmaxRows(Matrix* scores) {
  for (auto row : scores->rowwise()) {
    row.array() = (row.array() - row.maxCoeff()).exp();
    row /= row.sum();
  }
}

SelfAttention::SelfAttention(int width, int heads)
    : heads_(heads), in_proj_(width, 3 * width), out_proj_(width, width) {}

Matrix SelfAttention::Forward(const Matrix& x, int time) {
  time_ = time;
  qkv_ = in_proj_.Forward(x);
  attention_.clear();
  const Eigen::Index width = x.cols(), size = width / heads_;
  const float scale = 1.0f / std::sqrt(static_cast<float>(size));
  Matrix mixed(x.rows(), width);
  for (Eigen::Index row = 0; row < x.rows(); row += time) {
    for (Eigen::Index col = 0; col < width; col += size) {
      const auto q = qkv_.block(row, col, time, size);
      const auto k = qkv_.block(row, width + col, time, size);
      const auto v = qkv_.block(row, 2 * width + col, time, size);
      Matrix attention = q * k.transpose() * scale;
      SoftmaxRows(&attention);
      mixed.block(row, col, time, size).noalias() = attention * v;
      attention_.push_back(std::move(attention));
    }
  }
  return out_proj_.Forward(mixed);
}

Matrix SelfAttention::Backward(const Matrix& dy) {
  const Matrix d_mixed = out_proj_.Backward(dy);
  const Eigen::Index width = dy.cols(), size = width / heads_;
  const float scale = 1.0f / std::sqrt(static_cast<float>(size));
  Matrix d_qkv(qkv_.rows(), qkv_.cols());
  auto next = attention_.begin();
  for (Eigen::Index row = 0; row < dy.rows(); row += time_) {
    for (Eigen::Index col = 0; col < width; col += size) {
      const Matrix& attention = *next++;
      const auto q = qkv_.block(row, col, time_, size);
      const auto k = qkv_.block(row, width + col, time_, size);
      const auto v = qkv_.block(row, 2 * width + col, time_, size);
      const auto d_out = d_mixed.block(row, col, time_, size);
      Matrix d_scores = d_out * v.transpose();  // of the probabilities, and through the softmax:
      for (Eigen::Index t = 0; t < time_; ++t) {
        const float mean = d_scores.row(t).dot(attention.row(t));
        d_scores.row(t).array() = attention.row(t).array() * (d_scores.row(t).array() - mean) * scale;
      }
      d_qkv.block(row, col, time_, size).noalias() = d_scores * k;
      d_qkv.block(row, width + col, time_, size).noalias() = d_scores.transpose() * q;
      d_qkv.block(row, 2 * width + col, time_, size).noalias() = attention.transpose() * d_out;
    }
  }
  return in_proj_.Backward(d_qkv);
}

Parameters SelfAttention::parameters() {
  return {{"in_proj_weight", &in_proj_.weight},
          {"in_proj_bias", &in_proj_.bias},
          {"out_proj.weight", &out_proj_.weight},
          {"out_proj.bias", &out_proj_.bias}};
}

Matrix FeedForward::Forward(const Matrix& x) {
  hidden_ = linear1_.Forward(x);
  return linear2_.Forward(hidden_.unaryExpr([](float h) { return h * Phi(h); }));
}

Matrix FeedForward::Backward(const Matrix& dy) {
  const Matrix d_gelu = linear2_.Backward(dy);
  const auto slope = [](float h) { return Phi(h) + h * kInvSqrt2Pi * std::exp(-0.5f * h * h); };
  return linear1_.Backward(d_gelu.cwiseProduct(hidden_.unaryExpr(slope)));
}

Parameters FeedForward::parameters() {
  return {{"linear1.weight", &linear1_.weight},
          {"linear1.bias", &linear1_.bias},
          {"linear2.weight", &linear2_.weight},
          {"linear2.bias", &linear2_.bias}};
}

}  // namespace encoder
