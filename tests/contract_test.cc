// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
// Every precondition of addnorm.h, broken alone, for every operation, operand and promised combination of dtypes: the
// status names the fault and the operand, and nothing was written.
#include "support/contract.h"

#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace addnorm_test {
namespace {

constexpr int64_t kMaxInt64 = std::numeric_limits<int64_t>::max();
constexpr int64_t kMinInt64 = std::numeric_limits<int64_t>::min();

INSTANTIATE_TEST_SUITE_P(Ops, ContractTest, testing::ValuesIn(EveryOp()), OpName);

TEST(ContractTable, HasEveryOperationInOrder) {
  ASSERT_EQ(AllOpFields().size(), static_cast<size_t>(ADDNORM_OP_ADD_BACKWARD));
  ASSERT_EQ(EveryOp().size(), static_cast<size_t>(ADDNORM_OP_COUNT));
  for (size_t i = 0; i < EveryOp().size(); ++i) {
    EXPECT_EQ(EveryOp()[i]->op, static_cast<addnorm_op>(i));
    EXPECT_FALSE(PromisedDtypes(EveryOp()[i]->op).empty());
  }
}

TEST_P(ContractTest, ValidCallWritesItsOutputsAndNothingElse) {
  ExpectAccepted([](Arena&) {});
}

TEST_P(ContractTest, NullArgumentsAreRefused) {
  const addnorm_status status = op().call(nullptr);
  EXPECT_EQ(addnorm_status_kind(status), ADDNORM_NULL_POINTER) << Text(status);
}

TEST_P(ContractTest, NullRequiredOperandIsRefused) {
  for (const OperandField& field : op().operands) {
    if (field.required) ExpectRefused(ADDNORM_NULL_POINTER, field.name, SetData(field, nullptr));
  }
}

TEST_P(ContractTest, OptionalOperandMayBeAbsentWhateverItsOtherFieldsSay) {
  const auto mean_and_rstd = [&](const OperandField& field) {  // of which one needs the other
    return op().is_backward() && field.shape == Shape::kColumn && op().Find("mean") != nullptr;
  };
  for (const OperandField& field : op().operands) {
    if (field.required || mean_and_rstd(field)) continue;
    ExpectAccepted(SetData(field, nullptr));
    ExpectAccepted([&](Arena& arena) { arena.args().Set(field, {nullptr, -7, 99, 0}); });
    ExpectAccepted([&](Arena& arena) { arena.args().Set(field, {nullptr, 0, 0, 0}); });
  }
  ExpectAccepted([&](Arena& arena) {
    for (const OperandField& field : op().operands) {
      if (op().is_backward() && field.written) continue;  // one of them has to be there
      if (!field.required) arena.args().Set(field, {nullptr, 0, 0, 0});
    }
  });
}

TEST_P(ContractTest, NegativeSizeIsRefused) {
  for (int64_t size : {int64_t{-1}, kMinInt64}) {
    ExpectRefused(ADDNORM_NEGATIVE_SIZE, "rows", [=](Arena& arena) { arena.args().set_rows(size); });
    ExpectRefused(ADDNORM_NEGATIVE_SIZE, "cols", [=](Arena& arena) { arena.args().set_cols(size); });
  }
}

TEST_P(ContractTest, NegativeSizeIsRefusedThoughTheOtherSizeIsZero) {
  ExpectRefused(ADDNORM_NEGATIVE_SIZE, "cols", [](Arena& arena) {
    arena.args().set_rows(0);
    arena.args().set_cols(-1);
  });
  ExpectRefused(ADDNORM_NEGATIVE_SIZE, "rows", [](Arena& arena) {
    arena.args().set_rows(-1);
    arena.args().set_cols(0);
  });
}

TEST_P(ContractTest, RowLongerThanTheLimitIsRefused) {
  for (int64_t cols : {ADDNORM_MAX_COLS + 1, kMaxInt64}) {
    ExpectRefused(ADDNORM_SIZE_TOO_LARGE, "cols", [=](Arena& arena) {
      arena.args().set_rows(1);
      arena.args().set_cols(cols);
    });
  }
}

TEST_P(ContractTest, OverflowingExtentIsRefused) {
  for (const OperandField& field : op().operands) {
    if (field.shape == Shape::kVector) continue;
    for (int64_t stride : {kMaxInt64, kMaxInt64 / 2, kMaxInt64 / 4 + 1, kMaxInt64 - kCols}) {
      ExpectRefused(ADDNORM_SIZE_TOO_LARGE, field.name, SetStride(field, stride));
    }
  }
  // Whichever operand is found first.
  for (int64_t rows : {kMaxInt64, kMaxInt64 / 2, kMaxInt64 / 32}) {
    for (const addnorm_dtypes& dtypes : PromisedDtypes(op().op)) {
      Arena arena(op(), dtypes, kRows, kCols);
      arena.args().set_rows(rows);
      EXPECT_EQ(addnorm_status_kind(arena.args().Call()), ADDNORM_SIZE_TOO_LARGE);
      EXPECT_TRUE(arena.Untouched());
    }
  }
}

TEST_P(ContractTest, StrideSmallerThanTheRowIsRefused) {
  for (const OperandField& field : op().operands) {
    std::vector<int64_t> strides = {-1, kMinInt64, -kCols};
    if (field.shape == Shape::kMatrix) strides.insert(strides.end(), {0, 1, kCols - 1});
    if (field.shape == Shape::kColumn) strides.push_back(0);
    if (field.shape == Shape::kVector) strides.insert(strides.end(), {1, kCols, kCols + 1});
    for (int64_t stride : strides) {
      for (int64_t rows : {int64_t{2}, kRows}) {
        ExpectRefused(ADDNORM_STRIDE_TOO_SMALL, field.name, [&](Arena& arena) {
          arena.args().set_rows(rows);
          SetStride(field, stride)(arena);
        });
      }
    }
  }
}

TEST_P(ContractTest, StridesAreNotLookedAtForOneRow) {
  for (int64_t stride : {int64_t{-1}, int64_t{0}, int64_t{1}, kMinInt64, kMaxInt64}) {
    ExpectAccepted([&](Arena& arena) {
      arena.args().set_rows(1);
      for (const OperandField& field : op().operands) SetStride(field, stride)(arena);
    });
  }
}

TEST_P(ContractTest, PackedRowsAreAccepted) {
  for (const addnorm_dtypes& dtypes : PromisedDtypes(op().op)) {
    Arena arena(op(), dtypes, kRows, kCols, 0);
    ExpectAccepted(arena);
  }
}

TEST_P(ContractTest, UnalignedPointerIsRefused) {
  for (const OperandField& field : op().operands) {
    for (const addnorm_dtypes& dtypes : PromisedDtypes(op().op)) {
      const size_t size = DtypeSize(DtypeOfOperand(field, dtypes));
      for (size_t bytes = 1; bytes < size; ++bytes) {
        Arena arena(op(), dtypes, kRows, kCols);
        Edit(arena, field, [=](addnorm_output& o) { o.data = static_cast<unsigned char*>(o.data) + bytes; });
        ExpectRefused(arena, ADDNORM_UNALIGNED, field.name);
      }
    }
  }
}

TEST_P(ContractTest, UnknownDtypeIsRefused) {
  for (const OperandField& field : op().operands) {
    std::vector<addnorm_dtype> unknown = {
        0, -1, 5, 99, std::numeric_limits<addnorm_dtype>::min(), std::numeric_limits<addnorm_dtype>::max()};
    if (field.shape == Shape::kColumn || (field.shape == Shape::kVector && field.written)) {
      unknown.insert(unknown.end(), {ADDNORM_F16, ADDNORM_BF16});
    } else {
      unknown.push_back(ADDNORM_F64);
    }
    for (addnorm_dtype dtype : unknown) ExpectRefused(ADDNORM_UNKNOWN_DTYPE, field.name, SetDtype(field, dtype));
  }
}

TEST_P(ContractTest, UnknownDtypeOptionIsRefused) {
  for (const DtypeField& field : op().dtypes) {
    for (addnorm_dtype dtype : std::vector<addnorm_dtype>{ADDNORM_F64, -1, 5, 99}) {
      ExpectRefused(ADDNORM_UNKNOWN_DTYPE, field.name, [&](Arena& arena) { arena.args().Set(field, dtype); });
    }
  }
}

TEST_P(ContractTest, EveryDtypeOptionIsAccepted) {
  for (const DtypeField& field : op().dtypes) {
    if (std::string(field.name) == "sum_dtype") continue;  // part of the promised combinations
    for (addnorm_dtype dtype : std::vector<addnorm_dtype>{0, ADDNORM_F32, ADDNORM_F16, ADDNORM_BF16}) {
      ExpectAccepted([&](Arena& arena) { arena.args().Set(field, dtype); });
    }
  }
}

TEST_P(ContractTest, SumDtypeDefaultsToThatOfTheResidual) {
  for (const DtypeField& field : op().dtypes) {
    if (std::string(field.name) != "sum_dtype") continue;
    for (const addnorm_dtypes& dtypes : PromisedDtypes(op().op)) {
      Arena arena(op(), dtypes, kRows, kCols);
      arena.args().Set(field, 0);
      if (dtypes.sum == dtypes.residual) {
        ExpectAccepted(arena);
      } else {
        ExpectRefused(arena, ADDNORM_UNPROMISED_DTYPES, "sum_out");
      }
    }
  }
}

// A combination of matrix dtypes, absent ones 0.
using Combination = std::tuple<addnorm_dtype, addnorm_dtype, addnorm_dtype, addnorm_dtype>;

TEST_P(ContractTest, UnpromisedCombinationIsRefusedAndEveryOtherAccepted) {
  std::set<Combination> promised;
  for (const addnorm_dtypes& d : PromisedDtypes(op().op)) promised.emplace(d.x, d.residual, d.sum, d.y);
  const addnorm_dtypes first = PromisedDtypes(op().op).front();
  const std::vector<addnorm_dtype> storage = {ADDNORM_F32, ADDNORM_F16, ADDNORM_BF16}, none = {0};
  size_t accepted = 0;
  for (addnorm_dtype x : first.x != 0 ? storage : none) {
    for (addnorm_dtype residual : first.residual != 0 ? storage : none) {
      for (addnorm_dtype sum : first.sum != 0 ? storage : none) {
        for (addnorm_dtype y : first.y != 0 ? storage : none) {
          Arena arena(op(), {x, residual, sum, y, ADDNORM_F32}, kRows, kCols);
          const addnorm_status status = arena.args().Call();
          if (promised.count({x, residual, sum, y}) != 0) {
            ++accepted;
            EXPECT_EQ(status, ADDNORM_OK) << Text(status) << "\n" << Describe(arena.args());
          } else {
            EXPECT_EQ(addnorm_status_kind(status), ADDNORM_UNPROMISED_DTYPES) << Describe(arena.args());
            EXPECT_TRUE(arena.Untouched());
          }
        }
      }
    }
  }
  EXPECT_EQ(accepted, promised.size());
}

TEST_P(ContractTest, VectorsAreF32OrTheSixteenBitTypeOfTheCombination) {
  for (const OperandField& field : op().operands) {
    if (field.shape != Shape::kVector || field.written) continue;
    for (const addnorm_dtypes& dtypes : PromisedDtypes(op().op)) {
      for (addnorm_dtype dtype : {ADDNORM_F32, ADDNORM_F16, ADDNORM_BF16}) {
        Arena arena(op(), dtypes, kRows, kCols);
        SetDtype(field, dtype)(arena);
        if (dtype == ADDNORM_F32 || dtype == dtypes.vectors) {
          // Memory may be read as another type here, so a NaN may be written: only that it is accepted counts.
          arena.Snapshot();
          SetData(field, arena.Spare())(arena);
          ExpectAccepted(arena);
        } else {
          ExpectRefused(arena, ADDNORM_UNPROMISED_DTYPES, field.name);
        }
      }
    }
  }
}

TEST_P(ContractTest, BadNumberIsRefused) {
  for (const NumberField& field : op().numbers) {
    for (double value : field.refused) {
      ExpectRefused(ADDNORM_BAD_NUMBER, field.name, [&](Arena& arena) { arena.args().Set(field, value); });
    }
  }
}

TEST_P(ContractTest, UnusualNumberIsAccepted) {
  for (const NumberField& field : op().numbers) {
    for (double value : field.accepted) {
      ExpectAccepted([&](Arena& arena) { arena.args().Set(field, value); });
    }
  }
}

TEST_P(ContractTest, ReservedFieldThatIsNotZeroIsRefused) {
  for (const OperandField& field : op().operands) {
    for (int32_t reserved : {1, -1, std::numeric_limits<int32_t>::min()}) {
      ExpectRefused(ADDNORM_RESERVED_NOT_ZERO, field.name, [&](Arena& arena) {
        Edit(arena, field, [=](addnorm_output& operand) { operand.reserved = reserved; });
      });
    }
  }
}

TEST(AddContract, ReservedFieldOfTheStructIsRefused) {
  addnorm_add_args args = ADDNORM_ADD_ARGS_INIT;
  args.reserved = 1;
  EXPECT_EQ(addnorm_status_kind(addnorm_add(&args)), ADDNORM_RESERVED_NOT_ZERO);
}

TEST_P(ContractTest, OperandThatTheOperationDoesNotHaveIsRefused) {
  for (const OperandField& field : op().unused) {
    ExpectRefused(ADDNORM_UNUSED_OPERAND, field.name,
                  [&](Arena& arena) { arena.args().Set(field, {arena.Spare(), 1, ADDNORM_F32, 0}); });
  }
}

TEST_P(ContractTest, NoRowsAndNoColumnsDoNothing) {
  for (int64_t rows : {int64_t{0}, kRows}) {
    for (int64_t cols : {int64_t{0}, kCols}) {
      if (rows != 0 && cols != 0) continue;
      for (bool null : {false, true}) {
        if (op().is_backward() && cols != 0 && !null) continue;  // sums over no rows are 0
        for (const addnorm_dtypes& dtypes : PromisedDtypes(op().op)) {
          Arena arena(op(), dtypes, kRows, kCols);
          arena.args().set_rows(rows);
          arena.args().set_cols(cols);
          for (const OperandField& field : op().operands) {
            if (null) arena.args().Set(field, {nullptr, -7, 99, 0});  // nothing of it is looked at
          }
          if (op().is_reduction() && cols == 0) {
            const addnorm_status status = arena.args().Call();
            EXPECT_EQ(addnorm_status_kind(status), ADDNORM_EMPTY_REDUCTION) << Text(status);
          } else {
            const addnorm_status status = arena.args().Call();
            EXPECT_EQ(status, ADDNORM_OK) << Text(status) << " rows " << rows << " cols " << cols;
          }
          EXPECT_TRUE(arena.Untouched());
        }
      }
    }
  }
}

}  // namespace
}  // namespace addnorm_test
