"""The section on machines that were measured: bandwidth and time of messages by their size."""

from __future__ import annotations

import shlex
from typing import Any

from .. import words
from ..documents import Document
from ..figures import Line, by_size
from ..machines import without_domains
from ..markup import Html, figure, paragraph, table, tag
from ..message_times import MessageTimes, are_distances_known, message_bytes, rate, times_of
from ..story import Section, Story

_MAX_DRAWN = 3
_MAX_HOSTS = 4  # named one by one
_WHY_NOT = {
    "inside": "Inside a node nothing was measured: no host had two ranks.",
    "between": "Between nodes nothing was measured: all ranks were on one host.",
}


def machine_section(story: Story) -> Section | None:
    """Show what barrio map --measure found, and what barrio map does with it."""
    documents = story.results.of("machine")
    if not documents:
        return None
    body: list[Html] = []
    for document in documents[:_MAX_DRAWN]:
        body += _machine(document)
    left = [document.path.name for document in documents[_MAX_DRAWN:]]
    if left:
        body.append(paragraph(f"Not drawn: {', '.join(left)}.", class_="soft"))
    return Section("machine", "Messages inside a node and between nodes", body)


def _machine(document: Document) -> list[Html]:
    found = times_of(document)
    said = [_in_words(found[key]) if key in found else why for key, why in _WHY_NOT.items()]
    title = tag("h3", f"{document.path.name}: {_where(document)}")
    body = [title, paragraph(" ".join(said)), tag("ul", _uses(document), class_="follows")]
    if not found:
        return body
    return [*body, tag("div", _curves(list(found.values())), class_="pair tops"), _by_size(found)]


def _where(document: Document) -> str:
    """Write 'four ranks on two hosts, n01 and n02'."""
    hosts = document.items("hosts")
    names = list(dict.fromkeys(without_domains([name for name, _ in hosts])))
    said = (
        f"{words.spelled(sum(n for _, n in hosts), 'rank')} on {words.spelled(len(names), 'host')}"
    )
    return f"{said}, {words.listing(names)}" if len(names) <= _MAX_HOSTS else said


def _in_words(times: MessageTimes) -> str:
    at, highest = max(times.bandwidths(), key=lambda point: point[1])
    least = words.in_bytes(times.sizes[0])
    said = f"{times.name.capitalize()}, the latency is {words.seconds(times.latency)}, of {least}"
    if times.bandwidth:
        said += f", and the bandwidth {rate(times.bandwidth)}, by messages of 64 KiB and more without the latency"
    return f"{said}; the most reached is {rate(1e6 * highest)}, of {words.in_bytes(at)}."


def _uses(document: Document) -> list[Html]:
    """Tell the distances and the cost of a message, and the options of barrio map that take them."""
    near, far = (f"{distance:.3g}" for distance in document.items("distances"))
    option = tag("code", f"barrio map --machine {shlex.quote(document.path.name)}")
    if are_distances_known(document):
        apart = f"A byte between nodes costs {far} times as much as inside a node. "
        takes = f" takes these hosts, and the distances {near} and {far}."
    else:
        apart = (
            "How far nodes are apart is not known: this takes two nodes, and two ranks on one of "
            "them. "
        )
        takes = f" takes these hosts, and the usual distances {near} and {far}."
    n_bytes = message_bytes(document)
    if not n_bytes:
        costs = ["What a message between nodes costs beside its bytes is not known."]
    else:
        costs = [
            f"A message between nodes costs as much as {words.count(n_bytes)} bytes beside its "
            "own, latency times bandwidth; of shorter ones, most of the time is latency. ",
            tag("code", f"barrio map --message-bytes {n_bytes}"),
            " counts it.",
        ]
    return [tag("li", apart, option, takes), tag("li", costs)]


def _curves(found: list[MessageTimes]) -> list[Html]:
    """Draw figure 1 of Brandfass et al. 2012 and the times behind it."""
    names = words.listing([times.name for times in found])
    rates = [Line(t.name, t.bandwidths(), colour=t.colour) for t in found]
    rates += [Line("", t.modelled_bandwidths(), True, t.colour) for t in found]
    seconds = [Line(t.name, t.times(), colour=t.colour) for t in found]
    seconds += [Line("", t.modelled(), True, t.colour) for t in found]
    pairs = [
        f"{words.plural(times.n_pairs, 'pair')} {times.name}" for times in found if times.n_pairs
    ]
    of = f": the median of {words.listing(pairs)}, each at its best" if pairs else ""
    return [
        figure(
            by_size(rates, "bandwidth", "MB/s", f"Bandwidth by size of message, {names}"),
            f"Bandwidth {names}, by size of message, as in figure 1 of Brandfass et al. 2012; 1 MB "
            "is 10⁶ bytes. Dashed: what the latency and the bandwidth above give.",
        ),
        figure(
            by_size(seconds, "time, one way", "s", f"Time by size of message, {names}"),
            f"Time that a message takes one way{of}. Dashed: latency + size / bandwidth.",
        ),
    ]


def _by_size(found: dict[str, MessageTimes]) -> Html:
    """Show the same as numbers, and how much longer messages take between nodes."""
    head: list[Any] = ["size"]
    columns = []
    for times in found.values():
        head += [times.name, "MB/s"]
        columns += [
            {n: words.seconds(value) for n, value in times.times()},
            {n: words.number(value) for n, value in times.bandwidths()},
        ]
    if len(found) > 1:
        inside, between = (dict(found[key].times()) for key in ("inside", "between"))
        head.append("between / inside")
        columns.append({n: words.number(between[n] / inside[n]) for n in between if n in inside})
    sizes = sorted({n for times in found.values() for n in times.sizes})
    rows = [
        [words.in_bytes(n), *[column.get(n, words.NOTHING) for column in columns]] for n in sizes
    ]
    return table(head, rows, caption="Times one way, and bandwidths")
