"""Count what a rank sends to adapt a mesh when ranks grow and each keeps as many cells, on simulated clusters (SimGrid
SMPI).

    python3 benchmarks/adapt/simulate.py --ranks 64 256

The case is `cube`, whose sizes are in proportion to --scale: with the same product of boxes and scale it is the same
work for each cell, so that ranks get as many before and after. In a round neighbours hear of candidates once, and of
changes after each pass; each time a rank writes to all ranks that see a tetrahedron that it sees. So messages for an
exchange are neighbours, of all exchanges in the mean, with what it takes to bring cells to where they are adapted and
to make a mesh of them again. Goals are for most ranks against fewest; counts do not depend on the machine. Needs the
benchmark in build/smpi (make check-smpi builds it). Exit code 4 if a goal is missed.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from judged import goal_of, report  # noqa: E402
from simulated import run_document  # noqa: E402

# Boxes times scale with which there are as many cells after as before.
AS_MANY_CELLS = 23.5


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="simulate", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--ranks", type=int, nargs="+", default=[64, 256])
    parser.add_argument("--platform", default="fat_tree", help="fat_tree (default) or torus")
    parser.add_argument("--cells", type=int, default=1500, help="of each rank (default 1500)")
    parser.add_argument("--start", default="slabs", help="as of the benchmark (default slabs)")
    parser.add_argument("--most-growth", type=float, default=1.15, help="from fewest to most ranks")
    parser.add_argument("--out", type=Path, help="folder for the documents and goals.json")
    parser.add_argument(
        "--program",
        type=Path,
        default=HERE.parents[1] / "build" / "smpi" / "bin" / "barrio-bench-adapt",
        help="the benchmark (default: %(default)s)",
    )
    return parser.parse_args()


def run(options: argparse.Namespace, n_ranks: int) -> dict[str, Any]:
    """The document of one simulated run."""
    n_boxes = round((options.cells * n_ranks / 6) ** (1 / 3))
    words = ["--cases", "cube", "--boxes", str(n_boxes), "--scale", f"{AS_MANY_CELLS / n_boxes:.6f}"]
    return run_document(
        options.program, [*words, "--start", options.start], n_ranks, options.platform
    )


def counts(document: dict[str, Any]) -> dict[str, float]:
    """What is printed of a run, by name."""
    row = document["cases"][0]
    n_ranks = document["ranks"]
    n_rounds = sum(change["rounds"] for change in row["changes"].values())
    n_exchanges = n_rounds + row["passes"]
    of = {
        "cells before, a rank": row["cells_before"] / n_ranks,
        "cells after, a rank": row["cells"] / n_ranks,
        "rounds": n_rounds,
        "passes": row["passes"],
        "collectives beside passes": row["collectives"]["max"] - row["passes"],
    }
    for name in ("mean", "max"):
        of[f"messages an exchange, {name}"] = row["messages"][name] / n_exchanges
        of[f"messages a pass, {name}"] = row["messages"][name] / row["passes"]
        of[f"bytes a pass, {name}"] = row["bytes"][name] / row["passes"]
    return of


def judge(runs: list[dict[str, float]], most_growth: float) -> list[dict[str, Any]]:
    """Goals for the last of some runs against the first."""
    first, last = runs[0], runs[-1]
    goals = [
        goal_of(f"growth of {name}", last[name] / first[name], most_growth, "lower", "x")
        for name in first
        if " an exchange" in name or " a pass" in name
    ]
    name = "collectives beside passes"
    return [*goals, goal_of(f"more {name}", last[name] - first[name], 0, "lower")]


def table(n_ranks: list[int], runs: list[dict[str, float]]) -> str:
    lines = [f"{'ranks':<28}" + "".join(f"{n:>12}" for n in n_ranks) + "    last / first"]
    for name in runs[0]:
        values = [of[name] for of in runs]
        cells = "".join(f"{value:>12.1f}" for value in values)
        lines.append(f"{name:<28}{cells}{values[-1] / values[0]:>15.2f}x")
    return "\n".join(lines)


def main() -> int:
    options = parse()
    n_ranks = sorted(set(options.ranks))
    with tempfile.TemporaryDirectory() as scratch:
        out = options.out or Path(scratch)
        out.mkdir(parents=True, exist_ok=True)
        runs = []
        for n in n_ranks:
            document = run(options, n)
            (out / f"adapt-{n}.json").write_text(json.dumps(document, indent=1) + "\n")
            runs.append(counts(document))
        print(table(n_ranks, runs))
        if len(n_ranks) < 2:
            return 0
        return report(judge(runs, options.most_growth), out / "goals.json")


if __name__ == "__main__":
    sys.exit(main())
