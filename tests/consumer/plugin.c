/* Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
 *
 * A shared object with an addnorm of its own inside. Its functions' names begin with PLUGIN. */
#include "print_hash.h"

#define JOINED(prefix, name) prefix##name
#define NAMED(prefix, name) JOINED(prefix, name)
#define EXPORTED __attribute__((visibility("default")))

EXPORTED int NAMED(PLUGIN, PrintHash)(void);
EXPORTED const char *NAMED(PLUGIN, Target)(const char *cap);

int NAMED(PLUGIN, PrintHash)(void) { return PrintHash(); }

const char *NAMED(PLUGIN, Target)(const char *cap) {
  return addnorm_set_max_target(cap) == ADDNORM_OK ? addnorm_target_name() : "?";
}
