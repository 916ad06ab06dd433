"""A mapping's machine and its given order, in words and as options of barrio map."""

from __future__ import annotations

import re

from . import words
from .documents import Document

_TREE = re.compile(r"(\d+(?:[:/]\d+)*);([0-9.e+]+(?:[:][0-9.e+]+)*)")
_USUAL_DISTANCES = ["1", "10"]  # inside a node and between two, where NODESxCORES says no more


def cores_of_node(document: Document) -> int:
    """The number of cores of one node."""
    return max(1, int(document.data["cores"]) // int(document.data["nodes"]))


def nodes_in_words(document: Document) -> str:
    """Write 'two nodes of four cores'."""
    nodes = words.spelled(int(document.data["nodes"]), "node")
    return f"{nodes} of {words.spelled(cores_of_node(document), 'core')}"


def machine_in_words(document: Document) -> str:
    """Write the machine with its distances, as far as its text is understood."""
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
    """Return what --machine takes to mean this machine; nothing if the document does not say."""
    text = document.text("machine")
    if _distances(text) == _USUAL_DISTANCES:
        return f"{document.data['nodes']}x{cores_of_node(document)}"
    return text


def _distances(text: str) -> list[str]:
    found = _TREE.fullmatch(text)
    return found[2].split(":") if found else []


def given_order(document: Document) -> str:
    """Tell the order that was to be beaten: 'block', 'cyclic', or 'file' for any other."""
    given, nodes = document.data["given"], int(document.data["nodes"])
    if given == list(range(len(given))):
        return "block"
    size = cores_of_node(document)
    if given == [rank % nodes * size + rank // nodes for rank in range(len(given))]:
        return "cyclic"
    return "file"


def given_in_words(document: Document, who: str) -> str:
    """Write the given order as a clause on ranks or parts."""
    return {
        "block": f"block, {who} i on core i",
        "cyclic": f"cyclic, {who}s dealt round the nodes",
        "file": "an order of your own, from a file",
    }[given_order(document)]
