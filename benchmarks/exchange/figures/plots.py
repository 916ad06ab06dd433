"""Pictures of the figures, as PNG and SVG."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from figure_tools import drawing, logarithmic, plain
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullLocator
from measure import ONE_MESSAGE
from tables import ELSEWHERE, HERE, Row, label

# Okabe and Ito's palette, for colour-blind readers; the marks differ too.
LINES = {
    "raw": ("#D55E00", "s"),
    label(ONE_MESSAGE): ("#56B4E9", "v"),
    "barrio": ("#0072B2", "o"),
    "packed": ("#999999", "x"),
    "persistent": ("#555555", "+"),
}
PAPER = {"Cray XE6": "^", "Blue Gene/P": "D"}
PAPER_COLOURS = {"MPI": "#D55E00", "IPComMan": "#0072B2"}


def draw(figure: str, document: dict[str, Any], rows: list[Row], folder: Path) -> None:
    """Draw one figure."""
    with drawing(figure, folder) as canvas:
        {"figure08": _packets, "short": _short}.get(figure, _growth)(canvas, document, rows)


def _where(document: dict[str, Any]) -> str:
    return f"{document['ranks']} ranks, {document['mpi'].split(',')[0]}"


def _growth(canvas: Figure, document: dict[str, Any], rows: list[Row]) -> None:
    left, right = canvas.subplots(1, 2)
    first = document["cases"][0]["iterations"]
    left.axhline(1.0, color="#bbbbbb", linewidth=0.8)
    right.axhline(1.0, color="#bbbbbb", linewidth=0.8)
    _lines(left, rows, "normalised", list(LINES))
    _lines(right, rows, "over_mpi", [name for name in LINES if name != "raw"])
    left.set_title(f"Time of a message, relative to {first} iterations")
    right.set_title("Speed-up over one message per number")
    for axes in (left, right):
        logarithmic(axes.yaxis, plain)
        axes.set_ylim(bottom=min(0.8, axes.get_ylim()[0]))
        axes.set_xlabel("messages of 8 bytes to each neighbour")
        axes.set_xticks([case["iterations"] for case in document["cases"]])
        axes.tick_params(axis="x", labelsize=8.0)
    derived = any("derived" in row.source for row in rows)
    hollow = f"the paper, 1024 cores{' (IPComMan on the left: in part derived)' if derived else ''}"
    _legend(canvas, [left, right], f"lines: {_where(document)}; hollow: {hollow}")


def _lines(axes: Axes, rows: list[Row], quantity: str, names: list[str]) -> None:
    for name in names:
        found = [
            (row.x, row.value)
            for row in rows
            if (row.source, row.who, row.quantity) == (HERE, name, quantity)
        ]
        if found:
            colour, mark = LINES[name]
            axes.plot(
                *zip(*found, strict=True),
                color=colour,
                marker=mark,
                markersize=5,
                linewidth=1.4,
                label=name,
            )
    _paper(axes, rows, quantity)


def _paper(axes: Axes, rows: list[Row], quantity: str) -> None:
    for row in rows:
        machine = row.source.partition(": ")[2]
        if row.quantity != quantity or machine not in PAPER:
            continue
        who = row.who.partition(",")[0]
        axes.plot(
            row.x,
            row.value,
            linestyle="none",
            marker=PAPER[machine],
            markersize=7,
            markerfacecolor="none",
            markeredgecolor=PAPER_COLOURS[who],
            markeredgewidth=1.3,
            label=f"paper: {who}, {machine}",
            zorder=4,
        )


def _packets(canvas: Figure, document: dict[str, Any], rows: list[Row]) -> None:
    axes = canvas.subplots()
    header = 16
    here = [row for row in rows if row.source == HERE and row.quantity == "over_one"]
    sizes = sorted((row.x, row.value) for row in here if row.who.startswith("barrio") and row.x > 0)
    axes.plot(
        [size - header for size, _ in sizes],
        [value for _, value in sizes],
        color="#0072B2",
        marker="o",
        label="barrio, packets of this size",
    )
    for name, text, dashes in (
        ("barrio", "barrio, automatic", "-"),
        ("persistent", "persistent, sizes known", "--"),
        ("packed", "packed, sizes known", "-."),
        ("raw", "raw: one message per number", ":"),
    ):
        for row in here:
            if row.who == name and row.x == 0:
                axes.axhline(
                    row.value, color=LINES[name][0], linestyle=dashes, linewidth=1.2, label=text
                )
    for row in rows:
        if row.source != HERE and row.x == 0:  # MPI has no packets
            line = {"color": PAPER_COLOURS[row.who], "linestyle": (0, (1, 3)), "linewidth": 1.8}
            axes.axhline(
                row.value, label=f"paper: {row.who}, {row.source.partition(': ')[2]}", **line
            )
    _paper(axes, [row for row in rows if row.x > 0], "over_one")
    logarithmic(axes.yaxis, plain)
    axes.set_xscale("log", base=2)
    axes.set_xticks([8, 64, 256, 1024, 4096, 16384, 65536])
    axes.xaxis.set_major_formatter(FuncFormatter(_bytes))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel("packet size in bytes")
    n = document["cases"][0]["iterations"]
    axes.set_title(
        f"Speed-up over packets of one message of 8 bytes; {n} messages to each neighbour of a ring"
    )
    _legend(canvas, [axes], f"lines: {_where(document)}; hollow: the paper, 1024 cores")


def _short(canvas: Figure, document: dict[str, Any], rows: list[Row]) -> None:
    axes = canvas.subplots()
    calls = {row.who: row.value for row in rows if row.quantity == "collectives"}
    bars = sorted((row for row in rows if row.quantity == "of_packed"), key=lambda row: -row.value)
    for place, row in enumerate(bars):
        is_elsewhere = row.source == ELSEWHERE
        colour = "#0072B2" if row.who.startswith("barrio") else "#8d99a6"
        axes.barh(
            place,
            row.value,
            height=0.72,
            color="none" if is_elsewhere else colour,
            edgecolor="#8d99a6" if is_elsewhere else colour,
            hatch="////" if is_elsewhere else None,
            linewidth=0.8,
        )
        n = calls.get(row.who)
        note = "" if n is None else f"   {n:.3g} collective{'' if n == 1 else 's'}"
        axes.text(row.value, place, f" {row.value:.2f}{note}", va="center", fontsize=8.0)
    axes.set_yticks(range(len(bars)), [row.who for row in bars])
    axes.axvline(1.0, color="#555555", linewidth=0.8)
    axes.set_xlim(0, 1.3 * max(row.value for row in bars))
    axes.grid(axis="y", visible=False)
    axes.set_xlabel("time of a round, relative to packed (one message per neighbour, sizes known)")
    n = document["cases"][0]["iterations"]
    axes.set_title(f"{n} messages of 8 bytes to each neighbour, tile pattern, {_where(document)}")
    if any(row.source == ELSEWHERE for row in bars):
        axes.text(
            1.0,
            0.97,
            "hatched: measured once elsewhere,\nin another program, also relative to packed",
            transform=axes.transAxes,
            ha="right",
            va="top",
            fontsize=8.0,
        )
    canvas.set_size_inches(7.4, 1.1 + 0.24 * len(bars))


def _bytes(value: float, _: int) -> str:
    return f"{value:g}" if value < 1024 else f"{value / 1024:g} KiB"


def _legend(canvas: Figure, panels: list[Axes], title: str) -> None:
    entries: dict[str, Any] = {}
    for axes in panels:
        for handle, text in zip(*axes.get_legend_handles_labels(), strict=True):
            entries.setdefault(text, handle)
    legend = canvas.legend(
        entries.values(),
        entries.keys(),
        loc="outside lower center",
        ncols=3,
        title=title,
        title_fontsize=8.0,
    )
    legend.get_title().set_color("#444444")
