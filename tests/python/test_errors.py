from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest
from mpi4py import MPI

import barrio
from barrio import Dim


def check_alike(comm: MPI.Comm, error: barrio.Error) -> None:
    assert error.is_agreed
    assert len(set(comm.allgather(str(error)))) == 1
    assert str(error).startswith(f"{error.subject}: {error.cause}")


def test_missing_file(comm: MPI.Comm, folder: Path) -> None:
    path = folder / "none.h5m"
    with pytest.raises(OSError, match="No such file") as caught:
        barrio.read(comm, path)
    assert isinstance(caught.value, barrio.FailedError)
    check_alike(comm, caught.value)
    assert caught.value.subject == str(path)
    assert caught.value.code is barrio.ErrorCode.failed
    assert caught.value.remedy == "check the name and its permissions"
    assert caught.value.first_rank == 0


def test_partitioner_of_a_file_with_parts(comm: MPI.Comm, folder: Path) -> None:
    path = folder / "parted.h5m"
    barrio.write(barrio.box(comm, n=(4, 4, 4)), path)
    with pytest.raises(barrio.UsageError, match="Did you mean 'metis'"):
        barrio.read(comm, path, partitioner="mets")


def test_launcher_of_another_mpi(comm: MPI.Comm) -> None:
    if comm.size > 1:
        pytest.skip("starts a process of its own, which must not find this launcher")
    script = "import barrio; from mpi4py import MPI; barrio.box(MPI.COMM_WORLD, n=(2, 2, 2))"
    size = "PMI_SIZE" if "Open MPI" in MPI.Get_library_version() else "OMPI_COMM_WORLD_SIZE"
    environment = {**os.environ, size: "3"}
    refused = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True
    )
    assert refused.returncode != 0
    assert "UsageError: MPI launcher: " in refused.stderr
    assert f"has started 3 processes ({size})" in refused.stderr
    environment["BARRIO_SINGLETON"] = "1"
    subprocess.run([sys.executable, "-c", script], env=environment, check=True)


def test_text_that_calls_itself_a_mesh(comm: MPI.Comm, folder: Path) -> None:
    path = folder / "text.h5m"
    if comm.rank == 0:
        path.write_text("this is no mesh\n" * 100)
    comm.Barrier()
    with pytest.raises(barrio.BadInputError, match="HDF5") as caught:
        barrio.read(comm, str(path))
    check_alike(comm, caught.value)
    assert caught.value.code == 3
    with pytest.raises(barrio.BadInputError, match="HDF5"):
        barrio.inspect(path)


def test_ranks_go_on_after_an_agreed_error(comm: MPI.Comm, folder: Path) -> None:
    for _ in range(10):
        with pytest.raises(barrio.Error):
            barrio.read(comm, folder / "none.msh")
    barrio.box(comm, n=(3, 3, 3)).validate()


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"n": (0, 1, 1)}, "at least one cell"),
        ({"partitioner": "rcbb"}, "rcb"),
        ({"ghost_layers": -1}, "ghost"),
        ({"parts": 0}, "0"),
    ],
)
def test_wrong_arguments(comm: MPI.Comm, arguments: dict, text: str) -> None:
    with pytest.raises(barrio.UsageError, match=text) as caught:
        barrio.box(comm, **arguments)
    check_alike(comm, caught.value)


def test_wrong_communicators(comm: MPI.Comm) -> None:
    for wrong in (None, 3, "world", MPI.COMM_WORLD.Get_group()):
        with pytest.raises(TypeError, match=r"mpi4py\.MPI\.Comm"):
            barrio.box(wrong)
    with pytest.raises(barrio.UsageError, match="COMM_NULL"):
        barrio.box(MPI.COMM_NULL)
    if comm.size > 1:
        half = comm.Split(comm.rank % 2, comm.rank)
        between = half.Create_intercomm(0, comm, 1 - comm.rank % 2)
        with pytest.raises(barrio.UsageError, match="intercommunicator"):
            barrio.box(between)
        between.Free()
        half.Free()


def test_wrong_dimensions(box: barrio.Mesh) -> None:
    for wrong in (-1, 4):
        with pytest.raises((TypeError, barrio.UsageError)):
            box.n_local(wrong)
    with pytest.raises(barrio.UsageError, match="dimension 0"):
        box.connectivity(Dim.vertex)


def test_errors_travel() -> None:
    error = barrio.BadInputError(3, "a.h5m", "is torn", "copy it again", True, 2)
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is barrio.BadInputError
    assert vars(copy) == vars(error)
    assert str(copy) == "a.h5m: is torn (copy it again)"
    assert issubclass(barrio.BadInputError, barrio.Error)
    assert issubclass(barrio.Error, RuntimeError)
