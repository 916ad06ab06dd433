"""The faces of a mesh that are drawn: its outside, or the body in a box around it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyvista as pv

SURFACE = "dataset_surface"
POINT_ID = "barrio_point"
CELL_ID = "barrio_cell"
_UP = np.array([0.0, 0.0, 1.0])
_FLAT = 1e-6  # thickness of a flat mesh over its length
_ON_SIDE = 1e-6  # distance from a side of the box over its diagonal
_FULL = 1.0 - 1e-6  # share of a side that is covered
_MAX_SHARE = 0.7  # length of a body over that of the box, along each axis
_MIN_FINER = 2.0  # size of faces on the box over those on the body, in the middle
# Dimensions of VTK's cell types below 3.
_DIMENSIONS = (
    dict.fromkeys((0, 1, 2), 0)
    | dict.fromkeys((3, 4, 21, 35, 68, 75), 1)
    | dict.fromkeys((5, 6, 7, 8, 9, 22, 23, 28, 30, 34, 36, 69, 70, 76, 77), 2)
)


@dataclass(frozen=True)
class Skin:
    """The faces, lines and points of a mesh that are drawn.

    body and wall are there only for a box that is meshed around a body: the faces inside the box, and
    the side of the box on which they stand, if there is one.
    """

    whole: pv.PolyData
    body: pv.PolyData | None = None
    wall: pv.PolyData | None = None
    inward: np.ndarray | None = None  # normal of the wall, into the mesh
    normal: np.ndarray | None = None  # of a flat mesh, to the eye


def dimension_of(grid: pv.UnstructuredGrid) -> int:
    """Return the dimension of the cells with the highest one."""
    types = np.unique(grid.celltypes).tolist()
    return max((dimension_of_type(kind) for kind in types), default=0)


def dimension_of_type(kind: int) -> int:
    """Return the dimension of VTK's cell type."""
    return _DIMENSIONS.get(kind, 3)


def find_skin(grid: pv.UnstructuredGrid) -> Skin:
    """Find what is drawn of a mesh. Its surfaces have the indices of their points and cells."""
    grid.point_data[POINT_ID] = np.arange(grid.n_points)
    grid.cell_data[CELL_ID] = np.arange(grid.n_cells)
    whole = grid.extract_surface(algorithm=SURFACE)
    dimension = dimension_of(grid)
    if dimension < 3:
        return Skin(whole, normal=_normal_of_plane(grid.points))
    return _body_in_box(whole, np.array(grid.bounds).reshape(3, 2).T) or Skin(whole)


def _normal_of_plane(points: np.ndarray) -> np.ndarray | None:
    """Return the normal of a flat set of points, to the eye; None if it is not flat."""
    from_middle = points - points.mean(axis=0)
    size = float(np.abs(from_middle).max())
    if size == 0.0:
        return _UP
    _, lengths, axes = np.linalg.svd((from_middle / size).T @ (from_middle / size))
    if lengths[2] > (_FLAT**2) * lengths[0]:
        return None
    normal = axes[2]
    if lengths[1] <= (_FLAT**2) * lengths[0]:  # a straight line lies in many planes
        along = int(np.argmax(np.abs(axes[0])))
        side = np.eye(3)[1 if along == 2 else 2]
        normal = side - axes[0] * (side @ axes[0])
    # Seen from above, from the front (-y) or from the right, as drawings of the coordinate planes are.
    signs = np.array([1.0, -1.0, 1.0])
    main = int(np.argmax(np.round(np.abs(normal), 6)))
    normal = normal * (signs[main] * np.sign(normal[main]))
    return np.asarray(normal / np.linalg.norm(normal))


def _body_in_box(whole: pv.PolyData, box: np.ndarray) -> Skin | None:
    """Find a body in a box that is meshed around it; None if any condition does not hold.

    All sides of the box are covered, but for the footprint of the body on one of them. The other
    faces stay away from all other sides, are much shorter than the box, and much finer than its sides.
    """
    near = _ON_SIDE * np.linalg.norm(box[1] - box[0])
    if not (box[1] - box[0] > 10.0 * near).all():
        return None
    triangles = whole.triangulate()
    corners = triangles.points[triangles.regular_faces]
    areas = 0.5 * np.linalg.norm(
        np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1
    )
    sides = [(axis, end) for axis in range(3) for end in (0, 1)]
    is_on = {s: (np.abs(corners[:, :, s[0]] - box[s[1], s[0]]) < near).all(axis=1) for s in sides}
    inside = ~np.any(list(is_on.values()), axis=0)
    if not inside.any() or inside.all():
        return None
    area_of = {s: float(np.prod(np.delete(box[1] - box[0], s[0]))) for s in sides}
    open_sides = [s for s in sides if areas[is_on[s]].sum() < _FULL * area_of[s]]
    low, high = corners[inside].min(axis=(0, 1)), corners[inside].max(axis=(0, 1))
    touched = [s for s in sides if abs((low, high)[s[1]][s[0]] - box[s[1], s[0]]) < near]
    if open_sides != touched or len(touched) > 1:
        return None
    if (high - low > _MAX_SHARE * (box[1] - box[0])).any():
        return None
    outside = areas[~inside & ~(is_on[touched[0]] if touched else False)]
    if np.median(outside) < _MIN_FINER**2 * np.median(areas[inside]):
        return None
    return _split(whole, box, near, touched[0] if touched else None)


def _split(whole: pv.PolyData, box: np.ndarray, near: float, side: tuple[int, int] | None) -> Skin:
    """Divide a surface into the body and the side on which it stands."""

    def faces_on(axis: int, end: int) -> Any:
        is_on = np.abs(whole.points[:, axis] - box[end, axis]) < near
        flat = np.add.reduceat(~is_on[_face_nodes(whole)], _face_starts(whole))
        return np.asarray(flat) == 0

    on_box = np.any([faces_on(axis, end) for axis in range(3) for end in (0, 1)], axis=0)
    body = whole.extract_cells(~on_box).extract_surface(algorithm=SURFACE)
    if side is None:
        return Skin(whole, body)
    wall = whole.extract_cells(faces_on(*side)).extract_surface(algorithm=SURFACE)
    inward = np.zeros(3)
    inward[side[0]] = 1.0 if side[1] == 0 else -1.0
    return Skin(whole, body, wall, inward)


def _face_nodes(surface: pv.PolyData) -> np.ndarray:
    return np.asarray(pv.convert_array(surface.GetPolys().GetConnectivityArray()))


def _face_starts(surface: pv.PolyData) -> np.ndarray:
    return np.asarray(pv.convert_array(surface.GetPolys().GetOffsetsArray()))[:-1]
