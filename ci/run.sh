#!/usr/bin/env bash
# Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#
# Builds addnorm and replays the captures of two real transformers on every target of this CPU. On a bare Debian 12 machine
# too; ADDNORM_SKIP_SETUP=1 leaves the packages alone.
source "$(dirname "$0")/lib.sh"

build() {
  configure run
  cmake --build --preset run
}

[[ -n ${ADDNORM_SKIP_SETUP-} ]] || step "Packages" ci/setup.sh run
step "Build" build
printf '\n=== Replay\n'
exec build-run/tools/replay/addnorm-replay tests/data/{minilm-post-ln,smollm2-pre-rms}.safetensors
