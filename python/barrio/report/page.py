"""The whole page: title, summary, provenance, and the sections in order."""

from __future__ import annotations

from .headline import cards, summary
from .markup import Html, paragraph, raw, tag
from .sections.adapt import adapt_section, bench_adapt_section
from .sections.amr import amr_section
from .sections.audit import audit_section
from .sections.bench import bench_section
from .sections.delaunay import bench_delaunay_section, delaunay_section
from .sections.files import files_section
from .sections.machine import machine_section
from .sections.mesh import ghosts_section, mesh_section, parts_section
from .sections.next import errors_section, next_section, raw_section
from .sections.probe import probe_section
from .sections.results import results_section
from .sections.run import field_section, phases_section
from .sections.traffic import traffic_section
from .story import Section, Story, base_name
from .style import CSS, SCRIPT

# Kinds of documents whose rank counts are at the top of the page.
_OF_RANKS = ("load", "heat", "partition", "adapt", "amr", "delaunay", "bench.adapt")


def make_page(story: Story) -> str:
    """Return the whole page as HTML."""
    made = [
        mesh_section(story),
        adapt_section(story),
        amr_section(story),
        delaunay_section(story),
        audit_section(story),
        parts_section(story),
        ghosts_section(story),
        field_section(story),
        phases_section(story),
        traffic_section(story),
        machine_section(story),
        probe_section(story),
        bench_section(story),
        bench_adapt_section(story),
        bench_delaunay_section(story),
        results_section(story),
        files_section(story),
        next_section(story) if story.wants_suggestions else None,
        raw_section(story),
    ]
    sections = [section for section in made if section is not None]
    files = [drawing.path.name for drawing in story.drawings]
    name = base_name(story.mesh_name) or (files[0] if len(files) == 1 else "results")
    title = f"barrio: {name}"
    main = tag(
        "main",
        tag("header", tag("h1", title), summary(story), cards(story), _provenance(story)),
        errors_section(story),
        _faults(story),
        contents(sections),
        written(sections),
    )
    return whole_page(title, main)


def whole_page(title: str, main: Html) -> str:
    """Return the HTML of a self-contained page."""
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", title),
        tag("style", raw(CSS)),
    )
    script = tag("script", raw(SCRIPT)) if 'class="film"' in main else None
    return (
        "<!DOCTYPE html>\n" + tag("html", head, "\n", tag("body", main, script), lang="en") + "\n"
    )


def written(sections: list[Section]) -> list[Html]:
    """Return the HTML of the sections."""
    return [
        tag("section", tag("h2", section.title), section.body, id=section.anchor)
        for section in sections
    ]


def contents(sections: list[Section]) -> Html:
    """Return links to the sections."""
    links = [tag("li", tag("a", s.title, href=f"#{s.anchor}")) for s in sections]
    return tag("nav", tag("ul", links), aria_label="Sections")


def _provenance(story: Story) -> Html:
    """Write in one line by what, where and when the results were made."""

    def distinct(key: str) -> list[str]:
        texts = (document.text(key) for document in story.results.documents)
        return list(dict.fromkeys(text.partition(",")[0].strip("\x00 ") for text in texts if text))

    numbers = {document.number("ranks") for document in story.results.of(*_OF_RANKS)}
    ranks = sorted(int(n) for n in numbers if n)
    times = sorted(distinct("time"))
    parts = [
        ("barrio ", distinct("barrio")),
        ("commit ", distinct("commit")),
        (
            "",
            [
                " ".join(filter(None, [c, b]))
                for c in distinct("compiler")
                for b in distinct("build")[:1] or [""]
            ],
        ),
        ("", distinct("mpi")),
        ("host ", distinct("host")),
        ("", [span_of_times(times[0], times[-1])] if times else []),
        ("ranks ", [str(n) for n in ranks]),
    ]
    said = [prefix + " and ".join(values) for prefix, values in parts if values]
    line = paragraph(" · ".join(said) or "No document has its provenance.", class_="provenance")
    if len(distinct("commit")) > 1:
        warning = "These results are from different commits of barrio."
        return raw(line + paragraph(warning, class_="note"))
    return line


def span_of_times(first: str, last: str) -> str:
    """Write two times (2026-01-31T12:00:59Z) as a span, to the minute."""
    if "T" not in first or "T" not in last:
        return first if first == last else f"{first} to {last}"
    (day, begin), (end_day, end) = (time.rstrip("Z").split("T", 1) for time in (first, last))
    begin, end = begin[:5], end[:5]
    if (day, begin) == (end_day, end):
        return f"{day} {begin} UTC"
    return f"{day} {begin} to {'' if day == end_day else end_day + ' '}{end} UTC"


def _faults(story: Story) -> list[Html]:
    """List missing pictures."""
    return [
        tag(
            "p",
            f"pictures could not be rendered: {drawing.path.name}: {drawing.fault}",
            class_="note error",
        )
        for drawing in story.drawings
        if drawing.fault
    ]
