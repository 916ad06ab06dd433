"""Write the numbers of the figures as rows, as CSV and as a page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from figure_tools import where
from literature import CORES, MIGRATION_OF_COARSENING, SCALING, SECONDS
from measure import CASES, MIGRATION, ROUNDS, fastest, rank_counts

TITLES = {
    "figure14": "Figure 14: scaling of CUBE",
    "figure15": "Figure 15: scaling of BUBBLE",
    "shares": "Where the time goes, and what ranks send",
}
FIGURE_OF = {"cube": "figure14", "bubble": "figure15"}


@dataclass(frozen=True)
class Row:
    """One number, with its figure, its method or machine, and its rank count."""

    figure: str
    case: str
    who: str  # a method of adaptation, or a machine of the paper
    ranks: int
    quantity: str
    value: float


def rows(document: dict[str, Any]) -> list[Row]:
    """Compute the numbers of the figures."""
    found: list[Row] = []
    counts = rank_counts(document)
    for case in CASES:
        for way in (ROUNDS, MIGRATION):
            of = {n: fastest(document, case, n, way) for n in counts}
            base = counts[0] * of[counts[0]]["seconds"]
            for n, row in of.items():
                scaling = base / (n * row["seconds"])
                found.append(Row(FIGURE_OF[case], case, way, n, "s", row["seconds"]))
                found.append(Row(FIGURE_OF[case], case, way, n, "scaling", scaling))
                found += [Row("shares", case, way, n, *pair) for pair in _details(row)]
        for machine, seconds in SECONDS[case].items():
            for n, s, scaling in zip(CORES, seconds, SCALING[case][machine], strict=True):
                found.append(Row(FIGURE_OF[case], case, machine, n, "s", s))
                found.append(Row(FIGURE_OF[case], case, machine, n, "scaling", scaling))
    return found


def _details(row: dict[str, Any]) -> list[tuple[str, float]]:
    ranks = row["ranks"]
    said = [(f"share of {name}", value) for name, value in ranks["shares"].items()]
    said += [("tets", row["cells"]), ("mean quality", row["quality"]["mean"])]
    said += [("edges in range", row["lengths"]["in_range"])]
    said += [(f"{name} of a rank", ranks[name]["mean"]) for name in ("messages", "bytes")]
    said += [("neighbours", ranks["neighbours"]["mean"])]
    said += [("shared vertices", ranks["shared_vertices"])]
    if "sweeps" in row:
        said += [("sweeps", row["sweeps"]), ("stars pulled", row["stars_pulled"])]
        said += [("tets migrated", row["cells_migrated"])]
        said += [
            (f"cavities of a rank, {which}", row["cavities_of_rank"][which])
            for which in ("min", "max")
        ]
    return said


def page(document: dict[str, Any], found: list[Row]) -> str:
    """Write readable tables: a line per quantity, a column per rank count."""
    run = document["runs"][0]
    text = [f"Here: {where(document)}, {run['host']}, commit {run['commit']}.", ""]
    text += [f"--boxes {run['boxes']} --scale {run['scale']}; the fastest of all repetitions.", ""]
    text += [
        f"Paper, section 6: migration takes up to {MIGRATION_OF_COARSENING:g} of the time"
        " if most of a mesh is coarsened.",
        "",
    ]
    for figure, title in TITLES.items():
        text += [f"## {title}", "", f"![{title}]({figure}.png)", ""]
        rows_here = [row for row in found if row.figure == figure]
        for is_paper in (False, True):
            text += _table([row for row in rows_here if (row.ranks in CORES) == is_paper])
    return "\n".join(text)


def _table(found: list[Row]) -> list[str]:
    if not found:
        return []
    ranks = sorted({row.ranks for row in found})
    heads = [f"{n} rank{'' if n == 1 else 's'}" for n in ranks]
    text = [f"| case | who | quantity | {' | '.join(heads)} |", "|" + "---|" * (3 + len(ranks))]
    lines: dict[tuple[str, str, str], dict[int, float]] = {}
    for row in found:
        lines.setdefault((CASES[row.case], row.who, row.quantity), {})[row.ranks] = row.value
    for key, values in lines.items():
        numbers = [f"{values[n]:.4g}" if n in values else "" for n in ranks]
        text.append(f"| {' | '.join(key)} | {' | '.join(numbers)} |")
    return [*text, ""]
