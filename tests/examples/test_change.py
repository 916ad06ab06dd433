"""examples/11-change on 1 to 4 ranks, in C++ and Python: the tool leaves the same cells, and VTK reads each step."""

import os
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "cli"))

from barrio_case import MPIEXEC, Case, execute, some_ranks

try:
    import vtk
    from vtk.util.numpy_support import vtk_to_numpy
except ImportError:
    vtk = None

CHANGE = os.environ["BARRIO_CHANGE"]
SCRIPT = Path(os.environ["BARRIO_SOURCE"]) / "examples" / "11-change" / "change.py"
PYTHON = os.environ.get("BARRIO_PYTHON", "")
PACKAGE = os.environ.get("BARRIO_PACKAGE", "")


def left(last_step: int) -> set[int]:
    """Compute the cells out of the tool's reach up to a step, by arithmetic alone."""
    path = [(0.1 * step, 0.5, 1.0) for step in range(last_step + 1)]
    cells = set()
    for k in range(20):
        for j in range(20):
            for i in range(40):
                centre = (0.05 * (i + 0.5), 0.05 * (j + 0.5), 0.05 * (k + 0.5))
                nearest = min(
                    sum((a - b) ** 2 for a, b in zip(centre, at, strict=True)) for at in path
                )
                if nearest > 0.26**2:
                    cells.add(i + 40 * (j + 20 * k))
    return cells


class Change(Case):
    def test_the_same_is_left_on_all_ranks(self) -> None:
        cells = left(20)
        corners = {
            (i + di, j + dj, k + dk)
            for i, j, k in ((c % 40, c // 40 % 20, c // 800) for c in cells)
            for di in (0, 1)
            for dj in (0, 1)
            for dk in (0, 1)
        }
        expected = f"{len(cells)} of 16000 cells left, {len(corners)} vertices, heat {sum(cells)}\n"
        programs = [(CHANGE,), (PYTHON, SCRIPT)] if PYTHON else [(CHANGE,)]
        for ranks in some_ranks(1, 2, 3, 4):
            for program in programs:
                path = self.folder / "film.vtkhdf"
                outcome = execute(
                    [*MPIEXEC, "-n", str(ranks), *map(str, program), str(path)],
                    environment={"PYTHONPATH": PACKAGE},
                )
                self.assert_code(outcome, 0)
                self.assertEqual(outcome.out, expected)
                if vtk is not None:
                    self.expect_film(path, (0, 7, 20))

    def expect_film(self, path: Path, steps: tuple[int, ...]) -> None:
        reader = vtk.vtkHDFReader()
        reader.SetFileName(str(path))
        reader.UpdateInformation()
        key = vtk.vtkStreamingDemandDrivenPipeline.TIME_STEPS()
        self.assertEqual(reader.GetOutputInformation(0).Length(key), 21)
        for step in steps:
            reader.SetStep(step)
            reader.Modified()
            reader.Update()
            data = reader.GetOutputDataObject(0)
            pieces = (
                [data.GetPartition(p) for p in range(data.GetNumberOfPartitions())]
                if isinstance(data, vtk.vtkPartitionedDataSet)
                else [data]
            )
            seen = {}
            for piece in pieces:
                heat = vtk_to_numpy(piece.GetCellData().GetArray("heat"))
                self.assertEqual(len(heat), piece.GetNumberOfCells())
                for c, number in enumerate(heat):
                    low = piece.GetCell(c).GetBounds()[::2]
                    seen[int(number)] = tuple(round(20 * x) for x in low)
            self.assertEqual(set(seen), left(step), f"step {step}")
            for number, low in seen.items():
                self.assertEqual(low, (number % 40, number // 40 % 20, number // 800))


if __name__ == "__main__":
    unittest.main()
