"""Helpers of the programs that measure and draw figures."""

from __future__ import annotations

import csv
import dataclasses
import json
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter

STYLE: dict[str, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "barrio",
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9.0,
    "axes.titlesize": 9.5,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "legend.fontsize": 8.0,
}


class Fault(Exception):
    """An error that the user can fix."""


def read(path: Path) -> dict[str, Any]:
    """Read a document of an earlier run."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise Fault(f"{path} cannot be read: {error}") from error


def write_csv(path: Path, rows: list[Any]) -> None:
    """Write one line per row. Rows are of one dataclass, and not empty."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([field.name for field in dataclasses.fields(rows[0])])
        writer.writerows(dataclasses.astuple(row) for row in rows)


def where(document: dict[str, Any], mark: str = "") -> str:
    """Describe the machine, with a note (and the mark in plots) if ranks shared cores."""
    run = document["runs"][0]
    cores = run["cores_of_rank_0"] * run["nodes"]
    said = f"{run['mpi'].split(',')[0]}, {cores} cores"
    if max(one["ranks"] for one in document["runs"]) <= cores:
        return said
    return f"{said}; more than {cores} ranks{mark} share them: not the speed of the code"


def output_of(command: list[str]) -> str:
    """Run a benchmark to its end."""
    try:
        done = subprocess.run(command, capture_output=True, text=True)
    except OSError as error:
        raise Fault(
            f"{command[0]} cannot be started ({error.strerror}); build it, or give it by --barrio"
        ) from error
    if done.returncode != 0:
        raise Fault(
            f"`{' '.join(command)}` ended with code {done.returncode}:\n{done.stderr.strip()}"
        )
    return done.stdout


@contextmanager
def drawing(name: str, folder: Path, size: tuple[float, float] = (7.4, 3.9)) -> Iterator[Figure]:
    """Yield an empty figure, and save it as PNG and SVG at the end."""
    with mpl.rc_context(STYLE):
        canvas = Figure(figsize=size, layout="constrained")
        FigureCanvasAgg(canvas)
        yield canvas
        for kind in ("png", "svg"):
            metadata = {} if kind == "png" else {"Date": None}
            canvas.savefig(folder / f"{name}.{kind}", dpi=200, metadata=metadata)


def logarithmic(axis: Any, formatter: Callable[[float, int], str]) -> None:
    """Make an axis logarithmic, with plain labels."""
    if axis.axis_name == "y":
        axis.axes.set_yscale("log")
    else:
        axis.axes.set_xscale("log", base=2)
    axis.set_major_formatter(FuncFormatter(formatter))
    axis.set_minor_formatter(NullFormatter())


def plain(value: float, _: int) -> str:
    """Write a number without powers of ten."""
    return f"{value:g}" if value < 10000 else f"{value:,.0f}".replace(",", "\u202f")
