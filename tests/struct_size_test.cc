// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
// The rule by which callers that were compiled against another version are read: struct_size.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "support/contract.h"

namespace addnorm_test {
namespace {

class StructSizeTest : public ContractTest {};

INSTANTIATE_TEST_SUITE_P(Ops, StructSizeTest, testing::ValuesIn(EveryOp()), OpName);

TEST_P(StructSizeTest, SizeThatEndsBeforeTheOptionalPartIsRefused) {
  for (size_t size = 0; size < op().required_size; ++size) {
    ExpectRefused(ADDNORM_WRONG_STRUCT_SIZE, "struct_size", [=](Arena& arena) { arena.args().set_struct_size(size); });
  }
}

TEST_P(StructSizeTest, SizeThatIsNoMultipleOfEightIsRefused) {
  for (size_t size = op().required_size; size < op().size + 64; ++size) {
    if (size % 8 == 0) continue;
    ExpectRefused(ADDNORM_WRONG_STRUCT_SIZE, "struct_size", [=](Arena& arena) { arena.args().set_struct_size(size); });
  }
}

TEST_P(StructSizeTest, LargerStructIsAcceptedIfItsTailIsZero) {
  constexpr size_t kFew = 1024;
  for (size_t size = op().size; size <= Args::kMaxStructSize; size += size < kFew ? 8 : kFew) {
    ExpectAccepted([=](Arena& arena) { arena.args().set_struct_size(size); });
  }
}

TEST_P(StructSizeTest, LargerStructIsRefusedIfAnyByteOfItsTailIsNotZero) {
  for (size_t size = op().size + 8; size <= op().size + 40; size += 8) {
    for (size_t at = op().size; at < size; ++at) {
      ExpectRefused(ADDNORM_WRONG_STRUCT_SIZE, "struct_size", [=](Arena& arena) {
        arena.args().set_struct_size(size);
        arena.args().bytes()[at] = 1;
      });
    }
  }
}

TEST_P(StructSizeTest, BytesBeyondTheSizeAreNotLookedAt) {
  for (size_t size = op().size; size <= op().size + 40; size += 8) {
    ExpectAccepted([=](Arena& arena) {
      arena.args().set_struct_size(size);
      std::memset(arena.args().bytes() + size, 0xff, Args::kCapacity - size);
    });
  }
}

TEST_P(StructSizeTest, StructThatEndsBetweenOptionalFieldsGetsDefaultsForTheRest) {
  for (size_t size = op().required_size; size < op().size; size += 8) {
    // Not within an operand: half of one is no caller's.
    bool whole = true;
    for (const OperandField& field : op().operands) {
      whole &= size <= field.offset || size >= field.offset + sizeof(addnorm_output);
    }
    for (const OperandField& field : op().unused) {
      whole &= size <= field.offset || size >= field.offset + sizeof(addnorm_output);
    }
    if (!whole) continue;
    for (const addnorm_dtypes& dtypes : PromisedDtypes(op().op)) {
      if (dtypes.sum != dtypes.residual && op().Find("y") != nullptr) continue;  // sum_dtype is such a default
      Arena full(op(), dtypes, kRows, kCols), cut(op(), dtypes, kRows, kCols);
      // The whole struct, with the initial values from `size` on.
      for (Arena* arena : {&full, &cut}) {
        std::memcpy(arena->args().bytes() + size, op().initial.data() + size, op().size - size);
      }
      const Args given = cut.args();
      cut.args().set_struct_size(size);
      std::memset(cut.args().bytes() + size, 0xff, Args::kCapacity - size);
      const addnorm_status status = cut.args().Call();
      cut.args() = given;
      if (op().is_backward() && status != ADDNORM_OK) {  // without any output or the workspace, for example
        EXPECT_EQ(full.args().Call(), status) << Text(status) << " size " << size;
        continue;
      }
      ASSERT_EQ(status, ADDNORM_OK) << Text(status) << " size " << size;
      EXPECT_EQ(cut.CheckWritten(), "") << "size " << size;
      ASSERT_EQ(full.args().Call(), ADDNORM_OK);
      for (const OperandField& field : op().operands) {
        if (!field.written || field.offset >= size) continue;
        EXPECT_EQ(cut.Contents(field), full.Contents(field)) << field.name << " size " << size;
      }
    }
  }
}

}  // namespace
}  // namespace addnorm_test
