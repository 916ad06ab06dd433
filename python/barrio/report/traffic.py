"""Traffic between ranks from documents, summed by pairs of bins and by node."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .documents import Document
from .machines import Unit, units

_COLUMNS = {"points": 2, "bytes": 3, "messages": 4}  # of a row


@dataclass(frozen=True)
class Flows:
    """Amounts from senders to receivers, without those from a rank to itself."""

    senders: np.ndarray
    receivers: np.ndarray
    amounts: np.ndarray

    @cached_property
    def total(self) -> float:
        """Sum of all amounts."""
        return float(self.amounts.sum())


@dataclass(frozen=True)
class Traffic:
    """Traffic between ranks, of one document or the sum of several."""

    documents: list[Document]
    counts_collectives: bool = False

    @property
    def n_ranks(self) -> int:
        """Number of ranks, or parts."""
        return int(self.documents[0].data["ranks"])

    @property
    def who(self) -> str:
        """The word for senders: 'rank', or 'part' if parts shared ranks when it was recorded."""
        return who_talks(self.documents[0])

    def flows(self, weight: str = "bytes") -> Flows:
        """Return the flows in bytes, messages or points."""
        names = ["entries", "collectives"] if self.counts_collectives else ["entries"]
        return self._flows_of(names, weight)

    def collectives(self) -> Flows:
        """Return the bytes of collectives, even if `flows` does not include them."""
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
    """Return the word for senders: 'rank', or 'part' if parts shared ranks when it was recorded."""
    recorded = document.number("recorded_on_ranks")
    return "rank" if recorded is None or recorded == document.data["ranks"] else "part"


def find_traffic(mapped: Document, documents: list[Document]) -> Traffic | None:
    """Find the traffic of a mapping: the same number of ranks, and the same sum.

    Several documents may be its phases. If messages count in addition to bytes, the sums differ; then the
    bytes that leave the busiest node must agree.
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
    """Return the number of the node or switch of each core."""
    return np.searchsorted(unit.first_cores, np.asarray(cores), side="right") - 1


def bytes_leaving(flows: Flows, node_of_rank: np.ndarray, n_nodes: int = 0) -> np.ndarray:
    """Return the bytes that leave each node."""
    senders, receivers = node_of_rank[flows.senders], node_of_rank[flows.receivers]
    crosses = senders != receivers
    return np.bincount(senders[crosses], weights=flows.amounts[crosses], minlength=n_nodes)


def bin_size(n_ranks: int, cores_of_node: int, max_bins: int) -> int:
    """Choose the number of ranks, in the order of cores, per row of a picture with max_bins rows.

    Bins end at node boundaries, if that makes them less than twice as large.
    """
    least = max(1, -(-n_ranks // max_bins))
    for size in range(least, 2 * least):
        if cores_of_node % size == 0 or size % cores_of_node == 0:
            return size
    return least


def binned(flows: Flows, place_of_rank: np.ndarray, size: int) -> np.ndarray:
    """Sum the flows between bins of `size` ranks each."""
    n_bins = max(1, -(-len(place_of_rank) // size))
    bin_of_rank = place_of_rank // size
    keys = bin_of_rank[flows.senders] * n_bins + bin_of_rank[flows.receivers]
    sums = np.bincount(keys, weights=flows.amounts, minlength=n_bins * n_bins)
    return sums.reshape(n_bins, n_bins)
