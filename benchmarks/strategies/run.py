"""Run `barrio bench strategies` with each built MPI and each of its transports, and judge all goals together.

    python3 benchmarks/strategies/run.py --build build/release build/mpich --out strategies

Everything is measured `--runs` times, and goals are judged by the median, so that one disturbed run
does not matter. Writes three documents per run, <out>/<mpi>-<transport>-<run>.json,
...-anew-<run>.json and ...-engine-<run>.json, and all goals to <out>/goals.json. Each MPI is probed
first, for a profile of this machine; the profiles are in <out> too. Exit code 4 if a goal is missed.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from judged import goal_of, report, run

# Variables that select a transport; each MPI ignores the other's.
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
N_ATTEMPTS = 10
SECONDS_BETWEEN_ATTEMPTS = 20
# Documents of a run, by the suffix of their names. The engine needs another thread level. For exchanges that are remade
# every few rounds, a quarter of the cells is enough.
PARTS = {
    "": ["--parts", "overlap", "cells"],
    "-anew": ["--parts", "anew", "--messages", 4, "--imbalance", 0.5],
    "-engine": ["--parts", "engine"],
}


def variables(transport: str, is_open_mpi: bool) -> dict[str, str]:
    """Return the variables of this MPI only: others would make a profile that matches no other job."""
    return {
        name: value
        for name, value in TRANSPORTS[transport].items()
        if name.startswith(IS_OF_OPEN_MPI) == is_open_mpi
    }


def judge_together(runs: list[dict]) -> list[dict]:
    """Return goals over the cells of all runs, for exchanges that persist and for those that are
    remade every few rounds."""
    goals = []
    for part, name in (("cells", "all"), ("anew", "all_anew")):
        cells = [cell for one in runs for cell in one.get(part, [])]
        if not cells:
            continue
        good = sum(cell["automatic_of_best"] <= 1.10 for cell in cells) / len(cells)
        worst = max(cell["automatic_of_delayed"] for cell in cells)
        goals.append(goal_of(f"{name}.within_10_percent_of_best", good, 0.95, "higher"))
        goals.append(goal_of(f"{name}.worst_of_delayed_waits", worst, 1.10, "lower"))
    return goals


def probe(command: Path, transports: list[str], profiles: dict[str, str]) -> None:
    """Probe this machine until the profile of each transport is stored: while other work disturbs
    it, none is, and the automatic strategy would be judged without what it needs to know."""
    for attempt in range(N_ATTEMPTS):
        if attempt > 0:
            time.sleep(SECONDS_BETWEEN_ATTEMPTS)
        words = [command, "--ranks", 2, "probe", "--depth", "limits"]
        text = run([*words, "--transport", ",".join(transports)], profiles)
        if "no profile is stored" not in text and "not tried, as other work" not in text:
            return
    sys.exit(
        f"run.py: other work disturbed {N_ATTEMPTS} probes of this machine; run it on an idle host"
    )


def measure(
    build: Path, transport: str, suffix: str, profiles: dict[str, str], options: argparse.Namespace
) -> tuple[dict, list[dict]]:
    """Return the document of one run, and its goals by MPI and transport."""
    command = build / "bin" / "barrio"
    is_open_mpi = "Open MPI" in run([command, "--version"], {})
    mpi = "openmpi" if is_open_mpi else "mpich"
    environment = {**profiles, **variables(transport, is_open_mpi)}
    documents = []
    for name, arguments in PARTS.items():
        words = [command, "--ranks", 2, "bench", "strategies", "--json", *options.options]
        document = json.loads(run([*words, *arguments], environment))
        (options.out / f"{mpi}-{transport}{name}{suffix}.json").write_text(
            json.dumps(document, indent=1) + "\n"
        )
        documents.append(document)
    goals = [
        {**goal, "id": f"{mpi}.{transport}.{goal['id']}"}
        for document in documents
        for goal in document["goals"]
    ]
    return {key: value for document in documents for key, value in document.items()}, goals


def of_all_runs(goals_of_runs: list[list[dict]]) -> list[dict]:
    """Judge each goal by the median of its values, and keep the values."""
    judged = []
    for goal in goals_of_runs[0]:
        values = [
            one["value"] for goals in goals_of_runs for one in goals if one["id"] == goal["id"]
        ]
        median = statistics.median(values)
        again = goal_of(goal["id"], median, goal["goal"], goal["better"])
        judged.append({**again, "unit": goal["unit"], "values": values})
    return judged


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--build", nargs="+", type=Path, required=True, help="build folders, one per MPI"
    )
    parser.add_argument("--out", type=Path, required=True, help="folder for the documents")
    parser.add_argument(
        "--transports", nargs="+", choices=list(TRANSPORTS), default=list(TRANSPORTS)
    )
    parser.add_argument("--runs", type=int, default=3, help="an odd number (3)")
    parser.add_argument(
        "--options", nargs=argparse.REMAINDER, default=[], help="options of the benchmark"
    )
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    profiles = {"BARRIO_PROFILE": str(options.out.resolve() / "profiles.json")}
    for build in options.build:
        probe(build / "bin" / "barrio", options.transports, profiles)
    goals_of_runs = []
    for number in range(1, options.runs + 1):
        documents, goals = [], []
        for build in options.build:
            for transport in options.transports:
                document, more = measure(build, transport, f"-{number}", profiles, options)
                documents.append(document)
                goals += more
        # Cells are judged over all transports: one in twenty may miss its goal.
        goals = [goal for goal in goals if not re.search(r"\.(cells|anew)\.", goal["id"])]
        goals_of_runs.append(goals + judge_together(documents))
    goals = of_all_runs(goals_of_runs)
    return report(goals, options.out / "goals.json")


if __name__ == "__main__":
    sys.exit(main())
