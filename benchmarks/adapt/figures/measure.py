"""Run the benchmark at several rank counts."""

from __future__ import annotations

import argparse
import json
from typing import Any

from figure_tools import output_of

CASES = {"cube": "CUBE", "bubble": "BUBBLE"}
ROUNDS, MIGRATION = "in rounds", "by migration"


def run(options: argparse.Namespace) -> dict[str, Any]:
    """Measure all rank counts, interleaved, and keep all repetitions."""
    runs = []
    for _ in range(options.repeats):
        for ranks in options.ranks:
            command = [str(options.barrio), "--ranks", str(ranks), "bench", "adapt", "--json"]
            command += ["--cases", *CASES, "--migrating"]
            command += ["--boxes", str(options.boxes), "--scale", str(options.scale)]
            runs.append(json.loads(output_of(command)))
    return {"schema": "barrio.bench.adapt_figures", "schema_version": 1, "runs": runs}


def fastest(document: dict[str, Any], case: str, ranks: int, way: str) -> dict[str, Any]:
    """Return the results of a case in its fastest repetition."""
    rows = [
        row if way == ROUNDS else row["migrating"]
        for run in document["runs"]
        if run["ranks"] == ranks
        for row in run["cases"]
        if row["case"] == case
    ]
    return min(rows, key=lambda row: row["seconds"])


def rank_counts(document: dict[str, Any]) -> list[int]:
    """Return all rank counts, ascending."""
    return sorted({run["ranks"] for run in document["runs"]})
