"""Run a program of barrio on a simulated cluster (SimGrid SMPI)."""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent


# A poll costs 0.1 us of simulated time instead of the default 100 us, and computing costs nothing.
SETTINGS = {
    "host-speed": "10Gf",
    "simulate-computation": "no",
    "iprobe": "1e-7",
    "test": "1e-7",
    "grow-injected-times": "no",
}


def run_on(
    platform: Path, hosts: Path, program: Path, words: list[str], n_ranks: int
) -> dict[str, Any]:
    """Return the JSON document that a program prints, with rank i on the host in line i of a file."""
    command = [
        *("smpirun", "-np", str(n_ranks), "-hostfile", str(hosts), "-platform", str(platform)),
        *(f"--cfg=smpi/{name}:{value}" for name, value in SETTINGS.items()),
        *("--log=root.thres:warning", str(program), *words),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    document: dict[str, Any] = json.loads(done.stdout[done.stdout.index("{") :])
    return document


def run_document(program: Path, words: list[str], n_ranks: int, platform: str) -> dict[str, Any]:
    """Return the JSON document that a program prints, with one rank per host of a platform."""
    with tempfile.TemporaryDirectory() as folder:
        hosts = Path(folder) / "hosts"
        hosts.write_text("".join(f"n{rank}\n" for rank in range(n_ranks)), encoding="utf-8")
        place = HERE / "exchange" / "platforms" / f"{platform}.xml"
        return run_on(place, hosts, program, ["--json", *words], n_ranks)


def table(n_ranks: list[int], runs: list[dict[str, float]]) -> str:
    """Format the counts, one line per name, one column per rank count."""
    lines = [f"{'ranks':<30}" + "".join(f"{n:>11}" for n in n_ranks) + "   last / first"]
    for name in runs[0]:
        values = [of[name] for of in runs]
        cells = "".join(f"{value:>11.1f}" for value in values)
        lines.append(f"{name:<30}{cells}{values[-1] / values[0]:>14.2f}x")
    return "\n".join(lines)


def parser(description: str | None, program: str) -> argparse.ArgumentParser:
    """Make the parser of scripts that judge the growth of counts with ranks."""
    made = argparse.ArgumentParser(
        prog="simulate",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument(
        "--max-growth", type=float, default=1.15, help="max growth from fewest to most ranks"
    )
    made.add_argument("--out", type=Path, help="folder for the documents and goals.json")
    made.add_argument("--platform", default="fat_tree", help="fat_tree (default) or torus")
    made.add_argument(
        "--program",
        type=Path,
        default=HERE.parent / "build" / "smpi" / "bin" / program,
        help="the benchmark of the simulator's build (default: %(default)s)",
    )
    return made
