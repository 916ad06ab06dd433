"""Views of the fields of a VTKHDF file: frames with one scale each, and curves over time."""

from __future__ import annotations

from typing import Any

from .. import figures, words
from ..colours import OUTLINES, Bands, colours
from ..framed import Scale
from ..markup import Html, figure, legend, paragraph, tag
from ..pictures import Drawing
from ..story import Story, film, framed_picture, missing_pictures

_AXES = "xyz"
MAX_SIDE_BY_SIDE = 4  # frames; more are shown as a film


def fields_of(drawing: Drawing | None) -> list[dict[str, Any]]:
    """Return the fields of a file that are drawn."""
    found = drawing.facts.get("fields") if drawing is not None else None
    return found if isinstance(found, list) else []


def unit_of(story: Story, name: str) -> str:
    """Return the unit of a field, if it is known: that of the example on heat conduction."""
    return "K" if name == "temperature" and story.results.of("heat") else ""


def name_of(field: dict[str, Any]) -> str:
    """Write what of a field is drawn: its name, or the length of a vector."""
    name = str(field["name"])
    return name if field.get("components", 1) == 1 else f"length of {name}"


def field_views(story: Story, drawing: Drawing, time_note: str = "") -> list[Html]:
    """Show the pictures of all fields, each with its scale. @param time_note  follows each time"""
    body: list[Html] = []
    fields = fields_of(drawing)
    for index, field in enumerate(fields):
        scale = scale_of(field, unit_of(story, str(field["name"])))
        frames = _frames(drawing, index, field, time_note, scale)
        if not frames and field["range"][0] is not None:
            continue
        if len(fields) > 1:
            body.append(tag("h4", name_of(field)))
        body += [tag("div", frames, class_="frames")] if frames else []
        body += _range(field, unit_of(story, str(field["name"])))
    if drawing.facts.get("kind") == "amr" and body:
        n = len(drawing.facts["levels"])
        chips = [(OUTLINES[min(i, len(OUTLINES) - 1)], f"blocks of level {i}") for i in range(n)]
        body.append(legend(chips))
    n_arrays = sum(a["name"] not in _NAMES for a in drawing.facts.get("arrays", []))
    if n_arrays > len(fields) > 0 and body:
        body.append(paragraph(f"{len(fields)} of {n_arrays} arrays are drawn.", class_="soft"))
    if fields and (not body or drawing.fault):
        body.append(missing_pictures(drawing, story.wants_pictures))
    return body


# Arrays that are shown otherwise, or are names and not values.
_NAMES = (
    "part",
    "rank",
    "owner",
    "is_ghost",
    "material",
    "GLOBAL_ID",
    "GlobalPointIds",
    "GlobalCellIds",
)


def _frames(
    drawing: Drawing, index: int, field: dict[str, Any], note: str, scale: Scale
) -> list[Html]:
    facts, name = drawing.facts, name_of(field)
    is_amr = facts.get("kind") == "amr"
    steps = list(zip(facts["shown_steps"], facts["shown_times"], strict=True))
    rows = [
        ([(f"field{index}-{step}{axis}", step, time) for step, time in steps], _where(facts, axis))
        for axis in (("", "y", "x") if is_amr else ("",))
    ]
    if index == 0 and "cut" in facts:
        axis = _AXES[int(facts["cut"]["axis"])]
        cut = f"cut at {axis} = {words.number(facts['cut']['at'])}"
        rows.append(([(f"cut-{step}", step, time) for step, time in steps], cut))
    frames = []
    for keys, where in rows:
        shown = [(key, _caption(facts, step, time, note, name, where)) for key, step, time in keys]
        shown = [(key, caption) for key, caption in shown if key in drawing.images]
        if len(shown) > MAX_SIDE_BY_SIDE:
            frames.append(film(drawing, shown, scale))
        else:
            frames += [framed_picture(drawing, [key], said, said, scale) for key, said in shown]
    return frames


def _caption(
    facts: dict[str, Any], step: int, time: float, note: str, name: str, where: str
) -> str:
    when = ""
    if facts.get("has_times") and facts["n_steps"] > 0:
        when = f"time {words.number(time)}{note}, frame {step} of {facts['n_steps'] - 1}: "
    return f"{when}{name}, {where}"


def _where(facts: dict[str, Any], axis: str) -> str:
    """Write which part of the mesh a frame shows."""
    if facts["kind"] == "amr":
        if facts["dimension"] == 2:
            return "seen along z"
        axis = axis or "z"
        return f"cut at {axis} = {words.number(facts['at'][_AXES.index(axis)])}"
    return side_in_words(facts)


def side_in_words(facts: dict[str, Any]) -> str:
    """Write from where, or which side of a mesh is drawn."""
    normal = facts.get("normal")
    if normal is not None:
        axes = [axis for axis, share in zip(_AXES, normal, strict=True) if abs(share) > 1.0 - 1e-9]
        return f"seen along {axes[0]}" if axes else "seen along its normal"
    if facts.get("has_wall"):
        return "on the body and the side of the box on which it stands"
    if facts.get("has_body"):
        return "on the body"
    return "on the outside" if facts.get("dimension") == 3 else "seen from one side"


def scale_of(field: dict[str, Any], unit: str = "") -> Scale:
    """Return the colours of a field."""
    name = name_of(field)
    label = f"{name} in {unit}" if unit else name
    has_missing = bool(field.get("n_missing"))
    if "numbers" in field:
        numbers = field["numbers"]
        of_number = field.get("names", {})
        pairs = zip(colours(len(numbers)), numbers, strict=True)
        chips = [(c, str(of_number.get(str(number), number))) for c, number in pairs]
        return Scale(label, names=chips, has_missing=has_missing)
    if field["range"][0] is None:
        return Scale(label, has_missing=has_missing)
    return Scale(label, bands=Bands(*field["bands"]), has_missing=has_missing)


def _range(field: dict[str, Any], unit: str) -> list[Html]:
    """Write the range of a field over all steps."""
    name = name_of(field)
    low, high = field["range"]
    if low is None:
        return [paragraph(f"{name} has no values.")]
    if "numbers" in field:
        return []
    said = f"The values go from {words.number(low, 4)} to {words.number(high, 4)}"
    if low == high:
        said = f"The value is {words.number(low, 4)} everywhere"
    return [paragraph(f"{said}{unit and ' ' + unit}.", class_="soft")]


def curves_of(drawing: Drawing) -> list[Html]:
    """Draw cells, and mean, min and max of the first field over time."""
    facts = drawing.facts
    shown: list[Html] = []
    if facts.get("n_steps", 1) < 2 or "times" not in facts:
        return shown
    times = [t for t in facts["times"] if t is not None]
    cells = facts.get("cells_of_step", [])
    if len(set(cells)) > 1 and len(times) == len(cells):
        caption = f"Cells over time: {words.count(min(cells))} to {words.count(max(cells))}."
        plot = figures.integral_over_time("cells", times, cells)
        shown.append(figure(plot, caption))
    fields = fields_of(drawing)
    if fields and any(value is not None for value in facts["mean"]):
        name = name_of(fields[0])
        of = "cells that no finer ones cover" if facts["kind"] == "amr" else fields[0]["of"]
        caption = f"Min, mean and max of {name} over all {of}; each counts alike."
        shown.append(figure(figures.range_over_time(facts, name), caption))
    return shown
