"""Measure and draw figures 7, 8 and 10 of Ovcharenko et al. 2012 on this machine, with the paper's own numbers.

    build/venv/bin/python benchmarks/exchange/figures --out figures

Writes for each figure the document of the benchmark, a table (.csv and .md) and a picture (.png and .svg). Measurements
are kept: `--redraw` draws again without measuring. Needs matplotlib, and the built benchmark.
"""

from __future__ import annotations

import argparse
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
    parser.add_argument(
        "--barrio",
        type=Path,
        default=SOURCE / "build" / "release" / "bin" / "barrio",
        help="the command (default: %(default)s)",
    )
    parser.add_argument("--ring-ranks", type=int, default=3, help="figures 7 and 8 (default 3)")
    parser.add_argument("--tile-ranks", type=int, default=64, help="figure 10 (default 64)")
    parser.add_argument("--repeats", type=int, default=7, help="repetitions (default 7)")
    parser.add_argument(
        "--quick", action="store_true", help="run few short rounds, as a smoke test"
    )
    parser.add_argument("--redraw", action="store_true", help="use the existing documents")
    return parser.parse_args()


def main() -> int:
    options = parse()
    options.out.mkdir(parents=True, exist_ok=True)
    pages = []
    for plan in measure.plans(options):
        path = options.out / f"{plan.name}.json"
        try:
            document = read(path) if options.redraw else measure.run(plan, options, path)
        except Fault as fault:
            print(f"figures: {fault}", file=sys.stderr)
            return 1
        rows = tables.rows(plan.name, document)
        write_csv(options.out / f"{plan.name}.csv", rows)
        page = tables.page(plan.name, document, rows)
        (options.out / f"{plan.name}.md").write_text(page, encoding="utf-8")
        pages.append(page)
        plots.draw(plan.name, document, rows, options.out)
        print(f"{options.out / plan.name}: .json .csv .md .png .svg")
    (options.out / "figures.md").write_text("\n".join(pages), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
