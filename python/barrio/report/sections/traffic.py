"""The section on traffic: the amounts between ranks, and the effect of mapping."""

from __future__ import annotations

import numpy as np

from .. import words
from ..documents import Document
from ..machines import without_domains
from ..mapping_figures import Blocks, Order
from ..markup import Html, paragraph
from ..matrices import is_wide, matrices
from ..story import Section, Story
from ..traffic import Traffic
from .mapping import mapping_body

_MAX_DRAWN = 3  # mappings, and matrices without a mapping
_MAX_HOSTS = 4  # listed by name


def traffic_section(story: Story) -> Section | None:
    """Show traffic matrices and the effect of mapping."""
    maps, traffics = story.results.of("map"), story.results.of("traffic")
    if not maps and not traffics:
        return None
    body: list[Html] = []
    used: set[int] = set()
    for document in maps[:_MAX_DRAWN]:
        traffic = story.traffic_of(document)
        used |= {id(found) for found in (traffic.documents if traffic else [])}
        body += mapping_body(document, traffic)
    others = [traffic for traffic in traffics if id(traffic) not in used]
    for document in others[:_MAX_DRAWN]:
        body += _alone(document)
    left = [d.path.name for d in maps[_MAX_DRAWN:] + others[_MAX_DRAWN:]]
    if left:
        body.append(paragraph(f"Not drawn: {', '.join(left)}.", class_="soft"))
    return Section("traffic", "Traffic and mapping" if maps else "Traffic", body)


def _alone(document: Document) -> list[Html]:
    """Show traffic without a mapping, in the order of ranks."""
    traffic = Traffic([document])
    text = (
        f"{document.path.name}: {words.plural(traffic.n_ranks, traffic.who)} send each other "
        f"{words.in_bytes(traffic.flows().total)} in "
        f"{words.plural(traffic.flows('messages').total, 'message')}."
    )
    if "collectives" in document.rows:
        also = words.in_bytes(traffic.collectives().total)
        text += f" Collectives send another {also}, by a model; they are not drawn."
    if traffic.flows().total <= 0:
        return [paragraph(text)]
    order, where = _in_order_of_ranks(document, traffic.n_ranks)
    return [paragraph(text), matrices(traffic, "bytes", [order], 1, where)]


def _in_order_of_ranks(document: Document, n: int) -> tuple[Order, str]:
    """Return the ranks in numerical order, with their hosts as blocks if these are known."""
    ranks, title = np.arange(n), document.path.name
    hosts = document.items("hosts")
    if len(hosts) < 2 or sum(n_ranks for _, n_ranks in hosts) != n:
        return Order(title, ranks, is_by_core=False), ""
    names = without_domains([name for name, _ in hosts])
    n_hosts = len(set(names))
    said = f"It was recorded on {words.spelled(n_hosts, 'host')}"
    if n_hosts <= _MAX_HOSTS:
        said += f", {words.listing(list(dict.fromkeys(names)))}"
    if not is_wide(len(hosts)):
        return Order(title, ranks, is_by_core=False), f"{said}."
    starts = np.cumsum([0, *[n_ranks for _, n_ranks in hosts[:-1]]])
    return Order(
        title, ranks, Blocks(starts.tolist(), names), is_by_core=False
    ), f"{said}: the squares."
