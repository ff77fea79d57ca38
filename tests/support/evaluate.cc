// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#include "support/evaluate.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "support/bounds.h"
#include "support/dtype.h"
#include "support/ulp.h"

namespace addnorm_test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::string Describe(const CallOutputs& p, Operand operand, int64_t row, int64_t col, double got, const Exact& exact,
                     double error) {
  char text[256];
  std::snprintf(text, sizeof(text), "%s [%s] %s[%lld][%lld] of %lld cols = %a, exact %a + %a, error %g", p.case_name,
                p.options_name, OperandName(operand), static_cast<long long>(row), static_cast<long long>(col),
                static_cast<long long>(p.cols), got, exact.hi, exact.lo, error);
  return text;
}

class Evaluator {
 public:
  Evaluator(const CallOutputs& written, Evaluation* result) : p_(written), e_(*result) {}

  void Row(int64_t row, const OracleResult& right) {
    row_ = row;
    if (p_.Has(kSumOut)) Sums(right);
    if (p_.Has(kY)) Ys(right);
    if (p_.Has(kMean)) Mean(right);
    if (p_.Has(kRstd)) Rstd(right);
    const double variance_bound = VarianceBound(p_.cols, right.mean_square.hi / right.variance.hi);
    if (p_.Has(kVariance)) {
      Relative(kVariance, right, right.variance, right.constant ? 0.0 : variance_bound, std::nan(""));
    }
    const double infinite = right.has_nan ? std::nan("") : kInfinity;
    const double square_bound = MeanSquareBound(p_.cols);
    if (p_.Has(kMeanSquare)) Relative(kMeanSquare, right, right.mean_square, square_bound, infinite);
    if (p_.Has(kRms)) Relative(kRms, right, right.rms, square_bound, infinite);
  }

 private:
  void Check(bool good, Operand operand, int64_t col, double got, const Exact& exact, double error) {
    ++e_.checks;
    if (good) return;
    if (++e_.failures == 1) e_.first_failure = Describe(p_, operand, row_, col, got, exact, error);
  }

  void Sums(const OracleResult& right) {
    for (int64_t col = 0; col < p_.cols; ++col) {
      const double got = p_.Get(kSumOut, row_, col);
      const double wanted = static_cast<double>(right.row[static_cast<size_t>(col)]);
      Check(BitsOf(got) == BitsOf(wanted) || (std::isnan(got) && std::isnan(wanted)), kSumOut, col, got, {wanted, 0.0},
            std::fabs(got - wanted));
    }
  }

  void Ys(const OracleResult& right) {
    double& worst = right.wide ? e_.worst_wide : e_.worst;
    for (int64_t col = 0; col < p_.cols; ++col) {
      const double got = p_.Get(kY, row_, col);
      const Expected& expected = right.y[static_cast<size_t>(col)];
      const double error = ErrorUlp(got, p_.at[kY].dtype, expected);
      Check(error <= right.bound, kY, col, got, expected.value, error);
      if (error > worst) {
        worst = error;
        if (!right.wide) e_.worst_row = row_;
      }
    }
  }

  // A statistic whose error before its last rounding is at most `allowed`.
  void Statistic(Operand operand, const Exact& exact, double allowed) {
    const double got = p_.Get(operand, row_, 0);
    const addnorm_dtype dtype = p_.at[operand].dtype;
    // One f64 rounding is part of computing in f64; what is exact (of constant rows) has none.
    const double reach = allowed > 0 ? allowed + std::fabs(exact.hi) * 0x1p-53 : 0.0;
    const double low = RoundF64To(exact.hi - reach, dtype), high = RoundF64To(exact.hi + reach, dtype);
    const double error = AbsoluteError(got, exact);
    Check(low <= got && got <= high, operand, 0, got, exact, error);
    if (dtype == ADDNORM_F64 && allowed > 0) {
      const double part = std::max(0.0, error - std::fabs(exact.hi) * 0x1p-53) / allowed;
      e_.worst_statistic = std::max(e_.worst_statistic, part);
    }
  }

  void NotFinite(Operand operand, double wanted) {
    const double got = p_.Get(operand, row_, 0);
    Check(std::isnan(wanted) ? std::isnan(got) : got == wanted, operand, 0, got, {wanted, 0.0}, 0.0);
  }

  void Relative(Operand operand, const OracleResult& right, const Exact& exact, double bound, double not_finite) {
    if (right.finite) {
      Statistic(operand, exact, exact.hi == 0.0 ? 0.0 : bound * exact.hi);
    } else {
      NotFinite(operand, not_finite);
    }
  }

  void Mean(const OracleResult& right) {
    if (right.finite) {
      Statistic(kMean, right.mean, right.constant ? 0.0 : MeanBound(p_.cols, right.mean_abs));
    } else if (IsReduction(p_.op)) {
      double sum = 0.0;
      for (const float v : right.row) sum += std::isfinite(v) ? 0.0 : static_cast<double>(v);
      NotFinite(kMean, sum);
    }
  }

  void Rstd(const OracleResult& right) {
    const bool layer_norm = IsLayerNorm(p_.op);
    if (!right.finite) {
      NotFinite(kRstd, right.has_nan || layer_norm ? std::nan("") : 0.0);
    } else if (right.zero_denominator) {
      NotFinite(kRstd, kInfinity);
    } else {
      const double relative = layer_norm ? kLayerNormRstdBound : RmsNormRstdBound(p_.cols);
      Statistic(kRstd, right.rstd, relative * right.rstd.hi);
    }
  }

  const CallOutputs& p_;
  Evaluation& e_;
  int64_t row_ = 0;
};

}  // namespace

void Evaluation::Merge(const Evaluation& other) {
  checks += other.checks;
  if (failures == 0) first_failure = other.first_failure;
  failures += other.failures;
  if (other.worst > worst) worst_row = other.worst_row;
  worst = std::max(worst, other.worst);
  worst_wide = std::max(worst_wide, other.worst_wide);
  worst_statistic = std::max(worst_statistic, other.worst_statistic);
}

CallOutputs::CallOutputs(const Args& args, const char* name_of_case, const char* name_of_options)
    : op(args.op().op), rows(args.rows()), cols(args.cols()), case_name(name_of_case), options_name(name_of_options) {
  for (const OperandField& field : args.op().operands) {
    if (field.written) at[OperandOf(field)] = args.Get(field);
  }
}

void EvaluateRow(const CallOutputs& written, int64_t row, const OracleResult& right, Evaluation* result) {
  Evaluator(written, result).Row(row, right);
}

Evaluation Evaluate(const Problem& problem, Oracle& oracle) {
  Evaluation result;
  const CallOutputs written(problem.MakeArgs(), problem.op_case().name.c_str(), problem.options().name.c_str());
  for (int64_t row = 0; row < problem.rows(); ++row) {
    EvaluateRow(written, row, oracle.Compute(problem.ForOracle(row)), &result);
  }
  return result;
}

}  // namespace addnorm_test
