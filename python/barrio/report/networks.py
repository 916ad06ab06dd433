"""Traffic between nodes under a placement: the bytes that leave each node, and the heaviest links."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .documents import Document, as_number
from .machines import units
from .traffic import Flows, Traffic, bytes_leaving, units_of


@dataclass(frozen=True)
class Link:
    """Two nodes, and the bytes between them, both ways."""

    nodes: tuple[int, int]
    n_bytes: float


@dataclass(frozen=True)
class Network:
    """The bytes that leave each node, and the heaviest links, heaviest first."""

    out_bytes: np.ndarray
    links: list[Link]


def find_networks(
    document: Document, traffic: Traffic | None, keys: list[str], n_links: int
) -> list[Network]:
    """Find the traffic between nodes from the document's own sums, or from the traffic.

    @param keys of the cores of ranks: given, placement. @return one network for each, or an empty list
    """
    n_nodes = int(document.data["nodes"])
    sums = [node_bytes(document, "before" if key == "given" else "after") for key in keys]
    if all(found is not None and len(found) == n_nodes for found in sums):
        return [network_of_nodes(found, n_links) for found in sums if found is not None]
    known = units(document)
    if traffic is None or not known:
        return []
    flows = traffic.flows()
    return [
        network_of_ranks(flows, units_of(known[0], document.data[key]), n_nodes, n_links)
        for key in keys
    ]


def node_bytes(document: Document, key: str) -> np.ndarray | None:
    """Return the document's bytes from node (row) to node (column), if it has them."""
    rows = document.items(key, "node_bytes")
    if not rows or not all(isinstance(row, list) and len(row) == len(rows) for row in rows):
        return None
    return np.array([[as_number(value) or 0.0 for value in row] for row in rows])


def network_of_nodes(sums: np.ndarray, n_links: int) -> Network:
    """Make a network from a matrix of bytes from node to node."""
    both = np.triu(sums + sums.T, 1)
    first, second = np.nonzero(both)
    out_bytes = sums.sum(axis=1) - np.diagonal(sums)
    return Network(out_bytes, _heaviest(first, second, both[first, second], n_links))


def network_of_ranks(flows: Flows, node_of_rank: np.ndarray, n_nodes: int, n_links: int) -> Network:
    """Make a network from traffic between ranks, without a matrix of nodes."""
    senders, receivers = node_of_rank[flows.senders], node_of_rank[flows.receivers]
    crosses = senders != receivers
    senders, receivers = senders[crosses], receivers[crosses]
    keys = np.minimum(senders, receivers) * n_nodes + np.maximum(senders, receivers)
    pairs, pair_of = np.unique(keys, return_inverse=True)
    sums = np.bincount(pair_of, weights=flows.amounts[crosses], minlength=len(pairs))
    links = _heaviest(pairs // n_nodes, pairs % n_nodes, sums, n_links)
    return Network(bytes_leaving(flows, node_of_rank, n_nodes), links)


def _heaviest(first: np.ndarray, second: np.ndarray, sums: np.ndarray, n_links: int) -> list[Link]:
    """Choose the heaviest links; ties go to the first nodes."""
    chosen = [i for i in np.lexsort((second, first, -sums))[:n_links] if sums[i] > 0]
    return [Link((int(first[i]), int(second[i])), float(sums[i])) for i in chosen]
