"""Pictures of a mesh: its outside, its parts, ghosts and fields."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyvista as pv

from ..colours import colours, tints
from .picture import Picture, save_all
from .skin import SURFACE, Skin

_TRIAL_SIZE = (275, 205)
_DISTANCES = (0.35, 0.6, 0.9, 1.3, 1.8)  # multiples of the vector from the mesh centre to a part's
_DIRECTIONS = [  # to the eye; the preferred ones first
    np.array([x, y, z])
    for z in (0.6, 1.0)
    for x, y in ((-0.75, -1), (1, -0.6), (-1, 0.6), (0.75, 1))
] + [np.array([x, y, 0.35]) for x, y in ((-0.4, -1), (0.4, -1), (-1, -0.35), (1, -0.35))]
_SEEN_ENOUGH = 0.3  # visible share of every part's silhouette
_DARK = "#20242a"  # colour of edges
_PLAIN = "#a9c1d9"  # of a mesh without parts
_MAX_TINTS, _TINT_STEP = 13, 5  # of parts of a plane
_WINDOW = np.array([4.0, 3.0, 1.0])  # proportions of a close-up of a plane
EYE = np.array([-0.75, -1.0, 0.6])  # direction to the eye, for a mesh without a side of its own
FLAT = {"ambient": 1.0, "diffuse": 0.0}  # the plain colour, without shading


def eye_of(skin: Skin, aside: float, above: float) -> np.ndarray:
    """Return the direction from the mesh to the eye: away from the wall, moved aside and up.

    A flat mesh is seen along its normal.
    """
    if skin.normal is not None:
        return skin.normal
    if skin.inward is None:
        return EYE
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
    """Draw the outside, or the body and the wall around it, coloured by part, with the edges of the mesh."""
    picture = Picture(1100, 820)
    colour_map = _palette(n_parts, skin.whole)
    by_part = {"scalars": "part", "cmap": colour_map, "clim": (-0.5, n_parts - 0.5)}
    flat = FLAT if skin.normal is not None else {}
    picture.add_with_edges(skin.whole if skin.body is None else skin.body, **flat, **by_part)
    wall = wall_around_body(skin, 0.2)
    if wall is not None:
        picture.add_with_edges(wall, **FLAT, **by_part)
    picture.look_at_all(eye_of(skin, 0.6, 0.95))
    picture.save(path)


def _palette(n_parts: int, surface: pv.PolyData) -> list[str]:
    """Return the colours of parts; a mesh without parts is light, if it is not of lines and points."""
    has_faces = surface.n_lines + surface.n_verts < surface.n_cells
    return [_PLAIN] if n_parts < 2 and has_faces else colours(n_parts)


def draw_states(skins: dict[Path, Skin], n_parts: int) -> None:
    """Draw the meshes of some steps, coloured by part, with edges, from one place and in one scale."""
    pictures = {}
    for path, skin in skins.items():
        colour_map = _palette(n_parts, skin.whole)
        by_part = {"scalars": "part", "cmap": colour_map, "clim": (-0.5, n_parts - 0.5)}
        pictures[path] = Picture(900, 640)
        flat = FLAT if skin.normal is not None else {}
        pictures[path].add_with_edges(skin.whole, **flat, **by_part)
    box = box_of(list(pictures.values()))
    for path, picture in pictures.items():
        normal = skins[path].normal
        picture.fit(box, EYE if normal is None else normal)
    save_all(pictures)


def box_of(pictures: list[Picture]) -> np.ndarray:
    """Return low and high corner of what is in several pictures."""
    bounds = np.array([np.array(picture.plotter.bounds).reshape(3, 2).T for picture in pictures])
    return np.array([bounds[:, 0].min(axis=0), bounds[:, 1].max(axis=0)])


def draw_outside(skin: Skin, n_parts: int, path: Path) -> None:
    """Draw the outside of a mesh around a body."""
    draw_states({path: Skin(skin.whole)}, n_parts)


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


def draw_inside(
    grid: pv.UnstructuredGrid, axis: int, at: float, path: Path, colours: np.ndarray | None = None
) -> None:
    """Draw the cells behind a plane across an axis, whole, with the edges of the mesh.

    @param colours  red, green and blue of each cell; all alike without
    """
    centres = grid.cell_centers().points[:, axis]
    behind = centres > at if EYE[axis] < 0.0 else centres < at
    if not behind.any():
        return
    picture = Picture(1100, 820)
    kept = grid.extract_cells(behind)
    look = {"color": _PLAIN}
    if colours is not None:
        kept.cell_data["colour"] = colours[behind]
        look = {"scalars": "colour", "rgb": True}
    surface = kept.extract_surface(algorithm=SURFACE)
    edges = {"edge_opacity": 0.7, "line_width": 0.7}
    picture.add_with_edges(surface, **(look | edges))
    away = np.zeros(3)
    away[axis] = np.sign(EYE[axis])
    picture.look_at_all(0.5 * EYE + away)
    picture.save(path)


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
    side = np.sign(np.round(middle - np.array(grid.center), 9))  # look at the side inside the mesh
    picture.look_at_all(np.array([0.75, 1.0, 0.6]) * np.where(side == 0, [-1.0, -1.0, 1.0], -side))
    picture.save(path)


def draw_plane(
    grid: pv.UnstructuredGrid, has_edges: bool, path: Path, colours: str = "region"
) -> None:
    """Draw triangles from above, coloured by an array of cells, and the edges on segments as lines."""
    low, high = grid.points.min(axis=0), grid.points.max(axis=0)
    _draw_window(grid, np.array([low, high]), has_edges, path, colours)


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
    grid: pv.UnstructuredGrid,
    window: np.ndarray,
    has_edges: bool,
    path: Path,
    colours: str = "region",
) -> None:
    """Draw a window of a plane, given by low and high corner."""
    size = max(float(np.ptp(window, axis=0).max()), 1e-300)
    points = (
        grid.points - window.mean(axis=0)
    ) / size  # scaled, since VTK draws in single precision
    corners = grid.cells_dict[pv.CellType.TRIANGLE]
    of_triangles = np.asarray(grid.cell_data[colours])[grid.celltypes == pv.CellType.TRIANGLE]
    numbers, place = np.unique(of_triangles, return_inverse=True)
    n_tints = len(numbers)
    if colours == "part":  # neighbours have distant numbers of the few tints that eyes tell apart
        n_tints = min(n_tints, _MAX_TINTS)
        place = place * _TINT_STEP % n_tints
    palette = [[int(name[i : i + 2], 16) for i in (1, 3, 5)] for name in tints(n_tints)]
    half = 0.5 * np.ptp(window, axis=0) / size
    seen = _is_near(points, corners, half)
    picture = Picture(1600, 1200)
    picture.moved_by, picture.scaled_by = window.mean(axis=0).tolist(), size
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
