"""An X-ray picture of a volume that no rank has completely: rays.cpp in Python, with the same pixels.

mpiexec -n 4 python -m mpi4py rays.py 96
"""

import sys

import barrio

# isort: split
import numpy as np
from mpi4py import MPI

N_BATCH = 512  # rays that a rank takes from its queue at once
N_AHEAD = 16  # voxels that a ray asks for at once
N_TOLERATED = 64  # surplus over a neighbour that is not worth a message
RAY = np.dtype([("pixel", "i4"), ("depth", "i4"), ("value", "i8")])


def mix(x: np.ndarray) -> np.ndarray:
    """Scramble 64 bits (SplitMix64)."""
    x = x.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def density_at(x: np.ndarray, y: np.ndarray, z: np.ndarray, n: int) -> np.ndarray:
    """Return the density of a grainy ball with a dense, off-centre core."""
    from_middle = (2 * x + 1 - n) ** 2 + (2 * y + 1 - n) ** 2 + (2 * z + 1 - n) ** 2
    from_core = (2 * x + 1 - n + n // 4) ** 2 + (2 * y + 1 - n) ** 2 + (2 * z + 1 - n) ** 2
    grain = (mix((z * n + y) * n + x) % np.uint64(3)).astype(np.int32)
    density = grain + np.where(25 * from_core <= 2 * n * n, 9, 1)
    return np.where(25 * from_middle > 16 * n * n, 0, density).astype(np.int32)


class Tracer:
    def __init__(self, comm: MPI.Comm, n: int) -> None:
        self.comm, self.n, self.opaque = comm, n, 2 * n
        self.first = (n * np.arange(comm.size + 1) + comm.size - 1) // comm.size  # of each slab
        beside = [rank for rank in (comm.rank - 1, comm.rank + 1) if 0 <= rank < comm.size]
        self.context = barrio.Context(comm)  # calls between any ranks
        self.exchange = barrio.Exchange(comm, beside)  # calls between neighbours
        low, high = self.first[comm.rank], self.first[comm.rank + 1]
        z, y, x = np.meshgrid(np.arange(low, high), np.arange(n), np.arange(n), indexing="ij")
        self.slab = density_at(x, y, z, n).ravel()
        # Rows of pixels, distributed like slabs: ranks in the middle have most work.
        self.queue = np.zeros((high - low) * n, RAY)
        self.queue["pixel"] = np.arange(low * n, high * n)
        self.finished = [self.queue[:0]]
        self.n_steps = 0

    def trace_all(self) -> None:
        """Trace until no rank has a ray left."""
        while self.comm.allreduce(len(self.queue)) > 0:
            self.balance()
            self.trace_some()

    def balance(self) -> None:
        """Give each neighbour with fewer rays a third of the difference."""
        mine = len(self.queue)
        theirs = self.exchange.neighbor_allgather(mine, "i8")
        given = {}
        for rank, (n_rays,) in theirs.items():
            if mine > n_rays + N_TOLERATED:
                n_given = (mine - n_rays) // 3
                given[rank], self.queue = self.queue[-n_given:], self.queue[:-n_given]
        taken = self.exchange.exchange(given, RAY)
        self.queue = np.concatenate([self.queue, *taken.values()])

    def trace_some(self) -> None:
        """Advance some rays by a few voxels. This rank may be asked even if it has no rays."""
        n = self.n
        begin = max(len(self.queue) - N_BATCH, 0)
        rays, self.queue = self.queue[begin:], self.queue[:begin]
        # Shape (rays, voxels ahead). Rays are slightly oblique.
        z = rays["depth"][:, None] + np.arange(N_AHEAD)
        x = rays["pixel"][:, None] % n + z // 4 - n // 8
        y = np.broadcast_to(rays["pixel"][:, None] // n, z.shape)
        inside = (z < n) & (x >= 0) & (x < n)
        x, y, z = x[inside], y[inside], z[inside]
        owner = z * self.comm.size // n
        voxel = ((z - self.first[owner]) * n + y) * n + x
        densities = np.zeros(inside.shape, np.int32)
        densities[inside] = self.context.ask(owner, voxel, lambda asked: self.slab[asked], "i4")
        for density in densities.T:
            rays["value"] += np.where(rays["value"] < self.opaque, density, 0)
        rays["depth"] += N_AHEAD
        self.n_steps += len(rays)
        goes_on = (rays["depth"] < n) & (rays["value"] < self.opaque)
        self.queue = np.concatenate([self.queue, rays[goes_on]])
        self.finished.append(rays[~goes_on])

    def picture(self) -> np.ndarray:
        """Return finished pixels, each on the rank that has its row."""
        rays = np.concatenate(self.finished)
        owner = rays["pixel"] // self.n * self.comm.size // self.n
        _, pixels = self.context.transfer(owner, rays)
        return pixels


def main(comm: MPI.Comm, n: int) -> None:
    tracer = Tracer(comm, n)
    tracer.trace_all()
    pixels = tracer.picture()
    own = mix(mix(pixels["pixel"]) ^ pixels["value"].astype(np.uint64)).sum(dtype=np.uint64)
    total = np.array([len(pixels), own], np.uint64)
    comm.Allreduce(MPI.IN_PLACE, total, MPI.SUM)
    share = comm.allreduce(tracer.n_steps) / comm.size
    busiest = comm.allreduce(tracer.n_steps, MPI.MAX)
    if comm.rank == 0:
        print(f"{n}^3 voxels, {total[0]} rays, checksum {total[1]:016x}")
        print(f"the busiest rank did {busiest / share:.2f} times its share")


main(MPI.COMM_WORLD, int(sys.argv[1]))
