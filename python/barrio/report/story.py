"""What all sections of the page share: the results, what was drawn, and simple questions."""

from __future__ import annotations

import base64
from dataclasses import dataclass, field
from pathlib import PurePath

from .documents import Document, Results
from .markup import Html, figure, tag
from .pictures import Drawing
from .traffic import Traffic, find_traffic


@dataclass(frozen=True)
class Section:
    """One part of the page."""

    anchor: str
    title: str
    body: list[Html]


@dataclass
class Story:
    """The results and what was found in them."""

    results: Results
    drawings: list[Drawing] = field(default_factory=list)
    wants_pictures: bool = True
    wants_suggestions: bool = True  # false: the results are in a folder that goes away
    _traffic: dict[int, Traffic | None] = field(default_factory=dict)  # by the id of a mapping

    def first_number(self, key: str, *kinds: str) -> float | None:
        """Return a number from the first document of these kinds that has it."""
        numbers = (document.number(key) for document in self.results.of(*kinds))
        return next((value for value in numbers if value is not None), None)

    def drawing(self, *kinds: str) -> Drawing | None:
        """Return the first drawing of these kinds; an earlier kind goes first."""
        found = (d for kind in kinds for d in self.drawings if d.kind == kind)
        return next(found, None)

    @property
    def mesh_name(self) -> str:
        """The file that holds the mesh, as it was named on the command line."""
        for kind, key in (
            ("heat", "mesh"),
            ("load", "input"),
            ("partition", "output"),
            ("generate", "output"),
        ):
            for document in self.results.of(kind):
                if document.text(key):
                    return document.text(key)
        return ""

    def n_parts(self) -> float | None:
        """The number of parts."""
        return self.first_number("parts", "heat", "load", "partition", "generate")

    def n_ranks(self) -> float | None:
        """The number of ranks of the main run."""
        return self.first_number("ranks", "heat", "load")

    def n_cells(self) -> float | None:
        """The number of cells of the mesh."""
        known = self.first_number("cells", "heat", "partition", "generate")
        for document in self.results.of("load"):
            known = document.number("owned_cells", "total") if known is None else known
        shown = self.drawing("series", "mesh", "ghosts")
        return shown.facts.get("n_cells") if known is None and shown else known

    def n_vertices(self) -> float | None:
        """The number of vertices of the mesh."""
        known = self.first_number("vertices", "heat", "partition", "generate", "info")
        for document in self.results.of("load"):
            known = document.number("counts", "vertices") if known is None else known
        shown = self.drawing("series", "mesh", "ghosts")
        return shown.facts.get("n_vertices") if known is None and shown else known

    def traffic_of(self, mapped: Document) -> Traffic | None:
        """Find the traffic a mapping was computed from, or the sum of several."""
        if id(mapped) not in self._traffic:
            self._traffic[id(mapped)] = find_traffic(mapped, self.results.of("traffic"))
        return self._traffic[id(mapped)]


def base_name(path: str) -> str:
    """Return the last part of a path."""
    return PurePath(path).name or path


def picture(content: bytes, said: str, caption: object) -> Html:
    """Embed a PNG."""
    source = "data:image/png;base64," + base64.b64encode(content).decode("ascii")
    width, height = (int.from_bytes(content[i : i + 4], "big") for i in (16, 20))
    image = tag("img", src=source, alt=said, width=width, height=height)
    return figure(image, caption)


def missing_pictures(drawing: Drawing, wants_pictures: bool) -> Html:
    """Say why there is no picture."""
    if not wants_pictures:
        return tag("p", "Pictures were left out (--no-pictures).", class_="note")
    why = drawing.fault or "nothing was drawn"
    return tag("p", f"pictures could not be rendered: {why}", class_="note error")
