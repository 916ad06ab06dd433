"""examples/09-assembly on 1 to 8 ranks: the same solution, of second order."""

import os
import re
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "cli"))

from barrio_case import MPIEXEC, Case, execute

ASSEMBLY = os.environ["BARRIO_ASSEMBLY"]
LINE = re.compile(r"(\d+)\^3 elements, (\d+) iterations, largest error (\d\.\d{6})\n")


class Assembly(Case):
    def solve(self, ranks: int, n: int) -> tuple[int, float]:
        outcome = execute([*MPIEXEC, "-n", str(ranks), ASSEMBLY, str(n)])
        self.assert_code(outcome, 0)
        found = LINE.fullmatch(outcome.out)
        self.assertIsNotNone(found, outcome.out)
        self.assertEqual(int(found[1]), n)
        return int(found[2]), float(found[3])

    def test_the_same_on_any_number_of_ranks(self) -> None:
        results = {self.solve(ranks, 12) for ranks in (1, 2, 3, 4, 7, 8)}
        self.assertEqual(len(results), 1, results)

    def test_is_of_second_order(self) -> None:
        coarse = self.solve(2, 8)[1]
        fine = self.solve(4, 16)[1]
        self.assertAlmostEqual(coarse / fine, 4.0, delta=0.2)

    def test_usage(self) -> None:
        for words in ([], ["1"], ["x"], ["8", "8"]):
            outcome = execute([*MPIEXEC, "-n", "2", ASSEMBLY, *words])
            self.assert_code(outcome, 2)
            self.assertIn("takes 2 to 256 elements", outcome.err)


if __name__ == "__main__":
    unittest.main()
