// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// What training.h says of an addnorm_dropout that is wrong: refused with a text that names what is, and nothing
// written.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "addnorm/training.h"
#include "support/contract.h"

namespace addnorm_test {
namespace {

class DropoutContractTest : public ContractTest {
 protected:
  static constexpr int64_t kBytes = (kCols + 7) / 8;

  DropoutContractTest() {
    dropout_.probability = 0.5;
    dropout_.seed = 1;
  }

  using DropoutChange = std::function<void(Arena&, addnorm_dropout&)>;

  // `change` may place masks in the arena's spare memory.
  void ExpectDropoutRefused(addnorm_status kind, const std::string& subject, const DropoutChange& change) {
    ExpectRefused(kind, subject, [&](Arena& arena) {
      dropout_in_call_ = dropout_;
      change(arena, dropout_in_call_);
      arena.args().set_dropout(&dropout_in_call_);
    });
  }
  void ExpectDropoutAccepted(const DropoutChange& change) {
    for (const addnorm_dtypes& dtypes : PromisedDtypes(op().op)) {
      Arena arena(op(), dtypes, kRows, kCols);
      dropout_in_call_ = dropout_;
      change(arena, dropout_in_call_);
      arena.args().set_dropout(&dropout_in_call_);
      const addnorm_status status = arena.args().Call();
      EXPECT_EQ(status, ADDNORM_OK) << Text(status) << "\n" << Describe(arena.args());
    }
  }
  bool IsBackward() const { return op().is_backward(); }
  static uint8_t* Bytes(void* data) { return static_cast<uint8_t*>(data); }

  addnorm_dropout dropout_ = ADDNORM_DROPOUT_INIT, dropout_in_call_ = ADDNORM_DROPOUT_INIT;
};

std::vector<const OpFields*> OpsThatDropOut(bool drop_out) {
  std::vector<const OpFields*> ops;
  for (const OpFields* op : EveryOp()) {
    if (op->dropout != 0 && op->drops_out() == drop_out) ops.push_back(op);
  }
  return ops;
}

INSTANTIATE_TEST_SUITE_P(Ops, DropoutContractTest, testing::ValuesIn(OpsThatDropOut(true)), OpName);

TEST_P(DropoutContractTest, ProbabilityBeyondZeroToOneIsRefused) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const double p : {-1.0, -0x1p-1074, 1 + 0x1p-52, 2.0, kInfinity, -kInfinity, std::nan(""), -std::nan("")}) {
    ExpectDropoutRefused(ADDNORM_BAD_NUMBER, "probability", [=](Arena&, addnorm_dropout& d) { d.probability = p; });
  }
  ExpectDropoutRefused(ADDNORM_BAD_NUMBER, "probability", [](Arena&, addnorm_dropout& d) { d = ADDNORM_DROPOUT_INIT; });
  for (const double p : {-0.0, 0x1p-1074, 1 - 0x1p-53, 1.0}) {
    ExpectDropoutAccepted([=](Arena&, addnorm_dropout& d) { d.probability = p; });
  }
}

TEST_P(DropoutContractTest, StructSizeFollowsTheRule) {
  constexpr size_t kRequired = offsetof(addnorm_dropout, first_row);
  for (const size_t size : {size_t{0}, kRequired - 8, kRequired + 1, sizeof(addnorm_dropout) + 4, size_t{4104}}) {
    ExpectDropoutRefused(ADDNORM_WRONG_STRUCT_SIZE, "dropout",
                         [=](Arena&, addnorm_dropout& d) { d.struct_size = size; });
  }
  // What lies beyond the size is not looked at.
  ExpectDropoutAccepted([](Arena&, addnorm_dropout& d) {
    std::memset(&d.first_row, 0xff, sizeof(d) - kRequired);
    d.struct_size = kRequired;
  });
  struct Larger {
    addnorm_dropout dropout;
    uint64_t more;
  } larger = {dropout_, 0};
  larger.dropout.struct_size = sizeof(larger);
  const auto give = [&](Arena& arena) { arena.args().set_dropout(&larger.dropout); };
  ExpectAccepted(give);
  larger.more = 1;
  ExpectRefused(ADDNORM_WRONG_STRUCT_SIZE, "dropout", give);
}

TEST_P(DropoutContractTest, MaskOutIsOfTheForwardCallsAlone) {
  const DropoutChange give = [](Arena& arena, addnorm_dropout& d) {
    d.mask_out = Bytes(arena.Spare());
    d.mask_out_row_stride = kBytes;
  };
  if (IsBackward()) {
    ExpectDropoutRefused(ADDNORM_UNUSED_OPERAND, "mask_out", give);
  } else {
    ExpectDropoutAccepted(give);
  }
}

// Calls f with how to give each mask that the operation may have, and its name.
template <class Function>
void ForEachMask(bool backward, const Function& f) {
  f("mask", [](addnorm_dropout& d, uint8_t* data, int64_t stride) {
    d.mask = data;
    d.mask_row_stride = stride;
  });
  if (backward) return;
  f("mask_out", [](addnorm_dropout& d, uint8_t* data, int64_t stride) {
    d.mask_out = data;
    d.mask_out_row_stride = stride;
  });
}

TEST_P(DropoutContractTest, StrideOfAMaskIsChecked) {
  ForEachMask(IsBackward(), [&](const char* name, const auto& give) {
    for (const int64_t stride : {int64_t{-1}, int64_t{0}, kBytes - 1, std::numeric_limits<int64_t>::min()}) {
      ExpectDropoutRefused(ADDNORM_STRIDE_TOO_SMALL, name,
                           [&](Arena& arena, addnorm_dropout& d) { give(d, Bytes(arena.Spare()), stride); });
      ExpectDropoutAccepted([&](Arena& arena, addnorm_dropout& d) {  // of one row it is not looked at
        arena.args().set_rows(1);
        give(d, Bytes(arena.Spare()), stride);
      });
    }
    for (const int64_t stride : {std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::max() / 16}) {
      ExpectDropoutRefused(ADDNORM_SIZE_TOO_LARGE, name,
                           [&](Arena& arena, addnorm_dropout& d) { give(d, Bytes(arena.Spare()), stride); });
    }
    ExpectDropoutRefused(ADDNORM_SIZE_TOO_LARGE, name, [&](Arena&, addnorm_dropout& d) {
      give(d, reinterpret_cast<uint8_t*>(std::numeric_limits<uintptr_t>::max() - 1), kBytes);
    });
  });
}

TEST_P(DropoutContractTest, MaskOutOverlapsNothing) {
  if (IsBackward()) return;
  for (const OperandField& field : op().operands) {
    ExpectDropoutRefused(ADDNORM_FORBIDDEN_OVERLAP, "mask_out", [&](Arena& arena, addnorm_dropout& d) {
      d.mask_out = Bytes(arena.args().Get(field).data);
      d.mask_out_row_stride = kBytes;
    });
    // Its last byte on the first one of the operand, and beside it.
    ExpectDropoutRefused(ADDNORM_FORBIDDEN_OVERLAP, "mask_out", [&](Arena& arena, addnorm_dropout& d) {
      d.mask_out = Bytes(arena.args().Get(field).data) - 3 * kBytes + 1;
      d.mask_out_row_stride = kBytes;
    });
    ExpectDropoutAccepted([&](Arena& arena, addnorm_dropout& d) {
      d.mask_out = Bytes(arena.args().Get(field).data) - 3 * kBytes;
      d.mask_out_row_stride = kBytes;
    });
  }
  ExpectDropoutRefused(ADDNORM_FORBIDDEN_OVERLAP, "mask_out", [](Arena& arena, addnorm_dropout& d) {
    d.mask = d.mask_out = Bytes(arena.Spare());
    d.mask_row_stride = d.mask_out_row_stride = kBytes;
  });
}

TEST_P(DropoutContractTest, MaskOverlapsNoOutput) {
  for (const OperandField& field : op().operands) {
    const DropoutChange place = [&](Arena& arena, addnorm_dropout& d) {
      d.mask = Bytes(arena.args().Get(field).data);
      d.mask_row_stride = kBytes;
    };
    if (field.written) {
      ExpectDropoutRefused(ADDNORM_FORBIDDEN_OVERLAP, "mask", place);
    } else {
      ExpectDropoutAccepted(place);
    }
  }
  if (op().workspace == 0) return;
  ExpectDropoutRefused(ADDNORM_FORBIDDEN_OVERLAP, "mask", [&](Arena& arena, addnorm_dropout& d) {
    d.mask = Bytes(arena.args().workspace());
    d.mask_row_stride = kBytes;
  });
}

TEST_P(DropoutContractTest, AnEmptyCallLooksAtNoMask) {
  for (const bool no_rows : {true, false}) {
    for (const addnorm_dtypes& dtypes : PromisedDtypes(op().op)) {
      Arena arena(op(), dtypes, kRows, kCols);
      no_rows ? arena.args().set_rows(0) : arena.args().set_cols(0);
      addnorm_dropout d = dropout_;
      d.mask = reinterpret_cast<const uint8_t*>(8);
      arena.args().set_dropout(&d);
      EXPECT_EQ(arena.args().Call(), ADDNORM_OK);
      d.probability = 2.0;
      EXPECT_EQ(addnorm_status_kind(arena.args().Call()), ADDNORM_BAD_NUMBER);
    }
  }
}

class NoDropoutContractTest : public ContractTest {};

INSTANTIATE_TEST_SUITE_P(Ops, NoDropoutContractTest, testing::ValuesIn(OpsThatDropOut(false)), OpName);

TEST_P(NoDropoutContractTest, DropoutIsRefused) {
  addnorm_dropout dropout = ADDNORM_DROPOUT_INIT;
  dropout.probability = 0.5;
  ExpectRefused(ADDNORM_UNUSED_OPERAND, "dropout", [&](Arena& arena) { arena.args().set_dropout(&dropout); });
}

}  // namespace
}  // namespace addnorm_test
