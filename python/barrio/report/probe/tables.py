"""Tables and plots of the probe's measurements."""

from __future__ import annotations

from typing import Any

from .. import figures, words
from ..documents import Document
from ..figures import Line
from ..markup import Html, figure, paragraph, table, tag
from .data import (
    Transport,
    disturbance,
    is_true,
    limit,
    limits_of,
    onset,
    rows,
    size,
    sizes_of_mode,
    test_counts,
    wait_after,
)
from .follows import FEW_TESTS, released


def _blocks(row: Document, flag: str, key: str) -> Any:
    """Write a time, with 'blocks' in bold if the call blocks."""
    said = words.seconds(row.number(key))
    if not is_true(row, flag):
        return said
    return tag("td", tag("b", "blocks"), f", {said}", class_="n")


def _tests(n: int, one: str = "test") -> str:
    return f"{n} {one}{'' if n == 1 else 's'}" if n else f"no {one}"


def overlap_plot(transport: Transport) -> Html | None:
    """Draw the wait after computing, by size, for each number of tests."""
    entries = transport.rows("overlap")
    lines = [
        Line(_tests(n), _points(entries, lambda row, n=n: wait_after(row, n)))
        for n in test_counts(transport)
    ]
    lines = [line for line in lines if line.points]
    if not lines:
        return None
    alone = Line("exchange alone", _points(entries, lambda row: row.number("alone_seconds")), True)
    plot = figures.by_size([*lines, alone], "wait after computing", "s", "Wait after computing")
    return figure(
        plot,
        "Wait after computing, by size and by the number of tests meanwhile. "
        "Dashed: the exchange without computing.",
    )


def _points(entries: list[Document], value_of: Any) -> list[tuple[float, float]]:
    found = [(row.number("bytes"), value_of(row)) for row in entries]
    return [(n, value) for n, value in found if n is not None and value is not None]


def overlap_table(transport: Transport, caption: str = "") -> Html | None:
    """Show the same as numbers, with the share of the exchange hidden by computing."""
    entries = transport.rows("overlap")
    if not entries:
        return None
    counts = test_counts(transport)
    head = ["size", "alone", *[f"wait, {_tests(n)}" for n in counts]]
    head += [f"wait, {_tests(FEW_TESTS, 'probe')}", "hidden at most"]
    lines = []
    for row in entries:
        saved = [
            entry.number("overlap") if entry.number("saved") is None else entry.number("saved")
            for entry in rows(row, "tests")
        ]
        known = [share for share in saved if share is not None]
        lines.append(
            [
                size(row.number("bytes")),
                words.seconds(row.number("alone_seconds")),
                *[words.seconds(wait_after(row, n)) for n in counts],
                words.seconds(wait_after(row, FEW_TESTS, "iprobes")),
                words.percent(max(known), 0) if known else words.NOTHING,
            ]
        )
    return table(head, lines, caption=caption or None)


_CALLS = {
    "Isend": "isend_seconds",
    "Irecv": "irecv_seconds",
    "Ws": "wait_send_seconds",
    "Wr": "wait_receive_seconds",
}


def blocking_tables(transport: Transport) -> list[Html]:
    """Show the time of each call by size, and where calls wait for the other side."""
    entries = transport.rows("blocking_calls")
    if not entries:
        return []
    early = {row.number("bytes"): row for row in sizes_of_mode(transport, "standard")}
    locks = {row.number("bytes"): row for row in transport.rows("deadlocks")}
    one_way, both_ways = [], []
    for row in entries:
        n = row.number("bytes")
        times = [
            [words.seconds(row.number(way, key)) for key in _CALLS.values()]
            for way in ("one_way", "two_way")
        ]
        at_once, lock = early.get(n), locks.get(n)
        waits = _blocks(at_once, "wait_blocks", "wait_send_seconds") if at_once else words.NOTHING
        one_way.append([size(n), *times[0], waits, _passage(lock) if lock else words.NOTHING])
        both_ways.append([size(n), *times[1]])
    return [
        paragraph(
            "Ws, Wr: the waits for the send and for the receive, after computing. Ws at once: a "
            "wait right after its send. Sends first: both ranks wait for their sends before they "
            "post their receives."
        ),
        table(["size", *_CALLS, "Ws at once", "sends first"], one_way, caption="One way."),
        table(
            ["size", *_CALLS],
            both_ways,
            caption="Both ways at once. Isend and Ws: of rank 0. Irecv and Wr: of rank 1.",
        ),
    ]


def _passage(lock: Document) -> Any:
    if is_true(lock, "would_deadlock"):
        return tag("td", tag("b", "would deadlock"), class_="n")
    return "no deadlock"


def modes_table(transport: Transport) -> Html | None:
    """Show each send and the wait right after it, by mode and size."""
    modes = [entry.text("mode") for entry in transport.rows("early_waits")]
    if not modes:
        return None
    by_mode = [{row.number("bytes"): row for row in sizes_of_mode(transport, m)} for m in modes]
    sizes = sorted({n for entries in by_mode for n in entries if n is not None})
    names = {"standard": "Isend", "buffered": "Ibsend", "synchronous": "Issend", "ready": "Irsend"}
    head = ["size"]
    for mode in modes:
        head += [names.get(mode, mode), "its wait"]
    lines = []
    for n in sizes:
        line: list[Any] = [size(n)]
        for entries in by_mode:
            row = entries.get(n)
            line += [
                _blocks(row, "isend_blocks", "isend_seconds") if row else words.NOTHING,
                _blocks(row, "wait_blocks", "wait_send_seconds") if row else words.NOTHING,
            ]
        lines.append(line)
    return table(
        head,
        lines,
        caption="The receive is posted; the receiver computes for 1 ms. A call blocks if it takes "
        "more than half of this time.",
    )


def releases_table(transport: Transport) -> Html | None:
    """Show which call of the receiver releases a sender, by size."""
    entries = transport.rows("releases")
    sizes = sorted({n for row in entries if (n := row.number("bytes")) is not None})
    if not sizes:
        return None
    calls = list(dict.fromkeys(row.text("call") for row in entries))
    by_place = {(row.text("call"), row.number("bytes")): row for row in entries}
    head = ["call of the receiver", *[f"sender of {size(n)}" for n in sizes]]
    stalls = {each.n_bytes: each.stalls for each in released(transport)}
    lines = []
    for call in calls:
        line: list[Any] = [call]
        for n in sizes:
            row = by_place.get((call, n))
            if row is None:
                line.append(words.NOTHING)
                continue
            free = words.seconds(max(0.0, row.number("free_after_seconds") or 0.0))
            if not stalls[n]:
                line.append("does not wait")
            elif is_true(row, "releases"):
                line.append(tag("td", tag("b", "released"), f" after {free}", class_="n"))
            else:
                line.append(f"not released, {free}")
        lines.append(line)
    return table(
        head,
        lines,
        caption="A sender waits for its send while the receiver computes. Half way the receiver "
        "makes the call; the time is from this call until the sender continues.",
    )


def latency_parts(transport: Transport) -> list[Html]:
    """Show latencies, and streams of messages by depth and by size."""
    found: list[Html] = []
    latencies = [
        [size(row.number("bytes")), words.seconds(row.number("seconds"))]
        for row in transport.rows("latencies")
    ]
    if latencies:
        caption = "Half the time of a message there and back."
        found.append(table(["size", "latency"], latencies, caption=caption))
    depths = [
        [words.count(row.number("depth")), _rate(row.number("bytes_per_second"))]
        for row in transport.rows("streams", "depths")
    ]
    if depths:
        packet = size(transport.found.number("streams", "packet_bytes"))
        caption = f"A stream of messages of {packet}."
        found.append(table(["messages in flight", "rate"], depths, caption=caption))
    streams = _points(
        transport.rows("streams", "sizes"), lambda row: row.number("bytes_per_second")
    )
    drawn = None
    if streams:
        depth = words.plural(transport.found.number("streams", "depth_of_sizes"), "message")
        plot = figures.by_size([Line("rate", streams)], "bytes per second", "B", "Rate by size")
        drawn = figure(plot, f"A stream with {depth} in flight.")
    if not found and drawn is None:
        return []
    return [tag("div", tag("div", found, class_="small"), drawn, class_="beside")]


def _rate(value: float | None) -> str:
    return words.NOTHING if value is None else f"{words.in_bytes(value)}/s"


_SIZES = (65536.0, 1048576.0)  # of exchanges by which settings are compared


def settings_tables(transport: Transport, caption: str = "") -> list[Html]:
    """Compare the settings tried with the default of the transport, and show their memory."""
    if not transport.settings:
        return []
    peers: list[float] = sorted(
        {
            n
            for setting in transport.settings
            for row in rows(setting, "memory_of_a_rank")
            if (n := row.number("peers")) is not None
        }
    )
    numbers = words.listing([words.count(n) for n in peers])
    head = ["setting", "kept", "arrives", "leaves"]
    for n in _SIZES:
        head += [f"{size(n)} alone", "after computing"]
    head += [f"memory of a rank with {numbers} peers" if peers else "memory"]
    lines: list[list[Any]] = [["default", *_effect(transport.found), words.NOTHING]]
    ways = []
    for setting in transport.settings:
        name = setting.text("name")
        lines.append([name, *_effect(setting), _price(setting, peers)])
        said = ""
        granted = setting.number("granted")
        if setting.text("reason"):
            said = f"; does not run: {setting.text('reason')}"
        elif granted is not None:
            said = f"; the kernel grants {size(granted)} ({setting.text('limited_by')})"
        ways.append(tag("li", f"{name}: ", tag("code", setting.text("how")), said))
    return [table(head, lines, n_left=1, caption=caption or None), tag("ul", ways)]


def _price(setting: Document, peers: list[float]) -> Any:
    """Write the memory of a setting, and where it is."""
    memory = {row.number("peers"): row.number("bytes") for row in rows(setting, "memory_of_a_rank")}
    if not any(memory.values()):
        return "none"
    price = ", ".join(size(memory.get(n)) for n in peers)
    where = setting.text("memory")
    return tag("td", price, [tag("br"), tag("span", where, class_="soft")] if where else None)


def _effect(found: Document) -> list[str]:
    """Return limits, and times of exchanges alone and after computing."""
    if found.text("reason"):
        return [words.NOTHING] * (3 + 2 * len(_SIZES))
    if is_true(found, "is_disturbed"):
        return ["disturbed"] * 3 + [words.NOTHING] * (2 * len(_SIZES))
    limits = limits_of(found)
    said = [limit(limits, key) for key in ("eager_bytes", "arriving_bytes", "detached_bytes")]
    for n_bytes in _SIZES:
        at = next((row for row in rows(found, "overlap") if row.number("bytes") == n_bytes), None)
        if at is None:
            said += [words.NOTHING] * 2
            continue
        said += [words.seconds(at.number("alone_seconds")), words.seconds(wait_after(at, 0))]
    return said


def transports_table(transports: list[Transport], links: dict[str, str]) -> Html:
    """Compare all transports; links has the pages by slug, or is empty."""
    head = ["MPI and transport", "time of 8 B", "kept", "arrives", "leaves", "Ws at once blocks"]
    head += ["sends first would deadlock", "a sender is released by"]
    lines = []
    for transport in transports:
        found, limits = transport.found, limits_of(transport.found)
        link = links.get(transport.slug)
        name = tag("a", transport.title, href=link) if link else transport.title
        summary = found.text("summary")
        first = tag("th", name, [tag("br"), tag("span", summary, class_="soft")], scope="row")
        if transport.is_disturbed:
            lines.append([first, tag("td", disturbance(found), colspan=len(head) - 1)])
            continue
        lock = onset(transport.rows("deadlocks"), "would_deadlock")
        early = onset(sizes_of_mode(transport, "standard"), "wait_blocks")
        lines.append(
            [
                first,
                words.seconds(_first_latency(transport)),
                *[
                    limit(limits, key)
                    for key in ("eager_bytes", "arriving_bytes", "detached_bytes")
                ],
                *[found_at.in_words().partition(", the smallest")[0] for found_at in (early, lock)],
                _released(transport),
            ]
        )
    caption = (
        "Kept: by MPI, until a receive is posted. Arrives: while the sender "
        "computes. Leaves: while the receiver computes. Ws at once: a wait right after its send."
    )
    return table(head, lines, n_left=len(head), caption=caption)


def _first_latency(transport: Transport) -> float | None:
    return next((row.number("seconds") for row in transport.rows("latencies")), None)


def _released(transport: Transport) -> str:
    said = []
    for each in released(transport):
        by = ", ".join(each.calls) or "none of the calls tried"
        said.append(f"{size(each.n_bytes)}: {by if each.stalls else 'does not wait'}")
    return "; ".join(said) or words.NOTHING


def missing(found: Document) -> list[Html]:
    """List what a document lacks, with the reasons: transports that are absent or stalled, all that was not tried."""
    notes = []
    for key, verb, class_ in (
        ("absent", "is absent", "note"),
        ("stalled", "has no results", "note error"),
        ("not_tried", "was not tried", "note"),
    ):
        for entry in rows(found, key):
            why = entry.text("reason") or "no reason was given"
            notes.append(
                paragraph(
                    tag("b", entry.text("name") or "a transport"), f" {verb}: {why}", class_=class_
                )
            )
    return notes
