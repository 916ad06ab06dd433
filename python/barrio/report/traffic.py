"""Traffic between ranks: what documents hold of it, added up by pairs of bins and of nodes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .documents import Document
from .machines import Unit, units

_COLUMNS = {"points": 2, "bytes": 3, "messages": 4}  # places in a row


@dataclass(frozen=True)
class Flows:
    """So much goes from each sender to its receiver; none from a rank to itself."""

    senders: np.ndarray
    receivers: np.ndarray
    amounts: np.ndarray

    @cached_property
    def total(self) -> float:
        """The sum of all."""
        return float(self.amounts.sum())


@dataclass(frozen=True)
class Traffic:
    """What ranks send each other: of one document, or the sum of several."""

    documents: list[Document]
    counts_collectives: bool = False

    @property
    def n_ranks(self) -> int:
        """The number of ranks, or parts."""
        return int(self.documents[0].data["ranks"])

    @property
    def who(self) -> str:
        """Whether it is between ranks, or parts that shared ranks when it was recorded."""
        return who_talks(self.documents[0])

    def flows(self, weight: str = "bytes") -> Flows:
        """Return what flows, as bytes, messages or points."""
        names = ["entries", "collectives"] if self.counts_collectives else ["entries"]
        return self._flows_of(names, weight)

    def collectives(self) -> Flows:
        """Return the bytes of collectives, counted above or not."""
        return self._flows_of(["collectives"], "bytes")

    def _flows_of(self, names: list[str], weight: str) -> Flows:
        found = [d.rows[name] for d in self.documents for name in names if name in d.rows]
        crosses = [rows[:, 0] != rows[:, 1] for rows in found]
        senders, receivers, amounts = (
            np.concatenate([np.empty(0), *[r[c, at] for r, c in zip(found, crosses, strict=True)]])
            for at in (0, 1, _COLUMNS.get(weight, _COLUMNS["bytes"]))
        )
        return Flows(senders.astype(np.int64), receivers.astype(np.int64), amounts)


def who_talks(document: Document) -> str:
    """Tell whether traffic is between ranks, or parts that shared ranks when it was recorded."""
    recorded = document.number("recorded_on_ranks")
    return "rank" if recorded is None or recorded == document.data["ranks"] else "part"


def find_traffic(mapped: Document, documents: list[Document]) -> Traffic | None:
    """Find the traffic a mapping was computed from: as many ranks, and the same sum.

    Several documents may be its phases. Where messages counted beside bytes, sums differ: there, the bytes
    that leave the busiest node have to be the same.
    """
    same = [d for d in documents if d.data["ranks"] == len(mapped.data["given"])]
    groups = [[document] for document in same] + ([same] if len(same) > 1 else [])
    tried = [Traffic(group) for group in groups]
    tried += [
        Traffic(group, True) for group in groups if any("collectives" in d.rows for d in group)
    ]
    wanted = mapped.number("total_weight")
    for traffic in tried:
        if wanted is None or _agree(traffic.flows(mapped.text("weight")).total, wanted):
            return traffic
    busiest, nodes = mapped.number("before", "max_node_out_bytes"), units(mapped)
    if busiest and nodes:
        for traffic in tried:
            leaving = bytes_leaving(traffic.flows(), units_of(nodes[0], mapped.data["given"]))
            if _agree(float(leaving.max(initial=0.0)), busiest):
                return traffic
    return None


def _agree(one: float, other: float) -> bool:
    return abs(one - other) <= 1e-9 * max(abs(other), 1.0)


def units_of(unit: Unit, cores: list[int]) -> np.ndarray:
    """Return the number of the node or switch that each core lies in."""
    return np.searchsorted(unit.first_cores, np.asarray(cores), side="right") - 1


def bytes_leaving(flows: Flows, node_of_rank: np.ndarray, n_nodes: int = 0) -> np.ndarray:
    """Return what leaves each node for others."""
    senders, receivers = node_of_rank[flows.senders], node_of_rank[flows.receivers]
    crosses = senders != receivers
    return np.bincount(senders[crosses], weights=flows.amounts[crosses], minlength=n_nodes)


def bin_size(n_ranks: int, cores_of_node: int, max_bins: int) -> int:
    """Choose how many ranks, in the order of cores, are one row of a picture with so many rows.

    Bins end where nodes do, if that takes less than twice as large ones.
    """
    least = max(1, -(-n_ranks // max_bins))
    for size in range(least, 2 * least):
        if cores_of_node % size == 0 or size % cores_of_node == 0:
            return size
    return least


def binned(flows: Flows, place_of_rank: np.ndarray, size: int) -> np.ndarray:
    """Add up what flows from each bin of so many places to each other one."""
    n_bins = max(1, -(-len(place_of_rank) // size))
    bin_of_rank = place_of_rank // size
    keys = bin_of_rank[flows.senders] * n_bins + bin_of_rank[flows.receivers]
    sums = np.bincount(keys, weights=flows.amounts, minlength=n_bins * n_bins)
    return sums.reshape(n_bins, n_bins)
