// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
// No byte outside the operands is read or written: every operand, and every row of each, lies against a page that
// cannot be accessed, first with its end, then with its start, for every op case on every target, at all lengths around
// the vectors'.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <deque>
#include <string>
#include <vector>

#include "addnorm/addnorm.h"
#include "support/backward.h"
#include "support/dtype.h"
#include "support/guarded_areas.h"
#include "support/op_case.h"
#include "support/targets.h"

namespace addnorm_test {
namespace {

constexpr int64_t kMaxRows = 9;  // more than are worked on together
constexpr int64_t kMaxCols = 129;
constexpr int64_t kLongRows = 2, kLongCols = 2049;
constexpr unsigned char kUntouched = 0xa5;
constexpr size_t kMargin = 128;  // bytes next to an operand that are checked

// Says which case it was that hit a guard page.
char current_case[512];

void ReportFault(int signal_number) {
  const char text[] = "memory access outside the operands: ";
  (void)!write(STDERR_FILENO, text, sizeof(text) - 1);
  (void)!write(STDERR_FILENO, current_case, std::strlen(current_case));
  (void)!write(STDERR_FILENO, "\n", 1);
  signal(signal_number, SIG_DFL);
  raise(signal_number);
}

// Bytes for any operand, and for the workspace of three sums.
constexpr int64_t kCapacity = 8 * std::max({kMaxRows * kMaxCols, kLongRows* kLongCols, 3 * (kLongCols + 15)});

// For each operand of a call, in the order of its fields. The first area has room for all rows.
GuardedAreas& AreasOf(size_t operand) {
  static std::deque<GuardedAreas>* areas = new std::deque<GuardedAreas>;
  while (areas->size() <= operand) areas->emplace_back(kMaxRows, static_cast<size_t>(kCapacity) + 512);
  return (*areas)[operand];
}

// How an operand lies in its area: its end at the guard page, or its start so many elements behind one.
constexpr int64_t kAtEnd = -1;

enum class Rows { kPacked, kApart };  // all in one area, or each in its own

// What is placed in one area.
struct Placed {
  unsigned char* begin;
  unsigned char* end;
  unsigned char* margin_begin;
  unsigned char* margin_end;

  size_t size() const { return static_cast<size_t>(end - begin); }
};

Placed Place(const GuardedAreas& areas, size_t area, size_t size, size_t element_size, int64_t position) {
  unsigned char *first = areas.begin(area), *last = areas.end(area);
  Placed placed;
  placed.begin = position == kAtEnd ? last - size : first + static_cast<size_t>(position) * element_size;
  placed.end = placed.begin + size;
  placed.margin_begin = placed.begin - std::min(kMargin, static_cast<size_t>(placed.begin - first));
  placed.margin_end = placed.end + std::min(kMargin, static_cast<size_t>(last - placed.end));
  std::memset(placed.margin_begin, kUntouched, static_cast<size_t>(placed.margin_end - placed.margin_begin));
  return placed;
}

bool Untouched(const unsigned char* begin, const unsigned char* end) {
  return std::all_of(begin, end, [](unsigned char c) { return c == kUntouched; });
}

// One operand of a call, moved to guarded memory.
struct Moved {
  const OperandField* field;
  const unsigned char* own;  // where it was, packed
  std::vector<Placed> parts;
};

// The rows of a mask, moved like an operand: *data and *stride become its new place.
template <class Byte>
Moved MoveMask(size_t operand, Byte** data, int64_t* stride, size_t rows, size_t row_bytes, int64_t position,
               Rows layout) {
  Moved moved = {nullptr, *data, {}};
  if (*data == nullptr) return moved;
  const GuardedAreas& areas = AreasOf(operand);
  const size_t parts = layout == Rows::kApart ? rows : 1;
  for (size_t i = 0; i < parts; ++i) {
    moved.parts.push_back(Place(areas, i, rows / parts * row_bytes, 1, position));
    std::memcpy(moved.parts[i].begin, moved.own + i * row_bytes, moved.parts[i].size());
  }
  *data = moved.parts[0].begin;
  if (layout == Rows::kApart && rows > 1) *stride = static_cast<int64_t>(areas.distance());
  return moved;
}

// Makes the call of `problem`, whose rows are packed and which has run, again in guarded memory.
template <class AnyProblem>
void CheckGuarded(const std::string& target, const AnyProblem& problem, int64_t position, Rows layout,
                  addnorm_store store = ADDNORM_STORE_AUTOMATIC) {
  Args args = problem.MakeArgs();
  if (args.op().store != 0) args.set_store(store);
  std::vector<Moved> operands;
  if (args.op().workspace != 0 && args.workspace_size() != 0) {
    constexpr size_t kWorkspaceArea = 20;  // of no operand
    const Placed placed = Place(AreasOf(kWorkspaceArea), 0, args.workspace_size(), 1, position == 1 ? 64 : position);
    args.set_workspace(placed.begin, placed.size());
  }
  for (const OperandField& field : args.op().operands) {
    addnorm_output operand = args.Get(field);
    if (operand.data == nullptr) continue;
    const GuardedAreas& areas = AreasOf(operands.size());
    const size_t element = DtypeSize(operand.dtype);
    const size_t rows = field.shape == Shape::kVector ? 1 : static_cast<size_t>(problem.rows());
    const size_t row_bytes = element * (field.shape == Shape::kColumn ? 1 : static_cast<size_t>(problem.cols()));
    const size_t parts = layout == Rows::kApart ? rows : 1;
    Moved moved = {&field, static_cast<const unsigned char*>(operand.data), {}};
    for (size_t i = 0; i < parts; ++i) {
      moved.parts.push_back(Place(areas, i, rows / parts * row_bytes, element, position));
      if (!field.written) std::memcpy(moved.parts[i].begin, moved.own + i * row_bytes, moved.parts[i].size());
    }
    operand.data = moved.parts[0].begin;
    if (layout == Rows::kApart && rows > 1) operand.row_stride = static_cast<int64_t>(areas.distance() / element);
    args.Set(field, operand);
    operands.push_back(moved);
  }
  addnorm_dropout dropout = ADDNORM_DROPOUT_INIT;
  std::vector<Moved> masks;
  if (args.dropout() != nullptr) {
    constexpr size_t kMaskArea = 21, kMaskOutArea = 22;
    dropout = *args.dropout();
    const auto rows = static_cast<size_t>(problem.rows()), bytes = static_cast<size_t>(MaskBytes(problem.cols()));
    masks.push_back(MoveMask(kMaskArea, &dropout.mask, &dropout.mask_row_stride, rows, bytes, position, layout));
    masks.push_back(
        MoveMask(kMaskOutArea, &dropout.mask_out, &dropout.mask_out_row_stride, rows, bytes, position, layout));
    for (const Placed& part : masks.back().parts) std::memset(part.begin, kUntouched, part.size());
    args.set_dropout(&dropout);
  }
  std::snprintf(current_case, sizeof(current_case), "%s on %s, %s, rows %d%s, cols %d, position %d",
                problem.op_case().name.c_str(), target.c_str(), problem.options().name.c_str(),
                static_cast<int>(problem.rows()), layout == Rows::kApart ? " apart" : "",
                static_cast<int>(problem.cols()), static_cast<int>(position));
  const addnorm_status status = args.Call();
  ASSERT_EQ(status, ADDNORM_OK) << addnorm_status_text(status) << "\n" << current_case;
  for (const Moved& moved : operands) {
    const unsigned char* own = moved.own;  // the problem's own call wrote the same there
    for (const Placed& part : moved.parts) {
      EXPECT_EQ(std::memcmp(part.begin, own, part.size()), 0) << moved.field->name << " differs: " << current_case;
      EXPECT_TRUE(Untouched(part.margin_begin, part.begin)) << "before " << moved.field->name << current_case;
      EXPECT_TRUE(Untouched(part.end, part.margin_end)) << "after " << moved.field->name << current_case;
      own += part.size();
    }
  }
  for (const Moved& mask : masks) {
    const unsigned char* own = mask.own;
    for (const Placed& part : mask.parts) {
      EXPECT_EQ(std::memcmp(part.begin, own, part.size()), 0) << "a mask differs: " << current_case;
      EXPECT_TRUE(Untouched(part.margin_begin, part.begin)) << "before a mask: " << current_case;
      EXPECT_TRUE(Untouched(part.end, part.margin_end)) << "after a mask: " << current_case;
      own += part.size();
    }
  }
}

std::vector<Options> GuardedOptions() {
  Options none, storage, f32;
  none.name = "no options";
  none.sum_out = false;
  storage.name = "all operands";
  storage.gamma = storage.beta = storage.bias = VectorType::kStorage;
  storage.mean = ADDNORM_F64;
  storage.rstd = ADDNORM_F32;
  f32 = storage;
  f32.name = "all operands, vectors f32";
  f32.gamma = f32.beta = f32.bias = VectorType::kF32;
  f32.mean = f32.statistics = ADDNORM_F32;
  f32.rstd = ADDNORM_F64;
  return {none, storage, f32};
}

// Those of the operation that take other paths: roundings and offsets go through the stages.
std::vector<Options> StagedOptions(const OpCase& op_case) {
  std::vector<Options> staged;
  for (const Options& options : OptionsOf(op_case)) {
    if (options.gamma_offset != 0.0f || options.norm_dtype != 0 || options.norm_out_dtype != 0 ||
        options.residual_scale != 1.0f) {
      staged.push_back(options);
    }
  }
  return staged;
}

class GuardPageTest : public testing::TestWithParam<const OpCase*> {
 protected:
  void SetUp() override {
    previous_segv_ = signal(SIGSEGV, ReportFault);
    previous_bus_ = signal(SIGBUS, ReportFault);
  }
  void TearDown() override {
    signal(SIGSEGV, previous_segv_);
    signal(SIGBUS, previous_bus_);
  }

  // Runs on every target, with every choice of operands.
  void CheckAll(const std::vector<int64_t>& rows, const std::vector<int64_t>& cols,
                const std::vector<int64_t>& positions, Rows layout = Rows::kPacked,
                const std::vector<Options>& all = GuardedOptions(), addnorm_store store = ADDNORM_STORE_AUTOMATIC) {
    for (const std::string& name : TestedTargets()) {
      ScopedTarget target(name);
      for (const Options& options : all) {
        for (int64_t r : rows) {
          for (int64_t c : cols) {
            Problem problem(*GetParam(), options, r, c);
            problem.FillByKind(static_cast<uint64_t>(c), static_cast<int>(c));  // hard rows too
            ASSERT_EQ(problem.Run(), ADDNORM_OK);
            for (int64_t position : positions) CheckGuarded(name, problem, position, layout, store);
            CountChecks(name, static_cast<int64_t>(positions.size()));
            if (HasFailure()) return;
          }
        }
      }
    }
  }

 private:
  void (*previous_segv_)(int) = nullptr;
  void (*previous_bus_)(int) = nullptr;
};

TEST_P(GuardPageTest, NothingOutsideTheOperandsIsAccessedAtAnyLength) {
  std::vector<int64_t> cols;
  for (int64_t c = 1; c <= 35; ++c) cols.push_back(c);
  for (int64_t c : {48, 63, 64, 65, 66, 67, 79, 80, 81, 127, 128, 129}) cols.push_back(c);
  CheckAll({1, 3}, cols, {kAtEnd, 0, 1});
}

// Each row of each operand between guard pages of its own.
TEST_P(GuardPageTest, NothingBetweenRowsIsAccessedAtAnyLength) {
  std::vector<int64_t> cols;
  for (int64_t c = 1; c <= 33; ++c) cols.push_back(c);
  CheckAll({9}, cols, {kAtEnd, 0}, Rows::kApart);
  CheckAll({4}, {63, 64, 65, 67, 128, 129}, {kAtEnd, 0}, Rows::kApart);
}

TEST_P(GuardPageTest, NothingOutsideTheOperandsIsAccessedWithManyRows) {
  CheckAll({2, 4, 7, 8, 9}, {1, 5, 16, 17, 33, 64, 67}, {kAtEnd, 0});
}

TEST_P(GuardPageTest, NothingOutsideTheOperandsIsAccessedInStages) {
  CheckAll({1, 3}, {1, 3, 8, 15, 16, 17, 31, 33, 67, 129}, {kAtEnd, 0, 1}, Rows::kPacked, StagedOptions(*GetParam()));
}

// Streaming stores are of whole vectors, of rows aligned to 64 bytes: those that start behind a page.
TEST_P(GuardPageTest, NothingOutsideTheOperandsIsStreamedTo) {
  if (GetParam()->fields->store == 0) return;
  for (const Rows layout : {Rows::kPacked, Rows::kApart}) {
    CheckAll({1, 9}, {1, 15, 16, 17, 31, 33, 48, 64, 65, 128, 129}, {kAtEnd, 0}, layout, GuardedOptions(),
             ADDNORM_STORE_STREAMING);
  }
}

// Around the chunks that the stages work in.
const std::vector<int64_t> kChunkCols = {1023, 1024, 1025, 1026, kLongCols};

TEST_P(GuardPageTest, NothingOutsideTheOperandsIsAccessedInLongRows) {
  std::vector<Options> all = StagedOptions(*GetParam());
  for (const Options& options : GuardedOptions()) all.push_back(options);
  CheckAll({kLongRows}, kChunkCols, {kAtEnd, 0}, Rows::kPacked, all);
}

TEST_P(GuardPageTest, AnyAlignmentToAnElementGivesTheSameBits) {
  std::vector<int64_t> positions;
  for (int64_t p = 1; p <= 33; ++p) positions.push_back(p);
  CheckAll({2}, {7, 16, 33, 67}, positions);
}

// Around whole bytes, words and blocks of a mask, and the piece that is dropped out at once.
const std::vector<int64_t> kMaskCols = {1, 7, 8, 9, 16, 17, 33, 63, 64, 65, 127, 128, 129, 255, 257};

TEST_P(GuardPageTest, NothingOutsideTheMasksIsAccessed) {
  const std::vector<Options> all = DropoutOptionsOf(*GetParam());
  for (const Rows layout : {Rows::kPacked, Rows::kApart}) CheckAll({3}, kMaskCols, {kAtEnd, 0}, layout, all);
}

class BackwardGuardPageTest : public GuardPageTest {
 protected:
  void CheckAllBackward(const std::vector<int64_t>& rows, const std::vector<int64_t>& cols,
                        const std::vector<int64_t>& positions, Rows layout, const std::vector<BackwardOptions>& all) {
    for (const std::string& name : TestedTargets()) {
      ScopedTarget target(name);
      for (BackwardOptions options : all) {
        options.accumulate = false;
        for (int64_t r : rows) {
          for (int64_t c : cols) {
            BackwardProblem problem(*GetParam(), options, r, c);
            problem.FillByKind(static_cast<uint64_t>(c), static_cast<int>(c));
            ASSERT_EQ(problem.Run(), ADDNORM_OK);
            for (int64_t position : positions) CheckGuarded(name, problem, position, layout);
            CountChecks(name, static_cast<int64_t>(positions.size()));
            if (HasFailure()) return;
          }
        }
      }
    }
  }
};

TEST_P(BackwardGuardPageTest, NothingOutsideTheOperandsIsAccessedAtAnyLength) {
  std::vector<int64_t> cols;
  for (int64_t c = 1; c <= 35; ++c) cols.push_back(c);
  for (int64_t c : {63, 64, 65, 79, 127, 129}) cols.push_back(c);
  CheckAllBackward({1, 5}, cols, {kAtEnd, 0, 1}, Rows::kPacked, BackwardOptionsOf(*GetParam()));
}

TEST_P(BackwardGuardPageTest, NothingBetweenRowsIsAccessedAtAnyLength) {
  CheckAllBackward({9}, {1, 3, 8, 15, 16, 17, 31, 33, 64, 67, 129}, {kAtEnd, 0}, Rows::kApart,
                   BackwardOptionsOf(*GetParam()));
}

TEST_P(BackwardGuardPageTest, NothingOutsideTheOperandsIsAccessedInLongRows) {
  CheckAllBackward({kLongRows}, kChunkCols, {kAtEnd, 0}, Rows::kPacked, BackwardOptionsOf(*GetParam()));
}

TEST_P(BackwardGuardPageTest, NothingOutsideTheMasksIsAccessed) {
  for (const Rows layout : {Rows::kPacked, Rows::kApart}) {
    CheckAllBackward({3}, kMaskCols, {kAtEnd, 0}, layout, BackwardDropoutOptionsOf(*GetParam()));
  }
}

std::vector<const OpCase*> EveryOpCase() {
  std::vector<const OpCase*> cases;
  for (const OpCase& op_case : AllOpCases()) cases.push_back(&op_case);
  return cases;
}

std::string CaseName(const testing::TestParamInfo<const OpCase*>& info) {
  std::string name = info.param->name;
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return name;
}

std::vector<const OpCase*> EveryBackwardCase() {
  std::vector<const OpCase*> cases;
  for (const OpCase& op_case : AllBackwardCases()) cases.push_back(&op_case);
  return cases;
}

INSTANTIATE_TEST_SUITE_P(OpCases, BackwardGuardPageTest, testing::ValuesIn(EveryBackwardCase()), CaseName);
INSTANTIATE_TEST_SUITE_P(OpCases, GuardPageTest, testing::ValuesIn(EveryOpCase()), CaseName);

}  // namespace
}  // namespace addnorm_test
