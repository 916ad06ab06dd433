"""Run pytest on several ranks: a failure on one ends the launch, so that no rank waits."""

from __future__ import annotations

import faulthandler
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import barrio  # first, so that it selects the MPI that mpi4py loads

# isort: split
import pytest
from mpi4py import MPI

DATA = Path(__file__).parents[2] / "data"
LIMIT_SECONDS = float(os.environ.get("BARRIO_TEST_LIMIT", "60"))
WORLD = MPI.COMM_WORLD


def end_job(what: str) -> None:
    sys.__stderr__.write(f"[rank {WORLD.rank}/{WORLD.size}] {what}\n")
    sys.__stderr__.flush()
    time.sleep(0.2)  # launchers drop output printed just before an abort
    WORLD.Abort(1)


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    if WORLD.rank > 0:
        config.pluginmanager.unregister(name="terminalreporter")


@pytest.hookimpl(trylast=True)
def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.failed and WORLD.size > 1:
        end_job(f"{report.nodeid} failed in {report.when}:\n{report.longreprtext}")


def pytest_collectreport(report: pytest.CollectReport) -> None:
    if report.failed and WORLD.size > 1:
        end_job(f"{report.nodeid} cannot be collected:\n{report.longreprtext}")


def pytest_internalerror(excrepr: object) -> None:
    if WORLD.size > 1:
        end_job(str(excrepr))


@pytest.fixture(autouse=True)
def limit() -> Iterator[None]:
    """Limit the time of a test: a hanging rank prints its stack and ends the job."""
    faulthandler.dump_traceback_later(LIMIT_SECONDS, exit=True, file=sys.__stderr__)
    yield
    faulthandler.cancel_dump_traceback_later()


@pytest.fixture
def comm() -> MPI.Comm:
    return WORLD


@pytest.fixture
def folder() -> Iterator[Path]:
    """Yield an empty folder, shared by all ranks."""
    path = WORLD.bcast(tempfile.mkdtemp(prefix="barrio-") if WORLD.rank == 0 else None)
    yield Path(path)
    WORLD.Barrier()
    if WORLD.rank == 0:
        shutil.rmtree(path, ignore_errors=True)


@pytest.fixture
def wing() -> Path:
    return DATA / "wing" / "wing_coarse.msh"


@pytest.fixture
def box(comm: MPI.Comm) -> barrio.Mesh:
    return barrio.box(comm, n=(4, 3, 2), ghost_layers=1, parts=4)
