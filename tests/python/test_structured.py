from __future__ import annotations

from pathlib import Path

import netCDF4
import numpy as np
import pytest
from mpi4py import MPI

import barrio
from barrio import Dim

DECOMPOSITIONS = ("alljorkori", "alljkbal", "sqij", "sqjk", "sqijk")


def places(ranges: tuple[range, range, range]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the indices i, j, k of a box, each in the shape of an array on it."""
    k, j, i = np.meshgrid(
        *(np.array(along, dtype=np.int64) for along in reversed(ranges)), indexing="ij"
    )
    return i, j, k


@pytest.mark.parametrize("decomposition", DECOMPOSITIONS)
@pytest.mark.parametrize("periodic", [(False, False, False), (True, False, True)])
def test_ids_and_ghosts(
    comm: MPI.Comm, decomposition: str, periodic: tuple[bool, bool, bool]
) -> None:
    n = (9, 10, 8)
    mesh = barrio.StructuredMesh(
        comm, n, periodic=periodic, decomposition=decomposition, ghost_layers=1
    )
    assert (mesh.n, mesh.periodic, mesh.decomposition) == (list(n), list(periodic), decomposition)
    mesh.validate()
    i, j, k = places(mesh.local_cells)
    expected = ((k % n[2]) * n[1] + j % n[1]) * n[0] + i % n[0]
    assert mesh.cell_ids().shape == mesh.cell_shape
    np.testing.assert_array_equal(mesh.cell_ids(), expected)
    own = mesh.cell_ids()[mesh.inside]
    assert own.shape == tuple(len(along) for along in reversed(mesh.own_cells))
    all_ids = np.concatenate(comm.allgather(own.ravel()))
    np.testing.assert_array_equal(np.sort(all_ids), np.arange(np.prod(n)))

    values = np.full((*mesh.cell_shape, 2), -1.0)
    values[mesh.inside] = np.stack([own, 10.0 * own], axis=-1)
    mesh.exchange(values)
    np.testing.assert_array_equal(values, np.stack([expected, 10.0 * expected], axis=-1))
    for dtype in (np.float32, np.int32, np.int64):
        numbers = np.full(mesh.cell_shape, -1, dtype=dtype)
        numbers[mesh.inside] = own
        mesh.exchange(numbers)
        np.testing.assert_array_equal(numbers, expected.astype(dtype))


def test_vertices_have_one_owner(comm: MPI.Comm) -> None:
    mesh = barrio.StructuredMesh(comm, (4, 5, 6), low=(0, 0, 1), high=(4, 10, 2))
    ids, owners = mesh.vertex_ids(), mesh.vertex_owners()
    assert ids.shape == owners.shape == mesh.vertex_shape
    owner_of: dict[int, int] = {}
    n_sharers: dict[int, int] = {}
    for some in comm.allgather(
        list(zip(ids.ravel().tolist(), owners.ravel().tolist(), strict=True))
    ):
        for vertex, owner in some:
            assert owner_of.setdefault(vertex, owner) == owner
            n_sharers[vertex] = n_sharers.get(vertex, 0) + 1
    assert len(owner_of) == 5 * 6 * 7
    n_shared = sum(n_sharers[vertex] > 1 for vertex in ids.ravel().tolist())
    assert mesh.n_shared_vertices() == n_shared
    i, j, k = places(mesh.own_vertices)
    np.testing.assert_allclose(mesh.coordinates(), np.stack([i, 2.0 * j, 1 + k / 6], axis=-1))
    assert comm.rank not in mesh.neighbours


def test_uneven_axes_and_an_unstructured_copy(comm: MPI.Comm) -> None:
    along = [[0.0, 1.0, 4.0], [], [3.0, 2.0, 0.0, -1.0]]
    mesh = barrio.StructuredMesh(comm, (2, 2, 3), along=along)
    i, j, k = places(mesh.own_vertices)
    x = np.stack([np.array(along[0])[i], j / 2, np.array(along[2])[k]], axis=-1)
    np.testing.assert_allclose(mesh.coordinates(), x)
    copy = mesh.to_mesh(ghost_layers=1)
    copy.validate()
    assert (copy.n_global(Dim.vertex), copy.n_global(Dim.volume)) == (36, 12)
    where = {v: tuple(x) for v, x in zip(mesh.vertex_ids().ravel(), x.reshape(-1, 3), strict=True)}
    for vertex, place in zip(copy.global_ids(Dim.vertex), copy.coordinates, strict=True):
        if vertex in where:
            assert where[vertex] == tuple(place)


def test_arrays_of_other_shapes_are_refused(comm: MPI.Comm) -> None:
    mesh = barrio.StructuredMesh(comm, (4, 4, 4), ghost_layers=1)
    with pytest.raises(barrio.UsageError, match="values: have the shape"):
        mesh.exchange(np.zeros(7))
    with pytest.raises(TypeError):
        mesh.exchange(np.zeros((*mesh.cell_shape, 2))[..., 0])  # not contiguous: would be a copy
    with pytest.raises(barrio.UsageError, match="sqij"):
        barrio.StructuredMesh(comm, decomposition="sqji")
    with pytest.raises(barrio.UsageError, match="at least one cell"):
        barrio.StructuredMesh(comm, (4, 0, 4))
    round_about = barrio.StructuredMesh(comm, (4, 4, 4), periodic=(True, False, False))
    with pytest.raises(barrio.UsageError, match="periodic"):
        round_about.to_mesh()


def test_a_climate_grid(comm: MPI.Comm, folder: Path) -> None:
    path = folder / "grid.nc"
    rng = np.random.default_rng(7)
    temperature = rng.random((3, 4, 8))
    pressure = rng.random((4, 8))
    if comm.rank == 0:
        with netCDF4.Dataset(path, "w") as file:
            for name, values, units in (
                ("lon", np.arange(8) * 45.0, "degrees_east"),
                ("lat", [-60.0, -20.0, 20.0, 60.0], "degrees_north"),
                ("lev", [1.0, 2.0, 4.0], "km"),
            ):
                file.createDimension(name, len(values))
                axis = file.createVariable(name, "f8", (name,))
                axis[:] = values
                axis.units = units
            file.createVariable("T", "f8", ("lev", "lat", "lon"))[:] = temperature
            file.createVariable("PS", "f8", ("lat", "lon"))[:] = pressure
    comm.Barrier()
    mesh, fields = barrio.read_structured(comm, path, ghost_layers=1)
    assert mesh.n == [8, 3, 2]
    assert mesh.periodic == [True, False, False]
    assert sorted(fields) == ["PS", "T"]
    i, j, k = places(mesh.own_vertices)
    np.testing.assert_array_equal(fields["T"], temperature[k, j, i % 8])
    np.testing.assert_array_equal(fields["PS"], pressure[j, i % 8])
    _, some = barrio.read_structured(comm, path, fields=["T"])
    assert list(some) == ["T"]
    with pytest.raises(barrio.UsageError, match="no field 'U'"):
        barrio.read_structured(comm, path, fields=["U"])


def test_join(comm: MPI.Comm, folder: Path) -> None:
    for name, low, high in (("a", (0, 0, 0), (1, 1, 1)), ("b", (1, 0, 0), (2, 1, 1))):
        barrio.write(barrio.box(comm, (3, 4, 5), low=low, high=high), folder / f"{name}.h5m")
    pieces = [folder / "a.h5m", folder / "b.h5m"]
    mesh, report = barrio.join(comm, pieces, ghost_layers=1)
    mesh.validate()
    assert mesh.n_global(Dim.volume) == 2 * 60
    assert mesh.n_global(Dim.vertex) == 7 * 5 * 6 == report["vertices"]
    (joint,) = report["joints"]
    assert (joint["a"], joint["b"], joint["matched"], joint["unmatched"]) == (0, 1, 60, 0)
    apart, report = barrio.join(
        comm, [*pieces, folder / "a.h5m"], joints=[(0, 1, 0.0)], tolerance=1e-9
    )
    assert apart.n_global(Dim.volume) == 180
    with pytest.raises(barrio.UsageError):
        barrio.join(comm, pieces, joints=[(0, 9, 1.0)])
    with pytest.raises(barrio.Error, match="nowhere"):
        barrio.join(comm, [folder / "nowhere.h5m"])


def test_values_of_other_types_are_named(comm: MPI.Comm) -> None:
    for theirs, components in ((np.int64, 1), (np.float32, 1), (np.float64, 2)):
        mesh = barrio.StructuredMesh(
            comm, (8, 4 * comm.size, 8), decomposition="alljorkori", ghost_layers=1
        )
        shape = (
            mesh.cell_shape if components == 1 or comm.rank == 0 else (*mesh.cell_shape, components)
        )
        values = np.full(shape, 7, dtype=np.float64 if comm.rank == 0 else theirs)
        try:
            mesh.exchange(values)
        except barrio.UsageError as error:
            assert "float64" in str(error)
            assert (values == 7).all()
        else:
            assert comm.size == 1 or comm.rank not in (0, 1)
