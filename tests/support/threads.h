// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// A call whose rows are split between threads, each calling on its own part.
#ifndef ADDNORM_TESTS_SUPPORT_THREADS_H_
#define ADDNORM_TESTS_SUPPORT_THREADS_H_

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include "support/dtype.h"
#include "support/op_case.h"

namespace addnorm_test {

// Starts from the same memory as problem.Run(). Some threads have no rows if there are fewer rows than threads.
inline void RunInThreads(Problem& problem, int64_t count) {
  problem.Reset();
  std::vector<addnorm_status> statuses(static_cast<size_t>(count));
  std::vector<std::thread> threads;
  for (int64_t t = 0; t < count; ++t) {
    threads.emplace_back([&problem, &statuses, count, t] {
      const int64_t first = problem.rows() * t / count, end = problem.rows() * (t + 1) / count;
      Args args = problem.MakeArgs();
      args.set_rows(end - first);
      for (const OperandField& field : args.op().operands) {
        addnorm_output operand = args.Get(field);
        if (operand.data == nullptr || field.shape == Shape::kVector) continue;
        operand.data = static_cast<char*>(operand.data) +
                       static_cast<size_t>(first * operand.row_stride) * DtypeSize(operand.dtype);
        args.Set(field, operand);
      }
      statuses[static_cast<size_t>(t)] = args.Call();
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const addnorm_status status : statuses) EXPECT_EQ(status, ADDNORM_OK) << addnorm_status_text(status);
}

}  // namespace addnorm_test

#endif  // ADDNORM_TESTS_SUPPORT_THREADS_H_
