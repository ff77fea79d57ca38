// Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#ifndef ADDNORM_TOOLS_REPLAY_REPLAY_H_
#define ADDNORM_TOOLS_REPLAY_REPLAY_H_

#include <ostream>
#include <string>
#include <vector>

namespace addnorm_test::replay {

enum ExitCode { kExitGood = 0, kExitFailed = 1, kExitUsage = 2 };

// addnorm-replay, given its arguments without the program's name. Leaves the library without a target cap.
int Replay(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err);

}  // namespace addnorm_test::replay

#endif  // ADDNORM_TOOLS_REPLAY_REPLAY_H_
