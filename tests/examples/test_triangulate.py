"""examples/16-triangulate: the sea around an island, as its page says, the same on any number of ranks."""

import os
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "cli"))

from barrio_case import MPIEXEC, SOURCE, Case, execute

TRIANGULATE = os.environ["BARRIO_TRIANGULATE"]


class Triangulate(Case):
    def test_it_prints_what_the_page_says(self) -> None:
        files = []
        for ranks in (1, 2):
            file = self.folder / f"sea{ranks}.vtkhdf"
            outcome = execute([*MPIEXEC, "-n", str(ranks), TRIANGULATE, str(file)])
            self.assert_code(outcome, 0)
            line = outcome.out.strip()
            self.assertIn("audited", line)
            self.assertIn(line, (SOURCE / "docs" / "howto" / "triangulate.md").read_text())
            files.append(file.read_bytes())
        self.assertEqual(len(set(map(len, files))), 1)


if __name__ == "__main__":
    unittest.main()
