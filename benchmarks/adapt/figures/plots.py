"""Pictures of scaling and shares, as PNG and SVG."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from figure_tools import drawing, logarithmic, plain, where
from literature import BLUE_GENE, CORES, CRAY
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from measure import CASES, MIGRATION, ROUNDS, rank_counts
from tables import FIGURE_OF, Row

# Okabe and Ito's palette, for colour-blind readers; the marks differ too.
LINES = {ROUNDS: ("#0072B2", "o"), MIGRATION: ("#D55E00", "s")}
PAPER = {CRAY: "^", BLUE_GENE: "D"}
SHARES = {
    "modification": "#0072B2",
    "exchange": "#E69F00",
    "migration": "#D55E00",
    "waiting": "#CC79A7",
    "view": "#56B4E9",
    "balance": "#009E73",
    "rest": "#999999",
}


def draw(document: dict[str, Any], rows: list[Row], folder: Path) -> None:
    """Draw all figures except the meshes."""
    for case, figure in FIGURE_OF.items():
        with drawing(figure, folder, (7.4, 4.2)) as canvas:
            _scaling(canvas, document, [row for row in rows if row.figure == figure], case)
    with drawing("shares", folder, (7.4, 4.4)) as canvas:
        _shares(canvas, document, [row for row in rows if row.figure == "shares"])


def _scaling(canvas: Figure, document: dict[str, Any], rows: list[Row], case: str) -> None:
    axes = canvas.subplots()
    counts = rank_counts(document)
    found = [row for row in rows if row.quantity == "scaling"]
    for way, (colour, mark) in LINES.items():
        points = [(row.ranks / counts[0], row.value) for row in found if row.who == way]
        axes.plot(
            *zip(*points, strict=True),
            color=colour,
            marker=mark,
            linewidth=1.4,
            label=f"here, {way}",
        )
    for machine, mark in PAPER.items():
        points = [(row.ranks / CORES[0], row.value) for row in found if row.who == machine]
        axes.plot(
            *zip(*points, strict=True),
            color="#555555",
            linestyle=":",
            linewidth=1.0,
            marker=mark,
            markersize=7,
            markerfacecolor="none",
            label=f"the paper, {machine}",
        )
    axes.axhline(1.0, color="#bbbbbb", linewidth=0.8)
    logarithmic(axes.xaxis, plain)
    most = max(counts[-1] / counts[0], CORES[-1] / CORES[0])
    axes.set_xticks([2**i for i in range(10) if 2**i <= most])
    _grey(axes, document, most)
    axes.set_ylim(0, 1.1 * max(row.value for row in found))
    axes.set_xlabel(f"ranks / base ranks: {counts[0]} here, {CORES[0]} in the paper")
    axes.set_ylabel("(n₀ t₀) / (n t)")
    axes.set_title(f"{CASES[case]}: {_size(document, case)}")
    _legend(canvas, axes, where(document, " (grey)"), 2)


def _size(document: dict[str, Any], case: str) -> str:
    row = next(row for row in document["runs"][0]["cases"] if row["case"] == case)
    return f"{_count(row['cells_before'])} to {_count(row['cells'])} tets here"


def _count(n: int) -> str:
    return f"{n:,}".replace(",", "\u202f")


def _grey(axes: Axes, document: dict[str, Any], most: float) -> None:
    run = document["runs"][0]
    cores = run["cores_of_rank_0"] * run["nodes"]
    counts = rank_counts(document)
    if counts[-1] > cores:
        axes.axvspan(max(cores / counts[0], 1), most * 1.15, color="#f2f2f2", zorder=0)
    axes.set_xlim(1 / 1.15, most * 1.15)


def _shares(canvas: Figure, document: dict[str, Any], rows: list[Row]) -> None:
    panels = canvas.subplots(1, len(CASES), sharey=True)
    counts = rank_counts(document)
    value = {(row.case, row.who, row.ranks, row.quantity): row.value for row in rows}
    for axes, (case, title) in zip(panels, CASES.items(), strict=True):
        for way, shift in ((ROUNDS, -0.21), (MIGRATION, 0.21)):
            places = [i + shift for i in range(len(counts))]
            bottom = [0.0] * len(counts)
            for share, colour in SHARES.items():
                heights = [value[case, way, n, f"share of {share}"] for n in counts]
                label = share if way == ROUNDS else None
                axes.bar(places, heights, 0.36, bottom, color=colour, label=label)
                bottom = [low + height for low, height in zip(bottom, heights, strict=True)]
            for place in places:
                axes.text(place, 1.01, way.split()[1], rotation=90, ha="center", fontsize=6.5)
        axes.set_xticks(range(len(counts)), [str(n) for n in counts])
        axes.grid(axis="x", visible=False)
        axes.set_ylim(0, 1.2)
        axes.set_yticks([0, 0.25, 0.5, 0.75, 1])
        axes.set_title(title)
        axes.set_xlabel("ranks")
    panels[0].set_ylabel("share of all ranks' time")
    _legend(canvas, panels[0], where(document), 4)


def _legend(canvas: Figure, axes: Axes, title: str, n_columns: int) -> None:
    legend = canvas.legend(
        *axes.get_legend_handles_labels(),
        loc="outside lower center",
        ncols=n_columns,
        title=title,
        title_fontsize=8.0,
    )
    legend.get_title().set_color("#444444")
