"""Run a program of barrio on a simulated cluster (SimGrid SMPI)."""

from __future__ import annotations

import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent


def run_document(program: Path, words: list[str], n_ranks: int, platform: str) -> dict[str, Any]:
    """Return the JSON document that a program prints, run with one rank a host of a platform.

    A poll costs 0.1 us of simulated time instead of the simulator's own 100 us, computing nothing.
    """
    settings = {
        "host-speed": "10Gf",
        "simulate-computation": "no",
        "iprobe": "1e-7",
        "test": "1e-7",
        "grow-injected-times": "no",
    }
    with tempfile.TemporaryDirectory() as folder:
        hosts = Path(folder) / "hosts"
        hosts.write_text("".join(f"n{rank}\n" for rank in range(n_ranks)), encoding="utf-8")
        place = HERE / "exchange" / "platforms" / f"{platform}.xml"
        command = [
            *("smpirun", "-np", str(n_ranks), "-hostfile", str(hosts), "-platform", str(place)),
            *(f"--cfg=smpi/{name}:{value}" for name, value in settings.items()),
            *("--log=root.thres:warning", str(program), "--json", *words),
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    document: dict[str, Any] = json.loads(done.stdout[done.stdout.index("{") :])
    return document
