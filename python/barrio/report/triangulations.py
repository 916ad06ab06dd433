"""Queries on documents of `barrio delaunay`: triangulations and audits."""

from __future__ import annotations

from typing import Any

from . import words
from .documents import Document, as_number

_MOST = 2.0**63  # counts are smaller
_ROUNDING = 1e-6  # degrees


def is_audit(document: Document) -> bool:
    """Tell an audit from a triangulation."""
    return "audit" in document.data


def triangulations(documents: list[Document]) -> list[Document]:
    """Return the documents of triangulations."""
    return [document for document in documents if not is_audit(document)]


def audits(documents: list[Document]) -> list[Document]:
    """Return the documents of audits."""
    return [document for document in documents if is_audit(document)]


def seconds_of(document: Document) -> float | None:
    """Return the time of triangulating and refining, without reading and writing."""
    times = [document.number(f"seconds_of_{what}") for what in ("triangulating", "refining")]
    known = [seconds for seconds in times if seconds is not None]
    return sum(known) if known else None


def speed_of(document: Document) -> float | None:
    """Return triangles per second."""
    seconds, triangles = seconds_of(document), document.number("triangles")
    if triangles is None or triangles < 0.0 or seconds is None or seconds <= 0.0:
        return None
    return triangles / seconds


def n_bad(document: Document, why: str) -> int:
    """Return how often a bad triangle was left, 'at_segments' or 'by_rounding'."""
    return _count(document.number("bad_triangles", why)) or 0


def is_whole(document: Document) -> bool:
    """Tell whether refinement is complete."""
    n = sum(n_bad(document, why) for why in ("at_segments", "by_rounding"))
    return document.data.get("is_complete") is True and n == 0


def is_refined(document: Document) -> bool:
    """Tell whether bounds were applied: a document names them even with --no-refinement."""
    if isinstance(document.data.get("is_refined"), bool):
        return bool(document.data["is_refined"])
    added = [document.number("points_added", where) for where in ("inside", "on_segments")]
    least, bound = document.number("angles", "min"), min_angle_asked(document)
    if any(added) or not is_whole(document) or least is None or bound is None:
        return True
    return least >= bound - _ROUNDING


def min_angle_asked(document: Document) -> float | None:
    """Return the requested min angle in degrees; None without a bound."""
    bound = document.number("options", "min_angle")
    return bound if bound is not None and 0.0 < bound <= 60.0 else None


def has_sharp_corners(document: Document) -> bool:
    """Tell whether refinement is complete, but segments at small angles left angles below the bound."""
    least, bound = document.number("angles", "min"), min_angle_asked(document)
    if least is None or bound is None or not (is_whole(document) and is_refined(document)):
        return False
    return least < bound - _ROUNDING


def bounds_in_words(document: Document) -> str:
    """Write the requested bounds; empty without bounds."""
    angle, area = min_angle_asked(document), document.number("options", "max_area")
    said = []
    if angle is not None and not (is_audit(document) and _has_let_pass(document, angle)):
        said.append(f"angles of at least {degrees(angle)}")
    if area is not None and area > 0.0:
        said.append(f"areas of at most {_short(area)}")
    if formula := document.text("options", "area"):
        said.append(f"areas of at most {formula}")
    return words.listing(said)


def degrees(angle: float) -> str:
    """Write an angle as it was given."""
    return f"{_short(angle)}\u00a0degrees"


def _short(value: float) -> str:
    """Write a number as it was typed, if that is short."""
    text = f"{value:.12g}"
    return text if len(text) < 9 and "e" not in text else words.number(value)


def counts_of_degrees(document: Document) -> list[int]:
    """Return the number of triangles with a min angle of 0, 1, ... degrees; empty if one is malformed."""
    counts = [_count(n) for n in document.items("angles", "triangles_of_degree")]
    known = [n for n in counts if n is not None]
    return known if len(known) == len(counts) == 61 and sum(known) > 0 else []


def _count(value: Any) -> int | None:
    number = as_number(value)
    return int(number) if number is not None and 0.0 <= number < _MOST else None


def checks_of(audit: Document) -> list[dict[str, Any]]:
    """Return the checks of an audit, faults first."""
    checks = [check for check in audit.items("audit", "checks") if isinstance(check, dict)]
    return sorted(checks, key=is_met)


def is_met(check: dict[str, Any]) -> bool:
    """Tell whether a check passed."""
    return check.get("met") is True


def _has_let_pass(audit: Document, bound: float) -> bool:
    """Tell whether an audit accepted angles below the bound, as with --no-refinement."""
    least = audit.number("audit", "min_angle")
    minds = any(c.get("check") == "angles" and not is_met(c) for c in checks_of(audit))
    return least is not None and least < bound - _ROUNDING and not minds


def n_faults(audit: Document) -> int:
    """Count the checks that failed."""
    return sum(not is_met(check) for check in checks_of(audit))


def passes(audit: Document) -> bool | None:
    """Tell whether an audit passed; None if unknown."""
    said = audit.table("audit").get("passes")
    if said is False or n_faults(audit):
        return False
    return True if said is True and checks_of(audit) else None
