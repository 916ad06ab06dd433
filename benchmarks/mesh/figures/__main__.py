"""Measure and draw figures 1 to 3 of Tautges et al. 2012 on this machine: reading a model of 64 volumes, the steps of
reading, and structured boxes; and the scaling of resolving and ghosts.

    build/venv/bin/python benchmarks/mesh/figures --out figures

Writes the document of all runs, a table (.csv and .md) and pictures (.png and .svg), and keeps the mesh files.
Measurements are kept: `--redraw` draws again without measuring. Needs matplotlib, and the built benchmark.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import measure
import plots
import tables
from figure_tools import Fault, read, write_csv

SOURCE = Path(__file__).resolve().parents[3]


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="figures", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, required=True, help="folder for the results")
    command = SOURCE / "build" / "release" / "bin" / "barrio"
    parser.add_argument(
        "--barrio", type=Path, default=command, help="the command (default: %(default)s)"
    )
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2, 4, 8, 16])
    parser.add_argument(
        "--millions", type=float, default=1.0, help="elements of each mesh (default 1)"
    )
    parser.add_argument("--parts", type=int, default=16, help="a power of two (default 16)")
    parser.add_argument("--repeats", type=int, default=5, help="repetitions (default 5)")
    parser.add_argument("--redraw", action="store_true", help="use the existing document")
    return parser.parse_args()


def main() -> int:
    options = parse()
    options.out.mkdir(parents=True, exist_ok=True)
    path = options.out / "figures.json"
    try:
        document = read(path) if options.redraw else measure.run(options)
    except Fault as fault:
        print(f"figures: {fault}", file=sys.stderr)
        return 1
    path.write_text(json.dumps(document, indent=1), encoding="utf-8")
    rows = tables.rows(document)
    write_csv(options.out / "figures.csv", rows)
    (options.out / "figures.md").write_text(tables.page(document, rows), encoding="utf-8")
    plots.draw(document, rows, options.out)
    print(f"{options.out}: figures.json .csv .md, {', '.join(tables.TITLES)} as .png and .svg")
    return 0


if __name__ == "__main__":
    sys.exit(main())
