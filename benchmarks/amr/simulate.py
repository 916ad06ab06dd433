"""Count the messages per rank in a step of structured AMR in weak scaling, on simulated clusters (SimGrid SMPI).

    python3 benchmarks/amr/simulate.py --ranks 16 64

The case is RM3D with three levels; four times as many ranks have four such domains next to each other. The fewest ranks
also run the case of one rank, whose state must be bitwise the same. With more ranks, pieces of the space-filling curve
have other neighbours, so counts vary a little. Goals compare most ranks with fewest. Exit code 4 if one is missed.
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

MAX_OF_MEAN = 1.5


def parse() -> argparse.Namespace:
    parser = simulated.parser(__doc__, "barrio-bench-amr")
    parser.add_argument("--ranks", type=int, nargs="+", default=[16, 64], help="multiples of 16")
    parser.add_argument("--cells", type=int, default=16, help="cells across the coarsest level")
    parser.add_argument("--steps", type=int, default=9)
    return parser.parse_args()


def run(options: argparse.Namespace, n_ranks: int, n_wide: int) -> dict[str, Any]:
    """Return the document of one run."""
    words = ["--parts", "rm3d", "--cells", str(options.cells), "--block", "8", "--levels", "3"]
    words += ["--steps", str(options.steps), "--wide", str(n_wide)]
    return simulated.run_document(options.program, words, n_ranks, options.platform)


def counts(document: dict[str, Any]) -> dict[str, float]:
    """Return the printed counts of a run, by name."""
    row = document["parts"][0]
    steps = row["steps"]
    of = {"cells of a rank": sum(row["cells_of_level"]) / document["ranks"]}
    for what in ("messages", "bytes"):
        for name in ("mean", "max"):
            of[f"{what} a step, {name}"] = row[what][name] / steps
    of["collectives a step"] = row["collectives"]["max"] / steps
    return of


def judge(runs: list[dict[str, float]], max_growth: float) -> list[dict[str, Any]]:
    """Return the goals: the last run compared with the first, and in the last run the busiest rank compared with the
    mean. The busiest rank has the most irregular piece of the curve, which shows more with more ranks."""
    last = runs[-1]
    growth = [
        goal_of(f"growth of {name}", last[name] / runs[0][name], max_growth, "lower", "x")
        for name in last
        if not name.endswith("max")
    ]
    busiest = [
        goal_of(
            f"{what} of the busiest rank, of the mean",
            last[f"{what} a step, max"] / last[f"{what} a step, mean"],
            MAX_OF_MEAN,
            "lower",
            "x",
        )
        for what in ("messages", "bytes")
    ]
    return growth + busiest


def main() -> int:
    options = parse()
    n_ranks = sorted(set(options.ranks))
    if any(n % 16 for n in n_ranks):
        raise SystemExit("ranks must be multiples of 16")
    with tempfile.TemporaryDirectory() as scratch:
        out = options.out or Path(scratch)
        out.mkdir(parents=True, exist_ok=True)
        runs = []
        checksums = {}
        for n in n_ranks:
            document = run(options, n, n // 16)
            (out / f"amr-{n}.json").write_text(json.dumps(document, indent=1) + "\n")
            runs.append(counts(document))
            checksums[n] = document["parts"][0]["checksum"]
        print(simulated.table(n_ranks, runs), flush=True)
        alone = run(options, 1, n_ranks[0] // 16)["parts"][0]["checksum"]
        if alone != checksums[n_ranks[0]]:
            raise SystemExit(
                f"one rank ends with {alone} and {n_ranks[0]} with {checksums[n_ranks[0]]}"
            )
        if len(n_ranks) < 2:
            return 0
        return report(judge(runs, options.max_growth), out / "goals.json")


if __name__ == "__main__":
    sys.exit(main())
