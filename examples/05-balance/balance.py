"""Do the same as balance.cpp in Python: python balance.py MESH"""

import sys

import numpy as np
from mpi4py import MPI

import barrio

comm = MPI.COMM_WORLD
mesh = barrio.read(comm, sys.argv[1], ghost_layers=1)
dim = mesh.cell_dim
mesh.add_field("work", dim, dtype="int64")  # migrates with its cells


def cost(front: float) -> np.ndarray:
    """Return the cost of each owned cell while the front is at x."""
    corners = mesh.cells[: mesh.n_owned(dim), 0]
    near = np.abs(mesh.coordinates[corners, 0] - front) < 0.1
    return np.where(near, 20, 1).astype(np.int64)


def imbalance(costs: np.ndarray) -> float:
    mine = int(costs.sum())
    return comm.allreduce(mine, MPI.MAX) * comm.size / comm.allreduce(mine)


for step in range(10):
    costs = cost(0.1 * step)
    before = imbalance(costs)
    if before > 1.1:
        mesh = mesh.migrate(mesh.balanced_ranks(costs))  # a new mesh; the old one is freed
        costs = cost(0.1 * step)
    after = imbalance(costs)
    if comm.rank == 0:
        print(f"step {step}: imbalance {before:.2f}, then {after:.2f}", file=sys.stderr)
    mesh.field("work", dim).values[: len(costs)] += costs

mesh.validate()
work = mesh.field("work", dim).values[: mesh.n_owned(dim)]
total, most = comm.allreduce(int(work.sum())), comm.allreduce(int(work.max(initial=0)), MPI.MAX)
visits = comm.allreduce(int((work - 10).sum())) // 19
if comm.rank == 0:
    print(f"work {total} in all, {most} at most in a cell, {visits} visits")
