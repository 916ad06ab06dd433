"""Run the benchmark for each figure."""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from figure_tools import output_of, read

ONE_MESSAGE = "barrio@32"  # packets of one message of 8 bytes: the paper's buffer of 8 bytes
PACKETS = [24, 64, 256, 1024, 4096, 16384, 65536]
PEERS = [
    "neighbor",
    "consensus",
    "zoltan",
    "zoltan-do",
    "petsc-twosided",
    "petsc-sf",
    "petsc-sf-new",
]
MODES = ["barrio-intro", "barrio-allreduce", "barrio-consensus"]


@dataclass(frozen=True)
class Plan:
    """One run of the benchmark."""

    name: str
    ranks: int
    pattern: str
    iterations: list[int]
    contenders: list[str]


def plans(options: argparse.Namespace) -> list[Plan]:
    """Return the runs for the figures, and for the comparison of a short round."""
    ring = [1024, 15360, 30720, 46080, 61440]
    tile = [64, 512, 1024, 1536, 2048]
    if options.quick:
        ring, tile = [256, 512, 1024], [8, 16, 32]
    oracles = ["packed", "persistent"]
    sizes = [f"barrio@{size}" for size in PACKETS]
    return [
        Plan(
            "figure07", options.ring_ranks, "ring", ring, ["raw", ONE_MESSAGE, "barrio", *oracles]
        ),
        Plan(
            "figure08", options.ring_ranks, "ring", ring[-1:], ["raw", *sizes, "barrio", *oracles]
        ),
        Plan(
            "figure10", options.tile_ranks, "tile", tile, ["raw", ONE_MESSAGE, "barrio", *oracles]
        ),
        Plan("short", options.tile_ranks, "tile", tile[:1], [*oracles, "barrio", *MODES, *PEERS]),
    ]


def run(plan: Plan, options: argparse.Namespace, path: Path) -> dict[str, Any]:
    """Run the benchmark, and keep the document."""
    command = [str(options.barrio), "--ranks", str(plan.ranks), "bench", "exchange"]
    built = _contenders_built([*command[:2], "1", *command[3:]])
    contenders = [name for name in plan.contenders if name.partition("@")[0] in built]
    repeats = 1 if options.quick else options.repeats
    command += [
        "--pattern",
        plan.pattern,
        "--repeats",
        str(repeats),
        "--raw-limit",
        "200000",
        "--json",
    ]
    command += ["--iterations", *map(str, plan.iterations), "--contenders", *contenders]
    path.write_text(output_of(command), encoding="utf-8")
    return read(path)


def _contenders_built(command: list[str]) -> set[str]:
    """Return the contenders of this build, from a round on one rank."""
    document = json.loads(output_of([*command, "--iterations", "1", "--repeats", "1", "--json"]))
    return {row["name"] for row in document["cases"][0]["contenders"]}
