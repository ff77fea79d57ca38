# Copyright 2026 The addnorm authors. SPDX-License-Identifier: Apache-2.0
"""Plots what example_depth_cc wrote, and prints the tables of docs/DEPTH.md.

Usage: plot.py FOLDER [OUTPUT]    reads FOLDER/*.csv, writes OUTPUT/depth.svg and OUTPUT/training.svg
"""
import csv
import math
import pathlib
import sys

import matplotlib
from matplotlib.lines import Line2D

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402  after use()

COLORS = {"no residual": "#8a8d91", "residual without norm": "#b23a48", "Post-LN": "#1f4e9c", "Pre-LN": "#3a9d5d",
          "post-norm in the residual": "#e07b39"}
DASHES = {"none": "-", "LayerNorm": "-", "RMSNorm": (0, (4, 1.5))}
STYLE = {"svg.hashsalt": "addnorm", "svg.fonttype": "none", "font.family": "sans-serif", "font.size": 9, "axes.grid": True,
         "grid.color": "#ddd", "grid.linewidth": 0.6, "axes.spines.top": False, "axes.spines.right": False}
# Metadata without a date, so that equal figures are equal files.
METADATA = {"Date": None, "Creator": None}


def read(path):
    """{(placement, norm): {layers: rows}}, in the file's order."""
    found = {}
    with open(path, encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            by_layers = found.setdefault((row["placement"], row["norm"]), {})
            by_layers.setdefault(int(row["layers"]), []).append(row)
    return found


def within(limits, rows, column):
    """The column's values; those beyond the axis, NaN and infinity too, at its edge."""
    low, high = limits
    values = [float(row[column]) if row[column] else low for row in rows]
    return [min(max(value, low), high) if math.isfinite(value) else high for value in values]


def style(variant):
    return {"color": COLORS[variant[0]], "linestyle": DASHES[variant[1]], "linewidth": 1.5}


def legend(figure):
    lines = [Line2D([], [], color=color, label=name) for name, color in COLORS.items()]
    lines += [Line2D([], [], color="#444", linestyle=DASHES[name], label=name) for name in ("LayerNorm", "RMSNorm")]
    figure.legend(handles=lines, loc="upper center", ncols=len(lines), frameon=False, fontsize=8.5, handlelength=2.6,
                  columnspacing=1.2)


def save(figure, path):
    figure.tight_layout(rect=(0, 0, 1, 0.93))
    figure.savefig(path, metadata=METADATA)
    plt.close(figure)


def plot_depth(found, path):
    deepest = max(layers for by_layers in found.values() for layers in by_layers)
    panels = (("activation_rms", "activations: root mean square", (1e-8, 1e8)),
              ("stream_gradient_norm", "gradient of the stream: norm", (1e-8, 1e8)),
              ("parameter_gradient_norm", "gradient of the parameters: norm", (1e-8, 1e8)))
    figure, axes = plt.subplots(1, len(panels), figsize=(11, 3.7))
    for axis, (column, title, limits) in zip(axes, panels):
        for variant, by_layers in found.items():
            rows = [row for row in by_layers[deepest] if row[column]]  # the embedding has no parameters of a layer
            axis.plot([int(row["layer"]) for row in rows], within(limits, rows, column), clip_on=False, **style(variant))
        axis.set(title=title, xlabel=f"layer, of {deepest} (0: the embedding)", yscale="log", ylim=limits, xlim=(0, deepest))
    legend(figure)
    save(figure, path)


def plot_training(found, path):
    depths, limits = sorted({layers for by_layers in found.values() for layers in by_layers}), (3e-3, 10)
    figure, axes = plt.subplots(1, len(depths), figsize=(11, 3.7), squeeze=False)
    for axis, layers in zip(axes[0], depths):
        for variant, by_layers in found.items():
            rows = by_layers.get(layers, [])
            axis.plot([int(row["step"]) for row in rows], within(limits, rows, "loss"), clip_on=False, **style(variant))
        axis.set(title=f"{layers} layers", xlabel="step", ylabel="loss (cross-entropy)", yscale="log", ylim=limits)
    legend(figure)
    save(figure, path)


def short(text):
    value = float(text) if text else math.nan
    if value == 0:
        return "0 (below f32)"
    return f"{value:.2g}" if math.isfinite(value) else "beyond f32"


def table_of_depths(found, column, layer_of, title):
    depths = sorted({layers for by_layers in found.values() for layers in by_layers})
    print(f"\n{title}\n\n| placement, norm | " + " | ".join(map(str, depths)) + " |\n|---|" + "---|" * len(depths))
    for (placement, norm), by_layers in found.items():
        cells = [short(by_layers[layers][layer_of(layers)][column]) for layers in depths]
        print(f"| {placement}{'' if norm == 'none' else ', ' + norm} | " + " | ".join(cells) + " |")


def print_tables(initialisation, training):
    table_of_depths(initialisation, "activation_rms", lambda layers: layers, "activations after the last layer")
    for column in ("stream_gradient_norm", "parameter_gradient_norm"):
        table_of_depths(initialisation, column, lambda layers: 1, f"{column} at layer 1")
        table_of_depths(initialisation, column, lambda layers: layers, f"{column} at the last layer")
    print("\nloss and accuracy of the last steps\n")
    for (placement, norm), by_layers in training.items():
        for layers, rows in by_layers.items():
            last = rows[-1]
            print(f"{placement}, {norm}, {layers} layers, step {last['step']}: loss {float(last['loss']):.2g}, "
                  f"accuracy {float(last['accuracy']):.0%}")


def main(folder, output=None):
    folder, output = pathlib.Path(folder), pathlib.Path(output or folder)
    initialisation, training = read(folder / "initialisation.csv"), read(folder / "training.csv")
    with plt.rc_context(STYLE):
        plot_depth(initialisation, output / "depth.svg")
        plot_training(training, output / "training.svg")
    print_tables(initialisation, training)


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    main(*sys.argv[1:])
