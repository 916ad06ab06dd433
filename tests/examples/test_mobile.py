"""examples/17-mobile: the rod of mobile objects has one result on any ranks, also on the disk, by numpy."""

import os
import re
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "cli"))

from barrio_case import MPIEXEC, Case, execute, some_ranks

ROD = os.environ["BARRIO_ROD"]


def heat_of(n_steps: int) -> float:
    """Return the heat of a rod that is long enough, computed in another way: as one array."""
    heat = [0.0] * (n_steps + 3)
    heat[0] = 1000.0
    for _ in range(n_steps):
        inner = [
            heat[k] + 0.25 * (heat[k - 1] - 2 * heat[k] + heat[k + 1])
            for k in range(1, len(heat) - 1)
        ]
        heat[1:-1] = inner
    return sum(heat[1:-1])


class Rod(Case):
    def run_rod(self, ranks: int, *words: object) -> re.Match[str]:
        outcome = execute([*MPIEXEC, "-n", str(ranks), ROD, *map(str, words)])
        self.assert_code(outcome, 0)
        found = re.fullmatch(r"(\d+) messages, (\d+) loads from the disk, heat (.*)\n", outcome.out)
        assert found, str(outcome)
        return found

    def test_one_result(self) -> None:
        for ranks in some_ranks(1, 3, 4):
            found = self.run_rod(ranks, 40, 50)
            self.assertEqual(int(found[1]), 40 + 2 * 39 * 51)
            self.assertEqual(int(found[2]), 0)
            self.assertAlmostEqual(float(found[3]), heat_of(50), places=6)

    def test_on_the_disk(self) -> None:
        for ranks in some_ranks(1, 3):
            words = [*MPIEXEC, "-n", str(ranks), ROD, "40", "50", "400000", os.getcwd()]
            if "is in memory" in execute(words).err:
                self.skipTest(f"{os.getcwd()} is in memory")
            found = self.run_rod(ranks, 40, 50, 400_000, os.getcwd())
            self.assertEqual(int(found[1]), 40 + 2 * 39 * 51)
            self.assertGreater(int(found[2]), 100)
            self.assertAlmostEqual(float(found[3]), heat_of(50), places=6)


if __name__ == "__main__":
    unittest.main()
