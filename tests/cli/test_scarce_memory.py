"""A rank runs out of memory, at each allocation of some size in turn. The job ends in time with one cause and exit code
1, whatever the other ranks do, and no half-written file gets the final name."""

import os
import unittest

from barrio_case import IS_QUICK, MPIEXEC, OLD, RANKS, WING, Case, Outcome, barrio, execute, tool

PROGRAM = os.environ["BARRIO_SCARCE_MEMORY"]


class ScarceMemory(Case):
    def setUp(self) -> None:
        super().setUp()
        self.box = self.folder / "box.h5m"
        words = ["-c", 9, 8, 7, "-n", 4, "--volumes", 2, 1, 1]
        made = barrio("generate", "box", *words, "-o", self.box)
        self.assert_code(made, 0)
        self.outputs = [self.folder / "out.h5m", self.folder / "out.vtkhdf"]

    def run_scarce(self, path: object, **settings: object) -> Outcome:
        for out in self.outputs:
            out.write_bytes(OLD)
        words = [*MPIEXEC, "-n", RANKS, PROGRAM, path, self.folder / "out"]
        environment = {f"SCARCE_{name.upper()}": str(value) for name, value in settings.items()}
        return execute(list(map(str, words)), environment=environment)

    def check(self, outcome: Outcome) -> None:
        self.assert_code(outcome, 1)
        self.assertEqual(outcome.err.count("memory: an allocation failed"), 1, str(outcome))
        self.assertEqual(outcome.err.count("remedy: use more ranks"), 1, str(outcome))
        for text in ("Signal:", "HDF5-DIAG", "infinite loop"):
            self.assertNotIn(text, outcome.err, str(outcome))
        # The first output may be complete, but never partial.
        for out in self.outputs:
            if out.read_bytes() != OLD and out.suffix == ".h5m":
                self.assert_code(barrio("info", out), 0)
            elif out.suffix == ".vtkhdf":
                self.assertEqual(out.read_bytes(), OLD, str(outcome))

    def sweep(self, path: object, n_places: int, min_bytes: int = 4096) -> None:
        counted = self.run_scarce(path, bytes=min_bytes)
        self.assert_code(counted, 0)
        whole = self.digests()
        n_of_rank = [int(word) for word in counted.out.split()]
        n_places_tried = n_ended_well = 0
        for stays in (0, 1):
            for rank in sorted({0, RANKS - 1}):
                n = n_of_rank[rank]
                self.assertGreater(n, 10)
                for at in sorted({1 + i * (n - 1) // (n_places - 1) for i in range(n_places)}):
                    with self.subTest(path=str(path), at=at, of=n, rank=rank, stays=stays):
                        outcome = self.run_scarce(
                            path, at=at, rank=rank, stays=stays, bytes=min_bytes
                        )
                        n_places_tried += 1
                        # Some callers do without the memory, and counts vary slightly with the arrival of messages,
                        # so a run may never reach the last allocations. Its output is then complete.
                        if outcome.code == 0:
                            n_ended_well += 1
                            self.assertEqual(self.digests(), whole, str(outcome))
                        else:
                            self.check(outcome)
        self.assertLess(n_ended_well, n_places_tried / 2)

    def digests(self) -> list[str]:
        return [tool("digest", out) for out in self.outputs]

    def test_h5m(self) -> None:
        self.sweep(self.box, 3 if IS_QUICK else 60)

    def test_gmsh(self) -> None:
        if not IS_QUICK:
            self.sweep(WING, 30)

    def test_gmsh_binary(self) -> None:
        if not IS_QUICK:
            binary = self.folder / "binary.msh"
            tool("gmsh-binary", WING, binary)
            self.sweep(binary, 12)

    def test_when_no_memory_at_all_is_left(self) -> None:
        """Check a rank that lacks memory even for a message."""
        self.sweep(self.box, 3 if IS_QUICK else 20, min_bytes=1)


if __name__ == "__main__":
    unittest.main()
