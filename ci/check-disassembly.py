#!/usr/bin/env python3
# Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
"""Checks the machine code of the library's object files: each function has only instructions that the CPUs it runs on are
known to have, and each target's kernels do their arithmetic in registers of the target's own class.

It first checks itself: the assembler beside objdump makes one or more instructions of every set in the tables below.
"""

import argparse
import collections
import pathlib
import re
import subprocess
import sys
import tempfile
from typing import NamedTuple


class Set(NamedTuple):
    """An instruction is of the set if all three patterns fit: the first two as a whole, the third anywhere."""

    level: str  # the target whose functions may use it, and those of better targets
    name: str
    mnemonics: str
    examples: str
    encoding: str = ".*"
    operands: str = ""


class Sets:
    """Tells of which of some sets an instruction is."""

    def __init__(self, sets):
        self.sets = sets
        self.candidates = {}  # by encoding and mnemonic, of which there are few; none for most

    def of(self, instruction):
        encoding, text = instruction
        mnemonic, _, operands = text.partition(" ")
        candidates = self.candidates.get((encoding, mnemonic))
        if candidates is None:
            candidates = [s for s in self.sets if re.fullmatch(s.encoding, encoding) and re.fullmatch(s.mnemonics, mnemonic)]
            self.candidates[encoding, mnemonic] = candidates
        return [each.name for each in candidates if re.search(each.operands, operands)]


NOWHERE = "nowhere"
X86_SETS = [
    Set("N_AVX2", "SSE3", r"(addsub|hadd|hsub)p[sd]|movs[hl]dup|movddup|lddqu|fisttp\w*|monitor|mwait",
        "haddps %xmm0, %xmm1; addsubps %xmm0, %xmm1; movddup %xmm0, %xmm1; movshdup %xmm0, %xmm1; lddqu (%rax), %xmm0"),
    Set("N_AVX2", "SSSE3", r"psign[bwd]|pabs[bwd]|palignr|pshufb|pmulhrsw|pmaddubsw|ph(add|sub)(s?w|d)",
        "pabsd %xmm0, %xmm1; phaddd %xmm0, %xmm1; psignw %xmm0, %xmm1; pmulhrsw %xmm0, %xmm1; pmaddubsw %xmm0, %xmm1;"
        "pshufb %xmm0, %xmm1; palignr $4, %xmm0, %xmm1"),
    Set("N_AVX2", "SSE4.1", r"mpsadbw|phminposuw|pmul(dq|ld)|dpp[sd]|p?blend\w+|p(min|max)(s[bd]|u[wd])|round[ps][sd]|insertps|"
        r"extractps|pinsr[bdq]|pextr[bdq]|pmov[sz]x\w+|ptest|pcmpeqq|packusdw|movntdqa",
        "pmuldq %xmm0, %xmm1; pcmpeqq %xmm0, %xmm1; packusdw %xmm0, %xmm1; insertps $1, %xmm0, %xmm1; dpps $1, %xmm0, %xmm1;"
        "extractps $1, %xmm0, %eax; movntdqa (%rax), %xmm0; roundss $3, %xmm0, %xmm1; pmovzxwd %xmm0, %xmm1;"
        "pblendw $1, %xmm0, %xmm1; blendvps %xmm0, %xmm1, %xmm2; pmaxsd %xmm0, %xmm1; pminuw %xmm0, %xmm1"),
    Set("N_AVX2", "SSE4.1", r"pextrw", "pextrw $1, %xmm0, (%rax)", operands=r"\("),
    Set("N_AVX2", "SSE4.2", r"pcmpgtq|pcmp[ei]str\w+|crc32\w?",
        "pcmpgtq %xmm0, %xmm1; pcmpistri $0, %xmm0, %xmm1; crc32b %al, %ecx"),
    Set("N_AVX2", "POPCNT, LZCNT", r"(popcnt|lzcnt)[wlq]?", "popcnt %eax, %ecx; lzcnt %rax, %rcx"),
    Set("N_AVX2", "AES, PCLMUL", r"aes\w+|pclmul\w+", "aesenc %xmm0, %xmm1; pclmulqdq $0, %xmm0, %xmm1"),
    Set("N_AVX2", "AVX, AVX2, FMA, F16C, BMI", r"\w+",
        "vaddps %xmm0, %xmm1, %xmm2; vzeroupper; vcvtph2ps %xmm0, %ymm0; vfmadd213sd %xmm0, %xmm1, %xmm2; andn %eax, %ecx, %edx;"
        "shlx %eax, %ecx, %edx; vaesenc %xmm0, %xmm1, %xmm2", encoding="VEX"),
    Set("N_AVX3", "AVX-512", r"\w+",
        "vaddps %xmm0, %xmm16, %xmm2; vmovdqu16 (%rax), %ymm0{%k1}{z}; vrndscaleps $3, %xmm0, %xmm1; vpmullq %zmm0, %zmm1, %zmm2;"
        "vplzcntd %ymm0, %ymm1", encoding="EVEX"),
    Set("N_AVX3", "AVX-512 masks", r"k(add|and|andn|mov|not|or|ortest|shift[lr]|test|xnor|xor)[bwdq]|kunpck\w+",
        "kmovw %eax, %k1; kandnq %k1, %k2, %k3; kunpckbw %k1, %k2, %k3"),
    Set(NOWHERE, "SSE4A, 3DNow, PREFETCHW", r"extrq|insertq|movnts[sd]|pf\w+|prefetchw\w*",
        "movntss %xmm0, (%rax); pfadd %mm0, %mm1; prefetchw (%rax)"),
    Set(NOWHERE, "XOP, FMA4, TBM", r"\w+", "vpcmov %xmm0, %xmm1, %xmm2, %xmm3; blcs %eax, %ecx", encoding="XOP"),
    Set(NOWHERE, "FMA4", r"vfn?m(add|sub)(add|sub)?[ps][sd]", "vfmaddps %xmm0, %xmm1, %xmm2, %xmm3"),
    Set(NOWHERE, "CMPXCHG16B, MOVBE, ADX, RDRAND, FSGSBASE, MOVDIR",
        r"cmpxchg16b|movbe\w?|ad[co]x[lq]?|rd(rand|seed|pid)\w?|(rd|wr)[fg]sbase\w?|movdir\w+",
        "cmpxchg16b (%rax); movbe (%rax), %ecx; adcx %eax, %ecx; rdrand %eax"),
    Set(NOWHERE, "SHA, SM3, SM4", r"v?sha(1|256|512)\w+|vsm[34]\w+", "sha256rnds2 %xmm0, %xmm1, %xmm2; sha1nexte %xmm0, %xmm1"),
    Set(NOWHERE, "GFNI", r"v?gf2p8\w+", "gf2p8mulb %xmm0, %xmm1; vgf2p8affineqb $1, %ymm0, %ymm1, %ymm2"),
    Set(NOWHERE, "VAES, VPCLMULQDQ", r"v(aes|pclmul)\w+", "vaesenc %ymm0, %ymm1, %ymm2; vpclmulqdq $0, %zmm0, %zmm1, %zmm2",
        operands="%[yz]mm"),
    Set(NOWHERE, "VNNI", r"vpdp\w+", "{vex} vpdpbusd %ymm0, %ymm1, %ymm2; vpdpwssds %zmm0, %zmm1, %zmm2"),
    Set(NOWHERE, "IFMA", r"vpmadd52\w+", "vpmadd52luq %zmm0, %zmm1, %zmm2"),
    Set(NOWHERE, "VBMI, VBMI2", r"vperm([it]2)?b|vpmultishiftqb|vp(compress|expand)[bw]|vpsh[lr]dv?[wdq]",
        "vpermb %zmm0, %zmm1, %zmm2; vpermt2b %xmm0, %xmm1, %xmm2; vpcompressw %zmm0, (%rax){%k1}; vpshldvd %ymm0, %ymm1, %ymm2"),
    Set(NOWHERE, "VPOPCNTDQ, BITALG, VP2INTERSECT", r"vpopcnt[bwdq]|vpshufbitqmb|vp2intersect[dq]",
        "vpopcntd %zmm0, %zmm1; vpopcntb %xmm0, %xmm1; vpshufbitqmb %zmm0, %zmm1, %k1; vp2intersectd %zmm0, %zmm1, %k0"),
    Set(NOWHERE, "ER, PF, 4FMAPS, 4VNNIW", r"v(exp2|rcp28|rsqrt28)\w+|v(gather|scatter)pf\w+|v4fn?madd\w+|vp4dp\w+",
        "vexp2ps %zmm0, %zmm1; vrsqrt28ss %xmm0, %xmm1, %xmm2"),
    Set(NOWHERE, "BF16", r"v\w*bf16\w*|vbcstne\w+|vcvtne[eo]\w+",
        "vcvtneps2bf16 %zmm0, %ymm0; vcvtne2ps2bf16 %xmm0, %xmm1, %xmm2; vdpbf16ps %zmm0, %zmm1, %zmm2"),
    Set(NOWHERE, "FP16", r"v(?!cvtps2ph$)\w+[ps]h[xyzlq]?|vcvtt?[ps]h2(?!ps$)\w+|vmovw",
        "vaddph %ymm0, %ymm1, %ymm2; vfmadd231sh %xmm0, %xmm1, %xmm2; vcvtps2phx %zmm0, %ymm0; vcvtph2psx %ymm0, %zmm0;"
        "vcvtph2dq %ymm0, %zmm0; vcvtdq2ph %zmm0, %ymm0; vmovw %eax, %xmm0"),
    Set(NOWHERE, "AMX", r"(ld|st)?tile\w+|td\w+", "tilezero %tmm0; tdpbf16ps %tmm0, %tmm1, %tmm2"),
    Set(NOWHERE, "unknown to objdump", r"\(bad\)", ".byte 6"),
]
X86_BASELINE = """rep bsf %eax, %ecx; bsr %eax, %ecx; andnps %xmm0, %xmm1; sqrtsd %xmm0, %xmm1; cvtss2sd %xmm0, %xmm1;
  pshufd $1, %xmm0, %xmm1; shufps $1, %xmm0, %xmm1; pextrw $1, %xmm0, %eax; pinsrw $1, %eax, %xmm0; pmaxub %xmm0, %xmm1;
  pcmpeqd %xmm0, %xmm1; pmuludq %xmm0, %xmm1; packssdw %xmm0, %xmm1; movntps %xmm0, (%rax); movnti %eax, (%rcx); cpuid;
  prefetcht0 (%rax); sfence; xgetbv; lock cmpxchg %eax, (%rcx); lock xadd %eax, (%rcx); rep movsb; pop (%rax); endbr64;
  maskmovdqu %xmm0, %xmm1; sar %eax; shld $1, %eax, %ecx; verr %ax; nopw 0(%rax,%rax,1)"""

# Mnemonics that SVE2 has for vectors alone, and those it shares with NEON.
SVE2_NARROW_WIDE = r"(?!cnt$)\w+[lnw][bt]|sqdml[as]lbt"
SVE2_OTHER = (r"[su]r?hadd|[su]hsubr?|s?q?r?shlu|[su]q?rshlr?|[su]qshlr?|[su]rshr|[su]r?sra|s[lr]i|addp|[su](max|min)p|[su]adalp|"
              r"f(max|min)(nm)?p|faddp|[su]aba|sq(abs|neg)|suqadd|usqadd|sqr?dml[as]h|sqr?dmulh|bcax|bsl[12]?n?|nbsl|eor3|xar|"
              r"eor[bt][bt]|bdep|bext|bgrp|cadd|cmla|cdot|sq(r?d)?c(add|mlah)|n?match|hist(cnt|seg)|flogb|fcvtx|tbx|urecpe|"
              r"ursqrte|pmul|aes\w+|rax1|sm4\w+|[suf]clamp")
ARM_SETS = [
    Set("N_SVE", "SVE", r"\S+",
        "fadd z0.s, z1.s, z2.s; ptrue p0.b; ld1w {z0.s}, p0/z, [x0]; sdot z0.s, z1.b, z2.b; fcmla z0.s, p0/m, z1.s, z2.s, #90",
        operands=r"\bz\d+\b|\bp\d+(\.[bhsd]|/[mz])"),
    Set("N_SVE", "SVE", r"rdvl|add[vp]l|setffr|cntr?[bhwd]|([su]q)?(inc|dec)[bhwd]",
        "rdvl x0, #1; addvl x0, x1, #2; cntd x0; incw x0", operands=r"^[wx\d]|^$"),
    Set("N_SVE", "FP16, which SVE implies", r"(?!fcvt([ln]2?)?$)(f|[su]cvt)\w+",
        "fadd v0.8h, v1.8h, v2.8h; fmul h0, h1, h2; fmla v0.4h, v1.4h, v2.h[1]; scvtf h0, w0; fcvtzs w0, h0; fcmp h0, h1;"
        "fmlal v0.4s, v1.4h, v2.4h; frinta v0.8h, v1.8h", operands=r"\bh\d+\b|\.[48]h\b|\.h\["),
    Set("N_SVE", "FCMA, which SVE implies", r"fcmla|fcadd", "fcadd v0.4s, v1.4s, v2.4s, #90", operands=r"^v"),
    Set(NOWHERE, "SVE2", SVE2_NARROW_WIDE + "|" + SVE2_OTHER,
        "addhnb z0.h, z1.s, z2.s; saddlb z0.s, z1.h, z2.h; fcvtlt z0.s, p0/m, z1.h; sqxtunb z0.b, z1.h; uaba z0.s, z1.s, z2.s;"
        "bsl z0.d, z0.d, z1.d, z2.d; faddp z0.s, p0/m, z0.s, z1.s; histcnt z0.s, p0/z, z1.s, z2.s; xar z0.s, z0.s, z1.s, #3;"
        "eor3 z0.d, z0.d, z1.d, z2.d; srshl z0.s, p0/m, z0.s, z1.s; sri z0.s, z1.s, #3; sqdmulh z0.s, z1.s, z2.s;"
        "tbx z0.s, z1.s, z2.s; aese z0.b, z0.b, z1.b", operands=r"\bz\d"),
    Set(NOWHERE, "SVE2", r"mul|[su]mulh", "mul z0.s, z1.s, z2.s; umulh z0.s, z1.s, z2.s", operands=r"^z\S+, z\S+, z"),
    Set(NOWHERE, "SVE2", r"[su]q(add|sub)r?", "sqadd z0.s, p0/m, z0.s, z1.s", operands="/m"),
    Set(NOWHERE, "SVE2", r"ml[as]", "mla z0.s, z1.s, z2.s[1]", operands=r"^z.*\["),
    Set(NOWHERE, "SVE2", r"ext|splice", "ext z0.b, {z1.b, z2.b}, #1; splice z0.s, p0, {z1.s, z2.s}", operands=r"^z.*\{"),
    Set(NOWHERE, "SVE2", r"tbl", "tbl z0.s, {z1.s, z2.s}, z3.s", operands=r"\{z\S+(,| -) z"),
    Set(NOWHERE, "SVE2", r"(ld|st)nt1\w+", "ldnt1w {z0.s}, p0/z, [z1.s, x0]", operands=r"\[z"),
    Set(NOWHERE, "SVE2", r"while(g[et]|h[is]|rw|wr)", "whilege p0.s, x0, x1; whilewr p0.s, x0, x1"),
    Set(NOWHERE, "SVE F32MM, F64MM", r"fmmla|ld1ro\w", "fmmla z0.s, z1.s, z2.s; ld1rod {z0.d}, p0/z, [x0]"),
    Set(NOWHERE, "BF16", r"bf(cvt|dot|ml|mmla)\w*",
        "bfcvt h0, s1; bfcvtn v0.4h, v1.4s; bfdot v0.4s, v1.8h, v2.8h; bfmmla v0.4s, v1.8h, v2.8h; bfcvt z0.h, p0/m, z1.s;"
        "bfmlalb z0.s, z1.h, z2.h"),
    Set(NOWHERE, "dot product", r"[su]dot", "sdot v0.4s, v1.16b, v2.16b; udot v0.2s, v1.8b, v2.8b", operands="^v"),
    Set(NOWHERE, "I8MM", r"usdot|sudot|([su]|us)mmla", "usdot v0.4s, v1.16b, v2.16b; smmla v0.4s, v1.16b, v2.16b"),
    Set(NOWHERE, "LSE", r"(casp?|swp|(ld|st)(add|clr|eor|set|[su](max|min)))(a?l?)[bh]?",
        "cas x0, x1, [x2]; casal w0, w1, [x2]; ldadd x0, x1, [x2]; ldsetal w0, w1, [x2]; swpal x0, x1, [x2]; stadd x0, [x2]"),
    Set(NOWHERE, "RCPC, CRC32, FLAGM", r"ldapu?r\w*|stlur\w*|crc32\w+|cfinv|rmif|setf\d+",
        "ldapr x0, [x1]; crc32x w0, w1, x2; cfinv"),
    Set(NOWHERE, "AES, SHA, SM", r"aes\w+|sha(1|256|512)\w+|sm[34]\w+",
        "aese v0.16b, v1.16b; sha1h s0, s1; sha256h q0, q1, v2.4s; sha512h q0, q1, v2.2d; sm4e v0.4s, v1.4s"),
    Set(NOWHERE, "PMULL", r"pmull2?", "pmull v0.1q, v1.1d, v2.1d; pmull2 v0.1q, v1.2d, v2.2d", operands=r"\.1q"),
    Set(NOWHERE, "SHA3", r"eor3|bcax|rax1|xar", "eor3 v0.16b, v1.16b, v2.16b, v3.16b; rax1 v0.2d, v1.2d, v2.2d"),
    Set(NOWHERE, "RDM, JSCVT, FRINTTS", r"sqrdml[as]h|fjcvtzs|frint(32|64)[xz]",
        "sqrdmlah v0.4s, v1.4s, v2.4s; fjcvtzs w0, d0; frint32x v0.4s, v1.4s"),
    Set(NOWHERE, "PAUTH", r"reta[ab]|bl?ra[ab]z?|ldra[ab]", "retaa; blraaz x0"),
    Set(NOWHERE, "unknown to objdump", r"\.inst", ".inst 0xffffffff"),
]
ARM_BASELINE = """fadd v0.4s, v1.4s, v2.4s; fmla v0.2d, v1.2d, v2.2d; fmadd d0, d1, d2, d3; fsqrt d0, d1; faddp s0, v1.2s;
  fcvtl v0.4s, v1.4h; fcvtl2 v0.4s, v1.8h; fcvtn v0.4h, v1.4s; fcvt s0, h1; fcvt h0, s1; ldr h0, [x0]; str h0, [x0];
  ld1 {v0.8h}, [x0]; ldp q0, q1, [x0]; add v0.8h, v1.8h, v2.8h; addp v0.4s, v1.4s, v2.4s; sqadd v0.4s, v1.4s, v2.4s;
  mul v0.4s, v1.4s, v2.4s; mla v0.4s, v1.4s, v2.s[1]; pmull v0.8h, v1.8b, v2.8b; pmull2 v0.8h, v1.16b, v2.16b;
  bsl v0.16b, v1.16b, v2.16b; tbl v0.16b, {v1.16b, v2.16b}, v3.16b; ext v0.16b, v1.16b, v2.16b, #4; cnt v0.16b, v1.16b;
  shrn v0.4h, v1.4s, #16; sri v0.4s, v1.4s, #3; ushll v0.4s, v1.4h, #0; dup v0.8h, w0; umulh x0, x1, x2; bfi x0, x1, #3, #4;
  bfxil x0, x1, #3, #4; ldaxr x0, [x1]; stlxr w0, x1, [x2]; ldar x0, [x1]; stlr x0, [x1]; mrs x0, fpcr; hint #25; bl .; ret"""


class Architecture(NamedTuple):
    targets: dict  # as in the names of Highway's namespaces, and the names in ADDNORM_MAX_TARGET
    own_registers: dict
    sets: list
    baseline: str  # instructions of no set
    assembler: list


ARCHITECTURES = {
    "x86_64": Architecture(
        {"N_AVX2": "avx2", "N_AVX3": "avx512"}, {"N_AVX2": re.compile(r"%ymm"), "N_AVX3": re.compile(r"%zmm")},
        X86_SETS, X86_BASELINE, ["as", "--64"]),
    "aarch64": Architecture(
        {"N_NEON_WITHOUT_AES": "neon", "N_SVE": "sve"},
        {"N_NEON_WITHOUT_AES": re.compile(r"\bv\d+\.(2d|4s|8h|16b|2s|4h|8b)\b"), "N_SVE": re.compile(r"\bz\d+\b")},
        ARM_SETS, ARM_BASELINE,
        ["as", "-march=armv8.6-a+sve2+sve2-aes+f32mm+f64mm+crypto+sha3+sm4+fp16fml"]),
}
# Highway asks for the length of SVE vectors once it has seen that there are any.
BASELINE_EXCEPTION = "addnorm_hwy::arm::DetectAdditionalSveTargets(long)"
# Floating-point arithmetic, as opposed to moves: what the kernels do in the target's own registers, but for the few
# steps of a row that concern one value.
ARITHMETIC = re.compile(r"v(add|sub|mul|fn?m(add|sub)\d+)[ps][sd]\b|f(n?m(add|sub|la|ls|ad)|add|sub|mul)\b")
FUNCTION = re.compile(r"[0-9a-f]+ <(.*)>:$")
# x86's encoding tells AVX and AVX-512 apart better than names do. It begins after the prefixes.
INSTRUCTION = re.compile(r"\s+[0-9a-f]+:\t(?:(?:26|2e|36|3e|6[4-7]|f[023]) )*(c4|c5|62|8f [02468ace][89a])?[0-9a-f ]*\t"
                         r"(?:(?:\{\w+\}|rep\w*|lock|bnd|notrack|data16|[cd]s)\s+(?=\S))*(.*?)(?:\s*(?://|<|  #).*)?$")
ENCODINGS = {None: "", "c4": "VEX", "c5": "VEX", "62": "EVEX"}


def functions(objdump, objects):
    """Yields (object file, function, instructions) of every function; an instruction is (encoding, text)."""
    command = [objdump, "--disassemble", "--demangle", "--wide", "--show-raw-insn", *objects]
    listing = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    member, name, instructions = None, None, []
    for line in listing.splitlines() + ["0 <>:"]:
        if instruction := INSTRUCTION.match(line):
            encoding, text = instruction.groups()
            if text:
                instructions.append((ENCODINGS.get(encoding, "XOP"), text.replace("\t", " ")))
        elif header := FUNCTION.match(line):
            if name:
                yield member, name, instructions
            member, name, instructions = member_next, header[1], []
        elif header := re.match(r"(\S+):\s+file format", line):
            member_next = pathlib.Path(header[1]).name


def forbidden_sets(architecture, target, baseline):
    """The sets that are above the target, or above the baseline if that is better."""
    levels = [None, *architecture.targets, NOWHERE]
    allowed = max(levels.index(target), levels.index(baseline))
    return Sets([each for each in architecture.sets if levels.index(each.level) > allowed])


def check_tables(objdump, name):
    """Every example is of its set and of none of a higher level; the baseline's instructions are of none."""
    architecture = ARCHITECTURES[name]
    cases = [(each, text.strip()) for each in architecture.sets for text in each.examples.split(";")]
    cases += [(None, text.strip()) for text in architecture.baseline.split(";")]
    tool, *flags = architecture.assembler
    with tempfile.TemporaryDirectory() as work:
        objects = pathlib.Path(work, "examples.o")
        source = "examples:\n" + "".join(f"{text}\n" for _, text in cases)
        subprocess.run([re.sub("objdump$", tool, objdump), *flags, "-o", objects, "-"], input=source, text=True, check=True)
        (_, _, instructions), = functions(objdump, [objects])
    assert len(cases) == len(instructions), (len(cases), len(instructions))
    forbidden = {level: forbidden_sets(architecture, level, None) for level in [None, *architecture.targets, NOWHERE]}
    for (own, text), instruction in zip(cases, instructions):
        if own and not Sets([own]).of(instruction):
            yield f"{text} is not recognised as {own.name}: {instruction}"
        if others := forbidden[own and own.level].of(instruction):
            yield f"{text} is taken for {', '.join(others)}: {instruction}"


def check_functions(objdump, name, build, expected, baseline):
    architecture = ARCHITECTURES[name]
    # With link-time optimization the objects have no machine code yet.
    shared = pathlib.Path(build).is_file()
    objects = [build] if shared else sorted(pathlib.Path(build, "CMakeFiles", "addnorm.dir").rglob("*.o"))
    forbidden = {target: forbidden_sets(architecture, target, baseline) for target in [None, *architecture.targets]}
    counts = collections.defaultdict(collections.Counter)
    for member, function, instructions in functions(objdump, objects):
        # Names that objdump cannot demangle have their length before them.
        target = next((t for t in architecture.targets if f"{t}::" in function or f"{len(t)}{t}" in function), None)
        count = counts[member, target]
        count["functions"] += 1
        for instruction in instructions:
            text = instruction[1]
            if (sets := forbidden[target].of(instruction)) and function != BASELINE_EXCEPTION:
                yield f"{member}: {target or 'baseline'} function {function} has {', '.join(sets)}: {text}"
            if target and ARITHMETIC.match(text):
                count["own" if architecture.own_registers[target].search(text) else "other"] += 1
    print(f"{'object':24} {'target':20} {'functions':>9} {'own arithmetic':>15} {'other':>6}")
    for (member, target), count in sorted(counts.items(), key=str):
        print(f"{member:24} {target or 'baseline':20} {count['functions']:9} {count['own']:15} {count['other']:6}")
    kernels = {member for member, target in counts if counts[member, target]["own"]}
    for target, called in architecture.targets.items():
        for member in sorted(kernels):
            if called in expected and not counts[member, target]["own"]:
                yield f"{member}: no arithmetic of {target} in registers of its own class"
        if called not in expected and any(counts[member, target]["functions"] for member in kernels):
            yield f"there are functions of {target}, which is not expected"
    if not kernels and expected & set(architecture.targets.values()):
        yield f"{build} has no kernel of any target"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("objdump")
    parser.add_argument("architecture", choices=ARCHITECTURES)
    parser.add_argument("build", help="a build directory or a shared library")
    parser.add_argument("--targets", help="those that are compiled in, as in ADDNORM_MAX_TARGET (default: all)")
    parser.add_argument("--baseline", help="the target that the compiler's flags allow everywhere (default: none)")
    args = parser.parse_args()
    targets = ARCHITECTURES[args.architecture].targets
    expected = set(args.targets.split(",")) if args.targets else set(targets.values())
    baseline = next((target for target, called in targets.items() if called == args.baseline), None)
    faults = list(check_tables(args.objdump, args.architecture))
    faults += check_functions(args.objdump, args.architecture, args.build, expected, baseline)
    for fault in faults[:40]:
        print(f"error: {fault}", file=sys.stderr)
    return 1 if faults else 0


sys.exit(main())
