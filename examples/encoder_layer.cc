// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// A transformer's encoder layer whose two Add & Norm steps are addnorm's, forward and backward, with the norm at each
// of the three places where models have it. encoder/encoder_layer.cc is the part to read: which call stands where.
//
// It prints the size of the result and of the gradient, and checks the gradient: a small step against it, from x and
// all parameters at once, has to lower the loss by what the gradient says.
#include "encoder/encoder_layer.h"

#include <cmath>
#include <cstdio>
#include <vector>

#include "encoder/model.h"

namespace {

using encoder::Matrix;

constexpr int kSequences = 4, kTime = 16;

void Fill(Matrix* matrix, double limit, encoder::Random* random) {
  for (float& value : matrix->reshaped()) value = static_cast<float>(random->Uniform(limit));
}

double Rms(const Matrix& matrix) { return matrix.norm() / std::sqrt(static_cast<double>(matrix.size())); }

// The loss is sum(dy * y), so that its gradient with respect to y is dy.
double Loss(const Matrix& y, const Matrix& dy) { return y.cast<double>().cwiseProduct(dy.cast<double>()).sum(); }

bool RunAndCheck(const char* name, encoder::Placement placement, encoder::NormKind norm) {
  encoder::LayerConfig config;
  config.placement = placement;
  config.norm = norm;
  encoder::EncoderLayer layer(config);
  encoder::Random random(1);
  for (const encoder::NamedParameter& named : layer.parameters()) {
    if (named.parameter->value.rows() > 1) Fill(&named.parameter->value, 0.15, &random);
  }
  Matrix x(kSequences * kTime, config.width), dy(x.rows(), x.cols());
  Fill(&x, 1.7, &random);
  Fill(&dy, 1.7, &random);

  const Matrix y = layer.Forward(x, kTime);
  const Matrix dx = layer.Backward(dy);

  double squares = dx.cast<double>().squaredNorm();
  for (const encoder::NamedParameter& named : layer.parameters()) {
    squares += named.parameter->gradient.cast<double>().squaredNorm();
  }
  // Central difference along the gradient: of its length, if all of it is right.
  const double step = 2e-3;
  const auto loss_at = [&](double distance) {
    const float factor = static_cast<float>(distance / std::sqrt(squares));
    for (const encoder::NamedParameter& named : layer.parameters()) {
      named.parameter->value += factor * named.parameter->gradient;
    }
    const double loss = Loss(layer.Forward(x + factor * dx, kTime), dy);
    for (const encoder::NamedParameter& named : layer.parameters()) {
      named.parameter->value -= factor * named.parameter->gradient;
    }
    return loss;
  };
  const double slope = (loss_at(step) - loss_at(-step)) / (2 * step);
  const double difference = std::abs(slope / std::sqrt(squares) - 1);
  std::printf("%-34s y %.3f, dx %.3f (root mean square), gradient and slope differ by %.1e\n", name, Rms(y), Rms(dx),
              difference);
  return difference < 1e-3;
}

}  // namespace

int main() {
  using encoder::NormKind;
  using encoder::Placement;
  std::printf("Add & Norm by addnorm (%s), the rest by Eigen %d.%d.%d\n", addnorm::TargetName(), EIGEN_WORLD_VERSION,
              EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION);
  bool right = true;
  right &= RunAndCheck("Post-LN", Placement::kPostLn, NormKind::kLayerNorm);
  right &= RunAndCheck("Pre-LN", Placement::kPreLn, NormKind::kLayerNorm);
  right &= RunAndCheck("post-norm in the residual", Placement::kPostNormInResidual, NormKind::kLayerNorm);
  right &= RunAndCheck("Post-LN, RMSNorm", Placement::kPostLn, NormKind::kRmsNorm);
  right &= RunAndCheck("Pre-LN, RMSNorm", Placement::kPreLn, NormKind::kRmsNorm);
  right &= RunAndCheck("post-norm in the residual, RMSNorm", Placement::kPostNormInResidual, NormKind::kRmsNorm);
  if (!right) std::printf("FAULT: a gradient is wrong\n");
  return right ? 0 : 1;
}
