"""Numbering without gaps for a linear solver: numbering.cpp in Python.

mpiexec -n 4 python -m mpi4py numbering.py 16
"""

import sys

import barrio

# isort: split
import numpy as np
from mpi4py import MPI


def number(comm: MPI.Comm, unknowns: np.ndarray) -> np.ndarray:
    """Number the unknowns from 0 to n_global - 1, rank by rank, the same on all ranks that have them."""
    context = barrio.Context(comm)
    shared = context.shared_ids(unknowns)
    n_sharers = np.diff(shared.offsets)
    lowest = np.full(len(unknowns), comm.size)
    lowest[n_sharers > 0] = shared.ranks[shared.offsets[:-1][n_sharers > 0]]
    is_owned = comm.rank < lowest  # the lowest rank is the owner

    n_owned = int(is_owned.sum())
    begin = comm.scan(n_owned) - n_owned
    numbers = np.zeros(len(unknowns), np.int64)
    numbers[is_owned] = begin + np.arange(n_owned)
    of = np.repeat(np.arange(len(unknowns)), n_sharers)  # the unknown of each sharer
    told = is_owned[of]
    _, places, came = context.transfer(
        shared.ranks[told], shared.positions[told], numbers[of[told]]
    )
    numbers[places] = came
    return numbers


def main(comm: MPI.Comm, n: int) -> None:
    # Layers of n^3 elements; both ranks have the layer between them. Labels are far apart.
    begin, end = (n * rank // comm.size for rank in (comm.rank, comm.rank + 1))
    vertices = np.arange(begin * (n + 1) ** 2, (end + 1) * (n + 1) ** 2)
    numbers = number(comm, vertices * 1_000_003)
    highest = comm.allreduce(int(numbers.max()), MPI.MAX)
    n_wrong = comm.allreduce(int(np.sum(numbers != vertices)))
    if comm.rank == 0:
        print(f"{n}^3 elements, unknowns 0 to {highest}, {n_wrong} out of order")


main(MPI.COMM_WORLD, int(sys.argv[1]))
