"""Sections of the page of `barrio show`: what a mesh looks like, its sets, its sizes and its quality."""

from __future__ import annotations

from typing import Any

from .. import figures, words
from .._sets import set_colours, set_name
from ..colours import Bands
from ..framed import Scale
from ..markup import Html, figure, paragraph, table, tag
from ..pictures import Drawing
from ..story import Section, Story, framed_picture
from .mesh import inside_views, shape_views

_MAX_ROWS = 60
_WHAT = {
    "sets": ("cells", "Sets of cells"),
    "sides": ("sides", "Listed sides, by set"),
    "nodes": ("vertices", "Vertices of sets"),
}


def shape_section(story: Story, drawing: Drawing, sets: list[dict[str, Any]]) -> Section:
    """Show the mesh by its sets, if it has any, and the cells behind a cut."""
    shown: list[Html] = []
    for key, (of, title) in _WHAT.items():
        if key in drawing.images:
            scale = scale_of_sets(drawing, of, sets)
            caption = title + _of_body(drawing, of) + "."
            said = f"{drawing.path.name}: {caption}"
            shown.append(framed_picture(drawing, [key], said, caption, scale))
    if not shown or len(drawing.facts.get("cells_of_part", [])) > 1:
        body = shape_views(story, drawing)
    else:
        shown += inside_views(drawing, scale_of_sets(drawing, "cells", sets))
        body = []
    return Section("mesh", "Mesh", [tag("div", shown, class_="pair") if shown else None, *body])


def _of_body(drawing: Drawing, of: str) -> str:
    facts = drawing.facts
    if not facts.get("has_body") or of == "vertices":
        return ""
    wall = " and on the side of the box on which it stands" if facts.get("has_wall") else ""
    return f", on the body{wall if of == 'sides' else ''}; other sides of the box are not drawn"


def scale_of_sets(drawing: Drawing, of: str, sets: list[dict[str, Any]]) -> Scale:
    """Return the colours of the sets of cells, sides or vertices."""
    numbers = [int(n) for n in drawing.facts.get(f"sets_of_{of}", [])]
    if of == "vertices":
        numbers = [number for number in numbers if number >= 0]
    drawn = drawing.facts.get(f"drawn_sets_of_{of}", numbers)
    names = ["in no set" if n < 0 else set_name(sets[n]) for n in numbers]
    chips = zip(numbers, set_colours(numbers), names, strict=True)
    return Scale(names=[(colour, name) for n, colour, name in chips if n in drawn])


def sets_section(sets: list[dict[str, Any]]) -> Section | None:
    """List the sets of the file with the numbers of their members."""
    if not sets:
        return None
    keys = [key for key in ("cells", "sides", "vertices") if any(one.get(key) for one in sets)]
    rows = [
        [
            str(one.get("name") or words.NOTHING),
            str(one.get("kind")),
            str(one.get("id")),
            *[words.count(one.get(key, 0)) for key in keys],
        ]
        for one in sets[:_MAX_ROWS]
    ]
    body: list[Html] = [table(["set", "kind", "id", *keys], rows, n_left=2)]
    if len(sets) > _MAX_ROWS:
        body.append(paragraph(f"The first {_MAX_ROWS} of {len(sets)} sets.", class_="soft"))
    body.append(
        paragraph(
            "An entity in several sets has the colour of the first material, else of the first set.",
            class_="soft",
        )
    )
    return Section("sets", "Sets", body)


def shapes_section(drawing: Drawing) -> Section | None:
    """Show sizes and quality of the cells."""
    size, quality = drawing.facts.get("size"), drawing.facts.get("quality")
    if not size:
        return None
    body: list[Html] = []
    if drawing.facts.get("n_steps", 1) > 1:
        body.append(paragraph("Of the mesh of the first step.", class_="soft"))
    if "size" in drawing.images and "bands" in size:
        label = "log10 of the mean edge length" if size["is_log"] else "mean edge length"
        scale = Scale(label, Bands(*size["bands"], "viridis"), has_missing=size["n_missing"] > 0)
        cut = drawing.facts.get("cut")
        where = f", cut at {'xyz'[cut['axis']]} = {words.number(cut['at'])}" if cut else ""
        said = f"Mean length of the edges of each cell{where}."
        body.append(framed_picture(drawing, ["size"], said, said, scale))
    plots = [_size_plot(size)] if len(size["counts"]) > 1 else []
    if size["high"] == size["low"]:
        body.append(paragraph(f"All edges have a mean length of {words.number(size['low'], 4)}."))
    if quality:
        plots.append(_quality_plot(quality))
    body.append(tag("div", plots, class_="beside"))
    if quality:
        rows = [
            [words.count(one["cell"]), words.number(one["quality"]), _place(one["at"])]
            for one in quality["worst"]
        ]
        caption = "The worst cells, counted from 0 in the order in which they are drawn"
        body.append(table(["cell", "quality", "at"], rows, caption=caption))
    missing = [n for one in (size, quality) if one and (n := one["n_missing"])]
    if missing:
        body.append(
            paragraph(
                f"{words.plural(max(missing), 'cell')} of other types not measured.", class_="soft"
            )
        )
    return Section("shapes", "Sizes and quality", body)


def _size_plot(size: dict[str, Any]) -> Html:
    caption = (
        f"Cells by the mean length of their edges: {words.number(size['low'])} to "
        f"{words.number(size['high'])}, the median is {words.number(size['median'])}."
    )
    plot = figures.histogram(size["edges"], size["counts"], "mean edge length", size["is_log"])
    return figure(plot, caption)


def _quality_plot(quality: dict[str, Any]) -> Html:
    n = quality["n_inverted"]
    said = f" {words.plural(n, 'cell')} at or below 0: flat or inverted." if n else ""
    caption = (
        "Cells by their scaled Jacobian: 1 for a cube, a square or a regular simplex. The minimum is "
        f"{words.number(quality['low'])}, the median {words.number(quality['median'])}.{said}"
    )
    plot = figures.histogram(quality["edges"], quality["counts"], "scaled Jacobian")
    return figure(plot, caption)


def _place(point: list[float]) -> str:
    return "(" + ", ".join(words.number(x, 4) for x in point) + ")"
