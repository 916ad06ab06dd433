"""Triangulate points and segments of the plane, without small angles, and check triangulations.

    from barrio import delaunay

    graph = delaunay.read_poly("plate.poly")
    mesh = delaunay.triangulate(graph, min_angle=25, max_area=0.01)
    plt.triplot(*mesh.points.T, mesh.triangles)
    assert delaunay.audit(mesh, graph, min_angle=25).passes

One process works; it needs no MPI of its own.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from barrio import _mpi
from barrio.errors import ErrorCode, UsageError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = [
    "Audit",
    "Graph",
    "Triangulation",
    "audit",
    "graph_of",
    "read_geojson",
    "read_poly",
    "triangulate",
]


def _rows(values: ArrayLike | None, width: int, what: str, kind: type) -> NDArray:
    """An array of so many columns; numbers that `kind` cannot hold are refused."""
    given = np.asarray([] if values is None else values)
    if given.size == 0:
        return np.zeros((0, width), dtype=kind)
    if given.ndim != 2 or given.shape[1] != width:
        cause = f"have the shape {given.shape}, not (n, {width})"
        raise UsageError(ErrorCode.usage, what, cause, f"give {width} numbers in each row")
    if kind is not np.float64 and given.dtype.kind not in "iu":
        raise UsageError(ErrorCode.usage, what, "are no whole numbers", "give integers")
    return np.ascontiguousarray(given, dtype=kind)


def _markers(values: ArrayLike | None, n: int, what: str) -> NDArray[np.int32]:
    if values is None:
        return np.zeros(n, dtype=np.int32)
    given = np.ascontiguousarray(values, dtype=np.int32)
    if given.shape != (n,):
        cause = f"have the shape {given.shape}, not ({n},)"
        raise UsageError(ErrorCode.usage, what, cause, "give one for each")
    return given


@dataclass(frozen=True)
class Graph:
    """Points and what is between them. Segments meet at points; a point may lie in the middle of a segment."""

    points: ArrayLike
    """Shape (n, 2)."""
    segments: ArrayLike | None = None
    """Shape (m, 2): numbers of points, from 0."""
    markers: ArrayLike | None = None
    """Of segments, integers of yours."""
    holes: ArrayLike | None = None
    """Shape (h, 2): places whose surroundings, up to the next segments, are left out."""
    regions: ArrayLike | None = None
    """Shape (r, 4): x and y of a place in each region, its attribute, and the largest area of its
    triangles; 0: no bound."""
    point_markers: ArrayLike | None = None
    attributes: ArrayLike | None = None
    """Shape (n, k): numbers of each point, a depth say, that are linear between vertices."""
    sides: ArrayLike | None = None
    """Shape (m, 2): on the left and right of each segment a row of `regions` counted from 1, 0 for none, -1 for
    outside. Then the places of regions and holes are not looked at."""
    left_out: list[str] = field(default_factory=list)
    """What a file had and this has not."""

    def _arrays(self) -> tuple[NDArray, ...]:
        points = _rows(self.points, 2, "points", np.float64)
        segments = _rows(self.segments, 2, "segments", np.int32)
        has_attributes = self.attributes is not None and np.size(self.attributes) > 0
        has_markers = self.point_markers is not None and np.size(self.point_markers) > 0
        return (
            points,
            _markers(self.point_markers, len(points), "point_markers")
            if has_markers
            else np.zeros(0, dtype=np.int32),
            _columns(self.attributes, len(points))
            if has_attributes
            else np.zeros((len(points), 0)),
            segments,
            _markers(self.markers, len(segments), "markers"),
            _rows(self.sides, 2, "sides", np.int32),
            _rows(self.holes, 2, "holes", np.float64),
            _rows(self.regions, 4, "regions", np.float64),
        )


@dataclass(frozen=True)
class Triangulation:
    """Triangles of a graph. Arrays are read-only."""

    points: NDArray[np.float64]
    """Shape (n, 2). Those of the graph come first, in its order, without those that lie outside."""
    triangles: NDArray[np.int32]
    """Shape (m, 3): vertices, counterclockwise."""
    neighbours: NDArray[np.int32]
    """Shape (m, 3): the triangle across from each vertex, or -1."""
    regions: NDArray[np.int32]
    """The region of each triangle, its row in the graph's, or -1."""
    edges: NDArray[np.int32]
    """Shape (e, 2): edges on segments."""
    edge_markers: NDArray[np.int32]
    """The marker of the segment of each of them."""
    input_points: NDArray[np.int32]
    """Of the first points: their rows in the graph."""
    attributes: NDArray[np.float64]
    """Shape (n, k): those of the graph's points, linear between them."""
    n_left: int
    """Times that a triangle stayed as it was, since segments may not be split or coordinates are too coarse."""
    is_complete: bool
    """False: it ended at `max_triangles`."""


@dataclass(frozen=True)
class Audit:
    """What an audit has found."""

    passes: bool
    checks: dict[str, tuple[bool, str]]
    """By name: whether it is met, and what was measured or is wrong."""
    min_angle: float
    """Degrees."""
    area: float
    largest_area: float


def read_poly(path: str | Path) -> Graph:
    """Read a .poly or .node file, as Triangle has them. Local."""
    return _graph(_mpi.load_core()._read_poly(str(path)))


def read_geojson(
    path: str | Path, *, project: Callable[[float, float], tuple[float, float]] | None
) -> Graph:
    """Read the polygons of a GeoJSON file; each feature is a region. Local.

    `project(longitude, latitude)` returns x and y, as pyproj's `Transformer.transform` does. Without one, None,
    degrees are taken as they are, and bounds of angles and areas mean nothing on the ground.
    """
    return _graph(_mpi.load_core()._read_geojson(str(path), project))


def graph_of(
    points: ArrayLike,
    triangles: ArrayLike,
    *,
    regions: ArrayLike | None = None,
    edges: ArrayLike | None = None,
    edge_markers: ArrayLike | None = None,
    attributes: ArrayLike | None = None,
    region_rows: ArrayLike | None = None,
) -> Graph:
    """Make the graph of triangles from elsewhere, or of an earlier triangulation, to refine them. Local.

    Boundaries, edges between `regions` (of each triangle, from 0; -1: none) and `edges` become segments.
    `region_rows`: shape (r, 4), as `Graph.regions`.
    """
    given = np.asarray(points, dtype=np.float64)[:, :2]
    of_triangles = np.asarray([] if regions is None else regions, dtype=np.int32) + 1
    n_regions = int(of_triangles.max(initial=0))
    rows = _rows(region_rows, 4, "region_rows", np.float64)
    if len(rows) < n_regions:
        new = np.zeros((n_regions - len(rows), 4))
        new[:, 2] = np.arange(len(rows), n_regions)
        rows = np.concatenate([rows, new])
    listed = _rows(edges, 2, "edges", np.int32)
    return _graph(
        _mpi.load_core()._graph_of_mesh(
            np.ascontiguousarray(given),
            np.zeros((len(given), 0)) if attributes is None else _columns(attributes, len(given)),
            listed,
            _markers(edge_markers, len(listed), "edge_markers"),
            _rows(triangles, 3, "triangles", np.int64),
            np.ascontiguousarray(of_triangles),
            np.ascontiguousarray(rows),
        )
    )


def _columns(values: ArrayLike | None, n: int) -> NDArray[np.float64]:
    given = np.ascontiguousarray(values, dtype=np.float64)
    if given.ndim != 2 or len(given) != n:
        cause = f"have the shape {given.shape}, not ({n}, k)"
        raise UsageError(ErrorCode.usage, "attributes", cause, "give k numbers for each point")
    return given


def _graph(arrays: tuple) -> Graph:
    points, point_markers, attributes, segments, markers, sides, holes, regions, left_out = arrays
    n = len(points) // 2
    return Graph(
        points.reshape(-1, 2),
        segments.reshape(-1, 2),
        markers,
        holes.reshape(-1, 2),
        regions.reshape(-1, 4),
        point_markers if point_markers.size else None,
        attributes.reshape(n, -1) if attributes.size else None,
        sides.reshape(-1, 2) if sides.size else None,
        list(left_out),
    )


def triangulate(
    graph: Graph | ArrayLike,
    *,
    refine: bool = True,
    min_angle: float = 20.0,
    max_area: float = 0.0,
    area_at: Callable[[float, float], float] | None = None,
    hull: bool = False,
    split_boundary: bool = True,
    split_segments: bool = True,
    max_triangles: int = 2**30 - 1,
) -> Triangulation:
    """Make the constrained Delaunay triangulation of a graph, or of points, and refine it. Local.

    Points alone are refined where `max_area` or `area_at` ask for it.
    `min_angle`: degrees; up to 20.7 it is met where segments do not meet in smaller angles.
    `max_area`: of a triangle; 0: no bound. `area_at(x, y)`: the same around a place; each call costs
    about a microsecond of Python. `refine=False`: add no points.
    """
    whole = graph if isinstance(graph, Graph) else Graph(graph)
    refines = refine and whole.segments is not None and np.size(whole.segments) > 0
    arrays, n_at_segments, n_by_rounding, is_complete = _mpi.load_core()._triangulate(
        *whole._arrays(),
        refines or (refine and (max_area > 0 or area_at is not None)),
        min_angle,
        max_area,
        area_at,
        hull,
        split_boundary,
        split_segments,
        max_triangles,
    )
    points, triangles, neighbours, regions, edges, edge_markers, input_points, attributes = arrays
    points = points.reshape(-1, 2)
    return Triangulation(
        points,
        triangles.reshape(-1, 3),
        neighbours.reshape(-1, 3),
        regions,
        edges.reshape(-1, 2),
        edge_markers,
        input_points,
        attributes.reshape(len(points), -1) if attributes.size else np.zeros((len(points), 0)),
        n_at_segments + n_by_rounding,
        is_complete,
    )


def audit(
    mesh: Triangulation, graph: Graph | ArrayLike, *, min_angle: float = 0.0, max_area: float = 0.0
) -> Audit:
    """Check a triangulation by other means than it was made by, in exact arithmetic. Local."""
    whole = graph if isinstance(graph, Graph) else Graph(graph)
    found = json.loads(
        _mpi.load_core()._audit(
            *whole._arrays(),
            np.ascontiguousarray(mesh.points),
            np.ascontiguousarray(mesh.triangles, dtype=np.int64),
            np.ascontiguousarray(mesh.edges, dtype=np.int64),
            min_angle,
            max_area,
        )
    )
    return Audit(
        found["passes"],
        {check["check"]: (check["met"], check["text"]) for check in found["checks"]},
        found["min_angle"],
        found["area"],
        found["largest_area"],
    )
