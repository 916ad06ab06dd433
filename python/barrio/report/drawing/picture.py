"""A picture of surfaces, drawn by VTK and written as PNG."""

from __future__ import annotations

import itertools
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyvista as pv
from PIL import Image

from .render import VIEW_SUFFIX

_DARK = "#20242a"  # colour of edges
_LINE_WIDTH, _POINT_SIZE = 6.0, 16.0
MAX_FACES_WITH_EDGES = 150_000


@dataclass(frozen=True)
class View:
    """Parallel projection of a picture. Lengths are those of the drawn grid, which may be moved and scaled.

    `at` is the pixel of `centre`, from the top left.
    """

    centre: list[float]
    right: list[float]
    above: list[float]
    pixels_per_unit: float
    at: list[float]
    box: list[list[float]]  # low and high corner of what is drawn
    moved_by: list[float] | None = None  # the file's coordinates: centre * scaled_by + moved_by
    scaled_by: float = 1.0

    def save(self, path: Path, left: int = 0, top: int = 0) -> None:
        """Write the view of a picture that has lost some columns and rows."""
        kept = asdict(self) | {"at": [self.at[0] - left, self.at[1] - top]}
        path.with_suffix(VIEW_SUFFIX).write_text(json.dumps(kept), encoding="utf-8")


class Picture:
    """A plotter with barrio's lights and camera; save() writes a PNG with transparent background."""

    def __init__(self, width: int, height: int, is_smooth: bool = True) -> None:
        self.plotter = pv.Plotter(off_screen=True, window_size=[width, height], lighting="none")
        self.moved_by: list[float] | None = None  # as in View
        self.scaled_by = 1.0
        if not is_smooth:
            self.plotter.disable_anti_aliasing()
            self.plotter.background_color = "black"
            return
        self.plotter.enable_anti_aliasing("ssaa")
        for position, strength in (((1, 1.5, 2), 0.7), ((-2, 1, 0.7), 0.35), ((0, -2, 1), 0.2)):
            light = pv.Light(position=position, intensity=strength, light_type="camera light")
            self.plotter.add_light(light)

    def add(self, mesh: pv.DataSet, **options: Any) -> None:
        """Add a surface. Options are passed to pyvista."""
        if mesh.n_cells == 0:
            return
        look = {"show_scalar_bar": False, "ambient": 0.5, "diffuse": 0.6}
        for piece, thick in _kinds_of(mesh):
            self.plotter.add_mesh(piece, **(look | options | thick))

    def add_with_edges(self, mesh: pv.DataSet, **options: Any) -> None:
        """Add a surface with thin edges."""
        edges = {
            "show_edges": True,
            "edge_color": _DARK,
            "line_width": 0.6,
            "edge_opacity": 0.35,
        }
        self.add(mesh, **((edges if mesh.n_cells <= MAX_FACES_WITH_EDGES else {}) | options))

    def _look(self, centre: np.ndarray, direction: np.ndarray, height: float) -> None:
        """Look from a direction at a centre, without perspective; `height` fills the picture."""
        up = np.array([0.0, 0.0, 1.0])
        if abs(direction[2]) > 0.95 * np.linalg.norm(direction):
            up = np.array([0.0, 1.0, 0.0])
        camera = self.plotter.camera
        camera.focal_point = tuple(centre)
        camera.position = tuple(centre + direction / np.linalg.norm(direction) * 10.0 * height)
        camera.up = tuple(up)
        camera.parallel_projection = True
        camera.parallel_scale = 0.5 * height
        self.plotter.renderer.reset_camera_clipping_range()

    def look_at_all(self, direction: np.ndarray, tightness: float = 1.0) -> None:
        """Look from a direction at all surfaces, as close as they fit."""
        low = np.array(self.plotter.bounds[0::2])
        high = np.array(self.plotter.bounds[1::2])
        self.fit(np.array([low, high]), direction, tightness)

    def fit(self, box: np.ndarray, direction: np.ndarray, tightness: float = 1.0) -> None:
        """Look from a direction at a box (low and high corner), as close as it fits."""
        corners = np.array(list(itertools.product(*box.T)))
        view = direction / np.linalg.norm(direction)
        up = np.array([0.0, 1.0, 0.0]) if abs(view[2]) > 0.95 else np.array([0.0, 0.0, 1.0])
        right = np.cross(up, view)
        right /= np.linalg.norm(right)
        above = np.cross(view, right)
        across, along = corners @ right, corners @ above
        width, height = self.plotter.window_size
        centre = corners.mean(axis=0)
        centre = centre + right * ((across.max() + across.min()) / 2 - centre @ right)
        centre = centre + above * ((along.max() + along.min()) / 2 - centre @ above)
        need = max(np.ptp(along), np.ptp(across) * height / width)
        self._look(centre, direction, max(1.03 * need / tightness, 1e-12))

    def image(self) -> np.ndarray:
        """Render, and end the picture. @return rows of pixels with red, green, blue and opacity"""
        image = self.plotter.screenshot(transparent_background=True, return_img=True)
        self.plotter.close()
        return np.asarray(image)

    def view(self) -> View:
        """Return the projection, before the picture is rendered."""
        camera, (width, height) = self.plotter.camera, self.plotter.window_size
        centre, position = np.array(camera.focal_point), np.array(camera.position)
        back = (position - centre) / np.linalg.norm(position - centre)
        right = np.cross(np.array(camera.up), back)
        right /= np.linalg.norm(right)
        return View(
            centre.tolist(),
            right.tolist(),
            np.cross(back, right).tolist(),
            0.5 * height / camera.parallel_scale,
            [0.5 * width, 0.5 * height],
            np.array(self.plotter.bounds).reshape(3, 2).T.tolist(),
            self.moved_by,
            self.scaled_by,
        )

    def save(self, path: Path) -> None:
        """Render and write a cropped PNG, and its view."""
        save_all({path: self})


def _kinds_of(mesh: pv.DataSet) -> list[tuple[pv.DataSet, dict[str, Any]]]:
    """Divide a surface into points, lines and faces, with the options that make the first two thick."""
    if not isinstance(mesh, pv.PolyData) or mesh.n_lines + mesh.n_verts == 0:
        return [(mesh, {})]
    points = {"point_size": _POINT_SIZE, "render_points_as_spheres": True, "show_edges": False}
    lines = {"line_width": _LINE_WIDTH, "lighting": False, "show_edges": False}
    ends = [0, mesh.n_verts, mesh.n_verts + mesh.n_lines, mesh.n_cells]
    found: list[tuple[pv.DataSet, dict[str, Any]]] = []
    for (first, end), thick in zip(itertools.pairwise(ends), (points, lines, {}), strict=True):
        if end > first:
            found.append((mesh.extract_cells(np.arange(first, end)), thick))
    return found


def save_all(pictures: dict[Path, Picture]) -> None:
    """Render pictures and write PNG files with palettes of 256 colours, without the borders that are empty in all.

    Beside each is its view.
    """
    views = {path: picture.view() for path, picture in pictures.items()}
    images = {path: picture.image() for path, picture in pictures.items()}
    seen = np.any([image[:, :, 3] > 0 for image in images.values()], axis=0)
    rows, columns = (np.flatnonzero(seen.any(axis=axis)) for axis in (1, 0))
    for path, image in images.items():
        top, left = (int(rows[0]), int(columns[0])) if len(rows) else (0, 0)
        if len(rows):
            image = image[top : rows[-1] + 1, left : columns[-1] + 1]
        views[path].save(path, left, top)
        write_png(image, path)


def write_png(image: np.ndarray, path: Path) -> None:
    """Write an image as PNG with a palette of 256 colours; the file appears when it is complete."""
    picture = Image.fromarray(np.ascontiguousarray(image))
    picture = picture.quantize(256, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
    unfinished = path.with_suffix(".part")
    picture.save(unfinished, format="PNG", optimize=True)
    unfinished.rename(path)
