"""examples/10-rays on 1 to 8 ranks, in C++ and Python: the same picture as a serial walk along each ray."""

import os
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "cli"))

from barrio_case import MPIEXEC, SOURCE, Case, execute, some_ranks

RAYS = os.environ["BARRIO_RAYS"]
PYTHON = os.environ.get("BARRIO_PYTHON", "")
PACKAGE = os.environ.get("BARRIO_PACKAGE", "")
WORD = 2**64 - 1
N = 24


def mix(x: int) -> int:
    x = (x + 0x9E3779B97F4A7C15) & WORD
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & WORD
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB & WORD
    return x ^ (x >> 31)


def density(x: int, y: int, z: int) -> int:
    def from_centre(shift: int) -> int:
        return sum(a * a for a in (2 * x + 1 - N + shift, 2 * y + 1 - N, 2 * z + 1 - N))

    if from_centre(0) * 25 > 16 * N * N:
        return 0
    return mix((z * N + y) * N + x) % 3 + (9 if from_centre(N // 4) * 25 <= 2 * N * N else 1)


def values() -> list[int]:
    """Compute all pixels, row by row."""
    picture = []
    for y in range(N):
        for column in range(N):
            value = 0
            for z in range(N):
                x = column + z // 4 - N // 8
                if 0 <= x < N and value < 2 * N:
                    value += density(x, y, z)
            picture.append(value)
    return picture


class Rays(Case):
    @classmethod
    def setUpClass(cls) -> None:
        cls.values = values()
        checksum = sum(mix(mix(pixel) ^ value) for pixel, value in enumerate(cls.values)) & WORD
        cls.line = f"{N}^3 voxels, {N * N} rays, checksum {checksum:016x}"

    def check(self, ranks: int, *words: str) -> None:
        outcome = execute([*MPIEXEC, "-n", str(ranks), *words], environment={"PYTHONPATH": PACKAGE})
        self.assert_code(outcome, 0)
        line, busiest = outcome.out.splitlines()
        self.assertEqual(line, self.line)
        self.assertRegex(busiest, r"^the busiest rank did \d\.\d\d times its share$")

    def test_some_rays_end_within(self) -> None:
        self.assertTrue(any(value >= 2 * N for value in self.values))
        self.assertIn(0, self.values)

    def test_the_same_picture_on_any_number_of_ranks(self) -> None:
        for ranks in some_ranks(1, 2, 3, 4, 7, 8):
            self.check(ranks, RAYS, str(N))

    @unittest.skipUnless(PYTHON, "barrio is built without its Python package")
    def test_in_python(self) -> None:
        script = SOURCE / "examples" / "10-rays" / "rays.py"
        for ranks in some_ranks(1, 2, 4):
            self.check(ranks, PYTHON, "-m", "mpi4py", str(script), str(N))

    def test_ranks_without_a_slab(self) -> None:
        outcome = execute([*MPIEXEC, "-n", "12", RAYS, "8"])
        self.assert_code(outcome, 0)
        self.assertIn("8^3 voxels, 64 rays", outcome.out)

    def test_a_picture(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "picture.pgm"
            self.check(3, RAYS, str(N), str(path))
            head, grey = path.read_bytes().split(b"255\n", 1)
        self.assertEqual(head, f"P5\n{N} {N}\n".encode())
        self.assertEqual(list(grey), [255 - min(value * 64 // N, 255) for value in self.values])

    def test_usage(self) -> None:
        for words in ([], ["7"], ["x"], ["8", "a", "b"]):
            outcome = execute([*MPIEXEC, "-n", "2", RAYS, *words])
            self.assert_code(outcome, 2)
            self.assertIn("needs 8 to 1024 voxels", outcome.err)
        outcome = execute([*MPIEXEC, "-n", "2", RAYS, "8", "/nowhere/picture.pgm"])
        self.assert_code(outcome, 1)
        self.assertIn("file '/nowhere/picture.pgm': cannot be written", outcome.err)


if __name__ == "__main__":
    unittest.main()
