"""examples/05-balance on 1 to 4 ranks, in C++ and Python: the same work, and balanced ranks."""

import os
import re
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "cli"))

from barrio_case import MPIEXEC, WING, Case, Outcome, execute, some_ranks

BALANCE = os.environ["BARRIO_BALANCE"]
SCRIPT = Path(os.environ["BARRIO_SOURCE"]) / "examples" / "05-balance" / "balance.py"
PYTHON = os.environ.get("BARRIO_PYTHON", "")
PACKAGE = os.environ.get("BARRIO_PACKAGE", "")


class Balance(Case):
    def run_at(self, ranks: int, *words: object) -> Outcome:
        outcome = execute(
            [*MPIEXEC, "-n", str(ranks), *map(str, words)], environment={"PYTHONPATH": PACKAGE}
        )
        self.assert_code(outcome, 0)
        return outcome

    def test_all_work_is_done_whoever_does_it(self) -> None:
        lines = set()
        for ranks in some_ranks(1, 2, 3, 4):
            programs = [(BALANCE,), (PYTHON, SCRIPT)] if PYTHON else [(BALANCE,)]
            for program in programs:
                outcome = self.run_at(ranks, *program, WING)
                lines.add(outcome.out)
                steps = re.findall(r"imbalance ([0-9.]+), then ([0-9.]+)", outcome.err)
                self.assertEqual(len(steps), 10, str(outcome))
                for before, after in steps:
                    self.assertLessEqual(float(after), 1.11, str(outcome))
                    self.assertLessEqual(float(after), float(before) + 0.01, str(outcome))
                if ranks > 1:
                    self.assertGreater(max(float(before) for before, _ in steps), 1.3)
        self.assertEqual(len(lines), 1, lines)
        self.assertRegex(
            lines.pop(), r"^work [0-9]+ in all, [0-9]+ at most in a cell, [1-9][0-9]* visits\n$"
        )


if __name__ == "__main__":
    unittest.main()
