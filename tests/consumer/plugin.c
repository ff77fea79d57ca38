/* Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
 *
 * A shared object with an addnorm of its own inside. */
#include "print_row.h"

__attribute__((visibility("default"))) int PluginPrintRow(void);
__attribute__((visibility("default"))) const char *PluginTarget(const char *cap);

int PluginPrintRow(void) { return PrintRow(); }

const char *PluginTarget(const char *cap) {
  return addnorm_set_max_target(cap) == ADDNORM_OK ? addnorm_target_name() : "?";
}
