"""Adapt a box to sizes in a field: fine at its middle plane."""

import numpy as np
from mpi4py import MPI

import barrio

mesh = barrio.box(MPI.COMM_WORLD, n=(8, 8, 8), tets=True, ghost_layers=1)
size = mesh.add_field("size", barrio.Dim.vertex)
size.values[:] = 0.05 + 0.2 * np.abs(mesh.coordinates[:, 0] - 0.5)
mesh, report = barrio.adapt(mesh, "size", growth=0.4)  # drops the mesh before
if MPI.COMM_WORLD.rank == 0:
    print(f"{report['cells']} cells, mean ratio at least {report['min_quality']:.2f}")
barrio.write(mesh, "front.vtkhdf")
