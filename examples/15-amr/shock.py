"""Run a case of structured AMR from Python, and find the shock in its cells."""

from pathlib import Path

import numpy as np
from mpi4py import MPI

import barrio  # noqa: F401  first, so that it selects the MPI that mpi4py loads
from barrio import amr

folder = Path(__file__).parent
case = amr.Case(MPI.COMM_WORLD, folder / "sod.toml", settings={"grid.levels": 3})
result = case.run()
cells = case.cells()  # this rank's cells that no finer ones cover
x = cells.centres[:, 0]
# Behind the shock the density is 0.266, before it 0.125.
behind = x[(cells["density"] > 0.2) & (cells["velocity_x"] > 0.5)]
place = MPI.COMM_WORLD.allreduce(np.max(behind, initial=0.0), op=MPI.MAX)
if MPI.COMM_WORLD.rank == 0:
    print(f"shock at x = {place:.3f} at time {case.time:g}; checksum {result['checksum']}")
