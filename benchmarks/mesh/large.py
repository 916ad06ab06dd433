"""Load the meshes of MOAB's paper, 64 M tets and 32 M hexes, on two ranks, and compare them with meshes of 1 M.

    benchmarks/mesh/large.py --build build/release --out large [--keep]

Each mesh is generated in 8 parts, loaded with a layer of ghosts and checked on two ranks, and loaded on one.
Judged: one checksum on both rank counts, the counts of cells and vertices, and the bytes a cell, which must
be those of the mesh of 1 M within 5 %. Needs about 12 GiB of memory and 8 GiB of disk. Writes
<out>/goals.json. Exit code 4 if a goal is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from judged import goal_of, report, run

# Boxes along each side: of the small mesh and of the large one. A box is six tets or one hex.
KINDS = {"tets": ((55, 220), 6), "hexes": ((100, 318), 1)}


def load(barrio: Path, ranks: int, mesh: Path, result: Path) -> dict:
    words = [
        barrio,
        "--ranks",
        ranks,
        "load",
        mesh,
        "--ghosts",
        1,
        "--validate",
        "--result",
        result,
    ]
    run(words)
    return json.loads(result.read_text())


def bytes_of_entity(loaded: dict) -> float:
    """Memory of the mesh by its cells, those of ghost layers among them."""
    return loaded["memory_bytes"]["total"] / (
        loaded["owned_cells"]["total"] + loaded["ghost_cells"]["total"]
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, required=True, help="a build folder")
    parser.add_argument("--out", type=Path, required=True, help="folder for meshes and documents")
    parser.add_argument("--kinds", nargs="+", choices=list(KINDS), default=list(KINDS))
    parser.add_argument("--keep", action="store_true", help="leave the mesh files there")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    os.environ.setdefault("OMPI_ALLOW_RUN_AS_ROOT", "1")
    os.environ.setdefault("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
    barrio = options.build / "bin" / "barrio"
    goals = []
    for kind in options.kinds:
        sides, cells_of_box = KINDS[kind]
        bytes_at = []
        for n in sides:
            mesh = options.out / f"{kind}-{n}.h5m"
            words = ["generate", "box", "-c", n, n, n, "-n", 8, "-o", mesh]
            run([barrio, "--ranks", 2, *words, *(["--tets"] if kind == "tets" else [])])
            two = load(barrio, 2, mesh, options.out / f"{kind}-{n}-2.json")
            one = load(barrio, 1, mesh, options.out / f"{kind}-{n}-1.json")
            n_cells = cells_of_box * n**3
            sound = two["checksum"] == one["checksum"] and all(
                loaded["owned_cells"]["total"] == n_cells
                and loaded["counts"]["vertices"] == (n + 1) ** 3
                for loaded in (one, two)
            )
            goals.append(goal_of(f"{kind}.{n_cells}.sound", float(sound), 1.0, "higher"))
            bytes_at.append(bytes_of_entity(two))
            print(
                f"{kind}: {n_cells} cells, {bytes_at[-1]:.1f} bytes a cell, loaded in "
                f"{two['seconds']:.1f} s on two ranks and {one['seconds']:.1f} s on one, "
                f"checksum {two['checksum']}",
                flush=True,
            )
            if not options.keep:
                mesh.unlink()
        goals.append(
            goal_of(f"{kind}.bytes_of_1M", abs(bytes_at[1] / bytes_at[0] - 1.0), 0.05, "lower")
        )
    return report(goals, options.out / "goals.json")


if __name__ == "__main__":
    sys.exit(main())
