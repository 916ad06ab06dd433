"""examples/15-amr: a custom patch kernel on levels, on any number of ranks, with the output on its page."""

import os
import re
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "cli"))

from barrio_case import MPIEXEC, SOURCE, Case, execute, some_ranks

ADVECTION = os.environ["BARRIO_ADVECTION"]


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


if __name__ == "__main__":
    unittest.main()
