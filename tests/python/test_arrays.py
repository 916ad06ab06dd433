"""Meshes from arrays: any rank passes any share, and a fault on one rank is refused on all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mpi4py import MPI

import barrio
from barrio import CellType, Dim, SetKind

N = (4, 3, 2)  # hexes along x, y, z


def grid() -> tuple[np.ndarray, np.ndarray]:
    """Make the vertices and hexes of a box."""
    n = np.array(N) + 1
    k, j, i = np.meshgrid(*(np.arange(m) for m in n[::-1]), indexing="ij")
    points = np.stack([i.ravel(), j.ravel(), k.ravel()], axis=1).astype(float)
    number = np.arange(len(points)).reshape(n[::-1])
    corner = number[:-1, :-1, :-1].ravel()[:, None]
    bottom = np.array([0, 1, 1 + n[0], n[0]])
    return points, corner + np.append(bottom, bottom + n[0] * n[1])


def slab(n: int, rank: int, size: int) -> slice:
    return slice(n * rank // size, n * (rank + 1) // size)


def given(comm: MPI.Comm, first: int = 0) -> dict[str, Any]:
    """Make this rank's share; ranks below `first` have nothing."""
    points, hexes = grid()
    rank, size = comm.rank - first, comm.size - first
    here = slab(len(points), rank, size) if rank >= 0 else slice(0)
    of_cells = slab(len(hexes), rank, size) if rank >= 0 else slice(0)
    ends = hexes[:, [0, 4, 7, 3]][np.arange(len(hexes)) % N[0] == 0]  # quads at x = 0
    of_quads = slab(len(ends), rank, size) if rank >= 0 else slice(0)
    points, mine = points[here], hexes[of_cells]
    numbers = np.arange(len(hexes))[of_cells]
    return {
        "coordinates": points,
        "cells": {"hex": mine, "quad": ends[of_quads]},
        "sets": [
            (SetKind.material, 4, "even", {"hex": numbers % 2 == 0}),
            (SetKind.material, 9, "odd", {"hex": np.flatnonzero(numbers % 2)}),
            (SetKind.neumann, 1, "inlet", {"quad": np.arange(len(ends[of_quads]))}),
            (SetKind.dirichlet, 2, "floor", {"vertex": points[:, 2] == 0}),
        ],
        "tags": {
            "number": {"hex": numbers.astype(np.int32)},
            "place": {"vertex": points, "hex": np.outer(numbers, [1.0, 2.0, 3.0])},
            "height": {"vertex": points[:, 2].astype(np.float32)},
        },
    }


def look_at(mesh: barrio.Mesh, comm: MPI.Comm) -> None:
    mesh.validate()
    assert mesh.n_global(Dim.volume) == np.prod(N)
    assert mesh.n_global(Dim.vertex) == np.prod(np.array(N) + 1)
    assert mesh.n_global(Dim.face) == N[1] * N[2]
    points, hexes = grid()
    vertices, cells = mesh.global_ids(Dim.vertex), mesh.global_ids(Dim.volume)
    np.testing.assert_array_equal(mesh.coordinates, points[vertices])
    np.testing.assert_array_equal(vertices[mesh.cells], hexes[cells])
    for name, dim, wanted in (
        ("number", Dim.volume, cells),
        ("place", Dim.vertex, points[vertices]),
        ("place", Dim.volume, np.outer(cells, [1.0, 2.0, 3.0])),
        ("height", Dim.vertex, points[vertices][:, 2]),
    ):
        ids, values = mesh.tag(name).values(dim)
        assert len(ids) == mesh.n_local(dim)
        np.testing.assert_array_equal(values, wanted.reshape(values.shape))
    assert mesh.tag("number").type == "int32" and mesh.tag("height").type == "float64"
    even = mesh.set(SetKind.material, "even").entities(Dim.volume)
    np.testing.assert_array_equal(even, np.flatnonzero(cells % 2 == 0))
    assert mesh.set(SetKind.material, "odd").id == 9
    floor = mesh.set(SetKind.dirichlet, "floor").vertices
    np.testing.assert_array_equal(floor, np.flatnonzero(mesh.coordinates[:, 2] == 0))
    inlet = mesh.set(SetKind.neumann, "inlet").entities(Dim.face)
    assert comm.allreduce(int((inlet < mesh.n_owned(Dim.face)).sum())) == N[1] * N[2]
    assert (mesh.coordinates[mesh.connectivity(Dim.face)[inlet]][..., 0] == 0).all()


def test_any_rank_gives_any_share(comm: MPI.Comm) -> None:
    sums = set()
    for first in range(comm.size):
        mesh = barrio.Mesh(comm, **given(comm, first), ghost_layers=1)
        look_at(mesh, comm)
        sums.add(mesh.checksum())
    assert len(sums) == 1
    assert mesh.checksum() == barrio.Mesh(MPI.COMM_SELF, **given(MPI.COMM_SELF)).checksum()


def test_write_and_read_back(comm: MPI.Comm, folder: Path) -> None:
    mesh = barrio.Mesh(comm, **given(comm))
    barrio.write(mesh, folder / "arrays.h5m")
    again = barrio.read(comm, folder / "arrays.h5m", ghost_layers=1)
    look_at(again, comm)
    assert again.checksum() == mesh.checksum()


def test_tags_that_mean_something_else(comm: MPI.Comm, folder: Path) -> None:
    arguments = given(comm)
    arguments["tags"]["MATERIAL_SET"] = {"hex": arguments["tags"]["number"]["hex"]}
    mesh = barrio.Mesh(comm, **arguments)
    with pytest.raises(barrio.UsageError, match="'MATERIAL_SET': has a name that is reserved"):
        barrio.write(mesh, folder / "o.h5m")
    barrio.write(mesh, folder / "o.vtkhdf")


def test_vertices_by_ids_of_the_callers_own(comm: MPI.Comm) -> None:
    """Each rank passes some cells with all their vertices, also shared ones, and keeps its cells."""
    points, hexes = grid()
    mine = hexes[comm.rank :: comm.size]
    used = np.unique(mine)[::-1]
    ids = 5 + 3 * used
    mesh = barrio.Mesh(
        comm,
        points[used].tolist(),
        {CellType.hex: (5 + 3 * mine).astype(np.int32)},
        vertex_ids=ids,
        parts=np.full(len(mine), comm.rank),
        n_parts=comm.size,
        tags={"mine": {"vertex": used, "hex": np.full(len(mine), comm.rank, np.int8)}},
        ghost_layers=1,
    )
    mesh.validate()
    assert mesh.n_owned(Dim.volume) == len(mine)
    assert mesh.n_global(Dim.vertex) == len(points)
    np.testing.assert_array_equal(mesh.coordinates, points[mesh.global_ids(Dim.vertex)])
    np.testing.assert_array_equal(
        mesh.tag("mine").values(Dim.vertex)[1], mesh.global_ids(Dim.vertex)
    )
    np.testing.assert_array_equal(mesh.tag("mine").values(Dim.volume)[1], mesh.owners(Dim.volume))


def test_planes_polygons_and_several_types(comm: MPI.Comm) -> None:
    everything = comm.rank == comm.size - 1
    points = [[0, 0], [1, 0], [1, 1], [0, 1], [2, 0.5], [2, 2], [0, 2]] if everything else []
    cells: dict[str, Any] = {
        "quad": [[0, 1, 2, 3]],
        "triangle": [[1, 4, 2]],
        "polygon": ([0, 5], [3, 2, 4, 5, 6]),
    }
    mesh = barrio.Mesh(
        comm,
        points,
        cells if everything else {},
        parts={"quad": [0], "triangle": [1], "polygon": [2]} if everything else None,
    )
    mesh.validate()
    assert mesh.cell_dim is Dim.face
    assert mesh.n_global(Dim.face) == 3 and mesh.n_parts == 3
    assert comm.allreduce(mesh.coordinates[:, 2].max(initial=0), MPI.MAX) == 0
    names = [CellType(t).name for t in mesh.cell_types[: mesh.n_owned(Dim.face)]]
    assert sorted(name for some in comm.allgather(names) for name in some) == [
        "polygon",
        "quad",
        "triangle",
    ]


def spoilt(name: str, comm: MPI.Comm) -> dict[str, Any]:
    """Make arguments with a fault only on the last rank."""
    all_of_it = given(comm)
    if name == "part number":
        all_of_it["parts"] = np.zeros(len(all_of_it["cells"]["hex"]), int)
        del all_of_it["cells"]["quad"], all_of_it["sets"][2]
    if comm.rank != comm.size - 1:
        return all_of_it
    points, cells, tags = (all_of_it[key] for key in ("coordinates", "cells", "tags"))
    hexes = cells["hex"]
    if name == "nan":
        points[1, 2] = np.nan
    elif name == "complex":
        all_of_it["coordinates"] = points.astype(complex)
    elif name == "flat":
        all_of_it["coordinates"] = points.ravel()
    elif name == "ragged":
        all_of_it["coordinates"] = [[0, 0, 0], [1, 1]]
    elif name == "wide":
        cells["hex"] = hexes[:, :7]
    elif name == "real":
        cells["hex"] = hexes.astype(float)
    elif name == "type":
        cells["hexe"] = cells.pop("hex")
    elif name == "list":
        all_of_it["cells"] = hexes
    elif name == "high":
        hexes[0, 0] = 60
    elif name == "negative":
        hexes[0, 0] = -1
    elif name == "twice":
        hexes[0, 0] = hexes[0, 1]
    elif name == "member":
        all_of_it["sets"][1] = (SetKind.material, 9, "odd", {"hex": [99]})
    elif name == "set":
        all_of_it["sets"][1] = "odd"
    elif name == "set id":
        all_of_it["sets"][1] = (SetKind.material, 2**40, "odd", {})
    elif name == "rows":
        tags["number"] = {"hex": np.zeros(len(hexes) + 1, np.int32)}
    elif name == "text":
        tags["number"] = {"hex": np.array(["a"] * len(hexes))}
    elif name == "large":
        tags["number"] = {"hex": np.full(len(hexes), 2**31)}
    elif name == "untyped tag":
        tags["number"] = np.arange(len(hexes))
    elif name == "parts":
        all_of_it["parts"] = {"hex": [0]}
    elif name == "part number":
        all_of_it["parts"][0] = -2
    elif name == "ids":
        all_of_it["vertex_ids"] = [1, 2]
    return all_of_it


@pytest.mark.parametrize(
    ("name", "error", "text"),
    [
        ("nan", barrio.BadInputError, "coordinates: of vertex 1 on this rank must be finite"),
        ("complex", barrio.UsageError, "coordinates: have the type complex128"),
        ("flat", barrio.UsageError, r"coordinates: have the shape \(\d+,\)"),
        ("ragged", barrio.UsageError, "mesh arrays: cannot be taken: ValueError"),
        ("wide", barrio.UsageError, r"cells of the type hex: have the shape \(\d+, 7\)"),
        ("real", barrio.UsageError, "cells of the type hex: must be integers, not float64"),
        ("type", barrio.UsageError, "cells: are given for the unknown type 'hexe'"),
        ("list", barrio.UsageError, "cells: are a ndarray"),
        ("high", barrio.BadInputError, "has vertex 60, but all ranks together give 60 vertices"),
        ("negative", barrio.BadInputError, "has vertex -1"),
        ("twice", barrio.BadInputError, r"has vertex \d+ twice"),
        (
            "member",
            barrio.BadInputError,
            r"set 'odd': has member 99, but this rank gives \d+ hexes",
        ),
        ("set", barrio.UsageError, r"set 'odd': is not \(SetKind, id, name"),
        ("set id", barrio.UsageError, "have a number that is too large"),
        ("rows", barrio.UsageError, r"tag 'number': has \d+ values of 4 bytes for \d+ hexes"),
        ("text", barrio.UsageError, "tag 'number': has values of the type <U1"),
        ("large", barrio.BadInputError, "tag 'number': the value 2147483648 does not fit in int32"),
        ("untyped tag", barrio.UsageError, "tag 'number': is not given by type"),
        ("parts", barrio.UsageError, r"parts: are 1, but there are \d+ hexes"),
        ("part number", barrio.BadInputError, r"parts: must be in 0 \.\. \d+, but one is -2"),
        ("ids", barrio.UsageError, r"vertex ids: are 2, but there are \d+ vertices"),
    ],
)
def test_one_refusal_on_all_ranks(comm: MPI.Comm, name: str, error: Any, text: str) -> None:
    with pytest.raises(error, match=text) as caught:
        barrio.Mesh(comm, **spoilt(name, comm))
    assert caught.value.is_agreed
    assert len(set(comm.allgather(str(caught.value)))) == 1
    barrio.Mesh(comm, **given(comm))  # and all ranks continue


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"n_parts": 0}, "0 parts"),
        ({"partitioner": "rbc"}, "Did you mean 'rcb'"),
        ({"ghost_layers": -1}, "layers"),
    ],
)
def test_wrong_options(comm: MPI.Comm, arguments: dict[str, Any], text: str) -> None:
    with pytest.raises(barrio.UsageError, match=text):
        barrio.Mesh(comm, **given(comm), **arguments)


def test_nothing_is_no_mesh(comm: MPI.Comm) -> None:
    with pytest.raises(barrio.BadInputError, match="no cells on any rank"):
        barrio.Mesh(comm, [], {})


def test_lists_that_differ(comm: MPI.Comm) -> None:
    if comm.size == 1:
        pytest.skip("one rank agrees with itself")
    arguments = given(comm)
    if comm.rank == 0:
        arguments["sets"].pop()
    with pytest.raises(barrio.UsageError, match="do not list the same sets"):
        barrio.Mesh(comm, **arguments)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int32", "int64"])
def test_reduce_over_sharers(comm: MPI.Comm, dtype: str) -> None:
    mesh = barrio.Mesh(comm, **given(comm), ghost_layers=1)
    n_owned, n_local = mesh.n_owned(Dim.volume), mesh.n_local(Dim.vertex)
    count = mesh.add_field("count", Dim.vertex, dtype=dtype)
    count.values[:] = 77  # values of ghosts do not count
    own = mesh.cells[:n_owned]
    used = np.unique(own)
    count.values[used] = np.bincount(own.ravel(), minlength=n_local)[used]
    count.reduce()
    inside = (mesh.coordinates > 0) & (mesh.coordinates < N)
    np.testing.assert_array_equal(count.values, np.prod(np.where(inside, 2, 1), axis=1))
    low = mesh.add_field("low", Dim.vertex, dtype=dtype)
    low.values[:] = comm.rank
    low.reduce("min")
    offsets, ranks = mesh.sharers(Dim.vertex)
    shared = mesh.shared(Dim.vertex)
    np.testing.assert_array_equal(low.values[shared], ranks[offsets[:-1]])
    low.values[:] = comm.rank
    low.reduce("max")
    np.testing.assert_array_equal(low.values[shared], ranks[offsets[1:] - 1])
    with pytest.raises(barrio.UsageError, match="Did you mean 'sum'"):
        low.reduce("summ")


def test_tag_as_field(comm: MPI.Comm, folder: Path) -> None:
    mesh = barrio.Mesh(comm, **given(comm))
    place = mesh.tag_as_field("place", Dim.vertex, n_components=3)
    np.testing.assert_array_equal(place.values, mesh.coordinates)
    number = mesh.tag_as_field("number", Dim.volume, dtype="int64")
    np.testing.assert_array_equal(number.values, mesh.global_ids(Dim.volume))
    assert mesh.has_tag("height") and not mesh.has_tag("height1")
    for name, dim, dtype, text in (
        ("place", Dim.volume, "float64", r"has 3 component\(s\) of float64, not 1"),
        ("number", Dim.vertex, "int32", "has no values on vertices.*it has some on volumes"),
        ("height", Dim.vertex, "int32", "has type float64, not int32"),
        ("height1", Dim.vertex, "float64", "Did you mean 'height'"),
        ("number", Dim.volume, "float64", "already exists"),
    ):
        with pytest.raises(barrio.UsageError, match=text) as caught:
            mesh.tag_as_field(name, dim, dtype=dtype)
        assert caught.value.is_agreed


def test_unknown_suffixes_are_refused(comm: MPI.Comm, box: barrio.Mesh, folder: Path) -> None:
    with pytest.raises(barrio.UsageError, match=r"suffix '\.vtu', which barrio does not write"):
        barrio.write(box, folder / "o.vtu")
    comm.Barrier()
    assert not (folder / "o.vtu").exists()


def test_to_pyvista(comm: MPI.Comm) -> None:
    pytest.importorskip("pyvista")
    mesh = barrio.Mesh(comm, **given(comm), ghost_layers=1)
    heat = mesh.add_field("heat", Dim.vertex)
    heat.values[:] = mesh.coordinates @ [1.0, 10.0, 100.0]
    points, _ = grid()
    for ghosts in (False, True):
        view = mesh.to_pyvista(ghosts=ghosts)
        n = mesh.n_local(Dim.volume) if ghosts else mesh.n_owned(Dim.volume)
        assert view.n_cells == n
        if n == 0:
            continue
        ids = view.point_data["global_id"]
        np.testing.assert_array_equal(view.points, points[ids])
        np.testing.assert_array_equal(view.point_data["heat"], points[ids] @ [1.0, 10.0, 100.0])
        np.testing.assert_array_equal(view.point_data["place"], points[ids])
        cells = view.cell_data["global_id"]
        np.testing.assert_array_equal(view.cell_data["number"], cells)
        np.testing.assert_array_equal(view.cell_data["material"], np.where(cells % 2, 9, 4))
        assert abs(view.compute_cell_sizes()["Volume"].sum() - n) < 1e-9
        assert ("vtkGhostType" in view.cell_data) == ghosts
        if ghosts:
            is_ghost = view.cell_data["vtkGhostType"] != 0
            np.testing.assert_array_equal(is_ghost, view.cell_data["owner"] != comm.rank)
    assert comm.allreduce(mesh.to_pyvista().n_cells) == np.prod(N)


def test_to_pyvista_of_nothing(comm: MPI.Comm) -> None:
    pytest.importorskip("pyvista")
    mesh = barrio.box(comm, n=(2, 1, 1), parts=1)
    mesh.add_field("f", Dim.vertex, n_components=3)
    views = comm.allgather(mesh.to_pyvista(ghosts=True).n_cells)
    assert sorted(views) == [0] * (comm.size - 1) + [2]


def test_to_pyvista_of_polyhedra(comm: MPI.Comm) -> None:
    pytest.importorskip("pyvista")
    points, hexes = grid()
    faces = [[0, 1, 5, 4], [1, 2, 6, 5], [2, 3, 7, 6], [3, 0, 4, 7], [0, 3, 2, 1], [4, 5, 6, 7]]
    closed = np.array([[*face, face[0]] for face in faces]).ravel()
    mine = slab(len(hexes), comm.rank, comm.size)
    nodes = hexes[mine][:, closed]
    offsets = np.arange(len(nodes) + 1) * nodes.shape[1]
    here = points[slab(len(points), comm.rank, comm.size)]
    mesh = barrio.Mesh(comm, here, {"polyhedron": (offsets, nodes.ravel())}, ghost_layers=1)
    mesh.validate()
    view = mesh.to_pyvista()
    assert comm.allreduce(view.n_cells) == len(hexes)
    if view.n_cells > 0:
        assert {cell.n_faces for cell in view.cell} == {6}
        assert abs(view.compute_cell_sizes()["Volume"].sum() - view.n_cells) < 1e-6
