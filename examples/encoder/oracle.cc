// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#include "encoder/oracle.h"

#include <cmath>
#include <numeric>

namespace encoder {
namespace {

using Rows = std::vector<double>;  // row by row

Rows LinearOf(const Rows& x, const Rows& weight, const Rows& bias) {
  const size_t outputs = bias.size(), inputs = weight.size() / outputs, rows = x.size() / inputs;
  Rows y(rows * outputs);
  for (size_t r = 0; r < rows; ++r) {
    for (size_t o = 0; o < outputs; ++o) {
      const auto row = x.begin() + static_cast<std::ptrdiff_t>(r * inputs);
      y[r * outputs + o] = std::inner_product(row, row + static_cast<std::ptrdiff_t>(inputs),
                                              weight.begin() + static_cast<std::ptrdiff_t>(o * inputs), bias[o]);
    }
  }
  return y;
}

Rows AttentionOf(const Rows& x, const LayerConfig& config, const Values& p, size_t time) {
  const size_t width = static_cast<size_t>(config.width), heads = static_cast<size_t>(config.heads);
  const size_t size = width / heads, rows = x.size() / width;
  const Rows qkv = LinearOf(x, p.at("self_attn.in_proj_weight"), p.at("self_attn.in_proj_bias"));
  Rows mixed(x.size(), 0.0), weight(time);
  for (size_t r = 0; r < rows; ++r) {
    for (size_t head = 0; head < heads; ++head) {
      const double* q = &qkv[r * 3 * width + head * size];
      const auto key_of = [&](size_t t) { return &qkv[(r / time * time + t) * 3 * width + width + head * size]; };
      double total = 0;
      for (size_t t = 0; t < time; ++t) {
        const double score = std::inner_product(q, q + size, key_of(t), 0.0) / std::sqrt(static_cast<double>(size));
        weight[t] = std::exp(score);
        total += weight[t];
      }
      for (size_t t = 0; t < time; ++t) {
        const double* v = key_of(t) + width;
        for (size_t i = 0; i < size; ++i) mixed[r * width + head * size + i] += weight[t] / total * v[i];
      }
    }
  }
  return LinearOf(mixed, p.at("self_attn.out_proj.weight"), p.at("self_attn.out_proj.bias"));
}

Rows FeedForwardOf(const Rows& x, const Values& p) {
  Rows hidden = LinearOf(x, p.at("linear1.weight"), p.at("linear1.bias"));
  for (double& h : hidden) h = 0.5 * h * (1 + std::erf(h / std::sqrt(2.0)));
  return LinearOf(hidden, p.at("linear2.weight"), p.at("linear2.bias"));
}

Rows NormOf(const Rows& x, const LayerConfig& config, const Values& p, const std::string& name) {
  const size_t width = static_cast<size_t>(config.width);
  const Rows& gamma = p.at(name + ".weight");
  const bool layer_norm = config.norm == NormKind::kLayerNorm;
  Rows y(x.size());
  for (size_t start = 0; start < x.size(); start += width) {
    double mean = 0, square = 0;
    for (size_t i = 0; i < width; ++i) mean += x[start + i] / config.width;
    if (!layer_norm) mean = 0;
    for (size_t i = 0; i < width; ++i) square += (x[start + i] - mean) * (x[start + i] - mean) / config.width;
    for (size_t i = 0; i < width; ++i) {
      y[start + i] = (x[start + i] - mean) / std::sqrt(square + config.epsilon) * gamma[i];
      if (layer_norm) y[start + i] += p.at(name + ".bias")[i];
    }
  }
  return y;
}

Rows Sum(const Rows& a, const Rows& b) {
  Rows sum(a.size());
  for (size_t i = 0; i < a.size(); ++i) sum[i] = a[i] + b[i];
  return sum;
}

// The sub-layer f and its Add & Norm.
template <typename SubLayer>
Rows Joined(const Rows& x, const LayerConfig& config, const Values& p, const std::string& norm, const SubLayer& f) {
  switch (config.placement) {
    case Placement::kNoResidual:
      return f(x);
    case Placement::kNoNorm:
      return Sum(x, f(x));
    case Placement::kPostLn:
      return NormOf(Sum(x, f(x)), config, p, norm);
    case Placement::kPreLn:
      return Sum(x, f(NormOf(x, config, p, norm)));
    case Placement::kPostNormInResidual:
      return Sum(x, NormOf(f(x), config, p, norm));
  }
  return {};
}

}  // namespace

std::vector<double> OracleForward(const LayerConfig& config, const Values& parameters, const std::vector<double>& x,
                                  int time) {
  const auto attention = [&](const Rows& in) { return AttentionOf(in, config, parameters, static_cast<size_t>(time)); };
  const auto feed_forward = [&](const Rows& in) { return FeedForwardOf(in, parameters); };
  return Joined(Joined(x, config, parameters, "norm1", attention), config, parameters, "norm2", feed_forward);
}

std::vector<double> OracleGradient(const LayerConfig& config, Values* parameters, std::vector<double>* x, int time,
                                   const std::vector<double>& dy, std::vector<double>* values) {
  constexpr double kStep = 1e-4;
  std::vector<double> gradient;
  for (double& value : *values) {
    const double old = value;
    const auto loss_at = [&](double changed) {
      value = changed;
      const std::vector<double> y = OracleForward(config, *parameters, *x, time);
      return std::inner_product(y.begin(), y.end(), dy.begin(), 0.0);
    };
    gradient.push_back((loss_at(old + kStep) - loss_at(old - kStep)) / (2 * kStep));
    value = old;
  }
  return gradient;
}

}  // namespace encoder
