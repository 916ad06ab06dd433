"""Comparison of the findings here with those of the thesis in 2004 on two machines."""

from __future__ import annotations

from .. import words
from ..documents import Document
from ..markup import Html, table
from .data import (
    STEP_SECONDS,
    Transport,
    is_true,
    limit,
    limits_of,
    onset,
    rows,
    size,
    sizes_of_mode,
    wait_after,
)
from .follows import (
    FEW_TESTS,
    before_and_after,
    beyond_t2,
    call_of,
    changed,
    figure_of,
    released,
)

SOURCE = "T. Saif 2004, chapter 3"
_BLOCKS = 0.5  # fraction of a step: a call that takes longer counts as blocking
_LEAST_AT_ONCE, _MOST_AT_ONCE = 64, 32768  # bytes of each message when several are sent at once
_NOT_TRIED, _NO_SETTINGS = "Not tried", "No settings were tried"

# Result of each figure in 2004, if the thesis shows or describes it.
FIGURES_2004 = {
    "3.2": "MPICH: Isend and Irecv return at once; both waits find the message delivered.",
    "3.3": "MPICH, 60 KB: Isend blocks until the receiver waits; that wait lasts as long as the "
    "delivery.",
    "3.4": "MPICH, 60 KB: Ibsend blocks like Isend.",
    "3.5": "MPICH, 60 KB: Isend returns as soon as the receiver tests; its wait then finds the "
    "message delivered.",
    "3.6": "MPICH, 60 KB: one Isend returns after some time, perhaps a time-out; the other blocks "
    "until its partner waits. Which one returns first varies.",
    "3.11": "SP2, 1 KB and 100 KB: all calls return at once; waits take microseconds.",
    "3.12": "SP2, 100 KB: the sender's wait blocks until the receiver waits at T3.",
    "3.13": "SP2, 100 KB: rank 0's wait for its send returns as soon as rank 1 waits for its own "
    "send at T2.",
}


def findings_table(transport: Transport) -> Html | None:
    """Make the table of questions and answers, 2004 and here; None without results here."""
    head = [
        "question",
        "MPICH 1.2.5, Beowulf cluster, 2004",
        "IBM MPI 3.2, SP2, 2004",
        f"{transport.title}, here",
    ]
    lines = [
        [
            "What does Isend do with a large message?",
            "Blocks from 60 KB on, until the receiver waits or tests",
            "Returns at once, with 100 KB too",
            _isend(transport),
        ],
        [
            "Up to which size does a message leave without help from its receiver?",
            "Below 60 KB with socket buffers of 16 KB; also 60 KB with buffers of 64 KB",
            "Up to the eager limit: 1 KB does, 100 KB does not",
            _leaves(transport),
        ],
        [
            "Does the limit apply to each message?",
            "No, to the total on its way to a rank: three of 20 KB act like one of 60 KB",
            "No, described as a limit of the total",
            _cumulative(transport),
        ],
        [
            "Does a wait right after its send block?",
            "Isend itself blocks",
            "From 100 KB on, until the receiver waits",
            _early(transport),
        ],
        [
            "Which call of the receiver releases a stalled sender?",
            "A wait or a test for this message",
            "Any wait, even for another message",
            _released(transport),
        ],
        [
            "Does buffered mode help?",
            "No, Ibsend blocks as Isend does",
            _NOT_TRIED,
            _buffered(transport),
        ],
        [
            "What if two processes send to each other?",
            "One Isend returns after some time, the other when its partner waits; they may deadlock",
            "A wait for a send ends when the partner waits for its own send",
            _both_send(transport),
        ],
        [
            "Has the message arrived after computing?",
            "1 KB yes; 60 KB no, unless the receiver tested meanwhile",
            "1 KB and 100 KB yes: waits take microseconds",
            _delivered(transport),
        ],
        [
            "What does a test in the middle of the work do?",
            "Isend returns at the test, which costs little compared with the gain",
            _NOT_TRIED,
            _tested(transport),
        ],
        [
            "What if waits for sends come after all sends?",
            _NOT_TRIED,
            "From T2 + 2 (ts + tw) + tw + µ to T2 + µ, by a model",
            _delayed(transport),
        ],
        [
            "Do larger buffers help, and at what cost?",
            "64 KB let 60 KB leave at once; each process has a buffer for every other process",
            "A larger eager limit takes memory from the program, more with more processes",
            _settings(transport),
        ],
    ]
    if all(line[-1] in (words.NOTHING, _NO_SETTINGS) for line in lines):
        return None
    return table(head, lines, n_left=4, caption=f"2004: {SOURCE}.")


def _isend(transport: Transport) -> str:
    entries = transport.rows("blocking_calls")
    times = {
        n: seconds
        for row in entries
        if (n := row.number("bytes")) is not None
        and (seconds := row.number("one_way", "isend_seconds")) is not None
    }
    if not times:
        return words.NOTHING
    slow = [n for n, seconds in sorted(times.items()) if seconds > _BLOCKS * STEP_SECONDS]
    if slow:
        said = words.listing([size(n) for n in slow])
        return f"Takes up to {words.seconds(max(times.values()))}, longest at {said}"
    return (
        f"Returns at once at all sizes up to {size(max(times))}: within "
        f"{words.seconds(max(times.values()))}"
    )


def _leaves(transport: Transport) -> str:
    limits = limits_of(transport.found)
    if limits.number("detached_bytes") is None:
        return words.NOTHING
    return (
        f"With its receive posted: {limit(limits, 'detached_bytes')}; "
        f"without a receive: {limit(limits, 'eager_bytes')}"
    )


def _cumulative(transport: Transport) -> str:
    limits = limits_of(transport.found)
    if not isinstance(limits.data.get("is_cumulative"), bool):
        return words.NOTHING
    n, eager = limits.number("at_once"), limits.number("eager_bytes")
    passed = ""
    if n is not None and eager is not None:
        of = size(min(max(eager / 2, _LEAST_AT_ONCE), _MOST_AT_ONCE))
        passed = f"; {words.plural(n, 'message')} of {of} pass at once"
    if is_true(limits, "is_cumulative"):
        return f"No, to the total on its way to a rank{passed}"
    return f"Yes{passed}"


def _early(transport: Transport) -> str:
    found = onset(sizes_of_mode(transport, "standard"), "wait_blocks")
    said = found.in_words()
    return said if said == words.NOTHING else said[0].upper() + said[1:]


def _released(transport: Transport) -> str:
    said = []
    for each in released(transport):
        if not each.stalls:
            said.append(f"{size(each.n_bytes)}: does not stall")
        else:
            said.append(
                f"{size(each.n_bytes)}, if it {_any(each.by)}"
                if each.by
                else f"{size(each.n_bytes)}: none of the calls tried"
            )
    return "; ".join(said) or words.NOTHING


def _any(calls: list[str]) -> str:
    return " or ".join(filter(None, [", ".join(calls[:-1]), calls[-1]]))


def _buffered(transport: Transport) -> str:
    found = onset(sizes_of_mode(transport, "buffered"), "wait_blocks")
    if not found.tried:
        return words.NOTHING
    plain = onset(sizes_of_mode(transport, "standard"), "wait_blocks")
    if found.is_never:
        return (
            "Yes, no wait for a send blocks"
            if plain.at
            else "No wait blocks in standard mode either"
        )
    return f"Not enough: waits block {found.in_words()}"


def _both_send(transport: Transport) -> str:
    found = onset(transport.rows("deadlocks"), "would_deadlock")
    said = []
    if found.is_never:
        said.append(f"No deadlock up to {size(found.tried[-1])}, even with sends first")
    elif found.tried:
        said.append(f"With sends first they would deadlock {found.in_words()}")
    figure = figure_of(transport, "3.13")
    if figure is not None:
        mine, partners = call_of(figure, 0, "Wait"), call_of(figure, 1, "Wait")  # for their sends
        if mine and partners:
            of = size(figure.number("bytes"))
            said.append(f"a wait for a send of {of} ends {_when(mine[1], partners[0])}")
    return "; ".join(said) or words.NOTHING


def _when(end: float, begin: float) -> str:
    if end < begin:
        return "before the partner waits for its own send"
    is_soon = end < begin + _BLOCKS * STEP_SECONDS
    return f"{'when' if is_soon else 'long after'} the partner waits for its own send"


def _delivered(transport: Transport) -> str:
    entries = [row for row in transport.rows("overlap") if wait_after(row, 0) is not None]
    said = [
        f"{size(row.number('bytes'))}: {words.seconds(wait_after(row, 0))} left"
        for row in [*entries[:1], *entries[1:][-1:]]
    ]
    if not said:
        return words.NOTHING
    return f"{'; '.join(said)} (an exchange, no tests)"


def _tested(transport: Transport) -> str:
    said = []
    for row in transport.rows("overlap"):
        before, after = wait_after(row, 0), wait_after(row, FEW_TESTS)
        if row.number("bytes") == 65536 and before is not None and after is not None:
            said.append(
                f"{FEW_TESTS} tests: the wait of {words.seconds(before)} becomes "
                f"{words.seconds(after)} at 64 KiB"
            )
    times = before_and_after(transport, "tests")
    if times:
        said.append(f"one test {changed(*times)}")
    return "; ".join(said) or words.NOTHING


def _delayed(transport: Transport) -> str:
    times = beyond_t2(transport)
    if times is None:
        return words.NOTHING
    before, after = (words.seconds(t) for t in times)
    model = transport.found.number("programs", "delayed_waits", "model_before_seconds")
    t2 = transport.found.number("programs", "delayed_waits", "t2_seconds")
    said = "" if model is None or t2 is None else f" (model: from {words.seconds(model - t2)})"
    return f"Beyond T2: from {before} to {after}{said}"


def _settings(transport: Transport) -> str:
    """Write the effect of the first and the last value of each quantity."""
    tried: dict[str, list[Document]] = {}
    for setting in transport.settings:
        if not setting.text("reason"):
            quantity = setting.text("quantity") or setting.text("name")
            tried.setdefault(quantity, []).append(setting)
    said = []
    for quantity, all_of in tried.items():
        first, last = all_of[0], all_of[-1]
        names = dict.fromkeys(
            size(value) for one in (first, last) if (value := one.number("value"))
        )
        kept = dict.fromkeys(limit(limits_of(one), "eager_bytes") for one in (first, last))
        memory = [row for row in rows(last, "memory_of_a_rank") if row.number("bytes")]
        price = ""
        if memory:
            peers = words.plural(memory[-1].number("peers"), "peer")
            price = f", at most {size(memory[-1].number('bytes'))} per rank with {peers}"
        name = " ".join(filter(None, [quantity, " to ".join(names)]))
        said.append(f"{name}: kept {', '.join(kept)}{price}")
    return "; ".join(said) or _NO_SETTINGS
