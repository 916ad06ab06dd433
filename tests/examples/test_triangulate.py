"""examples/16-triangulate: the sea around an island, as on its page, the same on any number of ranks."""

import os
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "cli"))

from barrio_case import MPIEXEC, SOURCE, Case, barrio, execute, some_ranks

TRIANGULATE = os.environ["BARRIO_TRIANGULATE"]


class Triangulate(Case):
    def test_it_prints_what_the_page_says(self) -> None:
        files = []
        for ranks in some_ranks(1, 2):
            file = self.folder / f"sea{ranks}.vtkhdf"
            outcome = execute([*MPIEXEC, "-n", str(ranks), TRIANGULATE, str(file)])
            self.assert_code(outcome, 0)
            line = outcome.out.strip()
            self.assertIn("audited", line)
            self.assertIn(line, (SOURCE / "docs" / "howto" / "triangulate.md").read_text())
            files.append(file.read_bytes())
        self.assertEqual(len(set(map(len, files))), 1)

    @unittest.skipUnless("BARRIO_PYTHON" in os.environ, "the package is not built")
    def test_the_python_program_makes_what_the_command_makes(self) -> None:
        package = {"PYTHONPATH": os.environ.get("BARRIO_PACKAGE", "")}
        program = SOURCE / "examples" / "16-triangulate" / "plate.py"
        plate = str(SOURCE / "data" / "plate.poly")
        words = [os.environ.get("BARRIO_PYTHON", ""), str(program), plate]
        python = execute(words, cwd=self.folder, environment=package)
        self.assert_code(python, 0)
        words = ["data/plate.poly", "--min-angle", "25", "--max-area", "0.01"]
        made = barrio("delaunay", *words, "-o", self.folder / "p.h5m", "--json", cwd=SOURCE)
        first, second = python.out.splitlines()
        self.assertEqual(first, f"{made.json()['triangles']} triangles, audited")
        read = barrio("info", self.folder / "plate.msh", "--json").json()
        self.assertIn(f"{read['entities']['triangles']} triangles in plate.msh", second)

    def test_the_sea_around_an_island(self) -> None:
        island = SOURCE / "data" / "iceland.geojson"
        sea = self.folder / "sea.geojson"
        program = SOURCE / "examples" / "16-triangulate" / "sea.py"
        self.assert_code(execute([sys.executable, str(program), str(island), str(sea)]), 0)
        holes = [word for name in ("Iceland", "1", "2", "3", "4") for word in ("--hole", name)]
        bounds = ["--size", "40000", "--size", "marker,id=5,min_size=2000,growth=0.15"]
        mesh = self.folder / "sea.h5m"
        made = barrio("delaunay", sea, *holes, *bounds, "-o", mesh, "--json")
        if "not in this build" in made.err:
            self.skipTest("barrio is built without PROJ")
        self.assert_code(made, 0)
        # the ellipse of 32 by 12 degrees at 65 degrees north, less Iceland's 103 000 square kilometres
        area = barrio("delaunay", "--audit", mesh, sea, *holes, *bounds, "--json")
        self.assert_code(area, 0)
        self.assertAlmostEqual(area.json()["audit"]["area"] / 1.48e12, 1, delta=0.02)
        found = barrio("info", mesh, "--json").json()
        self.assertIn(
            "about 27 000 triangles", (SOURCE / "docs" / "howto" / "coast.md").read_text()
        )
        self.assertAlmostEqual(found["entities"]["triangles"] / 27000, 1, delta=0.02)


if __name__ == "__main__":
    unittest.main()
