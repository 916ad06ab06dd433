"""Pictures of the figures, as PNG and SVG."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from figure_tools import drawing, logarithmic, plain, where
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator
from measure import MESHES, REST, STEPS
from tables import Row

# Okabe and Ito's palette, for colour-blind readers; the marks differ too.
COLOURS = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#000000"]
LINES = {
    "with geometry, by part": ("#0072B2", "o", "-"),
    "with geometry, not reordered": ("#0072B2", "o", "--"),
    "without, by part": ("#D55E00", "s", "-"),
    "without, not reordered": ("#D55E00", "s", "--"),
    "resolve": ("#0072B2", "o", "-"),
    "ghosts": ("#D55E00", "s", "-"),
    "general": ("#D55E00", "s", "-"),
    "explicit": ("#56B4E9", "v", "-"),
    "implicit": ("#0072B2", "o", "-"),
}
MEANING = {
    "general": "unstructured: shared vertices by messages",
    "explicit": "structured, with coordinates",
    "implicit": "structured, in closed form",
}


def draw(document: dict[str, Any], rows: list[Row], folder: Path) -> None:
    """Draw all figures."""
    figures = {"figure01": (_reading, 5.6), "figure02": (_steps, 6.4), "scaling": (_scaling, 3.9)}
    figures["figure03"] = (_structured, 5.2)
    for name, (paint, height) in figures.items():
        with drawing(name, folder, (7.4, height)) as canvas:
            paint(canvas, document, [row for row in rows if row.figure == name])


def _size(document: dict[str, Any], cells: str) -> str:
    meshes = document["runs"][0]["meshes"]
    n = next(mesh["cells"] for mesh in meshes if mesh["name"] == cells)
    return f"{_count(n)} {cells}"


def _count(n: int) -> str:
    return f"{n:,}".replace(",", "\u202f")


def _reading(canvas: Figure, document: dict[str, Any], rows: list[Row]) -> None:
    panels = canvas.subplots(2, 2, sharey="row", sharex=True)
    for column, cells in enumerate(("hexes", "tets")):
        for axes, quantity in zip(panels[:, column], ("s", "MB/s"), strict=True):
            _lines(axes, document, [r for r in rows if (r.cells, r.quantity) == (cells, quantity)])
        panels[0, column].set_title(_size(document, cells))
        panels[1, column].set_xlabel("ranks")
    panels[0, 0].set_ylabel("time from file to mesh with ghosts, s")
    panels[1, 0].set_ylabel("file bandwidth, MB/s")
    _legend(canvas, document, panels[0, 0], 2)


def _steps(canvas: Figure, document: dict[str, Any], rows: list[Row]) -> None:
    panels = canvas.subplots(2, 2, sharey="row", sharex=True)
    ranks = sorted({row.ranks for row in rows})
    for axes, (name, (cells, geometry)) in zip(panels.flat, MESHES.items(), strict=True):
        bottom = [0.0] * len(ranks)
        for colour, step in zip([*COLOURS, "#999999"], [*STEPS, REST], strict=True):
            key = (cells, f"{geometry}, by part", step)
            found = {
                row.ranks: row.value
                for row in rows
                if (row.cells, row.variant, row.quantity) == key
            }
            heights = [found[n] for n in ranks]
            axes.bar(range(len(ranks)), heights, 0.7, bottom, color=colour, label=step)
            bottom = [low + height for low, height in zip(bottom, heights, strict=True)]
        axes.set_xticks(range(len(ranks)), [str(n) for n in ranks])
        axes.grid(axis="x", visible=False)
        mesh = next(m for m in document["runs"][0]["meshes"] if m["name"] == name)
        said = geometry if geometry == "with geometry" else "without geometry"
        axes.set_title(f"{cells} {said}: {mesh['sets']} sets, {_count(mesh['sides'])} sides")
    for axes in panels[1]:
        axes.set_xlabel("ranks")
    for axes in panels[:, 0]:
        axes.set_ylabel("s, slowest rank of each step")
    _legend(canvas, document, panels[0, 0], 5, mark="")


def _scaling(canvas: Figure, document: dict[str, Any], rows: list[Row]) -> None:
    panels = canvas.subplots(1, 2, sharey=True)
    for axes, cells in zip(panels, ("hexes", "tets"), strict=True):
        _lines(axes, document, [row for row in rows if row.cells == cells])
        axes.set_title(_size(document, cells))
        axes.set_xlabel("ranks")
    panels[0].set_ylabel("ms, slowest rank")
    _legend(canvas, document, panels[0], 2)


def _structured(canvas: Figure, document: dict[str, Any], rows: list[Row]) -> None:
    panels = canvas.subplots(2, 3, sharey=True, sharex=True)
    names = list(dict.fromkeys(row.cells for row in rows))
    for axes, name in zip(panels.flat, names, strict=False):
        _lines(axes, document, [row for row in rows if row.cells == name])
        axes.set_title(name)
    for axes in panels.flat[len(names) :]:
        axes.set_visible(False)
    for axes in (*panels[1, :2], panels[0, 2]):
        axes.set_xlabel("ranks")
    panels[0, 2].tick_params(labelbottom=True)
    for axes in panels[:, 0]:
        axes.set_ylabel("ms, slowest rank")
    _legend(canvas, document, panels[0, 0], 3)


def _lines(axes: Axes, document: dict[str, Any], rows: list[Row]) -> None:
    for variant, (colour, mark, style) in LINES.items():
        found = sorted(
            (row.ranks, row.value) for row in rows if row.variant == variant and row.value > 0
        )
        if not found:
            continue
        axes.plot(
            *zip(*found, strict=True),
            color=colour,
            marker=mark,
            linestyle=style,
            markersize=4.5,
            linewidth=1.4,
            label=MEANING.get(variant, variant),
        )
    logarithmic(axes.xaxis, plain)
    logarithmic(axes.yaxis, plain)
    low, high = axes.get_ylim()
    if high < 100 * low:
        axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    ranks = sorted({run["ranks"] for run in document["runs"]})
    axes.set_xticks(ranks)
    run = document["runs"][0]
    cores = run["cores_of_rank_0"] * run["nodes"]
    if ranks[-1] > cores:
        axes.axvspan(max(cores, ranks[0]), ranks[-1] * 1.15, color="#f2f2f2", zorder=0)
    axes.set_xlim(ranks[0] / 1.15, ranks[-1] * 1.15)


def _legend(
    canvas: Figure, document: dict[str, Any], axes: Axes, n_columns: int, mark: str = " (grey)"
) -> None:
    """Put the legend of one panel below all panels, and the machine above it."""
    legend = canvas.legend(
        *axes.get_legend_handles_labels(),
        loc="outside lower center",
        ncols=n_columns,
        title=where(document, mark),
        title_fontsize=8.0,
    )
    legend.get_title().set_color("#444444")
