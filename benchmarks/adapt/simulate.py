"""Count the messages per rank of adaptation in weak scaling, on simulated clusters (SimGrid SMPI) or with more ranks
than cores.

    python3 benchmarks/adapt/simulate.py --ranks 4 16
    python3 benchmarks/adapt/simulate.py --ranks 16 64 256 --barrio build/release/bin/barrio

Both methods give the same counts, which was checked on 16 ranks. The simulator takes more than ten minutes for 64
ranks, so use the second method for these and more: ranks take turns on the cores, and 256 take minutes on two cores.

The case is `cube`, whose sizes are proportional to --scale: the same product of boxes and scale gives the same work per
cell. In a round, neighbours receive candidates once, and changes after each pass. Each time a rank writes to all ranks
that see one of its tetrahedra. So messages per exchange are the number of neighbours, averaged over all exchanges, plus
the messages that move cells. Ranks at the boundary of the cube have fewer neighbours, and their share shrinks with more
ranks; the mean number of neighbours in a grid of as many boxes is printed for comparison. Goals compare most ranks with
fewest. Exit code 4 if one is missed.
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

# Boxes times scale: reduces cells to a third, for a mesh of any number of boxes.
BOXES_AND_SCALE = 35
# Of a call, in addition to one per pass: to migrate cells, release a mesh and make one. A second balance is about 24.
MAX_COLLECTIVES = 200


def parse() -> argparse.Namespace:
    parser = simulated.parser(__doc__, "barrio-bench-adapt")
    parser.add_argument("--ranks", type=int, nargs="+", default=[4, 16])
    parser.add_argument("--cells", type=int, default=3000, help="cells of each rank before (3000)")
    parser.add_argument("--start", default="slabs", help="as in the benchmark (slabs)")
    parser.add_argument("--barrio", type=Path, help="use this command with a real MPI instead")
    return parser.parse_args()


def run(options: argparse.Namespace, n_ranks: int) -> dict[str, Any]:
    """Return the document of one run."""
    n_boxes = round((options.cells * n_ranks / 6) ** (1 / 3))
    scale = f"{BOXES_AND_SCALE / n_boxes:.6f}"
    words = ["--cases", "cube", "--boxes", str(n_boxes), "--scale", scale, "--start", options.start]
    if options.barrio:
        command = [options.barrio, "--ranks", n_ranks, "bench", "adapt", "--json", *words]
        return json.loads(output_of(command, {"BARRIO_PROFILE": "off"}))
    # A probe scans all that its rank has ever sent, so few of them should be made while a rank waits.
    simulated.SETTINGS["iprobe"] = "1e-4"
    return simulated.run_document(options.program, words, n_ranks, options.platform)


def of_grid(n_ranks: int) -> float:
    """Return the mean number of neighbours in a cube that recursive bisection cuts into boxes."""
    along = [1, 1, 1]
    while along[0] * along[1] * along[2] * 2 <= n_ranks:
        along[along.index(min(along))] *= 2
    a, b, c = ((3 * n - 2) / n for n in along)
    return a * b * c - 1


def counts(document: dict[str, Any]) -> dict[str, float]:
    """Return the printed counts of a run, by name."""
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
    """Return the goals for the last run compared with the first."""

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
