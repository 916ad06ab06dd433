"""The head of the page: a summary and cards about one mesh and its runs.

Each sentence is about one document, or about several on the same subject. Other meshes are only
listed by name.
"""

from __future__ import annotations

from . import words
from .documents import Document
from .machines import given_order, nodes_in_words
from .markup import Html, paragraph, raw, tag
from .message_times import fit_in_words, times_of
from .sections.audit import audit_in_words
from .sections.mapping import has_gained
from .sections.run import has_passed
from .story import Story, base_name
from .traffic import Traffic
from .triangulations import audits, passes, seconds_of, triangulations

_MAX_NAMED = 4  # other meshes, and rank counts, that are listed


def summary(story: Story) -> Html:
    """Summarise all results in one paragraph."""
    said = [
        _mesh(story),
        _adapted(story.of_mesh("adapt")),
        _triangulated(story.of_mesh("delaunay")),
        _audited(story.of_mesh("delaunay")),
        _flowed(story.results.of("amr")),
        _loaded(story.of_mesh("load")),
        _ran(story.of_mesh("heat")),
        _mapped(story),
        _measured(story.results.of("machine")),
        _seen(story),
        _others(story.other_meshes),
    ]
    text = " ".join(filter(None, said))
    if not text:
        kinds = dict.fromkeys(d.kind.replace(".", " ") for d in story.results.documents)
        text = f"Results of barrio: {words.listing(list(kinds)) or 'files of meshes'}."
    return paragraph(text, class_="lead")


def _mesh(story: Story) -> str:
    cells, vertices, parts = story.n_cells(), story.n_vertices(), story.n_parts()
    if cells is None:
        return ""
    subject = f"The mesh {base_name(story.mesh_name)}" if story.mesh_name else "The mesh"
    text = f"{subject} has {words.plural(cells, 'cell')}"
    if vertices is not None:
        text += f" and {words.plural(vertices, 'vertex', 'vertices')}"
    if parts:
        text += f" in {words.plural(parts, 'part')}"
    return text + "."


def _seen(story: Story) -> str:
    """Describe the files whose mesh changes, or that have levels of boxes, if no document does."""
    said = []
    for drawing in story.drawings[:_MAX_NAMED]:
        facts, name = drawing.facts, drawing.path.name
        if drawing.kind == "amr" and not story.results.of("amr"):
            levels = facts["levels"]
            cells = sum(level["cells"] for level in levels)
            at_end = " at the end" if facts["n_steps"] > 1 else ""
            said.append(
                f"{name} has {words.plural(facts['n_steps'], 'state')} of structured AMR, "
                f"{words.plural(len(levels), 'level')} with {words.count(cells)} cells{at_end}."
            )
        elif drawing.kind == "series" and facts.get("is_changing"):
            cells = facts["cells_of_step"]
            said.append(
                f"{name} has {words.plural(facts['n_steps'], 'step')} of a mesh that changes, with "
                f"{words.count(min(cells))} to {words.count(max(cells))} cells."
            )
    return " ".join(said)


def _adapted(runs: list[Document]) -> str:
    if not runs:
        return ""
    run = runs[0]
    source, before = base_name(run.text("input")), run.number("cells_before")
    least, in_range = run.number("quality", "min"), run.number("edges_in_range")
    was = f"was adapted from {source}" if source else "was adapted"
    text = f"It {was}, {words.plural(before, 'cell')}, in {_times(runs)}"
    if least is not None and in_range is not None:
        text += (
            f": the worst cell has a quality of {words.number(least)}, and "
            f"{words.percent(in_range)} of the edges have the requested length"
        )
    return text + "."


def _triangulated(documents: list[Document]) -> str:
    runs = triangulations(documents)
    if not runs:
        return ""
    run = runs[0]
    source, least = base_name(run.text("input")), run.number("angles", "min")
    was = f"was triangulated from {source}" if source else "was triangulated"
    angle = f": its min angle is {words.number(least)} degrees" if least is not None else ""
    return f"It {was} in {words.seconds(seconds_of(run))}{angle}."


def _audited(documents: list[Document]) -> str:
    """Describe the first audit with faults, else the first."""
    found = sorted(audits(documents), key=lambda of: passes(of) is not False)
    if not found or passes(found[0]) is None:
        return ""
    said = "passes" if passes(found[0]) else f"finds {audit_in_words(found[0])}"
    return f"The audit {said}."


def _flowed(runs: list[Document]) -> str:
    if not runs:
        return ""
    run = runs[0]
    cells = sum(one.get("cells", 0) for one in run.items("levels") if isinstance(one, dict))
    others = f"; and {words.spelled(len(runs) - 1, 'other run')}" if len(runs) > 1 else ""
    return (
        f"{run.text('title')}: {words.plural(run.number('steps'), 'step')} on "
        f"{words.plural(len(run.items('levels')), 'level')} with {words.count(cells)} cells{others}."
    )


def _by_ranks(runs: list[Document]) -> dict[int, list[Document]]:
    """Group runs by rank count, ascending."""
    groups: dict[int, list[Document]] = {}
    for run in runs:
        groups.setdefault(int(run.number("ranks") or 0), []).append(run)
    return dict(sorted(groups.items()))


def _times(runs: list[Document]) -> str:
    """Write how long runs took: '4.60 s', or '4.60 s to 5.10 s in 3 runs'."""
    known = sorted(seconds for run in runs if (seconds := run.number("seconds")) is not None)
    if not known:
        return words.NOTHING
    if len(known) == 1:
        return words.seconds(known[0])
    return f"{words.seconds(known[0])} to {words.seconds(known[-1])} in {len(known)} runs"


def _ends(groups: dict[int, list[Document]]) -> dict[int, list[Document]]:
    """Keep the fewest and the most ranks, if there are too many rank counts for a sentence."""
    keys = list(groups)
    return groups if len(keys) <= _MAX_NAMED else {key: groups[key] for key in (keys[0], keys[-1])}


def _loaded(loads: list[Document]) -> str:
    if not loads:
        return ""
    groups = _by_ranks(loads)
    each = [f"{words.plural(n, 'rank')} loaded it in {_times(g)}" for n, g in _ends(groups).items()]
    text = words.listing([each[0], *(one.replace(" loaded it in", " in") for one in each[1:])])
    most = list(groups)[-1]
    exchanges = {
        (load.number("exchange_bytes", "mean"), load.number("neighbours", "mean"))
        for load in groups[most]
    }
    traffic, neighbours = exchanges.pop()
    if exchanges or traffic is None or not neighbours:
        return text + "."
    where = f" of {words.plural(most, 'rank')}" if len(groups) > 1 else ""
    return (
        f"{text}; each exchange of ghosts{where} sends {words.in_bytes(traffic)} per rank to "
        f"{words.number(neighbours, 2)} neighbours on average."
    )


def _largest_error(runs: list[Document]) -> float | None:
    errors = [error for run in runs if (error := run.number("max_error")) is not None]
    return max(errors, default=None)


def _all_passed(runs: list[Document]) -> bool | None:
    """Tell whether all runs passed; None if no run failed and one was not checked."""
    verdicts = {has_passed(run) for run in runs}
    return False if False in verdicts else None if None in verdicts else True


def _ran(runs: list[Document]) -> str:
    if not runs:
        return ""
    stages = {run.number("stages") for run in runs}
    what = f"heat took {words.plural(stages.pop(), 'stage')}" if len(stages) == 1 else "heat took"
    each = [f"{_times(g)} on {words.plural(n, 'rank')}" for n, g in _ends(_by_ranks(runs)).items()]
    took = f"{what} in" if what.endswith(("stage", "stages")) else what
    tolerances = {run.number("tolerance") for run in runs}
    within = f" (tolerance {words.kelvin(tolerances.pop())})" if len(tolerances) == 1 else ""
    passed = _all_passed(runs)
    check = "" if passed is None else (", which passes" if passed else ", which fails")
    return (
        f"{took[0].upper()}{took[1:]} {words.listing(each)}; its max error against the known steady "
        f"state is {words.kelvin(_largest_error(runs))}{within}{check}."
    )


def _mapped(story: Story) -> str:
    maps = story.results.of("map")
    if not maps:
        return ""
    document = maps[0]
    before, after = (document.number(key, "inter_node_share") for key in ("before", "after"))
    which = f" ({document.path.name}, the first of {len(maps)} mappings)" if len(maps) > 1 else ""
    where = f"On {nodes_in_words(document)}{which}"
    if not has_gained(document):
        return (
            f"{where}, {words.percent(before)} of the traffic crosses between nodes; no placement "
            "better than the given one was found."
        )
    return (
        f"{where}, placing {_placed(document, story.traffic_of(document))} by their traffic changes "
        f"the share between nodes from {words.percent(before)} (order: {given_order(document)}) "
        f"to {words.percent(after)}."
    )


def _placed(document: Document, traffic: Traffic | None) -> str:
    return words.plural(len(document.items("placement")), traffic.who if traffic else "rank")


def _measured(machines: list[Document]) -> str:
    if not machines or not times_of(machines[0]):
        return ""
    told = [f"{fit_in_words(times)} {times.name}" for times in times_of(machines[0]).values()]
    whose = f" ({machines[0].path.name})" if len(machines) > 1 else ""
    return f"Messages have {', and '.join(told)}{whose}."


def _others(names: list[str]) -> str:
    if not names:
        return ""
    shown = [base_name(name) for name in names[:_MAX_NAMED]]
    if len(names) > _MAX_NAMED:
        shown.append(f"{len(names) - _MAX_NAMED} more")
    return f"Results of other meshes are below: {words.listing(shown)}."


def cards(story: Story) -> Html:
    """Show the key numbers."""
    made: list[tuple[str, str]] = []
    for value, name in (
        (story.n_cells(), "cells"),
        (story.n_vertices(), "vertices"),
        (story.n_parts(), "parts"),
    ):
        if value is not None:
            made.append((words.count(value), name if value != 1 else _one(name)))
    ranks = story.rank_counts()
    if ranks:
        shown = [words.count(n) for n in ranks]
        said = words.listing(shown) if len(ranks) <= _MAX_NAMED else f"{shown[0]} to {shown[-1]}"
        made.append((said, "rank" if ranks == [1] else "ranks"))
    runs = story.of_mesh("heat")
    error = _largest_error(runs)
    if error is not None:
        verdicts = {True: "max error: passed", False: "max error: failed"}
        passed = _all_passed(runs)
        made.append((words.kelvin(error), "max error" if passed is None else verdicts[passed]))
    of_plane = triangulations(story.of_mesh("delaunay"))
    least = of_plane[0].number("angles", "min") if of_plane else None
    if least is not None:
        made.append((f"{words.number(least)}°", "min angle"))
    found = audits(story.of_mesh("delaunay"))
    if len(found) == 1:
        made.append((audit_in_words(found[0]), "audit"))
    maps = story.results.of("map")
    if len(maps) == 1:
        before, after = (maps[0].number(k, "inter_node_share") for k in ("before", "after"))
        shares = f"{words.percent(before)} → {words.percent(after)}"
        made.append((shares, "of the traffic between nodes"))
    if not made:
        return raw("")
    return tag("ul", [tag("li", tag("b", v), tag("span", n)) for v, n in made], class_="cards")


def _one(many: str) -> str:
    return {"vertices": "vertex"}.get(many, many.rstrip("s"))
