"""Do the tutorial "From a mesh file to a picture" in Python: python heat.py MESH OUT.vtkhdf

Cuts a mesh of tets into 8 parts, reads them on any number of ranks with a layer of ghosts, computes how heat spreads
to a steady state that is known, and writes a series for ParaView and `barrio show`. The last line, with the checksum
of the temperature, is the same on any number of ranks.
"""

import math
import sys
from pathlib import Path

import numpy as np
from mpi4py import MPI

import barrio
from barrio import Dim, SetKind

INSULATED = "symmetry"  # no heat flows through this set; the others keep the steady temperature
END_TIME, N_FRAMES = 20.0, 16


def steady(x: np.ndarray) -> np.ndarray:
    """Return the steady temperature. It is constant along y, so that a boundary y = 0 may be insulated."""
    return 300.0 + 10.0 * x[:, 0] + 5.0 * x[:, 2]


class Conduction:
    """Linear finite elements with unit diffusivity."""

    def __init__(self, mesh: barrio.Mesh) -> None:
        # Sums over cells run in the order of their global ids, so that they have the same bits on any number of ranks.
        self.cells = mesh.cells[np.argsort(mesh.global_ids(Dim.volume))]
        x = mesh.coordinates[self.cells]  # (n, 4, 3)
        a, b, c = (x[:, i] - x[:, 0] for i in (1, 2, 3))
        gradients = np.stack([np.cross(b, c), np.cross(c, a), np.cross(a, b)], axis=1)
        gradients = np.concatenate([-gradients.sum(axis=1, keepdims=True), gradients], axis=1)
        six_volumes = (a * gradients[:, 1]).sum(axis=1)
        products = (gradients[:, :, None] * gradients[:, None, :]).sum(axis=-1)
        self.stiffness = products / (6.0 * six_volumes)[:, None, None]  # (n, 4, 4)
        self.n_local = mesh.n_local(Dim.vertex)
        self.mass = self.add(np.repeat(six_volumes / 24.0, 4))
        sums = self.add(np.abs(self.stiffness).sum(axis=2).ravel())
        n_owned = mesh.n_owned(Dim.vertex)
        self.bound = MPI.COMM_WORLD.allreduce(
            (sums / self.mass)[:n_owned].max(initial=0.0), MPI.MAX
        )

    def add(self, of_corners: np.ndarray) -> np.ndarray:
        """Add a number of each corner of each cell to its vertex."""
        return np.bincount(self.cells.ravel(), of_corners, minlength=self.n_local)

    def rate(self, temperature: np.ndarray) -> np.ndarray:
        flows = (self.stiffness * temperature[self.cells][:, None, :]).sum(axis=2)
        return -self.add(flows.ravel()) / self.mass


def fixed_vertices(mesh: barrio.Mesh) -> np.ndarray:
    """Mark the vertices of all boundary sets but the insulated one. Only a neighbour may have such a face."""
    mark = mesh.add_field("fixed", Dim.vertex, dtype="int32")
    faces = mesh.connectivity(Dim.face)
    for each in mesh.sets:
        if each.kind == SetKind.neumann and each.name != INSULATED:
            mark.values[faces[each.entities(Dim.face)].ravel()] = 1
    mark.reduce("max")
    return mark.values == 1


def advance(field: barrio.Field, heat: Conduction, is_free: np.ndarray, span: float) -> int:
    """Advance by a damped Chebyshev step, of as many stages as stability needs (Verwer 1996); each exchanges ghosts."""
    n = max(2, math.ceil(math.sqrt(span * heat.bound / 0.44)) + 1)
    w0 = 1.0 + 10.0 / n**2
    t, d = [1.0, w0], [0.0, 1.0]  # Chebyshev polynomials and their derivatives at w0
    for _ in range(2, n + 1):
        d.append(2.0 * t[-1] + 2.0 * w0 * d[-1] - d[-2])
        t.append(2.0 * w0 * t[-1] - t[-2])
    w1 = t[n] / d[n]
    now, before = field.values, field.values.copy()
    field.exchange()
    now[:] += w1 / w0 * span * heat.rate(now) * is_free
    for j in range(2, n + 1):
        field.exchange()
        change = 2.0 * w1 * t[j - 1] / t[j] * span * heat.rate(now) * is_free
        later = 2.0 * w0 * t[j - 1] / t[j] * now - t[j - 2] / t[j] * before + change
        before[:], now[:] = now, later
    return n


def main() -> None:
    if len(sys.argv) != 3:
        sys.exit("usage: heat.py MESH OUT.vtkhdf")
    source, output = sys.argv[1:]
    comm = MPI.COMM_WORLD
    parts = str(Path(output).with_suffix(".h5m"))
    cut = barrio.partition(comm, source, parts, 8)
    mesh = barrio.read(comm, parts, ghost_layers=1)
    heat = Conduction(mesh)
    is_fixed = fixed_vertices(mesh)
    temperature = mesh.add_field("temperature", Dim.vertex)
    temperature.values[:] = np.where(is_fixed, steady(mesh.coordinates), 250.0)

    n_stages, time = 0, 0.0
    with barrio.VtkhdfWriter(mesh, output, fields=["temperature"], steps=True) as out:
        out.write_step(0.0)
        for frame in range(
            N_FRAMES
        ):  # the time between frames grows, since heat moves fast at first
            later = END_TIME * 1000.0 ** ((frame + 1) / N_FRAMES - 1.0)
            n_stages += advance(temperature, heat, ~is_fixed, later - time)
            time = later
            temperature.exchange()
            out.write_step(time)

    owned = slice(0, mesh.n_owned(Dim.vertex))
    differences = np.abs(temperature.values[owned] - steady(mesh.coordinates[owned]))
    error = comm.allreduce(differences.max(initial=0.0), MPI.MAX)
    checksum = mesh.checksum(temperature)  # collective: every rank calls it
    if comm.rank == 0:
        print(
            f"{cut['cells']} tets in {mesh.n_parts} parts on {comm.size} ranks, {n_stages} stages"
        )
        print(f"largest error {error:.2g} K against the steady state, checksum {checksum:016x}")


main()
