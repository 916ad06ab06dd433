"""Compare the cost per rank of a round of each strategy on simulated clusters of different sizes.

    python3 benchmarks/strategies/simulate.py --ranks 64 256

Every rank exchanges with two others, so neither messages nor time may grow with the number of ranks. Times are those of
the simulated machine. Needs the benchmark in build/smpi (make check-smpi builds it).
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from simulated import run_document  # noqa: E402


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--ranks", type=int, nargs="+", default=[64, 256])
    parser.add_argument("--platform", default="fat_tree", help="fat_tree (default) or torus")
    parser.add_argument("--max-growth", type=float, default=1.3, help="from fewest to most ranks")
    parser.add_argument(
        "--program",
        type=Path,
        default=HERE.parents[1] / "build" / "smpi" / "bin" / "barrio-bench-strategies",
        help="the benchmark (default: %(default)s)",
    )
    options = parser.parse_args()
    words = ["--parts", "rounds", "--sizes", "4096"]
    runs = [
        run_document(options.program, words, n, options.platform) for n in sorted(options.ranks)
    ]
    code = 0
    for rows in zip(*(run["rounds"] for run in runs), strict=True):
        times = [row["seconds"] for row in rows]
        counts = [row["messages_of_a_rank"] for row in rows]
        print(
            f"{rows[0]['name']:<18}"
            + "".join(f"{seconds * 1e6:>9.2f} us" for seconds in times)
            + f"  x {times[-1] / times[0]:.2f}, messages of a rank and round {counts}"
        )
        grows = times[-1] > options.max_growth * times[0] or counts[-1] != counts[0]
        if grows or any(row["collectives"] > 0 for row in rows):
            print(
                f"simulate: {rows[0]['name']} grows with ranks, or is collective", file=sys.stderr
            )
            code = 1
    return code


if __name__ == "__main__":
    sys.exit(main())
