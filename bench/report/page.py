# Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
"""One self-contained HTML page of plots."""
import html
import math

import plotly.graph_objects as go
import plotly.io
from plotly.subplots import make_subplots

import results

COLORS = ("#1f4e9c", "#e07b39", "#3a9d5d", "#b23a48", "#7d5ba6", "#8a8d91", "#c2a83e", "#2a9d9d")
TABLE_OPS = ("rms_norm", "layer_norm", "add_rms_norm", "add_layer_norm")
MULTIPLE = "multiple of the one-pass roof"

STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; color: #222; max-width: 1180px; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.2rem; margin: 2.2rem 0 .2rem; } p { margin: .3rem 0 .6rem; max-width: 60rem; }
table { border-collapse: collapse; font-size: 13px; } td, th { border: 1px solid #ccc; padding: .3rem .5rem; text-align: left; }
"""


class Palette:
    """The same colour for the same name all over the page."""

    def __init__(self):
        self.names = []

    def color(self, name):
        if name not in self.names:
            self.names.append(name)
        return COLORS[self.names.index(name) % len(COLORS)]


def facets(titles, row_height=270, gap=70, **options):
    """A figure of small plots, side by side, with one legend."""
    columns = min(2, len(titles))
    rows = -(-len(titles) // columns)
    inner = rows * row_height
    figure = make_subplots(rows=rows, cols=columns, subplot_titles=titles, horizontal_spacing=0.08,
                           vertical_spacing=gap / (inner + gap), **options)
    figure.update_layout(template="plotly_white", height=inner + 110, margin=dict(l=60, r=20, t=70, b=40),
                         legend=dict(orientation="h", x=0, y=1, yref="container", yanchor="top"), font=dict(size=12))
    return figure, [(i // columns + 1, i % columns + 1) for i in range(len(titles))]


class Series:
    """Adds traces to facets, each name once to the legend."""

    def __init__(self, figure, palette):
        self.figure, self.palette, self.seen = figure, palette, set()

    def style(self, name):
        first = name not in self.seen
        self.seen.add(name)
        return dict(name=name, legendgroup=name, showlegend=first)

    def bars(self, place, name, x, y, text, errors=None, **options):
        self.figure.add_trace(go.Bar(x=x, y=y, hovertext=text, hoverinfo="text+name", marker_color=self.palette.color(name),
                                     error_y=dict(type="data", array=errors, symmetric=False, arrayminus=[0] * len(y),
                                                  thickness=1, width=2) if errors else None,
                                     **options, **self.style(name)), row=place[0], col=place[1])

    def line(self, place, name, x, y, text, dash=None):
        self.figure.add_trace(go.Scatter(x=x, y=y, hovertext=text, hoverinfo="text+name", mode="lines+markers",
                                         line=dict(color=self.palette.color(name), dash=dash, width=2),
                                         marker=dict(size=5), **self.style(name)), row=place[0], col=place[1])


def hover(case, timing):
    text = f"{case['name']}<br>{timing['ns']:.4g} ns, {results.gb_per_s(case, timing):.1f} GB/s, spread {timing['spread']:.0%}"
    for roof in results.ROOFS:
        if f"x_{roof}" in timing:
            text += f"<br>{timing['x_' + roof]:.2f} of {roof.replace('_', ' ')}"
    return text


def by_op(cases, ops=None):
    """{op: its cases}, each in the file's order."""
    groups = {}
    for case in cases:
        if ops is None or case["op"] in ops:
            groups.setdefault(case["op"], []).append(case)
    return groups


def results_by_name(cases, keep=lambda result: "data" not in result):
    """{who: [(case, result)]}."""
    found = {}
    for case in cases:
        for result in case["results"]:
            if keep(result):
                found.setdefault(results.who(result), []).append((case, result))
    return found


def cap(own, least):
    """The end of an axis on which those who are many times slower do not flatten the others."""
    return max(least, 1.2 * max(own, default=0))


def multiples(cases, palette, label=results.shape):
    groups = by_op(cases)
    figure, places = facets(list(groups))
    series, own = Series(figure, palette), []
    for place, group in zip(places, groups.values()):
        for name, found in results_by_name(group).items():
            y = [result["x_one_pass"] for _, result in found]
            own += y if name.startswith("addnorm") else []
            errors = [result["x_one_pass"] * min(results.noise(case, result), 1) for case, result in found]
            series.bars(place, name, [label(case) for case, _ in found], y,
                        [hover(case, result) for case, result in found], errors)
        figure.add_hline(y=1, line=dict(color="#222", width=1, dash="dot"), row=place[0], col=place[1])
    figure.update_layout(barmode="group", bargap=0.25)
    figure.update_xaxes(type="category")
    figure.update_yaxes(range=[0, cap(own, 3)])
    return figure


def by_shape(runs, palette):
    for run in runs:
        for suite, title in (("table", "Multiple of the one-pass roof by shape"), ("backward", "Backward, the same")):
            cases = [case for case in run.suite(suite) if results.dtype(case) == "f32"]
            if cases:
                yield (f"{title}: {run.label}",
                       "Time divided by that of the fastest single sweep over the same operands that reduces nothing (ordinary "
                       "stores, 1 = dotted line). f32, one thread. Thin lines: the noise of this run. Bars beyond the axis are cut "
                       "off. Hover for the figures and the other roofs.",
                       multiples(cases, palette))


def sizes(runs, palette):
    """GB/s by working set, with the caches of the machine."""
    for run in runs:
        groups = by_op(run.suite("sizes"))
        if not groups:
            continue
        figure, places = facets(list(groups), gap=95)
        series = Series(figure, palette)
        for place, group in zip(places, groups.values()):
            for roof in ("one_pass", "one_pass_streaming"):
                found = [(case, case["roofs"][roof]) for case in group if case["roofs"][roof]]
                series.line(place, f"roof: {roof.replace('_', ' ')}".replace("pass streaming", "pass, streaming"), [case["bytes"] for case, _ in found],
                            [results.gb_per_s(case, timing) for case, timing in found],
                            [hover(case, timing) for case, timing in found], "dot")
            for name, found in results_by_name(group).items():
                series.line(place, name, [case["bytes"] for case, _ in found],
                            [results.gb_per_s(case, result) for case, result in found],
                            [hover(case, result) for case, result in found])
            for cache in ("l1d", "l2", "l3"):
                size = run.machine[f"{cache}_bytes"]
                if size:
                    figure.add_vline(x=size, line=dict(color="#999", width=1, dash="dash"), row=place[0], col=place[1])
                    figure.add_annotation(x=math.log10(size), y=1, yref="y domain", text=cache[:2].upper(),
                                          showarrow=False, xanchor="left", font=dict(size=10, color="#777"),
                                          row=place[0], col=place[1])
        figure.update_xaxes(type="log", title_text="bytes of all operands")
        figure.update_yaxes(title_text="GB/s", type="log", dtick="D2")
        yield (f"GB/s by size of the working set: {run.label}",
               "Rows of 1024 columns, f32, one thread, hot caches. Dashed verticals: the caches of a core, and the shared one.",
               figure)


def targets(runs, palette):
    """Each target's time, in that of the best."""
    for run in runs:
        names = run.document["targets"]
        groups = by_op(run.suite("table"))
        if len(names) < 2 or not groups:
            continue
        figure, places = facets(list(groups))
        series = Series(figure, palette)
        for place, group in zip(places, groups.values()):
            for target in names[1:]:
                pairs = [(case, results.find(case, "addnorm", target), results.find(case, "addnorm", names[0]))
                         for case in group]
                series.bars(place, f"{target} / {names[0]}", [results.shape(case) for case, _, _ in pairs],
                            [result["ns"] / best["ns"] for _, result, best in pairs],
                            [hover(case, result) for case, result, _ in pairs])
            figure.add_hline(y=1, line=dict(color="#222", width=1, dash="dot"), row=place[0], col=place[1])
        figure.update_xaxes(type="category")
        yield f"Target against target: {run.label}", f"Time of a call, {names[0]} = 1.", figure


def machines(runs, palette):
    """addnorm's best target on each machine."""
    if len(runs) < 2:
        return
    groups = by_op([case for run in runs for case in run.suite("table")], TABLE_OPS)
    if not groups:
        return
    figure, places = facets(list(groups))
    series = Series(figure, palette)
    for place, op in zip(places, groups):
        for run in runs:
            found = [(case, results.find(case, "addnorm", run.best_target())) for case in run.suite("table")
                     if case["op"] == op]
            if found:
                series.bars(place, run.label, [results.shape(case) for case, _ in found],
                            [result["x_one_pass"] for _, result in found],
                            [hover(case, result) for case, result in found])
        figure.add_hline(y=1, line=dict(color="#222", width=1, dash="dot"), row=place[0], col=place[1])
    figure.update_xaxes(type="category")
    figure.update_yaxes(title_text=MULTIPLE)
    yield "Machine against machine", "addnorm's best target on each, as a multiple of that machine's own roof.", figure


def peers(runs, palette):
    """How many times as long as addnorm the others take."""
    for run in runs:
        groups = by_op(run.suite("table"))
        if not groups or not run.document["peers"]:
            continue
        figure, places = facets(list(groups))
        series, means = Series(figure, palette), {}
        for place, group in zip(places, groups.values()):
            for name in run.document["peers"]:
                pairs = [(case, results.find(case, name), results.find(case, "addnorm", run.best_target()))
                         for case in group]
                pairs = [pair for pair in pairs if pair[1]]
                ratios = [peer["ns"] / own["ns"] for _, peer, own in pairs]
                means.setdefault(name, []).extend(ratios)
                series.bars(place, name, [results.shape(case) for case, _, _ in pairs], ratios,
                            [hover(case, peer) for case, peer, _ in pairs])
            figure.add_hline(y=1, line=dict(color="#222", width=1, dash="dot"), row=place[0], col=place[1])
        figure.update_xaxes(type="category")
        figure.update_yaxes(range=[0, 4])
        mean = "; ".join(f"{results.peer_name(run, name)}: {results.geometric_mean(ratios):.2f}"
                         for name, ratios in means.items() if ratios)
        yield (f"Peers: {run.label}", f"Time of a call, addnorm's best target = 1: above the line addnorm is faster. Bars beyond "
               f"the axis are cut off. "
               f"Geometric means: {mean}.", figure)


def decode(runs, palette):
    for run in runs:
        groups = by_op([case for case in run.suite("decode") if case["dtypes"].startswith("f32")])
        if not groups:
            continue
        figure, places = facets(list(groups), gap=95)
        series = Series(figure, palette)
        for place, group in zip(places, groups.values()):
            series.line(place, "roof: one pass", [case["cols"] for case in group],
                        [case["roofs"]["one_pass"]["ns"] for case in group],
                        [hover(case, case["roofs"]["one_pass"]) for case in group], "dot")
            for name, found in results_by_name(group).items():
                series.line(place, name, [case["cols"] for case, _ in found], [result["ns"] for _, result in found],
                            [hover(case, result) for case, result in found])
        figure.update_xaxes(type="log", title_text="columns", tickvals=[16, 64, 256, 1024, 4096, 16384])
        figure.update_yaxes(type="log", title_text="ns", dtick=1)
        yield f"Decode: one row, {run.label}", "Time of a call on one row in cache, f32.", figure


def prefill(runs, palette):
    for run in runs:
        cases = run.suite("prefill")
        if cases:
            yield (f"Prefill: {run.label}", "Large matrices, f32 and bf16, as multiples of the one-pass roof.",
                   multiples(cases, palette, lambda case: f"{results.shape(case)}<br>{results.dtype(case)}"))


def models(runs, palette):
    for run in runs:
        groups = {}
        for case in run.suite("models"):
            groups.setdefault(results.dtype(case), []).append(case)
        if not groups:
            continue
        names = {f"{case['label']}, {results.shape(case)}": None for group in groups.values() for case in group}
        figure, places = facets(list(groups), row_height=22 * len(names), shared_yaxes=True)
        series = Series(figure, palette)
        for place, group in zip(places, groups.values()):
            for name, found in results_by_name(group).items():
                series.bars(place, name, [result["x_one_pass"] for _, result in found],
                            [f"{case['label']}, {results.shape(case)}" for case, _ in found],
                            [hover(case, result) for case, result in found], orientation="h")
            figure.add_vline(x=1, line=dict(color="#222", width=1, dash="dot"), row=place[0], col=place[1])
        figure.update_yaxes(autorange="reversed", tickfont=dict(size=10))
        own = [result["x_one_pass"] for group in groups.values() for case in group for result in case["results"]
               if result["who"] == "addnorm"]
        figure.update_xaxes(title_text=MULTIPLE, range=[0, cap(own, 3)])
        yield (f"Models: {run.label}", "The Add & Norm steps of well-known models, one token and a prompt (tokens x hidden "
               "size; QK norm: tokens * heads x head size).", figure)


def hard(runs, palette):
    for run in runs:
        groups = by_op(run.suite("hard"))
        if not groups:
            continue
        figure, places = facets(list(groups))
        series = Series(figure, palette)
        for place, group in zip(places, groups.values()):
            for shape in dict.fromkeys(map(results.shape, group)):
                x, y, text = [], [], []
                for case in group:
                    if results.shape(case) != shape:
                        continue
                    own = results.find(case, "addnorm", run.best_target())
                    plain = next(r for r in case["results"] if r.get("data") == "normal" and r["target"] == own["target"])
                    x.append(case["data"] + ("<br>eps 0" if case["epsilon"] == 0 else ""))
                    y.append(own["ns"] / plain["ns"])
                    text.append(hover(case, own))
                series.bars(place, shape, x, y, text)
            figure.add_hline(y=3, line=dict(color="#b23a48", width=1, dash="dot"), row=place[0], col=place[1])
        figure.update_xaxes(tickangle=0, tickfont=dict(size=10))
        yield (f"Hard rows: {run.label}", "Time of rows off the plain path, a plain row = 1. Red line: the promised limit.",
               figure)


def threads(runs, palette):
    for run in runs:
        groups = by_op(run.suite("threads"))
        if not groups:
            continue
        figure, places = facets(list(groups))
        series = Series(figure, palette)
        for place, group in zip(places, groups.values()):
            one = {results.shape(case): case for case in group if case["threads"] == 1}
            two = [case for case in group if case["threads"] == 2]
            x = [results.shape(case) for case in two]
            for name, timing in (("addnorm", lambda case: results.find(case, "addnorm", run.best_target())),
                                 ("roof: one pass", lambda case: case["roofs"]["one_pass"])):
                series.bars(place, name, x, [timing(one[results.shape(case)])["ns"] / timing(case)["ns"] for case in two],
                            [hover(case, timing(case)) for case in two])
            figure.add_hline(y=2, line=dict(color="#222", width=1, dash="dot"), row=place[0], col=place[1])
        figure.update_xaxes(type="category")
        yield (f"Two threads: {run.label}", "How many times as fast as one thread, rows split in two; and the same of the "
               "one-pass roof, which tells what the memory gives.", figure)


SECTIONS = (by_shape, peers, targets, machines, sizes, decode, prefill, models, hard, threads)


def machine_table(runs):
    def size(count):
        return f"{count // 1024} KB" if count < 1 << 20 else f"{count / (1 << 20):g} MB"

    rows = ["<tr><th>machine<th>CPU<th>L1d, L2, L3<th>system<th>compiler<th>commit<th>date<th>load before, after<th>peers</tr>"]
    for run in runs:
        d, m = run.document, run.machine
        caches = ", ".join(size(m[f"{cache}_bytes"]) for cache in ("l1d", "l2", "l3"))
        cells = (run.label, f"{m['cpu']}, {m['cores']} cores{', virtual' if m['virtual'] else ''}", caches, m["system"],
                 m["compiler"], d["commit"], d["date"].replace("T", " ").rstrip("Z"), f"{d['load_before']:.1f}, {d['load_after']:.1f}",
                 ", ".join(results.peer_name(run, name) for name in d["peers"]))
        rows.append("<tr>" + "".join(f"<td>{html.escape(str(cell))}" for cell in cells) + "</tr>")
    return "<table>" + "\n".join(rows) + "</table>"


def write(runs, path):
    palette, parts, with_library = Palette(), [], True
    for section in SECTIONS:
        for title, caption, figure in section(runs, palette):
            plot = plotly.io.to_html(figure, full_html=False, include_plotlyjs=with_library,
                                     config={"displayModeBar": False, "responsive": True})
            with_library = False  # inline, once
            parts.append(f"<h2>{html.escape(title)}</h2><p>{html.escape(caption)}</p>{plot}")
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"<!doctype html><html lang='en'><head><meta charset='utf-8'><title>addnorm: benchmarks</title>"
                   f"<style>{STYLE}</style></head><body><h1>addnorm: benchmarks</h1>{machine_table(runs)}"
                   f"{''.join(parts) or '<p>No suite of the report was measured.</p>'}</body></html>\n")


def write_plot(run, path):
    """What README.md shows: the four norms over the table's shapes, with those who come near."""
    shown = ("addnorm", "plain", "oneDNN", "Eigen")
    keep = [{**case, "results": [result for result in case["results"] if result["who"] in shown]}
            for case in run.suite("table") if case["op"] in TABLE_OPS]
    figure = multiples(keep, Palette())
    figure.update_layout(width=980, height=560, margin=dict(l=60, r=10, t=70, b=30))
    figure.update_traces(error_y=None)
    figure.update_xaxes(tickangle=0, tickfont=dict(size=10))
    figure.update_yaxes(title_text=MULTIPLE, title_font=dict(size=11), col=1)
    plotly.io.write_image(figure, path)
