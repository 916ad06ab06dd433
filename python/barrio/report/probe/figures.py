"""Timelines of the thesis' figures and programs, as measured here."""

from __future__ import annotations

from typing import Any

from .. import words
from ..documents import Document
from ..markup import Html, figure, legend, paragraph, table, tag
from . import timelines
from .data import STEP_SECONDS, Transport, size
from .findings import FIGURES_2004

_GAVE_UP = "A wait was given up: with these calls both ranks would wait for ever. "
_DAMAGED = "A message arrived damaged. "


def figures_body(transport: Transport) -> list[Html]:
    """Draw every figure, with the result of 2004 in its caption."""
    entries = [(row, timelines.calls_of(row.items("ranks"))) for row in transport.rows("figures")]
    entries = [(row, sides) for row, sides in entries if any(sides)]
    if not entries:
        return []
    drawn = []
    for row, sides in entries:
        name, title = row.text("figure"), row.text("title")
        head = f"Figure {name}: {title}" if name[:1].isdigit() else title[:1].upper() + title[1:]
        head = f"{head}, {size(row.number('bytes'))}"
        told = FIGURES_2004.get(name)
        caption = [
            tag("b", head),
            ". ",
            _faults(row.data),
            f"Here, {timelines.in_words(sides)}.",
            [tag("br"), f"2004, {told}"] if told else None,
        ]
        step = row.number("step_seconds") or STEP_SECONDS
        drawn.append(figure(timelines.draw(sides, head, 0.0, step), caption))
    return [
        paragraph(
            "Rank 0 is at the top, rank 1 at the bottom. IS, IR: Isend, Irecv. T: a test. Ws, Wr: "
            "waits for a send and for a receive. Very short calls are drawn wider, to be visible; "
            "point at a bar for its times. If a caption counts calls, the time is their sum. The "
            "shortest of several runs is shown."
        ),
        legend(timelines.legend_entries()),
        tag("div", drawn, class_="pair steps"),
    ]


def _faults(data: dict[str, Any]) -> str:
    said = _GAVE_UP if data.get("is_stalled") is True else ""
    return said + (_DAMAGED if data.get("is_damaged") is True else "")


def programs_body(transport: Transport) -> list[Html]:
    """Draw both programs before and after their change, with the thesis' model of the second."""
    body: list[Html] = []
    if not transport.rows("figures") and transport.found.table("programs"):
        body.append(legend(timelines.legend_entries()))
    for key, title, said, names in (
        (
            "tests",
            "A test in the middle",
            "Each rank posts its receive, computes, sends, waits for the send, computes again and "
            "waits for the receive. Rank 1 computes longer at first. The change is a Testall in the "
            "middle of the last computation.",
            ("without a test", "with a test"),
        ),
        (
            "delayed_waits",
            "Waits for sends after all sends",
            "Each rank posts its receives, computes (rank 0 until T2, rank 1 until T1) and sends. "
            "Before the change a wait follows each send; after the change there is one Waitall at "
            "the end.",
            ("a wait after each send", "one Waitall at the end"),
        ),
    ):
        program = transport.found.table("programs", key)
        if program:
            found = Document(transport.found.path, "", program)
            body += _program(found, title, said, names)
    return body


def _program(found: Document, title: str, said: str, names: tuple[str, str]) -> list[Html]:
    of = size(found.number("bytes"))
    n = found.number("messages")
    what = f"{words.plural(n, 'message')} of {of} each way" if n else of
    pairs = [timelines.calls_of(found.items(key, "ranks")) for key in ("before", "after")]
    if not all(any(sides) for sides in pairs):
        return []
    longest = max(map(timelines.end_of, pairs))
    figure_names = [*found.text("figures").split(" and "), "", ""]
    t2 = found.number("t2_seconds")
    drawn = []
    keys = ("before", "after")
    for which, name, key, sides in zip(figure_names[:2], names, keys, pairs, strict=True):
        head = f"Figure {which}: {name}, {what}" if which else f"{name}, {what}"
        took = _fine(found.number(f"{key}_seconds"))
        picture = timelines.draw(sides, head, longest, t2 / 2 if t2 else None)
        caption = [tag("b", head), f". {took}. ", _faults(found.table(key))]
        drawn.append(figure(picture, [*caption, f"Here, {timelines.in_words(sides)}."]))
    body = [tag("h3", title), paragraph(said), tag("div", drawn, class_="pair steps")]
    return [*body, *_model(found)] if t2 else body


def _model(found: Document) -> list[Html]:
    """Compare the thesis' model with the times of rank 1, which arrives early."""

    def time(key: str) -> str:
        return words.seconds(found.number(f"{key}_seconds"))

    t2, mu = found.number("t2_seconds"), found.number("mu_seconds")
    after = t2 + mu if t2 is not None and mu is not None else None
    measured = [_fine(found.number(f"{key}_seconds")) for key in ("before", "after")]
    said = [_fine(found.number("model_before_seconds")), _fine(after)]
    lines = [
        ["before", "T2 + 2 (ts + tw) + tw + µ", said[0], measured[0]],
        ["after", "T2 + µ", said[1], measured[1]],
    ]
    where = (
        f"The thesis' model of rank 1. T2 = {time('t2')}; ts = {time('ts')}, an Isend; "
        f"tw = {time('tw')}, a wait after the first one; µ = {time('mu')}, the delivery of all "
        "messages. µ is the measured time beyond T2 after the change, so only the first line tests "
        "the model."
    )
    return [paragraph(where), table(["", "model", "predicted", "measured"], lines, n_left=2)]


def _fine(seconds: float | None) -> str:
    return words.NOTHING if seconds is None else f"{1e3 * seconds:.3f}\u00a0ms"
