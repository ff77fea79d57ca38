// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// addnorm_search [CALLS [SEED]]: looks for the f32 rows with the largest errors, through the public API, by hill
// climbing from rows of every kind. A fast measure in pairs of f64 guides it; what is reported is the MPFR oracle's.
// Prints the largest error of each norm and path, for docs/NUMERICS.md, and fails if one exceeds its bound.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "addnorm/addnorm.h"
#include "support/bounds.h"
#include "support/dtype.h"
#include "support/inputs.h"
#include "support/ops.h"
#include "support/oracle.h"
#include "support/ulp.h"

namespace addnorm_test {
namespace {

constexpr std::array<addnorm_op, 4> kOps = {ADDNORM_OP_RMS_NORM, ADDNORM_OP_LAYER_NORM, ADDNORM_OP_RMS_NORM_ADD,
                                            ADDNORM_OP_LAYER_NORM_ADD};
constexpr std::array<const char*, 4> kOpNames = {"rms_norm", "layer_norm", "rms_norm_add", "layer_norm_add"};

// One row and all that its result depends on.
struct Input {
  addnorm_op op = 0;
  std::vector<float> x, gamma, beta, residual;  // gamma and beta may be empty
  double epsilon = 0.0;
  float residual_scale = 1.0f;
  const char* kind = "";
  bool made = false;  // to be bad, not one of the test data's kinds

  int64_t cols() const { return static_cast<int64_t>(x.size()); }
};

addnorm_input In(const std::vector<float>& values) {
  return {values.empty() ? nullptr : values.data(), 0, ADDNORM_F32, 0};
}

// Runs the operation; y has room for the row.
void Run(const Input& in, std::vector<float>* y) {
  const addnorm_output out = {y->data(), 0, ADDNORM_F32, 0};
  addnorm_status status;
  if (AddsAfter(in.op)) {
    addnorm_norm_add_args args = ADDNORM_NORM_ADD_ARGS_INIT;
    args.rows = 1;
    args.cols = in.cols();
    args.x = In(in.x);
    args.residual = In(in.residual);
    args.y = out;
    args.epsilon = in.epsilon;
    args.gamma = In(in.gamma);
    args.beta = In(in.beta);
    args.residual_scale = in.residual_scale;
    status = IsLayerNorm(in.op) ? addnorm_layer_norm_add(&args) : addnorm_rms_norm_add(&args);
  } else {
    addnorm_norm_args args = ADDNORM_NORM_ARGS_INIT;
    args.rows = 1;
    args.cols = in.cols();
    args.x = In(in.x);
    args.y = out;
    args.epsilon = in.epsilon;
    args.gamma = In(in.gamma);
    args.beta = In(in.beta);
    status = IsLayerNorm(in.op) ? addnorm_layer_norm(&args) : addnorm_rms_norm(&args);
  }
  if (status != ADDNORM_OK) {
    std::fprintf(stderr, "%s\n", addnorm_status_text(status));
    std::abort();
  }
}

// ---- The fast measure.

// hi + lo, accurate to about 2^-100.
struct Pair {
  double hi = 0.0, lo = 0.0;

  void Add(double v) {  // Knuth's TwoSum
    const double sum = hi + v;
    const double part = sum - hi;
    lo += (hi - (sum - part)) + (v - part);
    hi = sum;
  }
  void AddSquare(double v) {
    const double square = v * v;
    Add(square);
    lo += std::fma(v, v, -square);
  }
  double Value() const { return hi + lo; }
};

struct Measure {
  double error = 0.0;  // of the worst element, in ULP32(M)
  size_t at = 0;
  bool wide = false;
  double mean = 0.0, inverse = 0.0;
};

Measure Measured(const Input& in, const std::vector<float>& y) {
  const double n = static_cast<double>(in.cols());
  const bool layer_norm = IsLayerNorm(in.op);
  Pair sum;
  if (layer_norm) {
    for (const float v : in.x) sum.Add(static_cast<double>(v));
  }
  const double mean = sum.Value() / n;
  // What is left of the mean: sum - mean * n, exactly up to the last rounding.
  const double product = mean * n;
  const double mean_low = ((sum.hi - product) - std::fma(mean, n, -product) + sum.lo) / n;
  Pair squares;
  for (const float v : in.x) squares.AddSquare((static_cast<double>(v) - mean) - mean_low);
  const double spread = squares.Value();
  const double denominator = spread / n + in.epsilon;
  const double inverse = denominator == 0.0 ? 0.0 : 1.0 / std::sqrt(denominator);
  Measure m;
  m.mean = mean;
  m.inverse = inverse;
  m.wide = denominator != 0.0 && (!(inverse >= 0x1p-126 && inverse < 0x1p127) || (layer_norm && spread >= 0x1p252));
  for (size_t i = 0; i < in.x.size(); ++i) {
    const double g = in.gamma.empty() ? 1.0 : static_cast<double>(in.gamma[i]);
    const double beta = in.beta.empty() ? 0.0 : static_cast<double>(in.beta[i]);
    const double t = ((static_cast<double>(in.x[i]) - mean) - mean_low) * inverse;
    double exact = std::fma(t, g, beta);
    double magnitude = std::max(std::fabs(exact), 0x1p-126 * std::fabs(g));
    if (layer_norm || !in.beta.empty()) {
      magnitude = std::max({magnitude, std::fabs(g * t), std::fabs(g), std::fabs(beta)});
    }
    if (AddsAfter(in.op)) {
      const double after = static_cast<double>(in.residual_scale) * static_cast<double>(in.residual[i]);
      exact += after;
      magnitude = std::max({magnitude, std::fabs(after), std::fabs(exact)});
    }
    // What may overflow is left to the oracle's tests.
    const double error = std::isfinite(y[i])          ? std::fabs(static_cast<double>(y[i]) - exact) / Ulp32(magnitude)
                         : std::fabs(exact) < 0x1p127 ? HUGE_VAL
                                                      : 0.0;
    if (error > m.error) m.error = error, m.at = i;
  }
  return m;
}

// The measure that counts.
double ExactError(const Input& in, const std::vector<float>& y, size_t at, double* bound) {
  static Oracle oracle;
  OracleRow row;
  row.op = in.op;
  row.cols = in.cols();
  row.x = in.x.data();
  row.residual = in.residual.empty() ? nullptr : in.residual.data();
  row.gamma = in.gamma.empty() ? nullptr : in.gamma.data();
  row.beta = in.beta.empty() ? nullptr : in.beta.data();
  row.epsilon = in.epsilon;
  row.residual_scale = in.residual_scale;
  const OracleResult& result = oracle.Compute(row);
  *bound = result.bound;
  return ErrorUlp(static_cast<double>(y[at]), ADDNORM_F32, result.y[at]);
}

// ---- Rows to start from, and small changes.

float Scale(float v, int exponent) { return std::ldexp(v, exponent); }

// A random f32 of this exponent. Half of them are close to a power of two, where a rounding costs most.
float Random(Rng& rng, int exponent) {
  const uint64_t bits = rng.Next() >> (rng.Below(2) == 0 ? rng.Below(24) : 0);
  const float v = Scale(static_cast<float>(0x800000 + (bits & 0x7fffff)), exponent - 23);
  return rng.Below(8) == 0 ? Scale(0x1.fffffep0f - (v - Scale(1.0f, exponent)) * 0x1p-12f, exponent) : v;
}

// Rows whose sums of four squares (RMSNorm) lose nearly half an ULP in each of their three roundings, all the same way:
// 1 + 2^-12 squares to a tie, and 2^-12 squares to half an ULP of 1. Every fourth vector is free.
std::vector<float> SameWaySquares(Rng& rng) {
  const uint64_t blocks = 1 + rng.Below(8);
  const float away = (rng.Below(2) != 0 ? 1.0f : -1.0f) * Scale(static_cast<float>(1 + rng.Below(16)), -23);
  std::vector<float> x(64 * blocks + rng.Below(6));
  for (size_t i = 0; i < x.size(); ++i) {
    const size_t part = i % 64 / 16;
    x[i] = i >= 64 * blocks || part == 3 ? Random(rng, -16 - static_cast<int>(rng.Below(8)))
           : part == 1                   ? 1.0f + 0x1p-12f + away
                                         : 0x1p-12f * (1.0f + 16 * away);
  }
  return x;
}

Input Start(addnorm_op op, Rng& rng) {
  Input in;
  in.op = op;
  static constexpr int64_t kCols[] = {1, 2, 3, 4, 8, 16, 17, 33, 48, 64, 65, 72, 100, 128, 257, 768};
  int64_t cols = kCols[rng.Below(sizeof(kCols) / sizeof(kCols[0]))];
  const uint64_t rare = rng.Below(2048);
  if (rare < 32) cols = rare == 0 ? 65537 : 4096;
  const uint64_t kind = rng.Below(kDataKinds + 6);
  if (rng.Below(2) != 0) in.epsilon = Scale(Random(rng, 0), -static_cast<int>(rng.Below(40)));
  if (kind < kDataKinds) {
    in.kind = DataKindName(static_cast<DataKind>(kind));
    in.x = MakeRow(static_cast<DataKind>(kind), ADDNORM_F32, cols, rng.Next());
  } else if (kind < kDataKinds + 3 && !IsLayerNorm(op)) {
    in.made = true;
    in.kind = "same_way_squares";
    in.x = SameWaySquares(rng);
    cols = in.cols();
    in.epsilon = std::ldexp(1.0, -20 - static_cast<int>(rng.Below(8)));
  } else {  // few elements matter to the statistic, the others are free
    in.made = true;
    in.kind = "few_large";
    in.x.resize(static_cast<size_t>(cols));
    const int apart = static_cast<int>(rng.Below(16));
    for (float& v : in.x) v = Random(rng, rng.Below(4) == 0 ? 0 : -apart);
  }
  if (rng.Below(4) != 0) in.gamma = MakeGamma(VectorKind::kUsual, ADDNORM_F32, cols, rng.Next());
  if (rng.Below(2) != 0) in.beta = MakeBeta(VectorKind::kUsual, ADDNORM_F32, cols, rng.Next());
  for (float& b : in.beta) b = Scale(b, -static_cast<int>(rng.Below(26)));
  if (AddsAfter(op)) in.residual = MakeBeta(VectorKind::kUsual, ADDNORM_F32, cols, rng.Next());
  return in;
}

float Step(Rng& rng, float v) {
  return F32OfBits(BitsOf(v) + (rng.Next() & 1 ? 1u : ~0u) * static_cast<uint32_t>(1 + rng.Below(4)));
}

float Changed(Rng& rng, float v) {
  const int exponent = v == 0.0f ? 0 : std::ilogb(v);
  switch (rng.Below(5)) {
    case 0:
      return Random(rng, exponent);
    case 1:
      return Scale(v, static_cast<int>(rng.Below(3)) - 1);
    case 2:
      return -v;
    default:
      return Step(rng, v);
  }
}

// Changes one thing that the row's statistics depend on, or something of single elements: all but the worst are drawn
// anew, each a further try at the same cost.
void Change(Rng& rng, const Measure& m, Input* in) {
  const size_t cols = in->x.size();
  const size_t worst = m.at;
  const uint64_t what = rng.Below(8);
  if (what < 3) {
    float& v = in->x[rng.Below(cols)];
    v = Changed(rng, v);
  } else if (what == 3) {
    in->x[rng.Below(cols)] = in->x[rng.Below(cols)];
  } else if (what == 4 && in->epsilon != 0.0) {
    in->epsilon *= 1.0 + std::ldexp(static_cast<double>(rng.Normal()), -21 - static_cast<int>(rng.Below(40)));
    in->epsilon = std::fabs(in->epsilon);
  } else if (what == 5) {
    for (float* v :
         {&in->x[worst], in->gamma.empty() ? nullptr : &in->gamma[worst], in->beta.empty() ? nullptr : &in->beta[worst],
          in->residual.empty() ? nullptr : &in->residual[worst]}) {
      if (v != nullptr && rng.Below(2) != 0) *v = Step(rng, *v);
    }
  }
  for (size_t i = 0; i < cols; ++i) {
    if (i == worst) continue;
    if (!in->gamma.empty()) {
      in->gamma[i] = Random(rng, 0);
      const double t = std::fabs((static_cast<double>(in->x[i]) - m.mean) * m.inverse);
      // A product near a power of two, where the last rounding may cost most.
      if (t > 0x1p-100 && t < 0x1p100 && rng.Below(2) != 0) in->gamma[i] = Step(rng, static_cast<float>(1.0 / t));
    }
    if (!in->beta.empty() && rng.Below(2) != 0) in->beta[i] = Random(rng, -static_cast<int>(rng.Below(30)));
    if (!in->residual.empty()) in->residual[i] = Random(rng, 2 - static_cast<int>(rng.Below(20)));
  }
}

bool Finite(const Input& in) {
  const auto finite = [](float v) { return std::isfinite(v); };
  return std::all_of(in.x.begin(), in.x.end(), finite) && std::all_of(in.gamma.begin(), in.gamma.end(), finite) &&
         std::all_of(in.beta.begin(), in.beta.end(), finite) &&
         std::all_of(in.residual.begin(), in.residual.end(), finite) && in.epsilon < 0x1p1000;
}

struct Best {
  double error = 0.0, bound = 0.0, epsilon = 0.0;
  const char* kind = "";
  int64_t cols = 0;
};

constexpr std::array<const char*, 3> kGroups = {"data of the tests", "made rows", "wide path"};

int Search(uint64_t most_calls, uint64_t seed) {
  Rng rng(seed);
  std::array<std::array<Best, kGroups.size()>, kOps.size()> best;
  uint64_t calls = 0;
  for (size_t op = 0; calls < most_calls; op = (op + 1) % kOps.size()) {
    Input in = Start(kOps[op], rng);
    std::vector<float> y(in.x.size());
    Run(in, &y);
    Measure current = Measured(in, y);
    for (int without_gain = 0; without_gain < 2000; ++without_gain, ++calls) {
      Input next = in;
      Change(rng, current, &next);
      if (!Finite(next)) continue;
      Run(next, &y);
      const Measure m = Measured(next, y);
      if (m.wide != current.wide || m.error < current.error) continue;
      if (m.error > current.error + 1e-4) without_gain = 0;
      in = std::move(next);
      current = m;
    }
    Best& record = best[op][current.wide ? 2 : in.made ? 1 : 0];
    if (current.error <= record.error) continue;
    Run(in, &y);
    double bound = 0.0;
    const double error = ExactError(in, y, current.at, &bound);
    if (error > record.error) record = {error, bound, in.epsilon, in.kind, in.cols()};
  }
  std::printf("%llu calls on %s, seed %llu\n", static_cast<unsigned long long>(calls), addnorm_target_name(),
              static_cast<unsigned long long>(seed));
  bool broken = false;
  for (size_t op = 0; op < kOps.size(); ++op) {
    for (size_t group = 0; group < kGroups.size(); ++group) {
      const Best& b = best[op][group];
      broken = broken || b.error > b.bound;
      std::printf("| %s, %s | %.3f | %.1f | %s, cols %lld, epsilon %.3g |\n", kOpNames[op], kGroups[group], b.error,
                  b.bound, b.kind, static_cast<long long>(b.cols), b.epsilon);
    }
  }
  return broken ? 1 : 0;
}

}  // namespace
}  // namespace addnorm_test

int main(int argc, char** argv) {
  const uint64_t calls = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1000000;
  const uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  return addnorm_test::Search(calls, seed);
}
