"""files/overlapping_amr: VTK reads the written levels of boxes, on any number of ranks."""

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

WRITE_LEVELS = os.environ["BARRIO_WRITE_LEVELS"]
HIDDEN = 8  # vtkDataSetAttributes::REFINEDCELL


@unittest.skipIf(np is None, "needs vtk")
class OverlappingAmr(Case):
    def boxes(self, data):
        """Yield the level, low corner and shape of each image, and its arrays by name."""
        for level in range(data.GetNumberOfLevels()):
            for b in range(data.GetNumberOfBlocks(level)):
                image = data.GetDataSetAsImageData(level, b)
                spacing = np.array(image.GetSpacing())
                low = np.rint((np.array(image.GetOrigin()) - [1, 2, 3]) / spacing).astype(int)
                shape = np.array(image.GetDimensions()) - 1
                arrays = image.GetCellData()
                yield (
                    level,
                    low,
                    shape,
                    spacing,
                    {
                        arrays.GetArrayName(i): vtk_to_numpy(arrays.GetArray(i))
                        for i in range(arrays.GetNumberOfArrays())
                    },
                )

    def test_any_ranks_write_what_vtk_reads(self) -> None:
        for ranks in (1, 3, 4):
            path = self.folder / f"levels_{ranks}.vtkhdf"
            self.assert_code(execute([*MPIEXEC, "-n", str(ranks), WRITE_LEVELS, str(path)]), 0)
            seen = []
            for step, (time, data) in enumerate(steps_of(path)):
                self.assertEqual(data.GetClassName(), "vtkOverlappingAMR")
                self.assertEqual(time, 0.5 * step)
                cells = [0, 0, 0]
                hidden = [0, 0, 0]
                for level, low, shape, spacing, arrays in self.boxes(data):
                    self.assertEqual(list(spacing), [0.5 / 2**level, 0.5 / 2**level, 1 / 2**level])
                    k, j, i = np.meshgrid(*(np.arange(n) for n in shape[::-1]), indexing="ij")
                    expected = np.stack([i.ravel(), j.ravel(), k.ravel()], axis=1) + low
                    self.assertTrue(np.array_equal(arrays["place"], expected), f"level {level}")
                    self.assertTrue(np.all(arrays["number"] == level + 10 * step))
                    cells[level] += len(expected)
                    hidden[level] += int(np.sum(arrays["vtkGhostType"] == HIDDEN))
                seen.append((cells, hidden))
            self.assertEqual(
                seen,
                [
                    ([512, 0, 0], [0, 0, 0]),
                    ([512, 512, 0], [64, 0, 0]),
                    ([512, 512, 64], [64, 8, 0]),
                ],
            )


if __name__ == "__main__":
    unittest.main()
