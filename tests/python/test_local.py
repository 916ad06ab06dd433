"""A mesh is released into arrays, and rebuilt from them."""

from __future__ import annotations

import numpy as np
import pytest
from mpi4py import MPI

import barrio
from barrio import CellType, Dim, SetKind


def filled(comm: MPI.Comm, **options: object) -> barrio.Mesh:
    mesh = barrio.box(comm, (5, 4, 3), ghost_layers=1, **options)  # type: ignore[arg-type]
    for dim in (Dim.vertex, Dim.volume):
        field = mesh.add_field("x", dim, 2)
        field.values[:] = np.outer(mesh.global_ids(dim), [1.0, 0.5])
    return mesh


def expect_filled(mesh: barrio.Mesh, dim: Dim) -> None:
    assert (mesh.field("x", dim).values == np.outer(mesh.global_ids(dim), [1.0, 0.5])).all()


@pytest.mark.parametrize("tets", [False, True])
def test_apart_and_together_is_the_identity(comm: MPI.Comm, tets: bool) -> None:
    mesh = filled(comm, tets=tets)
    local = mesh.release()
    assert local.cell_dim == Dim.volume
    assert local.n(Dim.volume) == mesh.n_owned(Dim.volume)
    assert len(local.vertex_ids) == len(local.coordinates) == local.n(Dim.vertex)
    sharers = local.sharers(Dim.vertex)
    assert all(comm.rank in ranks and len(ranks) > 1 for ranks in local.rank_sets)
    assert len(sharers) in (0, local.n(Dim.vertex))
    again = barrio.adopt(local)
    again.validate()
    assert again.checksum() == mesh.checksum()
    assert (again.global_ids(Dim.volume) == mesh.global_ids(Dim.volume)).all()
    assert (again.global_ids(Dim.vertex) == mesh.global_ids(Dim.vertex)).all()
    assert (mesh.revision, again.revision) == (0, 1)
    for dim in (Dim.vertex, Dim.volume):
        expect_filled(again, dim)
    mesh.validate()  # it still works
    assert local.n(Dim.volume) == 0
    with pytest.raises(barrio.UsageError, match="no cells on any rank"):
        barrio.adopt(local)


def test_cells_are_dropped(comm: MPI.Comm) -> None:
    mesh = filled(comm)
    for as_mask in (True, False):
        local = mesh.release()
        keep = local.ids(Dim.volume) % 3 != 0
        local.keep_cells(keep if as_mask else np.flatnonzero(keep))
        less = barrio.adopt(local)
        less.validate()
        assert less.n_global(Dim.volume) == 40
        assert (less.global_ids(Dim.volume) % 3 != 0).all()
        assert less.ghost_layers == 1
        for dim in (Dim.vertex, Dim.volume):
            expect_filled(less, dim)
        members = less.set(SetKind.material, "box").entities(Dim.volume)
        assert (members == np.arange(less.n_local(Dim.volume))).all()


def test_quads_become_triangles(comm: MPI.Comm) -> None:
    n = 6
    x, y = np.meshgrid(np.arange(n + 1.0), np.arange(n + 1.0))
    points = np.stack([x.ravel(), y.ravel()], axis=1)
    corner = (np.arange(n)[:, None] * (n + 1) + np.arange(n)).ravel()[:, None]
    quads = corner + np.array([0, 1, n + 2, n + 1])
    mine = comm.rank == 0
    mesh = barrio.Mesh(
        comm,
        points if mine else [],
        {"quad": quads if mine else []},
        ghost_layers=1,
        tags={"half": {"quad": np.arange(len(quads)) if mine else []}},
    )
    mesh.add_field("area", Dim.face).values[:] = 1.0
    local = mesh.release()
    old, ids = local.nodes(Dim.face), local.ids(Dim.face)
    assert isinstance(old, np.ndarray)
    local.replace_entities(
        Dim.face,
        np.stack([2 * ids, 2 * ids + 1], axis=1).ravel(),
        old[:, [0, 1, 2, 0, 2, 3]].reshape(-1, 3),
        np.full(2 * len(ids), CellType.triangle.value, np.uint8),
    )
    local.replace_field("area", Dim.face, np.full(2 * len(ids), 0.5))
    at, values = local.tag("half").values(Dim.face)
    assert (at == np.arange(len(ids))).all()
    places = np.arange(2 * len(ids), dtype=np.int32)
    local.replace_tag("half", Dim.face, places, np.repeat(values, 2))
    fine = barrio.adopt(local)
    fine.validate()
    assert fine.n_global(Dim.face) == 2 * n * n
    assert fine.n_global(Dim.vertex) == (n + 1) ** 2
    own = fine.n_owned(Dim.face)
    assert comm.allreduce(fine.field("area", Dim.face).values[:own].sum()) == n * n
    at, values = fine.tag("half").values(Dim.face)
    assert (values == fine.global_ids(Dim.face)[at] // 2).all()


def test_what_does_not_fit_is_refused_everywhere(comm: MPI.Comm) -> None:
    mesh = filled(comm)
    local = mesh.release()
    with pytest.raises(ValueError, match="read-only"):
        local.coordinates[:] = 0.0  # a copy: the change would be lost
    with pytest.raises(barrio.UsageError, match="mask"):
        local.keep_cells(np.ones(local.n(Dim.volume) + 1, bool))
    with pytest.raises(barrio.UsageError, match="Did you mean 'x'"):
        local.field("X", Dim.vertex)
    with pytest.raises(barrio.UsageError, match="dimension"):
        local.ids(Dim.vertex)
    own = local.n(Dim.volume)
    given = (local.ids(Dim.volume), local.nodes(Dim.volume))
    with pytest.raises(barrio.UsageError, match="ids: must be integers, not float64"):
        local.replace_entities(Dim.volume, np.arange(own) + 0.5, given[1])
    with pytest.raises(barrio.UsageError, match="nodes: must be integers, not float64"):
        local.replace_entities(Dim.volume, given[0], given[1].astype(float))
    with pytest.raises(barrio.UsageError, match="ids: must be integers, not float64"):
        local.replace_vertices(local.vertex_ids + 0.5, local.coordinates)
    with pytest.raises(barrio.UsageError, match="places: must be integers, not float64"):
        local.keep_cells(np.zeros(1))
    if comm.rank == comm.size - 1:
        local.replace_field("x", Dim.vertex, np.zeros((3, 2)))
    with pytest.raises(barrio.UsageError, match="values of field 'x'"):
        barrio.adopt(local)
    local.replace_field("x", Dim.vertex, np.outer(local.vertex_ids, [1.0, 0.5]))
    again = barrio.adopt(local)
    again.validate()
    assert again.checksum() == mesh.checksum()
