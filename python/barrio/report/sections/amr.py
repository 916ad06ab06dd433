"""The section on structured AMR: the results of `barrio amr`, the slices that it drew, and its files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .. import figures, words
from ..colours import OUTLINES
from ..documents import Document
from ..markup import Html, legend, paragraph, table, tag
from ..same_result import compare_ranks
from ..story import Section, Story, base_name, picture
from .fields import curves_of, field_views, fields_of

_PHASES = {
    "kernel": "kernel",
    "fill": "ghosts of tiles",
    "exchange": "messages, waiting",
    "coarse_fine": "between levels",
    "time_step": "time step",
    "regrid": "regridding",
}
_NO_CHANGE = 1e-12


def amr_section(story: Story) -> Section | None:
    """Show the results of `barrio amr`."""
    documents = story.results.of("amr")
    drawings = [drawing for drawing in story.drawings if drawing.kind == "amr"]
    if not documents and not drawings:
        return None
    body: list[Html] = []
    for document in documents:
        if len(documents) > 1:
            body.append(tag("h3", document.path.name))
        body += _run(document)
    body += _same_everywhere(documents)
    for drawing in drawings:
        body.append(tag("h3", drawing.path.name))
        views, curves = field_views(story, drawing), curves_of(drawing)
        if not views and not fields_of(drawing):
            views = [paragraph("The blocks have no values: there is nothing to draw.")]
        body += [*views, *([tag("div", curves, class_="beside")] if curves else [])]
    return Section("amr", "Structured AMR", body)


def _run(document: Document) -> list[Html]:
    body = [_in_words(document), *_slices(document), _levels(document)]
    body += [*_errors(document), *_series(document), *_totals(document), *_shares(document)]
    return body


def _in_words(document: Document) -> Html:
    ranks = words.plural(document.number("ranks"), "rank")
    speed = document.number("updates_per_second")
    return paragraph(
        tag("b", document.text("title") or document.path.name),
        f": {document.text('system')}, {words.plural(document.number('steps'), 'step')} to time "
        f"{words.number(document.number('simulated_time'), 4)} on {ranks}, "
        f"{words.count(document.number('updates'))} cell updates in "
        f"{words.seconds(document.number('seconds'))}",
        f", {words.number(speed / 1e6)} M per second" if speed else None,
        f". Checksum {document.text('checksum')}.",
    )


def _slices(document: Document) -> list[Html]:
    """Show the pictures that the document names, relative to its folder or to the current one."""
    frames, absent = [], []
    has_boxes = False
    for one in document.items("slices"):
        if not isinstance(one, dict):
            continue
        name, quantity = str(one.get("file", "")), str(one.get("quantity", ""))
        found = next((p for p in (document.path.parent / name, Path(name)) if p.is_file()), None)
        if found is None:
            absent.append(base_name(name))
            continue
        time, low, high = (words.number(one.get(key), 4) for key in ("time", "min", "max"))
        caption = f"{quantity} at time {time}, from {low} (dark) to {high} (light)"
        frames.append(picture(found.read_bytes(), f"{quantity} at time {time}", caption))
        has_boxes = has_boxes or bool(one.get("has_boxes"))
    body: list[Html] = [tag("div", frames, class_="frames")] if frames else []
    if has_boxes:
        n = len(document.items("levels"))
        chips = [(colour, f"blocks of level {level}") for level, colour in enumerate(OUTLINES[:n])]
        body.append(legend(chips))
    if absent:
        text = f"Not found next to {document.path.name}: {words.listing(absent)}."
        body.append(tag("div", text, class_="note"))
    return body


def _levels(document: Document) -> Html:
    cells = [n * 1.0 for n in document.table("grid").get("cells", []) if isinstance(n, int | float)]
    ratio = document.number("grid", "ratio") or 2.0
    rows = []
    for level, one in enumerate(document.items("levels")):
        blocks, n = (one.get(key) if isinstance(one, dict) else None for key in ("blocks", "cells"))
        of_all = 1.0
        for along in cells:
            of_all *= along * ratio**level
        share = n / of_all if cells and n is not None else None
        rows.append([str(level), words.count(blocks), words.count(n), words.percent(share)])
    return table(["level", "blocks", "cells", "of the domain"], rows)


def _errors(document: Document) -> list[Html]:
    rows = []
    for one in document.items("errors"):
        if not isinstance(one, dict):
            continue
        most, is_met = one.get("max_error"), one.get("is_met")
        badge: Any = None
        if is_met is not None:
            badge = tag(
                "span", "met" if is_met else "missed", class_=f"badge {'good' if is_met else 'bad'}"
            )
        limit = words.number(most) if most is not None else words.NOTHING
        rows.append([one.get("quantity"), words.number(one.get("error")), limit, badge])
    if not rows:
        return []
    return [
        paragraph(
            "Mean distance from the exact solution; 'together' is the root of the sum of squares."
        ),
        table(["quantity", "error", "limit", ""], rows),
    ]


def _series(document: Document) -> list[Html]:
    series = document.table("series")
    times = [time for time in series.get("time", []) if isinstance(time, int | float)]
    return [
        figures.integral_over_time(name, times, values)
        for name, values in series.items()
        if name != "time" and len(times) > 2 and len(values) == len(times)
    ]


def _totals(document: Document) -> list[Html]:
    rows = []
    for one in document.items("totals"):
        if not isinstance(one, dict):
            continue
        begin, end = one.get("begin"), one.get("end")
        if begin is None or end is None:
            continue
        size = max(abs(begin), abs(end))
        change = (end - begin) / size if size > 0.0 else 0.0
        kept = (
            "kept" if abs(end - begin) <= _NO_CHANGE * max(size, 1.0) else words.percent(change, 3)
        )
        rows.append([one.get("variable"), words.number(begin, 6), words.number(end, 6), kept])
    if not rows:
        return []
    return [table(["integral of", "at the start", "at the end", "change"], rows)]


def _shares(document: Document) -> list[Html]:
    shares = document.table("shares")
    rows = [
        [name, words.percent(shares.get(key))] for key, name in _PHASES.items() if key in shares
    ]
    return [table(["time of the ranks", "share"], rows)] if rows else []


def _same_everywhere(documents: list[Document]) -> list[Html]:
    """Compare runs of one case to one time on several rank counts: checksums must agree."""

    def run(document: Document) -> tuple[Any, ...]:
        cells = [one.get("cells") for one in document.items("levels") if isinstance(one, dict)]
        return (
            document.text("title"),
            document.number("steps"),
            document.number("simulated_time"),
            *cells,
        )

    return compare_ranks(
        ((run(document), document) for document in documents),
        "checksum",
        lambda one, ranks: f"{one.text('title')}: the same state to the last bit on {ranks} ranks.",
        lambda one, n, ranks: f"{one.text('title')}: {n} different states on {ranks} ranks.",
    )
