from __future__ import annotations

import gc
from collections.abc import Callable

import numpy as np
import pytest
from mpi4py import MPI

import barrio
from barrio import Dim

TYPES = ["float64", "float32", "int32", "int64"]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("components", [1, 3])
@pytest.mark.parametrize("dim", [Dim.vertex, Dim.volume])
def test_ghosts_get_what_owners_have(
    box: barrio.Mesh, dim: Dim, components: int, dtype: str
) -> None:
    field = box.add_field("id", dim, n_components=components, dtype=dtype)
    assert field.dtype == np.dtype(dtype) == field.values.dtype
    assert field.values.shape == ((box.n_local(dim),) + ((components,) if components > 1 else ()))
    assert (field.values == 0).all()
    wanted = box.global_ids(dim).reshape(-1, 1) * 10 + np.arange(components)
    wanted = wanted.reshape(field.values.shape)
    n_owned = box.n_owned(dim)
    field.values[:n_owned] = wanted[:n_owned]
    field.exchange()
    np.testing.assert_array_equal(field.values, wanted)


def test_begin_and_end(box: barrio.Mesh) -> None:
    field = box.add_field("f", Dim.vertex)
    values = field.values
    n_owned = box.n_owned(Dim.vertex)
    for step in range(3):
        values[:n_owned] = box.global_ids(Dim.vertex)[:n_owned] + step
        field.begin_exchange()
        values[box.interior(Dim.vertex)] += 0.0
        field.progress()
        field.end_exchange()
        assert field.progress(), "nothing is under way"
        np.testing.assert_array_equal(values, box.global_ids(Dim.vertex) + step)


def test_values_are_not_copied(box: barrio.Mesh) -> None:
    field = box.add_field("f", Dim.vertex)
    if box.n_local(Dim.vertex) > 0:
        assert np.shares_memory(field.values, field.values)
        assert np.shares_memory(field.values, box.field("f", Dim.vertex).values)
    assert field.values.flags.writeable and not field.values.flags.owndata
    assert field.values.ctypes.data == box.fields[0].values.ctypes.data
    before = box.checksum(field)
    field.values[:] = 1.0  # the core sees it
    assert box.checksum(field) != before


def test_values_outlive_field_and_mesh(comm: MPI.Comm) -> None:
    mesh = barrio.box(comm, n=(6, 5, 4), parts=4)
    field = mesh.add_field("f", Dim.vertex)
    values = field.values
    values[:] = np.arange(len(values))
    del mesh
    gc.collect()
    field.exchange()
    del field
    gc.collect()
    others = [barrio.box(comm, n=(6, 5, 4), parts=4) for _ in range(3)]
    values += 1
    assert len(values) == 0 or values[0] >= 1
    del others


def test_checksum_is_the_same_on_any_number_of_ranks(comm: MPI.Comm) -> None:
    mesh = barrio.box(comm, n=(4, 4, 4), parts=6)
    field = mesh.add_field("x", Dim.vertex)
    field.values[:] = mesh.coordinates @ [1.0, 10.0, 100.0]
    alone = barrio.box(MPI.COMM_SELF, n=(4, 4, 4))
    same = alone.add_field("x", Dim.vertex)
    same.values[:] = alone.coordinates @ [1.0, 10.0, 100.0]
    assert mesh.checksum(field) == alone.checksum(same)
    assert mesh.checksum() == alone.checksum()
    with pytest.raises(barrio.UsageError, match="belongs to another mesh"):
        mesh.checksum(same)


def test_fields_are_found_by_name(box: barrio.Mesh) -> None:
    field = box.add_field("temperature", Dim.vertex, dtype=np.float32)
    assert box.field("temperature", Dim.vertex).n_components == 1
    assert [one.name for one in box.fields] == ["temperature"]
    assert "temperature" in repr(field) and "float32" in repr(field)
    assert field.dim is Dim.vertex
    with pytest.raises(barrio.UsageError, match=r"Did you mean 'temperature'\?"):
        box.field("tmperature", Dim.vertex)
    with pytest.raises(barrio.UsageError, match="does not exist on dimension 3"):
        box.field("temperature", Dim.volume)


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        (lambda mesh: mesh.add_field("f", Dim.vertex), "already exists"),
        (lambda mesh: mesh.add_field("g", Dim.vertex, dtype=np.complex128), "type complex128"),
        (lambda mesh: mesh.add_field("g", Dim.vertex, n_components=0), "0 components"),
        (lambda mesh: mesh.add_field("g", Dim.edge).exchange(), "no entities of that dimension"),
        (lambda mesh: mesh.field("f", Dim.vertex).end_exchange(), "is not being exchanged"),
    ],
)
def test_misuse(box: barrio.Mesh, wrong: Callable[[barrio.Mesh], object], text: str) -> None:
    box.add_field("f", Dim.vertex)
    with pytest.raises(barrio.UsageError, match=text) as caught:
        wrong(box)
    assert caught.value.code is barrio.ErrorCode.usage
    assert not caught.value.is_agreed


def test_begin_twice(box: barrio.Mesh) -> None:
    field = box.add_field("f", Dim.vertex)
    field.begin_exchange()
    with pytest.raises(barrio.UsageError, match="is being exchanged already"):
        box.field("f", Dim.vertex).begin_exchange()
    field.end_exchange()


def test_a_mesh_may_be_dropped_while_its_ghosts_travel(
    comm: MPI.Comm, capfd: pytest.CaptureFixture[str]
) -> None:
    mesh = barrio.box(comm, n=(4, 4, 4), parts=4)
    mesh.add_field("lost", Dim.vertex).begin_exchange()
    del mesh
    gc.collect()
    comm.Barrier()
    assert "field 'lost' was dropped between begin_exchange()" in capfd.readouterr().err


def test_several_threads_may_wait(box: barrio.Mesh) -> None:
    """The GIL is released while the core waits, so another thread continues."""
    import threading

    field = box.add_field("f", Dim.vertex)
    stop = threading.Event()
    count = 0

    def work() -> None:
        nonlocal count
        while not stop.is_set():
            count += 1

    thread = threading.Thread(target=work)
    thread.start()
    for _ in range(20):
        field.exchange()
    stop.set()
    thread.join()
    assert count > 0


def test_fields_in_another_order_are_named(comm: MPI.Comm) -> None:
    mesh = barrio.box(comm, n=(4, 4, comm.size), ghost_layers=1, parts=comm.size)
    types = {"u": "float64", "id": "int64", "v": "float64"}
    order = ["u", "id", "v"] if comm.rank == 0 else ["v", "id", "u"]
    fields = {name: mesh.add_field(name, Dim.vertex, dtype=types[name]) for name in order}
    if comm.size == 1:
        return
    fields[order[0]].values[:] = 7
    try:
        fields[order[0]].exchange()
    except barrio.UsageError as error:
        said = str(error)
    else:
        said = ""
    if comm.rank < 2:  # slabs: they are neighbours
        assert "field 'u' on dimension 0, float64" in said
        assert "field 'v' on dimension 0, float64" in said
        assert (fields[order[0]].values == 7).all()


@pytest.mark.parametrize("mine", TYPES)
def test_other_types_are_named(comm: MPI.Comm, mine: str) -> None:
    for theirs in TYPES:
        mesh = barrio.box(comm, n=(4, 4, comm.size), ghost_layers=1, parts=comm.size)
        field = mesh.add_field("u", Dim.volume, dtype=mine if comm.rank == 0 else theirs)
        field.values[:] = 7
        try:
            field.exchange()
        except barrio.UsageError as error:
            assert mine in str(error) and theirs in str(error)
            assert (field.values == 7).all()
        else:
            assert mine == theirs or comm.rank > 1 or comm.size == 1
