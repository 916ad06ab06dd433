"""The section on traffic: who sends how much to whom, before and after ranks were mapped."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import figures, words
from .documents import Document, as_number
from .machines import (
    cores_of_node,
    given_in_words,
    given_order,
    machine_in_words,
    nodes_in_words,
)
from .markup import Html, figure, paragraph, table, tag
from .story import Section, Story, traffic_matrix

_MAX_DRAWN = 3  # mappings, and matrices without one
_MAX_NODES = 8  # in the table of bytes between nodes
_MAX_RANKS = 2048  # in a drawn matrix


def traffic_section(story: Story) -> Section | None:
    """Show traffic matrices and what mapping made of them."""
    maps, traffics = story.results.of("map"), story.results.of("traffic")
    if not maps and not traffics:
        return None
    body: list[Html] = []
    used: list[Document] = []
    for document in maps[:_MAX_DRAWN]:
        traffic = story.traffic_of(document)
        if traffic is not None:
            used.append(traffic)
        body += _mapping(document, traffic)
    others = [traffic for traffic in traffics if traffic not in used]
    for traffic in others[:_MAX_DRAWN]:
        body += _alone(traffic)
    left = [d.path.name for d in maps[_MAX_DRAWN:] + others[_MAX_DRAWN:]]
    if left:
        body.append(paragraph(f"Not drawn: {', '.join(left)}.", class_="soft"))
    return Section("traffic", "Traffic and mapping" if maps else "Traffic", body)


def who_talks(traffic: Document) -> str:
    """Tell whether a matrix is between ranks, or parts that shared ranks when it was recorded."""
    recorded = traffic.number("recorded_on_ranks")
    return "rank" if recorded is None or recorded == traffic.data["ranks"] else "part"


def weight_in_words(document: Document, value: float | None) -> str:
    """Write a sum of what the mapping weighed: bytes, messages or points."""
    weight = document.text("weight") or "bytes"
    if weight == "bytes":
        return words.in_bytes(value)
    return f"{words.number(value)} {weight}"


def has_gained(document: Document) -> bool:
    """Tell whether mapping found a better order than the given one."""
    return document.data["placement"] != document.data["given"]


def core_order(document: Document, key: str) -> tuple[list[int], list[int]]:
    """Return the ranks in the order of their cores, and the node of each."""
    cores = document.data[key]
    order = sorted(range(len(cores)), key=lambda rank: cores[rank])
    size = cores_of_node(document)
    return order, [cores[rank] // size for rank in order]


def _alone(traffic: Document) -> list[Html]:
    who, n = who_talks(traffic), int(traffic.data["ranks"])
    sent = [entry for entry in traffic.data["entries"] if entry[0] != entry[1]]
    said = [
        paragraph(
            f"{traffic.path.name}: {words.plural(n, who)} send each other "
            f"{words.in_bytes(sum(entry[3] for entry in sent))} in "
            f"{words.plural(sum(entry[4] for entry in sent), 'message')}."
        )
    ]
    if n <= _MAX_RANKS:
        matrix = traffic_matrix(traffic)
        plot = figures.traffic_matrix(
            matrix, list(range(n)), [0] * n, [], float(matrix.max()), traffic.path.name, who
        )
        said.append(tag("div", figure(plot, f"From {who} (row) to {who} (column)."), class_="pair"))
    return said


def _mapping(document: Document, traffic: Document | None) -> list[Html]:
    n_ranks = len(document.data["given"])
    who = who_talks(traffic) if traffic else "rank"
    before, after = (document.number(k, "inter_node_share") for k in ("before", "after"))
    crossing = [
        weight_in_words(document, document.number(k, "inter_node_weight"))
        for k in ("before", "after")
    ]
    body = [
        tag(
            "h3",
            f"{document.path.name}: {words.plural(n_ranks, who)} on {nodes_in_words(document)}",
        ),
    ]
    if has_gained(document):
        text = (
            f"Placing each {who} by whom it talks to brings what crosses between nodes from "
            f"{words.percent(before)} ({crossing[0]}) down to {words.percent(after)} "
            f"({crossing[1]}) of the traffic."
        )
        if before is not None and after is not None and after >= before:
            text = (
                f"The placement found costs less, with {words.percent(after)} ({crossing[1]}) of "
                f"the traffic between nodes; before it was {words.percent(before)} ({crossing[0]})."
            )
        text += f" Before is the given order: {given_in_words(document, who)}."
        body.append(paragraph(text))
    else:
        body.append(
            paragraph(
                f"The given order ({given_in_words(document, who)}) is as good as anything found, "
                f"and stays: {words.percent(before)} ({crossing[0]}) of the traffic crosses "
                "between nodes."
            )
        )
    if traffic is None:
        body.append(
            paragraph("The traffic it was computed from is not among the results.", class_="soft")
        )
    elif n_ranks <= _MAX_RANKS:
        body.append(_matrices(document, traffic, who))
    body.append(tag("div", _cost_table(document), _node_tables(document), class_="beside"))
    return body


def _matrices(document: Document, traffic: Document, who: str) -> Html:
    weight = document.text("weight") or "bytes"
    matrix = traffic_matrix(traffic, weight)
    largest = float(matrix.max()) if matrix.size else 0.0
    names = [str(name) for name in document.items("node_names")]
    drawn = []
    given = {"block": " (block)", "cyclic": " (cyclic)"}.get(given_order(document), "")
    keys = (
        (("given", f"before{given}"), ("placement", "after"))
        if has_gained(document)
        else (("given", f"given order{given}"),)
    )
    for key, title in keys:
        order, node_of = core_order(document, key)
        plot = figures.traffic_matrix(matrix, order, node_of, names, largest, title, who, weight)
        caption = (
            f"{weight.capitalize()} from {who} (row) to {who} (column), in the order of their "
            f"cores {'before' if key == 'given' else 'after'} mapping. Heavy lines part the nodes: "
            "what lies outside the blocks on the diagonal crosses the network."
        )
        drawn.append(figure(plot, caption))
    return tag("div", drawn, class_="pair")


def _cost_table(document: Document) -> Html:
    def pair(name: str, write: Any, key: str) -> list[Any]:
        before, after = document.number("before", key), document.number("after", key)
        change = words.NOTHING
        if before is not None and after is not None and write is share:
            change = f"{100.0 * (after - before):+.2f} points"
        elif before and after is not None:
            change = f"{100.0 * (after - before) / before:+.1f} %"
        return [name, write(before), write(after), change.replace("-", "−")]

    def share(value: float | None) -> str:
        return words.percent(value, 2)

    rows = [
        pair("cost (weight × distance)", words.number, "cost"),
        pair("between nodes", lambda value: weight_in_words(document, value), "inter_node_weight"),
        pair("share between nodes", share, "inter_node_share"),
        pair("leaving the busiest node", words.in_bytes, "max_node_out_bytes"),
    ]
    limited = "" if document.data.get("complete", True) else "; the time limit cut the search short"
    caption = (
        f"Machine: {machine_in_words(document)}. Found by {document.text('method') or 'barrio map'} "
        f"in {words.seconds(document.number('seconds'))}{limited}. No placement costs less than "
        f"{words.number(document.number('lower_bound'))}."
    )
    return table(["", "before", "after", "change"], rows, caption=caption)


def _node_tables(document: Document) -> list[Html]:
    """Show bytes from node to node, before and after."""
    made = []
    names = [str(name) for name in document.items("node_names")]
    keys = ("before", "after") if has_gained(document) else ("before",)
    for key in keys:
        rows = document.items(key, "node_bytes")
        if not 1 < len(rows) <= _MAX_NODES or not all(isinstance(row, list) for row in rows):
            continue
        values = [[as_number(value) or 0.0 for value in row] for row in rows]
        largest = float(np.max([max(row, default=0.0) for row in values])) or 1.0
        body = []
        for index, row in enumerate(values):
            name = names[index] if index < len(names) else f"node {index}"
            body.append([f"from {name}", *[_shaded(value, largest) for value in row]])
        head = ["", *[f"to {names[i] if i < len(names) else i}" for i in range(len(values))]]
        title = f"Bytes between nodes, {key if has_gained(document) else 'given order'}"
        made.append(table(head, body, caption=title))
    return [tag("div", made)] if made else []


def _shaded(value: float, largest: float) -> Html:
    share = f"--v:{(value / largest) ** 0.5:.2f}"
    return tag("td", words.in_bytes(value), class_="h", style=share)
