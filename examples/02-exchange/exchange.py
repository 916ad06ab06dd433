"""Particles that move between neighbouring ranks, with barrio.Exchange and numpy.

mpiexec -n 4 python -m mpi4py exchange.py
"""

import barrio

# isort: split
import numpy as np
from mpi4py import MPI

N_SITES = 1024
N_PARTICLES = 8000
FARTHEST = 160
N_STEPS = 40
PARTICLE = np.dtype([("id", np.int64), ("site", np.int64)])


def mix(x: np.ndarray) -> np.ndarray:
    """Scramble 64 bits (SplitMix64)."""
    x = x.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def move(mine: np.ndarray, step: int) -> None:
    word = mix(mine["id"] * N_STEPS + step)
    distance = (word % np.uint64(2 * FARTHEST + 1)).astype(np.int64) - FARTHEST
    mine["site"] = (mine["site"] + distance) % N_SITES


def owner(site: np.ndarray, n_ranks: int) -> np.ndarray:
    return site * n_ranks // N_SITES


def deliver(mine: np.ndarray, exchange: barrio.Exchange, comm: MPI.Comm) -> np.ndarray:
    """Give each particle to the rank that owns its site."""
    to = owner(mine["site"], comm.size)
    leaving = {int(rank): mine[to == rank] for rank in np.unique(to)}
    coming = exchange.exchange(leaving, PARTICLE)
    return np.concatenate([mine[:0], *coming.values()])


def deliver_by_site(mine: np.ndarray, exchange: barrio.Exchange, comm: MPI.Comm) -> np.ndarray:
    """Do the same with one message for each site."""
    with exchange.round(PARTICLE) as r:
        for site in np.unique(mine["site"]):
            r.send(owner(site, comm.size), mine[mine["site"] == site])
    return np.concatenate([mine[:0], *(array for _, array in r.received())])


def main(comm: MPI.Comm) -> None:
    beside = {(comm.rank - 1) % comm.size, (comm.rank + 1) % comm.size} - {comm.rank}
    exchange = barrio.Exchange(comm, sorted(beside))
    ids = np.arange(N_PARTICLES)
    mine = np.empty(N_PARTICLES, PARTICLE)
    mine["id"], mine["site"] = ids, ids * N_SITES // N_PARTICLES
    mine = mine[owner(mine["site"], comm.size) == comm.rank]
    for step in range(N_STEPS):
        move(mine, step)
        mine = (deliver_by_site if step % 8 == 0 else deliver)(mine, exchange, comm)

    own = mix(mix(mine["id"]) ^ mine["site"].astype(np.uint64)).sum(dtype=np.uint64)
    total = np.array([len(mine), own], np.uint64)
    comm.Allreduce(MPI.IN_PLACE, total, MPI.SUM)
    if comm.rank == 0:
        print(f"python         {total[0]} particles, checksum {total[1]:016x}")


main(MPI.COMM_WORLD)
