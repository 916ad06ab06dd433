from __future__ import annotations

import gc
from pathlib import Path

import numpy as np
import pytest
from mpi4py import MPI

import barrio
from barrio import CellType, Dim, SetKind

# The same on any number of ranks, and in C++ (heat prints the checksum of its mesh).
WING_CHECKSUM = 0xBACCF1251A00FE90
BOX_CHECKSUM = 0xC789EC9E3C6D167C

MIXED = """$MeshFormat
4.1 0 8
$EndMeshFormat
$Entities
0 0 0 1
1 0 0 0 1 1 2 0 0
$EndEntities
$Nodes
1 9 1 9
3 1 0 9
1
2
3
4
5
6
7
8
9
0 0 0
1 0 0
1 1 0
0 1 0
0 0 1
1 0 1
1 1 1
0 1 1
0.5 0.5 2
$EndNodes
$Elements
2 2 1 2
3 1 5 1
1 1 2 3 4 5 6 7 8
3 1 7 1
2 5 6 7 8 9
$EndElements
"""


def test_counts_agree_over_ranks(comm: MPI.Comm, wing: Path) -> None:
    mesh = barrio.read(comm, wing, ghost_layers=1)
    assert mesh.cell_dim is Dim.volume
    assert mesh.ghost_layers == 1
    assert mesh.n_parts == comm.size
    for dim in (Dim.vertex, Dim.volume):
        assert comm.allreduce(mesh.n_owned(dim)) == mesh.n_global(dim)
        assert mesh.n_local(dim) == mesh.n_owned(dim) + mesh.n_ghost(dim)
        interior, fringe = mesh.interior(dim), mesh.fringe(dim)
        assert (interior.start, interior.stop) == (0, fringe.start)
        assert fringe.stop == mesh.n_owned(dim)
        owners = mesh.owners(dim)
        assert (owners[: mesh.n_owned(dim)] == comm.rank).all()
        assert (owners[mesh.n_owned(dim) :] != comm.rank).all()
        assert len(owners) == len(mesh.global_ids(dim)) == mesh.n_local(dim)
    assert mesh.memory_bytes > mesh.coordinates.nbytes + mesh.cells.nbytes
    assert comm.rank not in mesh.neighbours
    assert str(mesh.n_global(Dim.volume)) in repr(mesh)
    mesh.validate()


def test_checksum_is_the_same_on_any_number_of_ranks(comm: MPI.Comm, wing: Path) -> None:
    mesh = barrio.read(comm, wing, ghost_layers=1)
    assert f"{mesh.checksum():016x}" == f"{WING_CHECKSUM:016x}"
    box = barrio.box(comm, n=(5, 4, 3), tets=True, low=(-1, 0, 0), high=(1, 2, 3), parts=7)
    assert f"{box.checksum():016x}" == f"{BOX_CHECKSUM:016x}"


def test_box(comm: MPI.Comm) -> None:
    mesh = barrio.box(comm, (4, 3, 2), low=(-1, 0, 0), high=(3, 3, 3), parts=5, ghost_layers=1)
    assert mesh.n_global(Dim.vertex) == 5 * 4 * 3
    assert mesh.n_global(Dim.volume) == 4 * 3 * 2
    assert mesh.n_parts == 5
    assert sum(len(range(5)[parts]) for parts in comm.allgather(mesh.parts)) == 5
    assert comm.allreduce(mesh.coordinates[:, 0].min(initial=9), MPI.MIN) == -1
    assert comm.allreduce(mesh.coordinates.max(initial=-9), MPI.MAX) == 3
    assert barrio.box(comm, (1, 1, 1), tets=True).n_global(Dim.volume) == 6


def test_more_ranks_than_parts(comm: MPI.Comm) -> None:
    mesh = barrio.box(comm, n=(2, 1, 1), parts=1, ghost_layers=1)
    assert sorted(comm.allgather(mesh.n_local(Dim.volume))) == [0] * (comm.size - 1) + [2]
    assert mesh.coordinates.shape == (mesh.n_local(Dim.vertex), 3)
    assert len(mesh.cells) == len(mesh.cell_types) == len(mesh.cell_parts)
    field = mesh.add_field("f", Dim.vertex, n_components=3)
    assert field.values.shape == (mesh.n_local(Dim.vertex), 3)
    field.exchange()
    mesh.validate()


def test_cells(box: barrio.Mesh) -> None:
    assert box.cells.shape == (box.n_local(Dim.volume), 8)
    assert box.cells.dtype == np.int32
    assert (box.cell_types == CellType.hex).all()
    assert box.cell_types.shape == (box.n_local(Dim.volume),)
    # Every cell is a brick of the grid: its corners span one step along each axis.
    corners = box.coordinates[box.cells]
    spans = corners.max(axis=1) - corners.min(axis=1)
    np.testing.assert_allclose(spans, np.broadcast_to([1 / 4, 1 / 3, 1 / 2], spans.shape))
    assert set(box.cell_parts) <= set(range(4))
    assert box.connectivity(Dim.volume) is not None
    assert box.connectivity(Dim.face).shape == (box.n_local(Dim.face), 4)


def test_cells_of_several_types(comm: MPI.Comm, folder: Path) -> None:
    path = folder / "mixed.msh"
    if comm.rank == 0:
        path.write_text(MIXED)
    comm.Barrier()
    mesh = barrio.read(comm, path)
    n = mesh.n_local(Dim.volume)
    assert comm.allreduce(n) == 2
    offsets, nodes = mesh.cells  # on every rank, even if its cells have one type
    assert len(offsets) == n + 1 and offsets[0] == 0 and offsets[-1] == len(nodes)
    n_nodes = {CellType.hex: 8, CellType.pyramid: 5}
    assert list(np.diff(offsets)) == [n_nodes[CellType(t)] for t in mesh.cell_types]
    assert not offsets.flags.writeable and not nodes.flags.writeable
    faces = mesh.connectivity(Dim.face)
    assert isinstance(faces, np.ndarray) and len(faces) == 0


def test_sets(comm: MPI.Comm, box: barrio.Mesh) -> None:
    names = [(one.kind, one.name) for one in box.sets]
    assert names[0] == (SetKind.material, "box")
    assert {name for kind, name in names if kind is SetKind.neumann} == {
        side + sign for side in "xyz" for sign in "-+"
    }
    left = box.set(SetKind.neumann, "x-")
    assert left.id == 1 and left.name == "x-" and "x-" in repr(left)
    assert (box.coordinates[left.vertices, 0] == 0).all()
    faces = left.entities(Dim.face)
    assert (box.coordinates[box.connectivity(Dim.face)[faces]][..., 0] == 0).all()
    assert comm.allreduce(int((faces < box.n_owned(Dim.face)).sum())) == 3 * 2
    with pytest.raises(barrio.UsageError, match=r"Did you mean 'x-'\?|Did you mean 'x\+'\?"):
        box.set(SetKind.neumann, "x")
    with pytest.raises(barrio.UsageError, match="dimension 0"):
        left.entities(Dim.vertex)


TWINS = """$MeshFormat
2.2 0 8
$EndMeshFormat
$PhysicalNames
2
3 4 "twin"
3 6 "twin"
$EndPhysicalNames
$Nodes
5
1 0 0 0
2 1 0 0
3 0 1 0
4 0 0 1
5 1 1 1
$EndNodes
$Elements
2
1 4 2 4 1 1 2 3 4
2 4 2 6 2 2 3 4 5
$EndElements
"""


def test_sets_of_one_name_are_refused_with_their_ids(comm: MPI.Comm, folder: Path) -> None:
    path = folder / "twins.msh"
    if comm.rank == 0:
        path.write_text(TWINS)
    comm.Barrier()
    mesh = barrio.read(comm, path)
    with pytest.raises(
        barrio.UsageError, match="is the name of 2 sets of the mesh, with the ids 4, 6"
    ):
        mesh.set(SetKind.material, "twin")
    (one,) = (s for s in mesh.sets if s.kind is SetKind.material and s.id == 6)
    own = one.entities(Dim.volume) < mesh.n_owned(Dim.volume)
    assert comm.allreduce(int(own.sum())) == 1
    local = mesh.release()
    with pytest.raises(barrio.UsageError, match="is one of 2 of this kind and name"):
        local.members(SetKind.material, "twin", Dim.volume)


def test_sharing_as_tags(comm: MPI.Comm, box: barrio.Mesh) -> None:
    status, owner, sharers, interface = box.sharing_tags()
    for dim in (barrio.Dim.vertex, barrio.Dim.volume):
        ids, bits = status.values(dim)
        assert len(ids) == box.n_local(dim)
        owners = owner.values(dim)[1]
        assert ((bits & 1 == 0) == (owners == comm.rank)).all()
        _, offsets, ranks = sharers.values(dim)
        assert (np.diff(offsets) >= 2)[bits & 2 != 0].all()
        assert offsets[-1] == len(ranks)
        on, numbers = interface.values(dim)
        assert (on == ids[bits & 2 != 0]).all()
        assert (numbers >= 0).all()


def test_ghosts_of_some_sets(comm: MPI.Comm, wing: Path) -> None:
    all_ghosts = barrio.read(comm, wing, ghost_layers=1)
    none = barrio.read(comm, wing, ghost_layers=1, ghost_ranks=[0])
    assert none.n_ghost(barrio.Dim.volume) == 0
    assert comm.size == 1 or comm.allreduce(all_ghosts.n_ghost(barrio.Dim.volume)) > 0
    with pytest.raises(barrio.UsageError, match="there is no such set"):
        barrio.read(comm, wing, ghost_layers=1, ghost_sets=["no such set"])


def test_arrays_are_read_only_views(box: barrio.Mesh) -> None:
    left = box.set(SetKind.neumann, "x-")
    makers = {
        "coordinates": lambda: box.coordinates,
        "global_ids": lambda: box.global_ids(Dim.vertex),
        "owners": lambda: box.owners(Dim.volume),
        "cells": lambda: box.cells,
        "cell_types": lambda: box.cell_types,
        "cell_parts": lambda: box.cell_parts,
        "neighbours": lambda: box.neighbours,
        "vertices of a set": lambda: left.vertices,
        "entities of a set": lambda: left.entities(Dim.face),
    }
    compressed = {"owners", "vertices of a set", "entities of a set"}
    for name, make in makers.items():
        array = make()
        assert not array.flags.writeable, name
        assert not array.flags.owndata, name
        with pytest.raises(ValueError):
            array.flags.writeable = True
        with pytest.raises(ValueError):
            array[...] = 0
        if array.size > 0:
            assert np.shares_memory(array, make()) == (name not in compressed), name


def test_arrays_outlive_the_mesh(comm: MPI.Comm) -> None:
    mesh = barrio.box(comm, n=(6, 5, 4), parts=4)
    kept = [mesh.coordinates, mesh.cells, mesh.global_ids(Dim.vertex)]
    faces = mesh.sets[1].entities(Dim.face)
    before = [array.copy() for array in kept]
    faces_before = faces.copy()
    del mesh
    gc.collect()
    others = [barrio.box(comm, n=(6, 5, 4), parts=3) for _ in range(3)]  # reuses freed memory
    for array, copy in zip(kept, before, strict=True):
        np.testing.assert_array_equal(array, copy)
    np.testing.assert_array_equal(faces, faces_before)
    del others


def test_communicators(comm: MPI.Comm) -> None:
    """Any intracommunicator works, and remains the caller's."""
    half = comm.Split(comm.rank % 2, comm.rank)
    mesh = barrio.box(half, n=(2, 2, 2))
    assert mesh.n_parts == half.size
    half.Free()
    mesh.validate()
    assert barrio.box(MPI.COMM_SELF, n=(2, 2, 2)).n_owned(Dim.volume) == 8


def test_many_meshes_do_not_use_up_communicators(comm: MPI.Comm, folder: Path) -> None:
    """MPICH has only 2 046 of them."""
    for _ in range(2100):
        barrio.box(MPI.COMM_SELF, n=(1, 1, 1))
    for _ in range(2100):
        with pytest.raises(barrio.FailedError):
            barrio.read(MPI.COMM_SELF, folder / "none.h5m")
