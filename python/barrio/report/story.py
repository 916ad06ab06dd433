"""State that all sections of the page share: the results, the pictures, and simple queries."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePath

from .documents import Document, Results, as_number
from .framed import Scale, framed
from .markup import Html, figure, tag
from .pictures import Drawing
from .traffic import Traffic, find_traffic

# Keys of the meshes of each kind of document. The headline is about the mesh of the first kind present.
_MESHES = {
    "heat": ("mesh",),
    "load": ("input",),
    "partition": ("input", "output"),
    "adapt": ("input", "output"),
    "delaunay": ("output", "mesh"),
    "generate": ("output",),
    "info": ("input",),
}


@dataclass(frozen=True)
class Section:
    """One part of the page."""

    anchor: str
    title: str
    body: list[Html]


@dataclass
class Story:
    """The results, with queries on them."""

    results: Results
    drawings: list[Drawing] = field(default_factory=list)
    wants_pictures: bool = True
    wants_suggestions: bool = True  # false: the results are in a folder that will be deleted
    _traffic: dict[int, Traffic | None] = field(default_factory=dict)  # by the id of a mapping

    def drawing(self, *kinds: str) -> Drawing | None:
        """Return the first drawing of these kinds, in the order of the kinds."""
        found = (d for kind in kinds for d in self.drawings if d.kind == kind)
        return next(found, None)

    @property
    def main_drawing(self) -> Drawing | None:
        """The file whose mesh and fields have sections of their own."""
        return self.drawing("series", "mesh", "ghosts")

    @property
    def shown_drawings(self) -> set[int]:
        """Ids of the drawings that sections before that on files show."""
        shown = [self.main_drawing, self.drawing("ghosts"), self.drawing("plane")]
        shown += [drawing for drawing in self.drawings if drawing.kind == "amr"]
        return {id(drawing) for drawing in shown if drawing is not None}

    @cached_property
    def mesh_name(self) -> str:
        """File with the mesh of the headline, as named on the command line."""
        named = (meshes_of(d) for kind in _MESHES for d in self.results.of(kind))
        return next((names[-1] for names in named if names), "")

    def of_mesh(self, *kinds: str) -> list[Document]:
        """Return the documents of these kinds that describe the mesh of the headline.

        The input of a partition or an adaptation has other parts and counts, so only the output
        is compared.
        """
        return [
            document
            for document in self.results.of(*kinds)
            if any(are_one_file(name, self.mesh_name) for name in meshes_of(document)[-1:])
        ]

    @cached_property
    def other_meshes(self) -> list[str]:
        """Meshes of other results than those of the headline."""
        origins = [self.mesh_name]
        for document in self.of_mesh("partition", "adapt"):
            origins += meshes_of(document)
        named = (names[-1] for d in self.results.documents if (names := meshes_of(d)))
        others = (n for n in named if not any(are_one_file(n, origin) for origin in origins))
        return list(dict.fromkeys(others))

    def _first_number(self, *keys_of_kind: tuple[str, tuple[str, ...]]) -> float | None:
        numbers = (d.number(*keys) for kind, keys in keys_of_kind for d in self.of_mesh(kind))
        return next((value for value in numbers if value is not None), None)

    def n_parts(self) -> float | None:
        """Return the number of parts of the mesh."""
        return self._first_number(
            *((kind, ("parts",)) for kind in ("heat", "load", "partition", "generate"))
        )

    def rank_counts(self) -> list[int]:
        """Return the rank counts of the main runs, ascending."""
        runs = self.of_mesh("heat") or self.of_mesh("load") or self.of_mesh("adapt")
        return sorted({int(n) for run in runs if (n := run.number("ranks"))})

    def n_cells(self) -> float | None:
        """Return the number of cells of the mesh."""
        kinds = ("heat", "partition", "adapt", "generate")
        known = self._first_number(
            *((kind, ("cells",)) for kind in kinds),
            ("load", ("owned_cells", "total")),
            ("delaunay", ("triangles",)),
            ("delaunay", ("audit", "triangles")),
        )
        return self._drawn("n_cells") if known is None else known

    def n_vertices(self) -> float | None:
        """Return the number of vertices of the mesh."""
        kinds = ("heat", "partition", "adapt", "generate", "info", "delaunay")
        known = self._first_number(
            *((kind, ("vertices",)) for kind in kinds),
            ("load", ("counts", "vertices")),
            ("delaunay", ("audit", "points")),
        )
        return self._drawn("n_vertices") if known is None else known

    def _drawn(self, key: str) -> float | None:
        """Return a number from a drawing, if no document names a mesh."""
        shown = self.drawing("series", "mesh", "ghosts", "plane")
        if shown is None or self.mesh_name or shown.facts.get("is_changing"):
            return None
        return as_number(shown.facts.get(key))

    def drawing_of(self, name: str) -> Drawing | None:
        """Return the drawing of a file that a document names."""
        found = (drawing for drawing in self.drawings if are_one_file(str(drawing.path), name))
        return next(found, None) if name else None

    def is_adapted(self, drawing: Drawing) -> bool:
        """Tell whether the section on adaptation shows this file."""
        outputs = [document.text("output") for document in self.results.of("adapt")]
        return any(self.drawing_of(output) is drawing for output in outputs)

    def traffic_of(self, mapped: Document) -> Traffic | None:
        """Find the traffic of a mapping, or the sum of several."""
        if id(mapped) not in self._traffic:
            self._traffic[id(mapped)] = find_traffic(mapped, self.results.of("traffic"))
        return self._traffic[id(mapped)]


def meshes_of(document: Document) -> list[str]:
    """Return the mesh files of a document: the input first, the mesh that it describes last."""
    keys = _MESHES.get(document.kind, ())
    return [name for key in keys if (name := document.text(key))]


def are_one_file(one: str, other: str) -> bool:
    """Tell whether two paths may name one file from different folders."""
    parts, others = (
        [part for part in PurePath(name).parts if part != "."] for name in (one, other)
    )
    n = min(len(parts), len(others))
    return n > 0 and parts[-n:] == others[-n:]


def base_name(path: str) -> str:
    """Return the last part of a path."""
    return PurePath(path).name or path


def picture(content: bytes, said: str, caption: object) -> Html:
    """Embed a PNG."""
    source = "data:image/png;base64," + base64.b64encode(content).decode("ascii")
    width, height = (int.from_bytes(content[i : i + 4], "big") for i in (16, 20))
    image = tag("img", src=source, alt=said, width=width, height=height)
    return figure(image, caption)


def framed_picture(
    drawing: Drawing, keys: list[str], said: str, caption: object, scale: Scale | None = None
) -> Html:
    """Show pictures of one projection over one another, with axes and the scale of their colours."""
    drawn = [drawing.shot(key) for key in keys]
    return figure(framed(drawn, scale or Scale(), said), caption)


def film(drawing: Drawing, frames: list[tuple[str, str]], scale: Scale) -> Html:
    """Show frames, each a key and a caption, one at a time: with a slider, the last one without scripts."""
    captions = [caption for _, caption in frames]
    drawn = [drawing.shot(key) for key, _ in frames]
    last = len(frames) - 1
    slider = tag("input", type="range", min=0, max=last, value=last, aria_label="frame")
    controls = tag("div", tag("button", "play", type="button"), slider, class_="controls")
    return tag(
        "figure",
        framed(drawn, scale, captions[-1]),
        controls,
        tag("figcaption", captions[-1]),
        class_="film",
        data_captions=json.dumps(captions),
    )


def missing_pictures(drawing: Drawing, wants_pictures: bool) -> Html:
    """Write why there is no picture."""
    if not wants_pictures:
        return tag("p", "Pictures were omitted (--no-pictures).", class_="note")
    why = drawing.fault or "nothing was drawn"
    return tag("p", f"pictures could not be rendered: {why}", class_="note error")
