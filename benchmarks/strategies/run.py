"""Run `barrio bench strategies` with each MPI that is built and over each of its transports, and judge all together.

    python3 benchmarks/strategies/run.py --build build/release build/mpich --out strategies

Writes one document a run, <out>/<mpi>-<transport>.json and <out>/<mpi>-<transport>-engine.json,
and all goals to <out>/goals.json. Each MPI is probed first, so that the profile is the machine's;
the profiles lie in <out> too. Exit code 4 if a goal is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

# What sets a transport; for either MPI the other's variables mean nothing.
TRANSPORTS = {
    "shm": {},
    "tcp": {
        "OMPI_MCA_pml": "ob1",
        "OMPI_MCA_btl": "tcp,self",
        "MPIR_CVAR_NOLOCAL": "1",
        "UCX_TLS": "tcp,self",
    },
}
IS_OF_OPEN_MPI = "OMPI_"
LIMIT_SECONDS = 600


def variables(transport: str, is_open_mpi: bool) -> dict[str, str]:
    """Those of this MPI only: others would make a profile that fits no other job."""
    return {
        name: value
        for name, value in TRANSPORTS[transport].items()
        if name.startswith(IS_OF_OPEN_MPI) == is_open_mpi
    }


def run(words: list[object], environment: dict[str, str]) -> str:
    done = subprocess.run(
        [str(word) for word in words],
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LIMIT_SECONDS,
        check=False,
    )
    if done.returncode != 0:
        raise SystemExit(
            f"{' '.join(map(str, words))}\nended with {done.returncode}:\n{done.stderr}"
        )
    return done.stdout


def goal_of(name: str, value: float, limit: float, better: str) -> dict:
    is_met = value >= limit if better == "higher" else value <= limit
    return {"id": name, "value": value, "unit": "", "goal": limit, "better": better, "met": is_met}


def judge_together(runs: list[dict]) -> list[dict]:
    """Goals over the cells of all runs, beside those of each run."""
    cells = [cell for one in runs for cell in one.get("cells", [])]
    if not cells:
        return []
    part = sum(cell["automatic_of_best"] <= 1.10 for cell in cells) / len(cells)
    worst = max(cell["automatic_of_delayed"] for cell in cells)
    return [
        goal_of("all.within_10_percent_of_best", part, 0.95, "higher"),
        goal_of("all.worst_of_delayed_waits", worst, 1.10, "lower"),
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--build", nargs="+", type=Path, required=True, help="build folders, one an MPI"
    )
    parser.add_argument("--out", type=Path, required=True, help="folder for the documents")
    parser.add_argument(
        "--transports", nargs="+", choices=list(TRANSPORTS), default=list(TRANSPORTS)
    )
    parser.add_argument(
        "--options", nargs=argparse.REMAINDER, default=[], help="options of the benchmark"
    )
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    profiles = {"BARRIO_PROFILE": str(options.out.resolve() / "profiles.json")}
    runs, goals = [], []
    for build in options.build:
        command = build / "bin" / "barrio"
        is_open_mpi = "Open MPI" in run([command, "--version"], {})
        mpi = "openmpi" if is_open_mpi else "mpich"
        wanted = ",".join(options.transports)
        run([command, "--ranks", 2, "probe", "--depth", "limits", "--transport", wanted], profiles)
        for transport in options.transports:
            environment = {**profiles, **variables(transport, is_open_mpi)}
            bench = [command, "--ranks", 2, "bench", "strategies", "--json", *options.options]
            for suffix, parts in (("", ["overlap", "cells"]), ("-engine", ["engine"])):
                document = json.loads(run([*bench, "--parts", *parts], environment))
                (options.out / f"{mpi}-{transport}{suffix}.json").write_text(
                    json.dumps(document, indent=1) + "\n"
                )
                runs.append(document)
                goals += [
                    {**goal, "id": f"{mpi}.{transport}.{goal['id']}"} for goal in document["goals"]
                ]
    # Cells are judged over all runs: one in twenty may miss.
    goals = [goal for goal in goals if ".cells." not in goal["id"]] + judge_together(runs)
    (options.out / "goals.json").write_text(json.dumps(goals, indent=1) + "\n")
    for goal in goals:
        sign = "<=" if goal["better"] == "lower" else ">="
        verdict = "met" if goal["met"] else "NOT MET"
        print(
            f"{goal['id']:<66} {goal['value']:>8.3f}{goal['unit']} ({sign} {goal['goal']})  {verdict}"
        )
    missed = sum(not goal["met"] for goal in goals)
    print(f"{len(goals) - missed} of {len(goals)} goals met")
    return 4 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
