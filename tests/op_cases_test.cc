// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// What the library promises, written down a second time: a row deleted from its list, or added without tests, is seen
// here. The same for the bounds and their proofs.
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "support/bounds.h"
#include "support/dtype.h"
#include "support/op_case.h"

namespace addnorm_test {
namespace {

// Dtypes of x, residual, sum, y as letters: f32, bf16, f16, none. Then that of the vectors.
std::string Letters(const addnorm_dtypes& d) {
  std::string letters;
  for (const addnorm_dtype dtype : {d.x, d.residual, d.sum, d.y}) {
    letters += dtype == ADDNORM_F32 ? 'f' : dtype == ADDNORM_BF16 ? 'b' : dtype == ADDNORM_F16 ? 'h' : '-';
  }
  return letters + "/" + DtypeName(d.vectors);
}

const std::vector<std::string> kReduce = {"f---", "b---", "h---"};
const std::vector<std::string> kAdd = {"fff-/f32", "bbb-/bf16", "hhh-/f16", "bff-/bf16",
                                       "hff-/f16", "bbf-/bf16", "hhf-/f16"};
const std::vector<std::string> kNorm = {"f--f/f32", "b--b/bf16", "h--h/f16", "f--b/bf16", "f--h/f16"};
const std::vector<std::string> kAddNorm = {"ffff/f32", "bbbb/bf16", "hhhh/f16", "bffb/bf16",
                                           "hffh/f16", "bbfb/bf16", "hhfh/f16"};
const std::vector<std::string> kNormAdd = {"ff-f/f32", "bb-b/bf16", "hh-h/f16", "bf-f/bf16", "hf-f/f16"};

TEST(OpCases, AreThePromisedOnes) {
  for (int32_t op = 0; op < ADDNORM_OP_ADD_BACKWARD; ++op) {
    const std::vector<std::string>& wanted = IsReduction(op)        ? kReduce
                                             : op == ADDNORM_OP_ADD ? kAdd
                                             : AddsBefore(op)       ? kAddNorm
                                             : AddsAfter(op)        ? kNormAdd
                                                                    : kNorm;
    std::vector<std::string> got;
    for (const OpCase& op_case : AllOpCases()) {
      if (op_case.op() != op) continue;
      std::string letters = Letters(op_case.dtypes);
      if (IsReduction(op)) letters.resize(4);  // no vectors
      got.push_back(letters);
    }
    EXPECT_EQ(got, wanted) << AllOpFields()[static_cast<size_t>(op)].name;
  }
  EXPECT_EQ(AllOpCases().size(), 56u);
}

TEST(OpCases, HaveDifferentNames) {
  for (const OpCase& a : AllOpCases()) {
    int same = 0;
    for (const OpCase& b : AllOpCases()) same += a.name == b.name;
    EXPECT_EQ(same, 1) << a.name;
  }
}

// docs/NUMERICS.md states each bound in its table, by the name of the constant, as in "| kLayerNormBound | 4.5 |".
TEST(Bounds, AreThoseThatAreProven) {
  std::ifstream file(ADDNORM_TEST_DATA "/../docs/NUMERICS.md");
  ASSERT_TRUE(file.good()) << "docs/NUMERICS.md";
  std::stringstream text;
  text << file.rdbuf();
  const auto row = [](const char* name, double bound) {
    std::ostringstream line;
    line << "| " << name << " | " << bound << " |";
    return line.str();
  };
  for (const std::string& line : {row("kRmsNormBound", kRmsNormBound), row("kLayerNormBound", kLayerNormBound),
                                  row("kNormAddExtra", kNormAddExtra), row("kWideBound", kWideBound),
                                  row("kAfterRoundingBound", kAfterRoundingBound)}) {
    EXPECT_NE(text.str().find(line), std::string::npos) << "docs/NUMERICS.md does not state: " << line;
  }
  std::ifstream gradients(ADDNORM_TEST_DATA "/../docs/GRADIENTS.md");
  text.str("");
  text << gradients.rdbuf();
  for (const std::string& line :
       {row("kLayerNormBackwardExtra", kLayerNormBackwardExtra), row("kRmsNormBackwardExtra", kRmsNormBackwardExtra)}) {
    EXPECT_NE(text.str().find(line), std::string::npos) << "docs/GRADIENTS.md does not state: " << line;
  }
}

}  // namespace
}  // namespace addnorm_test
