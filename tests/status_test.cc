// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
// Texts of statuses.
#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <set>
#include <string>

#include "addnorm/addnorm.h"
#include "support/contract.h"

namespace addnorm_test {
namespace {

TEST(Status, OkIsZeroAndHasAText) {
  EXPECT_EQ(ADDNORM_OK, 0);
  EXPECT_EQ(addnorm_status_kind(ADDNORM_OK), ADDNORM_OK);
  EXPECT_FALSE(Text(ADDNORM_OK).empty());
}

TEST(Status, EveryNumberHasAFixedText) {
  const auto check = [](addnorm_status status) {
    const char* text = addnorm_status_text(status);
    ASSERT_NE(text, nullptr) << status;
    EXPECT_NE(*text, '\0') << status;
    EXPECT_EQ(addnorm_status_text(status), text) << status;
  };
  for (addnorm_status status = -70000; status <= 70000; ++status) check(status);
  for (int bit = 0; bit < 31; ++bit) {
    check(static_cast<addnorm_status>(1u << bit));
    check(-static_cast<addnorm_status>(1u << bit));
  }
  check(std::numeric_limits<addnorm_status>::min());
  check(std::numeric_limits<addnorm_status>::max());
}

// The operands and parameters that a text may name, and faults that are of no one operand.
TEST(Status, TextsOfDifferentFaultsDiffer) {
  std::map<std::string, addnorm_status> by_text;
  std::map<addnorm_status, std::set<std::string>> subjects;
  for (addnorm_status status = 1; status <= 70000; ++status) {
    const std::string text = Text(status);
    if (text == Text(std::numeric_limits<addnorm_status>::max()))
      continue;  // what is said of numbers that are no status
    EXPECT_EQ(by_text.count(text), 0u) << text << ": " << by_text[text] << " and " << status;
    by_text[text] = status;
    const size_t colon = text.find(": ");
    if (colon != std::string::npos) subjects[addnorm_status_kind(status)].insert(text.substr(0, colon));
  }
  std::set<std::string> matrices_and_columns, operands;
  for (const OpFields& op : AllOpFields()) {
    for (const OperandField& field : op.operands) {
      operands.insert(field.name);
      if (field.shape != Shape::kVector) matrices_and_columns.insert(field.name);
    }
  }
  const auto expect_all = [&](addnorm_status kind, const std::set<std::string>& expected) {
    for (const std::string& subject : expected) EXPECT_EQ(subjects[kind].count(subject), 1u) << kind << " " << subject;
  };
  for (addnorm_status kind : {ADDNORM_NULL_POINTER, ADDNORM_STRIDE_TOO_SMALL, ADDNORM_UNALIGNED, ADDNORM_UNKNOWN_DTYPE,
                              ADDNORM_RESERVED_NOT_ZERO}) {
    expect_all(kind, operands);
  }
  expect_all(ADDNORM_SIZE_TOO_LARGE, matrices_and_columns);
  expect_all(ADDNORM_NEGATIVE_SIZE, {"rows", "cols"});
  expect_all(ADDNORM_BAD_NUMBER, {"epsilon", "gamma_offset", "residual_scale"});
}

TEST(Status, KindOfEveryConstantIsItself) {
  for (addnorm_status kind = ADDNORM_OK; kind <= ADDNORM_SMALL_WORKSPACE; ++kind) {
    EXPECT_EQ(addnorm_status_kind(kind), kind);
    EXPECT_FALSE(Text(kind).empty());
  }
}

}  // namespace
}  // namespace addnorm_test
