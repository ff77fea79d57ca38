// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// What the contract of training.h adds to that of addnorm.h: the workspace, statistics that belong together, sums that
// are added to, and calls without rows. contract_test.cc has the rest.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "addnorm/training.hpp"
#include "support/backward.h"
#include "support/contract.h"

namespace addnorm_test {
namespace {

class BackwardContractTest : public ContractTest {
 protected:
  bool IsSum(const OperandField& field) const { return field.written && field.shape == Shape::kVector; }
  size_t AccumulateOffset() const {
    return op().op == ADDNORM_OP_ADD_BACKWARD ? offsetof(addnorm_add_backward_args, accumulate)
                                              : offsetof(addnorm_norm_backward_args, accumulate);
  }
  // The workspace that the sums of this operation need.
  size_t Needed() const {
    int32_t sums = 0;
    for (const OperandField& field : op().operands) sums += IsSum(field);
    size_t bytes = 0;
    EXPECT_EQ(addnorm_backward_workspace(kRows, kCols, sums, &bytes), ADDNORM_OK);
    return bytes;
  }
};

std::vector<const OpFields*> EveryBackwardOp() {
  std::vector<const OpFields*> ops;
  for (const OpFields& op : BackwardOpFields()) ops.push_back(&op);
  return ops;
}

INSTANTIATE_TEST_SUITE_P(Ops, BackwardContractTest, testing::ValuesIn(EveryBackwardOp()), OpName);

TEST_P(BackwardContractTest, MissingWorkspaceIsRefused) {
  ExpectRefused(ADDNORM_NULL_POINTER, "workspace",
                [&](Arena& arena) { arena.args().set_workspace(nullptr, arena.args().workspace_size()); });
}

TEST_P(BackwardContractTest, SmallWorkspaceIsRefusedAndTheLeastAccepted) {
  for (const size_t bytes : std::vector<size_t>{0, 1, Needed() - 1}) {
    ExpectRefused(ADDNORM_SMALL_WORKSPACE, "workspace",
                  [&](Arena& arena) { arena.args().set_workspace(arena.args().workspace(), bytes); });
  }
  ExpectAccepted([&](Arena& arena) { arena.args().set_workspace(arena.args().workspace(), Needed()); });
}

TEST_P(BackwardContractTest, MisalignedWorkspaceIsRefused) {
  for (const size_t bytes : std::vector<size_t>{1, 4, 8, 32, 63}) {
    ExpectRefused(ADDNORM_UNALIGNED, "workspace", [&](Arena& arena) {
      Args& args = arena.args();
      args.set_workspace(static_cast<unsigned char*>(args.workspace()) + bytes, args.workspace_size());
    });
  }
}

TEST_P(BackwardContractTest, WorkspaceOverAnyOperandIsRefused) {
  for (const OperandField& field : op().operands) {
    for (const addnorm_dtypes& dtypes : PromisedDtypes(op().op)) {
      Arena arena(op(), dtypes, kRows, kCols, 3, 4096);
      Args& args = arena.args();
      // From well before the operand to just into it.
      const uintptr_t data = reinterpret_cast<uintptr_t>(args.Get(field).data);
      args.set_workspace(reinterpret_cast<void*>((data + 64 - Needed()) / 64 * 64), Needed());
      const addnorm_status status = args.Call();
      EXPECT_EQ(addnorm_status_kind(status), ADDNORM_FORBIDDEN_OVERLAP) << field.name << ": " << Text(status);
      EXPECT_TRUE(arena.Untouched());
    }
  }
}

TEST_P(BackwardContractTest, WorkspaceIsNotLookedAtWithoutSums) {
  for (const addnorm_dtypes& dtypes : PromisedDtypes(op().op)) {
    Arena arena(op(), dtypes, kRows, kCols);
    arena.args().set_workspace(nullptr, 0);
    for (const OperandField& field : op().operands) {
      if (IsSum(field)) arena.args().Set(field, {nullptr, 0, 0, 0});
    }
    ExpectAccepted(arena);
  }
}

TEST_P(BackwardContractTest, CallWithoutOutputsIsRefused) {
  ExpectRefused(ADDNORM_NULL_POINTER, "dx", [&](Arena& arena) {
    for (const OperandField& field : op().operands) {
      if (field.written) arena.args().Set(field, {nullptr, 0, 0, 0});
    }
  });
}

TEST_P(BackwardContractTest, EachOutputMayBeAlone) {
  for (const OperandField& only : op().operands) {
    if (!only.written) continue;
    ExpectAccepted([&](Arena& arena) {
      for (const OperandField& field : op().operands) {
        if (field.written && &field != &only) arena.args().Set(field, {nullptr, 0, 0, 0});
      }
    });
  }
}

TEST_P(BackwardContractTest, MeanAndRstdGoTogether) {
  const OperandField *mean = op().Find("mean"), *rstd = op().Find("rstd");
  if (mean == nullptr) return;
  ExpectRefused(ADDNORM_MISSING_STATISTIC, "mean", SetData(*mean, nullptr));
  ExpectRefused(ADDNORM_MISSING_STATISTIC, "rstd", SetData(*rstd, nullptr));
  ExpectAccepted([&](Arena& arena) {
    SetData(*mean, nullptr)(arena);
    SetData(*rstd, nullptr)(arena);
  });
}

TEST_P(BackwardContractTest, AccumulateIsZeroOrOne) {
  for (const int32_t value : {-1, 2, INT32_MAX, INT32_MIN}) {
    ExpectRefused(ADDNORM_BAD_NUMBER, "accumulate",
                  [&](Arena& arena) { arena.args().set_int(AccumulateOffset(), value); });
  }
}

TEST_P(BackwardContractTest, ReservedFieldOfTheStructIsRefused) {
  if (op().op == ADDNORM_OP_ADD_BACKWARD) return;
  ExpectRefused(ADDNORM_RESERVED_NOT_ZERO, "reserved",
                [](Arena& arena) { arena.args().set_int(offsetof(addnorm_norm_backward_args, reserved), 1); });
}

TEST_P(BackwardContractTest, SumsOverNoRowsAreZeroOrStay) {
  for (const addnorm_dtypes& dtypes : PromisedDtypes(op().op)) {
    for (const bool null_matrices : {false, true}) {
      for (const int32_t accumulate : {0, 1}) {
        Arena arena(op(), dtypes, kRows, kCols);
        Args& args = arena.args();
        args.set_rows(0);
        args.set_int(AccumulateOffset(), accumulate);
        args.set_workspace(nullptr, 0);
        for (const OperandField& field : op().operands) {
          if (null_matrices && !IsSum(field)) args.Set(field, {nullptr, 0, 0, 0});
          if (!IsSum(field)) continue;
          const addnorm_output sum = args.Get(field);
          StoreValue(sum.data, 0, sum.dtype, -0.0f);  // which an added zero would change
        }
        arena.Snapshot();
        EXPECT_EQ(args.Call(), ADDNORM_OK);
        EXPECT_EQ(arena.CheckOutside(), "");
        EXPECT_TRUE(accumulate == 0 || arena.Untouched());
        for (const OperandField& field : op().operands) {
          if (!IsSum(field) || accumulate == 1) continue;
          const addnorm_output sum = args.Get(field);
          for (int64_t col = 0; col < kCols; ++col) EXPECT_EQ(LoadValue(sum.data, col, sum.dtype), 0.0);
        }
      }
    }
  }
}

TEST(BackwardWorkspace, TellsTheBytesOrRefuses) {
  size_t bytes = 77;
  const auto kind = [&](int64_t rows, int64_t cols, int32_t sums) {
    return addnorm_status_kind(addnorm_backward_workspace(rows, cols, sums, &bytes));
  };
  EXPECT_EQ(kind(-1, 1, 1), ADDNORM_NEGATIVE_SIZE);
  EXPECT_EQ(kind(1, -1, 1), ADDNORM_NEGATIVE_SIZE);
  EXPECT_EQ(kind(1, ADDNORM_MAX_COLS + 1, 1), ADDNORM_SIZE_TOO_LARGE);
  EXPECT_EQ(kind(1, 1, -1), ADDNORM_OUT_OF_RANGE);
  EXPECT_EQ(kind(1, 1, 4), ADDNORM_OUT_OF_RANGE);
  EXPECT_EQ(addnorm_status_kind(addnorm_backward_workspace(1, 1, 1, nullptr)), ADDNORM_NULL_POINTER);
  EXPECT_EQ(bytes, 77u);
  for (const std::array<int64_t, 3>& none : {std::array<int64_t, 3>{0, 5, 3}, {5, 0, 3}, {5, 5, 0}}) {
    EXPECT_EQ(kind(none[0], none[1], static_cast<int32_t>(none[2])), ADDNORM_OK);
    EXPECT_EQ(bytes, 0u);
  }
  for (const int64_t rows : {int64_t{1}, int64_t{32}, int64_t{33}, int64_t{5000}, INT64_MAX / 4}) {
    ASSERT_EQ(kind(rows, 100, 3), ADDNORM_OK);
    EXPECT_LE(bytes, size_t{128 * 3 * 115 * 8}) << rows;
    EXPECT_GE(bytes, size_t{3 * 100 * 8}) << rows;
  }
}

// Each function of training.hpp is the C function of its name, with every option.
TEST(CppTraining, FunctionsAreTheCFunctions) {
  using namespace addnorm;
  constexpr int64_t kRows = 5, kCols = 20;
  BackwardOptions options;
  options.gamma = VectorType::kF32;
  options.gamma_offset = 0.5f;
  options.residual_scale = 2.0f;
  options.saved = ADDNORM_F64;
  options.accumulate = true;
  options.sums = ADDNORM_F64;
  for (const OpCase& op_case : AllBackwardCases()) {
    if (op_case.dtypes.vectors != ADDNORM_F32) continue;
    options.dropout = DropoutOptions();
    if (op_case.fields->drops_out()) options.dropout.probability = 0.3;
    BackwardProblem problem(op_case, options, kRows, kCols);
    problem.FillByKind(3);
    ASSERT_EQ(problem.Run(), ADDNORM_OK);
    const std::string wanted = problem.Outputs();
    problem.Reset();
    const Args args = problem.MakeArgs();
    const auto data = [&](const char* name) {
      const OperandField* field = op_case.fields->Find(name);
      return field != nullptr ? args.Get(*field).data : nullptr;
    };
    const auto matrix = [&](const char* name) { return Matrix(static_cast<float*>(data(name)), kRows, kCols); };
    const auto sum = [&](const char* name) { return ParameterGradient(static_cast<double*>(data(name)), kCols); };
    Gradients out;
    out.dx = matrix("dx");
    out.d_residual = matrix("d_residual");
    out.dgamma = sum("dgamma");
    out.dbeta = sum("dbeta");
    out.dbias = sum("dbias");
    out.accumulate = true;
    out.workspace = Workspace(args.workspace(), args.workspace_size());
    NormBackwardOptions norm;
    norm.gamma = Vector(static_cast<const float*>(data("gamma")), kCols);
    norm.gamma_offset = options.gamma_offset;
    norm.residual_scale = options.residual_scale;
    norm.mean = Column(static_cast<const double*>(data("mean")), kRows);
    norm.rstd = Column(static_cast<const double*>(data("rstd")), kRows);
    norm.d_sum = matrix("d_sum");
    AddBackwardOptions add;
    add.residual_scale = options.residual_scale;
    const Dropout dropout(options.dropout.probability, options.dropout.seed);
    if (op_case.fields->drops_out()) add.dropout = norm.dropout = dropout.get();
    using Function = Status (*)(const MatrixIn&, const MatrixIn&, const Gradients&, double, const NormBackwardOptions&);
    const Function functions[] = {LayerNormBackward,  RmsNormBackward,      AddLayerNormBackward,
                                  AddRmsNormBackward, LayerNormAddBackward, RmsNormAddBackward};
    const bool is_add = op_case.op() == ADDNORM_OP_ADD_BACKWARD;
    const auto call = [&] {
      if (is_add) return AddBackward(matrix("d_sum"), out, add);
      return functions[op_case.op() - ADDNORM_OP_LAYER_NORM_BACKWARD](matrix("dy"), matrix("x"), out, options.epsilon,
                                                                      norm);
    };
    const Status status = call();
    EXPECT_TRUE(status) << op_case.name << ": " << status.text();
    EXPECT_TRUE(problem.Outputs() == wanted) << op_case.name;
    out.dx = Matrix(static_cast<float*>(data("dx")), kRows, kCols - 1);
    EXPECT_EQ(call(), ADDNORM_SHAPE_MISMATCH) << op_case.name;
  }
}

}  // namespace
}  // namespace addnorm_test
