"""Traffic matrices for any number of ranks, with nodes or switches as blocks."""

from __future__ import annotations

import numpy as np

from . import words
from .documents import Document
from .machines import Unit, node_names, units
from .mapping_figures import (
    MATRIX_WIDTH,
    MAX_NUMBERED,
    Blocks,
    Matrix,
    Order,
    Scale,
    scale_of,
    traffic_matrix,
)
from .markup import Html, figure, tag
from .traffic import Traffic, bin_size, binned, units_of

MAX_BINS = 384  # rows of a matrix: with more, single cells would be invisible on the page
_LEAST_BLOCK = 3  # pixels: thinner blocks are invisible


def matrices(traffic: Traffic, weight: str, orders: list[Order], cores: int, where: str) -> Html:
    """Draw traffic once for each order, in the same colours.

    cores: of a node, or 1. where: the sentence on the blocks
    """
    n, who = traffic.n_ranks, traffic.who
    size = bin_size(n, cores, MAX_BINS)
    flows = traffic.flows(weight)
    sums = []
    for order in orders:
        place_of_rank = np.empty(n, dtype=np.int64)
        place_of_rank[order.ranks] = np.arange(n)
        sums.append(binned(flows, place_of_rank, size))
    scale = scale_of(sums, weight)
    by = "their cores" if orders[0].is_by_core else "their numbers"
    caption = f"{_caption(weight, who, by, size, n, scale)} {where}"
    drawn = []
    for order, amounts in zip(orders, sums, strict=True):
        drawn.append(figure(traffic_matrix(Matrix(amounts, size, order, who), scale), caption))
        caption = (
            "The same traffic after mapping, in the order of the new cores, in the same colours."
        )
    return tag("div", drawn, class_="pair tops")


def _caption(weight: str, who: str, by: str, size: int, n: int, scale: Scale) -> str:
    """Describe the axes and the cells."""
    text = (
        f"{weight.capitalize()} from {who} (row) to {who} (column), in the order of {by}. "
        "The colour scale is logarithmic; white is zero."
    )
    if size > 1:
        text += f" Each cell is the sum over {size} × {size} {who}s."
    if n <= MAX_NUMBERED and weight == "bytes":
        text += f" Numbers are in {words.unit_of(scale.high)[1]}."
    return text


def orders_of(document: Document, titles: dict[str, str]) -> tuple[list[Order], str]:
    """Return ranks in the order of their cores, with the smallest visible units as blocks.

    @param titles by the key of the cores: given, placement. @return orders, and the sentence on the blocks
    """
    cores = [np.asarray(document.data[key], dtype=np.int64) for key in titles]
    ranks = [np.argsort(values, kind="stable") for values in cores]
    in_order = [values[order] for values, order in zip(cores, ranks, strict=True)]
    known = units(document)
    seen = None
    if document.data["nodes"] > 1:
        seen = next((u for u in known if all(_is_seen(u, cores) for cores in in_order)), None)
    if seen is None:
        plain = [Order(title, order) for title, order in zip(titles.values(), ranks, strict=True)]
        return plain, _why_no_blocks(document, known)
    is_node = seen is known[0]
    names = node_names(document) if is_node else []
    orders = []
    for title, order, values in zip(titles.values(), ranks, in_order, strict=True):
        starts = _starts(seen, values)
        numbers = units_of(seen, values[starts])
        named = [names[i] for i in numbers] if is_node else []
        orders.append(Order(title, order, Blocks(starts.tolist(), named)))
    return orders, _said_of(seen, is_node)


def _starts(unit: Unit, cores: np.ndarray) -> np.ndarray:
    """Return the positions in a list of ascending cores where a node or switch begins."""
    numbers = units_of(unit, cores)
    return np.flatnonzero(np.diff(numbers, prepend=-1))


def _is_seen(unit: Unit, cores: np.ndarray) -> bool:
    return is_wide(len(_starts(unit, cores)))


def is_wide(n_blocks: int) -> bool:
    """Tell whether this many blocks are visible in a matrix."""
    return n_blocks * _LEAST_BLOCK <= MATRIX_WIDTH


def _said_of(unit: Unit, is_node: bool) -> str:
    if is_node:
        return "Squares are nodes: traffic outside of them crosses the network."
    return (
        f"Squares are {unit.plural}; nodes are too small to be visible here. Traffic outside of the "
        f"squares crosses between {unit.plural}."
    )


def _why_no_blocks(document: Document, known: list[Unit]) -> str:
    if document.data["nodes"] == 1:
        return "All cores are on one node."
    if not known:
        return "Nodes are not drawn: the document does not have their sizes."
    return "Nodes are too small to be visible here, and are not drawn."
