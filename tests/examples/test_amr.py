"""examples/15-amr: a custom patch kernel on levels, on any number of ranks, with the output on its page."""

import os
import re
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "cli"))

from barrio_case import MPIEXEC, SOURCE, Case, barrio, execute, some_ranks

ADVECTION = os.environ["BARRIO_ADVECTION"]
PYTHON = os.environ.get("BARRIO_PYTHON", "")  # empty: barrio is built without its package
PACKAGE = os.environ.get("BARRIO_PACKAGE", "")


class Advection(Case):
    def run_on(self, ranks: int, levels: int) -> str:
        words = [*MPIEXEC, "-n", str(ranks), ADVECTION, str(levels)]
        outcome = execute(words, cwd=self.folder)
        self.assert_code(outcome, 0)
        return outcome.out

    def test_any_ranks_compute_the_same(self) -> None:
        lines = {self.run_on(ranks, 3) for ranks in some_ranks(1, 2, 4)}
        self.assertEqual(len(lines), 1, lines)
        self.assertTrue((self.folder / "advection.vtkhdf").exists())

    def test_its_errors_are_those_of_the_page(self) -> None:
        page = (SOURCE / "docs" / "tutorial" / "adaptive-flow.md").read_text()
        told = [int(percent) for percent in re.findall(r"(\d+) % on (?:one|two|three)", page)]
        found = [
            round(100 * float(re.search(r"([\d.]+) of the disc", self.run_on(2, levels))[1]))
            for levels in (1, 2, 3)
        ]
        self.assertEqual(found, told)


class Shock(Case):
    @unittest.skipUnless(PYTHON, "barrio is built without its Python package")
    def test_python_finds_the_shock_of_the_command(self) -> None:
        folder = SOURCE / "examples" / "15-amr"
        page = (SOURCE / "docs" / "tutorial" / "adaptive-flow.md").read_text()
        told = re.search(r"a shock at x = ([\d.]+)", page)[1]
        lines = set()
        for ranks in some_ranks(1, 2, 4):
            command = [*MPIEXEC, "-n", str(ranks), PYTHON, "-m", "mpi4py", str(folder / "shock.py")]
            outcome = execute(command, cwd=self.folder, environment={"PYTHONPATH": PACKAGE})
            self.assert_code(outcome, 0)
            lines.add(outcome.out)
        self.assertEqual(len(lines), 1, lines)
        line = lines.pop()
        self.assertIn(f"shock at x = {told} at time 0.2;", line)
        by_command = barrio("amr", folder / "sod.toml", "--set", "grid.levels=3", "--json")
        self.assertIn(by_command.json()["checksum"], line)


if __name__ == "__main__":
    unittest.main()
