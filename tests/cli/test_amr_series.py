"""barrio amr: a series of states that is ended at any moment opens, and a restart goes on with it."""

import json
import os
import random
import signal
import subprocess
import time
import unittest
from pathlib import Path

from barrio_case import COMMAND, Case
from test_launchers import ranks_of

try:
    import vtk
except ImportError:
    vtk = None

CASE = """
[grid]
cells = [32, 32]
high = [1.0, 1.0]
levels = 3
block = 8
[boundary]
x = "periodic"
y = "periodic"
[let]
r2 = "(x-0.5)^2 + (y-0.5)^2"
[initial]
density = "r2 < 0.04 ? 2 : 1"
pressure = "r2 < 0.04 ? 10 : 1"
[refine]
relative_jump = { density = 0.1 }
[run]
end_time = 0.1
[output]
file = "run.vtkhdf"
every = 0.005
[checkpoint]
file = "run.h5"
every_steps = 7
[[slice]]
file = "density-{}.png"
every = 0.03
"""
MOMENTS = int(os.environ.get("BARRIO_MOMENTS", "1"))
SEED = int(os.environ.get("BARRIO_SEED", str(random.randrange(1 << 30))))


def states_in(path: Path) -> list[tuple[float, int]]:
    """The time and the number of cells of each state of a file, as vtk reads them."""
    reader = vtk.vtkHDFReader()
    reader.SetFileName(str(path))
    reader.UpdateInformation()
    key = vtk.vtkStreamingDemandDrivenPipeline.TIME_STEPS()
    found = []
    for at in reader.GetOutputInformation(0).Get(key) or [None]:
        reader.Update() if at is None else reader.UpdateTimeStep(at)
        found.append(
            (at, reader.GetOutputDataObject(0).GetNumberOfElements(vtk.vtkDataObject.CELL))
        )
    return found


@unittest.skipIf(vtk is None, "needs vtk")
class EndedSeries(Case):
    def setUp(self) -> None:
        super().setUp()
        (self.folder / "case.toml").write_text(CASE)
        print(f"BARRIO_SEED={SEED}")
        self.random = random.Random(SEED)

    def start(self, *words: str, ranks: int = 2) -> tuple[subprocess.Popen, int]:
        mark = time.monotonic_ns()
        process = subprocess.Popen(
            [COMMAND, "--ranks", str(ranks), "--json", "amr", "case.toml", *words],
            env={**os.environ, "BARRIO_TEST_JOB": str(mark)},
            text=True,
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        self.addCleanup(process.kill)
        return process, mark

    def finish(self, process: subprocess.Popen, code: int) -> dict:
        out, err = process.communicate(timeout=300)
        self.assertEqual(process.returncode, code, err)
        return json.loads(out) if out.startswith("{") else {}

    def wait_for_states(self, n: int) -> None:
        limit = time.monotonic() + 60
        while not (self.folder / f"run.{n:05}.vtkhdf").exists():
            self.assertLess(time.monotonic(), limit, f"state {n} is written")
            time.sleep(0.01)

    def expect_states(self) -> list[float]:
        """Expect each listed state to open; return their times."""
        listed = json.loads((self.folder / "run.vtkhdf.series").read_text())["files"]
        for one in listed:
            states = states_in(self.folder / one["name"])
            self.assertEqual(len(states), 1)
            self.assertGreaterEqual(states[0][1], 32 * 32)
        return [one["time"] for one in listed]

    def whole(self) -> tuple[str, list[float], list[str]]:
        result = self.finish(self.start()[0], 0)
        times = [at for at, _ in states_in(self.folder / "run.vtkhdf")]
        pictures = sorted(path.name for path in self.folder.glob("density-*.png"))
        return result["checksum"], times, pictures

    def test_a_signal_ends_the_run_with_a_checkpoint(self) -> None:
        checksum, times, pictures = self.whole()
        self.assertEqual(len(times), 21)
        for _ in range(MOMENTS):
            process, _ = self.start()
            self.wait_for_states(self.random.randrange(1, 15))
            time.sleep(self.random.random() * 0.2)
            process.send_signal(signal.SIGTERM)
            result = self.finish(process, 128 + signal.SIGTERM)
            self.assertEqual(result["ended_by"], "SIGTERM")
            ended = self.expect_states()
            self.assertEqual(ended[-1], result["simulated_time"])
            # Restarted on other ranks, it ends as the whole run does: state, series and pictures.
            again = self.finish(self.start("--restart", "run.h5", ranks=3)[0], 0)
            self.assertEqual(again["checksum"], checksum)
            self.assertEqual([at for at, _ in states_in(self.folder / "run.vtkhdf")], times)
            found = sorted(path.name for path in self.folder.glob("density-*.png"))
            self.assertEqual(found, pictures)
            self.assertEqual(list(self.folder.glob("run.*.vtkhdf*")), [])

    def test_a_killed_run_leaves_complete_states(self) -> None:
        for moment in range(MOMENTS):
            for path in self.folder.glob("run.*"):  # a checkpoint of an earlier run is not its own
                path.unlink()
            process, mark = self.start()
            last = self.random.randrange(1, 15)
            self.wait_for_states(last)
            time.sleep(self.random.random() * 0.05)
            ranks = ranks_of(mark)
            os.kill(ranks[moment % len(ranks)], signal.SIGKILL)
            process.communicate(timeout=60)
            self.assertNotEqual(process.returncode, 0)
            self.assertGreaterEqual(len(self.expect_states()), last)
            # A run that continues from the last checkpoint keeps the states before it.
            if not (self.folder / "run.h5").exists():
                continue
            self.finish(self.start("--restart", "run.h5")[0], 0)
            self.assertEqual(len(states_in(self.folder / "run.vtkhdf")), 21)

    def test_a_time_limit_ends_the_run(self) -> None:
        process, _ = self.start("--set", "run.wall_time=1e-3")
        result = self.finish(process, 0)
        self.assertEqual((result["ended_by"], result["steps"]), ("run.wall_time", 1))
        self.assertEqual(len(self.expect_states()), 2)


if __name__ == "__main__":
    unittest.main()
