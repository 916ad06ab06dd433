from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
import pytest
from mpi4py import MPI

import barrio
from barrio import Dim


def write_tagged(path: Path) -> None:
    """Write a row of ten hexes with tags, from the layout of .h5m alone."""
    n = 10
    with h5py.File(path, "w") as file:
        root = file.create_group("tstt")
        names = {"Hex": 9}
        kind = h5py.enum_dtype(names, basetype="u1")
        root["elemtypes"] = np.dtype(kind)
        points = [(i, j, k) for i in range(n + 1) for k in (0, 1) for j in (0, 1)]
        x = root.create_dataset("nodes/coordinates", data=np.array(points, dtype="f8"))
        x.attrs["start_id"] = 1
        corner = np.array([0, 4, 5, 1, 2, 6, 7, 3])
        cells = np.array([4 * i + corner + 1 for i in range(n)], dtype="i8")
        group = root.create_group("elements/Hex8")
        group.attrs.create("element_type", 9, dtype=kind)
        connectivity = group.create_dataset("connectivity", data=cells)
        connectivity.attrs["start_id"] = len(points) + 1
        for name, dtype in (("load", "f8"), ("mark", "i4")):
            tag = root.create_group(f"tags/{name}")
            tag["type"] = np.dtype(dtype)
            tag.attrs["class"] = np.int32(2)
        root["nodes/tags/load"] = np.array([10.0 * p[0] for p in points])
        mark = root["tags/mark"]
        mark.attrs["default"] = np.int32(-7)
        mark["id_list"] = len(points) + 1 + np.array([2, 5, 7])
        mark["values"] = np.array([20, 50, 70], dtype="i4")


@pytest.fixture
def tagged(comm: MPI.Comm, folder: Path) -> Path:
    path = folder / "tagged.h5m"
    if comm.rank == 0:
        write_tagged(path)
    comm.barrier()
    return path


def test_tags_are_arrays(comm: MPI.Comm, tagged: Path) -> None:
    mesh = barrio.read(comm, tagged, ghost_layers=1)
    assert [tag.name for tag in mesh.tags] == ["load", "mark"]
    load = mesh.tag("load")
    assert (load.type, load.n_components, load.length_varies) == ("float64", 1, False)
    assert load.default is None
    ids, values = load.values(Dim.vertex)
    assert (ids == np.arange(mesh.n_local(Dim.vertex))).all()
    assert (values == 10.0 * mesh.coordinates[:, 0]).all()
    mark = mesh.tag("mark")
    assert list(mark.default) == [-7]
    ids, values = mark.values(Dim.volume)
    assert values.dtype == np.int32
    marked = dict(zip(mesh.global_ids(Dim.volume)[ids], values, strict=True))
    expected = {c: 10 * c for c in (2, 5, 7) if c in mesh.global_ids(Dim.volume)}
    assert marked == expected
    assert len(mark.values(Dim.vertex)[0]) == 0
    with pytest.raises(barrio.UsageError, match="Did you mean 'mark'"):
        mesh.tag("marc")


def test_migrate_takes_all_along(comm: MPI.Comm, tagged: Path) -> None:
    mesh = barrio.read(comm, tagged, ghost_layers=1)
    field = mesh.add_field("x", Dim.vertex, dtype="int64")
    owned = slice(0, mesh.n_owned(Dim.vertex))
    field.values[owned] = mesh.global_ids(Dim.vertex)[owned]
    before = mesh.global_ids(Dim.volume)  # of the old mesh
    shown = before.copy()

    ids = mesh.global_ids(Dim.volume)[: mesh.n_owned(Dim.volume)]
    to = ((ids + 1) % comm.size).astype(np.int32)
    moved = mesh.migrate(to)
    moved.validate()
    here = moved.global_ids(Dim.volume)[: moved.n_owned(Dim.volume)]
    assert set(here) == {c for c in range(10) if (c + 1) % comm.size == comm.rank}
    assert (moved.field("x", Dim.vertex).values == moved.global_ids(Dim.vertex)).all()
    assert (moved.tag("load").values(Dim.vertex)[1] == 10.0 * moved.coordinates[:, 0]).all()
    assert moved.checksum() == mesh.checksum()
    del mesh, field
    assert (before == shown).all()

    weights = np.where(here < 5, 9, 1).astype(np.int64)
    balanced = moved.migrate(moved.balanced_ranks(weights))
    balanced.validate()
    heavy = balanced.global_ids(Dim.volume)[: balanced.n_owned(Dim.volume)] < 5
    assert 9 * heavy.sum() + (~heavy).sum() <= 50 / comm.size + 2 * 9  # a cell or two
    with pytest.raises(barrio.UsageError, match="destinations"):
        moved.migrate(np.zeros(len(here) + 1, dtype=np.int32))


def test_ranks_and_weights_are_integers(comm: MPI.Comm) -> None:
    mesh = barrio.box(comm, n=(4, 3, 3))
    n = mesh.n_owned(Dim.volume)
    with pytest.raises(barrio.UsageError, match="to: must be integers, not float64"):
        mesh.migrate(np.full(n, 0.5))
    # On one rank only: all refuse.
    kind = np.float64 if comm.rank == comm.size - 1 else np.int32
    with pytest.raises(barrio.UsageError, match="to: must be integers, not float64"):
        mesh.migrate(np.zeros(n, dtype=kind))
    with pytest.raises(barrio.BadInputError, match="the value 4294967296 does not fit in int32"):
        mesh.migrate(np.full(n, 2**32))
    with pytest.raises(barrio.UsageError, match="weights: must be integers, not float64"):
        mesh.balanced_ranks(np.full(n, 1.5))
    with pytest.raises(barrio.UsageError, match="cells: must be integers, not float64"):
        barrio.Sides(mesh, Dim.face).skin(np.zeros(1))
    # Integers of any width, in a list or with gaps in memory.
    for to in (np.zeros(n, np.int64), [0] * n, np.zeros(2 * n, np.uint8)[::2]):
        assert mesh.migrate(to).checksum() == mesh.checksum()
    even = mesh.balanced_ranks(np.zeros(n, np.int64))  # weights of 0 count as 1 each
    assert (even == mesh.balanced_ranks()).all()


def test_sides_and_sharers(comm: MPI.Comm) -> None:
    mesh = barrio.box(comm, n=(4, 3, 3), ghost_layers=1)
    faces = barrio.Sides(mesh, Dim.face)
    assert faces.n_global == 5 * 9 + 4 * 4 * 3 + 4 * 3 * 4
    assert comm.allreduce(faces.n_owned) == faces.n_global
    assert len(faces.owners) == len(faces.global_ids) == faces.n_local
    offsets, sides = faces.of_cells
    assert (np.diff(offsets) == 6).all()
    assert len(sides) == 6 * mesh.n_local(Dim.volume)
    offsets, _ = faces.corners
    assert len(offsets) == faces.n_local + 1

    low = np.flatnonzero(mesh.coordinates[mesh.cells, 0].max(axis=1) <= 0.5).astype(np.int32)
    skin = faces.skin(low)
    owned = skin[faces.owners[skin] == comm.rank] if len(skin) else skin
    assert comm.allreduce(len(owned)) <= 2 * (9 + 2 * 3 + 2 * 3)
    everywhere = set().union(*comm.allgather(set(faces.global_ids[skin])))
    assert len(everywhere) == 2 * (9 + 2 * 3 + 2 * 3)

    shared = mesh.shared(Dim.vertex)
    offsets, ranks = mesh.sharers(Dim.vertex)
    assert len(offsets) == len(shared) + 1
    for dim in (Dim.vertex, Dim.volume):
        held, offsets, ranks, remote = mesh.remote_ids(dim)
        ids = comm.allgather(np.asarray(mesh.global_ids(dim)))
        holders = {i: [r for r in range(comm.size) if i in set(ids[r])] for i in ids[comm.rank]}
        assert len(held) == sum(len(ranks) > 1 for ranks in holders.values())
        for i, entity in enumerate(held):
            mine = slice(offsets[i], offsets[i + 1])
            assert list(ranks[mine]) == holders[ids[comm.rank][entity]]
            for rank, local in zip(ranks[mine], remote[mine], strict=True):
                assert ids[rank][local] == ids[comm.rank][entity]
    with pytest.raises(barrio.UsageError, match="is not one of"):
        faces.skin(np.array([mesh.n_local(Dim.volume)], dtype=np.int32))
    with pytest.raises(barrio.UsageError, match="is not one of"):  # on one rank only
        faces.skin(np.array([10**6] if comm.rank == comm.size - 1 else [], dtype=np.int32))
