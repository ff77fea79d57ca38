// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// What addnorm.h says of a call, written down from there alone: every fault that it has, or that it is good.
#ifndef ADDNORM_TESTS_FUZZ_CONTRACT_H_
#define ADDNORM_TESTS_FUZZ_CONTRACT_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "support/args.h"

namespace addnorm_test {

struct Fault {
  addnorm_status kind;
  const char* subject;  // as the status' text names it
  bool certain;         // else the call may be accepted as well
};

class Verdict {
 public:
  void Add(addnorm_status kind, const char* subject, bool certain = true);
  bool refused() const { return refused_; }
  // Whether a status names one of the faults.
  bool Names(addnorm_status status) const;

  bool in_reach = true;  // all operands lie within the memory that was named

 private:
  std::array<Fault, 256> faults_;
  size_t count_ = 0;
  bool refused_ = false;
};

// Looks at the struct as the library is to see it: `given` with the defaults of what its struct_size leaves out, which
// *effective becomes. `begin` and `end`: the memory that the call may touch.
Verdict Judge(const Args& given, const unsigned char* begin, const unsigned char* end, Args* effective);

}  // namespace addnorm_test

#endif  // ADDNORM_TESTS_FUZZ_CONTRACT_H_
