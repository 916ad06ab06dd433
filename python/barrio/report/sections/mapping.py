"""The effect of a mapping on traffic: matrices, costs, the heaviest links and the busiest nodes."""

from __future__ import annotations

from typing import Any

from .. import words
from ..documents import Document
from ..machines import (
    cores_of_nodes,
    given_in_words,
    given_order,
    machine_in_words,
    node_names,
    nodes_in_words,
)
from ..mapping_figures import AFTER, BEFORE, MAX_BARS, Bar, bars, leaving_nodes, short
from ..markup import Html, figure, paragraph, table, tag
from ..matrices import matrices, orders_of
from ..networks import Network, find_networks, node_bytes
from ..traffic import Traffic

_MAX_LINKS = 10
_MAX_NODES = 8  # in the table of bytes between nodes
_CONSTRUCTION = "#E69F00"


def has_gained(document: Document) -> bool:
    """Tell whether mapping found a better order than the given one."""
    return document.data["placement"] != document.data["given"]


def mapping_body(document: Document, traffic: Traffic | None) -> list[Html]:
    """Show one mapping, with its traffic if that is known."""
    n_ranks = len(document.data["given"])
    who = traffic.who if traffic else "rank"
    title = f"{document.path.name}: {words.plural(n_ranks, who)} on {nodes_in_words(document)}"
    body = [tag("h3", title), paragraph(_gain_in_words(document, who))]
    if traffic is None:
        missing = "Its traffic is not among the results."
        body.append(paragraph(missing, class_="soft"))
    else:
        body += _collectives(traffic)
        body += _matrices(document, traffic)
    body.append(tag("div", _costs(document, who), _cost_table(document), class_="beside"))
    body += _between_nodes(document, traffic)
    tables = _node_tables(document)
    return [*body, tag("div", tables, class_="beside") if tables else Html("")]


def _keys(document: Document) -> dict[str, str]:
    """Return the keys of the cores of ranks in the document, and the titles of these orders."""
    if has_gained(document):
        return {"given": "before", "placement": "after"}
    return {"given": "given order"}


def _gain_in_words(document: Document, who: str) -> str:
    before, after = (document.number(k, "inter_node_share") for k in ("before", "after"))
    crossing = [
        _weight_in_words(document, document.number(k, "inter_node_weight"))
        for k in ("before", "after")
    ]
    if not has_gained(document):
        return (
            f"The given order ({given_in_words(document, who)}) is kept, since no better one was "
            f"found: {words.percent(before)} ({crossing[0]}) of the traffic crosses between nodes."
        )
    text = (
        f"Placing each {who} near its partners reduces the traffic between nodes from "
        f"{words.percent(before)} ({crossing[0]}) to {words.percent(after)} "
        f"({crossing[1]}) of the total."
    )
    if before is not None and after is not None and after >= before:
        text = (
            f"The placement found costs less, with {words.percent(after)} ({crossing[1]}) of "
            f"the traffic between nodes, compared with {words.percent(before)} ({crossing[0]})."
        )
    return text + f" 'Before' is the given order: {given_in_words(document, who)}."


def _weight_in_words(document: Document, value: float | None) -> str:
    """Write a sum in the mapping's unit of weight: bytes, messages or points."""
    weight = document.text("weight") or "bytes"
    return words.in_bytes(value) if weight == "bytes" else f"{words.number(value)} {weight}"


def _collectives(traffic: Traffic) -> list[Html]:
    """Compare the traffic of collectives with messages from rank to rank."""
    if not any("collectives" in document.rows for document in traffic.documents):
        return []
    counted = "are" if traffic.counts_collectives else "are not"
    direct = Traffic(traffic.documents).flows().total
    text = (
        f"Messages from {traffic.who} to {traffic.who} carry {words.in_bytes(direct)}, collectives "
        f"{words.in_bytes(traffic.collectives().total)}, by a model. Collectives {counted} included here."
    )
    return [paragraph(text)]


def _matrices(document: Document, traffic: Traffic) -> list[Html]:
    weight = document.text("weight") or "bytes"
    if traffic.flows(weight).total <= 0:
        return []
    given = {"block": " (block)", "cyclic": " (cyclic)"}.get(given_order(document), "")
    titles = _keys(document)
    titles["given"] += given
    orders, where = orders_of(document, titles)
    sizes = cores_of_nodes(document)
    cores = sizes[0] if sizes and min(sizes) == max(sizes) else 1
    return [matrices(traffic, weight, orders, cores, where)]


def _costs(document: Document, who: str) -> Html:
    """Draw the cost of the given order, of the paper's construction and of the result."""
    before = document.number("before", "cost")
    if not before:
        return paragraph(f"No {who} sends anything to another, so all orders cost the same.")
    shown = []
    for name, cost, colour in (
        ("given order", before, BEFORE),
        ("the paper's construction", document.number("cost_construction"), _CONSTRUCTION),
        ("result", document.number("after", "cost"), AFTER),
        ("lower bound", document.number("lower_bound"), BEFORE),
    ):
        if cost is not None:
            share = 100.0 * cost / before
            said = f"{words.number(share)}\u00a0% ({words.number(cost)})"
            shown.append(Bar(name, share, said, colour, is_outline=name == "lower bound"))
    caption = (
        "Cost, the sum of weight × distance over all pairs, in per cent of the given order's. "
        "The lower bound may not be attainable."
    )
    mixed = [document.number(key, "mixed_cost") for key in ("before", "after")]
    if None not in mixed and mixed[0] != before:
        caption += (
            " The minimised cost includes the busiest node (--bottleneck): it went from "
            f"{words.number(mixed[0])} to {words.number(mixed[1])}."
        )
    return figure(bars(shown, "% of the given order", "Costs"), caption)


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
        pair("between nodes", lambda value: _weight_in_words(document, value), "inter_node_weight"),
        pair("share between nodes", share, "inter_node_share"),
        pair("leaving the busiest node", words.in_bytes, "max_node_out_bytes"),
    ]
    limited = "" if document.data.get("complete", True) else "; the time limit ended the search"
    caption = (
        f"Machine: {machine_in_words(document)}. Found by {document.text('method') or 'barrio map'} "
        f"in {words.seconds(document.number('seconds'))}{limited}. No placement costs less than "
        f"{words.number(document.number('lower_bound'))}."
    )
    return table(["", "before", "after", "change"], rows, caption=caption)


def _between_nodes(document: Document, traffic: Traffic | None) -> list[Html]:
    """Show the heaviest links between nodes, and the bytes that leave each node."""
    n_nodes = int(document.data["nodes"])
    if n_nodes < 2:
        return []
    titles = _keys(document)
    networks = find_networks(document, traffic, list(titles), _MAX_LINKS)
    if not networks:
        text = "The traffic between nodes is unknown, since the traffic is not among the results."
        return [paragraph(text, class_="soft")]
    if not any(network.links for network in networks):
        return [paragraph("No traffic crosses between nodes.")]
    names = node_names(document)
    named = list(zip(titles.values(), networks, (BEFORE, AFTER), strict=False))
    pictures = [
        _heaviest_links(title, networks, at, names) for at, title in enumerate(titles.values())
    ]
    series = [(title, network.out_bytes, colour) for title, network, colour in named]
    leaving = figure(
        leaving_nodes(series, names),
        "Bytes that leave each node"
        + (", the busiest first" if n_nodes <= MAX_BARS else ", sorted")
        + "; dashed: the mean. The busiest node determines the time of an exchange.",
    )
    return [
        tag("h4", "The heaviest links and the busiest nodes"),
        paragraph(_network_in_words(named, names)),
        tag("div", pictures, class_="pair tops"),
        tag("div", leaving, _link_table(named, names), class_="beside"),
    ]


def _heaviest_links(title: str, networks: list[Network], at: int, names: list[str]) -> Html:
    longest = max(link.n_bytes for network in networks for link in network.links)
    size, unit = words.unit_of(longest)
    colour = (BEFORE, AFTER)[at]
    shown = [
        Bar(
            " – ".join(short(names[node]) for node in link.nodes),
            link.n_bytes / size,
            words.in_bytes(link.n_bytes),
            colour,
        )
        for link in networks[at].links
    ]
    if not shown:
        return paragraph(f"{title.capitalize()}: no traffic crosses between nodes.")
    label = f"between two nodes, both ways, {unit}"
    plot = bars(shown, label, f"Heaviest links, {title}", longest / size, title)
    count = (
        "The heaviest link"
        if len(shown) == 1
        else f"The {words.spelled(len(shown), 'heaviest link')}"
    )
    caption = f"{count} between two nodes, {title}: the sum of the bytes both ways."
    return figure(plot, caption)


def _network_in_words(named: list[tuple[str, Network, str]], names: list[str]) -> str:
    told = []
    for title, network, _ in named:
        if not network.links:
            told.append(f"{title.capitalize()}: no traffic crosses between nodes.")
            continue
        link = network.links[0]
        ends = " and ".join(names[node] for node in link.nodes)
        busiest = int(network.out_bytes.argmax())
        told.append(
            f"{title.capitalize()}, the heaviest link, between {ends}, carries "
            f"{words.in_bytes(link.n_bytes)}; {words.in_bytes(network.out_bytes[busiest])} leave the "
            f"busiest node, {names[busiest]}, and {words.in_bytes(network.out_bytes.mean())} a node "
            "on average."
        )
    return " ".join(told)


def _link_table(named: list[tuple[str, Network, str]], names: list[str]) -> Html:
    """List the heaviest links with full names."""
    lists = [network.links for _, network, _ in named]
    rows = []
    for place in range(max(map(len, lists))):
        row: list[Any] = []
        for links in lists:
            link = links[place] if place < len(links) else None
            ends = " – ".join(names[node] for node in link.nodes) if link else words.NOTHING
            row += [tag("td", ends), words.in_bytes(link.n_bytes if link else None)]
        rows.append(row)
    head: list[Any] = []
    for title, _, _ in named:
        head += [tag("th", title, scope="col"), "bytes"]
    return table(head, rows, caption="The heaviest links between nodes, sum of both ways")


def _node_tables(document: Document) -> list[Html]:
    """Show bytes from node to node, before and after."""
    made = []
    names = node_names(document)
    keys = ("before", "after") if has_gained(document) else ("before",)
    for key in keys:
        values = node_bytes(document, key)
        if values is None or len(values) != len(names) or not 1 < len(names) <= _MAX_NODES:
            continue
        largest = float(values.max()) or 1.0
        body = []
        for index, row in enumerate(values):
            body.append([f"from {names[index]}", *[_shaded(value, largest) for value in row]])
        head = ["", *[f"to {name}" for name in names]]
        title = f"Bytes between nodes, {key if has_gained(document) else 'given order'}"
        made.append(table(head, body, caption=title))
    return made


def _shaded(value: float, largest: float) -> Html:
    share = f"--v:{(value / largest) ** 0.5:.2f}"
    return tag("td", words.in_bytes(value), class_="h", style=share)
