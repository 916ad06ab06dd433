"""The section on measured machines: bandwidth and time of messages by size."""

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
_MAX_HOSTS = 4  # listed by name
_WHY_NOT = {
    "inside": "Nothing was measured inside a node: no host had two ranks.",
    "between": "Nothing was measured between nodes: all ranks were on one host.",
}


def machine_section(story: Story) -> Section | None:
    """Show the results of barrio map --measure, and their use in barrio map."""
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
    said = f"{times.name.capitalize()}, the latency is {words.seconds(times.latency)} for {least}"
    if times.bandwidth:
        said += f", and the bandwidth is {rate(times.bandwidth)} for messages of at least 64 KiB, without the latency"
    return f"{said}; the highest rate is {rate(1e6 * highest)}, for {words.in_bytes(at)}."


def _uses(document: Document) -> list[Html]:
    """Write the distances and the cost of a message, and the options of barrio map for them."""
    near, far = (f"{distance:.3g}" for distance in document.items("distances"))
    option = tag("code", f"barrio map --machine {shlex.quote(document.path.name)}")
    if are_distances_known(document):
        apart = f"A byte between nodes costs {far} times as much as inside a node. "
        takes = f" uses these hosts, and the distances {near} and {far}."
    else:
        apart = (
            "The distance between nodes is unknown: measuring it takes two nodes, and two ranks on "
            "one of them. "
        )
        takes = f" uses these hosts, and the default distances {near} and {far}."
    n_bytes = message_bytes(document)
    if not n_bytes:
        costs = ["The cost of a message between nodes, in addition to its bytes, is unknown."]
    else:
        costs = [
            f"A message between nodes costs as much as {words.count(n_bytes)} bytes in addition to its "
            "own: latency times bandwidth. In shorter messages, most of the time is latency. ",
            tag("code", f"barrio map --message-bytes {n_bytes}"),
            " includes this cost.",
        ]
    return [tag("li", apart, option, takes), tag("li", costs)]


def _curves(found: list[MessageTimes]) -> list[Html]:
    """Draw figure 1 of Brandfass et al. 2012, and its times."""
    names = words.listing([times.name for times in found])
    rates = [Line(t.name, t.bandwidths(), colour=t.colour) for t in found]
    rates += [Line("", t.modelled_bandwidths(), True, t.colour) for t in found]
    seconds = [Line(t.name, t.times(), colour=t.colour) for t in found]
    seconds += [Line("", t.modelled(), True, t.colour) for t in found]
    pairs = [
        f"{words.plural(times.n_pairs, 'pair')} {times.name}" for times in found if times.n_pairs
    ]
    of = f": the median of {words.listing(pairs)}, each by its fastest message" if pairs else ""
    return [
        figure(
            by_size(rates, "bandwidth", "MB/s", f"Bandwidth by message size, {names}"),
            f"Bandwidth {names}, by message size, as in figure 1 of Brandfass et al. 2012; 1 MB "
            "is 10⁶ bytes. Dashed: the model of latency and bandwidth above.",
        ),
        figure(
            by_size(seconds, "one-way time", "s", f"Time by message size, {names}"),
            f"One-way time of a message{of}. Dashed: latency + size / bandwidth.",
        ),
    ]


def _by_size(found: dict[str, MessageTimes]) -> Html:
    """Show the same as numbers, with the ratio of times between and inside nodes."""
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
    return table(head, rows, caption="One-way times, and bandwidths")
