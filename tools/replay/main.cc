// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#include <iostream>

#include "replay.h"

int main(int argc, char** argv) {
  return addnorm_test::replay::Replay(std::vector<std::string>(argv + (argc > 0), argv + argc), std::cout, std::cerr);
}
