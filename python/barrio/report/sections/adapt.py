"""Sections on adaptation: the results of `barrio adapt` and of its benchmark."""

from __future__ import annotations

from typing import Any

from .. import figures, words
from ..documents import Document
from ..markup import Html, figure, listing, paragraph, table, tag
from ..same_result import compare_ranks
from ..story import Section, Story, base_name
from .bench import goals_table
from .mesh import inside_views

_MAX_OPEN = 3  # runs whose changes are not folded
_KINDS = ("splits", "collapses", "swaps", "moves")
_QUALITY = (
    "Quality is the mean ratio of a tetrahedron, 1 for a regular one. Edges in range have a length "
    "between 1/√2 and √2 of the requested one."
)
_COUNTS = (
    "Changes that were tried but not made would have made worse cells. A round tries one operator "
    "wherever it is needed. A change that must wait for another one next to it follows in a later "
    "pass. Each pass is an exchange with the neighbours."
)


def adapt_section(story: Story) -> Section | None:
    """Show the results of `barrio adapt`."""
    documents = story.results.of("adapt")
    if not documents:
        return None
    body: list[Html] = []
    for document in documents[:_MAX_OPEN]:
        drawing = story.drawing_of(document.text("output"))
        views = inside_views(drawing) if drawing is not None else []
        body += [_in_words(document), *views]
    body += [tag("div", note, class_="note") for document in documents for note in _notes(document)]
    body.append(paragraph(_QUALITY))
    if len(documents) == 1:
        changes = _changes(documents[0])
        right = tag("div", _changes_views(changes)) if changes else None
        body.append(tag("div", _facts(documents), right, class_="beside"))
        body += [paragraph(_COUNTS)] if changes else []
    else:
        body += [_facts(documents), *_same_everywhere(documents)]
        body += _all_changes(list(zip(_names(documents), documents, strict=True)))
    return Section("adapt", "Adaptation", body)


def bench_adapt_section(story: Story) -> Section | None:
    """Show the results of `barrio bench adapt`, missed goals first."""
    documents = story.results.of("bench.adapt")
    if not documents:
        return None
    body: list[Html] = []
    for document in documents:
        body += _bench(document)
    return Section("bench-adapt", "Benchmark of adaptation", body)


def _in_words(document: Document) -> Html:
    before, after = (words.count(document.number(key)) for key in ("cells_before", "cells"))
    output, source = (base_name(document.text(key)) for key in ("output", "input"))
    sizes = [str(size) for size in document.items("size")]
    wanted: list[Any] = []
    for index, size in enumerate(sizes):
        wanted += [", " if index else "", tag("code", size)]
    for key, what in (("size_field", "the sizes in "), ("error_field", "the errors in ")):
        if document.text(key):
            wanted += [what, tag("code", document.text(key))]
    smallest = ", the smallest at each point" if len(sizes) > 1 else ""
    return paragraph(
        tag("b", output or document.path.name),
        f": {before} tets{f' of {source}' if source else ''} became {after}",
        f" on {words.plural(document.number('ranks'), 'rank')}",
        f" in {words.seconds(document.number('seconds'))}.",
        [" Edge lengths are requested by ", *wanted, smallest, "."] if wanted else None,
    )


def _notes(document: Document) -> list[str]:
    """List what a mesh lacks."""
    name = base_name(document.text("output")) or document.path.name
    notes = []
    if document.data.get("is_complete") is False:
        notes.append(f"{name}: the time limit ended adaptation early; the mesh is valid.")
    left_out = [str(what) for what in document.items("left_out")]
    if left_out:
        notes.append(f"{name} lacks what could not be kept: {words.listing(left_out)}.")
    return notes


def _names(documents: list[Document]) -> list[str]:
    """Name each document by its file and its output."""
    outputs = [base_name(document.text("output")) for document in documents]
    return [
        f"{document.path.name}: {output}" if output else document.path.name
        for document, output in zip(documents, outputs, strict=True)
    ]


def _facts(documents: list[Document]) -> Html:
    columns = [_AT["ranks"], *_CELLS, _AT["vertices"], *_WORTH, *_TIMES, _AT["checksum"]]
    rows: list[list[Any]] = [[d.path.name, *[write(d) for _, write in columns]] for d in documents]
    head = ["run", *[name for name, _ in columns]]
    return listing(head, rows[0]) if len(rows) == 1 else table(head, rows)


def _share_of_balance(of: Document) -> str:
    balance, seconds = of.number("seconds_of_balance"), of.number("seconds")
    if balance is None or not seconds or seconds < 0.0:
        return words.NOTHING
    return f"{words.seconds(balance)} ({words.percent(balance / seconds)})"


def _volume_error(of: Document) -> str:
    """Return the error of the volume: the benchmark adapts the unit cube."""
    volume = of.number("volume")
    return words.NOTHING if volume is None else words.number(abs(volume - 1.0))


def _mean_and_most(of: Document, key: str, write: Any) -> str:
    mean, most = of.number(key, "mean"), of.number(key, "max")
    if mean is None or most is None:
        return words.NOTHING
    return f"{write(mean)} (max {write(most)})"


def _cells_of_unit(of: Document) -> str:
    cells, unit = of.number("cells"), of.number("complexity")
    return words.NOTHING if cells is None or not unit else words.number(cells / unit)


_AT: dict[str, Any] = {
    "ranks": ("ranks", lambda of: words.count(of.number("ranks"))),
    "vertices": ("vertices", lambda of: words.count(of.number("vertices"))),
    "checksum": ("checksum", lambda of: tag("code", of.text("checksum") or words.NOTHING)),
}
_CELLS: list[Any] = [
    ("cells before", lambda of: words.count(of.number("cells_before"))),
    ("cells", lambda of: words.count(of.number("cells"))),
]
_WORTH: list[Any] = [
    ("min quality", lambda of: words.number(of.number("quality", "min"))),
    ("mean quality", lambda of: words.number(of.number("quality", "mean"))),
    (
        "edges in range",
        lambda of: words.percent(
            of.number("lengths", "in_range") if of.table("lengths") else of.number("edges_in_range")
        ),
    ),
]
_TIMES: list[Any] = [
    ("time taken", lambda of: words.seconds(of.number("seconds"))),
    ("thereof load balancing", _share_of_balance),
]
_MEASURED: list[Any] = [
    *_CELLS,
    ("cells / C, the volume in requested lengths", _cells_of_unit),
    *_WORTH,
    ("shortest edge / requested", lambda of: words.number(of.number("lengths", "shortest"))),
    ("longest edge / requested", lambda of: words.number(of.number("lengths", "longest"))),
    ("error of the volume", _volume_error),
    *_TIMES,
    ("thereof rounds", lambda of: words.seconds(of.number("seconds_of_rounds"))),
    ("a second call", lambda of: words.seconds(of.number("seconds_of_second_call"))),
    ("peak memory per cell", lambda of: words.in_bytes(of.number("peak_bytes_per_cell"))),
    ("imbalance of cells", lambda of: words.number(of.number("imbalance", "cells"), 5)),
    ("imbalance of vertices", lambda of: words.number(of.number("imbalance", "vertices"), 5)),
    ("messages per rank", lambda of: _mean_and_most(of, "messages", words.count)),
    ("bytes per rank", lambda of: _mean_and_most(of, "bytes", words.in_bytes)),
    ("collectives per rank", lambda of: _mean_and_most(of, "collectives", words.count)),
    ("passes", lambda of: words.count(of.number("passes"))),
    _AT["checksum"],
]


def _bench(document: Document) -> list[Html]:
    cases = [
        Document(document.path, document.kind, case)
        for case in document.items("cases")
        if isinstance(case, dict)
    ]
    names = [case.text("case") or f"case {index}" for index, case in enumerate(cases)]
    boxes = words.count(document.number("boxes"))
    body = [
        tag("h3", f"{document.path.name}: {words.plural(document.number('ranks'), 'rank')}"),
        paragraph(
            f"A unit cube of {boxes} boxes per side, six tets each; all requested lengths are scaled by "
            f"{words.number(document.number('scale'))}. The defaults are 55 boxes and a scale of 1."
        ),
        *goals_table(document),
    ]
    if not cases:
        return body
    rows = [[name, *[write(case) for case in cases]] for name, write in _MEASURED]
    body += [paragraph(_QUALITY), table(["", *names], rows)]
    return body + _all_changes(list(zip(names, cases, strict=True)))


def _same_everywhere(documents: list[Document]) -> list[Html]:
    """Compare runs with the same requested lengths on several rank counts: checksums must agree."""

    def wanted(document: Document) -> tuple[Any, ...]:
        texts = [document.text(key) for key in ("input", "size_field", "error_field")]
        sizes = [str(size) for size in document.items("size")]
        return (document.number("cells_before"), *texts, *sizes)

    def mesh(document: Document) -> str:
        return base_name(document.text("input"))

    return compare_ranks(
        ((wanted(document), document) for document in documents),
        "checksum",
        lambda one, ranks: f"{mesh(one)} becomes the same mesh to the last bit on {ranks} ranks.",
        lambda one, n, ranks: (
            f"{mesh(one)} becomes {n} different meshes on {ranks} ranks; the same options would give one."
        ),
    )


def _all_changes(calls: list[tuple[str, Document]]) -> list[Html]:
    """Show the changes of each run by operator, as a plot and a table."""
    shown = [(name, made) for name, call in calls if (made := _changes(call))]
    body: list[Html] = [paragraph(_COUNTS)] if shown else []
    for index, (name, made) in enumerate(shown):
        content = tag("div", _changes_views(made), class_="beside")
        if index < _MAX_OPEN:
            body += [tag("h4", name), content]
        else:
            body.append(tag("details", tag("summary", name), content))
    return body


def _changes(call: Document) -> dict[str, dict[str, float | None]]:
    """Return the counts of each operator that a document has."""
    keys = ("made", "tried", "rounds", "passes")
    found = {
        kind: {key: call.number("changes", kind, key) for key in keys}
        for kind in _KINDS
        if call.table("changes", kind)
    }
    return {kind: of for kind, of in found.items() if any(n is not None for n in of.values())}


def _changes_views(changes: dict[str, dict[str, float | None]]) -> list[Html]:
    counts = [[max(0.0, of[key] or 0.0) for key in ("made", "tried")] for of in changes.values()]
    plot = figures.made_of_tried(list(changes), [n for n, _ in counts], [n for _, n in counts])
    caption = "Changes made, of those tried."
    return [figure(plot, caption), _changes_table(changes)]


def _changes_table(changes: dict[str, dict[str, float | None]]) -> Html:
    rows = []
    for kind, of in changes.items():
        made, tried = of["made"], of["tried"]
        share = made / tried if made is not None and tried else None
        rows.append(
            [
                kind,
                words.count(made),
                words.count(tried),
                words.percent(share, 0),
                words.count(of["rounds"]),
                words.count(of["passes"]),
            ]
        )
    return table(["operator", "made", "tried", "share", "rounds", "passes"], rows)
