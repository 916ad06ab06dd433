"""Run the lattice at several rank counts, and compare its times with those of Tautges et al. 2012, table I.

    python3 table.py --ranks 1 2 4 -- build/release/bin/barrio exec lattice --rings 5

The command after `--` is run with `--ranks N` after its first word. Prints one JSON document; the table goes to stderr.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from typing import Any

# Minutes by number of processes: copy/move and join, for 11 and for 58 million hexes.
PAPER = {
    "copy_move": {
        1: (10.4, 141.8),
        8: (5.8, 59.6),
        16: (0.27, 1.4),
        32: (0.036, 0.12),
        56: (0.004, 0.001),
    },
    "join": {
        1: (3.81, 70.48),
        8: (7.54, 28.29),
        16: (6.7, 17.62),
        32: (0.92, 2.34),
        56: (0.25, 0.8),
    },
}
STEPS = ["make_kinds", "copy_move", "join", "distribute", "write_h5m", "write_vtkhdf"]


def run(ranks: int, command: list[str]) -> dict[str, Any]:
    """Run the program once. It checks its own result."""
    line = [command[0], "--ranks", str(ranks), *command[1:]]
    done = subprocess.run(line, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"`{' '.join(line)}` ended with code {done.returncode}:\n{done.stderr.strip()}")
    return json.loads(done.stdout)


def to_text(runs: list[dict[str, Any]]) -> str:
    """Return the table: one line per run, then the paper's."""
    steps = [step for step in STEPS if step in runs[0]["seconds"]]
    cells = runs[0]["cells"]
    cores = os.cpu_count() or 1
    lines = [
        f"{runs[0]['assemblies']} assemblies of {runs[0]['kinds']} kinds, {cells:,} hexes, "
        f"{runs[0]['vertices']:,} vertices of {runs[0]['vertices_before']:,}; seconds"
    ]
    lines.append("ranks  " + "  ".join(f"{step:>12}" for step in steps) + "   hexes/s joined")
    for one in runs:
        seconds = [one["seconds"][step] for step in steps]
        note = f"   ({one['ranks']} ranks on {cores} cores)" if one["ranks"] > cores else ""
        rate = cells / one["seconds"]["join"]
        lines.append(
            f"{one['ranks']:>5}  "
            + "  ".join(f"{s:12.4f}" for s in seconds)
            + f"   {rate:14,.0f}{note}"
        )
    lines.append("Tautges et al. 2012, table I; seconds for 11 and for 58 million hexes")
    for ranks in PAPER["join"]:
        texts = [
            f"{step} {PAPER[step][ranks][0] * 60:9.2f} {PAPER[step][ranks][1] * 60:9.2f}"
            for step in ("copy_move", "join")
        ]
        rate = [
            millions * 1e6 / (60 * PAPER["join"][ranks][i]) for i, millions in enumerate((11, 58))
        ]
        lines.append(
            f"{ranks:>5}  {'   '.join(texts)}   {rate[0]:,.0f} and {rate[1]:,.0f} hexes/s joined"
        )
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("command", nargs="+", help="barrio exec lattice and its options")
    options = parser.parse_args()
    runs = [run(ranks, options.command) for ranks in options.ranks]
    keys = ("checksum", "cells", "vertices")
    if any(one[key] != runs[0][key] for one in runs for key in keys):
        sys.exit("the core differs between rank counts")
    print(to_text(runs), file=sys.stderr)
    document = {"schema": "barrio.example.lattice_table", "schema_version": 1, "runs": runs}
    document["paper_minutes"] = PAPER
    print(json.dumps(document, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
