"""Compare barrio adapt with Mmg, and one rank with two, and judge the ratios.

    benchmarks/adapt/run.py --build build/release --mmg mmg3d_O3 --out adapt

Each repetition runs in turn: barrio on one rank, Mmg, barrio on two ranks, and two copies of the
one-rank program at once, which measure the worth of the machine's second core. Times are those of
adaptation alone, without files; Mmg's are by its own clock. The min time of each counts.
`--mmg` names a program of Mmg, as `pip install mmgpy` brings one; without it that part is left
out. Writes <out>/goals.json. Exit code 4 if a goal is missed.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import sys
from itertools import permutations
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from judged import goal_of, report, run, run_at_once

PEER = Path(__file__).resolve().parents[2] / "build" / "peers" / "mmg" / "mmg3d"
CENTRES = [(0.3, 0.3, 0.3), (0.7, 0.3, 0.5), (0.3, 0.7, 0.6), (0.68, 0.7, 0.3), (0.55, 0.5, 0.75)]
HALF = math.sqrt(0.5)
WAYS = [(1, 0, 0), (0, 1, 0), (0, 0, 1), (HALF, HALF, 0), (0, HALF, HALF)]
RADIUS = 0.12


def around(distance: float, finest: float, width: float) -> float:
    return min(max(finest + 0.4 * max(distance - width, 0.0), finest), 0.2)


def cube(x: tuple[float, float, float]) -> float:
    return around(abs(x[0] - 0.5), 0.028, 0.04)


def bubbles(x: tuple[float, float, float], steps: int) -> float:
    size = min(
        around(
            abs(
                math.dist(x, [c + steps * RADIUS / 5 * w for c, w in zip(centre, way, strict=True)])
                - RADIUS
            ),
            0.008,
            0.016,
        )
        for centre, way in zip(CENTRES, WAYS, strict=True)
    )
    return size * (1.14 ** (-1 / 3) if steps else 1.0)


def write_cube(path: Path, n: int) -> list[tuple[float, float, float]]:
    """Write the initial mesh of barrio's benchmark: six tets around the diagonal of each box."""
    points = [
        (i / n, j / n, k / n) for i in range(n + 1) for j in range(n + 1) for k in range(n + 1)
    ]
    strides = ((n + 1) ** 2, n + 1, 1)
    with path.open("w") as file:
        file.write(f"MeshVersionFormatted 2\nDimension 3\nVertices\n{len(points)}\n")
        file.writelines(f"{x:.17g} {y:.17g} {z:.17g} 0\n" for x, y, z in points)
        file.write(f"Tetrahedra\n{6 * n**3}\n")
        for i in range(n):
            for j in range(n):
                for k in range(n):
                    corner = i * strides[0] + j * strides[1] + k + 1
                    for order in permutations(range(3)):
                        a = corner + strides[order[0]]
                        b = a + strides[order[1]]
                        c = b + strides[order[2]]
                        is_even = order in ((0, 1, 2), (1, 2, 0), (2, 0, 1))
                        second, third = (a, b) if is_even else (b, a)
                        file.write(f"{corner} {second} {third} {c} 1\n")
        file.write("End\n")
    return points


def read_points(path: Path) -> list[tuple[float, float, float]]:
    with path.open() as file:
        for line in file:
            if line.strip() == "Vertices":
                break
        n = int(next(file))
        return [tuple(float(word) for word in next(file).split()[:3]) for _ in range(n)]


def write_sizes(path: Path, sizes: list[float]) -> None:
    with path.open("w") as file:
        file.write(f"MeshVersionFormatted 2\nDimension 3\nSolAtVertices\n{len(sizes)}\n1 1\n")
        file.writelines(f"{size:.17g}\n" for size in sizes)
        file.write("End\n")


class Mmg:
    """Runs of Mmg on the same meshes and sizes."""

    def __init__(self, program: str, folder: Path, n_boxes: int) -> None:
        self.program = program
        self.folder = folder
        self.start = folder / "mmg-start.mesh"
        self.points = write_cube(self.start, n_boxes)

    def adapt(self, source: Path, sizes: list[float], target: Path) -> tuple[float, int]:
        """Adapt a mesh. Returns seconds by Mmg's own clock, and the number of tets."""
        write_sizes(self.folder / "mmg.sol", sizes)
        words = [
            self.program,
            "-v",
            4,
            "-hgrad",
            -1,
            "-in",
            source,
            "-sol",
            self.folder / "mmg.sol",
        ]
        text = run([*words, "-out", target])
        seconds = re.findall(r"MMG3DLIB: ELAPSED TIME\s+([0-9.]+)s", text)
        n_tets = re.findall(r"NUMBER OF TETRAHEDRA\s+(\d+)", text)
        return float(seconds[-1]), int(n_tets[-1])

    def measure(self, case: str) -> dict:
        target = self.folder / "mmg-out.mesh"
        if case == "cube":
            seconds, n = self.adapt(self.start, [cube(x) for x in self.points], target)
            return {"seconds": seconds, "cells": n}
        before = self.folder / "mmg-bubble.mesh"
        if not before.exists():
            self.adapt(self.start, [bubbles(x, 0) for x in self.points], before)
        sizes = [bubbles(x, 1) for x in read_points(before)]
        seconds, n = self.adapt(before, sizes, target)
        return {"seconds": seconds, "cells": n}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, required=True, help="a build folder")
    parser.add_argument("--out", type=Path, required=True, help="folder for documents and meshes")
    parser.add_argument(
        "--mmg",
        default=str(PEER) if PEER.exists() else None,
        help="a program of Mmg 5; default: the one of `make bench PEERS=1`; left out without either",
    )
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument(
        "--cases", nargs="+", choices=["cube", "bubble"], default=["cube", "bubble"]
    )
    parser.add_argument("--boxes", type=int, default=55, help="boxes along each side of the cube")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    os.environ.setdefault("OMPI_ALLOW_RUN_AS_ROOT", "1")
    os.environ.setdefault("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
    program = options.build / "bin" / "barrio"

    def words(case: str, n_ranks: int) -> list[object]:
        of_case = ["--cases", case, "--boxes", options.boxes]
        return [program, "--ranks", n_ranks, "bench", "adapt", "--json", *of_case]

    def barrio(case: str, n_ranks: int) -> dict:
        return json.loads(run(words(case, n_ranks)))

    def copies(case: str) -> float:
        """Return the time of the slower of two one-rank programs that run at once."""
        return max(json.loads(one)["cases"][0]["seconds"] for one in run_at_once(words(case, 1)))

    mmg = Mmg(options.mmg, options.out, options.boxes) if options.mmg else None
    goals = []
    for case in options.cases:
        runs: dict[str, list[dict]] = {"one": [], "two": [], "mmg": []}
        of_copies = []
        for number in range(options.repeats):
            runs["one"].append(barrio(case, 1))
            if mmg:
                runs["mmg"].append(mmg.measure(case))
            runs["two"].append(barrio(case, 2))
            of_copies.append(copies(case))
            for name in ("one", "two"):
                document = json.dumps(runs[name][-1], indent=1) + "\n"
                (options.out / f"{case}-{name}-{number}.json").write_text(document)
        rows = {name: [one["cases"][0] for one in runs[name]] for name in ("one", "two")}
        least = {name: min(row["seconds"] for row in rows[name]) for name in rows}
        if len({row["checksum"] for of in rows.values() for row in of}) != 1:
            raise SystemExit(f"{case}: the runs made different meshes")
        first = rows["one"][0]
        text = f"{case}: one rank {least['one']:.2f} s, two {least['two']:.2f} s, copies {min(of_copies):.2f} s"
        if mmg:
            of_mmg = min(one["seconds"] for one in runs["mmg"])
            n_mmg = runs["mmg"][0]["cells"]
            text += f", Mmg {of_mmg:.2f} s for {n_mmg} tets"
            part = 1.0 if case == "cube" else first["cells"] / n_mmg
            limit = 1.25 if case == "cube" else 1.2
            goals.append(
                goal_of(f"{case}.rate_of_mmg", part * of_mmg / least["one"], limit, "higher", "x")
            )
        print(text)
        worth = 2 * least["one"] / min(of_copies)
        if worth < 1.8:
            print(f"{case}: two copies are worth {worth:.2f} of one: the second core was not free")
        goals.append(goal_of(f"{case}.two_ranks", least["one"] / least["two"], 1.7, "higher", "x"))
        goals += runs["one"][0]["goals"]
    return report(goals, options.out / "goals.json")


if __name__ == "__main__":
    sys.exit(main())
