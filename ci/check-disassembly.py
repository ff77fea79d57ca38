#!/usr/bin/env python3
# Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
"""Checks the machine code of the library's object files: instructions beyond the baseline only inside the functions of a target that
may use them, and each target's kernels in registers of its own class.

Usage: check-disassembly.py OBJDUMP x86_64|aarch64 BUILD_DIRECTORY|SHARED_LIBRARY
"""

import collections
import pathlib
import re
import subprocess
import sys

# Mnemonics that need more than plain x86-64: AVX and up begin with v or use a mask register, the rest is listed.
X86_BEYOND = re.compile(
    r"v(?!err|erw|mcall|mlaunch)\w+$|k(add|and|andn|mov|not|or|ortest|shift[lr]|test|unpck\w\w|xnor|xor)[bwdq]+$"
    r"|(andn|bextr|blsi|blsmsk|blsr|bzhi|mulx|pdep|pext|rorx|sarx|shlx|shrx|popcnt|lzcnt|movbe|crc32\w?)$"
    r"|(round[sp][sd]|pinsr[bdq]|pextr[bdq]|ptest|pmulld|pshufb|palignr|p?blendv?\w*|p(min|max)(sd|ud|uw|sb)|pmov[sz]x\w+)$"
)
SVE = re.compile(r"\bz\d+\b|\bp\d+(\.[bhsd]|/[mz])|^(rdvl|addvl|addpl|cnt[bhwd]\s+x|(inc|dec)[bhwd]\s+x)")
NEON = re.compile(r"\bv\d+\.(2d|4s|8h|16b|2s|4h|8b)\b")

# For each architecture: the targets beyond the baseline or with a table of their own, as in the names of Highway's
# namespaces; the instructions that count as their own register class; and those that must not be there.
TARGETS = {
    "x86_64": {"N_AVX2": (re.compile(r"%ymm"), re.compile(r"%zmm|%[xy]mm(1[6-9]|2\d|3[01])\b|%k[0-7]")),
               "N_AVX3": (re.compile(r"%zmm"), None)},
    "aarch64": {"N_NEON_WITHOUT_AES": (NEON, SVE), "N_SVE": (SVE, None)},
}
BASELINE_FORBIDS = {"x86_64": lambda text: X86_BEYOND.match(text.split(None, 1)[0]), "aarch64": SVE.search}
# Highway asks for the length of SVE vectors once it has seen that there are any.
BASELINE_EXCEPTION = "addnorm_hwy::arm::DetectAdditionalSveTargets(long)"
# Floating-point arithmetic, as opposed to moves: what the kernels do in the target's own registers, but for the few
# steps of a row that concern one value.
ARITHMETIC = re.compile(r"v(add|sub|mul|fn?m(add|sub)\d+)[ps][sd]\b|f(n?m(add|sub|la|ls|ad)|add|sub|mul)\b")


def functions(objdump, objects):
    """Yields (object file, function, instructions) of every function."""
    command = [objdump, "--disassemble", "--demangle", "--wide", "--no-show-raw-insn", *objects]
    listing = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    member, name, instructions = None, None, []
    for line in listing.splitlines() + ["0 <>:"]:
        if header := re.match(r"(\S+):\s+file format", line):
            member_next = pathlib.Path(header[1]).name
        elif header := re.match(r"[0-9a-f]+ <(.*)>:$", line):
            if name:
                yield member, name, instructions
            member, name, instructions = member_next, header[1], []
        elif instruction := re.match(r"\s+[0-9a-f]+:\t(.*)$", line):
            text = re.sub(r"^(\{\w+\}|rep\w*|lock|bnd|notrack|data16|cs)\s+", "", instruction[1].split("#")[0].strip())
            if text and text != "(bad)":
                instructions.append(text)


def main():
    objdump, architecture, build = sys.argv[1:]
    # With link-time optimization the objects have no machine code yet.
    shared = pathlib.Path(build).is_file()
    objects = [build] if shared else sorted(pathlib.Path(build, "CMakeFiles", "addnorm.dir").rglob("*.o"))
    targets = TARGETS[architecture]
    faults = []
    counts = collections.defaultdict(collections.Counter)
    for member, name, instructions in functions(objdump, objects):
        # Names that objdump cannot demangle have their length before them.
        target = next((t for t in targets if f"{t}::" in name or f"{len(t)}{t}" in name), None)
        own, forbidden = targets[target] if target else (None, None)
        count = counts[member, target]
        count["functions"] += 1
        for text in instructions:
            if target is None and name != BASELINE_EXCEPTION and BASELINE_FORBIDS[architecture](text):
                faults.append(f"{member}: baseline function {name} has: {text}")
            if forbidden and forbidden.search(text):
                faults.append(f"{member}: {target} function {name} has: {text}")
            if own and ARITHMETIC.match(text):
                count["own" if own.search(text) else "other"] += 1
    print(f"{'object':24} {'target':20} {'functions':>9} {'own arithmetic':>15} {'other':>6}")
    for (member, target), count in sorted(counts.items(), key=str):
        print(f"{member:24} {target or 'baseline':20} {count['functions']:9} {count['own']:15} {count['other']:6}")
    kernels = {member for member, target in counts if counts[member, target]["own"]}
    for member in sorted(kernels):
        for target in targets:
            if not counts[member, target]["own"]:
                faults.append(f"{member}: no arithmetic of {target} in registers of its own class")
    if not kernels:
        faults.append(f"{build} has no kernel of any target")
    for fault in faults[:40]:
        print(f"error: {fault}", file=sys.stderr)
    return 1 if faults else 0


sys.exit(main())
