"""The section on VTKHDF files: what each has, and pictures of those that no other section shows."""

from __future__ import annotations

from typing import Any

from .. import words
from ..markup import Html, paragraph, table, tag
from ..pictures import MAX_DRAWN, Drawing
from ..story import Section, Story
from .delaunay import plane_views
from .fields import curves_of, field_views
from .mesh import ghost_views, shape_views

_MAX_ARRAYS = 40


def files_section(story: Story) -> Section | None:
    """List the contents of all VTKHDF files, with pictures of those that are not shown above."""
    known = [drawing for drawing in story.drawings if drawing.kind]
    if not known:
        return None
    body: list[Html] = []
    for drawing in known:
        body.append(tag("h3", drawing.path.name))
        if id(drawing) not in story.shown_drawings:
            body += views_of(story, drawing)
        body += contents_of(drawing)
    if story.wants_pictures and len(story.drawings) > MAX_DRAWN:
        body.append(paragraph(f"Only the first {MAX_DRAWN} files are drawn.", class_="soft"))
    return Section("files", "Files", body)


def views_of(story: Story, drawing: Drawing) -> list[Html]:
    """Show the pictures of a file of any kind."""
    if story.wants_pictures and not drawing.images and not drawing.fault:
        return []  # beyond MAX_DRAWN, or nothing to draw
    if drawing.kind == "plane":
        return plane_views(story, drawing)
    if drawing.kind == "ghosts":
        return [*shape_views(story, drawing), *ghost_views(story, drawing, [])]
    views = shape_views(story, drawing) + field_views(story, drawing)
    curves = curves_of(drawing)
    return views + ([tag("div", curves, class_="beside")] if curves else [])


def contents_of(drawing: Drawing) -> list[Html]:
    """Write what a file has: its kind, counts, box and arrays."""
    return [_contents(drawing), *_arrays(drawing)]


def _contents(drawing: Drawing) -> Html:
    facts = drawing.facts
    rows: list[list[Any]] = [["contents", _kind_in_words(facts)]]
    if facts.get("kind") == "amr":
        for level, one in enumerate(facts["levels"]):
            said = f"{words.plural(one['blocks'], 'block')}, {words.plural(one['cells'], 'cell')}"
            rows.append([f"level {level}" + (", last step" if facts["n_steps"] > 1 else ""), said])
    else:
        which = ", first step" if facts.get("is_changing") else ""
        kinds = [f"{words.count(n)} {name}" for name, n in facts["cells"].items()]
        which += ", own ones" if facts["kind"] == "ghosts" else ""
        rows.append([f"cells{which}", words.listing(kinds) or "none"])
        rows.append(
            [
                f"vertices{', first step' if facts.get('is_changing') else ''}",
                words.count(facts["n_vertices"]),
            ]
        )
    if facts.get("box"):
        low, high = facts["box"]
        least = 1e-12 * max(abs(x) for x in [*low, *high])  # smaller ones are rounding
        ends = [[0.0 if abs(x) < least else x for x in corner] for corner in (low, high)]
        spans = [
            f"[{words.number(a, 4)}, {words.number(b, 4)}]" for a, b in zip(*ends, strict=True)
        ]
        rows.append(["box" + (", all steps" if facts["n_steps"] > 1 else ""), " × ".join(spans)])
    return table([], rows, n_left=2)


def _kind_in_words(facts: dict[str, Any]) -> str:
    what = {
        "amr": f"structured AMR in {facts.get('dimension')}-D",
        "plane": "a triangulation of the plane",
        "ghosts": f"a mesh on {words.plural(facts.get('n_ranks'), 'rank')}, with owners and ghosts",
    }.get(str(facts["kind"]), "a mesh")
    if facts["n_steps"] < 2:
        return what + (f" at time {words.number(facts['time'][0])}" if "time" in facts else "")
    first, last = facts["time"]
    said = f"{what}, {words.plural(facts['n_steps'], 'step')} from time {words.number(first)} to {words.number(last)}"
    if facts.get("kind") == "amr" or not facts.get("is_changing"):
        return said
    cells = facts["cells_of_step"]
    return f"{said}; the mesh changes, with {words.count(min(cells))} to {words.count(max(cells))} cells"


def _end(array: dict[str, Any], key: str) -> str:
    value = array[key]
    return words.count(value) if array.get("is_whole") else words.number(value, 4)


def _arrays(drawing: Drawing) -> list[Html]:
    """List the arrays with their ranges; those of a series in its first step."""
    facts = drawing.facts
    arrays = facts.get("arrays", [])
    if facts.get("kind") == "amr":
        arrays = [f | {"low": f["range"][0], "high": f["range"][1]} for f in facts["fields"]]
    if not arrays:
        return []
    rows = [
        [
            str(one["name"]),
            str(one["of"]),
            words.count(one["components"]),
            *[_end(one, key) for key in ("low", "high")],
            words.count(one.get("n_missing") or 0),
        ]
        for one in arrays[:_MAX_ARRAYS]
    ]
    is_first = facts["n_steps"] > 1 and facts.get("kind") != "amr"
    head = ["array", "of", "components", "min", "max", "without a value"]
    caption = "Vectors by their lengths." if any(one["components"] > 1 for one in arrays) else ""
    caption += " Values of the first step." if is_first else ""
    if len(arrays) > _MAX_ARRAYS:
        caption += f" The first {_MAX_ARRAYS} of {len(arrays)} arrays."
    return [table(head, rows, n_left=2, caption=caption.strip() or None)]
