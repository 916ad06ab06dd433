"""A program with an error of types in each line that says so."""

from __future__ import annotations

from mpi4py import MPI

import barrio
from barrio import Dim, amr, rankmap

comm = MPI.COMM_WORLD
mesh = barrio.read(comm, "wing.msh", ghost_layer=1)  # error: no such option
mesh = barrio.read("wing.msh")  # error: without a communicator
fine = barrio.adapt(mesh, 0.1)
print(fine.coordinates)  # error: a pair has none
heat = mesh.add_field("heat", "vertex")  # error: a text is no Dim
heat.exchange(1)  # error: it takes nothing
mesh.coordinates = None  # error: read only
case = amr.Case(comm, ["grid"])  # error: neither file nor mapping
print(case.cells().density)  # error: quantities are items
traffic = rankmap.Traffic.of(2, [[0, 1]])  # error: bytes are missing
barrio.partition(comm, "wing.msh", "wing8.h5m", "8")  # error: a text is no number
name: int = mesh.field("heat", Dim.vertex).name  # error: a text
