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
        barrio.adapt(box, [0.1])  # type: ignore[arg-type]
    hexes = barrio.box(MPI.COMM_SELF, n=(2, 2, 2))
    with pytest.raises(barrio.UsageError):
        barrio.adapt(hexes, 0.1)
    box.validate()
