"""benchmarks/amr/run.py without peers: it runs, finds the same state on one rank and two, and checks the goals."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ["BARRIO_BUILD"])


class Run(unittest.TestCase):
    def test_judges_two_ranks(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            words = ["--build", BUILD, "--out", folder, "--repeats", 1, "--steps", 1]
            script = SOURCE / "benchmarks" / "amr" / "run.py"
            done = subprocess.run(
                [sys.executable, str(script), *map(str, words)],
                capture_output=True,
                text=True,
                timeout=300,
                check=False,
            )
            self.assertIn(done.returncode, (0, 4), done.stdout + done.stderr)
            goals = json.loads((Path(folder) / "goals.json").read_text())
            self.assertEqual(
                [goal["id"] for goal in goals],
                ["rm3d.two_ranks_of_two_copies", "rm3d.share_of_exchange"],
            )
            self.assertEqual(done.returncode == 0, all(goal["met"] for goal in goals))
            rows = json.loads((Path(folder) / "runs.json").read_text())["rows"]
            self.assertEqual(rows[0]["one"]["checksum"], rows[0]["copies"]["checksum"])


if __name__ == "__main__":
    unittest.main()
