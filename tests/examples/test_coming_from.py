"""docs/howto/coming-from.md: each command runs, and each name of a call is in a public header."""

import os
import re
import shlex
import shutil
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "cli"))

from barrio_case import SOURCE, WING, Case, barrio

PAGE = SOURCE / "docs" / "howto" / "coming-from.md"
IS_DRAWN = os.environ.get("BARRIO_PYTHON", "") != ""  # show needs the Python package
POLY = "4 2 0 0\n1 0 0\n2 1 0\n3 1 1\n4 0 1\n4 0\n1 1 2\n2 2 3\n3 3 4\n4 4 1\n0\n"


def rows_of(title: str) -> list[tuple[str, str]]:
    """Return the rows of the table of a section: theirs, ours."""
    section = PAGE.read_text().split(f"\n## {title}\n")[1].split("\n## ")[0]
    rows = [line.strip("| ").split(" | ") for line in section.splitlines() if line.startswith("|")]
    return [(theirs, ours) for theirs, ours in rows[2:]]


class ComingFrom(Case):
    def test_each_command_runs(self) -> None:
        shutil.copy(WING, self.folder / "in.msh")
        (self.folder / "in.poly").write_text(POLY)
        shutil.copy(SOURCE / "examples" / "15-amr" / "sod.toml", self.folder)
        self.assert_code(barrio("convert", "in.msh", "in.h5m", cwd=self.folder), 0)
        n = 0
        for _, ours in rows_of("Commands"):
            # what is said to come before another command stands behind it
            for line in reversed(re.findall(r"`(barrio [^`]*)`", ours)):
                with self.subTest(line):
                    words = shlex.split(line)[1:]
                    if "show" in words and not IS_DRAWN:
                        continue
                    outcome = barrio(*words, cwd=self.folder)
                    self.assert_code(outcome, 0)
                    n += 1
        self.assertGreater(n, 15)

    def test_each_name_is_public(self) -> None:
        headers = [*(SOURCE / "barrio").glob("*/*.hpp"), *(SOURCE / "barrio").glob("*.hpp")]
        public = set(re.findall(r"\w+", "\n".join(path.read_text() for path in headers)))
        names = 0
        for _, ours in rows_of("Calls in C++"):
            for span in re.findall(r"`([^`]*)`", ours):
                if span.endswith(".hpp"):
                    self.assertTrue(any(path.name == span for path in headers), span)
                    continue
                for name in re.findall(r"[A-Za-z_]\w*", re.sub(r'"[^"]*"', "", span)):
                    self.assertIn(name, public | {"context", "mesh", "to", "size"}, span)
                    names += 1
        self.assertGreater(names, 20)


if __name__ == "__main__":
    unittest.main()
