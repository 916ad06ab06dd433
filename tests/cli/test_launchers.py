"""Launchers, seen from outside: the launcher of another MPI, a rank that a signal ends, Ctrl-C."""

import os
import pty
import shutil
import signal
import subprocess
import time
import unittest
from pathlib import Path

from barrio_case import COMMAND, SOURCE, Case, barrio, execute

IS_MPICH = "MPICH" in barrio("--version").out
OTHER = "mpiexec.openmpi" if IS_MPICH else "mpiexec.mpich"
# A variable that another launcher sets. Only the size, so that MPI itself does not detect its own launcher.
OTHER_SIZE = "OMPI_COMM_WORLD_SIZE" if IS_MPICH else "PMI_SIZE"
RANK = "PMI_RANK" if IS_MPICH else "OMPI_COMM_WORLD_RANK"
LONG_WORK = ["generate", "box", "-c", "200", "200", "200", "-o"]


class OtherLauncher(Case):
    def test_is_refused_by_name(self) -> None:
        box = self.folder / "box.h5m"
        words = ("generate", "box", "-c", 3, 3, 3, "-o", box)
        self.assert_error(
            barrio(*words, environment={OTHER_SIZE: "3"}),
            2,
            f"has started 3 processes ({OTHER_SIZE})",
            "was built for " + ("MPICH" if IS_MPICH else "Open MPI"),
            "BARRIO_SINGLETON=1",
        )
        self.assertEqual(list(self.folder.iterdir()), [])
        alone = {OTHER_SIZE: "3", "BARRIO_SINGLETON": "1"}
        self.assert_code(barrio(*words, environment=alone), 0)
        self.assert_code(barrio(*words, environment={OTHER_SIZE: "1"}), 0)

    def test_itself(self) -> None:
        launcher = shutil.which(OTHER)
        if launcher is None:
            self.skipTest(f"{OTHER} is not installed")
        flags = ["--allow-run-as-root", "--oversubscribe"] if IS_MPICH else []
        box = self.folder / "box.h5m"
        words = [launcher, *flags, "-n", "3", COMMAND, "generate", "box", "-c", "3", "3", "3"]
        outcome = execute([*words, "-o", str(box)])
        self.assertNotEqual(outcome.code, 0, str(outcome))
        self.assertEqual(outcome.err.count("barrio: error: MPI launcher: "), 1, str(outcome))
        self.assertEqual(list(self.folder.iterdir()), [])


def ranks_of(mark: int) -> dict[int, int]:
    """Find the process ids, by rank, of the running barrio job that was started with this mark."""
    found = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            if os.readlink(entry / "exe") != os.path.realpath(COMMAND):
                continue
            variables = dict(
                item.split("=", 1)
                for item in (entry / "environ").read_text(errors="replace").split("\0")
                if "=" in item
            )
        except OSError:
            continue
        if variables.get("BARRIO_TEST_JOB") == str(mark) and RANK in variables:
            found[int(variables[RANK])] = int(entry.name)
    return found


class EndedBySignals(Case):
    """Two ranks have work for minutes, and are ended in the middle of it."""

    def start(self, *words: object, **options) -> tuple[subprocess.Popen, dict[int, int]]:
        mark = time.monotonic_ns()
        work = words or (*LONG_WORK, self.folder / "box.h5m")
        process = subprocess.Popen(
            [COMMAND, "--ranks", "2", *map(str, work), "--json"],
            env={**os.environ, "BARRIO_TEST_JOB": str(mark)},
            text=True,
            **{
                "stdin": subprocess.DEVNULL,
                "stdout": subprocess.PIPE,
                "stderr": subprocess.PIPE,
                "start_new_session": True,
                **options,
            },
        )
        self.addCleanup(process.kill)
        limit = time.monotonic() + 20
        while len(ranks := ranks_of(mark)) < 2 and time.monotonic() < limit:
            time.sleep(0.05)
        self.assertEqual(len(ranks), 2, "two ranks run")
        time.sleep(1)  # past MPI_Init
        return process, ranks

    def test_a_killed_rank_is_told(self) -> None:
        process, ranks = self.start()
        os.kill(ranks[1], signal.SIGKILL)
        out, err = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 128 + signal.SIGKILL, err)
        line = "barrio: error: --ranks 2: signal 9 (Killed) ended a rank"
        self.assertEqual(err.count(line), 1, err)
        if not IS_MPICH:  # its launcher writes to standard output
            self.assertIn('"barrio.error"', out)

    def test_a_killed_rank_of_mobile_objects_leaves_the_old_file_and_no_other(self) -> None:
        mesh = self.folder / "mesh.h5m"
        plate = SOURCE / "data" / "plate.poly"
        words = ["delaunay", plate, "--method", "pcdm", "-o", mesh]
        self.assert_code(barrio(*words, "--max-area", 0.001), 0)
        before = mesh.read_bytes()
        limit = ["--memory", "150MB", "--scratch", os.getcwd()]  # on a disk
        process, ranks = self.start(*words, "--max-area", 1e-7, "--parts", 400, *limit)
        os.kill(ranks[1], signal.SIGKILL)
        _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 128 + signal.SIGKILL, err)
        self.assertEqual(err.count("barrio: error: --ranks 2: signal 9"), 1, err)
        self.assertEqual(mesh.read_bytes(), before)
        self.assertEqual(
            [path.name for path in self.folder.iterdir() if path.is_file()], [mesh.name]
        )

    def test_what_ends_the_command_is_its_exit_code(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(number.name):
                process, _ = self.start()
                process.send_signal(number)
                _, err = process.communicate(timeout=30)
                self.assertEqual(process.returncode, 128 + number, err)
                self.assertNotIn("barrio: error", err)

    def test_ctrl_c(self) -> None:
        controller, terminal = pty.openpty()

        def take_terminal() -> None:
            os.setsid()
            os.close(os.open(os.ttyname(terminal), os.O_RDWR))

        process, ranks = self.start(
            stdin=terminal, start_new_session=False, preexec_fn=take_terminal
        )
        os.write(controller, b"\x03")
        _, err = process.communicate(timeout=30)
        os.close(terminal)
        os.close(controller)
        self.assertEqual(process.returncode, 128 + signal.SIGINT, err)
        limit = time.monotonic() + 10
        while any(Path(f"/proc/{pid}").exists() for pid in ranks.values()):
            self.assertLess(time.monotonic(), limit, "no rank is left")
            time.sleep(0.05)


if __name__ == "__main__":
    unittest.main()
