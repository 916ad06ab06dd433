"""The section on messages between two ranks, for probe documents among others.

Probe documents alone give a page for each MPI and transport (probe/pages.py).
"""

from __future__ import annotations

from ..markup import Html, paragraph
from ..probe.data import transports_of
from ..probe.tables import missing, overlap_table, transports_table
from ..story import Section, Story


def probe_section(story: Story) -> Section | None:
    """Show the limits of every transport, and the wait after computing."""
    documents = story.results.of("probe")
    if not documents:
        return None
    transports = transports_of(story.results)
    body: list[Html] = []
    if transports:
        body.append(transports_table(transports, {}))
    for document in documents:
        body += missing(document)
    for transport in transports:
        if transport.is_disturbed:
            continue
        waits = overlap_table(transport, f"{transport.title}: wait after computing, by size")
        if waits is not None:
            body.append(waits)
    names = ", ".join(document.path.name for document in documents)
    body.append(
        paragraph(
            f"For timelines and details, run barrio report on {names} alone.",
            class_="soft",
        )
    )
    return Section("probe", "Messages between two ranks", body)
