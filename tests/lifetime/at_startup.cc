// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
//
// Calls while a program's objects are constructed and destroyed. Linked twice into one program, before and after the
// library; NAME and the priority tell the two apart.
#include <cstdio>
#include <cstdlib>

#include "call.h"

#define ADDNORM_TEST_STRING(name) #name
#define ADDNORM_TEST_TEXT(name) ADDNORM_TEST_STRING(name)

// Tells main() where this lies.
const char* ADDNORM_TEST_NAME();
const char* ADDNORM_TEST_NAME() { return ADDNORM_TEST_TEXT(ADDNORM_TEST_NAME); }

namespace {

void Check(const char* when) {
  if (CallIsRight() != 0) return;
  std::fprintf(stderr, "%s: a call %s is wrong, or not on the target that is expected\n", ADDNORM_TEST_NAME(), when);
  std::_Exit(1);
}

// Earlier than any object of C++ is constructed, and later than any is destroyed.
__attribute__((constructor(ADDNORM_TEST_PRIORITY))) void First() { Check("in a constructor function"); }
__attribute__((destructor(ADDNORM_TEST_PRIORITY))) void Last() { Check("in a destructor function"); }

struct Caller {
  Caller() { Check("in a static object's constructor"); }
  ~Caller() { Check("in a static object's destructor"); }
} caller;

}  // namespace
