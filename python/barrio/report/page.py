"""The page as a whole: title, summary, where it comes from, and the sections in their order."""

from __future__ import annotations

from . import words
from .documents import Document
from .machines import given_order, nodes_in_words
from .markup import Html, paragraph, raw, tag
from .message_times import fit_in_words, times_of
from .section_machine import machine_section
from .section_mapping import has_gained
from .section_mesh import ghosts_section, mesh_section, parts_section
from .section_next import errors_section, next_section, raw_section
from .section_probe import probe_section
from .section_run import field_section, has_passed, phases_section
from .section_traffic import traffic_section
from .story import Section, Story, base_name
from .style import CSS
from .traffic import Traffic


def make_page(story: Story) -> str:
    """Return the whole page as HTML."""
    made = [
        mesh_section(story),
        parts_section(story),
        ghosts_section(story),
        field_section(story),
        phases_section(story),
        traffic_section(story),
        machine_section(story),
        probe_section(story),
        next_section(story) if story.wants_suggestions else None,
        raw_section(story),
    ]
    sections = [section for section in made if section is not None]
    title = f"barrio: {base_name(story.mesh_name)}" if story.mesh_name else "barrio: results"
    main = tag(
        "main",
        tag("header", tag("h1", title), _summary(story), _cards(story), _provenance(story)),
        errors_section(story),
        _faults(story),
        contents(sections),
        written(sections),
    )
    return whole_page(title, main)


def whole_page(title: str, main: Html) -> str:
    """Return the HTML of a page that is whole in itself."""
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", title),
        tag("style", raw(CSS)),
    )
    return "<!DOCTYPE html>\n" + tag("html", head, "\n", tag("body", main), lang="en") + "\n"


def written(sections: list[Section]) -> list[Html]:
    """Return the sections one below the other."""
    return [
        tag("section", tag("h2", section.title), section.body, id=section.anchor)
        for section in sections
    ]


def contents(sections: list[Section]) -> Html:
    """Return links to the sections."""
    links = [tag("li", tag("a", s.title, href=f"#{s.anchor}")) for s in sections]
    return tag("nav", tag("ul", links), aria_label="Sections")


def _summary(story: Story) -> Html:
    """Tell the whole story in one paragraph."""
    said = []
    cells, vertices = story.n_cells(), story.n_vertices()
    if cells is not None:
        subject = f"The mesh {base_name(story.mesh_name)}" if story.mesh_name else "The mesh"
        text = f"{subject} has {words.plural(cells, 'cell')}"
        if vertices is not None:
            text += f" and {words.plural(vertices, 'vertex', 'vertices')}"
        if story.n_parts():
            text += f" in {words.plural(story.n_parts(), 'part')}"
        said.append(text + ".")
    kinds = ("load", "heat", "map", "machine")
    loads, runs, maps, machines = (story.results.of(kind) for kind in kinds)
    if loads:
        said.append(_loaded(loads[0]))
    if runs:
        said.append(_ran(runs[0]))
    if maps:
        said.append(_mapped(maps[0], story.traffic_of(maps[0])))
    if machines and times_of(machines[0]):
        said.append(_measured(machines[0]))
    if not said:
        n = len(story.results.documents) + len(story.results.vtkhdf_files)
        said.append(f"{words.plural(n, 'result')} of barrio.")
    return paragraph(" ".join(said), class_="lead")


def _loaded(document: Document) -> str:
    ranks, seconds = document.number("ranks"), document.number("seconds")
    text = f"{words.plural(ranks, 'rank')} loaded it in {words.seconds(seconds)}"
    traffic = document.number("exchange_bytes", "mean")
    neighbours = document.number("neighbours", "mean")
    if traffic is not None and neighbours:
        text += (
            f"; each exchange of ghosts sends {words.in_bytes(traffic)} per rank to "
            f"{words.number(neighbours, 2)} neighbours on average"
        )
    return text + "."


def _ran(document: Document) -> str:
    passed = has_passed(document)
    check = "" if passed is None else (", and passes" if passed else ", and fails")
    return (
        f"On {words.plural(document.number('ranks'), 'rank')}, heat took "
        f"{words.plural(document.number('stages'), 'stage')} in "
        f"{words.seconds(document.number('seconds'))} and ends at most "
        f"{words.kelvin(document.number('max_error'))} from the known steady state (tolerance "
        f"{words.kelvin(document.number('tolerance'))}){check}."
    )


def _mapped(document: Document, traffic: Traffic | None) -> str:
    before, after = (document.number(key, "inter_node_share") for key in ("before", "after"))
    nodes = nodes_in_words(document)
    who = traffic.who if traffic else "rank"
    if not has_gained(document):
        return (
            f"On {nodes}, {words.percent(before)} of the traffic crosses between nodes; no better "
            "placement than the given one was found."
        )
    return (
        f"On {nodes}, placing {who}s by their traffic changes what crosses between nodes from "
        f"{words.percent(before)} (order: {given_order(document)}) to {words.percent(after)}."
    )


def _measured(document: Document) -> str:
    told = [f"{fit_in_words(times)} {times.name}" for times in times_of(document).values()]
    return f"Messages have {', and '.join(told)}."


def _cards(story: Story) -> Html:
    cards: list[tuple[str, str]] = []
    for value, name in (
        (story.n_cells(), "cells"),
        (story.n_vertices(), "vertices"),
        (story.n_parts(), "parts"),
        (story.n_ranks(), "ranks"),
    ):
        if value is not None:
            cards.append((words.count(value), name if value != 1 else name.rstrip("s")))
    for document in story.results.of("heat")[:1]:
        error = document.number("max_error")
        passed = has_passed(document)
        said = {True: "largest error: passed", False: "largest error: failed"}
        cards.append((words.kelvin(error), said.get(passed, "largest error")))
    for document in story.results.of("map")[:1]:
        before, after = (document.number(k, "inter_node_share") for k in ("before", "after"))
        shares = f"{words.percent(before)} → {words.percent(after)}"
        cards.append((shares, "of the traffic between nodes"))
    if not cards:
        return raw("")
    return tag("ul", [tag("li", tag("b", v), tag("span", n)) for v, n in cards], class_="cards")


def _provenance(story: Story) -> Html:
    """Say in one line what made the results, where and when."""

    def distinct(key: str) -> list[str]:
        texts = (document.text(key) for document in story.results.documents)
        return list(dict.fromkeys(text.partition(",")[0].strip("\x00 ") for text in texts if text))

    numbers = {
        document.number("ranks") for document in story.results.of("load", "heat", "partition")
    }
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
    line = paragraph(
        " · ".join(said) or "No document says where it comes from.", class_="provenance"
    )
    if len(distinct("commit")) > 1:
        warning = "These results come from different commits of barrio."
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
    """Say at the top what is missing below; and name files that are not drawn."""
    notes = [
        tag(
            "p",
            f"pictures could not be rendered: {drawing.path.name}: {drawing.fault}",
            class_="note error",
        )
        for drawing in story.drawings
        if drawing.fault
    ]
    shown = {
        id(story.drawing(*kinds))
        for kinds in (("series", "mesh", "ghosts"), ("series",), ("ghosts",))
    }
    others = [d.path.name for d in story.drawings if d.kind and id(d) not in shown]
    if others:
        notes.append(
            paragraph(
                f"Of each kind, the first file is shown; not shown: {', '.join(others)}.",
                class_="soft",
            )
        )
    return notes
