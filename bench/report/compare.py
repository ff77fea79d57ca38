# Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
"""Tells a change of speed from noise."""
import collections

import results

# Where the rounds of one run differ by more, a comparison says nothing.
TOO_NOISY = 0.5

Change = collections.namedtuple("Change", "case who before after noise")
Changes = collections.namedtuple("Changes", "slower faster same noisy missing")


def measured(run, metric):
    """{(suite, case, who): (figure, noise)} of addnorm; peers come and go."""
    figures = {}
    for case in run.cases:
        for result in case["results"]:
            if result["who"] != "addnorm":
                continue
            noise = result["spread"] if metric == "ns" else results.noise(case, result)
            figures[case["suite"], case["name"], results.who(result)] = (result[metric], noise)
    return figures


def compare(before, after, least, metric):
    old, new = measured(before, metric), measured(after, metric)
    slower, faster, noisy, same = [], [], [], 0
    for key in old.keys() & new.keys():
        (was, was_noise), (now, now_noise) = old[key], new[key]
        change = Change(": ".join(key[:2]), key[2], was, now, max(least, was_noise + now_noise))
        if change.noise > TOO_NOISY:
            noisy.append(change)
        elif now > was * (1 + change.noise):
            slower.append(change)
        elif was > now * (1 + change.noise):
            faster.append(change)
        else:
            same += 1

    def by_size(change):
        return change.before / change.after, change.case, change.who

    missing = sorted(": ".join(key) for key in old.keys() - new.keys())
    return Changes(sorted(slower, key=by_size), sorted(faster, key=by_size, reverse=True), same,
                   sorted(noisy, key=by_size), missing)


def text(before, after, changes):
    lines = []
    if before.machine["cpu"] != after.machine["cpu"]:
        lines.append(f"Different CPUs: {before.machine['cpu']}; {after.machine['cpu']}")
    for title, some in (("slower", changes.slower), ("faster", changes.faster)):
        for c in some:
            lines.append(f"{title:7} {c.after / c.before - 1:+6.1%}  {c.before:.3g} -> {c.after:.3g} "
                         f"(noise {c.noise:.1%})  {c.case}, {c.who}")
    lines += [f"missing          {name}" for name in changes.missing]
    lines.append(f"{len(changes.slower)} slower, {len(changes.faster)} faster, {changes.same} the same within the noise, "
                 f"{len(changes.noisy)} too noisy to tell, {len(changes.missing)} missing")
    return "\n".join(lines)
