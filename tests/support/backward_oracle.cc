// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#include "support/backward_oracle.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "support/bounds.h"
#include "support/dtype.h"
#include "support/ulp.h"

namespace addnorm_test {
namespace {

constexpr mpfr_prec_t kBits = 256;

Exact Split(const MpfrNumber& v, MpfrNumber* rest) {
  Exact e;
  e.hi = v.Nearest();
  mpfr_sub_d(*rest, v, e.hi, MPFR_RNDN);
  e.lo = rest->Nearest();
  return e;
}

}  // namespace

struct BackwardOracle::Numbers {
  MpfrNumber mean{kBits}, rstd{kBits}, h{kBits}, t{kBits}, n{kBits}, sum_h{kBits}, sum_ht{kBits}, scratch{kBits};
  MpfrStatistics statistics;
};

BackwardOracle::BackwardOracle() : numbers_(new Numbers) {}
BackwardOracle::~BackwardOracle() = default;

const BackwardRowResult& BackwardOracle::Compute(const BackwardRow& row) {
  Numbers& v = *numbers_;
  const size_t cols = row.x.size();
  result_ = BackwardRowResult();
  if (row.given) {
    v.mean.Set(row.layer_norm ? row.mean : 0.0);
    v.rstd.Set(std::isinf(row.rstd) ? 0.0 : row.rstd);
  } else {
    v.statistics.Compute(std::vector<float>(row.x.begin(), row.x.end()));
    v.mean.Set(0.0);
    if (row.layer_norm) v.mean.Set(v.statistics.mean);
    v.scratch.Add(row.layer_norm ? v.statistics.variance : v.statistics.mean_square, row.epsilon);
    if (v.scratch.IsZero()) {
      v.rstd.Set(0.0);
    } else {
      v.rstd.InverseSquareRoot(v.scratch);
    }
  }
  const double rstd = v.rstd.Nearest();
  result_.mean_over_spread = std::fabs(v.mean.Nearest()) * rstd;
  // h and t of an element, into v.h and v.t.
  const auto element = [&](size_t i) {
    mpfr_d_sub(v.t, row.x[i], v.mean, MPFR_RNDN);
    v.t.Multiply(v.t, v.rstd);
    v.h.Set(row.dy[i]);
    mpfr_mul_d(v.h, v.h, row.gamma[i], MPFR_RNDN);
  };
  v.sum_h.Set(0.0);
  v.sum_ht.Set(0.0);
  double sum_abs_h = 0.0, sum_abs_ht = 0.0;
  for (size_t i = 0; i < cols; ++i) {
    element(i);
    if (row.layer_norm) v.sum_h.Add(v.sum_h, v.h);
    v.n.Multiply(v.h, v.t);
    v.sum_ht.Add(v.sum_ht, v.n);
    if (row.layer_norm) sum_abs_h += std::fabs(v.h.Nearest());
    sum_abs_ht += std::fabs(v.n.Nearest());
    result_.t.push_back(Split(v.t, &v.scratch));
  }
  const double count = static_cast<double>(cols);
  mpfr_div_d(v.sum_h, v.sum_h, count, MPFR_RNDN);
  mpfr_div_d(v.sum_ht, v.sum_ht, count, MPFR_RNDN);
  for (size_t i = 0; i < cols; ++i) {
    element(i);
    v.n.Multiply(v.t, v.sum_ht);
    v.scratch.Subtract(v.h, v.sum_h);
    v.n.Subtract(v.scratch, v.n);
    v.n.Multiply(v.n, v.rstd);
    result_.n.push_back(Split(v.n, &v.scratch));
    const double t = std::fabs(v.t.Nearest()), h = std::fabs(v.h.Nearest());
    const double reach = row.given || !row.layer_norm ? t : std::max(1.0, t);  // an error of the mean is one of t
    const double mean_h = sum_abs_h / count * (row.given ? 1.0 : reach);
    result_.magnitude.push_back(
        std::max({std::fabs(result_.n.back().hi), rstd * h, rstd * mean_h, rstd * reach * (sum_abs_ht / count)}));
  }
  return result_;
}

namespace {

// All values from low to high are right.
struct Interval {
  double low, high;
};

Interval Around(const Exact& exact, double reach) {
  return {exact.hi + (exact.lo - reach), exact.hi + (exact.lo + reach)};
}

// What both ends become: roundings are monotone.
Interval Rounded(const Interval& v, addnorm_dtype dtype) {
  const auto round = [&](double end) {
    return static_cast<double>(RoundF32To(static_cast<float>(RoundF64To(end, ADDNORM_F32)), dtype));
  };
  return {round(v.low), round(v.high)};
}

Interval Times(const Interval& v, float factor) {
  const double a = static_cast<double>(factor) * v.low, b = static_cast<double>(factor) * v.high;
  return {std::min(a, b), std::max(a, b)};
}

class Evaluator {
 public:
  Evaluator(const BackwardProblem& problem, BackwardOracle& oracle)
      : p_(problem), oracle_(oracle), op_(problem.op_case().op()), cols_(static_cast<size_t>(problem.cols())) {}

  BackwardEvaluation Run() {
    for (MpfrNumber* unused : {&total_, &term_}) unused->Set(0.0);
    dgamma_.resize(cols_);
    dbeta_.resize(cols_);
    for (size_t i = 0; i < cols_; ++i) {
      dgamma_[i].reset(new Sum);
      dbeta_[i].reset(new Sum);
    }
    dbias_.assign(cols_, {0.0L, 0.0L, 0.0L});
    for (int64_t row = 0; row < p_.rows(); ++row) {
      if (op_ == ADDNORM_OP_ADD_BACKWARD) {
        for (size_t i = 0; i < cols_; ++i) {
          const double ds = p_.Input("d_sum", row, static_cast<int64_t>(i));
          AddGradient(row, i, {ds, ds});
        }
      } else {
        NormRow(row);
      }
    }
    for (size_t i = 0; i < cols_; ++i) {
      SumOverRows("dgamma", i, *dgamma_[i]);
      SumOverRows("dbeta", i, *dbeta_[i]);
      SumOfBias(i);
    }
    return e_;
  }

 private:
  struct Sum {
    MpfrNumber total{kBits};
    double magnitude = 0.0;
    Sum() { total.Set(0.0); }
  };
  struct BiasSum {
    long double low, high, magnitude;
  };

  void Check(const std::string& operand, int64_t row, size_t col, double got, const Interval& right) {
    ++e_.checks;
    if (right.low <= got && got <= right.high) return;
    if (++e_.failures != 1) return;
    char text[320];
    std::snprintf(text, sizeof(text), "%s [%s] %s[%lld][%zu] of %lld x %zu = %a, right is %a to %a",
                  p_.op_case().name.c_str(), p_.options().name.c_str(), operand.c_str(), static_cast<long long>(row),
                  col, static_cast<long long>(p_.rows()), cols_, got, right.low, right.high);
    e_.first_failure = text;
  }

  void CheckOutput(const char* operand, int64_t row, size_t i, const Interval& before_rounding) {
    if (!p_.Has(operand)) return;
    const double got = p_.Get(operand, row, static_cast<int64_t>(i));
    Check(operand, row, i, got, Rounded(before_rounding, p_.Dtype(operand)));
  }

  void AddGradient(int64_t row, size_t i, const Interval& ds) {
    CheckOutput("d_residual", row, i, Times(ds, p_.options().residual_scale));
    const DropoutOptions& dropout = p_.options().dropout;
    Interval dx = ds;
    if (dropout.present()) {
      const bool kept = dropout.IsKept(row, static_cast<int64_t>(i));
      dx = kept ? Rounded(Times(ds, dropout.Scale()), ADDNORM_F32) : Interval{0.0, 0.0};
    }
    CheckOutput("dx", row, i, dx);
    dbias_[i].low += static_cast<long double>(dx.low);
    dbias_[i].high += static_cast<long double>(dx.high);
    dbias_[i].magnitude += static_cast<long double>(std::max(std::fabs(dx.low), std::fabs(dx.high)));
  }

  void NormRow(int64_t row) {
    BackwardRow in;
    in.layer_norm = IsBackwardOfLayerNorm(op_);
    in.epsilon = p_.options().epsilon;
    for (size_t i = 0; i < cols_; ++i) {
      const int64_t col = static_cast<int64_t>(i);
      in.x.push_back(p_.Input("x", row, col));
      in.dy.push_back(p_.Input("dy", row, col));
      const float gamma = p_.Has("gamma") ? static_cast<float>(p_.Input("gamma", 0, col)) : 1.0f;
      in.gamma.push_back(static_cast<double>(gamma + p_.options().gamma_offset));
    }
    if (!p_.Has("rstd")) {
      TrueGradients(row, in);
      BackwardOptions saved = p_.options();
      saved.saved = ADDNORM_F64;
      BackwardProblem one(p_.op_case(), saved, 1, p_.cols());
      one.CopyInputs(p_, row);
      one.SaveStatistics();
      in.mean = in.layer_norm ? one.Input("mean", 0, 0) : 0.0;
      in.rstd = one.Input("rstd", 0, 0);
    } else {
      in.mean = in.layer_norm ? p_.Input("mean", row, 0) : 0.0;
      in.rstd = p_.Input("rstd", row, 0);
    }
    in.given = true;
    const BackwardRowResult& right = oracle_.Compute(in);
    const double bound = BackwardBound(p_.cols());
    for (size_t i = 0; i < cols_; ++i) Element(row, i, in.dy[i], right, bound);
  }

  void Element(int64_t row, size_t i, double dy, const BackwardRowResult& right, double bound) {
    const Exact& n = right.n[i];
    const double ulp = Ulp32(right.magnitude[i]);
    Interval ds = Rounded(Around(n, bound * ulp), p_.Dtype("x"));
    if (p_.Has("dx") && p_.Dtype("dx") == ADDNORM_F32 && !IsBackwardOfAddNorm(op_)) {
      const double got = p_.Get("dx", row, static_cast<int64_t>(i));
      if (std::isfinite(got)) e_.worst = std::max(e_.worst, AbsoluteError(got, n) / ulp);
    }
    if (IsBackwardOfAddNorm(op_)) {
      if (p_.Has("d_sum")) {
        const double d_sum = p_.Input("d_sum", row, static_cast<int64_t>(i));
        const auto add = [&](double v) {
          return static_cast<double>(FusedF32(1.0f, static_cast<float>(d_sum), static_cast<float>(v)));
        };
        ds = Rounded({add(ds.low), add(ds.high)}, p_.Dtype("x"));
      }
      AddGradient(row, i, ds);
    } else {
      CheckOutput("dx", row, i, ds);
      if (IsBackwardOfNormAdd(op_)) CheckOutput("d_residual", row, i, Times({dy, dy}, p_.options().residual_scale));
    }
    term_.Set(right.t[i].hi);
    term_.Add(term_, right.t[i].lo);
    mpfr_mul_d(term_, term_, dy, MPFR_RNDN);
    dgamma_[i]->total.Add(dgamma_[i]->total, term_);
    dgamma_[i]->magnitude += std::fabs(term_.Nearest());
    dbeta_[i]->total.Add(dbeta_[i]->total, dy);
    dbeta_[i]->magnitude += std::fabs(dy);
  }

  // Against the exact statistics, what the forward pass did to them included.
  void TrueGradients(int64_t row, const BackwardRow& in) {
    if (!p_.Has("dx") || IsBackwardOfAddNorm(op_)) return;
    const BackwardRowResult& right = oracle_.Compute(in);
    const double bound =
        in.layer_norm ? LayerNormBackwardBound(p_.cols(), right.mean_over_spread) : RmsNormBackwardBound(p_.cols());
    for (size_t i = 0; i < cols_; ++i) {
      const double ulp = Ulp32(right.magnitude[i]);
      const double got = p_.Get("dx", row, static_cast<int64_t>(i));
      Check("dx (exact statistics)", row, i, got, Rounded(Around(right.n[i], bound * ulp), p_.Dtype("dx")));
      if (p_.Dtype("dx") == ADDNORM_F32 && std::isfinite(got)) {
        e_.worst_true = std::max(e_.worst_true, AbsoluteError(got, right.n[i]) / ulp);
      }
    }
  }

  double Before(const char* operand, size_t i) const {
    return p_.options().accumulate ? p_.Input(operand, 0, static_cast<int64_t>(i)) : 0.0;
  }

  void SumOverRows(const char* operand, size_t i, const Sum& sum) {
    if (!p_.Has(operand)) return;
    const double old = Before(operand, i);
    total_.Add(sum.total, old);
    const Exact exact = Split(total_, &term_);
    const double allowed = RowSumBound(p_.rows()) * sum.magnitude;
    const double reach = allowed + 0x1.8p-53 * std::fabs(exact.hi);
    const double got = p_.Get(operand, 0, static_cast<int64_t>(i));
    const Interval right = Around(exact, reach);
    const addnorm_dtype dtype = p_.Dtype(operand);
    Check(operand, 0, i, got, {RoundF64To(right.low, dtype), RoundF64To(right.high, dtype)});
    if (dtype == ADDNORM_F64 && allowed > 0) {
      const double error = AbsoluteError(got, exact) - 0x1p-53 * std::fabs(exact.hi);
      e_.worst_sum = std::max(e_.worst_sum, error / allowed);
    }
  }

  void SumOfBias(size_t i) {
    if (!p_.Has("dbias")) return;
    if (!std::isfinite(dbias_[i].low) || !std::isfinite(dbias_[i].high)) return;  // a gradient may have overflowed
    const long double old = static_cast<long double>(Before("dbias", i));
    const long double reach = static_cast<long double>(RowSumBound(p_.rows())) * dbias_[i].magnitude +
                              0x1.8p-53L * std::max(std::fabs(dbias_[i].low + old), std::fabs(dbias_[i].high + old));
    const addnorm_dtype dtype = p_.Dtype("dbias");
    Check("dbias", 0, i, p_.Get("dbias", 0, static_cast<int64_t>(i)),
          {RoundF64To(static_cast<double>(dbias_[i].low + old - reach), dtype),
           RoundF64To(static_cast<double>(dbias_[i].high + old + reach), dtype)});
  }

  const BackwardProblem& p_;
  BackwardOracle& oracle_;
  const addnorm_op op_;
  const size_t cols_;
  BackwardEvaluation e_;
  MpfrNumber total_{kBits}, term_{kBits};
  std::vector<std::unique_ptr<Sum>> dgamma_, dbeta_;
  std::vector<BiasSum> dbias_;
};

}  // namespace

BackwardEvaluation Evaluate(const BackwardProblem& problem, BackwardOracle& oracle) {
  return Evaluator(problem, oracle).Run();
}

}  // namespace addnorm_test
