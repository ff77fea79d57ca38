// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
// Which operands may share memory. Every output is moved over every other operand, element by element, and the call
// must be refused without a write, or give the bits of the call without sharing.
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "support/contract.h"

namespace addnorm_test {
namespace {

class OverlapTest : public ContractTest {
 protected:
  static constexpr int64_t kOverlapCols = 3;
  static constexpr int64_t kGap = kOverlapCols + 3;  // another operand's row fits between two rows
  static constexpr size_t kMargin = 192;             // more than any operand here

  using Contents = std::map<std::string, std::vector<unsigned char>>;

  static Contents Outputs(const Arena& arena, const Args& args) {
    Contents contents;
    for (const OperandField& field : args.op().operands) {
      if (field.written) contents[field.name] = arena.Contents(field);
    }
    return contents;
  }

  // What the call of a fresh arena writes.
  Contents Expected(const addnorm_dtypes& dtypes, int64_t rows) const {
    Arena arena(op(), dtypes, rows, kOverlapCols, kGap, kMargin);
    EXPECT_EQ(arena.args().Call(), ADDNORM_OK);
    return Outputs(arena, arena.args());
  }

  // The text may name any of the outputs that overlap.
  static void ExpectOverlapRefused(const Arena& arena) {
    const addnorm_status status = arena.args().Call();
    EXPECT_EQ(addnorm_status_kind(status), ADDNORM_FORBIDDEN_OVERLAP) << Text(status) << "\n" << Describe(arena.args());
    const std::string text = Text(status);
    const OperandField* named = arena.args().op().Find(text.substr(0, text.find(':')));
    EXPECT_TRUE(named != nullptr && named->written) << text;
    EXPECT_TRUE(arena.Untouched()) << "a refused call wrote: " << Describe(arena.args());
  }

  static void ExpectSameOutputs(Arena& arena, const Contents& expected) {
    const addnorm_status status = arena.args().Call();
    EXPECT_EQ(status, ADDNORM_OK) << Text(status) << "\n" << Describe(arena.args());
    EXPECT_EQ(Outputs(arena, arena.args()), expected) << Describe(arena.args());
    EXPECT_EQ(arena.CheckOutside(), "");
  }
};

INSTANTIATE_TEST_SUITE_P(Ops, OverlapTest, testing::ValuesIn(EveryOp()), OpName);

// The rule of addnorm.h, from the bytes of the rows.
enum class Verdict { kAllowed, kRefused, kUnspecified };

using Interval = std::pair<uintptr_t, uintptr_t>;

std::vector<Interval> RowsOf(const OperandField& field, const Args& args) {
  const addnorm_output operand = args.Get(field);
  const uintptr_t size = DtypeSize(operand.dtype);
  const uintptr_t cols = field.shape == Shape::kColumn ? 1 : static_cast<uintptr_t>(args.cols());
  const uintptr_t rows = field.shape == Shape::kVector ? 1 : static_cast<uintptr_t>(args.rows());
  std::vector<Interval> intervals;
  for (uintptr_t row = 0; row < rows; ++row) {
    const uintptr_t start =
        reinterpret_cast<uintptr_t>(operand.data) + row * static_cast<uintptr_t>(operand.row_stride) * size;
    intervals.emplace_back(start, start + cols * size);
  }
  return intervals;
}

Verdict Judge(const OperandField& output, const OperandField& other, const Args& args) {
  const addnorm_output a = args.Get(output), b = args.Get(other);
  const bool one_row = args.rows() <= 1;
  const auto is = [](const OperandField& field, const char* first, const char* second) {
    return std::string(field.name) == first || std::string(field.name) == second;
  };
  const bool forward = is(output, "y", "sum_out") && is(other, "x", "residual");
  const bool backward = is(output, "dx", "d_residual") && (is(other, "dy", "x") || is(other, "d_sum", "d_sum"));
  if ((forward || backward) && a.data == b.data && a.dtype == b.dtype && (one_row || a.row_stride == b.row_stride)) {
    return Verdict::kAllowed;
  }
  const std::vector<Interval> a_rows = RowsOf(output, args), b_rows = RowsOf(other, args);
  if (a_rows.front().first >= b_rows.back().second || b_rows.front().first >= a_rows.back().second) {
    return Verdict::kAllowed;
  }
  for (const Interval& i : a_rows) {
    for (const Interval& j : b_rows) {
      if (i.first < j.second && j.first < i.second) return Verdict::kRefused;
    }
  }
  const int64_t a_stride = a.row_stride * static_cast<int64_t>(DtypeSize(a.dtype));
  const int64_t b_stride = b.row_stride * static_cast<int64_t>(DtypeSize(b.dtype));
  // Whether rows in each other's gaps at unequal strides share an element is not worth finding out.
  return a_stride == b_stride ? Verdict::kAllowed : Verdict::kUnspecified;
}

Verdict Judge(const Args& args) {
  Verdict verdict = Verdict::kAllowed;
  for (const OperandField& output : args.op().operands) {
    if (!output.written) continue;
    for (const OperandField& other : args.op().operands) {
      if (&other == &output) continue;
      const Verdict pair = Judge(output, other, args);
      if (pair == Verdict::kRefused) return pair;
      if (pair == Verdict::kUnspecified) verdict = pair;
    }
  }
  return verdict;
}

TEST_P(OverlapTest, EveryShiftOfEveryOutputOverEveryOperandIsJudgedRight) {
  int64_t allowed = 0, refused = 0;
  for (int64_t rows : {1, 3}) {
    for (const addnorm_dtypes& dtypes : PromisedDtypes(op().op)) {
      const Contents expected = Expected(dtypes, rows);
      Arena arena(op(), dtypes, rows, kOverlapCols, kGap, kMargin);
      const Args original = arena.args();
      for (const OperandField& output : op().operands) {
        if (!output.written) continue;
        for (const OperandField& other : op().operands) {
          if (&other == &output) continue;
          const addnorm_output b = original.Get(other);
          const int64_t size = static_cast<int64_t>(DtypeSize(original.Get(output).dtype));
          const int64_t other_stride = b.row_stride * static_cast<int64_t>(DtypeSize(b.dtype)) / size;
          // The output's own stride, the other's in bytes (interleaved rows), and one like neither.
          const int64_t own_stride = original.Get(output).row_stride;
          for (int64_t stride : {own_stride, other_stride, own_stride + 1}) {
            if (output.shape == Shape::kVector && stride != 0) continue;
            if (rows > 1 && output.shape != Shape::kVector &&
                stride < (output.shape == Shape::kColumn ? 1 : kOverlapCols))
              continue;
            const int64_t reach = static_cast<int64_t>(kMargin) / size - 2;
            for (int64_t shift = -reach; shift <= reach; ++shift) {
              arena.args() = original;
              SetStride(output, stride)(arena);
              arena.MoveTo(output, other, shift);
              const Verdict verdict = Judge(arena.args());
              if (verdict == Verdict::kUnspecified) continue;
              ++(verdict == Verdict::kAllowed ? allowed : refused);
              if (verdict == Verdict::kAllowed) {
                ExpectSameOutputs(arena, expected);
                arena.Restore();
              } else {
                ExpectOverlapRefused(arena);
              }
              ASSERT_FALSE(HasFailure()) << output.name << " at " << other.name << " + " << shift << ", stride "
                                         << stride << ", rows " << rows;
            }
          }
        }
      }
    }
  }
  EXPECT_GT(allowed, 0);
  EXPECT_GT(refused, 0);
}

TEST_P(OverlapTest, InPlaceGivesTheBitsOfOutOfPlace) {
  for (const addnorm_dtypes& dtypes : PromisedDtypes(op().op)) {
    const Contents expected = Expected(dtypes, kRows);
    // For y and sum_out: out of place, over x, over residual.
    const char* const places[] = {"", "x", "residual"};
    for (const char* y_place : places) {
      for (const char* sum_place : places) {
        Arena arena(op(), dtypes, kRows, kOverlapCols, kGap, kMargin);
        const auto place = [&](const char* output, const char* input) {
          const OperandField* out = op().Find(output);
          const OperandField* in = op().Find(input);
          if (out == nullptr || in == nullptr) return *input == '\0';
          if (arena.args().Get(*out).dtype != arena.args().Get(*in).dtype) return false;
          arena.MoveTo(*out, *in);
          return true;
        };
        if (!place("y", y_place) || !place("sum_out", sum_place)) continue;
        if (*y_place != '\0' && std::string(y_place) == sum_place) {
          ExpectOverlapRefused(arena);
        } else {
          ExpectSameOutputs(arena, expected);
        }
      }
    }
  }
}

TEST_P(OverlapTest, InputsMayOverlapEachOther) {
  for (const OperandField& field : op().operands) {
    if (field.written) continue;
    for (const OperandField& other : op().operands) {
      if (other.written || &field == &other) continue;
      for (int64_t shift : {0, 1, 3}) {
        for (const addnorm_dtypes& dtypes : PromisedDtypes(op().op)) {
          Arena arena(op(), dtypes, kRows, kOverlapCols, kGap, kMargin);
          arena.MoveTo(field, other, shift);
          const addnorm_status status = arena.args().Call();
          EXPECT_EQ(status, ADDNORM_OK) << Text(status) << "\n" << field.name << " over " << other.name;
          EXPECT_EQ(arena.CheckOutside(), "");
        }
      }
    }
  }
}

// The fused QKV layout: query, key and value of a token in one row, each normalized alone into the same place.
TEST_P(OverlapTest, OperandsInterleavedInOneBufferGiveTheSameBits) {
  for (const addnorm_dtypes& dtypes : PromisedDtypes(op().op)) {
    const Contents expected = Expected(dtypes, kRows);
    for (const OperandField& output : op().operands) {
      if (!output.written || output.shape == Shape::kVector) continue;
      for (const OperandField& input : op().operands) {
        if (input.written || input.shape != Shape::kMatrix) continue;
        Arena arena(op(), dtypes, kRows, kOverlapCols, kGap, kMargin);
        const addnorm_output in = arena.args().Get(input), out = arena.args().Get(output);
        const size_t in_size = DtypeSize(in.dtype), out_size = DtypeSize(out.dtype);
        const size_t row_bytes = static_cast<size_t>(in.row_stride) * in_size;
        const size_t end = kOverlapCols * in_size;  // where the input's row ends, rounded up to the output's alignment
        const size_t start = (end + out_size - 1) / out_size * out_size;
        if (row_bytes % out_size != 0) continue;
        if (start + (output.shape == Shape::kColumn ? 1 : kOverlapCols) * out_size > row_bytes) continue;
        Edit(arena, output, [&](addnorm_output& o) {
          o.data = static_cast<unsigned char*>(in.data) + start;
          o.row_stride = static_cast<int64_t>(row_bytes / out_size);
        });
        ExpectSameOutputs(arena, expected);
      }
    }
  }
}

}  // namespace
}  // namespace addnorm_test
