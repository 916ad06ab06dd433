"""Tables and pictures of benchmarks/exchange/figures, from hand-written documents. Needs matplotlib."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

FIGURES = Path(__file__).resolve().parents[2] / "benchmarks" / "exchange" / "figures"
ONE_MESSAGE = "barrio, one message per packet"
sys.path[:0] = [str(FIGURES), str(FIGURES.parents[1])]

import tables  # noqa: E402
from literature import PAPER  # noqa: E402


def document(ranks: int, cases: dict[int, dict[str, float | None]]) -> dict[str, Any]:
    """Make a document of the benchmark with these seconds of these contenders."""
    return {
        "ranks": ranks,
        "mpi": "Open MPI v4.1.4, more",
        "host": "here",
        "commit": "0123",
        "cases": [
            {
                "iterations": n,
                "contenders": [
                    {"name": name, "seconds": seconds, "collectives": 2.0, "mpi_messages": 3.0}
                    for name, seconds in contenders.items()
                ],
            }
            for n, contenders in cases.items()
        ],
    }


class Figures(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        growth = {
            10: {"raw": 1.0, "barrio@32": 0.5, "barrio": 0.1, "packed": 0.1, "persistent": 0.1},
            20: {"raw": 8.0, "barrio@32": 1.0, "barrio": 0.2, "packed": None, "persistent": 0.1},
        }
        sizes = {
            20: {"raw": 8.0, "barrio@32": 1.0, "barrio@64": 0.25, "barrio": 0.2, "packed": 0.1}
        }
        short = {64: {"packed": 0.1, "barrio": 0.12, "barrio-intro": 0.2, "zoltan": 0.4}}
        self.documents = {
            "figure07": document(2, growth),
            "figure08": document(2, sizes),
            "figure10": document(16, growth),
            "short": document(64, short),
        }

    def draw(self) -> subprocess.CompletedProcess[str]:
        for name, content in self.documents.items():
            (self.folder / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
        command = [sys.executable, str(FIGURES), "--out", str(self.folder), "--redraw"]
        return subprocess.run(command, capture_output=True, text=True, timeout=120)

    def numbers(self, figure: str) -> dict[tuple[str, str, int, str], float]:
        with (self.folder / f"{figure}.csv").open(encoding="utf-8") as file:
            return {
                (row["source"], row["who"], int(row["x"]), row["quantity"]): float(row["value"])
                for row in csv.DictReader(file)
            }

    def test_all_of_it(self) -> None:
        done = self.draw()
        self.assertEqual(done.returncode, 0, done.stderr)
        for name in self.documents:
            for kind in ("png", "svg", "md"):
                self.assertGreater(
                    (self.folder / f"{name}.{kind}").stat().st_size, 300, (name, kind)
                )

        growth = self.numbers("figure07")
        self.assertEqual(growth["here", "raw", 20, "normalised"], 4.0)
        self.assertEqual(growth["here", ONE_MESSAGE, 20, "normalised"], 1.0)
        self.assertEqual(growth["here", "barrio", 20, "over_mpi"], 40.0)
        self.assertNotIn(("here", "packed", 20, "us"), growth)  # it was not measured
        self.assertEqual(growth["paper: Cray XE6", "MPI", 61440, "normalised"], 190.0)

        sizes = self.numbers("figure08")
        self.assertEqual(sizes["here", "barrio@64", 64, "over_one"], 4.0)
        self.assertEqual(sizes["here", "raw", 0, "over_one"], 0.125)

        short = self.numbers("short")
        self.assertEqual(short["here", "zoltan", 64, "of_packed"], 4.0)
        self.assertEqual(short["here", "zoltan", 64, "collectives"], 2.0)
        self.assertGreater(short["elsewhere", "PCU", 64, "of_packed"], 4.0)

    def test_other_rounds_are_not_set_beside_numbers_from_elsewhere(self) -> None:
        for ranks, expected in ((64, True), (16, False)):
            found = tables.rows("short", {**self.documents["short"], "ranks": ranks})
            self.assertEqual(any(row.source == tables.ELSEWHERE for row in found), expected)

    def test_the_derived_numbers_of_the_paper_fit_what_its_text_says_of_them(self) -> None:
        derived = {(v.figure, v.machine): v.value for v in PAPER if v.derived}
        # "the difference between the biggest times is a factor of 2", "negligible penalty on Cray"
        ratio = derived["figure07", "Blue Gene/P"] / derived["figure07", "Cray XE6"]
        self.assertAlmostEqual(ratio, 2.0, delta=0.1)
        self.assertAlmostEqual(derived["figure10", "Cray XE6"], 1.0, delta=0.1)
        self.assertAlmostEqual(
            65 * 2.1 / 102, 1.33, delta=0.02
        )  # the value in the text, derived in the same way

    def test_a_document_that_is_missing_is_named(self) -> None:
        done = subprocess.run(
            [sys.executable, str(FIGURES), "--out", str(self.folder), "--redraw"],
            capture_output=True,
            text=True,
        )
        self.assertEqual(done.returncode, 1)
        self.assertIn("figure07.json cannot be read", done.stderr)

    def test_a_command_that_is_missing_is_named(self) -> None:
        done = subprocess.run(
            [
                sys.executable,
                str(FIGURES),
                "--out",
                str(self.folder),
                "--barrio",
                str(self.folder / "nobody"),
            ],
            capture_output=True,
            text=True,
        )
        self.assertEqual(done.returncode, 1)
        self.assertIn("cannot be started", done.stderr)
        self.assertIn("--barrio", done.stderr)


if __name__ == "__main__":
    unittest.main()
