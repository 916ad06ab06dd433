"""Write the numbers of a figure as rows, as CSV and as a page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from literature import ELSEWHERE_SHORT_TILE, PAPER
from measure import ONE_MESSAGE

HERE, ELSEWHERE = "here", "elsewhere"
TITLES = {
    "figure07": "Figure 7: a ring",
    "figure08": "Figure 8: the packet size",
    "figure10": "Figure 10: the tile pattern",
    "short": "A short round of the tile pattern, with peers",
}
QUANTITIES = {
    "us": "µs a round",
    "normalised": "time of a message, relative to the first row",
    "over_mpi": "speed-up over one message per number (raw)",
    "over_one": "speed-up over packets of one message",
    "of_packed": "time, relative to packed",
    "collectives": "collective calls per round",
    "mpi_messages": "MPI messages per rank and round",
}


@dataclass(frozen=True)
class Row:
    """One number: its source, its contender, its x (iterations, or packet bytes) and its quantity."""

    source: str
    who: str
    x: int
    quantity: str
    value: float


def label(name: str) -> str:
    """Return the name of a contender in the figures."""
    return "barrio, one message per packet" if name == ONE_MESSAGE else name


def rows(figure: str, document: dict[str, Any]) -> list[Row]:
    """Compute the numbers of the figure, and add those of the literature."""
    found: list[Row] = []
    first: dict[str, float] = {}
    for case in document["cases"]:
        n = case["iterations"]
        times = {c["name"]: c["seconds"] for c in case["contenders"] if c["seconds"] is not None}
        for name, seconds in times.items():
            numbers = {"us": 1e6 * seconds}
            x = n
            if figure == "figure08":
                x = int(name.partition("@")[2] or 0)
                numbers["over_one"] = times[ONE_MESSAGE] / seconds
            elif figure == "short":
                numbers["of_packed"] = seconds / times["packed"]
            else:
                numbers["normalised"] = seconds / n / first.setdefault(name, seconds / n)
                if "raw" in times:
                    numbers["over_mpi"] = times["raw"] / seconds
            found += [Row(HERE, label(name), x, what, value) for what, value in numbers.items()]
        if figure == "short":
            for entry in case["contenders"]:
                for what in ("collectives", "mpi_messages"):
                    found.append(Row(HERE, label(entry["name"]), n, what, entry[what]))
    if figure == "short" and document["cases"][0]["iterations"] == 64 and document["ranks"] == 64:
        for name, ratio in ELSEWHERE_SHORT_TILE.items():
            found.append(Row(ELSEWHERE, name, 64, "of_packed", ratio))
    for one in PAPER:
        if one.figure == figure:
            source = f"paper{', derived' if one.derived else ''}: {one.machine}"
            found.append(Row(source, one.who, one.x, one.quantity, one.value))
    return found


def page(figure: str, document: dict[str, Any], found: list[Row]) -> str:
    """Write a readable table: a line per contender and x, a column per quantity."""
    quantities = [name for name in QUANTITIES if any(row.quantity == name for row in found)]
    lines: dict[tuple[str, str, int], dict[str, float]] = {}
    for row in found:
        lines.setdefault((row.source, row.who, row.x), {})[row.quantity] = row.value
    x_name = "packet bytes" if figure == "figure08" else "iterations"
    text = [f"## {TITLES[figure]}", "", f"![{TITLES[figure]}]({figure}.png)", ""]
    where = f"{document['ranks']} ranks, {document['mpi'].split(',')[0]}"
    text.append(f"Here: {where}, {document['host']}, commit {document['commit']}.")
    text.append("")
    text.append(
        f"| source | who | {x_name} | " + " | ".join(QUANTITIES[q] for q in quantities) + " |"
    )
    text.append("|" + "---|" * (3 + len(quantities)))
    for (source, who, x), values in lines.items():
        cells = [_number(values.get(quantity)) for quantity in quantities]
        text.append(f"| {source} | {who} | {x or '–'} | " + " | ".join(cells) + " |")
    return "\n".join(text) + "\n"


def _number(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}".replace(",", "\u202f")
