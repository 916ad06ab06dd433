"""Count what a rank sends to adapt a mesh when ranks grow and each keeps as many cells: on simulated clusters (SimGrid
SMPI), or with more ranks than cores.

    python3 benchmarks/adapt/simulate.py --ranks 4 16
    python3 benchmarks/adapt/simulate.py --ranks 16 64 256 --barrio build/release/bin/barrio

Counts do not depend on the way: on 16 ranks they were compared. The simulator did not end in ten minutes for 64 ranks,
so these and more are for the second way: they take turns on the cores, and 256 are minutes on two of them.

The case is `cube`, whose sizes are in proportion to --scale: with the same product of boxes and scale it is the same
work for each cell. In a round neighbours hear of candidates once, and of changes after each pass; each time a rank
writes to all ranks that see a tetrahedron that it sees. So messages an exchange are neighbours, in the mean over all
exchanges, with what it takes to bring cells to where they are adapted. Ranks at the boundary of the cube have fewer
neighbours, and the more ranks there are, the smaller is their part; what that comes to in a grid of as many boxes is
printed beside. Goals are for most ranks against fewest. Exit code 4 if one is missed.
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

import simulated  # noqa: E402
from judged import goal_of, report  # noqa: E402
from judged import run as output_of  # noqa: E402

# Boxes times scale: cells become a third as many, and a mesh of any number of boxes gets what is wanted.
BOXES_AND_SCALE = 35
# Of a call, beside one a pass: to move cells, take a mesh apart and make one. A second balance is 24 or so of them.
MAX_COLLECTIVES = 200


def parse() -> argparse.Namespace:
    parser = simulated.parser(__doc__, "barrio-bench-adapt")
    parser.add_argument("--ranks", type=int, nargs="+", default=[4, 16])
    parser.add_argument("--cells", type=int, default=3000, help="of each rank before (3000)")
    parser.add_argument("--start", default="slabs", help="as of the benchmark (slabs)")
    parser.add_argument(
        "--barrio", type=Path, help="instead: the command, which launches ranks of a real MPI"
    )
    return parser.parse_args()


def run(options: argparse.Namespace, n_ranks: int) -> dict[str, Any]:
    """The document of one run."""
    n_boxes = round((options.cells * n_ranks / 6) ** (1 / 3))
    scale = f"{BOXES_AND_SCALE / n_boxes:.6f}"
    words = ["--cases", "cube", "--boxes", str(n_boxes), "--scale", scale, "--start", options.start]
    if options.barrio:
        command = [options.barrio, "--ranks", n_ranks, "bench", "adapt", "--json", *words]
        return json.loads(output_of(command, {"BARRIO_PROFILE": "off"}))
    # A probe goes through all that its rank has ever sent, so that few of them are to be made while a rank waits.
    simulated.SETTINGS["iprobe"] = "1e-4"
    return simulated.run_document(options.program, words, n_ranks, options.platform)


def of_grid(n_ranks: int) -> float:
    """Neighbours in the mean, in a grid of boxes that recursive bisection cuts a cube into."""
    along = [1, 1, 1]
    while along[0] * along[1] * along[2] * 2 <= n_ranks:
        along[along.index(min(along))] *= 2
    a, b, c = ((3 * n - 2) / n for n in along)
    return a * b * c - 1


def counts(document: dict[str, Any]) -> dict[str, float]:
    """What is printed of a run, by name."""
    row = document["cases"][0]
    n_ranks = document["ranks"]
    n_rounds = sum(change["rounds"] for change in row["changes"].values())
    n_exchanges = n_rounds + row["passes"]
    of = {
        "cells before, of a rank": row["cells_before"] / n_ranks,
        "cells after, of a rank": row["cells"] / n_ranks,
        "rounds": n_rounds,
        "passes": row["passes"],
    }
    for name, change in row["changes"].items():
        of[f"passes a round of {name}"] = change["passes"] / max(change["rounds"], 1)
    for name in ("mean", "max"):
        of[f"messages an exchange, {name}"] = row["messages"][name] / n_exchanges
        of[f"messages a pass, {name}"] = row["messages"][name] / row["passes"]
        of[f"bytes a pass, {name}"] = row["bytes"][name] / row["passes"]
    of["neighbours in a grid, mean"] = of_grid(n_ranks)
    of["collectives beside passes"] = row["collectives"]["max"] - row["passes"]
    return of


def judge(runs: list[dict[str, float]], max_growth: float) -> list[dict[str, Any]]:
    """Goals for the last of some runs against the first."""

    def growth(name: str) -> float:
        return runs[-1][name] / runs[0][name]

    watched = [name for name in runs[0] if " an exchange" in name or " a pass," in name]
    goals = [
        goal_of(f"growth of {name}", growth(name), max_growth, "lower", "x") for name in watched
    ]
    in_grid = growth("messages an exchange, mean") / growth("neighbours in a grid, mean")
    name = "collectives beside passes"
    return [
        *goals,
        goal_of("growth of messages an exchange, of a grid's", in_grid, max_growth, "lower", "x"),
        goal_of(f"{name}, most ranks", runs[-1][name], MAX_COLLECTIVES, "lower"),
    ]


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
        print(simulated.table(n_ranks, runs), flush=True)
        if len(n_ranks) < 2:
            return 0
        return report(judge(runs, options.max_growth), out / "goals.json")


if __name__ == "__main__":
    sys.exit(main())
