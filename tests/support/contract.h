// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
// What tests of the contract share: calls of every operation in all its promised dtypes, each changed in one way, that
// have to be refused or accepted.
#ifndef ADDNORM_TESTS_SUPPORT_CONTRACT_H_
#define ADDNORM_TESTS_SUPPORT_CONTRACT_H_

#include <gtest/gtest.h>

#include <functional>
#include <ostream>
#include <string>

#include "support/arena.h"
#include "support/args.h"
#include "support/dtype.h"

namespace addnorm_test {

inline void PrintTo(const OpFields* op, std::ostream* os) { *os << op->name; }

inline std::string Text(addnorm_status status) {
  const char* text = addnorm_status_text(status);
  return text == nullptr ? "(null)" : text;
}

// "x f32, residual f32, ..." of a call, for messages.
inline std::string Describe(const Args& args) {
  std::string text = args.op().name;
  for (const OperandField& field : args.op().operands) {
    text += std::string(" ") + field.name + ":" + DtypeName(args.Get(field).dtype);
  }
  return text;
}

// Each test of the suite runs for every operation.
class ContractTest : public testing::TestWithParam<const OpFields*> {
 protected:
  static constexpr int64_t kRows = 3;
  static constexpr int64_t kCols = 37;  // two whole blocks of 16 and a tail

  const OpFields& op() const { return *GetParam(); }

  using Change = std::function<void(Arena&)>;

  // A valid call after `change` is refused: the status has this kind, its text names `subject`, nothing is written.
  void ExpectRefused(addnorm_status kind, const std::string& subject, const Change& change) const {
    for (const addnorm_dtypes& dtypes : PromisedDtypes(op().op)) {
      Arena arena(op(), dtypes, kRows, kCols);
      change(arena);
      ExpectRefused(arena, kind, subject);
    }
  }

  static void ExpectRefused(Arena& arena, addnorm_status kind, const std::string& subject) {
    const addnorm_status status = arena.args().Call();
    EXPECT_EQ(addnorm_status_kind(status), kind) << Text(status) << "\n" << subject << ": " << Describe(arena.args());
    EXPECT_EQ(Text(status).rfind(subject + ":", 0), 0u) << Text(status) << "\nshould name " << subject;
    EXPECT_TRUE(arena.Untouched()) << "a refused call wrote: " << Describe(arena.args());
  }

  // A valid call after `change` succeeds, and writes all elements of its outputs and nothing else.
  void ExpectAccepted(const Change& change) const {
    for (const addnorm_dtypes& dtypes : PromisedDtypes(op().op)) {
      Arena arena(op(), dtypes, kRows, kCols);
      change(arena);
      ExpectAccepted(arena);
    }
  }

  static void ExpectAccepted(Arena& arena) {
    const addnorm_status status = arena.args().Call();
    EXPECT_EQ(status, ADDNORM_OK) << Text(status) << "\n" << Describe(arena.args());
    EXPECT_EQ(arena.CheckWritten(), "") << Describe(arena.args());
  }

  // Changes of one operand.
  static Change SetData(const OperandField& field, void* data) {
    return [=](Arena& arena) { Edit(arena, field, [=](addnorm_output& operand) { operand.data = data; }); };
  }
  static Change SetStride(const OperandField& field, int64_t stride) {
    return [=](Arena& arena) { Edit(arena, field, [=](addnorm_output& operand) { operand.row_stride = stride; }); };
  }
  static Change SetDtype(const OperandField& field, addnorm_dtype dtype) {
    return [=](Arena& arena) { Edit(arena, field, [=](addnorm_output& operand) { operand.dtype = dtype; }); };
  }
  template <class Function>
  static void Edit(Arena& arena, const OperandField& field, const Function& edit) {
    addnorm_output operand = arena.args().Get(field);
    edit(operand);
    arena.args().Set(field, operand);
  }
};

inline std::vector<const OpFields*> EveryOp() {
  std::vector<const OpFields*> ops;
  for (const OpFields& op : AllOpFields()) ops.push_back(&op);
  for (const OpFields& op : BackwardOpFields()) ops.push_back(&op);
  return ops;
}

inline std::string OpName(const testing::TestParamInfo<const OpFields*>& info) { return info.param->name; }

}  // namespace addnorm_test

#endif  // ADDNORM_TESTS_SUPPORT_CONTRACT_H_
