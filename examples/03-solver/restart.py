"""Do the same as restart.cpp in Python: python restart.py IN OUT.h5m"""

import sys

from mpi4py import MPI

import barrio
from barrio import Dim

if len(sys.argv) != 3:
    sys.exit("usage: restart.py IN OUT.h5m")
mesh = barrio.read(MPI.COMM_WORLD, sys.argv[1], ghost_layers=1)
age = (
    mesh.tag_as_field("age", Dim.vertex)  # on all local vertices, copies too
    if mesh.has_tag("age")
    else mesh.add_field("age", Dim.vertex)  # zero everywhere
)
age.values[:] += 1
barrio.write(mesh, sys.argv[2])  # the mesh with sets, tags, parts and fields

mean = MPI.COMM_WORLD.allreduce(age.values[: mesh.n_owned(Dim.vertex)].sum()) / mesh.n_global(
    Dim.vertex
)
if MPI.COMM_WORLD.rank == 0:
    print(f"{mesh.n_global(Dim.vertex)} vertices, {mean:.3f} years old")
