# Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
"""Markdown tables for docs/BENCHMARKS.md."""
import results


def columns(run):
    """(heading, name, target) of addnorm on each target, and of each peer."""
    own = [(f"addnorm {target}", "addnorm", target) for target in run.document["targets"]]
    return own + [(results.peer_name(run, name), name, None) for name in run.document["peers"]]


def cell(case, name, target):
    result = results.find(case, name, target)
    return "-" if result is None else f"{result['x_one_pass']:.2f}"


def streaming(case):
    roofs = case["roofs"]
    if roofs["one_pass_streaming"] is None:
        return "-"
    return f"{roofs['one_pass_streaming']['ns'] / roofs['one_pass']['ns']:.2f}"


def table(run, suite="table"):
    heads = columns(run)
    lines = ["| operation | shape | ns | GB/s | " + " | ".join(head for head, _, _ in heads) +
             " | one pass, streaming | noise |",
             "|---|---|--:|--:|" + "--:|" * (len(heads) + 2)]
    for case in run.suite(suite):
        best = results.find(case, "addnorm", run.best_target())
        cells = [cell(case, name, target) for _, name, target in heads]
        dtype = results.dtype(case)
        op = case["op"] + (f", {dtype}" if dtype != "f32" else "")
        lines.append(f"| {op} | {results.shape(case)} | {best['ns']:.0f} | {results.gb_per_s(case, best):.0f} | " +
                     " | ".join(cells) + f" | {streaming(case)} | {results.noise(case, best):.0%} |")
    return "\n".join(lines)


def advantage(run, suite="table"):
    """How many times as long as addnorm each peer takes: geometric means."""
    lines = []
    for name in run.document["peers"]:
        for op in dict.fromkeys(case["op"] for case in run.suite(suite)):
            ratios = []
            for case in run.suite(suite):
                own, peer = results.find(case, "addnorm", run.best_target()), results.find(case, name)
                if case["op"] == op and peer is not None:
                    ratios.append(peer["ns"] / own["ns"])
            if ratios:
                lines.append((name, op, results.geometric_mean(ratios), min(ratios)))
    return "\n".join(["| peer | operation | time, addnorm = 1 | worst shape |", "|---|---|--:|--:|"] +
                     [f"| {name} | {op} | {mean:.2f} | {worst:.2f} |" for name, op, mean, worst in lines])


def text(runs):
    parts = []
    for run in runs:
        d = run.document
        parts.append(f"{run.label}; commit {d['commit'] or 'unknown'}, {d['date'][:10]}; load {d['load_before']:.1f} "
                     f"before, {d['load_after']:.1f} after")
        for suite in ("table", "backward"):
            if run.suite(suite):
                parts += [table(run, suite), advantage(run, suite)]
    return "\n\n".join(parts)
