"""Run the command python -m barrio.report.show ABOUT -o PAGE|PICTURE|FILM, for `barrio show`.

ABOUT is a document of barrio.show: the name of the file, the VTKHDF file with its cells, and what barrio knows of
its sets. It may be a VTKHDF file itself.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import sys
import tempfile
import webbrowser
from pathlib import Path
from typing import Any

from PIL import Image

from . import words
from .colours import tints
from .documents import FAILED, ReportError, Results
from .framed import Panel, Scale, image_of
from .markup import Html, paragraph, tag
from .output import say, write_page, write_whole
from .page import contents, whole_page, written
from .pictures import Drawing, draw_shown
from .sections.fields import curves_of, field_views, fields_of, name_of, scale_of, side_in_words
from .sections.files import contents_of, views_of
from .sections.mesh import inside_caption
from .sections.shown import scale_of_sets, sets_section, shape_section, shapes_section
from .sections.shown_next import shown_next_section
from .story import Section, Story

_MAX_PANELS = 2
_SECONDS_OF_FRAME, _SECONDS_AT_THE_END = 0.25, 1.5


def main(arguments: list[str] | None = None) -> int:
    """Draw the file. @return the exit code"""
    parser = argparse.ArgumentParser(prog="python -m barrio.report.show")
    parser.add_argument("about", type=Path)
    parser.add_argument("-o", "--output", type=Path, default=Path("show.html"))
    parser.add_argument("--field", action="append", default=[])
    parser.add_argument("--no-open", action="store_true")
    options = parser.parse_args(arguments)
    if options.about.suffix != ".json":
        with tempfile.TemporaryDirectory(prefix="barrio-show-") as folder:
            about = Path(folder) / "about.json"
            file = {"input": str(options.about), "cells": str(options.about.resolve())}
            about.write_text(json.dumps(file), encoding="utf-8")
            return _draw(about, options)
    return _draw(options.about, options)


def _draw(path: Path, options: argparse.Namespace) -> int:
    about = json.loads(path.read_bytes())
    try:
        about["fields"] = options.field
        about["is_picture"] = options.output.suffix == ".png"
        about["is_film"] = options.output.suffix == ".gif"
        has_page = not about["is_picture"] and not about["is_film"]
        path.write_text(json.dumps(about), encoding="utf-8")
        name = Path(about["input"])
        drawing = draw_shown(path, Path(about["cells"]), name)
        if drawing.fault:
            if not has_page:
                raise ReportError(name, f"no picture: {drawing.fault}", "draw a page", FAILED)
            say(f"warning: {name}: pictures could not be rendered: {drawing.fault}")
        if has_page:
            write_page(options.output, _page(drawing, about))
        elif about["is_picture"]:
            write_whole(options.output, _in_png(_picture(drawing, about, -1)))
        else:
            write_whole(options.output, _film(drawing, about))
    except ReportError as error:
        say(f"error: {error}", error.remedy)
        return error.code
    print(options.output)
    is_seen = any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))
    if is_seen and not options.no_open and sys.stderr.isatty():
        webbrowser.open(options.output.resolve().as_uri())
    return 0


def _page(drawing: Drawing, about: dict[str, Any]) -> str:
    story = Story(Results([], [], []), [drawing])
    sets = about.get("sets", [])
    sections: list[Section | None] = []
    if drawing.kind in ("mesh", "series") and drawing.facts.get("n_cells"):
        sections += [shape_section(story, drawing, sets), sets_section(sets)]
        sections.append(_fields_section(story, drawing))
        sections.append(shapes_section(drawing))
    elif drawing.kind == "amr":
        curves = [tag("div", curves_of(drawing), class_="beside")]
        sections.append(Section("shown", "Levels", field_views(story, drawing) + curves))
    else:
        sections.append(Section("shown", "Picture", views_of(story, drawing)))
    sections.append(Section("file", "File", [_inspected(about), *contents_of(drawing)]))
    sections.append(shown_next_section(drawing, about))
    kept = [section for section in sections if section is not None]
    name = drawing.path.name
    head = tag("header", tag("h1", name), paragraph(lead(drawing, about), class_="lead"))
    return whole_page(f"barrio: {name}", tag("main", head, contents(kept), written(kept)))


def _fields_section(story: Story, drawing: Drawing) -> Section | None:
    fields = fields_of(drawing)
    if not fields and not drawing.facts.get("is_changing"):
        return None
    names = [name_of(field) for field in fields]
    body = field_views(story, drawing)
    if curves := curves_of(drawing):
        body.append(tag("div", curves, class_="beside"))
    if not body:
        return None
    return Section("fields", names[0] if len(names) == 1 else "Fields", body)


def lead(drawing: Drawing, about: dict[str, Any]) -> str:
    """Describe the file in a sentence."""
    facts, found = drawing.facts, about.get("inspected", {})
    kind = str(found.get("format") or ("VTKHDF" if "sets" not in about else drawing.path.suffix))
    if facts.get("kind") == "amr":
        n = sum(level["cells"] for level in facts["levels"])
        what = (
            f"{words.plural(len(facts['levels']), 'level')} of blocks with {words.count(n)} cells"
        )
        what += " in the last step" if facts.get("n_steps", 1) > 1 else ""
    else:
        cells = [f"{words.count(n)} {name}" for name, n in facts.get("cells", {}).items()]
        what = words.listing(cells) or "no cells"
        what += f" on {words.plural(facts.get('n_vertices'), 'vertex', 'vertices')}"
    steps = f", {words.plural(facts['n_steps'], 'step')}" if facts.get("n_steps", 1) > 1 else ""
    return f"{kind}: {what}{steps}."


def _inspected(about: dict[str, Any]) -> Html | None:
    from .markup import table

    found = about.get("inspected")
    if not found:
        return None
    rows: list[list[Any]] = [
        ["format", f"{found.get('format')}, {words.in_bytes(found.get('file_bytes'))}"],
        ["vertices", words.count(found.get("vertices"))],
    ]
    rows += [[name, words.count(n)] for name, n in found.get("entities", {}).items()]
    tags = [f"{one['name']} ({one['type']})" for one in found.get("tags", [])]
    if tags:
        rows.append(["tags", words.listing(tags)])
    rows += [["not supported", str(what)] for what in found.get("unsupported", [])]
    return table([], rows, n_left=2)


def _picture(drawing: Drawing, about: dict[str, Any], place: int) -> Image.Image:
    """Draw a step: the first field, else the sets, else the mesh; beside it the cut.

    @param place  of the step among those that are shown
    """
    facts = drawing.facts
    panels = _panels_of(drawing, about, (facts.get("shown_steps") or [0])[place])
    if not panels:
        raise ReportError(drawing.path, "has nothing to draw", "draw a file with cells", FAILED)
    title = drawing.path.name
    if facts.get("n_steps", 1) > 1:
        title += f", step {facts['shown_steps'][place] + 1} of {facts['n_steps']}"
        if not about.get("steps_are_numbers"):
            title += f", time {words.number(facts['shown_times'][place])}"
    elif facts.get("has_times"):
        title += f", time {words.number(facts['time'][0])}"
    return image_of(panels[:_MAX_PANELS], title)


def _in_png(image: Image.Image) -> bytes:
    output = io.BytesIO()
    image.save(output, format="PNG", optimize=True)
    return output.getvalue()


def _film(drawing: Drawing, about: dict[str, Any]) -> bytes:
    """Draw all shown steps, one after the other, as a film that repeats."""
    n_steps = len(drawing.facts.get("shown_steps", ()))
    if n_steps < 2:
        cause = "has no steps, of which a film would be made"
        raise ReportError(drawing.path, cause, "write a picture: -o picture.png", FAILED)
    pictures = [_picture(drawing, about, place).reduce(2) for place in range(n_steps)]
    size = (max(one.width for one in pictures), max(one.height for one in pictures))
    frames = []
    for picture in pictures:
        page = Image.new("RGB", size, "white")
        page.paste(picture, (0, 0))
        frames.append(page.quantize(256, Image.Quantize.FASTOCTREE))
    film = io.BytesIO()
    lasts = [_SECONDS_OF_FRAME * 1000] * (n_steps - 1) + [_SECONDS_AT_THE_END * 1000]
    frames[0].save(film, "GIF", save_all=True, append_images=frames[1:], duration=lasts, loop=0)
    return film.getvalue()


def _panels_of(drawing: Drawing, about: dict[str, Any], step: int) -> list[Panel]:
    facts, images = drawing.facts, drawing.images
    panels: list[Panel] = []
    for index, field in enumerate(fields_of(drawing)):
        keys = {f"field{index}-{step}": side_in_words(facts) if facts["kind"] != "amr" else ""}
        if index == 0 and "cut" in facts:
            keys[f"cut-{step}"] = _cut_in_words(facts)
        if facts.get("is_changing") and f"mesh{step}" in images:  # the mesh follows the field
            panels.append(Panel(drawing.shot(f"mesh{step}"), Scale(), "the mesh"))
            keys.pop(f"cut-{step}", None)
        for key, where in keys.items():
            if key in images:
                said = ", ".join(filter(None, [name_of(field), where]))
                panels.append(Panel(drawing.shot(key), scale_of(field), said))
        if panels:
            if len(panels) == 1 and "inside" in images:  # the values have no cut: cells say more
                panels.append(Panel(drawing.shot("inside"), Scale(), inside_caption(drawing)))
            return panels
    scales = {
        key: (of, scale_of_sets(drawing, of, about.get("sets", [])))
        for key, of in (("sides", "sides"), ("sets", "cells"), ("nodes", "vertices"))
        if key in images
    }
    if scales:  # that with most sets
        key = max(scales, key=lambda one: len(scales[one][1].names))
        of, scale = scales[key]
        panels.append(Panel(drawing.shot(key), scale, f"sets of {of}"))
    for key in ("plane", "parts", f"mesh{step}"):
        if key in images and not panels:
            scale = _regions_of(facts) if key == "plane" else Scale()
            panels.append(Panel(drawing.shot(key), scale, ""))
    if "inside" in images:
        scale = scale_of_sets(drawing, "cells", about.get("sets", []))
        panels.append(Panel(drawing.shot("inside"), scale, inside_caption(drawing)))
    return panels


def _regions_of(facts: dict[str, Any]) -> Scale:
    """Return the colours of the regions of a triangulation."""
    regions = facts.get("regions", [])
    names = [f"region {number}" for number, *_ in regions]
    return Scale(names=list(zip(tints(len(names)), names, strict=True)))


def _cut_in_words(facts: dict[str, Any]) -> str:
    return f"cut at {'xyz'[int(facts['cut']['axis'])]} = {words.number(facts['cut']['at'])}"


if __name__ == "__main__":
    sys.exit(main())
