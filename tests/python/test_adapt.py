"""Adaptation to sizes from numbers, text, fields and functions."""

from __future__ import annotations

import numpy as np
import pytest
from mpi4py import MPI

import barrio
from barrio import Dim


def volume(report: dict) -> dict:
    return next(one for one in report["measures"] if not one["name"])


@pytest.fixture
def box(comm: MPI.Comm) -> barrio.Mesh:
    mesh = barrio.box(comm, n=(4, 4, 4), tets=True, ghost_layers=1)
    heat = mesh.add_field("heat", Dim.vertex)
    heat.values[:] = mesh.coordinates @ [1.0, 2.0, 3.0]
    return mesh


def test_a_function_equals_the_text_of_the_command(comm: MPI.Comm, box: barrio.Mesh) -> None:
    text = "plane,x=0.5,min_size=0.08,width=0.05,growth=0.5,max_size=0.3"
    by_text, first = barrio.adapt(box, text)

    def size(points: np.ndarray) -> np.ndarray:
        assert points.shape[1] == 3
        distance = np.maximum(np.abs(points[:, 0] - 0.5) - 0.05, 0.0)
        return np.minimum(0.08 + 0.5 * distance, 0.3)

    by_function, second = barrio.adapt(box, size)
    assert by_function.checksum() == by_text.checksum()
    assert second["cells"] == first["cells"] > 2 * first["cells_before"]
    assert first["in_range"] > 0.85
    assert first["min_quality"] > 0.2
    assert volume(first)["after"] == pytest.approx(1.0, abs=1e-12)
    by_text.validate()
    heat = by_text.field("heat", Dim.vertex)  # it was linear, so it still is
    assert np.allclose(heat.values, by_text.coordinates @ [1.0, 2.0, 3.0], atol=1e-12)
    # the mesh before is as it was
    assert box.field("heat", Dim.vertex).values.shape == (len(box.coordinates),)
    box.validate()
    alone = barrio.box(MPI.COMM_SELF, n=(4, 4, 4), tets=True)
    assert barrio.adapt(alone, size)[0].checksum() == by_text.checksum()


def test_sizes_in_a_field(box: barrio.Mesh) -> None:
    size = box.add_field("size", Dim.vertex)
    size.values[:] = np.where(box.coordinates[:, 0] < 0.1, 0.05, 1.0)
    steep, _ = barrio.adapt(box, "size", parent_field="parent", held_field="held")
    smooth, report = barrio.adapt(box, "size", growth=0.3, max_size=0.4)
    assert report["cells"] > steep.n_global(Dim.volume)
    parent = steep.field("parent", Dim.volume).values
    assert parent[:, 0].min() >= 1 if len(parent) else True
    assert steep.field("held", Dim.vertex).values.dtype == np.int32
    finer, _ = barrio.adapt(smooth, 0.2)
    assert finer.n_global(Dim.volume) < smooth.n_global(Dim.volume)


def test_sizes_in_an_array_are_those_of_a_field(comm: MPI.Comm, box: barrio.Mesh) -> None:
    lengths = 0.1 + 0.4 * np.abs(box.coordinates[:, 0] - 0.5)
    size = box.add_field("size", Dim.vertex)
    size.values[:] = lengths
    by_field, _ = barrio.adapt(box, "size", growth=0.5)
    by_array, report = barrio.adapt(box, lengths, growth=0.5)
    by_owned, _ = barrio.adapt(box, lengths[: box.n_owned(Dim.vertex)], growth=0.5)
    assert by_array.checksum() == by_field.checksum() == by_owned.checksum()
    assert report["cells"] == by_array.n_global(Dim.volume) > report["cells_before"]
    # again, with the field of the first call in the mesh
    again, _ = barrio.adapt(by_array, by_array.field("wanted size", Dim.vertex).values * 0.8)
    assert again.n_global(Dim.volume) > report["cells"]


def test_sizes_from_errors(comm: MPI.Comm, box: barrio.Mesh) -> None:
    centres = box.coordinates[box.cells].mean(axis=1)
    errors = np.exp(-20.0 * (centres[:, 0] - 0.5) ** 2)
    fine, report = barrio.adapt(box, error=errors, target_error=0.4, min_size=0.08, max_size=0.4)
    assert report["cells"] > report["cells_before"]
    centres = fine.coordinates[fine.cells[: fine.n_owned(Dim.volume)]].mean(axis=1)
    near = comm.allreduce(int((np.abs(centres[:, 0] - 0.5) < 0.25).sum()))
    assert near > 0.6 * report["cells"]
    field = box.add_field("error", Dim.volume)
    field.values[:] = errors
    by_name, _ = barrio.adapt(box, error="error", target_error=0.4, min_size=0.08, max_size=0.4)
    assert by_name.checksum() == fine.checksum()
    assert "error size" in [one.name for one in by_name.fields]


def test_payloads_follow_their_parents(comm: MPI.Comm, box: barrio.Mesh) -> None:
    ids = box.global_ids(Dim.volume)[: box.n_owned(Dim.volume)]
    cells = [b"cell %d" % i * (i % 3) for i in ids]  # of any length, also none
    vertices = [b"%d" % i for i in box.global_ids(Dim.vertex)[: box.n_owned(Dim.vertex)]]
    fine, report = barrio.adapt(
        box, 0.15, payloads=[(Dim.volume, cells), (Dim.vertex, vertices)], parent_field="parent"
    )
    of_cells, of_vertices = report["payloads"]
    assert len(of_cells) == fine.n_local(Dim.volume)
    assert len(of_vertices) == fine.n_local(Dim.vertex)
    parents = fine.field("parent", Dim.volume)
    parents.exchange()
    for bytes_of_cell, parent in zip(of_cells, parents.values[:, 0] - 1, strict=True):
        assert bytes_of_cell == b"cell %d" % parent * (parent % 3)
    assert all(int(text) >= 0 for text in of_vertices)


def test_wrong_arrays_are_errors_of_all_ranks(comm: MPI.Comm, box: barrio.Mesh) -> None:
    last = comm.rank == comm.size - 1
    n = box.n_owned(Dim.vertex)
    with pytest.raises(barrio.UsageError, match="size: has"):
        barrio.adapt(box, np.full(n + 100_000 if last else n, 0.2))
    with pytest.raises(barrio.UsageError, match="error: has"):
        barrio.adapt(box, error=np.ones(7 if last else box.n_owned(Dim.volume)), target_error=1.0)
    with pytest.raises(barrio.UsageError, match="payloads: are"):
        barrio.adapt(box, 0.2, payloads=[(Dim.vertex, [b""] * (n + last))])
    with pytest.raises(barrio.UsageError, match="payloads: are on dimension 2"):
        barrio.adapt(box, 0.2, payloads=[(Dim.face, [])])
    with pytest.raises(TypeError, match="either a size or an error"):
        barrio.adapt(box)
    with pytest.raises(TypeError, match="either a size or an error"):
        barrio.adapt(box, 0.1, error="error")
    box.validate()


def test_wrong_sizes_are_errors_of_all_ranks(box: barrio.Mesh) -> None:
    def fails(points: np.ndarray) -> np.ndarray:
        raise KeyError("no such thing")

    for size, kind, text in (
        (0.0, barrio.BadInputError, "must be above 0"),
        (
            "plan,x=0",
            barrio.UsageError,
            "size 'plan,x=0': names no field or tag on vertices, and as text is unknown",
        ),
        (fails, barrio.UsageError, "raised KeyError"),
        (lambda points: "wide", barrio.UsageError, "raised ValueError"),
        (lambda points: points, barrio.UsageError, "raised ValueError"),
        (1e-9, barrio.UsageError, ""),
    ):
        with pytest.raises(kind) as caught:
            barrio.adapt(box, size)
        assert text in str(caught.value)
    with pytest.raises(TypeError, match="neither a number"):
        barrio.adapt(box, {})  # type: ignore[arg-type]
    hexes = barrio.box(MPI.COMM_SELF, n=(2, 2, 2))
    with pytest.raises(barrio.UsageError):
        barrio.adapt(hexes, 0.1)
    box.validate()
