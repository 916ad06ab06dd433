"""Compare the output of `barrio record` with the known messages of the programs."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from collections import Counter
from pathlib import Path

from barrio_case import COMMAND, IS_QUICK, MPIEXEC, RANKS, execute

PROGRAM = os.environ["BARRIO_RECORD_PROGRAM"]
FLAVOUR = os.environ["BARRIO_MPI"]
FORTRAN = Path(__file__).parent / "ring.f90"
MAX_INSTRUCTIONS = 100

Rows = dict[tuple[int, int], tuple[int, int]]


def rows_of(document: dict, key: str = "entries") -> Rows:
    """Return bytes and messages by pair."""
    sums: dict[tuple[int, int], Counter] = {}
    for source, target, points, n_bytes, messages in document[key]:
        assert points == 0
        sums.setdefault((source, target), Counter()).update(b=n_bytes, m=messages)
    return {pair: (both["b"], both["m"]) for pair, both in sums.items()}


def add(rows: Rows, source: int, target: int, n_bytes: int, messages: int) -> None:
    if source == target or messages == 0:
        return
    old = rows.get((source, target), (0, 0))
    rows[source, target] = (old[0] + n_bytes, old[1] + messages)


def ring(n: int, n_bytes: int, messages: int, step: int = 1) -> Rows:
    """Return equal messages from each rank to the one `step` further."""
    rows: Rows = {}
    for rank in range(n):
        add(rows, rank, (rank + step) % n, n_bytes, messages)
    return rows


def collective_rows(members: list[int], world: int, rows: Rows) -> None:
    """Add the messages of the program's calls on a communicator, from the definition of each algorithm."""
    n = len(members)
    for me, rank in enumerate(members):
        for bit in (1 << k for k in range(n.bit_length())):
            if me ^ bit < n and bit < n:  # allreduce of 10 doubles
                add(rows, rank, members[me ^ bit], 80, 1)
        add(rows, rank, members[(me + 1) % n], 8 * (n - 1), n - 1)  # allgather of a double
        add(rows, rank, members[0], 8, 1)  # gather
        add(rows, members[0], rank, 8, 1)  # scatter
        add(rows, rank, members[(me + 1) % n], 24, 1)  # alltoallv
        if n < world:
            for other in members:  # alltoall of two doubles
                add(rows, rank, other, 16, 1)
        for root, is_upwards in ((n - 1, False), (0, True)):  # bcast and reduce of 10 doubles
            place = (me - root) % n
            if place:
                parent = members[(root + (place & (place - 1))) % n]
                pair = (rank, parent) if is_upwards else (parent, rank)
                add(rows, *pair, 80, 1)


class Record(unittest.TestCase):
    maxDiff = None

    def setUp(self) -> None:
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def record(
        self, *words: str, code: int = 0, program: str = PROGRAM, ranks: int = RANKS
    ) -> dict:
        """Run the program under `barrio record`, launched like barrio's tests. Return the document."""
        launcher = [*MPIEXEC, "-n", str(ranks)]
        output = self.folder / "traffic.json"
        command = [COMMAND, "--json", "record", "-o", str(output), "--", *launcher, program, *words]
        done = execute(command, cwd=self.folder)
        self.assertEqual(done.code, code, str(done))
        told = json.loads(done.out[done.out.index("{") :])
        self.assertEqual(told["exit_code"], code)
        document = json.loads(output.read_text())
        self.assertEqual((document["schema"], document["ranks"]), ("barrio.traffic", ranks))
        self.assertEqual(sum(n for _, n in document["hosts"]), ranks)
        self.assertEqual([path.name for path in self.folder.iterdir()], ["traffic.json"])
        rows = rows_of(document)
        self.assertEqual(told["jobs"][0]["bytes"], sum(b for b, _ in rows.values()))
        self.assertEqual(told["jobs"][0]["messages"], sum(m for _, m in rows.values()))
        return document

    def test_messages(self) -> None:
        document = self.record("world")
        self.assertEqual(rows_of(document), ring(RANKS, 12 * 80, 12))

    def test_messages_of_threaded_programs(self) -> None:
        self.assertEqual(rows_of(self.record("world", "threads")), ring(RANKS, 12 * 80, 12))

    def test_communicators_with_other_numbers(self) -> None:
        expected = ring(RANKS, 12 * 80, 12, RANKS - 1)
        for pair, (n_bytes, messages) in ring(RANKS, 12 * 80, 12).items():
            add(expected, *pair, n_bytes, messages)
        self.assertEqual(rows_of(self.record("split")), expected)

    def test_types_of_several_sizes(self) -> None:
        self.assertEqual(rows_of(self.record("types")), ring(RANKS, 8 + 16 + 24, 3))

    def test_neighbourhoods(self) -> None:
        expected: Rows = {}
        if RANKS > 2:
            for step in (1, RANKS - 1):
                for pair, (n_bytes, messages) in ring(RANKS, 8 * 80, 8, step).items():
                    add(expected, *pair, n_bytes, messages)
        self.assertEqual(rows_of(self.record("neighbours")), expected)

    def test_collectives_have_rows_of_their_own(self) -> None:
        document = self.record("collectives")
        self.assertEqual(rows_of(document), {})
        expected: Rows = {}
        collective_rows(list(range(RANKS)), RANKS, expected)
        for parity in range(min(2, RANKS)):
            collective_rows(list(range(parity, RANKS, 2)), RANKS, expected)
        self.assertEqual(rows_of(document, "collectives"), expected)
        self.assertEqual(document["collective_calls"]["allreduce"]["calls"], 2 * RANKS)

    def test_one_sided(self) -> None:
        expected = ring(RANKS, 80, 1)  # put
        for pair, (n_bytes, messages) in ring(RANKS, 16, 1).items():  # get, from the predecessor
            add(expected, *pair, n_bytes, messages)
        self.assertEqual(rows_of(self.record("window")), expected)

    def test_a_pause(self) -> None:
        self.assertEqual(rows_of(self.record("paused")), ring(RANKS, 8, 1))

    def test_the_code_of_the_program(self) -> None:
        self.assertEqual(rows_of(self.record("world", "code", code=5)), ring(RANKS, 12 * 80, 12))

    def test_several_jobs_of_one_script(self) -> None:
        script = self.folder / "job.sh"
        launcher = " ".join([*MPIEXEC, "-n"])
        script.write_text(f"{launcher} 2 {PROGRAM} types\n{launcher} 3 {PROGRAM} paused\n")
        done = execute(
            [COMMAND, "record", "-o", "t.json", "--", "sh", str(script)], cwd=self.folder
        )
        self.assertEqual(done.code, 0, str(done))
        for name, expected in (("t.json", ring(2, 48, 3)), ("t-2.json", ring(3, 8, 1))):
            self.assertEqual(rows_of(json.loads((self.folder / name).read_text())), expected)

    def test_under_the_launcher(self) -> None:
        command = [*MPIEXEC, "-n", "2", COMMAND, "record", "-o", "t.json", "--", PROGRAM, "types"]
        done = execute(command, cwd=self.folder)
        self.assertEqual(done.code, 0, str(done))
        self.assertIn("6 messages, 96 bytes between 2 pairs of 2 ranks", done.err)
        self.assertEqual(rows_of(json.loads((self.folder / "t.json").read_text())), ring(2, 48, 3))

    def test_what_is_recorded_can_be_mapped(self) -> None:
        self.record("world", "collectives")
        for factor in ("0", "1"):
            words = [
                "map",
                "traffic.json",
                "--machine",
                f"{RANKS}x1",
                "--collectives",
                factor,
                "--json",
            ]
            done = execute([COMMAND, *words], cwd=self.folder)
            self.assertEqual(done.code, 0, str(done))

    def test_a_report_of_what_was_mapped(self) -> None:
        if not (Path(COMMAND).parent.parent / "python" / "barrio").exists():
            self.skipTest("this build has no Python package")
        self.record("world", "collectives")
        words = ["map", "traffic.json", "--machine", f"{RANKS}x1", "--report", "page.html"]
        done = execute([COMMAND, "--json", *words], limit=60, cwd=self.folder)
        self.assertEqual(done.code, 0, str(done))
        json.loads(done.out)  # nothing but the document
        page = (self.folder / "page.html").read_text()
        self.assertIn("Traffic and mapping", page)
        self.assertNotIn("What to try next", page)  # it would name deleted files
        done = execute([COMMAND, *words[:-1], "no/such/page.html"], limit=60, cwd=self.folder)
        self.assertEqual(done.code, 1, str(done))

    def expect_ended_early(self, document: dict) -> None:
        """Expect the messages of each rank before the end, whoever ended the job."""
        self.assertTrue(document["ended_early"])
        self.assertEqual(document["missing_ranks"], [])
        self.assertEqual(sum(n for _, n in document["hosts"]), RANKS)
        self.assertGreater(document["seconds"], 0)
        self.assertEqual(rows_of(document), ring(RANKS, 12 * 80, 12))
        expected: Rows = {}
        collective_rows(list(range(RANKS)), RANKS, expected)
        for parity in range(min(2, RANKS)):
            collective_rows(list(range(parity, RANKS, 2)), RANKS, expected)
        found = rows_of(document, "collectives")
        # The program's barriers send no bytes.
        self.assertEqual(
            {pair: b for pair, (b, _) in found.items() if b > 0},
            {pair: b for pair, (b, _) in expected.items() if b > 0},
        )

    def test_jobs_that_do_not_come_to_their_end(self) -> None:
        output = self.folder / "traffic.json"
        for word in ("aborts", "killed", "fails"):
            with self.subTest(word):
                launcher = [*MPIEXEC, "-n", str(RANKS), PROGRAM, "world", "collectives", word]
                done = execute([COMMAND, "record", "-o", str(output), "--", *launcher])
                self.assertNotIn(done.code, (0, 124), str(done))
                self.assertIn("the job did not reach MPI_Finalize", done.out, str(done))
                self.assertEqual([path.name for path in self.folder.iterdir()], ["traffic.json"])
                self.expect_ended_early(json.loads(output.read_text()))
                output.unlink()

    def test_a_job_that_is_told_to_end(self) -> None:
        output = self.folder / "traffic.json"
        launcher = [*MPIEXEC, "-n", str(RANKS), PROGRAM, "world", "collectives", "waits"]
        command = [COMMAND, "record", "-o", str(output), "--", *launcher]
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as job:
            while "waiting" not in (line := job.stderr.readline()):
                self.assertTrue(line, "the job ended before")
            job.send_signal(signal.SIGTERM)
            out, err = job.communicate(timeout=60)
        self.assertNotEqual(job.returncode, 0, out + err)  # MPICH's launcher returns 0 for one rank
        self.assertIn("the job did not reach MPI_Finalize", out, err)
        self.expect_ended_early(json.loads(output.read_text()))

    def test_what_is_left_under_the_launcher(self) -> None:
        launcher = [*MPIEXEC, "-n", str(RANKS)]
        program = [
            COMMAND,
            "record",
            "-o",
            "t.json",
            "--",
            PROGRAM,
            "world",
            "collectives",
            "killed",
        ]
        done = execute([*launcher, *program], cwd=self.folder)
        self.assertNotIn(done.code, (0, 124), str(done))
        self.assertFalse((self.folder / "t.json").exists())
        done = execute(
            [COMMAND, "record", "--collect", "t.json.ranks", "-o", "t.json"], cwd=self.folder
        )
        self.assertEqual(done.code, 0, str(done))
        document = json.loads((self.folder / "t.json").read_text())
        self.assertEqual(rows_of(document), ring(RANKS, 12 * 80, 12))
        self.assertNotIn("seconds", document)
        # A rank with a missing file is named, and the rest is written.
        files = sorted((self.folder / "t.json.ranks").iterdir())
        self.assertEqual(len(files), RANKS)
        files[-1].write_bytes(files[-1].read_bytes()[:100])
        words = ["record", "--collect", "t.json.ranks", "-o", "t.json"]
        done = execute([COMMAND, *words], cwd=self.folder)
        if RANKS == 1:
            self.assertEqual(done.code, 1, str(done))
            return
        self.assertEqual(done.code, 0, str(done))
        self.assertIn(f"1 ranks left nothing: {RANKS - 1}", done.out)
        document = json.loads((self.folder / "t.json").read_text())
        self.assertEqual(document["missing_ranks"], [RANKS - 1])
        self.assertNotIn("hosts", document)
        done = execute([COMMAND, "map", "t.json", "--machine", f"{RANKS}x1"], cwd=self.folder)
        self.assertEqual(done.code, 0, str(done))
        done = execute([COMMAND, "record", "--collect", "none"], cwd=self.folder)
        self.assertEqual((done.code, "cannot be read" in done.err), (1, True), str(done))

    def test_a_time_to_record(self) -> None:
        output = self.folder / "traffic.json"
        launcher = [*MPIEXEC, "-n", str(RANKS), PROGRAM, "world", "lasts", "code"]
        command = [COMMAND, "record", "--for", "1s", "-o", str(output), "--", *launcher]
        done = execute(command, cwd=self.folder)
        self.assertEqual(done.code, 5, str(done))
        self.assertIn("is written, the program continues", done.err)
        document = json.loads(output.read_text())
        self.assertEqual(rows_of(document), ring(RANKS, 12 * 80, 12))
        self.assertEqual(document["seconds"], 1)
        self.assertNotIn("did not reach MPI_Finalize", done.out)
        for words, told in (
            (["--for", "0s"], "is not a duration above 0"),
            (["--for", "1x"], "write 60s"),
        ):
            done = execute([COMMAND, "record", *words, "--", "ls"], cwd=self.folder)
            self.assertEqual((done.code, told in done.err), (2, True), str(done))

    def test_nothing_to_record(self) -> None:
        old = self.folder / "t.json"
        old.write_text("old")
        for command, named in (
            (["ls"], "reached MPI_Init"),
            (["no-such-program"], "is not in PATH"),
        ):
            done = execute([COMMAND, "record", "-o", "t.json", "--", *command], cwd=self.folder)
            self.assertEqual(done.code, 1, str(done))
            self.assertIn(named, done.err)
            self.assertEqual(old.read_text(), "old")
            self.assertEqual(len(list(self.folder.iterdir())), 1)
        done = execute([COMMAND, "record", "-o", "no/such/t.json", "--", "ls"], cwd=self.folder)
        self.assertEqual((done.code, "cannot be written" in done.err), (1, True), str(done))

    def test_programs_of_another_mpi(self) -> None:
        other = {"openmpi": "mpich", "mpich": "openmpi"}[FLAVOUR]
        compiler, launcher = shutil.which(f"mpicc.{other}"), shutil.which(f"mpiexec.{other}")
        if not compiler or not launcher:
            self.skipTest(f"{other} is not installed")
        program = self.folder / "program"
        source = Path(__file__).parent / "program.c"
        subprocess.run([compiler, "-w", "-o", program, source], check=True)
        words = ["--allow-run-as-root", "-q"] if other == "openmpi" else []
        command = [launcher, *words, "-n", "2", str(program), "types"]
        done = execute([COMMAND, "record", "-o", "t.json", "--", *command], cwd=self.folder)
        self.assertEqual(done.code, 1, str(done))
        self.assertEqual(done.err.count("the program uses another MPI"), 1, str(done))
        self.assertFalse((self.folder / "t.json").exists())

    def test_fortran(self) -> None:
        compiler = shutil.which(f"mpifort.{FLAVOUR}")
        fortran = (
            shutil.which("gfortran") or shutil.which("gfortran-12") or shutil.which("gfortran-13")
        )
        if not compiler or not fortran:
            self.skipTest("no Fortran compiler is installed")
        environment = {**os.environ, "OMPI_FC": fortran, "MPICH_FC": fortran}
        if RANKS < 2:
            return
        for module in ([], ["-DUSE_F08"]):
            program = self.folder / "ring"
            words = [
                compiler,
                "-cpp",
                *module,
                "-w",
                "-fallow-argument-mismatch",
                "-o",
                program,
                FORTRAN,
            ]
            subprocess.run(words, check=True, cwd=self.folder, env=environment)
            for path in self.folder.glob("*.mod"):
                path.unlink()
            inside = Path(tempfile.mkdtemp()) / "ring"
            shutil.move(program, inside)
            document = self.record(program=str(inside))
            shutil.rmtree(inside.parent)
            expected = ring(RANKS, 5 * 40, 5)
            for pair, (n_bytes, messages) in ring(RANKS, 80, 1, RANKS - 1).items():
                add(expected, *pair, n_bytes, messages)
            self.assertEqual(rows_of(document), expected, str(module))
            calls = document["collective_calls"]
            self.assertEqual(calls["allgather"], {"calls": RANKS, "bytes": 8 * (RANKS - 1) * RANKS})
            self.assertEqual(calls["allreduce"]["calls"], RANKS)
            (self.folder / "traffic.json").unlink()

    def test_cost_in_instructions(self) -> None:
        valgrind = shutil.which("valgrind")
        if not valgrind:
            self.skipTest("valgrind is not installed")
        if RANKS != 4 or IS_QUICK:
            self.skipTest("it is the same on any number of ranks: counted in one of the runs")
        for words in (["many"], ["many", "threads"]):
            counts = self.folder / "counts.%p"
            command = [
                *MPIEXEC,
                "-n",
                "2",
                valgrind,
                "--tool=callgrind",
                f"--callgrind-out-file={counts}",
                PROGRAM,
            ]
            done = execute(
                [COMMAND, "record", "-o", "t.json", "--", *command, *words],
                limit=200,
                cwd=self.folder,
            )
            self.assertEqual(done.code, 0, str(done))
            for path in self.folder.glob("counts.*"):
                text = subprocess.run(
                    ["callgrind_annotate", "--show=Ir", "--threshold=100", path],
                    capture_output=True,
                    text=True,
                ).stdout
                # The time per message; the time that ranks wait for each other at the end varies.
                found = re.findall(
                    r"([\d,]+) .*:(?:MPI_Isend|barrio_sent|barrio_look_up_\w+|barrio_new_link|barrio_wait_for_lock)\w* "
                    r"\[[^\]]*barrio_record\.so\]",
                    text,
                )
                self.assertGreaterEqual(len(found), 2, text)
                per_message = sum(int(n.replace(",", "")) for n in found) / 10000
                self.assertGreater(per_message, 5, text)
                self.assertLess(per_message, MAX_INSTRUCTIONS, text)
                print(
                    f"{' '.join(words)}: {per_message:.1f} instructions a message", file=sys.stderr
                )
                path.unlink()


class KilledRecording(unittest.TestCase):
    """`barrio record` itself is killed, after its job has ended well."""

    def test_its_folder_has_the_document(self) -> None:
        folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, folder)
        job = " ".join([*MPIEXEC, "-n", str(RANKS), PROGRAM, "world"])
        words = [COMMAND, "record", "-o", "t.json", "--", "sh", "-c", f"{job}; sleep 10"]
        with subprocess.Popen(
            words, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as process:
            end = time.monotonic() + 60
            while not list(folder.glob(".t.json.*/1.json")) and time.monotonic() < end:
                time.sleep(0.05)
            process.kill()
        self.assertFalse((folder / "t.json").exists())
        (left,) = folder.glob(".t.json.*")
        for output in ("t.json", "again.json"):  # the folder stays as it is
            done = execute(
                [COMMAND, "--json", "record", "--collect", left.name, "-o", output], cwd=folder
            )
            self.assertEqual(done.code, 0, str(done))
            (told,) = done.json()["jobs"]
            self.assertFalse(told["ended_early"])
            document = json.loads((folder / output).read_text())
            self.assertEqual(rows_of(document), ring(RANKS, 12 * 80, 12))
        self.assertEqual(len(list(folder.glob("*.json"))), 2)


if __name__ == "__main__":
    unittest.main(verbosity=1)
