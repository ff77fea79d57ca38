/* Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
 *
 * A shared object that has addnorm inside, as a plugin of a program would. */
#include "call.h"

__attribute__((visibility("default"))) int PluginCallIsRight(void);

int PluginCallIsRight(void) { return CallIsRight(); }
