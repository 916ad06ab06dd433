"""Tables and pictures of benchmarks/mesh/figures, from a small run and a hand-written document. Needs matplotlib."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

FIGURES = Path(__file__).resolve().parents[2] / "benchmarks" / "mesh" / "figures"
PICTURES = ("figure01", "figure02", "figure03", "scaling")
sys.path[:0] = [str(FIGURES), str(FIGURES.parents[1])]

import measure  # noqa: E402
import tables  # noqa: E402


def mesh(name: str, is_ordered: bool) -> dict[str, Any]:
    return {
        "name": name,
        "cells": 1000,
        "sides": 60,
        "sets": 9,
        "file_bytes": 3_000_000,
        "is_in_order_of_parts": is_ordered,
        "load_seconds": 2.0 if is_ordered else 4.0,
        "phases": {
            "read.header": 0.125,
            "read.cells": 0.25,
            "mesh.cells": 0.25,
            "read.sets": 0.0625,
            "mesh.tags": 0.0625,
            "mesh.share": 0.5,
            "mesh.ghosts": 0.25,
            "io.read": 1.0,
        },
    }


def run(ranks: int, is_ordered: bool) -> dict[str, Any]:
    box = {
        "decomposition": "sqij",
        "general_seconds": 0.5,
        "explicit_seconds": 0.25,
        "implicit_seconds": 0.001 * ranks,
    }
    return {
        "ranks": ranks,
        "nodes": 1,
        "cores_of_rank_0": 2,
        "mpi": "Open MPI v4.1.4, more",
        "host": "here",
        "commit": "0123",
        "meshes": [mesh(name, is_ordered) for name in measure.MESHES],
        "structured": [box] if is_ordered else [],
    }


class Figures(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        runs = [run(ranks, is_ordered) for ranks in (1, 2, 4) for is_ordered in (True, False)]
        self.document = {"runs": runs}

    def figures(self, *words: object) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, str(FIGURES), "--out", str(self.folder), *map(str, words)]
        return subprocess.run(command, capture_output=True, text=True, timeout=250)

    def test_numbers(self) -> None:
        found = {
            (r.figure, r.cells, r.variant, r.ranks, r.quantity): r.value
            for r in tables.rows(self.document)
        }
        by_part, not_reordered = "with geometry, by part", "with geometry, not reordered"
        self.assertEqual(found["figure01", "hexes", by_part, 2, "s"], 2.0)
        self.assertEqual(found["figure01", "hexes", by_part, 2, "MB/s"], 1.5)
        self.assertEqual(found["figure01", "tets", not_reordered, 4, "MB/s"], 0.75)
        self.assertEqual(found["figure02", "tets", by_part, 1, "elements"], 0.5)
        self.assertEqual(found["figure02", "tets", by_part, 1, "sets and tags"], 0.125)
        self.assertEqual(found["figure02", "tets", by_part, 1, "partition"], 0.0)
        self.assertEqual(found["figure02", "tets", by_part, 1, measure.REST], 0.5)
        self.assertEqual(found["scaling", "hexes", "resolve", 4, "ms"], 500.0)
        self.assertEqual(found["figure03", "sqij", "implicit", 4, "ms"], 4.0)
        self.assertEqual(len([key for key in found if key[0] == "figure03"]), 9)

    def test_redraw(self) -> None:
        (self.folder / "figures.json").write_text(json.dumps(self.document), encoding="utf-8")
        done = self.figures("--redraw")
        self.assertEqual(done.returncode, 0, done.stderr)
        for name in PICTURES:
            self.assertGreater((self.folder / f"{name}.png").stat().st_size, 10_000, name)
        said = (self.folder / "figure01.svg").read_text(encoding="utf-8")
        self.assertIn("2 cores; more than 2 ranks (grey) share them", said)
        self.assertIn("file bandwidth, MB/s", said)
        with (self.folder / "figures.csv").open(encoding="utf-8") as file:
            self.assertEqual(len(list(csv.DictReader(file))), len(tables.rows(self.document)))
        page = (self.folder / "figures.md").read_text(encoding="utf-8")
        self.assertIn("| sqij | implicit | ms | 1 | 2 | 4 |", page)

    def test_missing_document(self) -> None:
        done = self.figures("--redraw")
        self.assertEqual(done.returncode, 1)
        self.assertIn("figures.json cannot be read", done.stderr)

    def test_measuring(self) -> None:
        command = os.environ.get("BARRIO_COMMAND")
        if not command:
            self.skipTest("BARRIO_COMMAND does not say where the command is")
        words = ("--ranks", 1, 3, "--millions", 0.001, "--parts", 4, "--repeats", 1)
        done = self.figures("--barrio", command, *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        document = json.loads((self.folder / "figures.json").read_text(encoding="utf-8"))
        self.assertEqual(document["schema"], "barrio.bench.mesh_figures")
        self.assertEqual([run["ranks"] for run in document["runs"]], [1, 1, 3, 3])
        named = {region for regions in measure.STEPS.values() for region in regions}
        for one in document["runs"]:
            self.assertEqual({m["name"] for m in one["meshes"]}, set(measure.MESHES))
            for m in one["meshes"]:
                self.assertTrue(named <= set(m["phases"]), named - set(m["phases"]))
                self.assertGreater(m["file_bytes"], 8 * 8 * 900)
        for name in PICTURES:
            self.assertTrue((self.folder / f"{name}.png").exists(), name)


if __name__ == "__main__":
    unittest.main()
