"""Changes that snapping made to the input of a triangulation."""

from __future__ import annotations

from .. import words
from ..documents import Document
from ..markup import Html, paragraph, tag

_COUNTS = {  # of the document: one of them, and what became of it
    "merged_points": ("point", "merged with others"),
    "points_on_segments": ("end", "on segments"),
    "crossings": ("crossing", "cut"),
    "repeated_segments": ("repeated piece", "dropped"),
    "cut_rings": ("ring", "cut at 180 degrees"),
}
_LISTS = {
    "overlaps": "Areas overlap; the first one keeps what they share",
    "inverted": "Left out, where a ring crosses itself or a hole lies outside",
    "vanished": "Vanished",
}


def snapping(document: Document, name: str) -> list[Html]:
    """Write how points moved, segments were cut and overlaps resolved; nothing without snapping."""
    tolerance = document.number("snapping", "tolerance")
    if tolerance is None:
        return []
    from_digits = document.table("snapping").get("is_default") is True
    changes = [
        f"{words.plural(n, one)} {became}"
        for key, (one, became) in _COUNTS.items()
        if (n := document.number("snapping", key))
    ]
    move = document.number("snapping", "max_move")
    by = f" No point moved by more than {words.number(move)}." if move else ""
    shown: list[Html] = [
        paragraph(
            f"{name}: snapped within {tolerance:g}"
            f"{', from the digits of the file' if from_digits else ''}: "
            f"{words.listing(changes) if changes else 'no point or segment had to change'}.{by}"
        )
    ]
    for key, title in _LISTS.items():
        entries = document.items("snapping", key)
        if entries:
            summary = tag("summary", f"{title}: {words.count(len(entries))}")
            shown.append(tag("details", summary, tag("ul", [tag("li", str(e)) for e in entries])))
    return shown
