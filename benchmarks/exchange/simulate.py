"""Run the exchange benchmark on simulated clusters of up to 1 024 hosts (SimGrid SMPI), and print a table.

    python3 benchmarks/exchange/simulate.py --ranks 64 256 1024 --platforms fat_tree torus

Times are those of the simulated machine: latency and bandwidth of its links, 0.1 us for each poll, nothing for
computing. Contents are checked as on a real machine. Needs the benchmark in build/smpi (make check-smpi builds it).
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
N_HOSTS = 1024
# By default a poll of the simulator costs at least 100 us, which would dominate all times.
SETTINGS = [
    "smpi/host-speed:10Gf",
    "smpi/simulate-computation:no",
    "smpi/iprobe:1e-7",
    "smpi/test:1e-7",
    "smpi/grow-injected-times:no",
]


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="simulate", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    platforms = sorted(path.stem for path in (HERE / "platforms").glob("*.xml"))
    parser.add_argument("--ranks", type=int, nargs="+", default=[64, 256, 1024])
    parser.add_argument("--platforms", nargs="+", choices=platforms, default=platforms)
    parser.add_argument("--pattern", default="tile", help="as in the benchmark (default tile)")
    parser.add_argument("--iterations", type=int, default=64, help="messages to each neighbour")
    parser.add_argument("--rounds", type=int, default=5, help="consecutive rounds (default 5)")
    parser.add_argument(
        "--ranks-per-host", type=int, default=1, help="ranks on each host (default 1)"
    )
    parser.add_argument(
        "--contenders",
        nargs="+",
        default=["packed", "barrio", "barrio-intro", "barrio-allreduce", "barrio-consensus"],
    )
    parser.add_argument(
        "--consensus-limit",
        type=int,
        default=256,
        help="max ranks for consensus, whose polls are slow to simulate (default 256)",
    )
    parser.add_argument(
        "--call-microseconds",
        type=float,
        default=0.0,
        help="cost of a send or receive for the calling rank (default 0)",
    )
    parser.add_argument(
        "--max-growth",
        type=float,
        metavar="X",
        help="fail if a contender takes X times as long with most ranks as with fewest",
    )
    parser.add_argument("--json", type=Path, help="keep all documents in this file")
    parser.add_argument(
        "--program",
        type=Path,
        default=HERE.parents[1] / "build" / "smpi" / "bin" / "barrio-bench-exchange",
        help="the benchmark (default: %(default)s)",
    )
    return parser.parse_args()


def run(options: argparse.Namespace, platform: str, n_ranks: int) -> dict[str, Any]:
    """Return the document of one simulated run, with the seconds that the simulation took."""
    contenders = [
        name
        for name in options.contenders
        if "consensus" not in name or n_ranks <= options.consensus_limit
    ]
    with tempfile.TemporaryDirectory() as folder:
        hosts = Path(folder) / "hosts"
        lines = [f"n{rank // options.ranks_per_host}" for rank in range(n_ranks)]
        hosts.write_text("\n".join(lines) + "\n", encoding="utf-8")
        command = ["smpirun", "-np", str(n_ranks), "-hostfile", str(hosts)]
        command += ["-platform", str(HERE / "platforms" / f"{platform}.xml")]
        command += [f"--cfg={setting}" for setting in SETTINGS]
        call = f"0:{options.call_microseconds * 1e-6}:0"
        command += [f"--cfg=smpi/os:{call}", f"--cfg=smpi/or:{call}", f"--cfg=smpi/ois:{call}"]
        command += ["--log=root.thres:warning", str(options.program), "--json"]
        command += ["--pattern", options.pattern, "--iterations", str(options.iterations)]
        command += ["--back-to-back", str(options.rounds), "--contenders", *contenders]
        begin = time.monotonic()
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        seconds = time.monotonic() - begin
    if done.returncode != 0:
        raise SystemExit(f"simulate: {' '.join(command)}\n{done.stdout}{done.stderr}")
    document: dict[str, Any] = json.loads(done.stdout[done.stdout.index("{") :])
    document["platform"] = platform
    document["simulation_seconds"] = seconds
    return document


def growths(documents: list[dict[str, Any]]) -> dict[str, float]:
    """Return for each contender its time with most ranks over that with fewest."""
    times: dict[str, list[float]] = {}
    for document in documents:
        for row in document["cases"][0]["contenders"]:
            times.setdefault(row["name"], []).append(row["seconds"])
    return {name: seconds[-1] / seconds[0] for name, seconds in times.items()}


def table(platform: str, documents: list[dict[str, Any]]) -> str:
    """Return one line per contender, one column per rank count: microseconds, and the growth."""
    ranks = [document["ranks"] for document in documents]
    lines = [f"{platform:<18}" + "".join(f"{n:>12}" for n in ranks) + "    last / first"]
    for name, growth in growths(documents).items():
        rows = [
            next((row for row in d["cases"][0]["contenders"] if row["name"] == name), None)
            for d in documents
        ]
        cells = "".join(f"{row['seconds'] * 1e6:>9.1f} us" if row else f"{'-':>12}" for row in rows)
        lines.append(f"{name:<18}{cells}   {growth:>12.2f}x")
    took = "".join(f"{d['simulation_seconds']:>10.1f} s" for d in documents)
    lines.append(f"{'(simulated in)':<18}{took}")
    return "\n".join(lines)


def main() -> int:
    options = parse()
    if max(options.ranks) > N_HOSTS * options.ranks_per_host:
        print(f"simulate: the platforms have {N_HOSTS} hosts", file=sys.stderr)
        return 2
    ranks = sorted(set(options.ranks))
    everything = []
    code = 0
    for platform in options.platforms:
        documents = [run(options, platform, n) for n in ranks]
        everything += documents
        print(table(platform, documents), flush=True)
        for name, growth in growths(documents).items():
            if options.max_growth and (len(ranks) < 2 or growth > options.max_growth):
                print(f"simulate: {name} grows by {growth:.2f}x on {platform}", file=sys.stderr)
                code = 1
    if options.json:
        options.json.write_text(json.dumps(everything, indent=2) + "\n", encoding="utf-8")
    return code


if __name__ == "__main__":
    sys.exit(main())
