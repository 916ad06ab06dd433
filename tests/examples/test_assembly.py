"""examples/09-assembly on 1 to 8 ranks, in C++ and Python: one solution, of second order, and numbers without gaps."""

import os
import re
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "cli"))

from barrio_case import MPIEXEC, SOURCE, Case, execute, some_ranks

ASSEMBLY = os.environ["BARRIO_ASSEMBLY"]
NUMBERING = os.environ["BARRIO_NUMBERING"]
PYTHON = os.environ.get("BARRIO_PYTHON", "")
PACKAGE = os.environ.get("BARRIO_PACKAGE", "")
LINE = re.compile(r"(\d+)\^3 elements, (\d+) iterations, largest error (\d\.\d{6})\n")


class Assembly(Case):
    def run_at(self, ranks: int, program: str, *words: str) -> str:
        """Run a program, or a Python script of the example. Return its output."""
        command = [program]
        if program.endswith(".py"):
            command = [PYTHON, "-m", "mpi4py", str(SOURCE / "examples" / "09-assembly" / program)]
        outcome = execute(
            [*MPIEXEC, "-n", str(ranks), *command, *words], environment={"PYTHONPATH": PACKAGE}
        )
        self.assert_code(outcome, 0)
        return outcome.out

    def solve(self, ranks: int, n: int, program: str = ASSEMBLY) -> tuple[int, float]:
        out = self.run_at(ranks, program, str(n))
        found = LINE.fullmatch(out)
        self.assertIsNotNone(found, out)
        self.assertEqual(int(found[1]), n)
        return int(found[2]), float(found[3])

    def test_the_same_on_any_number_of_ranks(self) -> None:
        results = {self.solve(ranks, 12) for ranks in some_ranks(1, 2, 3, 4, 7, 8)}
        self.assertEqual(len(results), 1, results)

    def test_is_of_second_order(self) -> None:
        coarse = self.solve(2, 8)[1]
        fine = self.solve(4, 16)[1]
        self.assertAlmostEqual(coarse / fine, 4.0, delta=0.2)

    @unittest.skipUnless(PYTHON, "barrio is built without its Python package")
    def test_in_python(self) -> None:
        expected = self.solve(1, 12)
        for ranks in some_ranks(1, 2, 4):
            self.assertEqual(self.solve(ranks, 12, "assembly.py"), expected)

    def test_numbers_without_gaps(self) -> None:
        programs = [NUMBERING, *(["numbering.py"] if PYTHON else [])]
        for program in programs:
            for ranks in some_ranks(1, 2, 3, 4, 7, 8):
                self.assertEqual(
                    self.run_at(ranks, program, "8"),
                    "8^3 elements, unknowns 0 to 728, 0 out of order\n",
                )

    def test_usage_of_numbering(self) -> None:
        for words in ([], ["1"], ["300"], ["8", "8"]):
            outcome = execute([*MPIEXEC, "-n", "2", NUMBERING, *words])
            self.assert_code(outcome, 2)
            self.assertIn("needs 1 to 256 elements", outcome.err)

    def test_usage(self) -> None:
        for words in ([], ["1"], ["x"], ["8", "8"]):
            outcome = execute([*MPIEXEC, "-n", "2", ASSEMBLY, *words])
            self.assert_code(outcome, 2)
            self.assertIn("needs 2 to 256 elements", outcome.err)


if __name__ == "__main__":
    unittest.main()
