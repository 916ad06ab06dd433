"""The section on audits of triangulations: every check, faults first."""

from __future__ import annotations

from typing import Any

from .. import words
from ..documents import Document
from ..markup import Html, paragraph, table, tag
from ..story import Section, Story, base_name
from ..triangulations import audits, bounds_in_words, checks_of, is_met, n_faults, passes

_HOW = (
    "An audit is independent of the mesher: it reads the file again, finds edges by sorting, and "
    "computes signs in exact fractions where rounding might matter."
)


def audit_section(story: Story) -> Section | None:
    """Show the results of `barrio delaunay --audit`, audits with faults first."""
    documents = sorted(audits(story.results.of("delaunay")), key=lambda of: passes(of) is not False)
    if not documents:
        return None
    body: list[Html] = [paragraph(_HOW)]
    for document in documents:
        if len(documents) > 1:
            body.append(tag("h3", document.path.name))
        body += _audit(document)
    return Section("audit", "Audit of the triangulation", body)


def audit_in_words(audit: Document) -> str:
    """Write the result of an audit: 'passes', '2 faults'."""
    verdict = passes(audit)
    if verdict is None:
        return "not checked"
    n = n_faults(audit)
    return "passes" if verdict else words.plural(n, "fault") if n else "faults"


def _audit(document: Document) -> list[Html]:
    checks = checks_of(document)
    look = {True: " good", False: " bad", None: ""}[passes(document)]
    source, bounds = base_name(document.text("input")), bounds_in_words(document)
    within = f" with {bounds}" if bounds else ""
    n_met = len(checks) - n_faults(document)
    body = [
        paragraph(
            tag("span", audit_in_words(document), class_=f"badge{look}"),
            " ",
            tag("b", base_name(document.text("mesh")) or document.path.name),
            f"{f' as a triangulation of {source}' if source else ''}{within}: "
            f"{words.count(n_met)} of {words.plural(len(checks), 'check')} pass.",
        )
    ]
    if checks:
        body.append(table(["", "check", "found"], [_row(check) for check in checks], n_left=3))
    exact = document.number("audit", "exact_signs")
    if exact is not None:
        needed = words.plural(exact, "sign")
        body.append(paragraph(f"{needed} needed fractions; the others were certain without them."))
    return body


def _row(check: dict[str, Any]) -> list[Any]:
    met = is_met(check)
    badge = tag("span", "met" if met else "fault", class_=f"badge {'good' if met else 'bad'}")
    return [badge, str(check.get("check", "")), str(check.get("text", ""))]
