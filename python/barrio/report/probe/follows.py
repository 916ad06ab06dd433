"""Consequences of the probe's results for a programmer: a table with one line per question."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .. import words
from ..documents import Document, as_number
from ..markup import Html, table
from .data import (
    STEP_SECONDS,
    Onset,
    Transport,
    is_true,
    limits_of,
    onset,
    rows,
    size,
    sizes_of_mode,
    wait_after,
)

FEW_TESTS = 8  # the number of tests that programs of barrio start from
_LEAST_WAIT = 1e-5  # seconds: a shorter wait is not worth a test
_SAME = 0.02  # fraction of a program's time that counts as no change
_RELEASES = {  # actions of the receiver
    "Wait (matching)": "waits for this message",
    "Wait (another)": "waits for another message",
    "Test": "tests once",
    "8 Tests": "tests 8 times",
    "Iprobe": "probes",
    "Isend": "sends",
}


def follows_table(transport: Transport) -> Html | None:
    """Make the table, the most useful lines first, without lines that lack their experiment."""
    makers: list[tuple[str, Callable[[Transport], str]]] = [
        ("Wait for a send, right after it", _early_waits),
        ("A send completes while its receiver computes", _detached),
        ("A message arrives while its sender computes", _arriving),
        ("Kept at the receiver until its receive is posted", _kept),
        ("Pairs that both send first", _deadlocks),
        ("Release of a waiting sender", _releases),
        ("A receiver that comes late", _late_receiver),
        (f"Wait after computing, without and with {FEW_TESTS} tests", _tests),
        ("Share of an exchange hidden by computing", _hidden),
        ("Waits for sends after all sends: time beyond T2", _delayed_waits),
        ("One Testall in the middle of a program", _tests_in_program),
        ("Wait for a send in buffered mode", _buffered),
        ("A test, and a probe, without a message", _idle),
    ]
    lines = [(name, said) for name, make in makers if (said := make(transport))]
    return table(["question", "here"], lines, n_left=2) if lines else None


def _blocks(found: Onset) -> str:
    if not found.tried:
        return ""
    return (
        f"never blocks, up to {size(found.tried[-1])}"
        if found.is_never
        else f"blocks {found.in_words()}"
    )


def _early_waits(transport: Transport) -> str:
    return _blocks(onset(sizes_of_mode(transport, "standard"), "wait_blocks"))


def _limit(transport: Transport, key: str) -> str:
    limits = limits_of(transport.found)
    n, largest = limits.number(key), limits.number("largest_tried_bytes")
    if n is None:
        return ""
    if largest is not None and n >= largest:
        return f"all sizes tried, up to {size(largest)}"
    return f"up to {size(n)}" if n else "none"


def _detached(transport: Transport) -> str:
    return _limit(transport, "detached_bytes")


def _arriving(transport: Transport) -> str:
    return _limit(transport, "arriving_bytes")


def _kept(transport: Transport) -> str:
    return _limit(transport, "eager_bytes")


def _deadlocks(transport: Transport) -> str:
    found = onset(transport.rows("deadlocks"), "would_deadlock")
    if not found.tried:
        return ""
    if found.is_never:
        return f"no deadlock, up to {size(found.tried[-1])}"
    return f"would deadlock {found.in_words()}"


@dataclass(frozen=True)
class Released:
    """Calls of the receiver that release a sender of a message of one size."""

    n_bytes: float
    stalls: bool
    by: list[str]  # actions of the receiver that release it
    not_by: list[str]  # and those that do not
    calls: list[str]  # the calls that release it


def _either(names: list[str]) -> str:
    return " or ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def released(transport: Transport) -> list[Released]:
    """Return the calls that release a stalled sender, by size."""
    by_size: dict[float, list[Document]] = {}
    for row in transport.rows("releases"):
        n = row.number("bytes")
        if n is not None:
            by_size.setdefault(n, []).append(row)
    found = []
    for n, entries in sorted(by_size.items()):
        tried = [(row, row.text("call")) for row in entries if row.text("call") != "nothing"]
        named = [(row, _RELEASES.get(call, call)) for row, call in tried]
        by = [name for row, name in named if is_true(row, "releases")]
        not_by = [name for row, name in named if not is_true(row, "releases")]
        calls = [call for row, call in tried if is_true(row, "releases")]
        stalls = any(is_true(row, "stalls") for row in entries)
        found.append(Released(n, stalls, by, not_by, calls))
    return found


def _releases(transport: Transport) -> str:
    said = []
    for each in released(transport):
        if not each.stalls:
            what = "does not wait"
        elif not each.by:
            what = "none of the calls tried"
        else:
            what = f"its receiver {_either(each.by)}"
            what += f", but not when it {_either(each.not_by)}" if each.not_by else ""
        said.append(f"{size(each.n_bytes)}: {what}")
    return "; ".join(said)


def figure_of(transport: Transport, name: str) -> Document | None:
    """Return the timeline of a figure, if it is present and was not given up."""
    for row in transport.rows("figures"):
        if row.text("figure") == name and not is_true(row, "is_stalled"):
            return row
    return None


def call_of(figure: Document, rank: int, name: str) -> tuple[float, float] | None:
    """Return the begin and end of the first call of this name on a rank."""
    ranks = figure.items("ranks")
    calls = ranks[rank] if rank < len(ranks) and isinstance(ranks[rank], list) else []
    for call in calls:
        if isinstance(call, dict) and call.get("call") == name:
            begin, end = as_number(call.get("begin")), as_number(call.get("end"))
            return None if begin is None or end is None else (begin, end)
    return None


def _late_receiver(transport: Transport) -> str:
    figure = figure_of(transport, "late receiver")
    if figure is None:
        return ""
    sender, post, wait = (
        call_of(figure, *which) for which in ((0, "Wait"), (1, "Irecv"), (1, "Wait"))
    )
    if sender is None or post is None or wait is None:
        return ""
    step = figure.number("step_seconds") or STEP_SECONDS
    of = size(figure.number("bytes"))
    if sender[1] < post[0]:
        return f"a sender of {of} does not wait for it"
    lasts = f"its wait lasts {words.seconds(sender[1] - sender[0])}"
    if sender[1] < post[1] + step / 2:
        return f"a sender of {of} continues when the receive is posted; {lasts}"
    if sender[1] > wait[0]:
        return f"a sender of {of} continues when the receiver waits, not when it posts; {lasts}"
    return ""


def _tests(transport: Transport) -> str:
    said = []
    for row in transport.rows("overlap"):
        before, after = wait_after(row, 0), wait_after(row, FEW_TESTS)
        if before is not None and after is not None and before >= _LEAST_WAIT:
            left = f"{words.seconds(before)}, {words.seconds(after)}"
            said.append(f"{size(row.number('bytes'))}: {left}")
    return "; ".join(said)


def hidden_share(transport: Transport) -> tuple[float, float, int] | None:
    """Return the largest share of an exchange hidden by computing, with its size and tests."""
    found: list[tuple[float, float, int]] = []
    for row in transport.rows("overlap"):
        n = row.number("bytes")
        for entry in rows(row, "tests"):
            saved, calls = entry.number("saved"), entry.number("calls")
            saved = entry.number("overlap") if saved is None else saved  # its name in older runs
            if saved is not None and calls is not None and n is not None:
                found.append((saved, n, int(calls)))
    return max(found, default=None)


def _hidden(transport: Transport) -> str:
    most = hidden_share(transport)
    if most is None:
        return ""
    share, n, calls = most
    if share < 0.005:
        return "none, for any number of tests"
    how = f"{size(n)}, {words.plural(calls, 'test') if calls else 'without a test'}"
    return f"at most {words.percent(share, 0)} ({how})"


def changed(before: float, after: float) -> str:
    """Write the change of a program's time, to a hundredth of a millisecond."""
    said = [f"{1e3 * seconds:.2f}\u00a0ms" for seconds in (before, after)]
    if abs(after - before) <= _SAME * before:
        return f"does not change the time: {said[0]} before, {said[1]} after"
    return f"changes the time from {said[0]} to {said[1]}"


def before_and_after(transport: Transport, program: str) -> tuple[float, float] | None:
    """Return the time of a program before and after its change."""
    before = transport.found.number("programs", program, "before_seconds")
    after = transport.found.number("programs", program, "after_seconds")
    return None if not before or after is None else (before, after)


def beyond_t2(transport: Transport) -> tuple[float, float] | None:
    """Return the time of the loop of sends beyond T2, with waits in the loop and after it."""
    times = before_and_after(transport, "delayed_waits")
    t2 = transport.found.number("programs", "delayed_waits", "t2_seconds")
    return None if times is None or t2 is None else (times[0] - t2, times[1] - t2)


def _delayed_waits(transport: Transport) -> str:
    times = beyond_t2(transport)
    if times is None:
        return ""
    n = transport.found.number("programs", "delayed_waits", "messages")
    of = size(transport.found.number("programs", "delayed_waits", "bytes"))
    before, after = (words.seconds(t) for t in times)
    return f"{before} before, {after} after ({words.plural(n, 'message')} of {of} each way)"


def _tests_in_program(transport: Transport) -> str:
    times = before_and_after(transport, "tests")
    if times is None:
        return ""
    return f"{size(transport.found.number('programs', 'tests', 'bytes'))}: {changed(*times)}"


def _buffered(transport: Transport) -> str:
    sizes = sizes_of_mode(transport, "buffered")
    calls = onset(sizes, "isend_blocks")
    said = _blocks(onset(sizes, "wait_blocks"))
    if said and calls.at:
        slowest = max(row.number("isend_seconds") or 0.0 for row in sizes)
        said += f"; Ibsend itself takes long {calls.in_words()}, up to {words.seconds(slowest)}"
    return said


def _idle(transport: Transport) -> str:
    test = transport.found.number("idle_calls", "test_seconds")
    probe = transport.found.number("idle_calls", "iprobe_seconds")
    if test is None:
        return ""
    return words.seconds(test) + (f", {words.seconds(probe)}" if probe is not None else "")
