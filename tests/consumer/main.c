/* Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
 *
 * A C program that uses addnorm. */
#include "print_hash.h"

int main(void) { return PrintHash(); }
