"""Pictures for `barrio show`: sets, listed sides, sizes of cells. Runs in the drawing process."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyvista as pv

from .._sets import set_colours
from ..colours import Bands, round_bands
from . import scenes
from .facts import Wanted
from .fields import Frame, cut_frame, draw_field
from .picture import Picture
from .read import VtkhdfFile
from .shapes import SIZE, measure_shapes
from .skin import SURFACE, Skin, dimension_of, find_skin

SET = "barrio_set"  # array with the place of a set in the list of the document; -1 without one
MAX_FIELDS, MAX_FRAMES = 12, 24
_MAX_POINTS = 50_000  # of node sets in a picture
_ON_SIDE = 1e-6  # distance from a side of the box over its diagonal
_SAME_PLACE = 1e-7  # distance of centres of one face, in a mesh of size 1
_PLAIN = "#d9dde2"
_N_BANDS = 16


@dataclass(frozen=True)
class About:
    """Choices of the command, and what it knows of the file."""

    data: dict[str, Any] = field(default_factory=dict)

    @property
    def wanted(self) -> Wanted:
        """Return the wanted fields and frames."""
        return Wanted(
            tuple(self.data.get("fields", ())),
            1 if self.is_picture or self.is_film else MAX_FIELDS,
            1 if self.is_picture else MAX_FRAMES,
            self.is_picture,
            frozenset({"material"}) if "sets" in self.data else frozenset(),
            int(self.data.get("step", 0)),
        )

    @property
    def is_picture(self) -> bool:
        """Tell whether one picture is wanted, and no page."""
        return bool(self.data.get("is_picture"))

    @property
    def is_film(self) -> bool:
        """Tell whether a film is wanted, of one field."""
        return bool(self.data.get("is_film"))

    @property
    def hides_parts(self) -> bool:
        """Tell whether the file has no parts: those of the drawn grid are of the command's ranks."""
        return bool(self.data.get("has_no_parts"))

    @property
    def sides(self) -> Path | None:
        """Return the file of the listed sides."""
        return Path(self.data["sides"]) if "sides" in self.data else None


def add_facts(grid: Any, facts: dict[str, Any], about: About) -> None:
    """Measure sizes and quality, and list the sets that are drawn, by place."""
    facts |= measure_shapes(grid)
    if "sets" in about.data:  # the arrays of sets and parts are made, and not in the file
        known = {one["name"] for one in about.data.get("inspected", {}).get("tags", [])}
        made = {"material", "part"} - known
        facts["arrays"] = [one for one in facts["arrays"] if one["name"] not in made]
    for key, data in (("cells", grid.cell_data), ("vertices", grid.point_data)):
        if SET in data:
            facts[f"sets_of_{key}"] = _numbers(data[SET])


def _numbers(values: Any) -> list[int]:
    found = [int(number) for number in np.unique(np.asarray(values))]
    return found if any(number >= 0 for number in found) else []


def draw_shown(
    grid: Any, facts: dict[str, Any], about: About, scaled_at: float | None, folder: Path
) -> None:
    """Draw sets, sides and sizes. @param grid  moved to the origin, with the size 1"""
    skin = find_skin(grid)
    if about.is_picture and any("bands" in one for one in facts.get("fields", [])):
        return  # the field is drawn, on the outside and in a cut
    numbers = facts.get("sets_of_cells")
    if numbers and skin.body is None:
        _draw_by_set(skin.whole, skin, numbers, folder / "sets.png")
    if scaled_at is not None:
        colours = _rows(grid.cell_data[SET], numbers) if numbers else None
        path = folder / "inside.png"
        scenes.draw_inside(grid, int(facts["cut"]["axis"]), scaled_at, path, colours)
    if about.sides is not None:
        _draw_sides(about.sides, skin, facts, folder / "sides.png")
    if facts.get("sets_of_vertices"):
        _draw_points(grid, skin, facts["sets_of_vertices"], folder / "nodes.png")
    if not about.is_picture and facts.get("size") and facts["size"]["high"] > facts["size"]["low"]:
        _draw_sizes(grid, skin, facts, scaled_at, folder / "size.png")


def _rows(values: Any, numbers: list[int]) -> np.ndarray:
    """Return a colour for each entity: red, green, blue."""
    names = set_colours(numbers)
    table = np.array([[int(name[i : i + 2], 16) for i in (1, 3, 5)] for name in names], np.uint8)
    return table[np.searchsorted(numbers, np.asarray(values))]


def _draw_by_set(surface: pv.PolyData, skin: Skin, numbers: list[int], path: Path) -> None:
    picture = Picture(1100, 820)
    surface = surface.copy()
    surface.cell_data["colour"] = _rows(surface.cell_data[SET], numbers)
    flat = scenes.FLAT if skin.normal is not None else {}
    picture.add_with_edges(surface, scalars="colour", rgb=True, **flat)
    picture.look_at_all(scenes.eye_of(skin, 0.6, 0.95))
    picture.save(path)


def _draw_sides(file: Path, skin: Skin, facts: dict[str, Any], path: Path) -> None:
    """Draw the listed sides by set: of a box around a body only those on the body and where it stands."""
    grid = VtkhdfFile(file).first.grid
    if not grid.n_cells or SET not in grid.cell_data:
        return
    numbers = _numbers(grid.cell_data[SET])
    if not numbers:
        return
    facts["sets_of_sides"] = numbers
    low, high = np.array(facts["box"])
    size = float((high - low).max()) or 1.0
    grid.points = (grid.points - 0.5 * (low + high)) / size
    if skin.body is not None:
        grid = grid.extract_cells(~_on_open_sides(grid, skin, 0.5 * (high - low) / size))
    facts["drawn_sets_of_sides"] = _numbers(grid.cell_data[SET]) if grid.n_cells else []
    picture = Picture(1100, 820)
    flat = scenes.FLAT if skin.normal is not None else {}
    if dimension_of(grid) < 2:  # of a surface: its edges, over its cells
        picture.add_with_edges(skin.whole, color=_PLAIN, **flat)
    elif skin.body is None and grid.n_cells:
        picture.add_with_edges(_faces_beside(skin.whole, grid), color=_PLAIN)
    if grid.n_cells:
        surface = grid.extract_surface(algorithm=SURFACE)
        surface.cell_data["colour"] = _rows(surface.cell_data[SET], numbers)
        picture.add_with_edges(surface, scalars="colour", rgb=True, **flat)
    elif skin.body is not None:
        picture.add_with_edges(skin.body, color=_PLAIN)
    picture.look_at_all(scenes.eye_of(skin, 0.6, 0.95))
    picture.save(path)


def _faces_beside(surface: pv.PolyData, sides: Any) -> pv.PolyData:
    """Return the faces of a surface that are not among the sides, by their centres."""
    here, there = (
        np.round(one.cell_centers().points / _SAME_PLACE).astype(np.int64)
        for one in (surface, sides)
    )
    kept = ~np.isin(_as_rows(here), _as_rows(there))
    return surface.extract_cells(kept).extract_surface(algorithm=SURFACE)


def _as_rows(values: np.ndarray) -> np.ndarray:
    """View each row as one item."""
    values = np.ascontiguousarray(values)
    return values.view(np.dtype((np.void, values.dtype.itemsize * values.shape[1]))).ravel()


def _on_open_sides(grid: Any, skin: Skin, half: np.ndarray) -> np.ndarray:
    """Tell which sides lie on a side of the box other than that on which the body stands."""
    centres = grid.cell_centers().points
    near = _ON_SIDE * float(np.linalg.norm(2.0 * half))
    is_on = np.zeros(len(centres), bool)
    for axis in range(3):
        for end in (-1.0, 1.0):
            stands = skin.inward is not None and skin.inward[axis] == -end
            if not stands:
                is_on |= np.abs(centres[:, axis] - end * half[axis]) < near
    return is_on


def _draw_points(grid: Any, skin: Skin, numbers: list[int], path: Path) -> None:
    places = np.asarray(grid.point_data[SET])
    chosen = np.flatnonzero(places >= 0)
    if len(chosen) > _MAX_POINTS:
        chosen = chosen[:: -(-len(chosen) // _MAX_POINTS)]
    cloud = pv.PolyData(grid.points[chosen])
    cloud.cell_data["colour"] = _rows(places[chosen], numbers)
    picture = Picture(1100, 820)
    flat = scenes.FLAT if skin.normal is not None else {}
    body = skin.whole if skin.body is None else skin.body
    picture.add_with_edges(body, color=_PLAIN, **flat)
    picture.add(cloud, scalars="colour", rgb=True, point_size=9.0)
    picture.look_at_all(scenes.eye_of(skin, 0.6, 0.95))
    picture.save(path)


def _draw_sizes(
    grid: Any, skin: Skin, facts: dict[str, Any], scaled_at: float | None, path: Path
) -> None:
    """Draw the sizes of cells in a cut, or on a surface; of many scales their logarithms."""
    size = facts["size"]
    values = np.asarray(grid.cell_data[SIZE], dtype=float)
    ends = [size["low"], size["high"]]
    if size["is_log"]:
        values, ends = np.log10(values), np.log10(ends).tolist()
    bands = round_bands(*ends, about=_N_BANDS)
    size["bands"] = [bands.low, bands.high, bands.count]
    frame = Frame(skin, values, is_of_points=False)
    if scaled_at is not None and "cut" in facts:
        frame = cut_frame(grid, frame, int(facts["cut"]["axis"]), scaled_at) or frame
    draw_field({path: frame}, Bands(bands.low, bands.high, bands.count, "viridis"))
