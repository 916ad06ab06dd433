"""examples/13-follow on 1 to 3 ranks: the same mesh and film, fine where the temperature changes, fields transferred."""

import os
import re
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "cli"))

from barrio_case import MPIEXEC, SOURCE, Case, barrio, execute, some_ranks

try:
    import numpy as np
    import vtk
    from vtk.util.numpy_support import vtk_to_numpy
except ImportError:
    vtk = None

FOLLOW = os.environ["BARRIO_FOLLOW"]
PYTHON = os.environ.get("BARRIO_PYTHON", "")  # empty: barrio is built without its package
PACKAGE = os.environ.get("BARRIO_PACKAGE", "")
SAYS = re.compile(
    r"first mesh: mean ratio 0\.\d\d at least\n"
    r"\d+ cells, \d+ vertices, checksum [0-9a-f]{16}; carried over to 0\.\d\d\n"
)


def pieces_of(path: Path, step: int) -> list:
    reader = vtk.vtkHDFReader()
    reader.SetFileName(str(path))
    reader.UpdateInformation()
    reader.SetStep(step)
    reader.Update()
    data = reader.GetOutputDataObject(0)
    if not isinstance(data, vtk.vtkPartitionedDataSet):
        return [data]
    return [data.GetPartition(p) for p in range(data.GetNumberOfPartitions())]


class Follow(Case):
    @unittest.skipUnless(PYTHON, "barrio is built without its Python package")
    def test_in_python(self) -> None:
        script = SOURCE / "examples" / "13-follow" / "front.py"
        lines = set()
        for ranks in some_ranks(1, 3):
            command = [*MPIEXEC, "-n", str(ranks), PYTHON, "-m", "mpi4py", str(script)]
            outcome = execute(command, cwd=self.folder, environment={"PYTHONPATH": PACKAGE})
            self.assert_code(outcome, 0)
            self.assertRegex(outcome.out, r"^\d+ cells, mean ratio at least 0\.\d\d\n$")
            self.assertTrue((self.folder / "front.vtkhdf").exists())
            lines.add(outcome.out)
        self.assertEqual(len(lines), 1, lines)

    def test_the_same_mesh_on_all_ranks(self) -> None:
        lines = set()
        for ranks in some_ranks(1, 2, 3):
            path = self.folder / f"film{ranks}.vtkhdf"
            state = self.folder / f"state{ranks}.h5m"
            outcome = execute([*MPIEXEC, "-n", str(ranks), FOLLOW, str(path), str(state)])
            self.assert_code(outcome, 0)
            self.assertRegex(outcome.out, SAYS)
            lines.add(outcome.out)
            if vtk is not None:
                self.expect_fine_at_front(path, 3, 0.2 + 0.15 * 3)
        self.assertEqual(len(lines), 1, lines)
        for wanted in (
            ("--size-field", "size", "--min-size", 0.06, "--growth", 0.4),
            (
                "--error-field",
                "error",
                "--target-error",
                0.25,
                "--error-order",
                1,
                "--min-size",
                0.06,
            ),
        ):
            outcome = barrio("adapt", state, *wanted, "-o", self.folder / "next.vtkhdf", ranks=2)
            self.assert_code(outcome, 0)

    def expect_fine_at_front(self, path: Path, step: int, radius: float) -> None:
        near, far = [], []
        for piece in pieces_of(path, step):
            points = vtk_to_numpy(piece.GetPoints().GetData())
            nodes = vtk_to_numpy(piece.GetCells().GetConnectivityArray()).reshape(-1, 4)
            corners = points[nodes]
            volumes = np.abs(
                np.einsum(
                    "ij,ij->i",
                    corners[:, 1] - corners[:, 0],
                    np.cross(corners[:, 2] - corners[:, 0], corners[:, 3] - corners[:, 0]),
                )
            )
            off = np.abs(np.linalg.norm(corners.mean(axis=1) - [0, 0.5, 0.5], axis=1) - radius)
            near.append(volumes[off < 0.05])
            far.append(volumes[off > 0.4])
            heat = vtk_to_numpy(piece.GetPointData().GetArray("temperature"))
            self.assertTrue(((heat >= 0) & (heat <= 1)).all())
            inside = np.linalg.norm(points - [0, 0.5, 0.5], axis=1) < radius - 0.2
            self.assertTrue((heat[inside] > 0.9).all())
        self.assertLess(20 * np.concatenate(near).mean(), np.concatenate(far).mean())


if __name__ == "__main__":
    unittest.main()
