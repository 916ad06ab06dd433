"""Run the command `barrio` as a user would, and check all its output.

Paths come from environment variables that CTest sets: BARRIO_COMMAND, BARRIO_HDF5_TOOL, BARRIO_HEAT, BARRIO_STREAM,
BARRIO_SOURCE, BARRIO_MPIEXEC (with its flags), and BARRIO_RANKS for suites that run at several rank counts.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import document_keys

COMMAND = os.environ["BARRIO_COMMAND"]
HDF5_TOOL = os.environ["BARRIO_HDF5_TOOL"]
HEAT = os.environ.get("BARRIO_HEAT", "")
STREAM = os.environ.get("BARRIO_STREAM", "")
SOURCE = Path(os.environ["BARRIO_SOURCE"])
MPIEXEC = os.environ["BARRIO_MPIEXEC"].split()
RANKS = int(os.environ.get("BARRIO_RANKS", "1"))
ALL = os.environ.get("BARRIO_ALL") == "1"  # the nightly set, which leaves nothing out


def some_ranks(*counts: int) -> list[int]:
    """Return the rank counts to try: all of them by night, else the first one, and 3, or 4 if 3 is not among them."""
    few = {counts[0], 3 if 3 in counts else 4}
    return [n for n in counts if ALL or n in few]


IS_QUICK = os.environ.get("BARRIO_QUICK") == "1"
WING = SOURCE / "data" / "wing" / "wing_coarse.msh"
LIMIT_SECONDS = 120.0  # Python that imports VTK took 30 on a busy machine
OLD = b"the old file, which nobody may touch\n"


@dataclass
class Outcome:
    words: list[str]
    code: int
    out: str
    err: str
    seconds: float

    def json(self) -> dict:
        """Parse standard output, which must be one document, of keys that the page of documents has."""
        document = json.loads(self.out)
        if unknown := document_keys.unknown(document):
            raise AssertionError(f"{document_keys.PAGE} does not have {', '.join(unknown)}")
        return document

    def __str__(self) -> str:
        return (
            f"$ {' '.join(self.words)}\n-> exit {self.code} after {self.seconds:.1f} s\n"
            f"--- stdout\n{self.out}\n--- stderr\n{self.err}"
        )


def execute(
    words: list[str],
    limit: float = LIMIT_SECONDS,
    cwd: Path | None = None,
    stdout=subprocess.PIPE,
    environment: dict[str, str] | None = None,
) -> Outcome:
    """Run a command. At the limit it is ended with all its children, and gets the code 124."""
    begin = time.monotonic()
    process = subprocess.Popen(
        words,
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=subprocess.PIPE,
        cwd=cwd,
        env={**os.environ, **(environment or {})},
        text=True,
        errors="replace",
        start_new_session=True,
    )
    hangs = False
    out = err = ""
    try:
        out, err = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        hangs = True
        for number in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(process.pid, number)
                out, err = process.communicate(timeout=5)
                break
            except subprocess.TimeoutExpired:
                continue
    return Outcome(
        words, 124 if hangs else process.returncode, out or "", err, time.monotonic() - begin
    )


def barrio(*words: object, ranks: int = 0, **options) -> Outcome:
    """Run barrio. ranks > 0 goes through `--ranks`; 0 starts one process without a launcher."""
    line = (
        [COMMAND] + (["--ranks", str(ranks)] if ranks > 0 else []) + [str(word) for word in words]
    )
    return execute(line, **options)


def at_ranks(*words: object, **options) -> Outcome:
    """Run barrio on the ranks of this suite; one rank needs no launcher."""
    return barrio(*words, ranks=RANKS if RANKS > 1 else 0, **options)


def tool(*words: object) -> str:
    return subprocess.run(
        [HDF5_TOOL, *map(str, words)], check=True, capture_output=True, text=True
    ).stdout


@contextlib.contextmanager
def other_work() -> Iterator[None]:
    """Keep each core busy with two processes that compute and call nothing."""
    loops_of_core = 2
    n = loops_of_core * len(os.sched_getaffinity(0))
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(n)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


class Case(unittest.TestCase):
    longMessage = True
    maxDiff = None

    def setUp(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="barrio-cli-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def assert_code(self, outcome: Outcome, code: int) -> None:
        self.assertEqual(outcome.code, code, str(outcome))

    def assert_error(self, outcome: Outcome, code: int, *texts: str) -> None:
        """Assert that there is one error message, with these texts, and this exit code."""
        self.assert_code(outcome, code)
        self.assertEqual(outcome.err.count("barrio: error: "), 1, str(outcome))
        for text in texts:
            self.assertIn(text, outcome.err, str(outcome))
        for text in ("HDF5-DIAG", "terminate", "Signal:"):
            self.assertNotIn(text, outcome.err, str(outcome))

    def assert_no_leftovers(self, folder: Path | None = None) -> None:
        self.assertEqual(
            [p.name for p in (folder or self.folder).iterdir() if ".part" in p.name], []
        )

    @contextlib.contextmanager
    def small_disk(self, size: str) -> Iterator[Path]:
        """Mount a file system of a few KiB; needs root."""
        place = self.folder / "disk"
        place.mkdir(exist_ok=True)
        mounted = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={size}", "barrio-test", str(place)],
            capture_output=True,
            text=True,
        )
        if mounted.returncode != 0:
            self.skipTest(f"a small file system cannot be mounted: {mounted.stderr.strip()}")
        try:
            yield place
        finally:
            subprocess.run(["umount", str(place)], check=True)
