# Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
"""Tests of the report, with files as small as they get."""
import contextlib
import copy
import importlib.util
import io
import json
import os
import tempfile
import unittest

import compare
import results
import tables

HERE = os.path.dirname(os.path.abspath(__file__))


def load_program():
    spec = importlib.util.spec_from_file_location("report", os.path.join(HERE, "__main__.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def timing(ns, spread=0.01):
    return {"ns": ns, "median_ns": ns, "spread": spread, "rounds": 9, "by": "x1"}


def result(who, ns, roof_ns, spread=0.01, **more):
    entry = {"who": who, **more, **timing(ns, spread)}
    entry.update({f"x_{roof}": ns / roof_ns for roof in results.ROOFS})
    return entry


def case(suite="table", op="rms_norm", rows=32, cols=4096, ns=110.0, plain=200.0, spread=0.01, roof=100.0, **more):
    made = {"suite": suite, "name": f"{op}/f32>f32/{rows}x{cols}", "op": op, "dtypes": "f32>f32", "rows": rows, "cols": cols,
            "bytes": 8 * rows * cols, "label": "", "cache": "hot", "in_place": False, "data": "normal", "epsilon": 1e-5,
            "threads": 1, "roofs": {name: timing(roof) for name in results.ROOFS},
            "results": [result("addnorm", ns, roof, spread, target="avx2"),
                        result("addnorm", 2 * ns, roof, spread, target="scalar"), result("plain", plain, roof, spread)]}
    made.update(more)
    return made


def document(*cases, name="box"):
    return {"format": 1, "date": "2026-11-30T01:02:03Z", "commit": "abc", "addnorm_version": 100, "numerics_version": 1,
            "machine": {"name": name, "cpu": name, "cores": 2, "l1d_bytes": 32768, "l2_bytes": 1 << 19, "l3_bytes": 1 << 25,
                        "virtual": True, "system": "Linux", "compiler": "GCC 12"},
            "load_before": 1.0, "load_after": 1.5, "targets": ["avx2", "scalar"], "peers": {"plain": "", "oneDNN": "3"},
            "cases": list(cases)}


def every_suite():
    cases = [case(suite, rows=rows) for suite in ("table", "backward", "sizes", "decode", "prefill") for rows in (1, 32)]
    cases.append(case("models", label="Llama"))
    cases += [case("threads"), case("threads", threads=2, ns=60.0)]
    hard = case("hard", data="mean_far")
    hard["results"].append(result("addnorm", 50.0, 100.0, target="avx2", data="normal"))
    return cases + [hard]


def changes(before, after, least=0.05, metric="x_one_pass"):
    return compare.compare(results.Run(before), results.Run(after), least, metric)


class CompareTest(unittest.TestCase):
    def test_the_same_is_the_same(self):
        found = changes(document(case()), document(case()))
        self.assertEqual((found.slower, found.faster, found.noisy, found.missing, found.same), ([], [], [], [], 2))

    def test_slower_beyond_the_noise(self):
        found = changes(document(case()), document(case(ns=130.0)))
        self.assertEqual([change.who for change in found.slower], ["addnorm avx2", "addnorm scalar"])
        self.assertEqual(found.faster, [])

    def test_slower_within_the_noise(self):
        self.assertEqual(changes(document(case(spread=0.1)), document(case(ns=130.0, spread=0.1))).slower, [])

    def test_the_noise_of_the_roof_counts_for_multiples_only(self):
        noisy = document(case(ns=130.0))
        for timings in noisy["cases"][0]["roofs"].values():
            timings["spread"] = 0.3
        self.assertEqual(changes(document(case()), noisy).slower, [])
        self.assertEqual(len(changes(document(case()), noisy, metric="ns").slower), 2)

    def test_a_slower_machine_is_no_slower_kernel(self):
        self.assertEqual(changes(document(case()), document(case(ns=220.0, roof=200.0))).slower, [])
        self.assertEqual(len(changes(document(case()), document(case(ns=220.0, roof=200.0)), metric="ns").slower), 2)

    def test_least(self):
        self.assertEqual(len(changes(document(case()), document(case(ns=130.0)), least=0.1).slower), 2)
        self.assertEqual(changes(document(case()), document(case(ns=130.0)), least=0.2).slower, [])

    def test_faster_and_missing(self):
        found = changes(document(case(), case(rows=1)), document(case(ns=80.0)))
        self.assertEqual(len(found.faster), 2)
        self.assertEqual(len(found.missing), 2)

    def test_too_noisy_to_tell(self):
        found = changes(document(case(spread=0.4)), document(case(ns=300.0, spread=0.4)))
        self.assertEqual((found.slower, len(found.noisy)), ([], 2))

    def test_peers_are_not_compared(self):
        self.assertEqual(changes(document(case()), document(case(plain=900.0))).slower, [])


class TablesTest(unittest.TestCase):
    def test_table(self):
        text = tables.text([results.Run(document(case(), case("decode")))])
        self.assertIn("| rms_norm | 32x4096 | 110 | 9533 | 1.10 | 2.20 | 2.00 | - | 1.00 | 2% |", text)

    def test_backward(self):
        backward = case("backward", op="rms_norm_backward", dtypes="bf16>bf16")
        self.assertIn("| rms_norm_backward, bf16 | 32x4096 | 110 |", tables.text([results.Run(document(case(), backward))]))

    def test_advantage(self):
        text = tables.advantage(results.Run(document(case(), case(rows=1, plain=55.0))))
        self.assertIn("| plain | rms_norm | 0.95 | 0.50 |", text)
        self.assertNotIn("oneDNN", text)

    def test_no_streaming_roof(self):
        without = case()
        without["roofs"]["one_pass_streaming"] = None
        self.assertIn("| - | - | 2% |", tables.table(results.Run(document(without))))


class FilesTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.program = load_program()

    def file(self, name, content):
        path = os.path.join(self.folder.name, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(content if isinstance(content, str) else json.dumps(content))
        return path

    def run_program(self, *arguments):
        output = io.StringIO()
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            code = self.program.main(list(arguments))
        return code, output.getvalue()

    def test_compare_exits_with_1_when_slower(self):
        before, after = self.file("a.json", document(case())), self.file("b.json", document(case(ns=150.0)))
        self.assertEqual(self.run_program("compare", before, before)[0], 0)
        code, output = self.run_program("compare", before, after)
        self.assertEqual(code, 1)
        self.assertIn("2 slower", output)

    def test_faults_are_named(self):
        wrong_format = document()
        wrong_format["format"] = 99
        for name, content in (("a.json", "{"), ("b.json", "{}"), ("c.json", wrong_format), ("d.json", "[]")):
            code, output = self.run_program("table", self.file(name, content))
            self.assertEqual(code, 2, name)
            self.assertIn(name, output)

    def test_runs_of_one_machine_are_told_apart(self):
        other = document(case())
        other["commit"] = "def"
        runs = results.load_all([self.file("a.json", document(case())), self.file("b.json", other)])
        self.assertEqual([run.label for run in runs], ["box, GCC 12 (abc)", "box, GCC 12 (def)"])

    @unittest.skipUnless(importlib.util.find_spec("plotly"), "plotly is not installed (requirements.txt)")
    def test_page(self):
        page = os.path.join(self.folder.name, "page.html")
        first = self.file("a.json", document(*every_suite()))
        second = self.file("b.json", document(*copy.deepcopy(every_suite()), name="<other>"))
        code, output = self.run_program("html", first, second, "-o", page)
        self.assertEqual((code, output), (0, ""))
        with open(page, encoding="utf-8") as file:
            text = file.read()
        for title in ("Multiple of the one-pass roof", "Backward", "Peers", "Target against target", "Machine against machine",
                      "GB/s by size", "Decode", "Prefill", "Models", "Hard rows", "Two threads"):
            self.assertIn(f"<h2>{title}", text)
        self.assertIn("&lt;other&gt;, GCC 12", text)
        self.assertNotIn("src=\"http", text)  # self-contained

    @unittest.skipUnless(importlib.util.find_spec("plotly"), "plotly is not installed (requirements.txt)")
    def test_page_of_nothing(self):
        page = os.path.join(self.folder.name, "page.html")
        self.assertEqual(self.run_program("html", self.file("a.json", document()), "-o", page)[0], 0)


if __name__ == "__main__":
    unittest.main()
