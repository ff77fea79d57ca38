# Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
#
# GCC for 64-bit ARM on a Debian machine of another architecture; ctest runs the tests in an emulator. qemu-aarch64 takes
# the CPU from the environment: QEMU_CPU=cortex-a72, or QEMU_CPU=max,sve-default-vector-length=32 (bytes).
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 CACHE STRING "Runs a program of the target on this machine")
