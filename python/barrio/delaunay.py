"""Triangulate points and segments in the plane with a min angle, and audit triangulations.

    from barrio import delaunay

    graph = delaunay.read_poly("plate.poly")
    mesh = delaunay.triangulate(graph, min_angle=25, max_area=0.01)
    plt.triplot(*mesh.points.T, mesh.triangles)
    assert delaunay.audit(mesh, graph, min_angle=25).passes

Runs in one process and does not need MPI.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from barrio import _mpi
from barrio._arrays import integers
from barrio.errors import ErrorCode, UsageError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = [
    "Audit",
    "Graph",
    "SnapReport",
    "Triangulation",
    "audit",
    "graph_of",
    "read_geojson",
    "read_poly",
    "snap",
    "triangulate",
]


def _rows(values: ArrayLike | None, width: int, what: str, kind: type) -> NDArray:
    """Convert to an array with `width` columns; refuse numbers that `kind` cannot hold."""
    given = np.asarray([] if values is None else values)
    if given.size == 0:
        return np.zeros((0, width), dtype=kind)
    if given.ndim != 2 or given.shape[1] != width:
        cause = f"have the shape {given.shape}, not (n, {width})"
        raise UsageError(ErrorCode.usage, what, cause, f"give {width} numbers in each row")
    if kind is not np.float64:
        return integers(given, what, kind)
    return np.ascontiguousarray(given, dtype=kind)


def _markers(values: ArrayLike | None, n: int, what: str) -> NDArray[np.int32]:
    if values is None:
        return np.zeros(n, dtype=np.int32)
    given = integers(values, what, np.int32)
    if given.shape != (n,):
        cause = f"have the shape {given.shape}, not ({n},)"
        raise UsageError(ErrorCode.usage, what, cause, "give one for each")
    return given


@dataclass(frozen=True)
class Graph:
    """Points and the segments between them. Segments meet at points; a point may lie on a segment."""

    points: ArrayLike
    """Shape (n, 2)."""
    segments: ArrayLike | None = None
    """Shape (m, 2): indices of points, from 0."""
    markers: ArrayLike | None = None
    """An integer of your choice for each segment."""
    holes: ArrayLike | None = None
    """Shape (h, 2): a point in each hole; the area around it, up to the segments, is left empty."""
    regions: ArrayLike | None = None
    """Shape (r, 4): x and y of a point in each region, its attribute, and the max area of its
    triangles; 0: no bound."""
    point_markers: ArrayLike | None = None
    attributes: ArrayLike | None = None
    """Shape (n, k): k numbers for each point, such as a depth; linear between vertices."""
    sides: ArrayLike | None = None
    """Shape (m, 2): the regions on the left and right of each segment, as rows of `regions` from 1; 0 for none, -1 for
    outside. If given, the points in `regions` and `holes` are ignored."""
    left_out: list[str] = field(default_factory=list)
    """Contents of the file that a graph cannot hold."""

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
    """Shape (n, 2). The graph's points come first, in its order, without those that lie outside."""
    triangles: NDArray[np.int32]
    """Shape (m, 3): vertices, counterclockwise."""
    neighbours: NDArray[np.int32]
    """Shape (m, 3): the triangle opposite each vertex, or -1."""
    regions: NDArray[np.int32]
    """The region of each triangle, as a row of the graph's regions, or -1."""
    edges: NDArray[np.int32]
    """Shape (e, 2): edges on segments."""
    edge_markers: NDArray[np.int32]
    """Shape (e,): the marker of each edge's segment."""
    input_points: NDArray[np.int32]
    """The row in the graph of each of the first points."""
    attributes: NDArray[np.float64]
    """Shape (n, k): the attributes of the graph's points, interpolated linearly between them."""
    n_left: int
    """Number of times a bad triangle was left, since segments may not be split or coordinates are too coarse."""
    is_complete: bool
    """False: refinement stopped at `max_triangles`."""


@dataclass(frozen=True)
class Audit:
    """Result of an audit."""

    passes: bool
    checks: dict[str, tuple[bool, str]]
    """For each check by name: whether it passed, and the measured value or the fault."""
    min_angle: float
    """Degrees."""
    area: float
    max_area: float


@dataclass(frozen=True)
class SnapReport:
    """Changes that `snap` made to a graph."""

    merged_points: int
    max_move: float
    points_on_segments: int
    """Times a segment was cut at a point near it."""
    crossings: int
    """New points where segments cross."""
    repeated_segments: int
    """Pieces of segments that became one with another."""
    vanished_segments: list[int]
    """Rows of segments that no piece is left of."""
    vanished_regions: list[int]
    """Regions without an area, as in `Graph.sides`."""
    overlap_area: float
    """Area that several regions covered."""


def read_poly(path: str | Path) -> Graph:
    """Read a .poly or .node file in the format of Triangle. Local."""
    return _graph(_mpi.load_core()._read_poly(str(path)))


def read_geojson(
    path: str | Path,
    *,
    project: Callable[[float, float], tuple[float, float]] | None,
    snap: float | None = None,
) -> Graph:
    """Read the polygons of a GeoJSON file; each feature is a region. Local.

    `project(longitude, latitude)` returns x and y, as pyproj's `Transformer.transform` does. With None, coordinates
    stay in degrees, and bounds on angles and areas mean nothing on the ground.
    `snap`: points within this distance, in units of the file, merge, and segments that pass points so near or cross
    are cut; where polygons overlap, the first keeps the area. 0: no; None: a unit of the last decimal in the file, at
    least 1e-5.
    """
    return _graph(_mpi.load_core()._read_geojson(str(path), project, snap))


def snap(graph: Graph, tolerance: float) -> tuple[Graph, SnapReport]:
    """Merge near points, cut segments at points near them and at crossings, resolve overlaps. Local.

    Each point moves by at most the `tolerance`; other points stay. What a graph has besides is kept.
    """
    arrays, report = _mpi.load_core()._snap(*graph._arrays(), tolerance)
    return _graph((*arrays[:-1], graph.left_out)), SnapReport(**json.loads(report))


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
    """Make a graph of existing triangles, such as an earlier triangulation, to refine them. Local.

    The boundary, the edges between different `regions`, and `edges` become segments. `regions` has a number for each
    triangle, from 0; -1: none. `region_rows`: shape (r, 4), as `Graph.regions`.
    """
    given = np.asarray(points, dtype=np.float64)[:, :2]
    of_triangles = integers([] if regions is None else regions, "regions", np.int32) + 1
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
    """Build the constrained Delaunay triangulation of a graph or of points, and refine it. Local.

    Points without segments are refined only for `max_area` or `area_at`.
    `min_angle`: degrees; up to 20.7 it is reached wherever segments do not meet at smaller angles.
    `max_area`: of a triangle; 0: no bound. `area_at(x, y)`: the max area near that point; each call costs
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
    """Check a triangulation in exact arithmetic, with code independent of the mesher. Local."""
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
        found["max_area"],
    )
