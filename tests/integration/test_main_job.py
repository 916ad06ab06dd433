"""The main job, partition -> load -> heat -> map, on several rank counts: the same numbers as on one rank.

BARRIO_JOB_RANKS lists the rank counts other than 1.
"""

import json
import os
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "cli"))

from barrio_case import HEAT, MPIEXEC, WING, Case, barrio, execute, tool

# From one rank. The temperature has no fixed checksum: its time steps depend on the C library's pow().
MESH_CHECKSUM = "79226b4a79c3548e"
N_PARTS = 8
N_FRAMES = 16


class MainJob(Case):
    def run_job(self, folder: Path, ranks: int) -> tuple[dict, dict]:
        """Run the job. @return the documents of load and heat"""
        folder.mkdir()
        wing8 = folder / "wing8.h5m"
        self.assert_code(
            barrio("partition", WING, "-n", N_PARTS, "-o", wing8, ranks=ranks if ranks > 1 else 0),
            0,
        )
        load = barrio(
            "load", wing8, "--ghosts", 1, "--validate", "--json", ranks=ranks if ranks > 1 else 0
        )
        self.assert_code(load, 0)
        launcher = [*MPIEXEC, "-n", str(ranks)] if ranks > 1 else []
        heat = execute(
            [
                *launcher,
                HEAT,
                str(wing8),
                "-o",
                str(folder / "heat.vtkhdf"),
                "--result",
                str(folder / "heat.json"),
                "--traffic",
                str(folder / "traffic.json"),
                "--frames",
                str(N_FRAMES),
            ],
            limit=120,
        )
        self.assert_code(heat, 0)
        self.assert_no_leftovers(folder)
        return load.json(), json.loads((folder / "heat.json").read_text())

    def test_wrong_words_for_heat(self) -> None:
        for words, cause, code in (
            (["--outptu", "x"], "heat: ", 2),
            (["-o", "heat.vtk"], "heat.vtk does not end in .vtkhdf", 2),
            (["--insulated", "farfeld"], "Did you mean 'farfield'?", 2),
        ):
            with self.subTest(words):
                outcome = execute([*MPIEXEC, "-n", "2", HEAT, str(WING), *words])
                self.assert_code(outcome, code)
                self.assertEqual(outcome.err.count("barrio: error: "), 1)
                self.assertIn(cause, outcome.err)

    def test_it_equals_one_rank(self) -> None:
        alone = self.folder / "alone"
        _, reference = self.run_job(alone, 1)
        self.check_solution(alone)
        for ranks in map(int, os.environ["BARRIO_JOB_RANKS"].split()):
            with self.subTest(ranks):
                here = self.folder / f"on_{ranks}"
                load, heat = self.run_job(here, ranks)
                self.assertEqual((load["ranks"], heat["ranks"]), (ranks, ranks))
                self.assertEqual(load["checksum"], MESH_CHECKSUM)
                self.assertEqual(heat["mesh_checksum"], MESH_CHECKSUM)
                for what in (
                    "temperature_checksum",
                    "max_error",
                    "spectral_bound",
                    "stages",
                    "exchanges",
                ):
                    self.assertEqual(heat[what], reference[what], what)
                for name in ("wing8.h5m", "heat.vtkhdf"):
                    self.assertEqual(
                        tool("digest", here / name), tool("digest", alone / name), name
                    )
                self.assertEqual(self.traffic(here), self.traffic(alone))
        found = barrio(
            "map", alone / "traffic.json", "--machine", "2x4", "--given", "cyclic", "--json"
        ).json()
        self.assertEqual(found["schema"], "barrio.map")
        self.assertLess(found["after"]["cost"], found["before"]["cost"])

    def traffic(self, folder: Path) -> dict:
        """Return the traffic between parts, which depends on the mesh, not on the run."""
        document = json.loads((folder / "traffic.json").read_text())
        self.assertEqual(document["schema"], "barrio.traffic")
        return {key: document[key] for key in ("ranks", "entries")}

    def check_solution(self, folder: Path) -> None:
        def numbers(dataset: str) -> list[float]:
            return [
                float(x)
                for x in tool("numbers", folder / "heat.vtkhdf", "/VTKHDF/" + dataset).split()
            ]

        steps = numbers("Steps/Values")
        self.assertEqual(len(steps), N_FRAMES + 1)
        self.assertEqual((steps[0], steps[-1]), (0.0, 20.0))
        points = numbers("Points")
        temperature = numbers("PointData/temperature")
        n = len(points) // 3
        self.assertEqual(len(temperature), (N_FRAMES + 1) * n)
        # Initially 250 K inside, finally the linear function of the boundary, 300 + 10 x + 5 z.
        self.assertEqual(min(temperature[:n]), 250.0)
        worst = max(
            abs(t - 300.0 - 10.0 * points[3 * i] - 5.0 * points[3 * i + 2])
            for i, t in enumerate(temperature[-n:])
        )
        self.assertLess(worst, 1e-6)


if __name__ == "__main__":
    unittest.main()
