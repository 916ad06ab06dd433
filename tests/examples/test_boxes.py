"""examples/14-boxes on any number of ranks: the same result as one array in Python."""

import math
import os
import struct
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "cli"))

from barrio_case import MPIEXEC, Case, execute

BOXES = os.environ["BARRIO_BOXES"]
WORD = (1 << 64) - 1


def mix(x: int) -> int:
    x = (x + 0x9E3779B97F4A7C15) & WORD
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & WORD
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & WORD
    return x ^ (x >> 31)


def expected(n: int, n_steps: int) -> str:
    """Compute the rows along i, one after the other."""
    phase = 2.0 * math.pi / n
    now = [
        [math.sin(phase * i) * math.cos(phase * j) for i in range(n)] for j in range(n)
    ]  # the same C library computes them
    for _ in range(n_steps):
        now = [
            [
                value - 0.4 * (value - row[i - 1]) - 0.4 * (value - now[j - 1][i])
                for i, value in enumerate(row)
            ]
            for j, row in enumerate(now)
        ]
    checksum = 0
    for j, row in enumerate(now):
        for i, value in enumerate(row):
            bits = struct.unpack("<Q", struct.pack("<d", value + 0.0))[0]
            checksum += mix(mix(mix(0) ^ (i + n * j)) ^ bits)
    most = max(max(row) for row in now)
    return f"{n * n} cells, {n_steps} steps: at most {most:.6f}, checksum {checksum & WORD:016x}\n"


class Boxes(Case):
    def test_any_ranks_compute_what_one_array_does(self) -> None:
        for a_side, n_steps, all_ranks in ((4, 30, (1, 2, 3, 4)), (1, 5, (1, 3)), (3, 10, (2, 4))):
            wanted = expected(16 * a_side, n_steps)
            for ranks in all_ranks:
                outcome = execute([*MPIEXEC, "-n", str(ranks), BOXES, str(a_side), str(n_steps)])
                self.assert_code(outcome, 0)
                self.assertEqual(outcome.out, wanted, f"{ranks} ranks")


if __name__ == "__main__":
    unittest.main()
