"""Sections on a run: the field over time with its check, and the time by phase."""

from __future__ import annotations

from typing import Any

from .. import figures, words
from ..documents import Document, as_number
from ..markup import Html, figure, listing, paragraph, table, tag
from ..pictures import Drawing
from ..same_result import compare_ranks
from ..story import Section, Story, base_name
from .fields import curves_of, field_views, fields_of, name_of, unit_of

_MAX_COLUMNS = 12  # ranks in a table: more are shown in a plot
_TIME_IN_WORDS = (
    "Time has no unit here: the diffusivity is 1, and lengths are in mesh units. "
    "For a material, multiply by the square of the length unit over its diffusivity."
)
_MAX_OPEN = 3  # documents whose times are not folded


def field_section(story: Story) -> Section | None:
    """Show the fields over time, and compare the end of heat conduction with the known solution."""
    runs = story.results.of("heat")
    drawing = story.main_drawing
    fields = fields_of(drawing)
    is_series = drawing is not None and drawing.kind == "series"
    if not runs and not fields and not is_series:
        return None
    names = [name_of(field) for field in fields] or (["temperature"] if runs else ["over time"])
    body: list[Html] = []
    if runs:
        body.append(
            paragraph(
                "Heat spreads from the boundary into a cold body. The boundary temperature is "
                "linear in space, so the steady state is known exactly. The error against it checks "
                "the whole chain: mesh, ghosts, exchange and solver."
            )
        )
        if len(runs) == 1:  # for several, the table has it
            body.append(_check(runs[0]))
        body.append(paragraph(_TIME_IN_WORDS))
    curves: list[Html] = []
    if drawing is not None:
        body += field_views(story, drawing, " (no unit)" if runs else "")
        is_distance = is_series and names[0] == "temperature" and not drawing.facts["is_changing"]
        curves = [_curve(story, drawing, names[0])] if is_distance else curves_of(drawing)
    if len(runs) == 1:
        curves.append(_run_table(runs))
    body += [tag("div", curves, class_="beside")] if curves else []
    body += [_run_table(runs)] if len(runs) > 1 else []
    body += _same_everywhere(runs)
    title = names[0] if len(names) == 1 else "fields"
    return Section("field", title[0].upper() + title[1:], body)


def has_passed(document: Document) -> bool | None:
    """Tell whether a run met its tolerance; None if unknown."""
    error, tolerance = document.number("max_error"), document.number("tolerance")
    return None if error is None or tolerance is None else error <= tolerance


def verdict(document: Document) -> Html:
    """Return 'passed' or 'failed' as a badge."""
    passed = has_passed(document)
    if passed is None:
        return tag("span", "not checked", class_="badge")
    return tag(
        "span", "passed" if passed else "failed", class_=f"badge {'good' if passed else 'bad'}"
    )


def _check(document: Document) -> Html:
    return paragraph(
        "Max error against the steady state: ",
        tag("b", words.kelvin(document.number("max_error"))),
        f" (tolerance {words.kelvin(document.number('tolerance'))}): ",
        verdict(document),
    )


def _curve(story: Story, drawing: Drawing, name: str) -> Html:
    """Draw the distance from the last frame; a file of frames does not have the known state."""
    facts, runs = drawing.facts, story.results.of("heat")
    unit = unit_of(story, name)
    first, last = facts["mean"][0], facts["mean"][-1]
    caption = f"Distance of the {name} from the last frame, in {drawing.path.name}, "
    caption += f"which has {words.plural(facts['n_steps'], 'frame')}."
    error = runs[0].number("max_error") if len(runs) == 1 else None
    if error is not None:
        caption += f" The max error of the last frame against the known steady state is {words.kelvin(error)}."
    caption += (
        f" The mean over the vertices goes from {words.number(first, 4)} to "
        f"{words.number(last, 4)}{unit and ' ' + unit}."
    )
    label = "time (no unit: the diffusivity is 1)" if runs else "time"
    return figure(figures.distance_over_time(facts, unit, label), caption)


def _run_table(runs: list[Document]) -> Html:
    rows: list[list[Any]] = []
    for document in runs:
        rows.append(
            [
                document.path.name,
                verdict(document),
                words.count(document.number("ranks")),
                words.kelvin(document.number("max_error")),
                words.seconds(document.number("seconds")),
                words.count(document.number("stages")),
                words.count(document.number("exchanges")),
                words.number(document.number("end_time")),
                *[
                    tag("code", document.text(f"{what}_checksum") or words.NOTHING)
                    for what in ("temperature", "mesh")
                ],
            ]
        )
    head = ["run", "check", "ranks", "max error", "time taken", "stages", "exchanges"]
    head += ["end time (no unit)", "checksum of the temperature", "checksum of the mesh"]
    return listing(head, rows[0]) if len(rows) == 1 else table(head, rows, n_left=2)


def _same_everywhere(runs: list[Document]) -> list[Html]:
    """Compare runs of the same problem on several rank counts: checksums must agree."""

    def problem(document: Document) -> tuple[Any, ...]:
        numbers = (document.number("end_time"), document.number("stages"))
        return (document.text("mesh_checksum"), *numbers)

    def mesh(document: Document) -> str:
        return base_name(document.text("mesh"))

    return compare_ranks(
        ((problem(document), document) for document in runs),
        "temperature_checksum",
        lambda one, ranks: (
            f"{mesh(one)} gives the same temperatures to the last bit on {ranks} ranks."
        ),
        lambda one, n, ranks: f"{mesh(one)} gives {n} different checksums on {ranks} ranks.",
    )


def phases_section(story: Story) -> Section | None:
    """Show the time by phase and rank."""
    timed = [
        d
        for d in story.results.of(
            "heat", "load", "partition", "adapt", "amr", "delaunay", "generate", "info", "map"
        )
        if _phases(d)
    ]
    if not timed:
        return None
    body: list[Html] = [
        paragraph(
            "Time in each phase; a stronger colour is a larger share of the run. Calls: how often a "
            "rank entered the phase; the documents have the sum over ranks as 'entries'."
        )
    ]
    for index, document in enumerate(timed):
        content = [*_wait_in_words(document), *_phase_views(document)]
        title = f"barrio.{document.kind}, {document.path.name}"
        if index < _MAX_OPEN:
            body += [tag("h3", title), *content]
        else:
            body.append(tag("details", tag("summary", title), content))
    return Section("time", "Time per phase and rank", body)


def _phases(document: Document) -> list[dict[str, Any]]:
    named = [p for p in document.items("phases") if isinstance(p, dict) and p.get("name")]
    return sorted(named, key=lambda p: (_group(p), str(p["name"])))


def _group(phase: dict[str, Any]) -> str:
    return str(phase["name"]).partition(".")[0]


def _ranks_of(phase: dict[str, Any]) -> list[float]:
    values = phase.get("seconds_of_rank")
    return [as_number(v) or 0.0 for v in values] if isinstance(values, list) else []


def _wait_in_words(document: Document) -> list[Html]:
    by_name = {
        str(phase["name"]): as_number(phase.get("mean_seconds")) for phase in _phases(document)
    }
    said = []
    nested = []
    if "heat.solve" in by_name:
        nested.append("heat.solve contains heat.interior, heat.wait and heat.fringe")
    for parent in ("heat.load", "load"):
        if parent in by_name and len(by_name) > 1:
            nested.append(f"{parent} contains io.read and mesh.*")
    if "adapt" in by_name and "adapt.rounds" in by_name:
        nested.append("adapt contains adapt.*")
        nested.append("adapt.rounds contains adapt.border, adapt.exchange and adapt.pass")
    if "io.read" in by_name and any(name.startswith("read.") for name in by_name):
        nested.append("io.read contains read.*")
    if nested:
        said.append(f"Phases nest: {'; '.join(nested)}. A column is therefore not a sum.")
    solve, wait = by_name.get("heat.solve"), by_name.get("heat.wait")
    if solve and wait is not None:
        said.append(f"{words.percent(wait / solve)} of the solve is waiting for ghosts.")
    ranks, nodes, cores = (document.number(k) for k in ("ranks", "nodes", "cores_of_rank_0"))
    if ranks and nodes and cores and ranks > nodes * cores:
        said.append(
            f"{words.plural(ranks, 'rank')} share {words.plural(nodes * cores, 'core')} here, so "
            "ranks also wait for a core; these times do not show the speed of the code."
        )
    return [paragraph(" ".join(said))] if said else []


def _phase_views(document: Document) -> list[Html]:
    phases = _phases(document)
    n_ranks = max(len(_ranks_of(phase)) for phase in phases)
    views = []
    if n_ranks > _MAX_COLUMNS:
        rows = [(_ranks_of(phase) + [0.0] * n_ranks)[:n_ranks] for phase in phases]
        plot = figures.phase_map([str(phase["name"]) for phase in phases], rows)
        views.append(figure(plot, "Seconds per phase and rank, on a logarithmic scale."))
        n_ranks = 0
    views.append(_phase_table(phases, n_ranks))
    return views


def _phase_table(phases: list[dict[str, Any]], n_ranks: int) -> Html:
    largest = max([as_number(phase.get("max_seconds")) or 0.0 for phase in phases] + [1e-300])
    head = ["phase", "min", "mean", "max", "max / mean", "calls per rank"]
    head += [f"rank {rank}" for rank in range(n_ranks)]
    rows: list[list[Any]] = []
    group = ""
    for phase in phases:
        if _group(phase) != group:
            group = _group(phase)
            title = tag("th", group, colspan=len(head), scope="rowgroup")
            rows.append([tag("tr", title, class_="group")])
        low, mean, high = (as_number(phase.get(f"{k}_seconds")) for k in ("min", "mean", "max"))
        cells: list[Any] = [str(phase["name"])]
        cells += [_shaded(value, largest) for value in (low, mean, high)]
        cells.append(words.number(high / mean) if mean and high is not None else words.NOTHING)
        cells.append(_calls(phase))
        values: list[float | None] = list(_ranks_of(phase)[:n_ranks])
        cells += [_shaded(v, largest) for v in values + [None] * (n_ranks - len(values))]
        rows.append(cells)
    return table(head, rows)


def _calls(phase: dict[str, Any]) -> str:
    """Write entries per rank; marked as a mean if not all ranks can have the same number."""
    entries, ranks = as_number(phase.get("entries")), as_number(phase.get("ranks"))
    ranks = ranks or float(len(_ranks_of(phase)))
    if entries is None or not ranks or ranks < 1:
        return words.NOTHING
    each = entries / ranks
    return words.count(each) if each.is_integer() else f"mean {each:,.1f}".replace(",", "\u202f")


def _shaded(value: float | None, largest: float) -> Html:
    share = min(1.0, max(0.0, (value or 0.0) / largest)) ** 0.5
    return tag("td", words.seconds(value), class_="h", style=f"--v:{share:.2f}")
