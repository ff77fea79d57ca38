# Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
"""The files that addnorm_bench --json writes."""
import json
import math

FORMAT = 1
ROOFS = ("copy", "one_pass", "copy_streaming", "one_pass_streaming")


class Unreadable(Exception):
    pass


class Run:
    """One file: a machine, a commit, and what was measured there."""

    def __init__(self, document):
        self.document = document
        self.machine = document["machine"]
        self.cases = document["cases"]
        self.label = f"{self.machine['name']}, {self.machine['compiler']}"

    def suite(self, name):
        return [case for case in self.cases if case["suite"] == name]

    def best_target(self):
        return self.document["targets"][0]


def load(path):
    try:
        with open(path, encoding="utf-8") as file:
            document = json.load(file)
        if document["format"] != FORMAT:
            raise Unreadable(f"{path}: format {document['format']}, not {FORMAT}")
        return Run(document)
    except (OSError, ValueError, KeyError, TypeError) as fault:
        raise Unreadable(f"{path}: not written by addnorm_bench --json ({fault!r})") from fault


def load_all(paths):
    """Each with a label of its own."""
    runs = [load(path) for path in paths]
    labels = [run.label for run in runs]
    for run, path in zip(runs, paths):
        if labels.count(run.label) > 1:
            run.label += f" ({run.document['commit'] or path})"
    return runs


def who(result):
    """Names a result among those of its case."""
    name = " ".join(filter(None, (result["who"], result.get("target"))))
    return f"{name}, {result['data']} rows" if "data" in result else name


def find(case, name, target=None):
    """addnorm's result on a target, or a peer's; None where there is none."""
    for result in case["results"]:
        if result["who"] == name and "data" not in result and target in (None, result.get("target")):
            return result
    return None


def shape(case):
    return f"{case['rows']}x{case['cols']}"


def dtype(case):
    """Of x."""
    return case["dtypes"].partition("+")[0].partition(">")[0]


def peer_name(run, name):
    """With its version."""
    return f"{name} {run.document['peers'][name]}".strip()


def gb_per_s(case, timing):
    return case["bytes"] / timing["ns"]


def noise(case, result):
    """How far a multiple of the one-pass roof may be off, as a part of it."""
    return result["spread"] + case["roofs"]["one_pass"]["spread"]


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else math.nan
