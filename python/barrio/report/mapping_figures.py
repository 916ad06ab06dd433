"""Plots of traffic and of a mapping: matrices, costs, links and the bytes that leave nodes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.colors import Colormap, ListedColormap, LogNorm
from matplotlib.patches import Rectangle
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

from . import words
from .markup import Html
from .plot import Plot

MATRIX_WIDTH = 340  # approximate width of a matrix on the page, in pixels
BEFORE, AFTER = "#8d99a6", "#0072B2"
_BLOCKS = "#D55E00"
_PAPER, _PEN = "#ffffff", "#1b1f24"  # of a matrix, in light and dark mode: its colours need white
MAX_NUMBERED = 10  # ranks of a matrix with numbers in its cells
_MAX_RANK_TICKS = 16
_MAX_NAMED = 8  # blocks with a name
_MAX_LETTERS = 14  # of a name
_LETTER_WIDTH = 6.5  # pixels
_MAX_VECTOR = 16  # rows of a matrix that is drawn as vectors
_LEAST_PIXELS = 700  # rows of an image
_DECADES = 6  # max range of a colour scale
MAX_BARS = 16  # nodes with a bar each


@dataclass(frozen=True)
class Blocks:
    """Nodes or switches along a matrix: the first row of each, and names."""

    starts: list[int]
    names: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Scale:
    """The min and max amount of a colour scale, and their unit."""

    low: float
    high: float
    weight: str

    def write(self, value: float) -> str:
        """Write an amount as short as possible."""
        if self.weight == "bytes":
            return words.in_bytes(value).replace(".0\u00a0", "\u00a0")
        return words.number(value).replace(".00", "")


def scale_of(matrices: list[np.ndarray], weight: str) -> Scale:
    """Choose one logarithmic scale for matrices that are compared."""
    positive = np.concatenate([matrix[matrix > 0] for matrix in matrices])
    high = float(positive.max(initial=0.0)) or 1.0
    low = max(float(positive.min(initial=high)), high * 10.0**-_DECADES)
    return Scale(min(low, high / 10.0), high, weight)


@dataclass(frozen=True)
class Order:
    """An order of ranks, by core or by number, with its title and blocks."""

    title: str
    ranks: np.ndarray
    blocks: Blocks | None = None
    is_by_core: bool = True


@dataclass(frozen=True)
class Matrix:
    """Amounts sent from bins of ranks (rows) to bins of ranks (columns), in an order."""

    amounts: np.ndarray
    ranks_per_bin: int
    order: Order
    who: str


def traffic_matrix(matrix: Matrix, scale: Scale) -> Html:
    """Draw a matrix with its blocks on the diagonal; zero is white."""
    plot = Plot(5.1, 4.45)
    axes, order = plot.axes, matrix.order
    n = len(order.ranks)
    image = _draw_fields(axes, matrix, scale)
    paper = Rectangle((0, 0), 1, 1, transform=axes.transAxes, facecolor=_PAPER, zorder=-1)
    axes.add_patch(paper)
    axes.set_aspect("equal")
    axes.set_xlim(-0.5, n - 0.5)
    axes.set_ylim(n - 0.5, -0.5)
    for side in ("top", "right"):
        axes.spines[side].set_visible(True)
    if n <= MAX_NUMBERED:
        _write_numbers(axes, matrix, scale)
    if order.blocks:
        _draw_blocks(axes, order.blocks, n)
    are_ranks = n <= _MAX_RANK_TICKS
    for axis in (axes.xaxis, axes.yaxis):
        if are_ranks:
            axis.set_ticks(range(n), [str(rank) for rank in order.ranks])
        else:
            axis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10], integer=True))
            axis.set_major_formatter(FuncFormatter(lambda value, _: words.count(value)))
    axes.tick_params(length=0 if are_ranks else 3)
    place = "" if are_ranks or not order.is_by_core else ", position in the order of cores"
    axes.set_xlabel(f"to {matrix.who}{place}")
    axes.set_ylabel(f"from {matrix.who}{place}")
    axes.set_title(order.title, pad=20 if order.blocks and order.blocks.names else 8)
    bar = plot.figure.colorbar(image, ax=axes, shrink=0.8, aspect=28, pad=0.02)
    bar.ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: scale.write(value)))
    bar.ax.yaxis.set_minor_formatter(NullFormatter())
    bar.ax.yaxis.set_major_locator(LogLocator(4.0 if scale.weight == "bytes" else 10.0, numticks=9))
    bar.outline.set_visible(False)
    return plot.svg(f"Matrix of {scale.weight} from {matrix.who} to {matrix.who}, {order.title}")


def _colour_map() -> Colormap:
    """Return blues without the palest ones, which are invisible on white."""
    return ListedColormap(mpl.colormaps["YlGnBu"](np.linspace(0.16, 1.0, 64)), "traffic")


def _draw_fields(axes: Any, matrix: Matrix, scale: Scale) -> Any:
    n_bins, n, size = len(matrix.amounts), len(matrix.order.ranks), matrix.ranks_per_bin
    norm = LogNorm(scale.low, scale.high, clip=True)
    shown = np.ma.masked_less_equal(matrix.amounts, 0.0)
    if n_bins <= _MAX_VECTOR:
        edges = np.minimum(np.arange(n_bins + 1) * size, n) - 0.5
        options = {"norm": norm, "cmap": _colour_map(), "linewidth": 0.4, "edgecolor": "face"}
        return axes.pcolormesh(edges, edges, shown, **options)
    # Enlarged here, since browsers blur an image that they enlarge.
    times = -(-_LEAST_PIXELS // n_bins)
    shown = shown.repeat(times, axis=0).repeat(times, axis=1)
    end = n_bins * size - 0.5
    extent = (-0.5, end, end, -0.5)
    options = {"norm": norm, "cmap": _colour_map(), "interpolation": "none"}
    return axes.imshow(shown, extent=extent, aspect="auto", **options)


def _write_numbers(axes: Any, matrix: Matrix, scale: Scale) -> None:
    size = words.unit_of(scale.high)[0] if scale.weight == "bytes" else 1.0
    norm, colours = LogNorm(scale.low, scale.high, clip=True), _colour_map()
    for (row, column), value in np.ndenumerate(matrix.amounts):
        if value > 0:
            is_dark = np.dot(colours(norm(value))[:3], (0.3, 0.59, 0.11)) < 0.5
            told = value / size
            text = words.number(told, 2) if told < 100 else f"{told:.0f}"
            colour = _PAPER if is_dark else _PEN
            axes.text(column, row, text, ha="center", va="center", color=colour, fontsize=7.5)


def _draw_blocks(axes: Any, blocks: Blocks, n: int) -> None:
    ends = [*blocks.starts[1:], n]
    is_few = len(blocks.starts) <= MAX_BARS
    width = min(1.8, 0.12 * MATRIX_WIDTH / len(blocks.starts))
    for start, end in zip(blocks.starts, ends, strict=True):
        if is_few and start:
            axes.axhline(start - 0.5, color=_PEN, linewidth=0.5)
            axes.axvline(start - 0.5, color=_PEN, linewidth=0.5)
        square = Rectangle(
            (start - 0.5, start - 0.5),
            end - start,
            end - start,
            fill=False,
            edgecolor=_BLOCKS,
            linewidth=width,
            zorder=3,
        )
        axes.add_patch(square)
    if len(blocks.starts) > _MAX_NAMED:
        return
    for start, end, name in zip(blocks.starts, ends, blocks.names, strict=False):
        said = short(name)
        axes.text(
            (start + end - 1) / 2, -0.6 - 0.01 * n, said, ha="center", va="bottom", fontsize=9
        )


def short(name: str) -> str:
    """Shorten a name to fit at an axis; keep its end, where hosts differ."""
    printable = "".join(letter for letter in name if letter.isprintable())
    return printable if len(printable) <= _MAX_LETTERS else "…" + printable[1 - _MAX_LETTERS :]


@dataclass(frozen=True)
class Bar:
    """A bar of a plot: its name, its length and its label."""

    name: str
    length: float
    said: str
    colour: str
    is_outline: bool = False


def bars(shown: list[Bar], label: str, said: str, longest: float = 0.0, title: str = "") -> Html:
    """Draw horizontal bars with a label at the end of each."""
    plot = Plot(5.1, 0.75 + 0.3 * len(shown))
    axes = plot.axes
    longest = max([longest, *[bar.length for bar in shown]]) or 1.0
    for place, bar in enumerate(shown):
        face = "none" if bar.is_outline else bar.colour
        style = "--" if bar.is_outline else "-"
        axes.barh(
            place,
            bar.length,
            height=0.68,
            facecolor=face,
            edgecolor=bar.colour,
            linewidth=1.0,
            linestyle=style,
        )
        axes.text(bar.length + 0.012 * longest, place, bar.said, va="center", fontsize=9)
    axes.set_yticks(range(len(shown)), [bar.name for bar in shown])
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(len(shown) - 0.5, -0.5)
    axes.set_xlim(0, 1.36 * longest)
    ticks = MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]).tick_values(0.0, longest)
    axes.set_xticks([tick for tick in ticks if tick <= 1.001 * longest])
    axes.spines["bottom"].set_bounds(0.0, longest)
    axes.set_xlabel(label)
    axes.set_title(title)
    return plot.svg(said)


def leaving_nodes(series: list[tuple[str, np.ndarray, str]], names: list[str]) -> Html:
    """Draw the bytes that leave each node, the busiest node first."""
    plot = Plot(5.1, 3.0)
    axes = plot.axes
    n = len(series[0][1])
    size, unit = words.unit_of(max(float(values.max(initial=0.0)) for _, values, _ in series))
    order = np.argsort(-series[0][1], kind="stable")
    for index, (name, values, colour) in enumerate(series):
        most, mean = (words.in_bytes(value) for value in (values.max(initial=0.0), values.mean()))
        label = f"{name}: max {most}, mean {mean}"
        if n <= MAX_BARS:
            width = 0.8 / len(series)
            places = np.arange(n) - 0.4 + (index + 0.5) * width
            axes.bar(places, values[order] / size, width=width, color=colour, label=label)
        else:
            steps = np.sort(values)[::-1] / size
            axes.stairs(steps, np.arange(n + 1) + 0.5, color=colour, linewidth=2.0, label=label)
            axes.stairs(steps, np.arange(n + 1) + 0.5, color=colour, alpha=0.15, fill=True)
        axes.axhline(values.mean() / size, color=colour, linewidth=1.0, linestyle="--")
    if n <= MAX_BARS:
        shown = [short(names[node]) for node in order]
        is_long = sum(map(len, shown)) > 44
        axes.set_xticks(
            range(n), shown, rotation=45 if is_long else 0, ha="right" if is_long else "center"
        )
        axes.tick_params(axis="x", length=0)
        axes.set_xlabel("node")
    else:
        axes.set_xlim(0.5, n + 0.5)
        axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))
        axes.set_xlabel("node, busiest first")
    axes.set_ylim(bottom=0.0)
    axes.set_ylabel(f"leaving the node, {unit}")
    plot.figure.legend(loc="outside upper left", fontsize=9)
    return plot.svg("Bytes that leave each node")
