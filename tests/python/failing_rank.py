"""Fail on one rank while the others wait: the launch must end. Started by name only."""

from mpi4py import MPI

import barrio


def test_passes(box: barrio.Mesh) -> None:
    box.validate()


def test_fails_on_rank_1(comm: MPI.Comm) -> None:
    assert comm.rank != 1
    comm.Barrier()
