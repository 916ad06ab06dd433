"""Measure and draw figures 12 to 15 of Ovcharenko et al. 2012 on this machine: CUBE and BUBBLE before and after
adaptation, and the scaling of both methods, in rounds and by migration as in the paper, with the paper's own numbers.

    build/venv/bin/python benchmarks/adapt/figures --out figures

Writes the document of all runs, a table (.csv and .md) and pictures (.png and .svg). Measurements are kept: `--redraw`
draws again without measuring. Needs matplotlib, pyvista for the meshes, and the built benchmark.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import measure
import meshes
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
    parser.add_argument(
        "--ranks", type=int, nargs="+", default=[1, 2, 4, 8, 16], help="the first is the base"
    )
    parser.add_argument("--boxes", type=int, default=55, help="boxes along a side (default 55)")
    parser.add_argument("--scale", type=float, default=1.0, help="factor of all sizes (default 1)")
    parser.add_argument("--repeats", type=int, default=3, help="repetitions (default 3)")
    parser.add_argument(
        "--mesh-boxes", type=int, default=30, help="boxes for figures 12 and 13 (default 30)"
    )
    parser.add_argument("--mesh-ranks", type=int, default=4, help="parts there (default 4)")
    parser.add_argument("--no-meshes", action="store_true", help="skip figures 12 and 13")
    parser.add_argument("--redraw", action="store_true", help="use the existing document")
    return parser.parse_args()


def main() -> int:
    options = parse()
    options.out.mkdir(parents=True, exist_ok=True)
    path = options.out / "figures.json"
    try:
        document = read(path) if options.redraw else measure.run(options)
        path.write_text(json.dumps(document, indent=1), encoding="utf-8")
        if not options.no_meshes:
            meshes.draw(options)
    except Fault as fault:
        print(f"figures: {fault}", file=sys.stderr)
        return 1
    rows = tables.rows(document)
    write_csv(options.out / "figures.csv", rows)
    (options.out / "figures.md").write_text(tables.page(document, rows), encoding="utf-8")
    plots.draw(document, rows, options.out)
    print(f"{options.out}: figures.json .csv .md, and pictures as .png and .svg")
    return 0


if __name__ == "__main__":
    sys.exit(main())
