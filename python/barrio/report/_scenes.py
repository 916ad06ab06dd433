"""Pictures of a mesh: the body in it and the wall it stands on, its parts, ghosts and fields."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyvista as pv

from .colours import Bands, colours, tints

SURFACE = "dataset_surface"
POINT_ID = "barrio_point"
_TRIAL_SIZE = (275, 205)
_DISTANCES = (0.35, 0.6, 0.9, 1.3, 1.8)  # multiples of the vector from the mesh centre to a part's
_DIRECTIONS = [  # to the eye; the preferred ones first
    np.array([x, y, z])
    for z in (0.6, 1.0)
    for x, y in ((-0.75, -1), (1, -0.6), (-1, 0.6), (0.75, 1))
] + [np.array([x, y, 0.35]) for x, y in ((-0.4, -1), (0.4, -1), (-1, -0.35), (1, -0.35))]
_SEEN_ENOUGH = 0.3  # visible share of every part's silhouette
_DARK = "#20242a"  # colour of edges
_WINDOW = np.array([4.0, 3.0, 1.0])  # proportions of a close-up of a plane
FLAT = {"ambient": 1.0, "diffuse": 0.0}  # the plain colour, without shading


@dataclass(frozen=True)
class Skin:
    """The boundary of a mesh, with a body (such as a wing) and the flat wall it stands on, if present."""

    whole: pv.PolyData
    body: pv.PolyData | None
    wall: pv.PolyData | None
    inward: np.ndarray  # normal of the wall, into the mesh


def find_skin(grid: pv.UnstructuredGrid) -> Skin:
    """Separate the body in the mesh from the sides of the box around it."""
    grid.point_data[POINT_ID] = np.arange(grid.n_points)
    whole = grid.extract_surface(algorithm=SURFACE)
    low, high = np.array(grid.bounds[0::2]), np.array(grid.bounds[1::2])
    near = 1e-7 * np.linalg.norm(high - low)
    corners = whole.regular_faces if whole.is_all_triangles else None
    on_side = {}
    for axis in range(3):
        for side, level in ((0, low[axis]), (1, high[axis])):
            is_on = np.abs(whole.points[:, axis] - level) < near
            on_side[axis, side] = (
                is_on[corners].all(axis=1) if corners is not None else _all_points(whole, is_on)
            )
    is_box = np.any(list(on_side.values()), axis=0)
    if is_box.all() or not is_box.any():
        return Skin(whole, None, None, np.array([0.0, 1.0, 0.0]))
    body = whole.extract_cells(~is_box).extract_surface(algorithm=SURFACE)
    touches = {
        key: int((np.abs(body.points[:, key[0]] - (low, high)[key[1]][key[0]]) < near).sum())
        for key in on_side
    }
    best = max(touches, key=lambda key: touches[key])
    if touches[best] == 0:
        return Skin(whole, body, None, np.array([0.0, 1.0, 0.0]))
    wall = whole.extract_cells(on_side[best]).extract_surface(algorithm=SURFACE)
    inward = np.zeros(3)
    inward[best[0]] = 1.0 if best[1] == 0 else -1.0
    return Skin(whole, body, wall, inward)


def _all_points(surface: pv.PolyData, is_on: np.ndarray) -> np.ndarray:
    return np.array([is_on[cell.point_ids].all() for cell in surface.cell], dtype=bool)


class Picture:
    """A plotter with barrio's lights and camera; save() writes a PNG with transparent background."""

    def __init__(self, width: int, height: int, is_smooth: bool = True) -> None:
        self.plotter = pv.Plotter(off_screen=True, window_size=[width, height], lighting="none")
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
        if mesh.n_cells > 0:
            look = {"show_scalar_bar": False, "ambient": 0.5, "diffuse": 0.6}
            self.plotter.add_mesh(mesh, **(look | options))

    def add_with_edges(self, mesh: pv.DataSet, **options: Any) -> None:
        """Add a surface with thin edges."""
        edges = {
            "show_edges": True,
            "edge_color": _DARK,
            "line_width": 0.6,
            "edge_opacity": 0.35,
        }
        self.add(mesh, **(edges | options))

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

    def save(self, path: Path) -> None:
        """Render and write a cropped PNG with a palette of 256 colours."""
        from PIL import Image

        image = self.plotter.screenshot(transparent_background=True, return_img=True)
        self.plotter.close()
        picture = Image.fromarray(_crop(image))
        picture = picture.quantize(256, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
        unfinished = path.with_suffix(".part")
        picture.save(unfinished, format="PNG", optimize=True)
        unfinished.rename(path)


def _crop(image: np.ndarray) -> np.ndarray:
    """Crop empty borders."""
    seen = image[:, :, 3] > 0
    if not seen.any():
        return image
    rows, columns = np.flatnonzero(seen.any(axis=1)), np.flatnonzero(seen.any(axis=0))
    return image[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]


def eye_of(skin: Skin, aside: float, above: float) -> np.ndarray:
    """Return the direction from the mesh to the eye: away from the wall, moved aside and up."""
    if skin.wall is None:
        return np.array([-0.75, -1.0, 0.6])
    axis = int(np.argmax(np.abs(skin.inward)))
    if axis == 2:
        return np.array([-0.5, -0.8, 0.9 * skin.inward[2]])
    way = np.array([-1.0, 0.0, 0.0]) if axis == 1 else np.array([0.0, -1.0, 0.0])
    return skin.inward + aside * way + np.array([0.0, 0.0, above])


def wall_around_body(skin: Skin, margin: float) -> pv.PolyData | None:
    """Cut the wall to a window around the body, with a margin in body lengths."""
    if skin.wall is None or skin.body is None:
        return None
    low, high = np.array(skin.body.bounds[0::2]), np.array(skin.body.bounds[1::2])
    room = margin * np.linalg.norm(high - low)
    box = np.array([low - room, high + room]).T.ravel()
    return skin.wall.clip_box(box, invert=False).extract_surface(algorithm=SURFACE)


def draw_parts(skin: Skin, n_parts: int, path: Path) -> None:
    """Draw the body and the wall around it, coloured by part, with the edges of the mesh."""
    picture = Picture(1100, 820)
    by_part = {"scalars": "part", "cmap": colours(n_parts), "clim": (-0.5, n_parts - 0.5)}
    picture.add_with_edges(skin.whole if skin.body is None else skin.body, **by_part)
    wall = wall_around_body(skin, 0.2)
    if wall is not None:
        picture.add_with_edges(wall, **FLAT, **by_part)
    picture.look_at_all(eye_of(skin, 0.6, 0.95))
    picture.save(path)


def draw_exploded(grid: pv.UnstructuredGrid, n_parts: int, path: Path) -> None:
    """Draw the surface of every part, moved away from the centre."""
    part = np.asarray(grid.cell_data["part"])
    centres = grid.cell_centers().points
    middle = centres.mean(axis=0)
    pieces, ways = [], []
    indices = [int(index) for index in np.unique(part)]
    for index in indices:
        mine = part == index
        pieces.append(grid.extract_cells(mine).extract_surface(algorithm=SURFACE))
        ways.append(centres[mine].mean(axis=0) - middle)
    distance, direction = choose_explosion(pieces, ways)
    picture = Picture(1100, 820)
    palette = colours(n_parts)
    for index, piece, way in zip(indices, pieces, ways, strict=True):
        piece.points = piece.points + distance * way
        picture.add_with_edges(piece, color=palette[index])
    picture.look_at_all(direction)
    picture.save(path)


def choose_explosion(pieces: list[pv.PolyData], ways: list[np.ndarray]) -> tuple[float, np.ndarray]:
    """Choose the distance between parts and the direction of view, so that all parts are visible.

    Tries small pictures with growing distance until one shows enough of every part.
    """
    areas = [_face_areas(piece) for piece in pieces]
    picture = Picture(*_TRIAL_SIZE, is_smooth=False)
    actors = [
        picture.plotter.add_mesh(
            piece, color=[(i + 1) % 256, (i + 1) // 256, 255], lighting=False, show_scalar_bar=False
        )
        for i, piece in enumerate(pieces)
    ]
    best, chosen = -1.0, (_DISTANCES[0], _DIRECTIONS[0])
    for distance in _DISTANCES:
        for actor, way in zip(actors, ways, strict=True):
            actor.position = tuple(distance * way)
        for direction in _DIRECTIONS:
            picture.look_at_all(direction)
            pixel = 2.0 * picture.plotter.camera.parallel_scale / _TRIAL_SIZE[1]
            picture.plotter.render()
            image = picture.plotter.screenshot(return_img=True).astype(np.int64)
            ids = np.where(image[..., 2] == 255, image[..., 0] + 256 * image[..., 1], 0)
            counts = np.bincount(ids.ravel(), minlength=len(pieces) + 1)[1 : len(pieces) + 1]
            view = direction / np.linalg.norm(direction)
            whole = np.array([0.5 * np.abs(area @ view).sum() for area in areas])
            share = float((counts * pixel**2 / np.maximum(whole, pixel**2)).min())
            if share > best:
                best, chosen = share, (distance, direction)
        if best >= _SEEN_ENOUGH:
            break
    picture.plotter.close()
    return chosen


def _face_areas(surface: pv.PolyData) -> np.ndarray:
    """Return the area vectors of the triangles of a surface."""
    corners = surface.points[surface.triangulate().regular_faces]
    return 0.5 * np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])


def draw_ghosts(grid: pv.UnstructuredGrid, rank: int, n_ranks: int, path: Path) -> None:
    """Draw the own cells of a rank in grey, and its ghosts moved away, coloured by owner."""
    picture = Picture(1100, 820)
    held = np.asarray(grid.cell_data["rank"]) == rank
    ghost = held & (np.asarray(grid.cell_data["is_ghost"]) != 0)
    owner = np.asarray(grid.cell_data["owner"])
    centres = grid.cell_centers().points
    own = held & ~ghost
    middle = centres[own if own.any() else held].mean(axis=0)
    size = np.linalg.norm(np.ptp(centres[held], axis=0))
    palette = colours(n_ranks)
    if own.any():
        surface = grid.extract_cells(own).extract_surface(algorithm=SURFACE)
        picture.add_with_edges(surface, color="#dcdcd6")
    for index in np.unique(owner[ghost]):
        mine = ghost & (owner == index)
        piece = grid.extract_cells(mine).extract_surface(algorithm=SURFACE)
        way = centres[mine].mean(axis=0) - middle
        piece.points = piece.points + 0.16 * size * way / max(np.linalg.norm(way), 1e-300)
        picture.add_with_edges(piece, color=palette[int(index)], opacity=0.9)
    side = np.sign(middle - np.array(grid.center))  # look at the rank's side inside the mesh
    picture.look_at_all(np.array([0.75, 1.0, 0.6]) * np.where(side == 0, -1.0, -side))
    picture.save(path)


def draw_plane(grid: pv.UnstructuredGrid, has_edges: bool, path: Path) -> None:
    """Draw triangles from above, coloured by region, and the edges on segments as lines."""
    low, high = grid.points.min(axis=0), grid.points.max(axis=0)
    _draw_window(grid, np.array([low, high]), has_edges, path)


def draw_finest(grid: pv.UnstructuredGrid, n_triangles: int, path: Path) -> None:
    """Draw the smallest triangle and about `n_triangles` around it from above, with edges."""
    corners = grid.points[grid.cells_dict[pv.CellType.TRIANGLE]]
    sides = corners[:, 1:, :2] - corners[:, :1, :2]
    areas = np.abs(sides[:, 0, 0] * sides[:, 1, 1] - sides[:, 0, 1] * sides[:, 1, 0])
    centres = corners.mean(axis=1)
    centre = centres[int(np.argmin(areas))]
    away = (np.abs(centres - centre) / _WINDOW).max(axis=1)
    room = np.partition(away, min(n_triangles, len(away) - 1))[min(n_triangles, len(away) - 1)]
    _draw_window(grid, np.array([centre - room * _WINDOW, centre + room * _WINDOW]), True, path)


def _draw_window(
    grid: pv.UnstructuredGrid, window: np.ndarray, has_edges: bool, path: Path
) -> None:
    """Draw a window of a plane, given by low and high corner."""
    size = max(float(np.ptp(window, axis=0).max()), 1e-300)
    points = (
        grid.points - window.mean(axis=0)
    ) / size  # scaled, since VTK draws in single precision
    corners, regions = grid.cells_dict[pv.CellType.TRIANGLE], grid.cell_data["region"]
    triangle_regions = np.asarray(regions)[grid.celltypes == pv.CellType.TRIANGLE]
    numbers, place = np.unique(triangle_regions, return_inverse=True)
    palette = [[int(name[i : i + 2], 16) for i in (1, 3, 5)] for name in tints(len(numbers))]
    half = 0.5 * np.ptp(window, axis=0) / size
    seen = _is_near(points, corners, half)
    picture = Picture(1600, 1200)
    surface = pv.PolyData.from_regular_faces(points, corners[seen])
    surface.cell_data["colour"] = np.array(palette, dtype=np.uint8)[place[seen]]
    edges = {"show_edges": has_edges, "edge_color": _DARK, "line_width": 0.8, "edge_opacity": 0.6}
    picture.add(surface, scalars="colour", rgb=True, **FLAT, **edges)
    lines = grid.cells_dict.get(pv.CellType.LINE, np.empty((0, 2), dtype=np.int64))
    lines = lines[_is_near(points, lines, half)]
    if len(lines):
        above = points + np.array([0.0, 0.0, 1e-3])
        segments = pv.PolyData(above, lines=np.insert(lines, 0, 2, axis=1).ravel())
        picture.add(segments, color=_DARK, line_width=4.0, lighting=False)
    picture.fit(np.array([-half, half]), np.array([0.0, 0.0, 1.0]))
    picture.save(path)


def _is_near(points: np.ndarray, cells: np.ndarray, half: np.ndarray) -> np.ndarray:
    """Tell which cells overlap a window around the origin, or come near it."""
    corners = points[cells][:, :, :2]
    far = 1.1 * half[:2] + 1e-3
    is_near: np.ndarray = (corners.min(axis=1) < far) & (corners.max(axis=1) > -far)
    return np.asarray(is_near.all(axis=1))


def draw_field(skin: Skin, values: np.ndarray, bands: Bands, path: Path) -> None:
    """Draw a point field in bands of colour on the body and its wall."""
    picture = Picture(900, 640)
    style = {"scalars": "shown", "cmap": bands.colour_map, "clim": (bands.low, bands.high)}
    body = skin.whole if skin.body is None else skin.body
    for surface in (body, skin.wall):
        if surface is not None:
            surface.point_data["shown"] = values[surface.point_data[POINT_ID]]
    picture.add(body, ambient=0.7, diffuse=0.35, n_colors=bands.count, **style)
    if skin.wall is not None:
        picture.add(skin.wall, n_colors=bands.count, **FLAT, **style)
    if skin.wall is not None and skin.body is not None:
        edges = skin.body.extract_feature_edges(feature_angle=40.0)
        picture.add(edges, color="#9aa0a6", line_width=1.5, lighting=False)
    picture.look_at_all(eye_of(skin, 0.4, 0.5))
    picture.save(path)
