"""End with everything alive: meshes, fields, arrays, an open writer, ghosts in flight."""

import atexit
import shutil
import sys
import tempfile
from pathlib import Path

import barrio

# isort: split
from mpi4py import MPI

comm = MPI.COMM_WORLD
folder = comm.bcast(tempfile.mkdtemp(prefix="barrio-") if comm.rank == 0 else None)
if comm.rank == 0:
    atexit.register(shutil.rmtree, folder)
mesh = barrio.box(comm, n=(4, 4, 4), ghost_layers=1)
field = mesh.add_field("f", barrio.Dim.vertex)
values = field.values
coordinates = mesh.coordinates
sets = mesh.sets
other = barrio.box(comm, n=(2, 2, 2))
cycle = [other]
cycle.append(cycle)
if "writer" in sys.argv[1:]:
    writer = barrio.VtkhdfWriter(mesh, Path(folder, "open.vtkhdf"), fields=["f"], steps=True)
    writer.write_step(0.0)
if "travelling" in sys.argv[1:]:
    field.begin_exchange()
comm.Barrier()
if comm.rank == 0:
    print("end of the script", flush=True)
