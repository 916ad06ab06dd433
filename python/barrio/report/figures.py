"""Plots as inline SVG that takes its colours of text from the page: they suit light and dark."""

from __future__ import annotations

import io
import re
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullFormatter

from . import words
from .colours import Bands, colours
from .markup import Html, escape, raw

_INK, _FAINT = "#010203", "#010204"  # replaced by the page's own colours
_TRAFFIC_MAP = "YlGnBu"
_MAX_NUMBERED = 10  # ranks: a matrix of more shows no numbers in its fields
_STYLE: dict[str, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "barrio",
    "text.parse_math": False,
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9.5,
    "text.color": _INK,
    "axes.labelcolor": _INK,
    "axes.edgecolor": _INK,
    "axes.titlesize": 10.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": _INK,
    "ytick.color": _INK,
    "grid.color": _FAINT,
    "legend.frameon": False,
}


class _Plot:
    """A figure with barrio's style; svg() ends it."""

    n_made = 0

    def __init__(self, width: float, height: float) -> None:
        self._style = mpl.rc_context(_STYLE)
        self._style.__enter__()
        self.figure = Figure(figsize=(width, height), layout="constrained")
        FigureCanvasSVG(self.figure)
        self.axes = self.figure.add_subplot()

    def svg(self, said: str) -> Html:
        """Return the SVG element, its ids made unique, with a text for those who cannot see it."""
        output = io.StringIO()
        self.figure.savefig(output, format="svg", transparent=True, metadata={"Date": None})
        self._style.__exit__(None, None, None)
        _Plot.n_made += 1
        text = output.getvalue()
        text = text[text.index("<svg") :]
        text = re.sub(r"<metadata>.*?</metadata>\s*", "", text, flags=re.DOTALL)
        name = f"p{_Plot.n_made}-"
        text = re.sub(r'\bid="', f'id="{name}', text)
        text = re.sub(r'href="#', f'href="#{name}', text).replace("url(#", f"url(#{name}")
        text = text.replace(_INK, "var(--ink)").replace(_FAINT, "var(--line)")
        text = text.replace("'DejaVu Sans', sans-serif", "system-ui, sans-serif")
        text = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", text, count=1)
        text = re.sub(
            r'(<svg[^>]*?) width="([^"]*)pt"', r'\1 style="max-width:\2pt"', text, count=1
        )
        return raw(text.replace("<svg", f'<svg role="img" aria-label="{escape(said)}"', 1).strip())


def cells_per_part(cells: list[int]) -> Html:
    """Draw a bar for every part, in the colour it has in the picture."""
    plot = _Plot(4.8, 2.7)
    axes, n = plot.axes, len(cells)
    axes.bar(range(n), cells, color=colours(n), width=0.8)
    mean = float(np.mean(cells)) if cells else 0.0
    axes.axhline(mean, color=_INK, linewidth=0.8, linestyle="--")
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
    plot = _Plot(4.8, 2.7)
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


def _whole_ticks(axis: Any, n: int) -> None:
    if n <= 16:
        axis.set_ticks(range(n))
    else:
        axis.set_major_locator(MaxNLocator(8, integer=True))


def distance_over_time(facts: dict[str, Any], unit: str, time_label: str = "time") -> Html:
    """Draw how far the field is from its last frame, over time, both on logarithmic scales."""
    plot = _Plot(5.4, 3.3)
    axes = plot.axes
    times = np.array(facts["times"], dtype=float)
    for name, label, colour, mark in (
        ("max_away", "largest over the vertices", "#D55E00", "o"),
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
        is_short = high < 30.0 * low  # so short that powers of ten alone would label nothing
        axis.set_minor_formatter(FuncFormatter(_power_or_part) if is_short else NullFormatter())
    axes.grid(linewidth=0.5)
    axes.set_xlabel(time_label)
    axes.set_ylabel(f"|{facts['field']} − its last frame|{unit and f' in {unit}'}")
    axes.legend(loc="lower left")
    return plot.svg(f"Distance of {facts['field']} from its last frame, over time")


@dataclass(frozen=True)
class Line:
    """A line of a plot: its name, and values by size of message."""

    name: str
    points: list[tuple[float, float]]
    is_dashed: bool = False


def by_size(lines: list[Line], label: str, unit: str, said: str) -> Html:
    """Draw seconds or bytes per second by size of message, both on logarithmic scales."""
    plot = _Plot(5.4, 3.3)
    axes = plot.axes
    all_sizes = sorted({x for line in lines for x, _ in line.points})
    for index, line in enumerate(lines):
        seen = [(x, y) for x, y in line.points if x > 0 and y > 0]
        axes.plot(
            [x for x, _ in seen],
            [y for _, y in seen],
            "--" if line.is_dashed else "osD^v*"[index % 6] + "-",
            color=_INK if line.is_dashed else colours(len(lines))[index],
            markersize=4,
            label=line.name,
        )
    axes.set_xscale("log", base=2)
    axes.set_yscale("log", base=10 if unit == "s" else 2)
    axes.set_xticks(all_sizes[:: 1 + len(all_sizes) // 8])
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: _short_size(value)))
    axes.xaxis.set_minor_formatter(NullFormatter())
    write = words.seconds if unit == "s" else lambda value: f"{words.in_bytes(value)}/s"
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
    axes.set_xlabel("size of a message")
    axes.set_ylabel(label)
    if len(lines) > 1:
        axes.legend(fontsize=8.5)
    return plot.svg(said)


def _short_size(value: float) -> str:
    """Write a size in as few letters as it needs."""
    return words.in_bytes(value).replace(".0\u00a0", "\u00a0")


def _power(value: float, _: object) -> str:
    if 0.009 < value < 1100.0:
        return f"{value:g}"
    return f"10{words.raised(round(float(np.log10(value))))}"


def _power_or_part(value: float, place: object) -> str:
    """Label 2 and 5 too."""
    lead = f"{value:.0e}"[0]
    return _power(value, place) if lead == "1" else (f"{value:g}" if lead in "25" else "")


def colour_bar(bands: Bands, label: str) -> Html:
    """Draw the scale of the frames."""
    plot = _Plot(6.0, 0.72)
    edges = np.linspace(bands.low, bands.high, bands.count + 1)
    scale = mpl.colors.Normalize(bands.low, bands.high)
    mapping = mpl.cm.ScalarMappable(scale, mpl.colormaps[bands.colour_map].resampled(bands.count))
    bar = plot.figure.colorbar(
        mapping,
        cax=plot.axes,
        orientation="horizontal",
        label=label,
        boundaries=edges,
        ticks=edges[:: max(1, bands.count // 5)],
        spacing="proportional",
    )
    bar.outline.set_visible(False)
    bar.ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    return plot.svg(f"Colour scale of {label}, {bands.low:g} to {bands.high:g}")


def traffic_matrix(
    matrix: np.ndarray,
    order: list[int],
    node_of: list[int],
    node_names: list[str],
    largest: float,
    title: str,
    who: str,
    weight: str = "bytes",
) -> Html:
    """Draw what ranks (rows) send to ranks (columns), in an order, with lines between nodes."""
    plot = _Plot(4.6, 4.55)
    axes, n = plot.axes, len(order)
    size, unit = words.unit_of(largest) if weight == "bytes" else (1.0, weight)
    shown = np.ma.masked_less_equal(matrix[np.ix_(order, order)] / size, 0.0)
    options = {"cmap": _TRAFFIC_MAP, "vmin": 0.0, "vmax": max(largest / size, 1e-300)}
    if n <= 64:
        places = np.arange(n + 1) - 0.5
        image = axes.pcolormesh(places, places, shown, linewidth=0.4, edgecolor="face", **options)
    else:
        image = axes.imshow(shown, interpolation="nearest", aspect="auto", **options)
    axes.set_aspect("equal")
    axes.set_xlim(-0.5, n - 0.5)
    axes.set_ylim(n - 0.5, -0.5)
    for side in ("top", "right"):
        axes.spines[side].set_visible(True)
    if n <= _MAX_NUMBERED:
        _write_numbers(axes, shown, largest / size)
    _draw_nodes(axes, node_of, node_names)
    if n <= 16:
        axes.set_xticks(range(n), [str(rank) for rank in order])
        axes.set_yticks(range(n), [str(rank) for rank in order])
        axes.tick_params(length=0)
    else:
        axes.set_xticks([])
        axes.set_yticks([])
    axes.set_xlabel(f"to {who}")
    axes.set_ylabel(f"from {who}")
    axes.set_title(title, pad=20 if node_names else 8)
    bar = plot.figure.colorbar(image, ax=axes, label=unit, shrink=0.75, aspect=28, pad=0.02)
    bar.outline.set_visible(False)
    return plot.svg(f"Matrix of {weight} from {who} to {who}, {title}")


def _write_numbers(axes: Any, shown: Any, largest: float) -> None:
    for (row, column), value in np.ndenumerate(np.ma.filled(shown, 0.0)):
        if value > 0:
            colour = "#ffffff" if value > 0.55 * largest else "#1b1f24"
            text = words.number(value, 2) if value < 100 else f"{value:.0f}"
            axes.text(column, row, text, ha="center", va="center", color=colour, fontsize=7.5)


def _draw_nodes(axes: Any, node_of: list[int], node_names: list[str]) -> None:
    if not node_names:
        return
    n = len(node_of)
    starts = [i for i in range(n) if i == 0 or node_of[i] != node_of[i - 1]]
    for start in starts[1:]:
        axes.axhline(start - 0.5, color=_INK, linewidth=2.0)
        axes.axvline(start - 0.5, color=_INK, linewidth=2.0)
    if len(starts) > 8:
        return
    for start, end in zip(starts, [*starts[1:], n], strict=True):
        place = (start + end - 1) / 2
        name = node_names[node_of[start]] if node_of[start] < len(node_names) else ""
        name = name if len(name) <= 14 else name[:13] + "…"
        axes.text(place, -0.6 - 0.01 * n, name, ha="center", va="bottom", fontsize=9)


def phase_map(names: list[str], rows: list[list[float]]) -> Html:
    """Draw seconds as phases by ranks, for more ranks than a table can hold."""
    plot = _Plot(7.0, 1.0 + 0.24 * len(names))
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
