"""Finite-element assembly in Python: assembly.cpp with numpy and barrio.GatherScatter.

mpiexec -n 4 python -m mpi4py assembly.py 16
"""

import sys

import barrio

# isort: split
import numpy as np
from mpi4py import MPI


def known_at(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return an exact solution and its right-hand side."""
    px, py, pz = x * x * (1 - x), np.sin(np.pi * y), z * (1 - z)
    laplacian = (2 - 6 * x) * py * pz - np.pi**2 * px * py * pz - 2 * px * py
    return px * py * pz, -laplacian


def element_stiffness(h: float) -> np.ndarray:
    """Return the stiffness matrix of a cube of side h; corners are 0 or 1 along z, y, x."""
    slopes = np.array([[1.0, -1.0], [-1.0, 1.0]])
    values = np.array([[2.0, 1.0], [1.0, 2.0]]) / 6.0

    def product(z: np.ndarray, y: np.ndarray, x: np.ndarray) -> np.ndarray:
        return np.einsum("ab,cd,ef->acebdf", z, y, x).reshape(8, 8)

    return h * (
        product(slopes, values, values)
        + product(values, slopes, values)
        + product(values, values, slopes)
    )


class Problem:
    """A block of the n^3 elements of the unit cube, with the unknowns of its vertices."""

    def __init__(self, comm: MPI.Comm, n: int) -> None:
        self.comm = comm
        grid = np.array(MPI.Compute_dims(comm.size, 3))
        at = np.array(np.unravel_index(comm.rank, grid))
        begin, end = n * at // grid, n * (at + 1) // grid
        k, j, i = np.meshgrid(*map(np.arange, begin, end + 1), indexing="ij")
        self.gather = barrio.GatherScatter(comm, ((k * (n + 1) + j) * (n + 1) + i).ravel())
        share = np.ones(k.shape)
        self.gather.apply(share.reshape(-1))  # the number of blocks with the vertex
        self.share = 1.0 / share
        self.is_inside = np.all([(a > 0) & (a < n) for a in (i, j, k)], axis=0)
        self.exact, right_side = known_at(i / n, j / n, k / n)
        self.right_side = np.where(self.is_inside, right_side / n**3, 0.0)
        self.stiffness = element_stiffness(1.0 / n)

    def multiply(self, x: np.ndarray) -> np.ndarray:
        """Return A x: the contributions of this block's elements, then those of other blocks."""
        y = np.zeros_like(x)
        n_k, n_j, n_i = (length - 1 for length in x.shape)
        corners = [
            (slice(k, k + n_k), slice(j, j + n_j), slice(i, i + n_i))
            for k in (0, 1)
            for j in (0, 1)
            for i in (0, 1)
        ]
        for a, to in enumerate(corners):
            for b, source in enumerate(corners):
                y[to] += self.stiffness[a, b] * x[source]
        self.gather.apply(y.reshape(-1))
        return np.where(self.is_inside, y, 0.0)

    def dot(self, a: np.ndarray, b: np.ndarray) -> float:
        """Return the dot product, in which each vertex counts once."""
        return self.comm.allreduce(float(np.sum(self.share * a * b)))

    def solve(self) -> tuple[np.ndarray, int]:
        """Solve by conjugate gradients. Returns the solution and the number of iterations."""
        x = np.zeros_like(self.right_side)
        residual, direction = self.right_side.copy(), self.right_side.copy()
        rr = self.dot(residual, residual)
        wanted, n_iterations = 1e-20 * rr, 0
        while rr > wanted:
            image = self.multiply(direction)
            step = rr / self.dot(direction, image)
            x += step * direction
            residual -= step * image
            before, rr = rr, self.dot(residual, residual)
            direction = residual + rr / before * direction
            n_iterations += 1
        return x, n_iterations


def main(comm: MPI.Comm, n: int) -> None:
    problem = Problem(comm, n)
    u, n_iterations = problem.solve()
    error = comm.allreduce(float(np.max(np.abs(u - problem.exact))), MPI.MAX)
    if comm.rank == 0:
        print(f"{n}^3 elements, {n_iterations} iterations, largest error {error:.6f}")


main(MPI.COMM_WORLD, int(sys.argv[1]))
