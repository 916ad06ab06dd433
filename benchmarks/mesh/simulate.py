"""Count the messages per rank of building a mesh and migrating cells, on simulated clusters (SimGrid SMPI).

    python3 benchmarks/mesh/simulate.py --ranks 64 256

Every rank has a cube of as many cells, so its messages should not depend on the number of ranks. Times are those of the
simulated machine: latency and bandwidth of its links, nothing for computing. The mesh is validated as on a real one.
Needs the benchmark in build/smpi (make check-smpi builds it).
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
PLATFORMS = HERE.parent / "exchange" / "platforms"
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
    parser.add_argument("--ranks", type=int, nargs="+", default=[64, 256])
    parser.add_argument("--platform", default="fat_tree", help="fat_tree (default) or torus")
    parser.add_argument("--cells", type=int, default=6, help="hexes along a rank's cube")
    parser.add_argument("--ghosts", type=int, default=1, help="layers")
    parser.add_argument("--tets", action="store_true", help="cut each hex into six tets")
    parser.add_argument(
        "--max-growth",
        type=float,
        metavar="X",
        help="fail if a rank sends X times as many bytes or messages with most ranks as with fewest",
    )
    parser.add_argument("--json", type=Path, help="keep all documents in this file")
    parser.add_argument(
        "--program",
        type=Path,
        default=HERE.parents[1] / "build" / "smpi" / "bin" / "barrio-bench-mesh-scale",
        help="the benchmark (default: %(default)s)",
    )
    return parser.parse_args()


def run(options: argparse.Namespace, n_ranks: int) -> dict[str, Any]:
    """Return the document of one simulated run, with the seconds that the simulation took."""
    with tempfile.TemporaryDirectory() as folder:
        hosts = Path(folder) / "hosts"
        hosts.write_text("".join(f"n{rank}\n" for rank in range(n_ranks)), encoding="utf-8")
        command = ["smpirun", "-np", str(n_ranks), "-hostfile", str(hosts)]
        command += ["-platform", str(PLATFORMS / f"{options.platform}.xml")]
        command += [f"--cfg={setting}" for setting in SETTINGS]
        command += ["--log=root.thres:warning", str(options.program)]
        command += ["--cells", str(options.cells), "--ghosts", str(options.ghosts)]
        command += ["--tets"] if options.tets else []
        begin = time.monotonic()
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        seconds = time.monotonic() - begin
    if done.returncode != 0 or "{" not in done.stdout:
        raise SystemExit(f"simulate: {' '.join(command)}\n{done.stdout}{done.stderr}")
    document: dict[str, Any] = json.loads(done.stdout[done.stdout.index("{") :])
    document["platform"] = options.platform
    document["simulation_seconds"] = seconds
    return document


def main() -> None:
    options = parse()
    documents = [run(options, n_ranks) for n_ranks in options.ranks]
    rows = {
        "neighbours": [d["neighbours"] for d in documents],
        "ghosts": [d["ghosts"] for d in documents],
        "mesh: messages": [d["mesh"]["messages"] for d in documents],
        "mesh: KiB": [d["mesh"]["bytes"] / 1024 for d in documents],
        "mesh: us": [d["mesh"]["seconds"] * 1e6 for d in documents],
        "faces: messages": [d["faces"]["messages"] for d in documents],
        "faces: KiB": [d["faces"]["bytes"] / 1024 for d in documents],
        "faces: us": [d["faces"]["seconds"] * 1e6 for d in documents],
        "migrate: messages": [d["migrate"]["messages"] for d in documents],
        "migrate: KiB": [d["migrate"]["bytes"] / 1024 for d in documents],
        "migrate: us": [d["migrate"]["seconds"] * 1e6 for d in documents],
        "memory, KiB": [d["memory_bytes"] / 1024 for d in documents],
    }
    print(
        f"{'max over ranks':<18}" + "".join(f"{n:>10}" for n in options.ranks) + "   last / first"
    )
    growth = {}
    for name, values in rows.items():
        growth[name] = values[-1] / values[0]
        cells = "".join(f"{value:>10.0f}" for value in values)
        print(f"{name:<18}{cells}   {growth[name]:>11.2f}x")
    if options.json:
        options.json.write_text(json.dumps(documents, indent=2) + "\n", encoding="utf-8")
    if options.max_growth is None:
        return
    watched = [
        f"{step}: {what}" for step in ("mesh", "faces", "migrate") for what in ("messages", "KiB")
    ]
    for name in [*watched, "memory, KiB"]:
        if growth[name] > options.max_growth:
            raise SystemExit(f"simulate: {name} grow {growth[name]:.2f} times")


if __name__ == "__main__":
    main()
