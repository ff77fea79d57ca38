#!/usr/bin/env python3
# Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
"""Plants the faults of ci/mutants.py in a copy of the sources, one at a time, and tells whether the tests catch them.

Usage: mutate.py BUILD_DIRECTORY [--few] [NAME...]
       mutate.py --check    only whether each fault still fits the sources

BUILD_DIRECTORY is a static build on x86-64 with AVX2 in which addnorm_tests is up to date: its test objects are linked with the
faulty library, which is built without AVX-512, as AVX2 and the scalar reference show the same faults. The tests that are
likely to see a fault run first, then all others, to the first failure. --few runs three faults, others each day; names
run those faults, even ones that are marked equivalent. Fails if a fault survives, or no longer fits the sources.
"""

import argparse
import datetime
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from mutants import MUTANTS  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent
COPIED = ("CMakeLists.txt", "cmake", "include", "src")
TIMEOUT = 1800  # seconds for one run of tests: a fault that makes them hang is caught

MAX_TARGETS = ("scalar", "no_such_target")  # what CTest sets in the environment for some runs
# The tests of the C++ layer, which are compiled anew for faults of its headers.
USERS_OF_HPP = ("cpp_api_test", "backward_contract_test", "dropout_test")
# By the beginning of a file's path, the tests that are likely to see a fault in it.
LIKELY_TESTS = {
    "include": "*Cpp*:StorageTypes.*:*Dropout*",
    "src/dropout": "*Dropout*",
    "src/reference_dropout": "*Dropout*",
    "src/vector/dropout": "*Dropout*:*Masks*",
    "src/fp_environment.h": "FloatingPointMode.*",
    "src/api.cc": "*ContractTest*:*StructSizeTest*:Parallel.*",
    "src/call.h": "Parallel.*",
    "src/validate": "*ContractTest*:*OverlapTest*:AddContract.*",
    **dict.fromkeys(("src/api_backward.cc", "src/backward.h", "src/reference_backward.cc", "src/vector/backward-inl.h",
                     "src/vector/elements-inl.h"), "*Backward*:*Dropout*:FloatingPointMode.*"),
    "src/targets.cc": "Dispatch.*:Targets.*:PromisedDtypes.*",
    "src": "WorkedExamples.*:SpecialRows.*:ReportedFaults.*:Checksums.*:PathBoundaries.*:Operands/*:Ops/*:AccuracyShort.*",
}


def run(command, **options):
    return subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)


def must(command, **options):
    result = run(command, **options)
    if result.returncode != 0:
        sys.exit(f"{command}\n{result.stdout}\nerror: this command failed")


class Workshop:
    """A copy of the sources, the library built from it, and the tests linked with that library."""

    def __init__(self, build):
        self.build = build
        self.source, self.library, self.tests = (build / "mutants" / name for name in ("source", "library", "addnorm_tests"))
        shutil.rmtree(self.source, ignore_errors=True)
        self.source.mkdir(parents=True)
        for name in COPIED:
            # With the time of now: an interrupted run may have left objects of a faulty source behind.
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, self.source / name, copy_function=shutil.copy)
            else:
                shutil.copy(ROOT / name, self.source / name)
        commands = run(["ninja", "-C", str(build), "-t", "commands", "addnorm_tests"]).stdout.splitlines()
        self.link = commands[-1]
        tests = "|".join(USERS_OF_HPP)
        self.users_of_hpp = [line for line in commands if re.search(rf"-c \S*/tests/({tests})\.cc$", line)]
        if not re.search(r"\slibaddnorm\.a\s", self.link) or len(self.users_of_hpp) != len(USERS_OF_HPP):
            sys.exit(f"error: {build} is no static build with tests by Ninja")
        cache = (build / "CMakeCache.txt").read_text()
        kept = re.findall(r"^((?:ADDNORM_HIGHWAY_URL|CMAKE_CXX_COMPILER):\w+=.*)$", cache, re.M)
        off = [f"-DADDNORM_{what}=OFF" for what in ("BUILD_TESTS", "BUILD_TOOLS", "BUILD_EXAMPLES", "INSTALL")]
        must(["cmake", "-G", "Ninja", "-S", str(self.source), "-B", str(self.library), *off, *(f"-D{entry}" for entry in kept),
              "-DCMAKE_BUILD_TYPE=None", "-DCMAKE_CXX_FLAGS=-O1", "-DADDNORM_DISABLED_TARGETS=avx512"])

    def make(self, header_changed):
        """The library and the tests with it; None, or what the compiler says."""
        result = run(["cmake", "--build", str(self.library)])
        if result.returncode != 0:
            return result.stdout
        link = re.sub(r"\slibaddnorm\.a\s", f" {self.library}/libaddnorm.a ", self.link)
        link = re.sub(r"-o \S+", f"-o {self.tests}", link)
        if header_changed:
            for command in self.users_of_hpp:
                old = re.search(r"-o (\S+)", command)[1]
                made = self.build / "mutants" / pathlib.Path(old).name
                command = re.sub(r"-MD|-M[TF] \S+", "", command.replace(old, str(made)))
                command = command.replace(f"-I{ROOT}/include", f"-I{self.source}/include") + " -Wno-error"
                result = run(shlex.split(command), cwd=self.build)
                if result.returncode != 0:
                    return result.stdout
                link = link.replace(old, str(made))
        result = run(link, cwd=self.build, shell=True)
        return result.stdout if result.returncode != 0 else None

    def failure(self, gtest_filter, max_target=""):
        """The first test that fails, hangs or crashes; None if all pass."""
        command = [str(self.tests), "--gtest_fail_fast", "--gtest_color=no", f"--gtest_filter={gtest_filter}"]
        environment = {**os.environ, "ADDNORM_MAX_TARGET": max_target}
        try:
            result = run(command, cwd=self.build, env=environment, timeout=TIMEOUT, errors="replace")
        except subprocess.TimeoutExpired:
            return "a test that hangs"
        if result.returncode == 0:
            return None
        failed = re.findall(r"^\[  FAILED  \] (\S+?),? ", result.stdout + " ", re.M)
        started = re.findall(r"^\[ RUN      \] (\S+)", result.stdout, re.M)
        return failed[0] if failed else f"a crash of {started[-1]}" if started else f"exit code {result.returncode}"


def tests_for(path):
    return next(tests for start, tests in LIKELY_TESTS.items() if path.startswith(start))


def try_mutant(workshop, mutant):
    """What became of a fault: "caught by ..." or "SURVIVED"."""
    path = workshop.source / mutant.path
    original = path.read_text()
    path.write_text(original.replace(mutant.text, mutant.replacement))
    try:
        complaint = workshop.make(mutant.path.startswith("include"))
        if complaint:
            sys.exit(f"{complaint}\nerror: {mutant.name}: does not compile")
        likely = tests_for(mutant.path)
        failure = workshop.failure(likely)
        for max_target in MAX_TARGETS:
            failure = failure or workshop.failure("Environment.*", max_target)
        failure = failure or workshop.failure(f"-{likely}")
    finally:
        path.write_text(original)
    return f"caught by {failure}" if failure else "SURVIVED"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path, nargs="?")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--few", action="store_true")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()

    faults = [m for m in MUTANTS if (ROOT / m.path).read_text().count(m.text) != 1]
    for mutant in faults:
        print(f"error: {mutant.name}: its text is not once in {mutant.path}", file=sys.stderr)
    if faults or options.check:
        return 1 if faults else 0
    if options.build is None:
        parser.error("which build?")
    unknown = set(options.names) - {m.name for m in MUTANTS}
    if unknown:
        sys.exit(f"error: no such fault: {', '.join(sorted(unknown))}")
    chosen = [m for m in MUTANTS if m.name in options.names or not (options.names or m.equivalent)]
    if options.few:
        day = datetime.date.today().toordinal()
        chosen = [chosen[(day + i * len(chosen) // 3) % len(chosen)] for i in range(3)]

    workshop = Workshop(options.build.resolve())
    complaint = workshop.make(True)
    if complaint:
        sys.exit(complaint)
    for tests in sorted({tests_for(m.path) for m in chosen}):
        failure = workshop.failure(tests)
        if failure:
            sys.exit(f"error: without a fault {failure} fails")
    survivors = 0
    for mutant in chosen:
        start = time.monotonic()
        outcome = try_mutant(workshop, mutant)
        survivors += outcome == "SURVIVED"
        print(f"{mutant.path:32} {mutant.name:40} {time.monotonic() - start:5.0f} s  {outcome}", flush=True)
    print(f"{len(chosen) - survivors} of {len(chosen)} faults caught")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
