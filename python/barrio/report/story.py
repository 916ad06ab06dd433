"""What all sections of the page share: the results, what was drawn, and simple questions."""

from __future__ import annotations

import base64
from dataclasses import dataclass, field
from pathlib import PurePath

import numpy as np

from .documents import Document, Results
from .markup import Html, figure, tag
from .pictures import Drawing

_WEIGHTS = {"points": 2, "bytes": 3, "messages": 4}  # places in a traffic entry


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

    def traffic_of(self, mapped: Document) -> Document | None:
        """Find the traffic a mapping was computed from: as many ranks, and the same sum."""
        column = _WEIGHTS.get(mapped.text("weight"), _WEIGHTS["bytes"])
        wanted = mapped.number("total_weight")
        for traffic in self.results.of("traffic"):
            if traffic.data["ranks"] != len(mapped.data["given"]):
                continue
            total = sum(e[column] for e in traffic.data["entries"] if e[0] != e[1])
            if wanted is None or abs(total - wanted) <= 1e-9 * max(abs(wanted), 1.0):
                return traffic
        return None


def base_name(path: str) -> str:
    """Return the last part of a path."""
    return PurePath(path).name or path


def traffic_matrix(traffic: Document, weight: str = "bytes") -> np.ndarray:
    """Return bytes (or messages, points) from row to column, without what a rank sends itself."""
    column = _WEIGHTS.get(weight, _WEIGHTS["bytes"])
    n = traffic.data["ranks"]
    matrix = np.zeros((n, n))
    for entry in traffic.data["entries"]:
        if entry[0] != entry[1]:
            matrix[entry[0], entry[1]] += entry[column]
    return matrix


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
