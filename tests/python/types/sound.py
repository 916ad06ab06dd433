"""A program without errors of types."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from mpi4py import MPI
from numpy.typing import NDArray

import barrio
from barrio import Dim, amr, delaunay, rankmap


def size(points: NDArray[np.float64]) -> NDArray[np.float64]:
    return 0.1 + 0.4 * np.abs(points[:, 2])


comm = MPI.COMM_WORLD
mesh = barrio.read(comm, Path("wing.msh"), ghost_layers=1)
fine, report = barrio.adapt(mesh, size, growth=0.5)
cells: int = report["cells"]
heat = fine.add_field("heat", Dim.vertex)
heat.values[:] = fine.coordinates[:, 0]
heat.exchange()
with barrio.VtkhdfWriter(fine, "heat.vtkhdf", fields=["heat"], steps=True) as writer:
    writer.write_step(0.0)
quality = barrio.partition(comm, "wing.msh", "wing8.h5m", 8)
imbalance: float = quality["imbalance"]
case = amr.Case(comm, {"grid": {"cells": [16, 16]}}, settings={"run.steps": 2})
density: NDArray[np.float64] = case.cells()["density"]
low, high = case.blocks(0)
traffic = rankmap.Traffic.of(2, [[0, 1]], [1.0])
total: float = float(traffic.bytes.sum())
square = delaunay.triangulate(np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]))
