"""examples/08-arrays on 1 to 4 ranks, in C++ and Python: the same mesh, whichever rank makes which sector."""

import os
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "cli"))

from barrio_case import MPIEXEC, Case, barrio, execute, some_ranks

ARRAYS = os.environ["BARRIO_ARRAYS"]
SCRIPT = Path(os.environ["BARRIO_SOURCE"]) / "examples" / "08-arrays" / "arrays.py"
PYTHON = os.environ.get("BARRIO_PYTHON", "")
PACKAGE = os.environ.get("BARRIO_PACKAGE", "")


class Arrays(Case):
    def test_the_same_ring_everywhere(self) -> None:
        lines = set()
        for program in [[ARRAYS], [PYTHON, str(SCRIPT)]] if PYTHON else [[ARRAYS]]:
            sums = set()
            for ranks in some_ranks(1, 2, 3, 4):
                out = self.folder / f"ring{ranks}.h5m"
                outcome = execute(
                    [*MPIEXEC, "-n", str(ranks), *program, str(out)],
                    environment={"PYTHONPATH": PACKAGE},
                )
                self.assert_code(outcome, 0)
                lines.add(outcome.out)
                info = barrio("--json", "info", out).json()
                self.assertEqual(info["entities"], {"edges": 48, "quads": 384})
                self.assertEqual(
                    {tag["name"] for tag in info["tags"]} & {"area", "share"}, {"area", "share"}
                )
                loaded = barrio("--json", "load", out, "--validate", ranks=2)
                self.assert_code(loaded, 0)
                sums.add(loaded.json()["checksum"])
            self.assertEqual(len(sums), 1, sums)
        # A ring of 48 sides: 24 (4 - 1) sin(2 pi / 48).
        self.assertEqual(lines, {"432 vertices, 384 cells, area 9.397885840\n"})

    def test_usage(self) -> None:
        outcome = execute([ARRAYS])
        self.assert_code(outcome, 2)
        self.assertIn("arrays OUT.h5m", outcome.err)


if __name__ == "__main__":
    unittest.main()
