// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
// No byte outside the operands is read or written: every operand lies against a page that cannot be accessed, first
// with its end, then with its start, for every op case on every target, at all lengths around the vectors'.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <string>
#include <vector>

#include "addnorm/addnorm.h"
#include "support/dtype.h"
#include "support/op_case.h"
#include "support/targets.h"

namespace addnorm_test {
namespace {

// Accessible memory between two pages that are not.
class GuardedBuffer {
 public:
  explicit GuardedBuffer(size_t capacity) {
    const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    size_ = (capacity + page - 1) / page * page;
    mapped_ = size_ + 2 * page;
    void* map = mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED || mprotect(static_cast<unsigned char*>(map) + page, size_, PROT_READ | PROT_WRITE) != 0) {
      std::perror("mmap");
      std::abort();
    }
    map_ = static_cast<unsigned char*>(map);
    begin_ = map_ + page;
  }
  ~GuardedBuffer() { munmap(map_, mapped_); }
  GuardedBuffer(const GuardedBuffer&) = delete;
  GuardedBuffer& operator=(const GuardedBuffer&) = delete;

  unsigned char* begin() const { return begin_; }
  unsigned char* end() const { return begin_ + size_; }

 private:
  size_t size_;
  size_t mapped_;
  unsigned char* map_;
  unsigned char* begin_;
};

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

constexpr int64_t kMaxRows = 9;  // more than are worked on together
constexpr int64_t kMaxCols = 129;
constexpr unsigned char kUntouched = 0xa5;
constexpr size_t kMargin = 128;  // bytes next to an operand that are checked

// One for each operand of a call, in the order of its fields.
GuardedBuffer& BufferOf(size_t operand) {
  static std::deque<GuardedBuffer>* buffers = new std::deque<GuardedBuffer>;
  while (buffers->size() <= operand) buffers->emplace_back(static_cast<size_t>(kMaxRows * (kMaxCols + 1)) * 8);
  return (*buffers)[operand];
}

// How an operand lies in its buffer: its end at the guard page, or its start so many elements behind one.
constexpr int64_t kAtEnd = -1;

struct Placed {
  unsigned char* begin;
  unsigned char* end;
  unsigned char* margin_begin;
  unsigned char* margin_end;
};

Placed Place(const GuardedBuffer& buffer, size_t size, size_t element_size, int64_t position) {
  Placed placed;
  placed.begin =
      position == kAtEnd ? buffer.end() - size : buffer.begin() + static_cast<size_t>(position) * element_size;
  placed.end = placed.begin + size;
  placed.margin_begin = placed.begin - std::min(kMargin, static_cast<size_t>(placed.begin - buffer.begin()));
  placed.margin_end = placed.end + std::min(kMargin, static_cast<size_t>(buffer.end() - placed.end));
  return placed;
}

bool Untouched(const unsigned char* begin, const unsigned char* end) {
  return std::all_of(begin, end, [](unsigned char c) { return c == kUntouched; });
}

size_t BytesOf(const OperandField& field, const addnorm_output& operand, int64_t rows, int64_t cols) {
  const int64_t elements = field.shape == Shape::kVector ? cols : field.shape == Shape::kColumn ? rows : rows * cols;
  return static_cast<size_t>(elements) * DtypeSize(operand.dtype);
}

// Makes the call of `problem`, whose rows are packed and which has run, again in guarded memory.
void CheckGuarded(const std::string& target, const Problem& problem, int64_t position) {
  Args args = problem.MakeArgs();
  const std::vector<OperandField>& fields = args.op().operands;
  std::vector<Placed> placed(fields.size());
  std::vector<addnorm_output> own(fields.size());
  for (size_t i = 0; i < fields.size(); ++i) {
    own[i] = args.Get(fields[i]);
    if (own[i].data == nullptr) continue;
    const size_t size = BytesOf(fields[i], own[i], problem.rows(), problem.cols());
    placed[i] = Place(BufferOf(i), size, DtypeSize(own[i].dtype), position);
    std::memset(placed[i].margin_begin, kUntouched, static_cast<size_t>(placed[i].margin_end - placed[i].margin_begin));
    if (!fields[i].written) std::memcpy(placed[i].begin, own[i].data, size);
    addnorm_output operand = own[i];
    operand.data = placed[i].begin;
    args.Set(fields[i], operand);
  }
  std::snprintf(current_case, sizeof(current_case), "%s on %s, %s, rows %d, cols %d, position %d",
                problem.op_case().name.c_str(), target.c_str(), problem.options().name.c_str(),
                static_cast<int>(problem.rows()), static_cast<int>(problem.cols()), static_cast<int>(position));
  const addnorm_status status = args.Call();
  ASSERT_EQ(status, ADDNORM_OK) << addnorm_status_text(status) << "\n" << current_case;
  for (size_t i = 0; i < fields.size(); ++i) {
    if (own[i].data == nullptr) continue;
    // The problem's own call wrote the same to its own memory.
    EXPECT_EQ(std::memcmp(placed[i].begin, own[i].data, static_cast<size_t>(placed[i].end - placed[i].begin)), 0)
        << fields[i].name << " differs: " << current_case;
    EXPECT_TRUE(Untouched(placed[i].margin_begin, placed[i].begin)) << "before " << fields[i].name << current_case;
    EXPECT_TRUE(Untouched(placed[i].end, placed[i].margin_end)) << "after " << fields[i].name << current_case;
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
                const std::vector<int64_t>& positions) {
    for (const std::string& name : SupportedTargets()) {
      ScopedTarget target(name);
      for (const Options& options : GuardedOptions()) {
        for (int64_t r : rows) {
          for (int64_t c : cols) {
            Problem problem(*GetParam(), options, r, c);
            problem.FillByKind(static_cast<uint64_t>(c), static_cast<int>(c));  // hard rows too
            ASSERT_EQ(problem.Run(), ADDNORM_OK);
            for (int64_t position : positions) CheckGuarded(name, problem, position);
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
  CheckAll({1, 3}, cols, {kAtEnd, 0});
}

TEST_P(GuardPageTest, NothingOutsideTheOperandsIsAccessedWithManyRows) {
  CheckAll({2, 4, 7, 8, 9}, {1, 5, 16, 17, 33, 64, 67}, {kAtEnd, 0});
}

TEST_P(GuardPageTest, AnyAlignmentToAnElementGivesTheSameBits) {
  std::vector<int64_t> positions;
  for (int64_t p = 1; p <= 33; ++p) positions.push_back(p);
  CheckAll({2}, {7, 16, 33, 67}, positions);
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

INSTANTIATE_TEST_SUITE_P(OpCases, GuardPageTest, testing::ValuesIn(EveryOpCase()), CaseName);

}  // namespace
}  // namespace addnorm_test
