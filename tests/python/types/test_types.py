"""mypy finds each error that is planted in a program, and none in one without."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent


def faults_of(name: str) -> set[int]:
    """Return the lines in which mypy finds errors."""
    line = [sys.executable, "-m", "mypy", "--config-file", str(HERE / "mypy.ini")]
    line += ["--cache-dir", "/dev/null", str(HERE / name)]
    done = subprocess.run(line, capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    found = re.findall(rf"{re.escape(name)}:(\d+): error", done.stdout)
    assert (done.returncode == 1) == bool(found), done.stdout
    return {int(number) for number in found}


def test_all_planted_errors_are_found() -> None:
    lines = (HERE / "planted.py").read_text().splitlines()
    planted = {i for i, line in enumerate(lines, 1) if "# error: " in line}
    assert len(planted) > 9
    assert faults_of("planted.py") == planted


def test_a_sound_program_has_none() -> None:
    assert faults_of("sound.py") == set()
