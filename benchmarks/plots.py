"""The pictures, as SVG: the counted cells and those of the family, and time against size and block size."""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
matplotlib.rcParams["svg.hashsalt"] = "dmlops"  # the same data gives the same file
matplotlib.rcParams["axes.spines.top"] = matplotlib.rcParams["axes.spines.right"] = False

import matplotlib.pyplot as plt  # noqa: E402

from contest import COPY, OURS  # noqa: E402
from summary import best_peer, group, ms  # noqa: E402

OURS_STYLE = {"color": "#c1121f", "marker": "o", "linewidth": 2.2, "zorder": 4}
COPY_STYLE = {"color": "#222222", "marker": "_", "linewidth": 1.2, "linestyle": "--", "zorder": 3}
BEST_STYLE = {"color": "#1d5f8a", "marker": "s", "linewidth": 1.6, "zorder": 3}
PEER_STYLES = {  # by where they run: a stroke, and colours in the order of the table
    "cpu": ("-", ("#1d5f8a", "#e08e1b", "#2a9d8f", "#8d5fd3", "#7a8450", "#d0709c")),
    "vulkan": (":", ("#444444", "#b5651d", "#777777")),
    "cuda": ("-.", ("#3f8f2f", "#8fbf3f")),
}
LABEL_STYLE = {
    "fontsize": 9,
    "color": BEST_STYLE["color"],
    "zorder": 5,
    "bbox": {"facecolor": "white", "edgecolor": "none", "alpha": 0.7, "pad": 0.5},
}
BYTES = {1: "1 byte", 2: "2 bytes", 4: "4 bytes", 8: "8 bytes"}


def draw(report, folder, suffix=""):
    """Write a picture of all that was measured. Returns {title: file name}."""
    drawn = {}
    for what, name, figure in (
        ("Milliseconds by operator and bytes an element", "cells", cells(report)),
        ("Time against size and against block", "curves", curves(report)),
    ):
        if figure is None:
            continue
        figure.savefig(Path(folder) / f"{name}{suffix}.svg", metadata={"Date": None}, bbox_inches="tight")
        plt.close(figure)
        drawn[what] = f"{name}{suffix}.svg"
    return drawn


def cells(report):
    """A panel an operator: bytes an element against ms, for ours, the best peer and a copy."""
    records = [*group(report, "counted"), *group(report, "family")]
    titles = list(dict.fromkeys(record["title"] for record in records))
    if not titles:
        return None
    columns = min(3, len(titles))  # a page shows 800 pixels: letters of 9 points are 11 pixels high
    rows = -(-len(titles) // columns)
    figure, axes = plt.subplots(
        rows, columns, figsize=(2.9 * columns + 0.6, 2.5 * rows + 0.7), sharey=True, squeeze=False, layout="constrained"
    )
    for axis, title in zip(axes.flat, titles):
        _panel(axis, title, [record for record in records if record["title"] == title], report["peers"])
    for axis in axes.flat[len(titles) :]:
        axis.set_visible(False)
    for row in axes:
        row[0].set_ylabel("ms")
    handles, labels = axes.flat[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=3, frameon=False)
    return figure


def _panel(axis, title, records, peers):
    places = [record["dtype"] for record in records]
    itemsizes = [int(record["name"].rsplit("/")[-1]) for record in records]
    axis.plot(range(len(places)), _values(ms(r, COPY) for r in records), label=COPY, **COPY_STYLE)
    best = [best_peer(record, peers) for record in records]
    axis.plot(range(len(places)), _values(time for _, time in best), label="best peer", **BEST_STYLE)
    before = [None, *(name for name, _ in best)]
    for place, (name, time) in enumerate(best):
        if time and name != before[place]:  # a name stands for the points behind it, until the next name
            axis.annotate(name, (place, time), (0, 6), textcoords="offset points", ha="center", **LABEL_STYLE)
    axis.plot(range(len(places)), _values(ms(r, OURS) for r in records), label=OURS, **OURS_STYLE)
    axis.set_title(title, fontsize=10)
    _logarithmic_ms(axis)
    axis.grid(axis="y", linewidth=0.4, alpha=0.5)
    axis.set_xticks(range(len(places)), [BYTES.get(itemsize, str(itemsize)) for itemsize in itemsizes], fontsize=9)
    axis.minorticks_off()
    axis.margins(x=0.2, y=0.15)


def curves(report):
    sizes, blocks = group(report, "sizes"), [r for r in group(report, "blocks") if r["dtype"] == "float32"]
    if not sizes and not blocks:
        return None
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 4.6), width_ratios=(3, 2), layout="constrained")
    _lines(left, sizes, [record["nbytes"] for record in sizes], report["peers"])
    left.set_xticks([record["nbytes"] for record in sizes], [record["title"] for record in sizes], fontsize=9, rotation=45)
    left.set_title("depth_to_space, float32, block 2: ms against size", fontsize=10)
    _lines(right, blocks, [int(record["name"].split("/")[1]) for record in blocks], report["peers"])
    right.set_xticks(*(2 * [[int(record["name"].split("/")[1]) for record in blocks]]))
    right.set_title("depth_to_space, float32: ms against block", fontsize=10)
    for axis in (left, right):
        axis.minorticks_off()
        axis.set_ylabel("ms")
        axis.grid(linewidth=0.4, alpha=0.5)
    handles, labels = (left if sizes else right).get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right center", frameon=False)
    return figure


def _lines(axis, records, places, peers):
    if not records:
        axis.set_visible(False)
        return
    for where, (stroke, colors) in PEER_STYLES.items():
        for name, color in zip((name for name in peers if peers[name].get("where") == where), colors):
            times = _values(ms(r, name) for r in records)
            axis.plot(places, times, stroke, label=name, color=color, linewidth=1.2, marker=".")
    axis.plot(places, _values(ms(r, COPY) for r in records), label=COPY, **COPY_STYLE)
    axis.plot(places, _values(ms(r, OURS) for r in records), label=OURS, **OURS_STYLE)
    axis.set_xscale("log", base=2)
    _logarithmic_ms(axis)


def _logarithmic_ms(axis):
    axis.set_yscale("log")
    low, high = axis.get_ylim()
    steps = (1.0, 2.0, 5.0) if high / low < 1000 else (1.0,)
    axis.yaxis.set_major_locator(matplotlib.ticker.LogLocator(subs=steps, numticks=20))
    axis.yaxis.set_major_formatter(matplotlib.ticker.FuncFormatter(lambda value, _: f"{value:g}"))


def _values(times):
    """None leaves a gap in the line."""
    return [float("nan") if time is None else time for time in times]
