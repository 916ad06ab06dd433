"""amr: a simulation that VTK reads has the right mass at each time, and the right levels."""

import os
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "cli"))

from barrio_case import MPIEXEC, Case, execute

try:
    import numpy as np
    from vtk.util.numpy_support import vtk_to_numpy
    from vtk_steps import steps_of
except ImportError:
    np = None

WRITE_FLOW = os.environ["BARRIO_WRITE_FLOW"]
HIDDEN = 8  # vtkDataSetAttributes::REFINEDCELL


@unittest.skipIf(np is None, "needs vtk")
class SimulationFile(Case):
    def visible(self, data):
        """Yield the volume and arrays of the cells of each box that no finer ones cover."""
        for level in range(data.GetNumberOfLevels()):
            for b in range(data.GetNumberOfBlocks(level)):
                image = data.GetDataSetAsImageData(level, b)
                arrays = image.GetCellData()
                shown = vtk_to_numpy(arrays.GetArray("vtkGhostType")) & HIDDEN == 0
                yield (
                    level,
                    float(np.prod(image.GetSpacing())),
                    {
                        name: vtk_to_numpy(arrays.GetArray(name))[shown]
                        for name in ("density", "velocity", "pressure")
                    },
                )

    def check(self, dimension: int, ranks: int, thickness: float) -> None:
        path = self.folder / f"flow_{dimension}_{ranks}.vtkhdf"
        done = execute([*MPIEXEC, "-n", str(ranks), WRITE_FLOW, str(path), str(dimension)])
        self.assert_code(done, 0)
        wanted = [[float(word) for word in line.split()] for line in done.out.splitlines()]
        steps = list(steps_of(path))
        self.assertEqual(len(steps), 3)
        for (time, data), (wanted_time, wanted_mass) in zip(steps, wanted, strict=True):
            self.assertEqual(time, wanted_time)
            mass = volume = 0.0
            levels = set()
            for level, cell, arrays in self.visible(data):
                mass += cell * float(np.sum(arrays["density"]))
                volume += cell * len(arrays["density"])
                levels.add(level)
                self.assertEqual(arrays["velocity"].shape[1], 3)
                self.assertTrue(np.all(arrays["pressure"] > 0))
            self.assertEqual(levels, {0, 1, 2})
            self.assertAlmostEqual(volume, thickness, places=12)
            self.assertAlmostEqual(mass, wanted_mass * thickness, places=12)

    def test_mass_of_a_cube(self) -> None:
        for ranks in (1, 3):
            self.check(3, ranks, 1.0)

    def test_mass_of_a_square_one_coarse_cell_thick(self) -> None:
        self.check(2, 2, 1 / 32)


if __name__ == "__main__":
    unittest.main()
