"""Failing writes on BARRIO_RANKS ranks: one message, exit code 1, in time, the old file intact and no leftovers.

A preloaded library makes the N-th system call on the output fail, on one rank or all calls from there on, for each N in
turn. So every write, allocation, close and rename fails once.
"""

import errno
import os
import shutil
import tempfile
import unittest
from pathlib import Path

from barrio_case import (
    HEAT,
    IS_QUICK,
    MPIEXEC,
    OLD,
    RANKS,
    STREAM,
    WING,
    Case,
    Outcome,
    at_ranks,
    barrio,
    execute,
)

WRITE, ALLOCATE, RENAME, OPEN, CLOSE = 2, 4, 16, 32, 64
KINDS = {
    WRITE: errno.ENOSPC,
    ALLOCATE: errno.EDQUOT,
    RENAME: errno.EACCES,
    OPEN: errno.EMFILE,
    CLOSE: errno.EIO,
}
WELL = (0, 4)  # 4: heat has not converged
LIBRARY = os.environ["BARRIO_FAULTY_IO"]


class WriteFaults(Case):
    def setUp(self) -> None:
        super().setUp()
        self.box = self.folder / "box.h5m"
        self.assert_code(barrio("generate", "box", "-c", 9, 8, 7, "-n", 4, "-o", self.box), 0)

    def run_faulty(self, words: list[object], **plan: object) -> Outcome:
        settings = {f"FAULTY_IO_{name.upper()}": str(value) for name, value in plan.items()}
        environment = {"LD_PRELOAD": LIBRARY, **settings}
        if words[0] in (HEAT, STREAM):
            launch = [*MPIEXEC, "-n", RANKS] if RANKS > 1 else []
            return execute(list(map(str, [*launch, *words])), environment=environment)
        return at_ranks(*words, environment=environment)

    def n_calls(self, words: list[object], out: Path, calls: int) -> int:
        """Return the max number of calls of a kind on the output, over all ranks."""
        folder = Path(tempfile.mkdtemp(dir=self.folder))
        outcome = self.run_faulty(words, calls=calls, file=out.name, at=0, tell=folder)
        self.assertIn(outcome.code, WELL, str(outcome))
        counts = [int(file.read_text()) for file in folder.iterdir()]
        shutil.rmtree(folder)
        out.write_bytes(OLD)
        return max(counts, default=0)

    def check(self, outcome: Outcome, out: Path, error: int) -> None:
        text = f"{out.name}: cannot be written: {os.strerror(error)}"
        self.assert_error(outcome, 1, text, "remedy: ")
        self.assertEqual(out.read_bytes(), OLD, str(outcome))
        self.assert_no_leftovers()

    def sweep(self, words: list[object], out: Path, kinds: tuple[int, ...] = tuple(KINDS)) -> None:
        out.write_bytes(OLD)
        for kind in kinds[:1] if IS_QUICK else kinds:
            n = self.n_calls(words, out, kind)
            self.assertTrue(n > 0 or kind == ALLOCATE, f"no call of kind {kind} on {out.name}")
            # All calls if few; else the first, the last and some between.
            places = sorted({1 + i * (n - 1) // 11 for i in range(12)}) if n > 0 else []
            for at in places[:: len(places) // 2 or 1] if IS_QUICK else places:
                for rank in range(RANKS):
                    with self.subTest(out=out.name, kind=kind, at=at, of=n, rank=rank):
                        plan = {"calls": kind, "file": out.name, "at": at, "error": KINDS[kind]}
                        outcome = self.run_faulty(words, rank=rank, **plan)
                        if outcome.code in WELL:  # this rank makes fewer calls
                            self.assertNotEqual((rank, at), (0, 1), str(outcome))
                            self.assertNotEqual(out.read_bytes(), OLD)
                            self.assert_no_leftovers()
                            out.write_bytes(OLD)
                        else:
                            self.check(outcome, out, KINDS[kind])

    def test_h5m(self) -> None:
        out = self.folder / "out.h5m"
        self.sweep(["partition", self.box, "-n", 3, "-o", out], out)

    def test_generate(self) -> None:
        if IS_QUICK:
            return
        out = self.folder / "out.h5m"
        self.sweep(["generate", "box", "-c", 5, 4, 3, "-n", 2, "-o", out], out, (WRITE, CLOSE))

    def test_join(self) -> None:
        if IS_QUICK:
            return
        out = self.folder / "out.h5m"
        other = self.folder / "other.h5m"
        words = ["-c", 9, 8, 7, "--low", 1, 0, 0, "--high", 2, 1, 1, "-o", other]
        self.assert_code(barrio("generate", "box", *words), 0)
        self.sweep(["join", self.box, other, "-o", out], out, (WRITE, CLOSE))

    def test_vtkhdf(self) -> None:
        out = self.folder / "out.vtkhdf"
        self.sweep(["convert", self.box, out], out)

    def test_medit(self) -> None:
        out = self.folder / "out.meshb"
        self.sweep(["convert", self.box, out], out, (WRITE, CLOSE))

    def test_time_steps(self) -> None:
        if not HEAT:
            self.skipTest("the example heat is not built")
        if IS_QUICK:
            return
        out = self.folder / "out.vtkhdf"
        self.sweep([HEAT, WING, "-o", out, "--frames", 4, "--end-time", 0.01], out, (WRITE, CLOSE))

    def test_streamed(self) -> None:
        """Stream rows one by one: all ranks report a fault in the middle at their next call."""
        if not STREAM:
            self.skipTest("the example stream is not built")
        for name in ["out.h5m"] if IS_QUICK else ["out.h5m", "out.vtkhdf"]:
            out = self.folder / name
            self.sweep([STREAM, 5, out], out, (WRITE, ALLOCATE, CLOSE))

    def test_traffic(self) -> None:
        out = self.folder / "out.json"
        self.sweep(["load", self.box, "--traffic", out], out, (WRITE, RENAME, OPEN, CLOSE))

    def test_trace(self) -> None:
        if IS_QUICK:
            return
        out = self.folder / "out.json"
        self.sweep(["load", self.box, "--trace", out], out, (WRITE, RENAME, OPEN, CLOSE))

    def test_result(self) -> None:
        out = self.folder / "out.json"
        self.sweep(["load", self.box, "--result", out], out, (WRITE, RENAME, OPEN, CLOSE))

    def test_a_disk_that_cannot_set_space_aside(self) -> None:
        """Fill a disk without preallocation, as on some network file systems: writing rows or metadata finds it full."""
        with self.small_disk("64k") as disk:
            for name, words in (
                ("out.h5m", ["partition", WING, "-n", 4, "-o"]),
                ("out.vtkhdf", ["convert", WING]),
                *(
                    [("streamed.h5m", [STREAM, 30]), ("streamed.vtkhdf", [STREAM, 30])]
                    if STREAM
                    else []
                ),
            ):
                out = disk / name
                out.write_bytes(OLD)
                plan = {"calls": ALLOCATE, "file": out.name, "at": 1, "error": errno.EOPNOTSUPP}
                outcome = self.run_faulty([*words, out], **plan)
                self.assert_error(
                    outcome, 1, f"{name}: cannot be written: {os.strerror(errno.ENOSPC)}"
                )
                self.assertEqual(out.read_bytes(), OLD)
                self.assert_no_leftovers(disk)

    def test_space_that_cannot_be_set_aside_is_no_fault(self) -> None:
        out = self.folder / "out.h5m"
        words = ["partition", self.box, "-n", 3, "-o", out]
        plan = {"calls": ALLOCATE, "file": out.name, "at": 1, "error": errno.EOPNOTSUPP}
        self.assert_code(self.run_faulty(words, **plan), 0)
        self.assert_code(barrio("load", out), 0)

    def test_limit_on_file_sizes(self) -> None:
        """Exceed `ulimit -f`: by default the system kills the process silently."""
        for name, words in (
            ("out.h5m", ["partition", WING, "-n", 4, "-o"]),
            ("out.vtkhdf", ["convert", WING]),
            ("out.json", ["load", WING, "--trace"]),
        ):
            out = self.folder / name
            out.write_bytes(OLD)
            # The limit starts at the first call on the output, because MPI's shared memory consists of files too.
            limit = 512 if name == "out.json" else 65536
            plan = {"calls": OPEN | WRITE | ALLOCATE, "file": out.name, "at": 1, "limit": limit}
            outcome = self.run_faulty([*words, out], **plan)
            self.assert_error(outcome, 1, f"{name}: cannot be written: {os.strerror(errno.EFBIG)}")
            self.assertEqual(out.read_bytes(), OLD)
            self.assert_no_leftovers()


if __name__ == "__main__":
    unittest.main()
