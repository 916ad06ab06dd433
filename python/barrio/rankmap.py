"""Place ranks on cores so that ranks with much traffic are near each other.

    from barrio import rankmap

    traffic = rankmap.read_traffic("traffic.json")
    placed = rankmap.place(traffic, "8x16")
    print(placed.cost_before, placed.cost_after)
    placed.write("rankfile", "openmpi-rankfile")

In a running program `reorder` returns a communicator in a better order.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from barrio import _mpi
from barrio._arrays import integers
from barrio.errors import ErrorCode, UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from mpi4py import MPI

_MAX_SQUARES = 512  # along each side of a drawn matrix
__all__ = ["Placed", "Reordered", "Traffic", "place", "place_qaplib", "read_traffic", "reorder"]


def _usage(subject: str, cause: str, remedy: str) -> UsageError:
    return UsageError(ErrorCode.usage, subject, cause, remedy)


def _ranks(values: ArrayLike, what: str) -> NDArray[np.int32]:
    return integers(values, what, np.int32)


def _amounts(values: ArrayLike, n: int, what: str) -> NDArray[np.float64]:
    """Convert to an amount for each of n pairs; refuse what no traffic can be."""
    given = np.asarray(values)
    if given.size > 0 and given.dtype.kind not in "fiu":
        raise _usage(what, f"have the type {given.dtype}", "give real numbers")
    given = np.ascontiguousarray(given, dtype=np.float64)
    if given.shape != (n,):
        raise _usage(what, f"have the shape {given.shape}, not ({n},)", "give one for each pair")
    wrong = np.flatnonzero(~(np.isfinite(given) & (given >= 0)))
    if len(wrong) > 0:
        cause = f"are {given[wrong[0]]:g} for pair {wrong[0]}"
        raise _usage(what, cause, "give finite numbers >= 0")
    return given


@dataclass(frozen=True)
class Traffic:
    """Sparse traffic matrix: pairs of ranks, with the bytes and messages sent in that direction."""

    n_ranks: int
    pairs: NDArray[np.int32]
    """Shape (n, 2): from, to."""
    bytes: NDArray[np.float64]
    messages: NDArray[np.float64]
    points: NDArray[np.float64]

    @staticmethod
    def of(
        n_ranks: int, pairs: ArrayLike, bytes: ArrayLike, messages: ArrayLike | None = None
    ) -> Traffic:
        """Make traffic from arrays. Without `messages`, each pair counts as one message."""
        ends = (
            _ranks(pairs, "pairs").reshape(0, 2) if np.size(pairs) == 0 else _ranks(pairs, "pairs")
        )
        if ends.ndim != 2 or ends.shape[1] != 2:
            raise _usage(
                "pairs", f"have the shape {ends.shape}, not (n, 2)", "give from and to in each row"
            )
        outside = np.flatnonzero(((ends < 0) | (ends >= n_ranks)).any(axis=1))
        if len(outside) > 0:
            row = ends[outside[0]]
            raise _usage(
                "pairs",
                f"have {row[0]} to {row[1]}, but there are {n_ranks} ranks",
                "give ranks from 0 to n_ranks - 1",
            )
        sizes = _amounts(bytes, len(ends), "bytes")
        counts = (
            np.ones_like(sizes) if messages is None else _amounts(messages, len(ends), "messages")
        )
        return Traffic(n_ranks, ends, sizes, counts, np.zeros_like(sizes))

    def plot(self, axes: Any = None) -> Any:
        """Draw the bytes of all pairs as a matrix: rows send, columns receive. Local.

        Of many ranks, each square is of several. `axes` is matplotlib's; new ones by default. Returns the axes.
        """
        import matplotlib.pyplot as plt
        from matplotlib.colors import LogNorm

        if axes is None:
            _, axes = plt.subplots()
        n = min(self.n_ranks, _MAX_SQUARES)
        share = -(-self.n_ranks // n)
        squares = np.zeros((n, n))
        np.add.at(squares, (self.pairs[:, 0] // share, self.pairs[:, 1] // share), self.bytes)
        shown = np.ma.masked_less_equal(squares, 0.0)
        scale = None
        if shown.count() and shown.max() > shown.min():
            scale = LogNorm(shown.min(), shown.max())
        end = n * share - 0.5
        image = axes.imshow(shown, norm=scale, extent=(-0.5, end, end, -0.5), cmap="viridis")
        axes.set_xlabel("receiving rank")
        axes.set_ylabel("sending rank")
        axes.figure.colorbar(image, ax=axes, label="bytes")
        return axes


@dataclass(frozen=True)
class Placed:
    """A placement found, and the given order that it is compared with."""

    placement: NDArray[np.int32]
    """The core of each rank; cores are numbered node by node."""
    given: NDArray[np.int32]
    """The core of each rank in the given order."""
    document: dict[str, Any]
    """The document barrio.map, as `barrio map --json` prints it."""
    machine: str
    hosts: str

    @property
    def cost_before(self) -> float:
        """Sum of traffic times distance over all pairs, in the given order."""
        return float(self.document["before"]["cost"])

    @property
    def cost_after(self) -> float:
        """Sum of traffic times distance over all pairs, in the placement found."""
        return float(self.document["after"]["cost"])

    def write(self, path: str | Path, format: str) -> None:
        """Write a launcher file. It appears complete or not at all.

        `format`: openmpi-rankfile, openmpi-seq, mpich, intel, cray, slurm, flux, permutation.
        """
        _mpi.load_core()._write_order(str(path), format, self.machine, self.hosts, self.placement)


@dataclass(frozen=True)
class Reordered:
    """A communicator of the same processes in a better order. Free it with `comm.Free()`."""

    comm: MPI.Intracomm
    cost_before: float
    cost_after: float
    share_before: float
    """Share of the weight that crosses nodes, 0 to 1, before."""
    share_after: float
    n_moved: int
    """Number of ranks that moved to another process."""


def read_traffic(path: str | Path, *, collectives: float = 1.0) -> Traffic:
    """Read a traffic file of any format that `barrio map` reads. Local.

    `collectives`: weight of collective traffic in a recorded run; other traffic has weight 1.
    """
    n_ranks, pairs, n_bytes, messages, points = _mpi.load_core()._read_traffic(
        str(path), collectives
    )
    return Traffic(n_ranks, pairs.reshape(-1, 2), n_bytes, messages, points)


def place(
    traffic: Traffic,
    machine: str = "",
    *,
    hosts: str = "",
    given: ArrayLike | None = None,
    pins: Sequence[tuple[int, int]] = (),
    weight: str = "bytes",
    message_bytes: float = 0.0,
    bottleneck: float = 0.0,
    method: str = "best",
    seconds: float | None = None,
    seed: int = 1,
) -> Placed:
    """Find a placement of low cost, never worse than the given one. Local.

    `machine` and `hosts` are as in `barrio map --machine` and `--hosts`. `given` is the core of each rank; None fills
    node by node. `pins` are pairs of a rank and its core, -1 for its given core. The same `seconds` and `seed` give
    the same result. Raises UsageError and BadInputError.
    """
    text = _mpi.load_core()._place_ranks(
        traffic.n_ranks,
        traffic.pairs,
        traffic.bytes,
        traffic.messages,
        traffic.points,
        str(machine),
        hosts,
        None if given is None else _ranks(given, "given").reshape(-1),
        [(int(rank), int(core)) for rank, core in pins],
        weight,
        message_bytes,
        bottleneck,
        method,
        seconds,
        seed,
    )
    document = json.loads(text)
    placement, old = (np.asarray(document[key], dtype=np.int32) for key in ("placement", "given"))
    return Placed(placement, old, document, machine, hosts)


def place_qaplib(
    path: str | Path, *, flows_first: bool = False, seconds: float | None = None, seed: int = 1
) -> Placed:
    """Read a QAPLIB problem and find a placement of low cost. Local.

    The file has the size and two matrices; the first has the distances, unless `flows_first`. Diagonals count, so
    `cost_after` is QAPLIB's objective. The same `seconds` and `seed` give the same result. Raises BadInputError.
    """
    text = _mpi.load_core()._place_qaplib(str(path), flows_first, seconds, seed)
    document = json.loads(text)
    placement, old = (np.asarray(document[key], dtype=np.int32) for key in ("placement", "given"))
    return Placed(placement, old, document, str(document["machine"]), "")


def reorder(
    comm: MPI.Intracomm,
    neighbours: ArrayLike,
    weights: ArrayLike,
    *,
    node: int | None = None,
    inside: float = 1.0,
    outside: float = 10.0,
    seconds: float = 0.05,
    min_gain: float = 0.02,
    seed: int = 1,
) -> Reordered:
    """Return a communicator in which ranks with much traffic share a node. Collective over comm.

    This is what MPI_Dist_graph_create(reorder=1) promises. Rank i of the result has the neighbours that rank i of
    `comm` names here, but may be a different process, so call this before data is distributed. `neighbours` are the
    ranks that this rank sends to, `weights` the amounts, in any unit. `node`: a number common to the ranks of one node;
    None: ranks that share memory form a node. Raises the same error on every rank.
    """
    problem: Exception | None = None
    mine, amounts = np.zeros(0, dtype=np.int32), np.zeros(0)
    try:
        mine = _ranks(neighbours, "neighbours").reshape(-1)
        amounts = np.ascontiguousarray(weights, dtype=np.float64).reshape(-1)
        node = None if node is None else int(node)
    except (TypeError, ValueError, UsageError) as caught:
        problem = caught
    if (
        comm.allreduce(int(problem is not None)) > 0
    ):  # an error on one rank alone would leave the others waiting
        raise problem or _usage(
            "reorder", "has wrong arguments on another rank", "see the error of that rank"
        )
    rank, *figures = _mpi.load_core()._reorder(
        comm,
        mine,
        amounts,
        node,
        inside,
        outside,
        seconds,
        min_gain,
        seed,
    )
    return Reordered(comm.Split(0, rank), *figures)
