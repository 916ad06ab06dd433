"""Sections on triangulations in the plane: the results of `barrio delaunay` and of its benchmark."""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate
from typing import Any

from .. import figures, words
from ..colours import tints
from ..documents import Document, as_number
from ..markup import Html, figure, legend, listing, paragraph, table, tag
from ..pictures import Drawing
from ..story import Section, Story, base_name, framed_picture, missing_pictures
from ..triangulations import (
    bounds_in_words,
    counts_of_degrees,
    has_sharp_corners,
    is_refined,
    min_angle_asked,
    n_bad,
    seconds_of,
    speed_of,
    triangulations,
)
from .bench import goals_table
from .snapping import snapping

_MAX_OPEN = 3  # triangulations whose angles are not folded
_MAX_LEGEND = 24
_STAYED = {
    "at_segments": "since segments may not be split",
    "by_rounding": "since coordinates are too coarse for smaller ones",
}
_MESHERS = {"barrio": "barrio", "triangle": "Triangle", "cgal": "CGAL"}


def delaunay_section(story: Story) -> Section | None:
    """Show the results of `barrio delaunay`."""
    documents = triangulations(story.results.of("delaunay"))
    drawing = story.drawing("plane")
    if not documents and drawing is None:
        return None
    body = [_in_words(document) for document in documents[:_MAX_OPEN]]
    body += [tag("div", note, class_="note") for document in documents for note in _notes(document)]
    if drawing is not None:
        body += plane_views(story, drawing)
    for document in documents:
        body += snapping(document, _name(document))
    if len(documents) == 1:
        body.append(
            tag("div", _facts(documents), _angles(documents[0], "Triangles"), class_="beside")
        )
    elif documents:
        body += [_facts(documents), *_all_angles(documents)]
    return Section("delaunay", "Triangulation", body)


def bench_delaunay_section(story: Story) -> Section | None:
    """Show the results of `barrio bench delaunay`, missed goals first."""
    documents = story.results.of("bench.delaunay")
    if not documents:
        return None
    body: list[Html] = []
    for document in documents:
        body += _bench(document)
    return Section("bench-delaunay", "Benchmark of triangulation", body)


def _in_words(document: Document) -> Html:
    points, segments = (document.number(f"{what}_in_file") for what in ("points", "segments"))
    source = base_name(document.text("input"))
    speed = speed_of(document)
    return paragraph(
        tag("b", _name(document)),
        f": {words.plural(points, 'point')} and {words.plural(segments, 'segment')}"
        f"{f' of {source}' if source else ''} became {words.plural(document.number('triangles'), 'triangle')}"
        f" in {words.seconds(seconds_of(document))}",
        f", {words.number(speed / 1e6)} M per second" if speed is not None else None,
        f". {_asked(document)}",
        _in_parts(document),
    )


def _in_parts(document: Document) -> str:
    """Write how the domain was cut, if it was."""
    n = document.number("parts", "n")
    if n is None:
        return ""
    edges = words.plural(document.number("parts", "interfaces"), "edge")
    times = words.plural(document.number("parts", "exchanges"), "exchange")
    most = words.number(document.number("parts", "imbalance_of_parts"))
    said = (
        f" The domain was cut into {words.plural(n, 'part')} along {edges}; both sides of each agreed "
        f"after {times}. The largest part has {most} times the mean."
    )
    written = document.number("parts", "bytes_written")
    if written:
        limit = words.in_bytes(document.number("options", "memory"))
        said += f" Of memory for them, {limit} were allowed on a node: {words.in_bytes(written)} went to the disk."
        said += _overlap(document)
    return said


def _overlap(document: Document) -> str:
    """Write how much of the disk's time was hidden by refinement."""
    run = document.number("parts", "seconds", "run")
    if not run:
        return ""
    computing, disk, waiting = (
        100 * (document.number("parts", "seconds", what) or 0.0) / run
        for what in ("computing", "disk", "waiting_for_disk")
    )
    return (
        f" Of the refinement's time, ranks computed for {computing:.0f} % and waited for the disk for {waiting:.0f} %;"
        f" it was busy for {disk:.0f} %, so {max(disk - waiting, 0.0):.0f} % of the time were overlapped."
    )


def _asked(document: Document) -> str:
    """Write the requested bounds and extent."""
    hull = document.table("options").get("hull") is True
    up_to = " It extends to the convex hull." if hull else ""
    if not is_refined(document):
        return f"No points were added: it is the triangulation of the input.{up_to}"
    said = [bounds_in_words(document)] if bounds_in_words(document) else []
    if document.table("options").get("region_areas") is True and document.number("regions"):
        said.append("the max areas of regions in the file")
    asked = f"Requested: {', and '.join(said)}." if said else "No bounds were requested."
    return asked + up_to


def _name(document: Document) -> str:
    return base_name(document.text("output")) or document.path.name


def _notes(document: Document) -> list[str]:
    """List what differs from the request, and what is missing."""
    name, notes = _name(document), []
    if document.data.get("is_complete") is False:
        notes.append(
            f"{name}: refinement stopped at --max-triangles: some triangles exceed the bounds."
        )
    for why, said in _STAYED.items():
        n = n_bad(document, why)
        if n:
            often = "once" if n == 1 else f"{words.count(n)} times"
            notes.append(f"{name}: {often} a triangle was left as it is, {said}.")
    least = document.number("angles", "min")
    if least is not None and has_sharp_corners(document):
        notes.append(
            f"{name}: an angle of {words.number(least)} degrees remains, since segments meet at a small "
            "angle."
        )
    outside = document.number("points_outside")
    if outside is not None and outside > 0:
        lie, are = ("lies", "is not a vertex") if outside == 1 else ("lie", "are not vertices")
        notes.append(
            f"{name}: {words.plural(outside, 'point')} of the file {lie} outside the segments, or in "
            f"holes, and {are}."
        )
    left_out = [str(what) for what in document.items("left_out")]
    if left_out:
        notes.append(f"{name} lacks what could not be kept: {words.listing(left_out)}.")
    return notes


def plane_views(story: Story, drawing: Drawing) -> list[Html]:
    """Show the pictures of a triangulation."""
    facts, name = drawing.facts, drawing.path.name
    if "plane" not in drawing.images:
        return [missing_pictures(drawing, story.wants_pictures)]
    regions = [one for one in facts["regions"] if isinstance(one, list)]
    by = f", coloured by its {words.count(len(regions))} regions" if len(regions) > 1 else ""
    thick = " Thick lines are edges on segments." if facts["n_lines"] else ""
    many = "" if facts["has_edges"] else " There are too many other edges to draw."
    said = f"{words.plural(facts['n_cells'], 'triangle')} from above{by}"
    shown = [framed_picture(drawing, ["plane"], f"{name}, {said}", f"{name}: {said}.{thick}{many}")]
    if "parts" in drawing.images:
        caption = f"The {words.count(facts['n_parts'])} parts of the domain, refined one by one."
        shown.append(framed_picture(drawing, ["parts"], f"{name}, its parts", caption))
    if "finest" in drawing.images:
        caption = "The surroundings of the smallest triangle, with all edges."
        shown.append(framed_picture(drawing, ["finest"], caption, caption))
    body = [tag("div", shown, class_="frames") if len(shown) > 1 else shown[0]]
    if 1 < len(regions) <= _MAX_LEGEND:
        named = zip(tints(len(regions)), regions, strict=True)
        body.append(legend([(tint, _region_in_words(*region)) for tint, region in named]))
    if drawing.fault:
        body.append(missing_pictures(drawing, story.wants_pictures))
    return body


def _region_in_words(region: int, attribute: float | None, n_triangles: int) -> str:
    of_file = as_number(attribute)
    marked = f", attribute {of_file:g}" if region and of_file is not None else ""
    what = f"region {region}" if region else "no region"
    return f"{what}{marked}: {words.plural(n_triangles, 'triangle')}"


def _facts(documents: list[Document]) -> Html:
    rows: list[list[Any]] = [
        [d.path.name, *[write(d) for write in _FACTS.values()]] for d in documents
    ]
    head = ["run", *_FACTS]
    return listing(head, rows[0]) if len(rows) == 1 else table(head, rows)


def _counted(*keys: str) -> Callable[[Document], str]:
    return lambda of: words.count(of.number(*keys))


def _timed(key: str) -> Callable[[Document], str]:
    return lambda of: words.seconds(of.number(key))


def _measured(*keys: str) -> Callable[[Document], str]:
    return lambda of: words.number(of.number(*keys))


def _speed(of: Document) -> str:
    speed = speed_of(of)
    return words.NOTHING if speed is None else f"{words.number(speed / 1e6)} M"


def _bytes_each(of: Document) -> str:
    memory, n = of.number("memory_bytes"), of.number("triangles")
    return words.NOTHING if memory is None or not n else words.in_bytes(memory / n)


_FACTS: dict[str, Callable[[Document], str]] = {
    "triangles": _counted("triangles"),
    "vertices": _counted("vertices"),
    "points of the file": _counted("points_in_file"),
    "points added inside": _counted("points_added", "inside"),
    "points added on segments": _counted("points_added", "on_segments"),
    "segments of the file": _counted("segments_in_file"),
    "regions": _counted("regions"),
    "min angle, degrees": _measured("angles", "min"),
    "min area": _measured("areas", "min"),
    "max area": _measured("areas", "max"),
    "total area": _measured("areas", "sum"),
    "time to triangulate": _timed("seconds_of_triangulating"),
    "time to refine": _timed("seconds_of_refining"),
    "time to write": _timed("seconds_of_writing"),
    "triangles per second": _speed,
    "memory per triangle": _bytes_each,
}


def _all_angles(documents: list[Document]) -> list[Html]:
    """Draw the angles of each triangulation; the last of many are folded."""
    drawn = [
        (document.path.name, plot)
        for document in documents
        if (plot := _angles(document, f"{document.path.name}: triangles"))
    ]
    first = [plot for _, plot in drawn[:_MAX_OPEN]]
    body: list[Html] = [tag("div", first, class_="frames")] if first else []
    return body + [tag("details", tag("summary", n), plot) for n, plot in drawn[_MAX_OPEN:]]


def _angles(document: Document, what: str) -> Html | None:
    """Draw the triangles by min angle."""
    counts = counts_of_degrees(document)
    if not counts:
        return None
    bound = min_angle_asked(document) if is_refined(document) else None
    half = next(d for d, n in enumerate(accumulate(counts)) if 2 * n > sum(counts))
    return figure(
        figures.smallest_angles(counts, bound),
        f"{what} by min angle; a regular triangle has 60 degrees. Half of them have at least {half}.",
    )


def _bench(document: Document) -> list[Html]:
    parts = [
        Document(document.path, document.kind, part)
        for part in document.items("parts")
        if isinstance(part, dict)
    ]
    names = []
    for index, part in enumerate(parts):
        millions = part.number("millions")
        of = part.text("part") or f"part {index}"
        names.append(of if millions is None else f"{of}, {millions:g} M")
    body = [
        tag("h3", document.path.name),
        paragraph(
            "Each mesher runs on one core, in turn with the others. M: millions of triangles, when a "
            "pipe or a square is refined, or of random points."
        ),
        *goals_table(document),
    ]
    for peer, reason in document.table("left_out").items():
        body.append(paragraph(f"Without {peer}: {reason}"))
    if not parts:
        return body
    speeds = {
        name: [part.number(key, "triangles_per_second") for part in parts]
        for key, name in _MESHERS.items()
        if any(part.table(key) for part in parts)
    }
    if speeds:
        caption = "Triangles per second, in the fastest run of each."
        body.append(figure(figures.speeds(names, speeds), caption))
    rows = [row for name, part in zip(names, parts, strict=True) for row in _bench_rows(name, part)]
    head = ["", "mesher", "triangles", "min time", "median time", "triangles per second"]
    body.append(table([*head, "peak memory per triangle"], rows, n_left=2))
    return body


def _bench_rows(name: str, part: Document) -> list[list[Any]]:
    rows = []
    for key, mesher in _MESHERS.items():
        if not part.table(key):
            continue
        speed = part.number(key, "triangles_per_second")
        peak = part.number("peak_bytes_per_triangle") if key == "barrio" else None
        rows.append(
            [
                name,
                mesher,
                words.count(part.number(key, "triangles")),
                words.seconds(part.number(key, "min_seconds")),
                words.seconds(part.number(key, "median_seconds")),
                f"{words.number(speed / 1e6)} M" if speed is not None else words.NOTHING,
                words.in_bytes(peak),
            ]
        )
    return rows
