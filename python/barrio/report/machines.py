"""The machine and the given order of a mapping, in words and as options of barrio map."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import prod

import numpy as np

from . import words
from .documents import Document

_TREE = re.compile(r"(\d+(?:[:/]\d+)*);([0-9.e+]+(?:[:][0-9.e+]+)*)")
_UNEVEN = re.compile(r"(\d{1,9}(?:,\d{1,9})+)((?::\d{1,9})*);.*")
_EVEN = re.compile(r"(\d{1,9}(?:[:/]\d{1,9})*);.*")
_USUAL_DISTANCES = ["1", "10"]  # inside a node and between nodes: the defaults of NODESxCORES
_MAX_SIZES = 6  # different node sizes that are listed one by one


@dataclass(frozen=True)
class Unit:
    """The nodes, or the switches, of a machine."""

    plural: str
    first_cores: np.ndarray


def cores_of_nodes(document: Document) -> list[int] | None:
    """Return the number of cores of each node; None if the document does not have them."""
    n_cores, n_nodes = int(document.data["cores"]), int(document.data["nodes"])
    text = document.text("machine")
    uneven = _UNEVEN.fullmatch(text)
    if uneven:
        sizes = [int(word) for word in uneven[1].split(",")]
        return sizes if len(sizes) == n_nodes and sum(sizes) == n_cores else None
    if n_cores % n_nodes or "cores in all" in text:  # the text has no sizes of different nodes
        return None
    return [n_cores // n_nodes] * n_nodes


def units(document: Document) -> list[Unit]:
    """Return the nodes and, if the machine's text has them, the switches and their groups."""
    sizes = cores_of_nodes(document)
    if sizes is None:
        return []
    first_cores = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    found = [Unit("nodes", first_cores)]
    n_nodes = 1
    for name, arity in zip(
        ("switches", "groups of switches"), _arities_outside(document), strict=False
    ):
        n_nodes *= arity
        found.append(Unit(name, first_cores[::n_nodes]))
    return found


def _arities_outside(document: Document) -> list[int]:
    """Return the nodes per switch, the switches per group, and so on, without the top level."""
    text = document.text("machine")
    uneven, even = _UNEVEN.fullmatch(text), _EVEN.fullmatch(text)
    if uneven:
        return [int(word) for word in uneven[2].split(":")[1:-1]]
    if not even:
        return []
    inside, _, outside = even[1].partition("/") if "/" in even[1] else even[1].partition(":")
    n_in_node = prod(int(word) for word in inside.split(":"))
    is_whole = n_in_node * int(document.data["nodes"]) == int(document.data["cores"])
    return [int(word) for word in outside.split(":")[:-1]] if is_whole else []


def node_names(document: Document) -> list[str]:
    """Return the names of the nodes, without domains if they stay distinct."""
    n_nodes = int(document.data["nodes"])
    names = [str(name) for name in document.items("node_names")]
    if len(names) != n_nodes:
        return [f"node{node}" for node in range(n_nodes)]
    return without_domains(names)


def without_domains(names: list[str]) -> list[str]:
    """Cut host names at the first dot, unless two names become the same."""
    hosts = [name.partition(".")[0] for name in names]
    return hosts if len(set(hosts)) == len(set(names)) else names


def nodes_in_words(document: Document) -> str:
    """Write 'two nodes of four cores'."""
    nodes = words.spelled(int(document.data["nodes"]), "node")
    sizes = cores_of_nodes(document)
    if sizes is None:
        return f"{nodes} with {words.spelled(int(document.data['cores']), 'core')} in total"
    if min(sizes) == max(sizes):
        return f"{nodes} of {words.spelled(sizes[0], 'core')}"
    if len(sizes) <= _MAX_SIZES:
        return f"{nodes} of {words.listing([str(size) for size in sizes])} cores"
    return f"{nodes} of {min(sizes)} to {max(sizes)} cores"


def machine_in_words(document: Document) -> str:
    """Write the machine with its distances, if its text is understood."""
    text, said = document.text("machine"), nodes_in_words(document)
    distances = _distances(text)
    if text.startswith("torus:"):
        return f"{said}, a torus ({text})"
    if len(distances) == 2:
        near, far = distances
        return (
            f"{said} ({machine_option(document)}), distance {near} in a node, {far} between nodes"
        )
    return f"{said} ({text})" if text else said


def machine_option(document: Document) -> str:
    """Return the value of --machine for this machine; empty if the document does not have it."""
    text = document.text("machine")
    if _distances(text) == _USUAL_DISTANCES:
        nodes, cores = int(document.data["nodes"]), int(document.data["cores"])
        return f"{nodes}x{cores // nodes}"
    return text


def _distances(text: str) -> list[str]:
    found = _TREE.fullmatch(text)
    return found[2].split(":") if found else []


def given_order(document: Document) -> str:
    """Return the kind of the given order: 'block', 'cyclic', or 'file' for any other."""
    given, sizes = document.data["given"], cores_of_nodes(document)
    if given == list(range(len(given))):
        return "block"
    if sizes is not None and given == _dealt(sizes)[: len(given)]:
        return "cyclic"
    return "file"


def _dealt(sizes: list[int]) -> list[int]:
    """Return the order of cores if ranks are dealt to the nodes in turn."""
    n_cores = sum(sizes)
    node_of = np.repeat(np.arange(len(sizes)), sizes)
    slot = np.arange(n_cores) - np.repeat(np.cumsum([0, *sizes[:-1]]), sizes)
    return np.lexsort((node_of, slot)).tolist()


def given_in_words(document: Document, who: str) -> str:
    """Write the given order as a clause on ranks or parts."""
    return {
        "block": f"block, {who} i on core i",
        "cyclic": f"cyclic, {who}s dealt to the nodes in turn",
        "file": "your own order, from a file",
    }[given_order(document)]
