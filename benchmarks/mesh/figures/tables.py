"""Write the numbers of the figures as rows, as CSV and as a page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from figure_tools import where
from measure import MESHES, steps_of

TITLES = {
    "figure01": "Figure 1: reading, in the order of parts or not",
    "figure02": "Figure 2: the steps of reading",
    "figure03": "Figure 3: shared vertices of structured boxes",
    "scaling": "Resolving and one layer of ghosts",
}


@dataclass(frozen=True)
class Row:
    """One number, with its figure, mesh, variant and rank count."""

    figure: str
    cells: str  # hexes or tets; in figure 3 the decomposition
    variant: str
    ranks: int
    quantity: str
    value: float


def rows(document: dict[str, Any]) -> list[Row]:
    """Compute the numbers of the figures."""
    found: list[Row] = []
    for run in document["runs"]:
        ranks = run["ranks"]
        for mesh in run["meshes"]:
            cells, geometry = MESHES[mesh["name"]]
            is_ordered = mesh["is_in_order_of_parts"]
            variant = f"{geometry}, {'by part' if is_ordered else 'not reordered'}"
            seconds = mesh["load_seconds"]
            found.append(Row("figure01", cells, variant, ranks, "s", seconds))
            found.append(
                Row("figure01", cells, variant, ranks, "MB/s", mesh["file_bytes"] / seconds / 1e6)
            )
            steps = steps_of(mesh)
            found += [
                Row("figure02", cells, variant, ranks, name, value) for name, value in steps.items()
            ]
            if is_ordered and geometry == "without":
                found += [
                    Row("scaling", cells, name, ranks, "ms", 1e3 * steps[name])
                    for name in ("resolve", "ghosts")
                ]
        for box in run["structured"]:
            for name in ("general", "explicit", "implicit"):
                value = 1e3 * box[f"{name}_seconds"]
                found.append(Row("figure03", box["decomposition"], name, ranks, "ms", value))
    return found


def page(document: dict[str, Any], found: list[Row]) -> str:
    """Write readable tables: a line per variant and quantity, a column per rank count."""
    ranks = sorted({row.ranks for row in found})
    run = document["runs"][0]
    text = [f"Here: {where(document)}, {run['host']}, commit {run['commit']}.", ""]
    for figure, title in TITLES.items():
        text += [f"## {title}", "", f"![{title}]({figure}.png)", ""]
        heads = [f"{n} rank{'' if n == 1 else 's'}" for n in ranks]
        text.append(f"| of | variant | quantity | {' | '.join(heads)} |")
        text.append("|" + "---|" * (3 + len(ranks)))
        lines: dict[tuple[str, str, str], dict[int, float]] = {}
        for row in found:
            if row.figure == figure:
                lines.setdefault((row.cells, row.variant, row.quantity), {})[row.ranks] = row.value
        for key, values in lines.items():
            numbers = [f"{values[n]:.3g}" if n in values else "" for n in ranks]
            text.append(f"| {' | '.join(key)} | {' | '.join(numbers)} |")
        text.append("")
    return "\n".join(text)
