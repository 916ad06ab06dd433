"""Time the messages of the predictive balance of the case `bubble` on all ranks, with packets of several sizes.

Run by packets.py. Cells start in slabs and migrate to the ranks that recursive bisection chooses for their predicted
work. `migrate` is Mesh.migrate, whose rounds take the packet size from the profile; but the size of the first packet
follows earlier traffic on that path. `columns` sends the same arrays, each as one message, in rounds whose packets all
have this size. Prints one JSON document.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from mpi4py import MPI

import barrio

RADIUS = 0.12
HALF = np.sqrt(0.5)
CENTRES = [(0.3, 0.3, 0.3), (0.7, 0.3, 0.5), (0.3, 0.7, 0.6), (0.68, 0.7, 0.3), (0.55, 0.5, 0.75)]
WAYS = [(1, 0, 0), (0, 1, 0), (0, 0, 1), (HALF, HALF, 0), (0, HALF, HALF)]
AUTOMATIC = 0
TWIN = -1  # automatic packets again: the difference between both is noise
N_SHORT = 5  # runs in one repetition if a run takes less than a millisecond


def predicted_work(centres: np.ndarray, n_boxes: int) -> np.ndarray:
    """Return the predicted cost of each tet, for the sizes of `bubble` with as many cells."""
    scale = 35 / n_boxes
    distance = np.min(
        [
            np.abs(np.linalg.norm(centres - (c + np.multiply(w, RADIUS / 5)), axis=1) - RADIUS)
            for c, w in zip(np.array(CENTRES), WAYS, strict=True)
        ],
        axis=0,
    )
    size = scale * np.clip(0.008 + 0.4 * np.maximum(distance - 0.016, 0), 0.008, 0.2)
    n_cells = 12 / (6 * n_boxes**3) / size**3
    return (64 * (1 + n_cells)).astype(np.int64)


class Balance:
    """A mesh in slabs, and the target rank of each cell."""

    def __init__(self, comm: MPI.Comm, n_boxes: int) -> None:
        boxed = barrio.box(comm, [n_boxes] * 3, tets=True)
        along = self._centres(boxed)[:, 2]
        slabs = np.minimum((along * comm.size).astype(np.int32), comm.size - 1)
        self.mesh = boxed.migrate(slabs)
        self.work = predicted_work(self._centres(self.mesh), n_boxes)
        self.to = self.mesh.balanced_ranks(self.work)

    @staticmethod
    def _centres(mesh: barrio.Mesh) -> np.ndarray:
        cells = mesh.cells[: mesh.n_owned(barrio.Dim.volume)]
        return mesh.coordinates[cells].mean(axis=1)

    def columns(self, rank: int) -> dict[int, list[list[np.ndarray]]]:
        """Return the arrays for each rank: vertices in one round, cells in the next."""
        cells = self.mesh.cells[: len(self.to)]
        columns = {}
        for to in np.unique(self.to[self.to != rank]):
            going = cells[self.to == to]
            vertices = np.unique(going)
            sizes = [
                [8, 8 * len(vertices), 24 * len(vertices)],
                [8, 8 * len(going), 16 * len(going)],
            ]
            columns[int(to)] = [[np.zeros(n, np.uint8) for n in of_round] for of_round in sizes]
        return columns


def seconds_of(comm: MPI.Comm, act: Callable[[], object]) -> float:
    comm.Barrier()
    begin = time.perf_counter()
    act()
    comm.Barrier()
    return comm.allreduce(time.perf_counter() - begin, MPI.MAX)


def profiles(comm: MPI.Comm, sizes: list[int], folder: Path) -> dict[int, str]:
    """Write profiles that differ only in the packet size; none for automatic packets."""
    os.environ["BARRIO_PROFILE"] = str(folder / "none.json")
    found = barrio.probe(comm, depth="check")
    profile = {**found["profile"]}
    seconds = dict.fromkeys(("alone", "untested", "one_test", "few_tests"), 0.0)
    profile["times"] = [{"bytes": 1024 * 4**i, **seconds} for i in range(7)]
    files = {AUTOMATIC: "off", TWIN: "off"}
    for size in sizes:
        files[size] = str(folder / f"{size}.json")
        entry = {"platform": found["platform"], "profile": {**profile, "packet_bytes": size}}
        document = {"schema": "barrio.profiles", "schema_version": 1, "profiles": [entry]}
        if comm.rank == 0:
            Path(files[size]).write_text(json.dumps(document), encoding="utf-8")
    comm.Barrier()
    return files


def measure(comm: MPI.Comm, n_boxes: int, sizes: list[int], n_repeats: int) -> dict:
    choices = [*sizes, AUTOMATIC, TWIN]
    with tempfile.TemporaryDirectory() as folder:
        files = profiles(comm, sizes, Path(folder))
        balances = {}
        for size in choices:
            os.environ["BARRIO_PROFILE"] = files[size]
            balances[size] = Balance(comm, n_boxes)
    columns = balances[AUTOMATIC].columns(comm.rank)
    of_all = comm.allgather(list(columns))
    neighbours = {*columns, *(rank for rank, to in enumerate(of_all) if comm.rank in to)}
    exchanges = {
        size: barrio.Exchange(comm, sorted(neighbours), packet_bytes=max(size, 0))
        for size in choices
    }

    def migrate(size: int) -> None:
        balances[size].mesh.migrate(balances[size].to)

    def balance(size: int) -> None:
        mesh = balances[size].mesh
        mesh.migrate(mesh.balanced_ranks(balances[size].work))

    def send(size: int) -> None:
        for of_round in (0, 1):
            with exchanges[size].round("u1") as messages:
                for to, arrays in columns.items():
                    for array in arrays[of_round]:
                        messages.send(to, array)
            for _ in messages.received():
                pass

    least: dict[str, dict[int, float]] = {}
    turn = 0
    for repeat in range(n_repeats + 1):  # the first one is a warm-up
        short = ("columns", send)
        for name, act in (("balance", balance), ("migrate", migrate), *[short] * N_SHORT):
            row = least.setdefault(name, dict.fromkeys(choices, np.inf))
            first = turn % len(choices)  # so that the predecessor of a choice varies
            turn += 1
            for size in [*choices[first:], *choices[:first]]:
                seconds = seconds_of(comm, lambda act=act, size=size: act(size))
                row[size] = min(row[size], seconds) if repeat > 0 else np.inf
    n_bytes = {to: sum(a.size for r in of_rounds for a in r) for to, of_rounds in columns.items()}
    to = balances[AUTOMATIC].to
    mine = {
        "cells": len(to),
        "cells_moved": int(np.sum(to != comm.rank)),
        "bytes_to": n_bytes,
        "messages_to": {to: sum(len(r) for r in of_rounds) for to, of_rounds in columns.items()},
    }
    return {"ranks": comm.size, "boxes": n_boxes, "of_rank": comm.gather(mine), "seconds": least}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--boxes", type=int, required=True)
    parser.add_argument("--sizes", type=int, nargs="+", required=True)
    parser.add_argument("--repeats", type=int, required=True)
    options = parser.parse_args()
    comm = MPI.COMM_WORLD
    document = measure(comm, options.boxes, options.sizes, options.repeats)
    if comm.rank == 0:
        sys.stdout.write(json.dumps(document) + "\n")


if __name__ == "__main__":
    main()
