"""Pictures of fields: a frame for each chosen step, all with one scale, one camera and one border."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyvista as pv

from ..colours import NO_VALUE, OUTLINES, Bands, colours
from .amr import Cut
from .picture import Picture, View, save_all, write_png
from .scenes import FLAT, box_of, eye_of
from .skin import CELL_ID, POINT_ID, Skin

_EDGE = "#9aa0a6"


@dataclass(frozen=True)
class Frame:
    """The skin of a step, and the values of its points or cells."""

    skin: Skin
    values: np.ndarray
    is_of_points: bool


def cut_frame(grid: pv.UnstructuredGrid, frame: Frame, axis: int, at: float) -> Frame | None:
    """Cut a mesh across an axis: a frame of what is on the plane; None if nothing is."""
    data = grid.point_data if frame.is_of_points else grid.cell_data
    data["shown"] = frame.values
    normal = np.eye(3)[axis]
    plane = grid.slice(normal=normal, origin=at * normal)
    del data["shown"]
    if not isinstance(plane, pv.PolyData) or plane.n_cells == 0:
        return None
    of_plane = plane.point_data if frame.is_of_points else plane.cell_data
    shown = np.asarray(of_plane["shown"], dtype=float)
    of_plane[POINT_ID if frame.is_of_points else CELL_ID] = np.arange(len(shown))
    eye = -normal if axis == 1 else normal
    return Frame(Skin(plane, normal=eye), shown, frame.is_of_points)


def draw_field(frames: dict[Path, Frame], scale: Bands | list[int]) -> None:
    """Draw a field at some steps, in bands of colour, or with a colour for each of some whole numbers."""
    pictures = {path: _picture(frame, scale) for path, frame in frames.items()}
    box = box_of(list(pictures.values()))
    for path, picture in pictures.items():
        picture.fit(box, eye_of(frames[path].skin, 0.4, 0.5))
    save_all(pictures)


def _picture(frame: Frame, scale: Bands | list[int]) -> Picture:
    skin, picture = frame.skin, Picture(900, 640)
    style: dict[str, Any] = {"scalars": "shown", "nan_color": NO_VALUE}
    if isinstance(scale, Bands):
        style |= {
            "cmap": scale.colour_map,
            "clim": (scale.low, scale.high),
            "n_colors": scale.count,
        }
    else:
        style |= {"cmap": colours(len(scale)), "clim": (-0.5, len(scale) - 0.5)}
    # All pictures of a film are made before one is drawn, so each has values of its own on the surface that they share.
    body = (skin.whole if skin.body is None else skin.body).copy(deep=False)
    wall = None if skin.wall is None else skin.wall.copy(deep=False)
    for surface in (body, wall):
        if surface is not None:
            _put(surface, frame, scale)
    picture.add(
        body, **(FLAT if skin.normal is not None else {"ambient": 0.7, "diffuse": 0.35}), **style
    )
    if wall is not None and skin.body is not None:
        picture.add(wall, **FLAT, **style)
        edges = skin.body.extract_feature_edges(feature_angle=40.0)
        picture.add(edges, color=_EDGE, line_width=1.5, lighting=False)
    return picture


def _put(surface: pv.PolyData, frame: Frame, scale: Bands | list[int]) -> None:
    """Give a surface the values of its points or cells."""
    data = surface.point_data if frame.is_of_points else surface.cell_data
    values = frame.values[np.asarray(data[POINT_ID if frame.is_of_points else CELL_ID])]
    for old in (surface.point_data, surface.cell_data):
        if "shown" in old:
            del old["shown"]
    if not isinstance(scale, Bands):
        values = np.searchsorted(scale, values).astype(float)
    data["shown"] = values


def draw_cut(cut: Cut, bands: Bands, path: Path) -> None:
    """Draw a cut through levels of boxes in bands of colour, with the outlines of the boxes by level."""
    import matplotlib as mpl

    table = mpl.colormaps[bands.colour_map].resampled(bands.count)
    scaled = (cut.values - bands.low) / max(bands.high - bands.low, 1e-300)
    image = np.asarray(table(np.nan_to_num(np.clip(scaled, 0.0, 1.0)), bytes=True))
    image[np.isnan(cut.values)] = 0
    thick = max(1, max(cut.pixels) // 700)
    for level, top, bottom, left, right in cut.outlines:
        colour = _rgba(OUTLINES[min(level, len(OUTLINES) - 1)])
        image[top : top + thick, left : right + 1] = colour
        image[bottom + 1 - thick : bottom + 1, left : right + 1] = colour
        image[top : bottom + 1, left : left + thick] = colour
        image[top : bottom + 1, right + 1 - thick : right + 1] = colour
    write_png(image, path)
    _view_of(cut).save(path)


def _view_of(cut: Cut) -> View:
    rows, columns = cut.pixels
    right, above = (np.eye(3)[axis].tolist() for axis in cut.axes)
    u = cut.axes[0]
    scale = columns / max(float(cut.bounds[1, u] - cut.bounds[0, u]), 1e-300)
    centre, middle = cut.bounds.mean(axis=0).tolist(), [0.5 * columns, 0.5 * rows]
    # the grid is the file's own
    return View(centre, right, above, scale, middle, cut.bounds.tolist(), [0.0, 0.0, 0.0])


def _rgba(name: str) -> list[int]:
    return [*(int(name[i : i + 2], 16) for i in (1, 3, 5)), 255]
