"""examples/01-heat in Python: the steady state that is known, and one result on any number of ranks."""

import os
import re
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "cli"))

from barrio_case import MPIEXEC, SOURCE, Case, barrio, execute, some_ranks

PYTHON = os.environ.get("BARRIO_PYTHON", "")  # empty: barrio is built without its package
PACKAGE = os.environ.get("BARRIO_PACKAGE", "")
SCRIPT = SOURCE / "examples" / "01-heat" / "heat.py"


@unittest.skipUnless(PYTHON, "barrio is built without its Python package")
class Heat(Case):
    def test_one_result_on_any_ranks(self) -> None:
        box = self.folder / "box.h5m"
        self.assert_code(barrio("generate", "box", "--cells", 5, 5, 5, "--tets", "-o", box), 0)
        lines = set()
        for ranks in some_ranks(1, 2, 3, 4):
            output = self.folder / f"on_{ranks}.vtkhdf"
            command = [
                *MPIEXEC,
                "-n",
                str(ranks),
                PYTHON,
                "-m",
                "mpi4py",
                str(SCRIPT),
                str(box),
                str(output),
            ]
            outcome = execute(command, cwd=self.folder, environment={"PYTHONPATH": PACKAGE})
            self.assert_code(outcome, 0)
            first, last = outcome.out.splitlines()
            self.assertRegex(first, rf"^750 tets in 8 parts on {ranks} ranks, \d+ stages$")
            lines.add(last)
        self.assertEqual(len(lines), 1, lines)
        error = re.fullmatch(
            r"largest error (\S+) K against the steady state, checksum [0-9a-f]{16}", lines.pop()
        )
        self.assertLess(float(error[1]), 1e-6)

    def test_says_how_to_use_it(self) -> None:
        outcome = execute([PYTHON, str(SCRIPT)], environment={"PYTHONPATH": PACKAGE})
        self.assertNotEqual(outcome.code, 0)
        self.assertIn("usage: heat.py MESH OUT.vtkhdf", outcome.err)


if __name__ == "__main__":
    unittest.main()
