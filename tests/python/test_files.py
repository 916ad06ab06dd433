"""From file to file: convert and partition, and pictures of what was read."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from mpi4py import MPI

import barrio
from barrio import Dim, rankmap


def test_converted_and_partitioned_meshes_are_the_same(
    comm: MPI.Comm, wing: Path, folder: Path
) -> None:
    counts = barrio.convert(comm, wing, folder / "wing.h5m")
    found = barrio.inspect(wing, with_quality=False)
    assert counts == {"cells": found["entities"]["tets"], "vertices": found["vertices"]}
    made = barrio.partition(comm, folder / "wing.h5m", folder / "wing5.h5m", 5)
    assert made["parts"] == 5 and made["empty_parts"] == 0
    assert made["cells"] == counts["cells"]
    assert 1.0 <= made["imbalance"] < 1.01
    parted = barrio.read(comm, folder / "wing5.h5m")
    assert parted.n_parts == 5
    assert parted.n_global(parted.cell_dim) == counts["cells"]
    # Sides between parts, counted by another way.
    alone = barrio.read(MPI.COMM_SELF, folder / "wing5.h5m")
    faces = np.sort(alone.cells[:, [[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3]]], axis=2)
    owners = np.repeat(np.asarray(alone.cell_parts), 4)
    _, inverse, n = np.unique(faces.reshape(-1, 3), axis=0, return_inverse=True, return_counts=True)
    inverse = inverse.ravel()
    low, high = np.full(len(n), 9), np.full(len(n), -1)
    np.minimum.at(low, inverse, owners)
    np.maximum.at(high, inverse, owners)
    assert made["cut_sides"] == int(((n == 2) & (low != high)).sum())


def test_the_file_is_the_same_on_any_ranks(comm: MPI.Comm, wing: Path, folder: Path) -> None:
    barrio.partition(comm, wing, folder / "all.h5m", 3, method="hilbert")
    if comm.rank == 0:
        barrio.partition(MPI.COMM_SELF, wing, folder / "one0.h5m", 3, method="hilbert")
    comm.Barrier()
    one, other = (barrio.read(comm, folder / name) for name in ("all.h5m", "one0.h5m"))
    assert one.checksum() == other.checksum()


def test_wrong_words(comm: MPI.Comm, wing: Path, folder: Path) -> None:
    with pytest.raises(barrio.UsageError, match="0 parts"):
        barrio.partition(comm, wing, folder / "a.h5m", 0)
    with pytest.raises(barrio.UsageError, match="cannot hold parts"):
        barrio.partition(comm, wing, folder / "a.vtkhdf", 2)
    with pytest.raises(barrio.UsageError, match="does not write"):
        barrio.convert(comm, wing, folder / "a.vtu")
    with pytest.raises(barrio.Error, match="absent"):
        barrio.convert(comm, folder / "absent.msh", folder / "a.h5m")
    assert not list(folder.glob("a.*"))


def test_a_mesh_is_drawn_and_described(comm: MPI.Comm, folder: Path) -> None:
    pytest.importorskip("pyvista")
    mesh = barrio.box(comm, n=(4, 3, 2), tets=True)
    heat = mesh.add_field("heat", Dim.vertex)
    heat.values[:] = mesh.coordinates[:, 0]
    path = folder / f"heat{comm.rank}.png"
    mesh.plot("heat", path=path)
    assert path.stat().st_size > 2_000
    with pytest.raises(barrio.UsageError, match="field 'cold'"):
        mesh.plot("cold", path=path)
    said = mesh._repr_html_()
    assert "<td>144</td>" in said and "<td>60</td>" in said and "heat on vertex" in said


@pytest.mark.parametrize("n_ranks", [3, 2000])
def test_traffic_is_drawn(n_ranks: int) -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    ring = [[i, (i + 1) % n_ranks] for i in range(n_ranks)]
    traffic = rankmap.Traffic.of(n_ranks, ring, 100.0 + np.arange(n_ranks))
    axes = traffic.plot()
    shown = axes.images[0].get_array()
    assert float(shown.sum()) == pytest.approx(float(traffic.bytes.sum()))
    assert axes.get_xlim()[1] >= n_ranks - 0.5


def test_cells_of_many_types_as_a_grid(comm: MPI.Comm, folder: Path) -> None:
    pytest.importorskip("pyvista")
    path = folder / "mixed.vtk"
    if comm.rank == 0:
        path.write_text(
            "# vtk DataFile Version 3.0\nmixed\nASCII\nDATASET UNSTRUCTURED_GRID\n"
            "POINTS 7 double\n0 0 0 1 0 0 1 1 0 0 1 0 2 0 0 2 1 0 3 0.5 0\n"
            "CELLS 3 14\n4 0 1 2 3\n3 4 6 5\n4 1 4 5 2\nCELL_TYPES 3\n9 5 9\n"
        )
    comm.Barrier()
    mesh = barrio.read(comm, path)
    grid = mesh.to_pyvista()
    areas = grid.compute_cell_sizes()["Area"] if grid.n_cells else np.empty(0)
    assert comm.allreduce(float(np.sum(areas))) == pytest.approx(2.5)
    assert comm.allreduce(grid.n_cells) == 3
