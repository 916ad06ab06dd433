"""examples/04-lattice: the same core on any rank count, each vertex once, in files that other programs read."""

import json
import math
import os
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "cli"))

from barrio_case import COMMAND, MPIEXEC, SOURCE, Case, Outcome, barrio, execute, some_ranks

LATTICE = os.environ["BARRIO_LATTICE"]
PYTHON = os.environ.get("BARRIO_PYTHON", "")
SMALL = ("--pins", 2, "--cells-per-pin", 4, "--layers", 2)  # 8 edges along a side

READ = """
import sys
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkIOHDF import vtkHDFReader
reader = vtkHDFReader()
reader.SetFileName(sys.argv[1])
reader.Update()
pieces = reader.GetOutputDataObject(0)
grids = [pieces.GetPartition(i) for i in range(pieces.GetNumberOfPartitions())]
material = [m for grid in grids for m in vtk_to_numpy(grid.GetCellData().GetArray("material"))]
print(sum(grid.GetNumberOfCells() for grid in grids), len(set(material)), min(material))
"""


class Lattice(Case):
    def lattice(self, ranks: int, *words: object) -> Outcome:
        return execute([*MPIEXEC, "-n", str(ranks), LATTICE, *map(str, words)])

    def core(self, ranks: int, *words: object) -> dict:
        outcome = self.lattice(ranks, *words)
        self.assert_code(outcome, 0)
        return outcome.json()

    def test_hexagons(self) -> None:
        out = self.folder / "core"
        found = [
            self.core(n, "--rings", 3, *SMALL, "-o", out) for n in some_ranks(1, 2, 3, 4, 7, 8)
        ]
        self.assertEqual(len({one["checksum"] for one in found}), 1)
        for one in found:
            # 19 hexagons of 3 x 8 x 8 quads; 30 of their 114 sides are on the boundary, the others form 42 pairs.
            self.assertEqual((one["assemblies"], one["joined_sides"]), (19, 42))
            self.assertEqual(one["cells"], 19 * 192 * 2)
            self.assertEqual(one["vertices_before"], 19 * 217 * 3)
            self.assertEqual(one["vertices"], (1 + 19 * 192 + 30 * 8 // 2) * 3)
            self.assertAlmostEqual(one["volume"], 19 * 1.5 * math.sqrt(3) * 2, places=9)
        info = barrio("info", f"{out}.h5m", "--json").json()
        self.assertEqual(info["vertices"], found[0]["vertices"])
        self.assertEqual(info["entities"], {"hexes": found[0]["cells"]})
        self.assertEqual(info["sets"]["parts"], 19)
        # Rings 0, 1, 2 have kinds 0-2, 3-5, 6-8, three materials each.
        names = {item["name"] for item in info["named_sets"]}
        self.assertTrue({"fuel 1", "coolant 9", "absorber 6"} <= names, names)
        self.assertEqual(info["quality"]["inverted"], 0)

    def test_squares_in_vtk(self) -> None:
        out = self.folder / "core"
        found = [
            self.core(n, "--squares", 4, 3, "--kinds", 20, *SMALL, "-o", out) for n in (4, 1, 7)
        ]
        self.assertEqual(len({one["checksum"] for one in found}), 1)
        for one in found:
            self.assertEqual((one["assemblies"], one["joined_sides"]), (12, 17))
            self.assertEqual(one["vertices"], (4 * 8 + 1) * (3 * 8 + 1) * 3)
            self.assertAlmostEqual(one["volume"], 24, places=9)
        if PYTHON:
            cells, materials, least = execute([PYTHON, "-c", READ, f"{out}.vtkhdf"]).out.split()
            self.assertEqual(int(cells), found[0]["cells"])
            self.assertGreater(int(materials), 8)
            self.assertGreaterEqual(int(least), 10)

    def test_one_assembly_alone(self) -> None:
        one = self.core(2, "--rings", 1, *SMALL)
        self.assertEqual((one["assemblies"], one["joined_sides"]), (1, 0))
        self.assertEqual(one["vertices"], one["vertices_before"])

    def test_a_tolerance_that_joins_too_much_is_found_out(self) -> None:
        self.assert_error(
            self.lattice(2, "--rings", 2, *SMALL, "--tolerance", 0.2),
            4,
            "tolerance 0.2: is too wide",
        )

    def test_usage(self) -> None:
        self.assert_error(self.lattice(2, "--cells-per-pin", 5), 2, "5 is not even")
        self.assert_error(self.lattice(1, "--kinds", 21), 2, "--kinds")
        self.assert_error(self.lattice(1, "--squares", 3), 2, "--squares")

    def test_table(self) -> None:
        script = SOURCE / "examples" / "04-lattice" / "table.py"
        command = [COMMAND, "exec", LATTICE, "--rings", "2", *map(str, SMALL)]
        outcome = execute([sys.executable, str(script), "--ranks", "1", "3", "--", *command])
        self.assert_code(outcome, 0)
        document = json.loads(outcome.out)
        self.assertEqual([run["ranks"] for run in document["runs"]], [1, 3])
        self.assertIn("seconds for 11 and for 58 million hexes", outcome.err)


if __name__ == "__main__":
    unittest.main()
