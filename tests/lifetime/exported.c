/* Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
 *
 * A shared object made from the static library, whose functions are hidden in it but for these. */
#include "addnorm/addnorm.h"

#define EXPORTED __attribute__((visibility("default")))

EXPORTED addnorm_status exported_layer_norm(const addnorm_norm_args* args);
EXPORTED const char* exported_target_name(void);

addnorm_status exported_layer_norm(const addnorm_norm_args* args) { return addnorm_layer_norm(args); }
const char* exported_target_name(void) { return addnorm_target_name(); }
