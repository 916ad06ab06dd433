from __future__ import annotations

import gc
from pathlib import Path

import h5py
import numpy as np
import pytest
from mpi4py import MPI

import barrio
from barrio import Dim, Pieces


def test_inspect(wing: Path) -> None:
    what = barrio.inspect(wing)
    assert what["vertices"] > 0
    assert what["entities"]["tet"] > 0 if "tet" in what["entities"] else what["entities"]
    assert set(what) >= {"format", "file_bytes", "vertices", "entities", "box", "quality"}
    assert len(what["box"]["low"]) == 3
    assert barrio.inspect(wing, with_quality=False)["vertices"] == what["vertices"]


def test_degenerate_cells_are_reduced_or_kept(comm: MPI.Comm, folder: Path) -> None:
    path = folder / "fold.vtk"
    if comm.rank == 0:
        path.write_text(
            "# vtk DataFile Version 3.0\nfold\nASCII\nDATASET UNSTRUCTURED_GRID\n"
            "POINTS 5 double\n0 0 0 1 0 0 1 1 0 0 1 0 2 0 0\n"
            "CELLS 2 10\n4 0 1 2 3\n4 1 4 2 2\nCELL_TYPES 2\n9 9\n"
        )
    comm.Barrier()
    reduced = barrio.read(comm, path)
    kept = barrio.read(comm, path, degenerate="keep")
    assert reduced.n_global(Dim.face) == kept.n_global(Dim.face) == 2
    assert reduced.checksum() != kept.checksum()
    with pytest.raises(barrio.UsageError, match="'drop' is not known"):
        barrio.read(comm, path, degenerate="drop")


def test_write(comm: MPI.Comm, box: barrio.Mesh, folder: Path) -> None:
    field = box.add_field("id", Dim.vertex, dtype=np.int64)
    field.values[:] = box.global_ids(Dim.vertex)
    box.add_field("three", Dim.volume, n_components=3).values[:] = [1, 2, 3]
    barrio.write(box, folder / "box.vtkhdf")
    comm.Barrier()
    with h5py.File(folder / "box.vtkhdf", "r") as file:
        root = file["VTKHDF"]
        assert root["NumberOfCells"][:].sum() == 4 * 3 * 2
        assert len(root["NumberOfCells"]) == box.n_parts
        np.testing.assert_array_equal(
            np.unique(root["PointData/id"]), np.arange(box.n_global(Dim.vertex))
        )
        assert root["CellData/three"].shape == (24, 3)


def test_checkpoint(comm: MPI.Comm, box: barrio.Mesh, folder: Path) -> None:
    for dim in (Dim.vertex, Dim.volume):
        field = box.add_field("heat", dim, n_components=2)
        field.values[:] = np.stack([box.global_ids(dim), -box.global_ids(dim)], axis=1) / 3.0
    box = box.migrate(np.full(box.n_owned(Dim.volume), comm.size - 1, np.int32))
    barrio.write(box, folder / "box.h5m")
    mesh = barrio.read(comm, folder / "box.h5m", ghost_layers=1)
    assert mesh.checksum() == box.checksum()
    for dim in (Dim.vertex, Dim.volume):
        ids, values = mesh.tag("heat").values(dim)
        heat = mesh.add_field("heat", dim, n_components=2)
        heat.values[ids] = values
        expected = mesh.global_ids(dim) / 3.0
        np.testing.assert_array_equal(heat.values, np.stack([expected, -expected], axis=1))


def test_time_series(comm: MPI.Comm, box: barrio.Mesh, folder: Path) -> None:
    field = box.add_field("t", Dim.vertex)
    path = folder / "series.vtkhdf"
    with barrio.VtkhdfWriter(box, path, fields=["t"], steps=True) as writer:
        for step in range(5):
            field.values[:] = step
            writer.write_step(0.5 * step)
        assert not path.exists()
    comm.Barrier()
    with h5py.File(path, "r") as file:
        steps = file["VTKHDF/Steps"]
        assert steps.attrs["NSteps"] == 5
        np.testing.assert_array_equal(steps["Values"], [0, 0.5, 1, 1.5, 2])
        n_points = file["VTKHDF/NumberOfPoints"][:].sum()
        values = file["VTKHDF/PointData/t"][:].reshape(5, n_points)
        assert (values == np.arange(5)[:, None]).all()
    writer.close()  # no effect again
    with pytest.raises(barrio.UsageError, match="is closed already"):
        writer.write_step(3.0)


def test_vtk_reads_all_of_a_series_whose_pieces_change(comm: MPI.Comm, folder: Path) -> None:
    """First one piece, later one for each rank, read by one reader as ParaView does."""
    vtk = pytest.importorskip("vtk")
    n = 7
    mine = np.arange(n if comm.rank == 0 else 0)
    places = np.arange(n + 1 if comm.rank == 0 else 0)
    rows = [np.column_stack([places, np.full_like(places, y), 0 * places]) for y in (0, 1)]
    mesh = barrio.Mesh(
        comm,
        np.concatenate(rows).astype(float),
        {"quad": np.column_stack([mine, mine + 1, mine + n + 2, mine + n + 1])},
        parts={"quad": 0 * mine},
        n_parts=1,
    )
    path = folder / "pieces.vtkhdf"
    with barrio.VtkhdfWriter(mesh, path, steps=True) as writer:
        writer.write_step(0.0)
        spread = mesh.migrate(
            np.asarray(mesh.global_ids(Dim.face)[: mesh.n_owned(Dim.face)]) % comm.size
        )
        writer.write_step(1.0, spread)
    comm.Barrier()
    reader = vtk.vtkHDFReader()
    reader.SetFileName(str(path))
    reader.UpdateInformation()
    for time in (0.0, 1.0):
        reader.UpdateTimeStep(time)
        assert reader.GetOutputDataObject(0).GetNumberOfCells() == n


def test_distribution_can_be_shown(comm: MPI.Comm, box: barrio.Mesh, folder: Path) -> None:
    path = folder / "ranks.vtkhdf"
    with barrio.VtkhdfWriter(box, path, pieces=Pieces.ranks_with_ghosts):
        pass
    comm.Barrier()
    with h5py.File(path, "r") as file:
        assert len(file["VTKHDF/NumberOfCells"]) == comm.size
        assert (file["VTKHDF/CellData/vtkGhostType"][:] == 0).sum() == 24


def test_an_exception_discards_the_file(comm: MPI.Comm, box: barrio.Mesh, folder: Path) -> None:
    box.add_field("t", Dim.vertex)
    path = folder / "series.vtkhdf"
    if comm.rank == 0:
        path.write_text("the old file")
    comm.Barrier()
    with (
        pytest.raises(ZeroDivisionError),
        barrio.VtkhdfWriter(box, path, fields=["t"], steps=True) as writer,
    ):
        writer.write_step(0.0)
        _ = 1 / 0
    comm.Barrier()
    assert [one.name for one in folder.iterdir()] == ["series.vtkhdf"]
    assert path.read_text() == "the old file"
    with pytest.raises(barrio.UsageError, match="is closed already"), writer:
        pass
    barrio.write(box, path)  # the mesh and its communicator still work


def test_one_rank_may_fail_alone(comm: MPI.Comm, box: barrio.Mesh, folder: Path) -> None:
    """Discarding waits for nobody."""
    writer = barrio.VtkhdfWriter(box, folder / "a.vtkhdf")
    if comm.rank == comm.size - 1:
        del writer
        gc.collect()
    comm.Barrier()
    if comm.rank < comm.size - 1:
        del writer
        gc.collect()
    comm.Barrier()
    assert list(folder.iterdir()) == []


def test_wrong_use(comm: MPI.Comm, box: barrio.Mesh, folder: Path) -> None:
    box.add_field("temperature", Dim.vertex)
    with pytest.raises(barrio.UsageError, match=r"Did you mean 'temperature'\?"):
        barrio.VtkhdfWriter(box, folder / "a.vtkhdf", fields=["tmperature"])
    with (
        pytest.raises(barrio.UsageError, match="steps=True"),
        barrio.VtkhdfWriter(box, folder / "a.vtkhdf", fields=["temperature"]) as writer,
    ):
        writer.write_step(0.0)
    with pytest.raises(barrio.FailedError, match="cannot be written"):
        barrio.write(box, folder / "none" / "a.vtkhdf")
    comm.Barrier()
    assert list(folder.iterdir()) == []
