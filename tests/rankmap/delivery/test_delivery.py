"""The how-to page, literally, on simulated hosts; and placements on both MPIs."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import tempfile
import unittest
from pathlib import Path

from barrio_case import COMMAND, SOURCE, execute
from fake_hosts import FakeHosts

FLAVOUR = os.environ["BARRIO_MPI"]
NAMES = ["n01", "n02", "n03", "n04"]
PAGE = SOURCE / "docs" / "howto" / "code-you-cannot-change.md"
EXAMPLE = SOURCE / "examples" / "07-foreign" / "halo.f90"


def commands_of(section: str) -> str:
    """Return the shell commands of a section of the page."""
    text = PAGE.read_text()
    start = text.index(f"## {section}\n")
    end = text.index("\n## ", start)
    return "\n".join(re.findall(r"^```sh\n(.*?)^```$", text[start:end], re.MULTILINE | re.DOTALL))


class Delivery(unittest.TestCase):
    def setUp(self) -> None:
        if reason := FakeHosts.why_not():
            self.skipTest(reason)
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        hosts = FakeHosts(self.folder, NAMES)
        hosts.__enter__()
        self.addCleanup(hosts.__exit__)
        self.work = self.folder / "work"
        self.work.mkdir()
        self.environment = hosts.environment(FLAVOUR)
        self.launcher = hosts.launcher(FLAVOUR)

    def run_words(self, words: list[str], code: int = 0):
        done = execute(words, limit=90, cwd=self.work, environment=self.environment)
        self.assertEqual(done.code, code, str(done))
        return done

    def write_plan(self, hosts: str, cores: list[int]) -> None:
        """Write the launcher's file `order` and a plan map.json that has each rank on its core and moves none."""
        (self.work / "plan.txt").write_text("".join(f"{core}\n" for core in cores))
        empty = {
            "schema": "barrio.traffic",
            "schema_version": 1,
            "ranks": len(cores),
            "entries": [],
        }
        (self.work / "traffic.json").write_text(json.dumps(empty))
        kind = {"openmpi": "openmpi-seq", "mpich": "mpich"}[FLAVOUR]
        words = [
            "map",
            "traffic.json",
            "--hosts",
            hosts,
            "--given",
            "plan.txt",
            "-f",
            kind,
            "-o",
            "order",
        ]
        self.run_words([COMMAND, *words, "--result", "map.json"])
        self.assertEqual(json.loads((self.work / "map.json").read_text())["placement"], cores)

    def test_the_page(self) -> None:
        compiler = shutil.which(f"mpif90.{FLAVOUR}")
        fortran = (
            shutil.which("gfortran") or shutil.which("gfortran-12") or shutil.which("gfortran-13")
        )
        if not compiler or not fortran:
            self.skipTest("no Fortran compiler is installed")
        programs = self.folder / "bin"
        programs.mkdir()
        for name, target in (
            ("mpif90", compiler),
            ("mpirun", shutil.which(f"mpiexec.{FLAVOUR}")),
            ("mpiexec", shutil.which(f"mpiexec.{FLAVOUR}")),
            ("barrio", COMMAND),
        ):
            # Not a link: Hydra looks for its components in the folder of the name by which it was called.
            (programs / name).write_text(f'#!/bin/sh\nexec {target} "$@"\n')
            (programs / name).chmod(0o755)
        self.environment["PATH"] = f"{programs}:{os.environ['PATH']}"
        self.environment |= {"OMPI_FC": fortran, "MPICH_FC": fortran}
        shutil.copy(EXAMPLE, self.work)
        section = {"openmpi": "With Open MPI", "mpich": "With MPICH"}[FLAVOUR]
        script = self.work / "page.sh"
        script.write_text(commands_of(section))
        done = self.run_words(["bash", "-e", str(script)])
        self.assertIn("all 16 ranks are where the plan has them, on 4 nodes", done.out)
        self.assertEqual(done.out.count("heat  51200.000"), 2, str(done))  # recorded and placed
        found = json.loads((self.work / "map.json").read_text())
        # By hand: cuts between rows of blocks have 12 long sides of 2048 points, between columns 12 short ones of 16.
        self.assertEqual(found["given_order"], "recorded")
        long_side, short_side = 2 * 200 * 2048 * 8, 2 * 200 * 16 * 8
        before, after = (found[key]["inter_node_weight"] for key in ("before", "after"))
        self.assertAlmostEqual(before, 12 * long_side, delta=0.001 * before)
        self.assertAlmostEqual(after, 12 * short_side, delta=0.001 * before)

    def test_random_plans_take_effect(self) -> None:
        seed = random.randrange(10**6)
        print(f"seed {seed}")
        plan = list(range(8))  # on two nodes of four cores
        random.Random(seed).shuffle(plan)
        self.write_plan("n01:4,n02:4", plan)
        launch = {
            "openmpi": [*self.launcher, "-n", "8", "--mca", "rmaps", "seq", "--hostfile", "order"],
            "mpich": [*self.launcher, "-n", "8", "-f", "order", COMMAND, "seat", "map.json", "--"],
        }[FLAVOUR]
        done = self.run_words([*launch, COMMAND, "map", "--verify", "map.json"])
        self.assertIn("all 8 ranks are where the plan has them, on 2 nodes", done.out)

    def test_plans_that_do_not_take_effect_are_told(self) -> None:
        self.write_plan("n01:2,n02:2", [0, 2, 1, 3])  # ranks 0 and 2 on n01, 1 and 3 on n02
        if FLAVOUR == "openmpi":  # the pitfall of the plain host file: ranks 0 and 1 on n01
            (self.work / "slots").write_text("n01\nn02\nn01\nn02\n")
            launch = [*self.launcher, "-n", "4", "--hostfile", "slots"]
            told = "of 4 ranks are not where the plan has them\n  rank 1 is on n01, but the plan has it on n02"
        else:  # the pitfall of Hydra: repeated hosts are different nodes
            launch = [*self.launcher, "-n", "4", "-f", "order"]
            told = "all 4 ranks are on their hosts, but 4 of them do not share memory"
        done = self.run_words([*launch, COMMAND, "map", "--verify", "map.json"], code=4)
        self.assertIn(told, done.out)

    def test_measures_inside_and_between(self) -> None:
        (self.work / "hosts").write_text(
            "n01:2\nn02:2\n" if FLAVOUR == "mpich" else "n01 slots=2\nn02 slots=2\n"
        )
        option = {"openmpi": "--hostfile", "mpich": "-f"}[FLAVOUR]
        launch = [*self.launcher, "-n", "4", option, "hosts"]
        done = self.run_words([*launch, COMMAND, "map", "--measure", "--result", "machine.json"])
        self.assertIn("1 inside nodes, 1 between nodes", done.out)
        measured = json.loads((self.work / "machine.json").read_text())
        self.assertEqual(measured["hosts"], [["n01", 2], ["n02", 2]])
        traffic = {
            "schema": "barrio.traffic",
            "schema_version": 1,
            "ranks": 4,
            "entries": [[0, 2, 1, 8, 1]],
        }
        (self.work / "traffic.json").write_text(json.dumps(traffic))
        mapped = self.run_words(
            [COMMAND, "map", "traffic.json", "--machine", "machine.json", "--json"]
        ).json()
        self.assertEqual(mapped["node_names"], ["n01", "n02"])

    def test_seat_outside_of_hydra(self) -> None:
        done = self.run_words([COMMAND, "seat", "map.json", "--", "ls"], code=2)
        self.assertIn("was not started by Hydra", done.err)


if __name__ == "__main__":
    unittest.main(verbosity=1)
