"""examples/19-uneven: squares of the Mandelbrot set have one result on any ranks, and spread by themselves."""

import os
import re
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "cli"))

from barrio_case import MPIEXEC, Case, execute, some_ranks

MANDELBROT = os.environ["BARRIO_MANDELBROT"]
SAID = re.compile(
    r"(\d+) squares, (\d+) points inside, area (\S+); (\d+) migrations, "
    r"the busiest rank has (\S+) of its share\n"
)


def points_inside(n_levels: int) -> tuple[int, int]:
    """Return the numbers of squares and of points of the last level, divided in another way: by recursion."""

    def inside(c: complex) -> bool:
        z = 0j
        for _ in range(2000):
            z = z * z + c
            if z.real * z.real + z.imag * z.imag > 4:
                return False
        return True

    def count(level: int, x: int, y: int) -> tuple[int, int]:
        size = 4.0 / 2**level
        n = sum(
            inside(complex(-2 + size * (x + (i + 0.5) / 16), -2 + size * (y + (j + 0.5) / 16)))
            for i in range(16)
            for j in range(16)
        )
        if (0 < n < 256 or level < 3) and level < n_levels:
            parts = [count(level + 1, 2 * x + i, 2 * y + j) for i in (0, 1) for j in (0, 1)]
            return sum(part[0] for part in parts), sum(part[1] for part in parts)
        return 1, n << 2 * (n_levels - level)

    return count(0, 0, 0)


class Uneven(Case):
    def run_it(self, ranks: int, *words: object) -> re.Match[str]:
        outcome = execute([*MPIEXEC, "-n", str(ranks), MANDELBROT, *map(str, words)])
        self.assert_code(outcome, 0)
        found = SAID.fullmatch(outcome.out)
        assert found, str(outcome)
        return found

    def test_one_result(self) -> None:
        n_squares, n_inside = points_inside(3)
        for ranks in some_ranks(1, 3, 4):
            found = self.run_it(ranks, 3)
            self.assertEqual((int(found[1]), int(found[2])), (n_squares, n_inside))

    def test_work_spreads(self) -> None:
        stays = self.run_it(2, 6, "stay")
        self.assertEqual(int(stays[4]), 0)
        spreads = self.run_it(2, 6)
        self.assertEqual(stays.group(1, 2, 3), spreads.group(1, 2, 3))
        self.assertGreater(int(spreads[4]), 0)
        self.assertLess(
            float(spreads[5]), 2.0
        )  # the other rank has done some, however busy the machine


if __name__ == "__main__":
    unittest.main()
