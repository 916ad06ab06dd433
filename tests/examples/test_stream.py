"""examples/12-stream: files written layer by layer, also large ones, have the right contents by h5py and by VTK."""

import os
import re
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "cli"))

from barrio_case import MPIEXEC, Case, barrio, execute, some_ranks

try:
    import h5py
    import numpy as np
    import vtk
    from vtk.util.numpy_support import vtk_to_numpy
except ImportError:
    vtk = None

STREAM = os.environ["BARRIO_STREAM"]
GIB = 1 << 30
MAX_MIB = 256


class Reads(Case):
    """Checks of both sizes."""

    def write(self, ranks: int, n: int, path: Path) -> float:
        """Run the example. @return the max memory of a rank, in MiB"""
        outcome = execute([*MPIEXEC, "-n", str(ranks), STREAM, str(n), str(path)])
        self.assert_code(outcome, 0)
        found = re.fullmatch(r"at most (\d+) MiB on a rank\n", outcome.out)
        assert found, str(outcome)
        return float(found[1])

    def expect_h5m(self, path: Path, n: int) -> None:
        """Check the file layer by layer: it may be larger than memory."""
        plane = (n + 1) ** 2
        i, j = np.meshgrid(np.arange(n), np.arange(n))
        low = (i + (n + 1) * j).ravel()
        corners = np.array([0, 1, n + 2, n + 1])
        corners = np.concatenate([corners, corners + plane])
        jj, ii = np.meshgrid(np.arange(n + 1), np.arange(n + 1), indexing="ij")
        with h5py.File(path) as file:
            x = file["tstt/nodes/coordinates"]
            hexes = file["tstt/elements/Hex8/connectivity"]
            density = file["tstt/elements/Hex8/tags/density"]
            self.assertEqual(x.shape, (plane * (n + 1), 3))
            self.assertEqual(hexes.shape, (n**3, 8))
            self.assertEqual(density.shape, (n**3,))
            for k in range(n):
                rows = slice(n * n * k, n * n * (k + 1))
                expected = (1 + plane * k + low)[:, None] + corners
                self.assertTrue(np.array_equal(hexes[rows], expected), f"layer {k}")
                self.assertTrue(np.array_equal(density[rows], np.arange(rows.start, rows.stop)))
            for k in range(n + 1):
                found = x[plane * k : plane * (k + 1)]
                expected = np.stack([ii.ravel(), jj.ravel(), np.full(plane, k)], axis=1) * (1 / n)
                self.assertTrue(np.array_equal(found, expected), f"plane {k}")

    def expect_vtkhdf(self, path: Path, n: int) -> None:
        reader = vtk.vtkHDFReader()
        reader.SetFileName(str(path))
        reader.Update()
        data = reader.GetOutputDataObject(0)
        pieces = (
            [data.GetPartition(p) for p in range(data.GetNumberOfPartitions())]
            if isinstance(data, vtk.vtkPartitionedDataSet)
            else [data]
        )
        self.assertEqual(sum(piece.GetNumberOfCells() for piece in pieces), n**3)
        seen = 0
        for piece in pieces:
            density = vtk_to_numpy(piece.GetCellData().GetArray("density")).astype(np.int64)
            self.assertTrue(np.array_equal(density, np.arange(seen, seen + len(density))))
            seen += len(density)
            points = vtk_to_numpy(piece.GetPoints().GetData())
            nodes = vtk_to_numpy(piece.GetCells().GetConnectivityArray()).reshape(-1, 8)
            low = np.stack([density % n, density // n % n, density // n**2], axis=1)
            for corner, step in ((0, (0, 0, 0)), (3, (0, 1, 0)), (6, (1, 1, 1))):
                self.assertTrue(np.array_equal(points[nodes[:, corner]], (low + step) * (1 / n)))
            self.assertEqual(piece.GetCellType(0), vtk.VTK_HEXAHEDRON)


@unittest.skipIf(vtk is None, "needs h5py and vtk")
class Stream(Reads):
    def test_any_ranks_write_the_same_file(self) -> None:
        n = 9
        for suffix, expect in (("h5m", self.expect_h5m), ("vtkhdf", self.expect_vtkhdf)):
            first = b""
            for ranks in some_ranks(1, 2, 3, 4):
                path = self.folder / f"block.{suffix}"
                self.write(ranks, n, path)
                first = first or path.read_bytes()
                self.assertTrue(path.read_bytes() == first, f"{suffix} of {ranks} ranks")
            expect(path, n)
        outcome = barrio("info", self.folder / "block.h5m")
        self.assert_code(outcome, 0)
        self.assertRegex(outcome.out, r"hexes +729\b")
        self.assertRegex(outcome.out, r"inverted +0\b")


@unittest.skipIf(vtk is None, "needs h5py and vtk")
class Large(Reads):
    def test_h5m(self) -> None:
        self.check("h5m", 356, self.expect_h5m)

    def test_vtkhdf(self) -> None:
        self.check("vtkhdf", 330, self.expect_vtkhdf)

    def check(self, suffix: str, n: int, expect) -> None:
        path = self.folder / f"block.{suffix}"
        peak = self.write(2, n, path)
        size = path.stat().st_size
        print(f"{suffix}: {size / GIB:.2f} GiB, at most {peak:.0f} MiB on a rank", flush=True)
        self.assertGreaterEqual(size, 4 * GIB)
        self.assertLessEqual(peak, MAX_MIB)
        expect(path, n)
        path.unlink()


if __name__ == "__main__":
    unittest.main()
