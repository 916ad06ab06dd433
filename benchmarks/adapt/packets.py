"""Sweep the packet size in the messages of the predictive balance, as in figure 16 of Ovcharenko et al. 2012.

    benchmarks/adapt/packets.py --build build/release --python build/venv/bin/python --out packets

Four variants run with packets of every size and with automatic ones, interleaved, in several jobs, since the position
of buffers in memory changes times by a tenth. The min time of each counts, and is printed relative to 10 KiB packets:
- balance, migrate: the library's own calls, with and without the choice of ranks. Their packet size is the profile's,
  and they send arrays in one piece at any packet size.
- columns: the same arrays, in rounds with packets of this size (balance_packets.py runs these three).
- entities: as many bytes to each neighbour in messages of 64 bytes, about one entity each, as in the paper.
The first three run automatic packets twice. If the twins differ by more than a twentieth, other work disturbed the
machine, and the run is void. Needs barrio's Python. Writes <out>/packets.json and <out>/goals.json. Exit code 4 if
automatic packets are not within 1.1 of the best.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from judged import goal_of, report, run  # noqa: E402

SIZES = [64, 256, 1024, 4096, 10_240, 16_384, 65_536]
REFERENCE = 10_240
NAMES = {"0": "automatic", "-1": "twin"}
MAX_CHANCE = 1.05


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="packets", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--build", type=Path, required=True, help="a build folder")
    parser.add_argument("--python", type=Path, required=True, help="a Python with mpi4py and numpy")
    parser.add_argument("--out", type=Path, required=True, help="folder for the documents")
    parser.add_argument("--ranks", type=int, default=2, help="(2)")
    parser.add_argument(
        "--boxes", type=int, default=30, help="boxes along each side of the cube (30)"
    )
    parser.add_argument("--repeats", type=int, default=20, help="repetitions in each job (20)")
    parser.add_argument(
        "--max-over-best", type=float, default=1.1, help="goal for automatic packets (1.1)"
    )
    parser.add_argument("--jobs", type=int, default=5, help="jobs of each variant (5)")
    return parser.parse_args()


def of_balance(options: argparse.Namespace) -> dict:
    words = ["--boxes", options.boxes, "--repeats", options.repeats, "--sizes", *SIZES]
    launch = [options.build / "bin" / "barrio", "--ranks", options.ranks, "exec", options.python]
    python = {"PYTHONPATH": str((options.build / "python").resolve())}
    document = json.loads(run([*launch, HERE / "balance_packets.py", *words], python))
    document["seconds"] = {
        name: {NAMES.get(size, size): seconds for size, seconds in row.items()}
        for name, row in document["seconds"].items()
    }
    return document


def of_entities(options: argparse.Namespace, n_bytes: int) -> dict[str, float]:
    """Return seconds of rounds with as many bytes to each neighbour, by packet size."""
    stem = "barrio-bytes64"
    contenders = [*(f"{stem}@{size}" for size in SIZES), stem]
    words = ["--pattern", "all", "--iterations", n_bytes // 8, "--repeats", options.repeats]
    program = [options.build / "bin" / "barrio", "--ranks", options.ranks, "bench", "exchange"]
    text = run([*program, "--json", *words, "--contenders", *contenders], {"BARRIO_PROFILE": "off"})
    rows = json.loads(text)["cases"][0]["contenders"]
    return {row["name"].partition("@")[2] or "automatic": row["seconds"] for row in rows}


def judge(seconds: dict[str, dict[str, float]], most: float) -> list[dict]:
    return [
        goal_of(
            f"{name}.automatic_of_best",
            row["automatic"] / min(row[str(size)] for size in SIZES),
            most,
            "lower",
            "x",
        )
        for name, row in seconds.items()
    ]


def table(seconds: dict[str, dict[str, float]]) -> str:
    heads = [*map(str, SIZES), *NAMES.values()]
    lines = [f"{'packets of, bytes':<18}" + "".join(f"{head:>10}" for head in heads)]
    for name, row in seconds.items():
        of_reference = [row[head] / row[str(REFERENCE)] for head in heads if head in row]
        lines.append(f"{name:<18}" + "".join(f"{value:>10.2f}" for value in of_reference))
    return "\n".join(lines)


def least(of_jobs: list[dict[str, float]]) -> dict[str, float]:
    return {size: min(row[size] for row in of_jobs) for size in of_jobs[0]}


def main() -> int:
    options = parse()
    options.out.mkdir(parents=True, exist_ok=True)
    jobs = []
    for _ in range(options.jobs):
        job = of_balance(options)
        sent = [n for rank in job["of_rank"] for n in rank["bytes_to"].values()]
        job["seconds"]["entities"] = of_entities(options, max(sent))
        jobs.append(job)
    document = jobs[0]
    (options.out / "packets.json").write_text(json.dumps(jobs, indent=1) + "\n")
    for number, rank in enumerate(document["of_rank"]):
        goes = ", ".join(f"{n / 1024:.0f} KiB to {to}" for to, n in rank["bytes_to"].items())
        print(f"rank {number}: {rank['cells_moved']} of {rank['cells']} tets migrate; {goes}")
    seconds = {name: least([job["seconds"][name] for job in jobs]) for name in document["seconds"]}
    for name, row in seconds.items():
        print(f"{name}: {row[str(REFERENCE)] * 1e3:.3f} ms with packets of {REFERENCE} bytes")
    print(table(seconds), flush=True)
    for name, row in seconds.items():
        less, more = sorted([row["automatic"], row.get("twin", row["automatic"])])
        if more > MAX_CHANCE * less:
            print(f"{name}: twins differ by {more / less:.2f}x: disturbed, void")
    return report(judge(seconds, options.max_over_best), options.out / "goals.json")


if __name__ == "__main__":
    sys.exit(main())
