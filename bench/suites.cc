// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#include "suites.h"

namespace addnorm_bench {
namespace {

using addnorm_test::DataKind;
using addnorm_test::OpCase;

// From one token of a large model, in the first-level cache, to matrices beyond all caches of a core; models with short
// rows (128 and 64 are heads of QK norm).
constexpr MatrixShape kTableShapes[] = {{1, 4096},   {32, 4096},  {128, 768}, {197, 1024},
                                        {512, 4096}, {4096, 128}, {1024, 64}};
constexpr MatrixShape kPrefillShapes[] = {{128, 4096}, {512, 4096}, {2048, 4096}, {4096, 8192}, {8192, 8192}};
constexpr MatrixShape kHardShapes[] = {{32, 4096}, {197, 1024}, {1024, 64}};
constexpr MatrixShape kDropoutShapes[] = {{32, 4096}, {197, 1024}, {512, 4096}, {4096, 4096}};
constexpr MatrixShape kThreadShapes[] = {{2, 4096}, {32, 4096}, {197, 1024}, {512, 4096}, {4096, 128}};

const OpCase& F32Case(addnorm_op op) { return UniformOpCase(op, ADDNORM_F32); }

constexpr addnorm_op kNorms[] = {ADDNORM_OP_LAYER_NORM, ADDNORM_OP_RMS_NORM, ADDNORM_OP_ADD_LAYER_NORM,
                                 ADDNORM_OP_ADD_RMS_NORM};

std::vector<const OpCase*> NormsInF32AndBf16() {
  std::vector<const OpCase*> cases;
  for (const addnorm_dtype dtype : {ADDNORM_F32, ADDNORM_BF16}) {
    for (const addnorm_op op : kNorms) cases.push_back(&UniformOpCase(op, dtype));
  }
  return cases;
}

std::vector<BenchCase> OverTableShapes(const std::vector<const OpCase*>& op_cases) {
  std::vector<BenchCase> cases;
  for (const OpCase* op_case : op_cases) {
    for (const MatrixShape& shape : kTableShapes) cases.push_back(MakeCase(*op_case, shape));
  }
  return cases;
}

std::vector<BenchCase> All() {
  std::vector<const OpCase*> op_cases;
  for (const OpCase& op_case : addnorm_test::AllOpCases()) op_cases.push_back(&op_case);
  for (const OpCase& op_case : addnorm_test::AllBackwardCases()) op_cases.push_back(&op_case);
  return OverTableShapes(op_cases);
}

std::vector<BenchCase> Table() {
  std::vector<const OpCase*> op_cases;
  for (addnorm_op op = ADDNORM_OP_ADD; op < ADDNORM_OP_ADD_BACKWARD; ++op) op_cases.push_back(&F32Case(op));
  return OverTableShapes(op_cases);
}

std::vector<BenchCase> Backward() {
  std::vector<const OpCase*> op_cases;
  for (const addnorm_test::OpFields& fields : addnorm_test::BackwardOpFields()) op_cases.push_back(&F32Case(fields.op));
  for (const addnorm_op op : {ADDNORM_OP_LAYER_NORM_BACKWARD, ADDNORM_OP_ADD_RMS_NORM_BACKWARD}) {
    op_cases.push_back(&UniformOpCase(op, ADDNORM_BF16));
  }
  return OverTableShapes(op_cases);
}

std::vector<BenchCase> Decode() {
  std::vector<BenchCase> cases;
  for (const OpCase* op_case : NormsInF32AndBf16()) {
    cases.push_back(MakeCase(*op_case, {1, 16}));  // what a call costs
    for (int64_t cols = 64; cols <= 16384; cols *= 2) cases.push_back(MakeCase(*op_case, {1, cols}));
  }
  return cases;
}

std::vector<BenchCase> Prefill() {
  std::vector<BenchCase> cases;
  for (const OpCase* op_case : NormsInF32AndBf16()) {
    for (const MatrixShape& shape : kPrefillShapes) cases.push_back(MakeCase(*op_case, shape));
  }
  return cases;
}

// From a row in the first-level cache to far beyond the last one, two steps for each doubling.
std::vector<BenchCase> Sizes() {
  constexpr int64_t kCols = 1024, kMaxRows = 16384;
  std::vector<BenchCase> cases;
  for (const addnorm_op op : kNorms) {
    for (int64_t rows = 1; rows <= kMaxRows; rows *= 2) {
      cases.push_back(MakeCase(F32Case(op), {rows, kCols}));
      if (rows > 1 && rows < kMaxRows) cases.push_back(MakeCase(F32Case(op), {rows + rows / 2, kCols}));
    }
  }
  return cases;
}

std::vector<BenchCase> Hard() {
  struct Kind {
    DataKind data;
    double epsilon;
  };
  // The second pass of LayerNorm; squares beyond f32, both ways; the wide path, which epsilon would hide; subnormals.
  constexpr Kind kKinds[] = {{DataKind::kMeanFar, 1e-5}, {DataKind::kHuge, 1e-5},      {DataKind::kNearMax, 1e-5},
                             {DataKind::kTiny, 1e-5},    {DataKind::kSubnormal, 1e-5}, {DataKind::kSubnormal, 0.0}};
  std::vector<BenchCase> cases;
  for (const addnorm_op op : kNorms) {
    for (const MatrixShape& shape : kHardShapes) {
      for (const Kind& kind : kKinds) {
        BenchCase hard = MakeCase(F32Case(op), shape);
        hard.data = kind.data;
        hard.options.epsilon = kind.epsilon;
        cases.push_back(hard);
      }
    }
  }
  return cases;
}

std::vector<BenchCase> Threads() {
  std::vector<BenchCase> cases;
  for (const addnorm_op op : kNorms) {
    for (const MatrixShape& shape : kThreadShapes) {
      for (const int threads : {1, 2}) {
        BenchCase split = MakeCase(F32Case(op), shape);
        split.threads = threads;
        cases.push_back(split);
      }
    }
  }
  return cases;
}

// Next to the same without.
std::vector<BenchCase> Dropout() {
  std::vector<BenchCase> cases;
  for (const addnorm_dtype dtype : {ADDNORM_F32, ADDNORM_BF16}) {
    for (const addnorm_op op : {ADDNORM_OP_ADD, ADDNORM_OP_ADD_LAYER_NORM, ADDNORM_OP_ADD_RMS_NORM}) {
      for (const MatrixShape& shape : kDropoutShapes) {
        cases.push_back(MakeCase(UniformOpCase(op, dtype), shape));
        cases.back().options.dropout.probability = 0.1;
      }
    }
  }
  return cases;
}

}  // namespace

const std::vector<Suite>& AllSuites() {
  static const std::vector<Suite> suites = {
      {"all", "every operation and combination of dtypes, over the shapes of the table", All},
      {"table", "every operation that writes a matrix, f32, over the shapes of the table", Table},
      {"backward", "every gradient, f32, and two in bf16, over the shapes of the table", Backward},
      {"decode", "one row of 16, 64 ... 16384 columns", Decode},
      {"prefill", "matrices of 128x4096 ... 8192x8192", Prefill},
      {"models", "the norms of well-known models, one token and many", ModelCases},
      {"sizes", "working sets from the first-level cache to beyond the last", Sizes},
      {"hard", "rows off the plain path, next to plain rows", Hard},
      {"threads", "rows split between one and two threads", Threads},
      {"dropout", "dropout before the add, next to the same without", Dropout}};
  return suites;
}

const Suite* FindSuite(const std::string& name) {
  for (const Suite& suite : AllSuites()) {
    if (name == suite.name) return &suite;
  }
  return nullptr;
}

}  // namespace addnorm_bench
