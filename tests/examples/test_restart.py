"""examples/19-uneven: a computation that is killed again and again has the result of one that is not."""

import contextlib
import os
import random
import re
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "cli"))

from barrio_case import MPIEXEC, Case, execute

GENERATIONS = os.environ["BARRIO_GENERATIONS"]
N_KILLS = int(os.environ.get("BARRIO_KILLS", "5"))
WORDS = ["300", "100"]


def kill_all_of(word: str) -> None:
    """Kill all processes with this word in their command line."""
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if word in (entry / "cmdline").read_bytes().decode(errors="replace").split("\0"):
                os.kill(int(entry.name), signal.SIGKILL)


class Restart(Case):
    def words(self, ranks: int, file: Path) -> list[str]:
        return [*MPIEXEC, "-n", str(ranks), GENERATIONS, *WORDS, str(file)]

    def finish(self, ranks: int, file: Path) -> str:
        outcome = execute(self.words(ranks, file))
        self.assert_code(outcome, 0)
        self.assertRegex(outcome.out, r"\A\d+ members, checksum [0-9a-f]{16}\n\Z")
        return outcome.out

    def test_kills(self) -> None:
        seed = int(os.environ.get("BARRIO_SEED", time.time_ns() % 2**32))
        print(f"BARRIO_SEED={seed} repeats this run")
        chance = random.Random(seed)
        expected = self.finish(1, self.folder / "whole.state")
        self.assertEqual(self.finish(3, self.folder / "three.state"), expected)
        n_kills = n_saved = 0
        for attempt in range(10 * N_KILLS):
            file = self.folder / f"killed{attempt}.state"
            self.assertFalse(file.exists())
            for _ in range(chance.randint(1, 6)):
                process = subprocess.Popen(
                    self.words(chance.choice([1, 2, 3]), file),
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    text=True,
                )
                # somewhere between two lines that tell of a file
                for _ in range(chance.randint(0, 6)):
                    if not re.match("generation", process.stderr.readline()):
                        break
                time.sleep(chance.uniform(0, 0.03))
                is_over = process.poll() is not None
                # the launcher and all ranks, which are no children of this process
                kill_all_of(str(file))
                process.communicate()
                n_kills += not is_over
                n_saved += file.exists()
            self.assertEqual(self.finish(chance.choice([1, 2, 3]), file), expected)
            if n_kills >= N_KILLS:
                break
        self.assertGreaterEqual(n_kills, N_KILLS)
        self.assertGreater(n_saved, 0)


if __name__ == "__main__":
    unittest.main()
