// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// addnorm_search [ELEMENTS [SEED [FILE [NAME]]]]: looks for the rows with the largest errors, through the public API,
// by hill climbing from rows of every kind, over so many elements of each operation with storage in f32, bf16 and f16.
// A fast measure in long double guides it; what is reported is the MPFR oracle's. Prints the largest errors, for
// docs/NUMERICS.md, and fails if one exceeds its bound. FILE gets the rows that they belong to, for worst_rows_test.cc.
// NAME: only cases whose name contains it, as in "norm/f16".
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "addnorm/addnorm.h"
#include "measure.h"
#include "row.h"
#include "support/boundaries.h"
#include "support/dtype.h"
#include "support/inputs.h"
#include "support/ops.h"

namespace addnorm_test {
namespace {

constexpr addnorm_dtype kDtypes[] = {ADDNORM_F32, ADDNORM_BF16, ADDNORM_F16};

// ---- Random numbers: bits, as nearly all of the time goes into them.

// A random f32 of this exponent. Half of them are close to a power of two, where a rounding costs most.
float Random(Rng& rng, int exponent) {
  const uint64_t random = rng.Next();
  uint32_t fraction = static_cast<uint32_t>(random) & 0x7fffffu;
  if (random >> 63 != 0) fraction >>= (random >> 32) % 24;
  if ((random >> 48) % 8 == 0) fraction = 0x7fffffu - (fraction >> 12);
  const uint32_t field = static_cast<uint32_t>(std::clamp(exponent, -126, 127) + 127);
  return F32OfBits(field << 23 | fraction);
}

float Scale(float v, int exponent) { return std::ldexp(v, exponent); }

float Step(Rng& rng, float v) {
  return F32OfBits(BitsOf(v) + (rng.Next() & 1 ? 1u : ~0u) * static_cast<uint32_t>(1 + rng.Below(4)));
}

// The midpoint of two neighbours of the dtype, near `v`; `v` itself for f32.
double NearestTie(double v, addnorm_dtype dtype) {
  if (dtype == ADDNORM_F32 || v == 0.0) return v;
  const int kept = 52 - (dtype == ADDNORM_F16 ? 10 : 7);
  return F64OfBits((BitsOf(v) >> kept << kept) + (uint64_t{1} << (kept - 1)));
}

// ---- Rows to start from.

// Rows whose sums of four squares (RMSNorm) lose nearly half an ULP in each of their three roundings, all the same way:
// 1 + 2^-12 squares to a tie, and 2^-12 squares to half an ULP of 1. Every fourth vector is free.
std::vector<float> SameWaySquares(Rng& rng) {
  const uint64_t blocks = 1 + rng.Below(4);
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

void Fill(const std::vector<float>& values, Elements* to) {
  to->Resize(values.size());
  for (size_t i = 0; i < values.size(); ++i) to->Set(i, values[i]);
}

// x, epsilon and the kind.
void StartX(Row* row, Rng& rng) {
  static constexpr size_t kCols[] = {1, 2, 3, 4, 8, 16, 17, 33, 48, 64, 65, 72, 100, 128, 257};
  const addnorm_dtype dtype = row->dtype();
  size_t cols = kCols[rng.Below(sizeof(kCols) / sizeof(kCols[0]))];
  const uint64_t rare = rng.Below(4096);
  if (rare < 16) cols = rare == 0 ? 65537 : 1000;
  if (rng.Below(2) != 0) row->epsilon = static_cast<double>(Random(rng, -static_cast<int>(rng.Below(40))));
  std::vector<float> x(cols);
  const uint64_t kind = rng.Below(kDataKinds + 8);
  if (kind < kDataKinds) {
    row->kind = DataKindName(static_cast<DataKind>(kind));
    x = MakeRow(static_cast<DataKind>(kind), dtype, static_cast<int64_t>(cols), rng.Next());
  } else if (kind < kDataKinds + 2 && dtype != ADDNORM_F16) {
    const Boundary& boundary = kBoundaries[rng.Below(sizeof(kBoundaries) / sizeof(kBoundaries[0]))];
    row->kind = boundary.what;
    row->epsilon = boundary.epsilon;
    if (rng.Below(2) != 0) x.resize(static_cast<size_t>(boundary.cols));
    const int64_t ulps = static_cast<int64_t>(rng.Below(3)) - 1;
    for (size_t i = 0; i < x.size(); ++i) x[i] = BoundaryElement(boundary, ulps, static_cast<int64_t>(i));
  } else if (kind < kDataKinds + 5 && !IsLayerNorm(row->op())) {
    row->kind = "same_way_squares";
    x = SameWaySquares(rng);
    row->epsilon = std::ldexp(1.0, -20 - static_cast<int>(rng.Below(8)));
  } else {  // few elements matter to the statistic, the others are free
    row->kind = "few_large";
    const int apart = static_cast<int>(rng.Below(16));
    for (float& v : x) v = Random(rng, rng.Below(4) == 0 ? 0 : -apart);
  }
  Fill(x, &row->x);
}

Row Start(const OpCase& op_case, Rng& rng) {
  Row row;
  row.op_case = &op_case;
  row.x = row.residual = Elements(op_case.dtypes.x);
  StartX(&row, rng);
  const addnorm_op op = row.op();
  const int64_t cols = static_cast<int64_t>(row.cols());
  if (IsNorm(op) && rng.Below(4) != 0) Fill(MakeGamma(VectorKind::kUsual, ADDNORM_F32, cols, rng.Next()), &row.gamma);
  if (IsNorm(op) && rng.Below(2) != 0) {
    Fill(MakeBeta(VectorKind::kUsual, ADDNORM_F32, cols, rng.Next()), &row.beta);
    for (size_t i = 0; i < row.cols(); ++i) row.beta.Set(i, Scale(row.beta[i], -static_cast<int>(rng.Below(26))));
  }
  if (AddsAfter(op)) Fill(MakeBeta(VectorKind::kUsual, op_case.dtypes.x, cols, rng.Next()), &row.residual);
  if (AddsBefore(op)) {  // the sum is about the row that was made
    row.residual.Resize(row.cols());
    const bool none = rng.Below(2) != 0;
    for (size_t i = 0; i < row.cols(); ++i) {
      const float whole = row.x[i];
      if (!none) row.residual.Set(i, whole * Random(rng, -1));
      row.x.Set(i, whole - row.residual[i]);
    }
  }
  return row;
}

// ---- Small changes.

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

// The same for an element as it is stored.
void ChangeElement(Rng& rng, Elements* elements, size_t i) {
  const uint64_t steps = 1 + rng.Below(4);
  if (elements->dtype() != ADDNORM_F32 && rng.Below(2) != 0) {
    elements->SetBits(i, elements->Bits(i) + (rng.Next() & 1 ? 1u : ~0u) * static_cast<uint32_t>(steps));
  } else {
    elements->Set(i, Changed(rng, (*elements)[i]));
  }
}

// Changes one thing that the row's statistics depend on, or something of single elements: all but the worst are drawn
// anew, each a further try at the same cost.
void Change(Rng& rng, const Measure& m, Row* row) {
  const size_t cols = row->cols(), worst = m.at;
  const uint64_t what = rng.Below(8);
  if (what < 3) {
    ChangeElement(rng, &row->x, rng.Below(cols));
  } else if (what == 3) {
    row->x.SetBits(rng.Below(cols), row->x.Bits(rng.Below(cols)));
  } else if (what == 4 && row->epsilon != 0.0) {
    row->epsilon *= 1.0 + std::ldexp(static_cast<double>(rng.Normal()), -21 - static_cast<int>(rng.Below(40)));
    row->epsilon = std::fabs(row->epsilon);
  } else if (what == 5) {
    ChangeElement(rng, &row->x, worst);
    for (Elements* e : {&row->gamma, &row->beta}) {
      if (!e->empty() && rng.Below(2) != 0) e->Set(worst, Step(rng, (*e)[worst]));
    }
    if (!row->residual.empty() && rng.Below(2) != 0) ChangeElement(rng, &row->residual, worst);
  }
  if (!IsNorm(row->op())) return;
  const bool adds_after = AddsAfter(row->op());
  for (size_t i = 0; i < cols; ++i) {
    if (i == worst) continue;
    const uint64_t random = rng.Next();
    if (!row->beta.empty() && random % 2 != 0) row->beta.Set(i, Random(rng, -static_cast<int>((random >> 32) % 30)));
    if (adds_after) row->residual.Set(i, Random(rng, 2 - static_cast<int>((random >> 40) % 20)));
    if (row->gamma.empty()) continue;
    float g = Random(rng, 0);
    const double t = (static_cast<double>(SummedElement(*row, i)) - m.mean) * m.inverse;
    if (std::fabs(t) > 0x1p-100 && std::fabs(t) < 0x1p100 && (random & 4) != 0) {
      // A result near a tie of y's dtype, or a product near a power of two, where the last rounding may cost most.
      const double terms = (row->beta.empty() ? 0.0 : static_cast<double>(row->beta[i])) +
                           (adds_after ? static_cast<double>(row->residual[i]) : 0.0);
      const double goal = row->dtype() == ADDNORM_F32
                              ? std::copysign(1.0, t)
                              : NearestTie(t * static_cast<double>(g) + terms, row->dtype()) - terms;
      g = Step(rng, static_cast<float>(goal / t));
    }
    row->gamma.Set(i, g);
  }
}

bool Finite(const Row& row) {
  const auto finite = [](const Elements& e) {
    return std::all_of(e.values().begin(), e.values().end(), [](float v) { return std::isfinite(v); });
  };
  return row.epsilon < 0x1p1000 && finite(row.x) && finite(row.gamma) && finite(row.beta) && finite(row.residual);
}

// ---- The climb.

struct Best {
  ExactMeasure measure = {0.0, 0.0};
  std::string kind, text;
  double epsilon = 0.0;
  size_t cols = 0;
};

constexpr std::array<const char*, 2> kGroups = {"", ", wide path"};
using Bests = std::array<Best, kGroups.size()>;
constexpr size_t kLongestKept = 300;  // of rows whose text is kept

void Keep(const Row& row, const Result& result, const Measure& m, Bests* bests) {
  Best& best = (*bests)[m.wide ? 1 : 0];
  if (m.error <= best.measure.error) return;
  const ExactMeasure exact = MeasureExactly(row, result, m.at);
  if (exact.error <= best.measure.error || (row.cols() > kLongestKept && exact.error <= exact.bound)) return;
  best = {exact, row.kind, RowText(row, m.at), row.epsilon, row.cols()};
}

Bests Search(const OpCase& op_case, uint64_t elements, uint64_t seed) {
  Rng rng(seed);
  Caller caller;
  Measurer measurer;
  Result result;
  Row next;
  Bests bests;
  for (uint64_t done = 0; done < elements;) {
    Row row = Start(op_case, rng);
    if (!Finite(row)) continue;
    caller.Run(row, &result);
    Measure current = measurer.Of(row, result);
    Keep(row, result, current, &bests);
    const int patience = row.cols() > 1000 ? 20 : 2000;
    for (int without_gain = 0; without_gain < patience && done < elements; ++without_gain) {
      next = row;
      Change(rng, current, &next);
      if (!Finite(next)) continue;
      caller.Run(next, &result);
      done += next.cols();
      const Measure m = measurer.Of(next, result);
      if (m.wide != current.wide || m.error < current.error) continue;
      if (m.error > current.error + 1e-4) without_gain = 0;
      std::swap(row, next);
      current = m;
    }
    caller.Run(row, &result);
    Keep(row, result, current, &bests);
  }
  return bests;
}

int SearchAll(uint64_t elements, uint64_t seed, std::FILE* file, const char* name) {
  std::printf("%llu elements of each on %s, seed %llu\n", static_cast<unsigned long long>(elements),
              addnorm_target_name(), static_cast<unsigned long long>(seed));
  bool broken = false;
  for (const addnorm_dtype dtype : kDtypes) {
    for (const OpCase& op_case : AllOpCases()) {
      const addnorm_dtypes& d = op_case.dtypes;
      const auto is = [dtype](addnorm_dtype other) { return other == dtype || other == 0; };
      if (d.x != dtype || !is(d.residual) || !is(d.sum) || !is(d.y)) continue;
      if (op_case.name.find(name) == std::string::npos) continue;
      const Bests bests = Search(op_case, elements, seed);
      for (size_t group = 0; group < kGroups.size(); ++group) {
        const Best& b = bests[group];
        if (b.text.empty()) continue;  // no error at all
        broken = broken || b.measure.error > b.measure.bound;
        std::printf("| %s, %s%s | %.3f | %.1f | %s, cols %zu, epsilon %.3g |\n", op_case.fields->name, DtypeName(dtype),
                    kGroups[group], b.measure.error, b.measure.bound, b.kind.c_str(), b.cols, b.epsilon);
        if (b.measure.error > b.measure.bound) std::printf("BROKEN: %s\n", b.text.c_str());
        if (file != nullptr) std::fprintf(file, "%.4f %s\n", b.measure.error, b.text.c_str());
      }
      std::fflush(nullptr);
    }
  }
  return broken ? 1 : 0;
}

}  // namespace
}  // namespace addnorm_test

int main(int argc, char** argv) {
  const uint64_t elements = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 10000000;
  const uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  std::FILE* file = argc > 3 ? std::fopen(argv[3], "w") : nullptr;
  if (argc > 3 && file == nullptr) {
    std::perror(argv[3]);
    return 2;
  }
  const int code = addnorm_test::SearchAll(elements, seed, file, argc > 4 ? argv[4] : "");
  if (file != nullptr && std::fclose(file) != 0) return 2;
  return code;
}
