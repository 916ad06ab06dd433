"""Do the same as change.cpp in Python: python change.py FILM.vtkhdf"""

import sys

import numpy as np
from mpi4py import MPI

import barrio
from barrio import Dim

comm = MPI.COMM_WORLD
mesh = barrio.box(comm, (40, 20, 20), high=(2.0, 1.0, 1.0), ghost_layers=1)
heat = mesh.add_field("heat", Dim.volume)
own = mesh.n_owned(Dim.volume)
heat.values[:own] = mesh.global_ids(Dim.volume)[:own]

with barrio.VtkhdfWriter(mesh, sys.argv[1], fields=["heat"], steps=True) as film:
    for step in range(21):
        local = mesh.release()
        centres = local.coordinates[local.nodes(Dim.volume)].mean(axis=1)
        distance = np.linalg.norm(centres - [0.1 * step, 0.5, 1.0], axis=1)
        local.keep_cells(distance > 0.26)
        mesh = barrio.adopt(local)  # rebuilds sharers, ghosts and plans
        mesh = mesh.migrate(mesh.balanced_ranks())
        film.write_step(0.1 * step, mesh)

mesh.validate()
own = mesh.n_owned(Dim.volume)
left = comm.allreduce(float(mesh.field("heat", Dim.volume).values[:own].sum()))
if comm.rank == 0:
    n = (mesh.n_global(Dim.volume), mesh.n_global(Dim.vertex))
    print(f"{n[0]} of 16000 cells left, {n[1]} vertices, heat {left:.0f}")
