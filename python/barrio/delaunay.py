"""Triangulate points and segments in the plane with a min angle, and audit triangulations.

    from barrio import delaunay

    graph = delaunay.read_poly("plate.poly")
    mesh = delaunay.triangulate(graph, min_angle=25, max_area=0.01)
    plt.triplot(*mesh.points.T, mesh.triangles)
    assert delaunay.audit(mesh, graph, min_angle=25).passes
    mesh.save("plate.vtu")

Runs in one process. Only files of the formats .h5m and .vtkhdf and `Triangulation.to_mesh` need mpi4py.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from barrio import _mpi
from barrio._arrays import integers
from barrio.errors import ErrorCode, UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from mpi4py import MPI

    from barrio._core import Mesh, SizeField

__all__ = [
    "Audit",
    "Graph",
    "SnapReport",
    "Triangulation",
    "audit",
    "graph_of",
    "limit_growth",
    "read_areas",
    "read_geojson",
    "read_poly",
    "size_by_function",
    "size_near",
    "size_of_areas",
    "size_on_mesh",
    "smallest_size",
    "snap",
    "triangulate",
    "uniform_size",
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
    region_names: list[str] = field(default_factory=list)
    """Names of the regions, such as those of features of GeoJSON; empty, or one for each."""
    marker_names: dict[int, str] = field(default_factory=dict)
    """Names of markers of segments."""

    def _arrays(self) -> tuple[Any, ...]:
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
            [str(name) for name in self.region_names],
            [(int(marker), str(name)) for marker, name in self.marker_names.items()],
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
    max_triangles: int
    """The limit at the end: given, or chosen."""
    n_expected: float | None
    """Number of triangles that areas and bounds let expect before refinement; None where angles alone decide."""
    checksum: int
    """Hash of triangles, attributes of regions, edges on segments and their markers, in any order of rows."""
    dropped_segments: NDArray[np.int32]
    """Rows of the graph's segments that lie outside or in holes, in whole or in part, and have no edges there."""
    _core: Any = field(default=None, repr=False, compare=False)

    def save(self, path: str | Path) -> None:
        """Write a file in the format of its suffix: .h5m, .vtkhdf, .vtu, .msh, or .ele with .node and .poly. Local.

        .h5m and .vtkhdf need mpi4py.
        """
        name = str(path)
        if not name.endswith((".h5m", ".vtkhdf")):
            _mpi.load_core()._save(self._held(), name, None)
            return
        from mpi4py import MPI

        _mpi.load_core()._save(self._held(), name, MPI.COMM_SELF)

    def to_mesh(self, comm: MPI.Comm | None = None) -> Mesh:
        """Make a distributed mesh of triangles and edges on segments. Collective over comm (default: COMM_SELF).

        The triangulation of rank 0 counts. Regions become sets of the kind material, markers above or below 0 sets of
        the kind neumann; attributes of points and of regions become tags.
        """
        from mpi4py import MPI

        import barrio

        comm = MPI.COMM_SELF if comm is None else comm
        regions, names, attributes = comm.bcast(_mpi.load_core()._describe(self._held()))
        markers = comm.bcast([int(m) for m in np.unique(self.edge_markers) if m != 0])
        here = slice(None) if comm.rank == 0 else slice(0)
        of_triangles, of_edges = self.regions[here], self.edge_markers[here]
        sets = [
            (barrio.SetKind.material, number, name, {"triangle": of_triangles == row})
            for row, (number, _, name) in enumerate(regions)
        ]
        named = dict(names)
        sets += [
            (barrio.SetKind.neumann, m, named.get(m, ""), {"edge": of_edges == m}) for m in markers
        ]
        tags, first = {}, 0
        for name, width in attributes:
            tags[name] = {"vertex": self.attributes[here, first : first + width]}
            first += width
        if regions:
            values = np.array([0.0] + [value for _, value, _ in regions])
            tags["attribute"] = {"triangle": values[of_triangles + 1]}
        return barrio.Mesh(
            comm,
            self.points[here],
            {"triangle": self.triangles[here], "edge": self.edges[here]},
            sets=sets,
            tags=tags,
        )

    def _held(self) -> Any:
        if self._core is None:
            cause = "was not made by triangulate, so that it is only arrays"
            raise UsageError(ErrorCode.usage, "triangulation", cause, "triangulate its graph_of")
        return self._core


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
    checksum: int
    """As Triangulation.checksum."""


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
    holes: Iterable[str | int] = (),
) -> Graph:
    """Read the polygons of a GeoJSON file; each feature is a region. Local.

    `project(longitude, latitude)` returns x and y, as pyproj's `Transformer.transform` does. With None, coordinates
    stay in degrees, and bounds on angles and areas mean nothing on the ground.
    `snap`: points within this distance, in units of the file, merge, and segments that pass points so near or cross
    are cut; where polygons overlap, the first keeps the area. 0: no; None: a unit of the last decimal in the file, at
    least 1e-5.
    `holes`: features whose areas stay empty, such as land in the sea: their property `name`, or their number from 1.
    """
    return _graph(
        _mpi.load_core()._read_geojson(str(path), project, snap, [str(hole) for hole in holes])
    )


def snap(graph: Graph, tolerance: float) -> tuple[Graph, SnapReport]:
    """Merge near points, cut segments at points near them and at crossings, resolve overlaps. Local.

    Each point moves by at most the `tolerance`; other points stay. What a graph has besides is kept.
    """
    arrays, report = _mpi.load_core()._snap(graph._arrays(), tolerance)
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
    points, point_markers, attributes, segments, markers, sides, holes, regions = arrays[:8]
    region_names, marker_names, left_out = arrays[8:]
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
        list(region_names) if any(region_names) else [],
        dict(marker_names),
    )


def triangulate(
    graph: Graph | ArrayLike,
    *,
    refine: bool = True,
    min_angle: float = 20.0,
    max_area: float = 0.0,
    area_at: Callable[[float, float], float] | None = None,
    size: float | SizeField | Iterable[float | SizeField] | None = None,
    resolution: float = 0.0,
    hull: bool = False,
    split_boundary: bool = True,
    split_segments: bool = True,
    kept_markers: Iterable[int] = (),
    move_points: bool = False,
    max_triangles: int | None = None,
) -> Triangulation:
    """Build the constrained Delaunay triangulation of a graph or of points, and refine it. Local.

    Points without segments are refined only for `max_area`, `area_at` or `size`.
    `min_angle`: degrees; up to 20.7 it is reached wherever segments do not meet at smaller angles.
    `max_area`: of a triangle; 0: no bound. `area_at(x, y)`: the max area near that point; each call costs
    about a microsecond of Python. It is sampled at the distance `resolution` (0: that of 2^18 samples): narrower
    places may be missed. `size`: wanted edge lengths, as numbers or size fields, which miss nothing; of several the
    smallest counts. `refine=False`: add no points. `kept_markers`: add none on segments with one of these.
    `move_points`: move points that were added before others are added; fewer triangles in up to twice the time.
    `max_triangles`: refinement stops before there are more. With None, it stops where the min angle alone needs more
    than five million triangles and a thousand for each point, and an area bound that memory cannot hold is refused
    before refinement begins.
    """
    whole = graph if isinstance(graph, Graph) else Graph(graph)
    refines = refine and whole.segments is not None and np.size(whole.segments) > 0
    if max_triangles is not None and max_triangles < 1:
        cause = f"is {max_triangles}"
        raise UsageError(ErrorCode.usage, "max_triangles", cause, "give at least 1, or None")
    of_size = _size(size)
    has_bound = max_area > 0 or area_at is not None or of_size is not None
    (
        arrays,
        n_at_segments,
        n_by_rounding,
        is_complete,
        limit,
        n_expected,
        checksum,
        dropped,
        core,
    ) = _mpi.load_core()._triangulate(
        whole._arrays(),
        refines or (refine and has_bound),
        min_angle,
        max_area,
        area_at,
        of_size,
        resolution,
        hull,
        split_boundary,
        split_segments,
        move_points,
        max_triangles or 0,
        list(kept_markers),
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
        limit,
        n_expected or None,
        checksum,
        dropped,
        core,
    )


def audit(
    mesh: Triangulation,
    graph: Graph | ArrayLike,
    *,
    min_angle: float = 0.0,
    max_area: float = 0.0,
    area_at: Callable[[float, float], float] | None = None,
    size: float | SizeField | Iterable[float | SizeField] | None = None,
    resolution: float = 0.0,
    hull: bool = False,
) -> Audit:
    """Check a triangulation in exact arithmetic, with code independent of the mesher. Local.

    Markers of edges, regions and attributes must be those of the graph too. `hull`: whether the triangles fill the
    convex hull; without segments they always do.
    `area_at` and `size` are sampled all over each triangle, at the distance `resolution` and at least four times.
    """
    whole = graph if isinstance(graph, Graph) else Graph(graph)
    found = json.loads(
        _mpi.load_core()._audit(
            whole._arrays(),
            np.ascontiguousarray(mesh.points),
            np.ascontiguousarray(mesh.triangles, dtype=np.int64),
            np.ascontiguousarray(mesh.edges, dtype=np.int64),
            np.ascontiguousarray(mesh.edge_markers, dtype=np.int32),
            np.ascontiguousarray(mesh.regions, dtype=np.int32),
            np.ascontiguousarray(mesh.attributes, dtype=np.float64),
            min_angle,
            max_area,
            area_at,
            _size(size),
            resolution,
            hull,
        )
    )
    return Audit(
        found["passes"],
        {check["check"]: (check["met"], check["text"]) for check in found["checks"]},
        found["min_angle"],
        found["area"],
        found["max_area"],
        int(found["checksum"], 16),
    )


def uniform_size(size: float) -> SizeField:
    """Make a field with one edge length everywhere. Local."""
    return _mpi.load_core()._uniform_size(float(size))


def size_near(
    graph: Graph | None,
    where: int | tuple[float, float],
    *,
    min_size: float,
    max_size: float = np.inf,
    width: float = 0.0,
    growth: float = 0.2,
) -> SizeField:
    """Make a field by the distance from segments and points of a graph with the marker `where`. Local.

    `where` may also be a position; the graph is then ignored. The length is `min_size` up to the distance `width`, and
    grows by `growth` per unit of length to `max_size`.
    """
    numbers = (float(min_size), float(max_size), float(width), float(growth))
    if isinstance(where, tuple):
        return _mpi.load_core()._size_near_place(float(where[0]), float(where[1]), *numbers)
    if graph is None:
        cause = "are of no graph"
        raise UsageError(ErrorCode.usage, "markers", cause, "give the graph, or a position (x, y)")
    return _mpi.load_core()._size_near_marker(graph._arrays(), int(where), *numbers)


def size_on_mesh(points: ArrayLike, triangles: ArrayLike, sizes: ArrayLike) -> SizeField:
    """Make a field that is linear in each triangle of a background mesh, by the sizes at its points. Local.

    Outside of the mesh the value at its nearest point counts.
    """
    return _mpi.load_core()._size_on_mesh(*_background(points, triangles, sizes))


def size_of_areas(points: ArrayLike, triangles: ArrayLike, areas: ArrayLike) -> SizeField:
    """Make a field of max areas, one for each triangle of a background mesh; 0 or below: no bound. Local."""
    return _mpi.load_core()._size_of_areas(*_background(points, triangles, areas))


def size_by_function(size: Callable[[float, float], float], growth: float) -> SizeField:
    """Make a field of a function whose values differ by at most `growth` times the distance. Local."""
    return _mpi.load_core()._size_by_function(size, float(growth))


def smallest_size(*fields: float | SizeField) -> SizeField:
    """Make the field that wants the smallest of several sizes everywhere. Local."""
    core = _mpi.load_core()
    return core._smallest_size(
        [f if isinstance(f, core.SizeField) else uniform_size(f) for f in fields]
    )


def limit_growth(
    size: SizeField | Callable[[float, float], float],
    growth: float,
    box: tuple[float, float, float, float],
) -> SizeField:
    """Make the largest field that is nowhere above `size`, and grows by at most `growth` per unit of length. Local.

    `size` may be any function of x and y. `box`: x and y of the lower left and of the upper right corner of the domain.
    """
    return _mpi.load_core()._limit_growth(size, float(growth), [float(x) for x in box])


def read_areas(path: str | Path, n_triangles: int) -> list[float]:
    """Read a .area file of Triangle's: a max area for each triangle of an .ele file; 0 or below: no bound. Local."""
    return _mpi.load_core()._read_areas(str(path), n_triangles)


def _background(points: ArrayLike, triangles: ArrayLike, values: ArrayLike) -> tuple[NDArray, ...]:
    return (
        _rows(points, 2, "points", np.float64),
        _rows(triangles, 3, "triangles", np.int64),
        np.ascontiguousarray(values, dtype=np.float64),
    )


def _size(size: float | SizeField | Iterable[float | SizeField] | None) -> SizeField | None:
    """Make one field of all that a caller may give."""
    if size is None:
        return None
    if isinstance(size, _mpi.load_core().SizeField):
        return size
    if isinstance(size, Iterable):
        return smallest_size(*size)
    if callable(size):
        cause = "is a function, of which it is not known how fast it grows"
        raise UsageError(
            ErrorCode.usage, "size", cause, "use size_by_function, limit_growth or area_at"
        )
    return uniform_size(size)
