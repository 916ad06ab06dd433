"""Plots of meshes, runs and probe measurements."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullFormatter

from . import words
from .colours import colours
from .markup import Html
from .plot import INK, Plot

_GROUP = 0.76  # width of a group of bars, as a share of its row


def cells_per_part(cells: list[int]) -> Html:
    """Draw a bar for every part, in its colour in the picture."""
    plot = Plot(4.8, 2.7)
    axes, n = plot.axes, len(cells)
    axes.bar(range(n), cells, color=colours(n), width=0.8)
    mean = float(np.mean(cells)) if cells else 0.0
    axes.axhline(mean, color=INK, linewidth=0.8, linestyle="--")
    axes.set_xlabel("part")
    axes.set_ylabel("cells")
    axes.set_ylim(0, max(1.15 * max(cells, default=1), 1))
    axes.set_title(f"mean {words.count(mean)} cells (dashed)", loc="right", fontsize=9.5)
    _whole_ticks(axes.xaxis, n)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: words.count(value)))
    return plot.svg(
        f"Cells per part: from {min(cells)} to {max(cells)}" if cells else "Cells per part"
    )


def owned_and_ghosts(owned: list[int], ghosts: list[int], shown: int) -> Html:
    """Draw the own cells and the ghosts of every rank."""
    plot = Plot(4.8, 2.7)
    axes, n = plot.axes, len(owned)
    axes.bar(range(n), owned, color="#8d99a6", width=0.8, label="own cells")
    axes.bar(range(n), ghosts, bottom=owned, color="#E69F00", width=0.8, label="ghost cells")
    axes.set_xlabel(f"rank (the picture shows rank {shown})")
    axes.set_ylabel("cells")
    axes.set_ylim(0, 1.25 * max([a + b for a, b in zip(owned, ghosts, strict=True)] + [1]))
    axes.legend(ncols=2, loc="upper left")
    _whole_ticks(axes.xaxis, n)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: words.count(value)))
    return plot.svg("Own cells and ghost cells of every rank")


def made_of_tried(kinds: list[str], made: list[float], tried: list[float]) -> Html:
    """Draw for each operator how many changes were made, and how many were only tried."""
    plot = Plot(4.8, 0.9 + 0.34 * len(kinds))
    axes = plot.axes
    rows = range(len(kinds))
    totals = [max(pair) for pair in zip(made, tried, strict=True)]
    rest = [total - n for total, n in zip(totals, made, strict=True)]
    axes.barh(rows, made, color="#E69F00", height=0.7, label="made")
    axes.barh(rows, rest, left=made, color="#8d99a6", height=0.7, label="tried but not made")
    axes.set_yticks(rows, kinds)
    axes.invert_yaxis()
    axes.set_xlim(0, 1.05 * max([*totals, 1]))
    axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: words.count(value)))
    axes.set_xlabel("changes")
    plot.figure.legend(ncols=2, loc="outside upper right")
    return plot.svg("Changes by operator: made, and tried but not made")


def smallest_angles(counts: list[int], bound: float | None) -> Html:
    """Draw how many triangles have a min angle of 0, 1, ... degrees, and the requested bound."""
    plot = Plot(4.8, 2.9)
    axes, places = plot.axes, range(len(counts))
    n_below = 0 if bound is None else sum(place + 1 <= bound for place in places)
    axes.bar(places[:n_below], counts[:n_below], color="#D55E00", width=0.86, align="edge")
    axes.bar(places[n_below:], counts[n_below:], color="#0072B2", width=0.86, align="edge")
    found = [degree for degree, n in enumerate(counts) if n]
    said = f"Min angles of {words.plural(sum(counts), 'triangle')}: from {found[0]} to "
    said += f"{found[-1]} degrees"
    if bound is not None:
        axes.axvline(bound, color=INK, linewidth=0.8, linestyle="--")
        below = sum(counts[:n_below])
        have = "has" if below == 1 else "have"
        less = f"; {words.count(below)} {have} less" if below else ""
        axes.set_title(f"requested: {bound:g} degrees (dashed){less}", loc="right", fontsize=9.5)
        said += f"; requested: {bound:g}{less}"
    axes.set_xlim(0, len(counts))
    axes.set_xticks(range(0, len(counts), 10))
    axes.set_xlabel("min angle, degrees")
    axes.set_ylabel("triangles")
    axes.set_ylim(0, 1.08 * max(counts))
    axes.yaxis.set_major_locator(MaxNLocator(6, integer=True))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: words.count(value)))
    return plot.svg(said)


def speeds(names: list[str], of_mesher: dict[str, list[float | None]]) -> Html:
    """Draw triangles per second: a group of bars for every name, with one bar for every mesher."""
    n = len(of_mesher)
    plot = Plot(5.4, 0.9 + (0.16 + 0.13 * n) * len(names))
    axes = plot.axes
    drawn = [0.0]
    for index, (mesher, values) in enumerate(of_mesher.items()):
        rows = [row + _GROUP * ((index + 0.5) / n - 0.5) for row in range(len(names))]
        millions = [max(0.0, value or 0.0) / 1e6 for value in values]
        axes.barh(rows, millions, color=colours(n)[index], height=_GROUP / n, label=mesher)
        drawn += millions
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.set_xlim(0, 1.05 * max(drawn) or 1.0)
    axes.set_xlabel("million triangles per second")
    plot.figure.legend(ncols=n, loc="outside upper right")
    return plot.svg("Triangles per second of each mesher")


def _whole_ticks(axis: Any, n: int) -> None:
    if n <= 16:
        axis.set_ticks(range(n))
    else:
        axis.set_major_locator(MaxNLocator(8, integer=True))


def distance_over_time(facts: dict[str, Any], unit: str, time_label: str = "time") -> Html:
    """Draw the distance of the field from its last frame over time, both on logarithmic scales."""
    plot = Plot(5.4, 3.3)
    axes = plot.axes
    times = np.array(facts["times"], dtype=float)
    for name, label, colour, mark in (
        ("max_away", "max over the vertices", "#D55E00", "o"),
        ("mean_away", "mean over the vertices", "#0072B2", "s"),
    ):
        values = np.array(facts[name], dtype=float)
        seen = (times > 0) & (values > 0)
        axes.plot(times[seen], values[seen], mark + "-", color=colour, markersize=4, label=label)
    axes.set_xscale("log")
    axes.set_yscale("log")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(FuncFormatter(_power))
        low, high = axis.get_view_interval()
        is_short = high < 30.0 * low  # too short for labels at powers of ten only
        axis.set_minor_formatter(FuncFormatter(_power_or_part) if is_short else NullFormatter())
    axes.grid(linewidth=0.5)
    axes.set_xlabel(time_label)
    axes.set_ylabel(f"|{facts['field']} − its last frame|{unit and f' in {unit}'}")
    axes.legend(loc="lower left")
    return plot.svg(f"Distance of {facts['field']} from its last frame, over time")


def integral_over_time(name: str, times: list[float], values: list[float]) -> Html:
    """Draw an integral over the domain over time."""
    plot = Plot(4.8, 2.4)
    plot.axes.plot(times, values, color="#0072B2")
    plot.axes.set_xlabel("time")
    plot.axes.set_ylabel(name)
    plot.axes.grid(linewidth=0.5)
    return plot.svg(f"{name} over time")


def range_over_time(facts: dict[str, Any], name: str) -> Html:
    """Draw min, mean and max of a field over time."""
    plot = Plot(5.4, 2.9)
    times = np.array(facts["times"], dtype=float)
    for key, label, colour in (
        ("highest", "max", "#D55E00"), ("mean", "mean", "#0072B2"), ("lowest", "min", "#009E73"),
    ):  # fmt: skip
        values = np.array(facts[key], dtype=float)
        mark = "o-" if len(times) <= 40 else "-"
        plot.axes.plot(times, values, mark, color=colour, markersize=3, label=label)
    plot.axes.grid(linewidth=0.5)
    plot.axes.set_xlabel("time")
    plot.axes.set_ylabel(name)
    plot.figure.legend(ncols=3, loc="outside upper right")
    return plot.svg(f"Min, mean and max of {name} over time")


@dataclass(frozen=True)
class Line:
    """A line of a plot: values by message size. A line without a name is not in the legend."""

    name: str
    points: list[tuple[float, float]]
    is_dashed: bool = False
    colour: str = ""  # default: by position in the list; if dashed, that of text


_WRITE = {
    "s": words.seconds,
    "B": lambda value: f"{words.in_bytes(value)}/s",
    "MB/s": lambda value: f"{words.count(value) if value >= 1e4 else f'{value:g}'}\u00a0MB/s",
}


def by_size(lines: list[Line], label: str, unit: str, said: str) -> Html:
    """Draw seconds ('s'), bytes ('B') or MB/s ('MB/s') by message size, both on logarithmic scales."""
    plot = Plot(5.4, 3.3)
    axes = plot.axes
    all_sizes = sorted({x for line in lines for x, _ in line.points})
    for index, line in enumerate(lines):
        seen = [(x, y) for x, y in line.points if x > 0 and y > 0]
        axes.plot(
            [x for x, _ in seen],
            [y for _, y in seen],
            "--" if line.is_dashed else "osD^v*"[index % 6] + "-",
            color=line.colour or (INK if line.is_dashed else colours(len(lines))[index]),
            linewidth=1.0 if line.is_dashed and line.colour else None,
            markersize=4,
            label=line.name,
        )
    axes.set_xscale("log", base=2)
    axes.set_yscale("log", base=2 if unit == "B" else 10)
    axes.set_xticks(all_sizes[:: 1 + len(all_sizes) // 8])
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: _short_size(value)))
    axes.xaxis.set_minor_formatter(NullFormatter())
    write = _WRITE[unit]
    axes.yaxis.set_major_formatter(
        FuncFormatter(lambda value, _: write(value).replace(".00", "").replace(".0", ""))
    )
    low, high = axes.get_ylim()
    axes.yaxis.set_minor_formatter(
        NullFormatter()
        if high > 30.0 * low
        else FuncFormatter(lambda value, _: write(value) if f"{value:.0e}"[0] in "25" else "")
    )
    axes.grid(linewidth=0.5)
    axes.set_xlabel("message size")
    axes.set_ylabel(label)
    if sum(bool(line.name) for line in lines) > 1:
        axes.legend(fontsize=8.5)
    return plot.svg(said)


def _short_size(value: float) -> str:
    """Write a size as short as possible."""
    return words.in_bytes(value).replace(".0\u00a0", "\u00a0")


def _power(value: float, _: object) -> str:
    if 0.009 < value < 1100.0:
        return f"{value:g}"
    return f"10{words.raised(round(float(np.log10(value))))}"


def _power_or_part(value: float, place: object) -> str:
    """Label 2 and 5 too."""
    lead = f"{value:.0e}"[0]
    return _power(value, place) if lead == "1" else (f"{value:g}" if lead in "25" else "")


def histogram(edges: list[float], counts: list[int], label: str, is_log: bool = False) -> Html:
    """Draw how many cells have values between two edges."""
    plot = Plot(4.8, 2.7)
    axes = plot.axes
    axes.bar(edges[:-1], counts, width=np.diff(edges), align="edge", color="#0072B2", linewidth=0.0)
    if is_log:
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(FuncFormatter(_power))
        is_short = edges[-1] < 30.0 * edges[0]  # too short for labels at powers of ten only
        axes.xaxis.set_minor_formatter(
            FuncFormatter(_power_or_part) if is_short else NullFormatter()
        )
    axes.set_xlabel(label)
    axes.set_ylabel("cells")
    axes.yaxis.set_major_locator(MaxNLocator(6, integer=True))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: words.count(value)))
    return plot.svg(f"Cells by {label}, from {edges[0]:g} to {edges[-1]:g}")


def phase_map(names: list[str], rows: list[list[float]]) -> Html:
    """Draw the seconds of phases and ranks, for more ranks than fit in a table."""
    plot = Plot(7.0, 1.0 + 0.24 * len(names))
    axes = plot.axes
    values = np.ma.masked_less_equal(np.array(rows, dtype=float), 0.0)
    scale = None
    if values.count():
        scale = mpl.colors.LogNorm(max(values.min(), values.max() / 1e4), values.max() * 1.0001)
    image = axes.imshow(values, norm=scale, cmap="cividis", aspect="auto", interpolation="nearest")
    seconds = FuncFormatter(
        lambda value, _: words.seconds(value).replace(".00", "").replace(".0", "")
    )
    axes.set_yticks(range(len(names)), names)
    axes.xaxis.set_major_locator(MaxNLocator(8, integer=True))
    axes.set_xlabel("rank")
    bar = plot.figure.colorbar(image, ax=axes, pad=0.02, format=seconds)
    bar.ax.yaxis.set_minor_formatter(NullFormatter())
    bar.outline.set_visible(False)
    return plot.svg("Seconds per phase and rank")
