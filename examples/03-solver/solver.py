"""Do the same as solver.cpp in Python: python solver.py MESH OUT.vtkhdf"""

import sys

import numpy as np
from mpi4py import MPI

import barrio
from barrio import Dim

if len(sys.argv) != 3:
    sys.exit("usage: solver.py MESH OUT.vtkhdf")
mesh = barrio.read(MPI.COMM_WORLD, sys.argv[1], ghost_layers=1)  # this rank's parts, with ghosts
cells = mesh.cells  # (n, k): vertices of each cell, by local id
n_local, n_owned = mesh.n_local(Dim.vertex), mesh.n_owned(Dim.vertex)
heat = mesh.add_field("heat", Dim.vertex)
heat.values[:] = mesh.coordinates[:, 0] < 0.1

n_inner = mesh.interior(mesh.cell_dim).stop
inner, outer = cells[:n_inner], cells[n_inner:]
n_cells = np.bincount(cells.ravel(), minlength=n_local)


def add_cells(some: np.ndarray) -> np.ndarray:
    means = heat.values[some].mean(axis=1)
    return np.bincount(some.ravel(), np.repeat(means, some.shape[1]), minlength=n_local)


with barrio.VtkhdfWriter(mesh, sys.argv[2], fields=["heat"], steps=True) as out:
    for step in range(50):
        heat.begin_exchange()  # send ghosts ...
        total = add_cells(inner)  # ... while computing the interior, which needs no ghosts
        heat.end_exchange()
        total += add_cells(outer)
        heat.values[:n_owned] = total[:n_owned] / n_cells[:n_owned]
        if step % 10 == 9:
            heat.exchange()
            out.write_step(step + 1.0)

mean = MPI.COMM_WORLD.allreduce(heat.values[:n_owned].sum()) / mesh.n_global(Dim.vertex)
if MPI.COMM_WORLD.rank == 0:
    print(f"mean heat {mean:.6f} after 50 steps")
