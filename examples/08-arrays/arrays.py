"""Do the same as arrays.cpp in Python: python arrays.py OUT.h5m|OUT.vtkhdf"""

import sys

import numpy as np
from mpi4py import MPI

import barrio
from barrio import Dim, SetKind

if len(sys.argv) != 2:
    sys.exit("usage: arrays.py OUT.h5m")
comm = MPI.COMM_WORLD
n_around, n_out = 48, 8


def number(a: np.ndarray, r: np.ndarray) -> np.ndarray:
    """Return the global id of the vertex at an angular and a radial position."""
    return a % n_around * (n_out + 1) + r


# Arrays of a rank: vertices with global ids, including those shared with neighbours, and cells that refer to them.
first, end = n_around * comm.rank // comm.size, n_around * (comm.rank + 1) // comm.size
around = np.arange(first, end + 1 if end > first else first)
a, r = (place.ravel() for place in np.meshgrid(around, np.arange(n_out + 1), indexing="ij"))
angle = 2 * np.pi / n_around * (a % n_around)  # the same bits on every rank
points = (1 + r / n_out)[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)  # (n, 2)
ids = number(a, r)
ca, cr = (place.ravel() for place in np.meshgrid(around[:-1], np.arange(n_out), indexing="ij"))
corners = [(ca, cr), (ca, cr + 1), (ca + 1, cr + 1), (ca + 1, cr)]
quads = np.stack([number(*corner) for corner in corners], axis=1)  # (n, 4)
inner = np.stack([number(around[:-1], 0), number(around[:-1] + 1, 0)], axis=1)  # (n, 2)
low, high = 1 + cr / n_out, 1 + (cr + 1) / n_out
areas = (high**2 - low**2) / 2 * np.sin(2 * np.pi / n_around)

mesh = barrio.Mesh(
    comm,
    points,
    {"quad": quads, "edge": inner},
    vertex_ids=ids,  # default: vertices are numbered 0, 1, 2, ... rank by rank
    parts={"quad": np.full(len(quads), comm.rank)},  # all stay. Without parts barrio cuts the mesh
    n_parts=comm.size,
    sets=[
        (SetKind.neumann, 1, "inner", {"edge": np.arange(len(inner))})
    ],  # positions in the edges given here
    tags={"area": {"quad": areas}},
    ghost_layers=1,
)

# Each cell gives a quarter of its area to each of its corners; on interfaces the contributions of sharers add up.
share = mesh.add_field("share", Dim.vertex)
own = mesh.cells[: mesh.n_owned(Dim.face)]
_, area = mesh.tag("area").values(Dim.face)
np.add.at(share.values, own, area[: len(own), None] / 4)
share.reduce("sum")
barrio.write(mesh, sys.argv[1])

total = comm.allreduce(share.values[: mesh.n_owned(Dim.vertex)].sum())
if comm.rank == 0:
    n_vertices, n_cells = mesh.n_global(Dim.vertex), mesh.n_global(Dim.face)
    print(f"{n_vertices} vertices, {n_cells} cells, area {total:.9f}")
