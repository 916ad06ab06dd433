"""What follows for a programmer from what the probe found, in sentences that the data carry."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from . import words
from .documents import Document, as_number
from .probe_data import (
    STEP_SECONDS,
    Transport,
    is_true,
    limits_of,
    onset,
    rows,
    size,
    sizes_of_mode,
    wait_after,
)

FEW_TESTS = 8  # of the numbers that are tried, the one that programs of barrio start from
_LEAST_WAIT = 1e-5  # seconds: a shorter wait is not worth a test
_LEAST_GAIN = 2.0  # a wait that tests make shorter by less is not said to be shorter
_SAME = 0.02  # part of a program's time
_RELEASES = {  # what the receiver does
    "Wait (matching)": "waits for this message",
    "Wait (another)": "waits for another message",
    "Test": "tests once",
    "8 Tests": "tests 8 times",
    "Iprobe": "probes",
    "Isend": "sends",
}


def statements(transport: Transport) -> list[str]:
    """Return the sentences, the most useful first; those whose experiment is missing are left out."""
    makers: list[Callable[[Transport], str]] = [
        _early_waits,
        _deadlocks,
        _releases,
        _late_receiver,
        _tests,
        _hidden,
        _delayed_waits,
        _tests_in_program,
        _buffered,
        _places,
        _idle,
    ]
    return [said for said in (make(transport) for make in makers) if said]


def _early_waits(transport: Transport) -> str:
    found = onset(sizes_of_mode(transport, "standard"), "wait_blocks")
    if not found.tried:
        return ""
    if found.is_never:
        said = f"A wait for a send that follows it at once never blocks, up to {size(found.tried[-1])}."
    else:
        said = f"A wait for a send that follows it at once blocks {found.in_words()}."
    limits = limits_of(transport.found)
    detached, largest = limits.number("detached_bytes"), limits.number("largest_tried_bytes")
    if detached and largest is not None and detached < largest:
        said += f" A send of up to {size(detached)} completes while its receiver computes."
    return said


def _deadlocks(transport: Transport) -> str:
    found = onset(transport.rows("deadlocks"), "would_deadlock")
    if not found.tried:
        return ""
    if found.is_never:
        return f"Pairs that send before they receive get through, up to {size(found.tried[-1])}."
    return f"Pairs that send before they receive would deadlock {found.in_words()}."


@dataclass(frozen=True)
class Released:
    """Which calls of the receiver let a sender go that waits for a message of a size."""

    n_bytes: float
    stalls: bool
    by: list[str]  # what the receiver does
    not_by: list[str]
    calls: list[str]  # their names, of those that let it go


def _in_words(alike: list[Released]) -> str:
    """Write it in a sentence, of sizes for which it is the same."""
    one = alike[0]
    sizes = _either([size(each.n_bytes) for each in alike])
    if not one.stalls:
        return f"A sender of {sizes} does not wait for its receiver."
    if not one.by:
        return f"Nothing that was tried lets a sender of {sizes} go that waits."
    refused = f", not when it {_either(one.not_by)}" if one.not_by else ""
    return f"A sender of {sizes} that waits goes on when its receiver {_either(one.by)}{refused}."


def _either(names: list[str]) -> str:
    return " or ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def released(transport: Transport) -> list[Released]:
    """Return what releases a stalled sender, by size."""
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
    groups: dict[tuple[bool, tuple[str, ...], tuple[str, ...]], list[Released]] = {}
    for each in released(transport):
        groups.setdefault((each.stalls, tuple(each.by), tuple(each.not_by)), []).append(each)
    return " ".join(_in_words(alike) for alike in groups.values())


def figure_of(transport: Transport, name: str) -> Document | None:
    """Return the timeline of a figure, if it is there and was not given up."""
    for row in transport.rows("figures"):
        if row.text("figure") == name and not is_true(row, "is_stalled"):
            return row
    return None


def call_of(figure: Document, rank: int, name: str) -> tuple[float, float] | None:
    """Return when the first call of a kind began and ended on a rank."""
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
        return f"A sender of {of} does not wait for a receiver that comes late."
    lasts = f"its wait lasts {words.seconds(sender[1] - sender[0])}"
    if sender[1] < post[1] + step / 2:
        return f"A sender of {of} whose receiver comes late goes on when the receive is posted; {lasts}."
    if sender[1] > wait[0]:
        return (
            f"A sender of {of} whose receiver comes late goes on only when the receiver waits, not "
            f"when it posts its receive; {lasts}."
        )
    return ""


def _tests(transport: Transport) -> str:
    best: tuple[float, str] | None = None
    largest = ""
    for row in transport.rows("overlap"):
        before, after = wait_after(row, 0), wait_after(row, FEW_TESTS)
        if before is None or after is None:
            continue
        left = f"{words.seconds(before)} to {words.seconds(after)} at {size(row.number('bytes'))}"
        largest = left
        gain = before / max(after, 1e-9)
        if before >= _LEAST_WAIT and gain >= _LEAST_GAIN and (best is None or gain > best[0]):
            best = (gain, left)
    if best:
        return f"{FEW_TESTS} tests while computing bring what is left to wait for from {best[1]}."
    if largest:
        return f"{FEW_TESTS} tests while computing hardly shorten the wait: from {largest}."
    return ""


def hidden_share(transport: Transport) -> tuple[float, float, int] | None:
    """Return the largest part of an exchange that computing hides, with its size and tests."""
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
        return (
            "Computing hides nothing of the time that an exchange takes alone, whatever the number "
            "of tests: what is gone from the waits is spent in the tests."
        )
    how = f"{size(n)}, {words.plural(calls, 'test') if calls else 'without a test'}"
    return (
        f"Computing hides at most {words.percent(share, 0)} of the time that an exchange takes "
        f"alone ({how})."
    )


def changed(before: float, after: float) -> str:
    """Write how the time of a program changes, in hundredths of a millisecond."""
    said = [f"{1e3 * seconds:.2f}\u00a0ms" for seconds in (before, after)]
    if abs(after - before) <= _SAME * before:
        return f"hardly changes the time: {said[0]} before, {said[1]} after"
    return f"changes the time from {said[0]} to {said[1]}"


def before_and_after(transport: Transport, program: str) -> tuple[float, float] | None:
    """Return how long a program takes before and after its change."""
    before = transport.found.number("programs", program, "before_seconds")
    after = transport.found.number("programs", program, "after_seconds")
    return None if not before or after is None else (before, after)


def beyond_t2(transport: Transport) -> tuple[float, float] | None:
    """Return what the loop of sends takes beyond T2, with waits in it and after it."""
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
    return (
        "Moving the waits for sends out of the loop of sends brings what a rank needs after its "
        f"late partner has come from {before} to {after} ({words.plural(n, 'message')} of {of} each "
        "way)."
    )


def _tests_in_program(transport: Transport) -> str:
    times = before_and_after(transport, "tests")
    if times is None:
        return ""
    of = size(transport.found.number("programs", "tests", "bytes"))
    return f"One Testall in the middle of a program that exchanges {of} {changed(*times)}."


def _buffered(transport: Transport) -> str:
    sizes = sizes_of_mode(transport, "buffered")
    waits, calls = onset(sizes, "wait_blocks"), onset(sizes, "isend_blocks")
    if not waits.tried:
        return ""
    if waits.at:
        return f"In buffered mode, too, a wait for a send blocks {waits.in_words()}."
    said = f"In buffered mode no wait for a send blocks, up to {size(waits.tried[-1])}"
    if calls.at:
        slowest = max(row.number("isend_seconds") or 0.0 for row in sizes)
        said += f"; Ibsend itself takes long {calls.in_words()}, up to {words.seconds(slowest)}"
    return said + "."


def _places(transport: Transport) -> str:
    limits = limits_of(transport.found)
    eager, arriving = limits.number("eager_bytes"), limits.number("arriving_bytes")
    largest = limits.number("largest_tried_bytes")
    said = []
    if eager is not None:
        kept = f"MPI keeps messages of up to {size(eager)}" if eager else "MPI keeps no message"
        said.append(f"{kept} at the receiver until their receive is posted.")
    if arriving is not None and largest is not None:
        if arriving >= largest:
            said.append(
                f"Messages of all sizes up to {size(largest)} reach a receiver that waits while "
                "their sender computes."
            )
        elif arriving:
            said.append(
                f"Messages of up to {size(arriving)} reach a receiver that waits while their sender "
                "computes; larger ones need a call of the sender."
            )
        else:
            said.append("No message reaches its receiver while the sender computes.")
    return " ".join(said)


def _idle(transport: Transport) -> str:
    test = transport.found.number("idle_calls", "test_seconds")
    probe = transport.found.number("idle_calls", "iprobe_seconds")
    if test is None:
        return ""
    also = f", a probe {words.seconds(probe)}" if probe is not None else ""
    return f"A test that finds nothing takes {words.seconds(test)}{also}."
