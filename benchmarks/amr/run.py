"""Compare barrio's structured AMR with Athena++ and AMReX, and two ranks with one, and judge the ratios.

    python3 benchmarks/amr/run.py --build build/release --athena bin/athena --amrex CNS3d.gnu.MPI.ex --out amr

`--athena` names Athena++ configured with `--prob linear_wave --flux hllc`; it runs waves on a cube
of 64^3 cells with second-order reconstruction and two-stage Runge-Kutta, in blocks of several
sizes. `--amrex` names AMReX's compressible code with the problem of benchmarks/amr/amrex/, which
must have about as many cells on each level as barrio. A program that is not named is skipped.

Each repetition runs all of them in turn. The min time of each counts; medians are printed too. Two
ranks are judged relative to the speed-up of two copies of the one-rank program that run at once,
which is the worth of the machine's second core. Writes <out>/goals.json and <out>/runs.json. Exit
code 4 if a goal is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from judged import goal_of, report, run, run_at_once

HERE = Path(__file__).resolve().parent
CELLS = 64
BLOCKS = (16, 32)
# Goals for the speed of a uniform grid relative to Athena++, by instruction set.
RATIOS = {"avx512": 3.8, "avx2": 2.8, "scalar": 1.1}


class Barrio:
    """Runs of barrio bench amr of a build."""

    def __init__(self, build: Path) -> None:
        self.program = build / "bin" / "barrio"

    def words(self, n_ranks: int, *more: object) -> list[object]:
        return [self.program, "--ranks", n_ranks, "bench", "amr", "--json", *more]

    def part(self, n_ranks: int, *more: object, isa: str = "") -> dict:
        environment = {"BARRIO_ISA": isa} if isa else {}
        document = json.loads(run(self.words(n_ranks, *more), environment))
        return {**document["parts"][0], "instruction_set": document["instruction_set"]}

    def uniform(self, block: int, isa: str = "") -> dict:
        size = ["--cells", CELLS // 2, "--block", block, "--steps", 12]
        return self.part(1, "--parts", "uniform", *size, isa=isa)


def athena(program: str, block: int, folder: Path) -> float:
    """Return cell updates per second, by Athena++'s own clock."""
    lines = ["<job>", "problem_id = waves", "<time>", "integrator = rk2", "xorder = 2"]
    lines += ["cfl_number = 0.3", "nlim = 12", "tlim = 1", "ncycle_out = 0", "<mesh>"]
    for axis in (1, 2, 3):
        lines += [f"nx{axis} = {CELLS}", f"x{axis}min = 0", f"x{axis}max = 1"]
        lines += [f"ix{axis}_bc = periodic", f"ox{axis}_bc = periodic"]
    lines += ["<meshblock>", *(f"nx{axis} = {block}" for axis in (1, 2, 3))]
    lines += ["<hydro>", "gamma = 1.4", "<problem>", "wave_flag = 0", "amp = 1e-3", "vflow = 0.1"]
    lines += ["ang_2 = 0.5", "ang_3 = 0.5", "compute_error = false"]
    wanted = folder / f"athena-{block}.input"
    wanted.write_text("\n".join(lines) + "\n")
    text = run([program, "-d", folder, "-i", wanted])
    return float(re.findall(r"zone-cycles/cpu_second\s*=\s*([0-9.e+]+)", text)[-1])


def amrex(program: str, steps: int) -> dict:
    """Return cell updates, seconds by AMReX's own clock, and kilobytes of its arrays."""
    # Without these, glibc returns large arrays to the system in each step and allocates them again: 20 % more time.
    keeps_memory = {"MALLOC_MMAP_THRESHOLD_": "268435456", "MALLOC_TRIM_THRESHOLD_": "4294967296"}
    text = run([program, HERE / "amrex" / "inputs", f"max_step={steps}"], keeps_memory)
    cells = {}
    n_updates = 0
    for level, n in re.findall(r"\[Level (\d+) step \d+\] Advanced (\d+) cells", text):
        cells[int(level)] = int(n)
        n_updates += int(n)
    seconds = float(re.findall(r"Run Time advance\s*=\s*([0-9.]+)", text)[-1])
    kilobytes = int(re.findall(r"FAB kilobyte spread.*\[(\d+)", text)[-1])
    n_cells = sum(cells.values())
    return {
        "updates": n_updates,
        "cells_of_level": [cells[level] for level in sorted(cells)],
        "updates_per_second": n_updates / seconds,
        "bytes_per_cell": 1024 * kilobytes / n_cells,
    }


class Rates:
    """Cell updates per second of all repetitions, by name."""

    def __init__(self) -> None:
        self.all: dict[str, list[float]] = {}

    def add(self, name: str, rate: float) -> None:
        self.all.setdefault(name, []).append(rate)

    def best(self, *names: str) -> float:
        return max(max(self.all[name]) for name in names)

    def print(self) -> None:
        for name, rates in self.all.items():
            median = statistics.median(rates)
            print(f"{name:<32} {max(rates) / 1e6:8.3f} M/s, median {median / 1e6:8.3f}")


def measure_uniform(barrio: Barrio, options: argparse.Namespace, rates: Rates) -> str:
    """Measure uniform grids. Returns the instruction set."""
    isa = ""
    for block in BLOCKS:
        row = barrio.uniform(block)
        isa = row["instruction_set"]
        rates.add(f"barrio.uniform.{block}", row["updates_per_second"])
        rates.add(f"barrio.kernel.{block}", row["updates_per_second"] / row["shares"]["kernel"])
        rates.add(f"athena.{block}", athena(options.athena, block, options.out))
    rates.add("barrio.uniform.scalar", barrio.uniform(16, "scalar")["updates_per_second"])
    rates.add(f"athena.{CELLS}", athena(options.athena, CELLS, options.out))
    return isa


def measure_levels(barrio: Barrio, options: argparse.Namespace, rates: Rates) -> dict[str, dict]:
    of_case = ("--parts", "rm3d", "--steps", options.steps)
    rows = {"one": barrio.part(1, *of_case)}
    if options.amrex:
        rows["amrex"] = amrex(options.amrex, options.steps)
    rows["two"] = barrio.part(2, *of_case)
    copies = [json.loads(text)["parts"][0] for text in run_at_once(barrio.words(1, *of_case))]
    rows["copies"] = {
        **copies[0],
        "updates_per_second": 2 * min(one["updates_per_second"] for one in copies),
    }
    for name, row in rows.items():
        rates.add(f"rm3d.{name}", row["updates_per_second"])
    if rows["one"]["checksum"] != rows["two"]["checksum"]:
        raise SystemExit("rm3d: one rank and two ranks end with different states")
    if options.amrex:
        for mine, its in zip(
            rows["one"]["cells_of_level"], rows["amrex"]["cells_of_level"], strict=True
        ):
            if abs(mine - its) > 0.25 * mine:  # AMReX clusters tagged cells into different boxes
                raise SystemExit(f"rm3d: barrio has {mine} cells on a level and AMReX {its}")
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, required=True, help="a build folder")
    parser.add_argument("--out", type=Path, required=True, help="folder for documents")
    parser.add_argument("--athena", help="Athena++ program; skipped by default")
    parser.add_argument("--amrex", help="AMReX program; skipped by default")
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--steps", type=int, default=4, help="steps of the coarsest level")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    os.environ.setdefault("OMPI_ALLOW_RUN_AS_ROOT", "1")
    os.environ.setdefault("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
    barrio = Barrio(options.build)
    rates = Rates()
    isa = ""
    rows: list[dict[str, dict]] = []
    for _ in range(options.repeats):
        if options.athena:
            isa = measure_uniform(barrio, options, rates)
        rows.append(measure_levels(barrio, options, rates))
    rates.print()
    (options.out / "runs.json").write_text(
        json.dumps({"rates": rates.all, "rows": rows}, indent=1) + "\n"
    )

    goals = []
    if options.athena:
        of_athena = [f"athena.{block}" for block in (*BLOCKS, CELLS)]
        for block in BLOCKS:
            mine, its = rates.best(f"barrio.uniform.{block}"), rates.best(f"athena.{block}")
            limit = RATIOS.get(isa, 1.0)
            goals.append(goal_of(f"uniform.{block}.of_athena", mine / its, limit, "higher", "x"))
        ratio = rates.best("barrio.uniform.16", "barrio.uniform.32") / rates.best(*of_athena)
        goals.append(goal_of("uniform.best.of_athena", ratio, RATIOS.get(isa, 1.0), "higher", "x"))
        ratio = rates.best("barrio.uniform.scalar") / rates.best(*of_athena)
        goals.append(goal_of("uniform.scalar.of_athena", ratio, RATIOS["scalar"], "higher", "x"))
    one, two, copies = (rates.best(f"rm3d.{name}") for name in ("one", "two", "copies"))
    if options.amrex:
        goals.append(goal_of("rm3d.of_amrex", one / rates.best("rm3d.amrex"), 7.0, "higher", "x"))
    worth = copies / one
    if worth < 1.8:
        print(f"two copies are worth {worth:.2f} of one: the second core was not free")
    goals.append(goal_of("rm3d.two_ranks_of_two_copies", two / copies, 0.95, "higher", "x"))
    share = min(row["two"]["shares"]["exchange"] for row in rows)
    goals.append(goal_of("rm3d.share_of_exchange", share, 0.05, "lower"))
    return report(goals, options.out / "goals.json")


if __name__ == "__main__":
    sys.exit(main())
