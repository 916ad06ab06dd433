"""examples/02-exchange on 1, 2 and 4 ranks: by hand, in rounds and in Python the same result, which obeys the rules."""

import functools
import os
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "cli"))

from barrio_case import MPIEXEC, SOURCE, Case, Outcome, execute, some_ranks

RAW = os.environ["BARRIO_PARTICLES_RAW"]
BARRIO = os.environ["BARRIO_PARTICLES"]
PYTHON = os.environ.get("BARRIO_PYTHON", "")
PACKAGE = os.environ.get("BARRIO_PACKAGE", "")

N_SITES, N_PARTICLES, FARTHEST, N_STEPS = 1024, 8000, 160, 40
WORD = 2**64 - 1


def mix(x: int) -> int:
    x = (x + 0x9E3779B97F4A7C15) & WORD
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & WORD
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB & WORD
    return x ^ (x >> 31)


def checksum() -> int:
    """Compute the checksum of all particles, walked one by one without messages."""
    total = 0
    for i in range(N_PARTICLES):
        site = i * N_SITES // N_PARTICLES
        for step in range(N_STEPS):
            site = (site + mix(i * N_STEPS + step) % (2 * FARTHEST + 1) - FARTHEST) % N_SITES
        total += mix(mix(i) ^ site)
    return total & WORD


class Exchange(Case):
    @classmethod
    def setUpClass(cls) -> None:
        cls.result = f"{N_PARTICLES} particles, checksum {checksum():016x}"

    @staticmethod
    @functools.cache
    def outcome(ranks: int, *words: str) -> Outcome:
        return execute([*MPIEXEC, "-n", str(ranks), *words], environment={"PYTHONPATH": PACKAGE})

    def run_at(self, ranks: int, *words: str) -> list[str]:
        outcome = self.outcome(ranks, *words)
        self.assert_code(outcome, 0)
        return outcome.out.splitlines()

    def test_by_hand(self) -> None:
        for ranks in some_ranks(1, 2, 4):
            self.assertEqual(self.run_at(ranks, RAW), [f"raw            {self.result}"])

    def test_in_rounds(self) -> None:
        for ranks, before, after in ((1, 0, 0), (2, 1, 1), (4, 2, 3)):
            self.assertEqual(
                self.run_at(ranks, BARRIO),
                [
                    f"rounds         {self.result}",
                    f"byte rounds    {self.result}",
                    f"by node        {self.result}",
                    f"introductions  {self.result}",
                    f"rank 0 began with {before} neighbours and has {after}",
                ],
            )

    @unittest.skipUnless(PYTHON, "barrio is built without its Python package")
    def test_in_python(self) -> None:
        script = SOURCE / "examples" / "02-exchange" / "exchange.py"
        for ranks in some_ranks(1, 2, 4):
            lines = self.run_at(ranks, PYTHON, "-m", "mpi4py", str(script))
            self.assertEqual(lines, [f"python         {self.result}"])

    def test_the_tutorial_shows_what_is_printed(self) -> None:
        page = (SOURCE / "docs" / "tutorial" / "neighbourhood-exchange.md").read_text()
        for program in (RAW, BARRIO):
            self.assertIn("\n".join(self.run_at(4, program)), page)
        self.assertIn(f"python         {self.result}", page)


if __name__ == "__main__":
    unittest.main()
