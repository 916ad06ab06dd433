"""examples/06-overlap on 1 to 4 ranks: the same field with every exchange, and shorter waits with tests."""

import os
import re
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "cli"))

from barrio_case import MPIEXEC, Case, Outcome, execute, some_ranks

HALO = os.environ["BARRIO_HALO"]
OVERLAP = os.environ["BARRIO_OVERLAP"]
LINE = re.compile(
    r"^a step takes ([0-9.]+) ms, of which ([0-9.]+) ms are left in the wait; checksum ([0-9a-f]{16})\n$"
)
SMALL = ("--nx", 20000, "--ny", 23, "--steps", 5)


BUSY = "import time; begin = time.time()\nwhile time.time() < begin + 1: pass\nprint(time.process_time())"


def share_of_two_cores() -> float:
    """Return the part of two cores that two busy processes get for a second."""
    both = [
        subprocess.Popen([sys.executable, "-S", "-c", BUSY], stdout=subprocess.PIPE)
        for _ in range(2)
    ]
    return sum(float(one.communicate()[0]) for one in both) / 2


class Runs(Case):
    def run_at(self, ranks: int, program: str, *words: object) -> Outcome:
        return execute([*MPIEXEC, "-n", str(ranks), program, *map(str, words)])

    def figures(self, ranks: int, program: str, *words: object) -> tuple[float, float, str]:
        """Return the milliseconds of a step and of its wait, and the checksum."""
        outcome = self.run_at(ranks, program, *words)
        self.assert_code(outcome, 0)
        match = LINE.match(outcome.out)
        self.assertIsNotNone(match, str(outcome))
        return float(match[1]), float(match[2]), match[3]


class Overlap(Runs):
    def test_the_same_field_everywhere(self) -> None:
        sums = set()
        for ranks in some_ranks(1, 2, 3, 4):
            for tests in (0, 1, 8):
                sums.add(self.figures(ranks, HALO, *SMALL, "--tests", tests)[2])
                sums.add(self.figures(ranks, HALO, *SMALL, "--tests", tests, "--receives-first")[2])
            sums.add(self.figures(ranks, OVERLAP, *SMALL)[2])
            sums.add(self.figures(ranks, OVERLAP, *SMALL, "--thread")[2])
        self.assertEqual(len(sums), 1, sums)

    def test_strips_of_one_row_and_two(self) -> None:
        for rows in (4, 7):
            few = ("--nx", 50, "--ny", rows, "--steps", 3, "--late", 0.1, "--tests", 8)
            sums = {self.figures(ranks, HALO, *few)[2] for ranks in some_ranks(1, 2, 3, 4)}
            sums |= {self.figures(ranks, OVERLAP, *few)[2] for ranks in some_ranks(1, 3, 4)}
            self.assertEqual(len(sums), 1, sums)

    def test_another_field_has_another_checksum(self) -> None:
        first = self.figures(1, HALO, "--nx", 50, "--ny", 7, "--steps", 3)
        second = self.figures(1, HALO, "--nx", 50, "--ny", 7, "--steps", 4)
        self.assertNotEqual(first[2], second[2])

    def test_help(self) -> None:
        for program, name in ((HALO, "halo"), (OVERLAP, "overlap")):
            outcome = self.run_at(2, program, "--help")
            self.assert_code(outcome, 0)
            self.assertEqual(outcome.out.count(f"usage: {name} [OPTIONS]\n"), 1, str(outcome))
            self.assertIn("--tests ", outcome.out)

    def test_bad_command_lines(self) -> None:
        remedy = "; see --help\n"
        for words, message in (
            (("--test", "8"), "--test is not an option"),
            (("8",), "8 is not an option"),
            (("--tests",), "--tests needs a number"),
            (("--tests", "eight"), "--tests must be an integer from 0 to 134217727"),
            (("--tests", "-1"), "--tests must be an integer from 0 to 134217727"),
            (("--nx", "2"), "--nx must be an integer from 3 to 134217727"),
            (("--nx", "99999999999999999999"), "--nx must be an integer from 3 to 134217727"),
            (("--steps", "0"), "--steps must be an integer from 1 to 134217727"),
            (("--steps", "2.5"), "--steps must be an integer from 1 to 134217727"),
            (("--late", "nan"), "--late must be a number from 0 to 1000"),
            (("--late", "2ms"), "--late must be a number from 0 to 1000"),
            (("--ny", "1"), "--ny must be at least the number of ranks: each needs a row"),
        ):
            with self.subTest(words=words):
                outcome = self.run_at(2, HALO, *words)
                self.assert_code(outcome, 2)
                self.assertEqual(outcome.err.count(f"halo: {message}{remedy}"), 1, str(outcome))
        for program, word, other in (
            (OVERLAP, "--receives-first", "halo"),
            (HALO, "--thread", "overlap"),
        ):
            outcome = self.run_at(2, program, word)
            self.assert_code(outcome, 2)
            self.assertIn(f": {word} is for {other} only{remedy}", outcome.err)


class Waits(Runs):
    """Times, only on an otherwise idle machine: if other work took a core meanwhile, they say nothing."""

    def less_than_half(self, before: tuple[str, ...], after: tuple[str, ...]) -> None:
        """Compare waits. Ranks are late in turn, so the remaining wait does not depend on the speed of messages."""
        # Other work on the machine sometimes takes a core from a rank.
        seen = []
        shares = []
        for _ in range(8):
            shares.append(share_of_two_cores())
            waits = [
                self.figures(2, program, "--late", 2, *words)[1]
                for program, *words in (before, after)
            ]
            if waits[1] < 0.5 * waits[0]:
                return
            seen.append(waits)
        if min(shares) < 0.9:
            self.skipTest(f"other work left {min(shares):.0%} of two cores; waits: {seen}")
        self.fail(f"milliseconds left in the wait, before and after: {seen}")

    def test_tests_leave_less_to_wait_for(self) -> None:
        self.less_than_half((HALO,), (HALO, "--tests", "8"))

    def test_barrio_leaves_less_to_wait_for(self) -> None:
        self.less_than_half((HALO,), (OVERLAP,))


if __name__ == "__main__":
    unittest.main()
