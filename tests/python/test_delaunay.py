"""Triangulations from Python, compared with definitions in numpy."""

from __future__ import annotations

import numpy as np
import pytest

import barrio
from barrio import delaunay


def square(n: int = 1) -> delaunay.Graph:
    side = np.arange(n) / n
    points = np.concatenate(
        [
            np.column_stack(p)
            for p in (
                (side, 0 * side),
                (0 * side + 1, side),
                (1 - side, 0 * side + 1),
                (0 * side, 1 - side),
            )
        ]
    )
    rows = np.arange(4 * n)
    return delaunay.Graph(points, np.column_stack([rows, (rows + 1) % (4 * n)]), 1 + rows // n)


def areas(mesh: delaunay.Triangulation) -> np.ndarray:
    a, b, c = (mesh.points[mesh.triangles[:, i]] for i in range(3))
    return 0.5 * ((b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0])


def angles(mesh: delaunay.Triangulation) -> np.ndarray:
    corners = mesh.points[mesh.triangles]
    u = np.roll(corners, -1, axis=1) - corners
    v = np.roll(corners, 1, axis=1) - corners
    cosine = (u * v).sum(2) / np.linalg.norm(u, axis=2) / np.linalg.norm(v, axis=2)
    return np.degrees(np.arccos(cosine))


def test_angles_and_areas() -> None:
    mesh = delaunay.triangulate(square(), min_angle=25, max_area=1e-3)
    assert areas(mesh).sum() == pytest.approx(1.0, abs=1e-14)
    assert areas(mesh).max() <= 1e-3
    assert angles(mesh).min() >= 25
    assert mesh.is_complete
    assert mesh.n_left == 0
    assert (mesh.points[:4] == [[0, 0], [1, 0], [1, 1], [0, 1]]).all()
    for i in range(3):  # neighbours share the edge opposite the vertex
        has = mesh.neighbours[:, i] >= 0
        ours = np.sort(np.delete(mesh.triangles, i, axis=1)[has], axis=1)
        others = mesh.triangles[mesh.neighbours[has, i]]
        assert all(set(edge) <= set(other) for edge, other in zip(ours, others, strict=True))
    found = delaunay.audit(mesh, square(), min_angle=25, max_area=1e-3)
    assert found.passes, found.checks
    assert found.area == 1.0
    assert not delaunay.audit(mesh, square(), min_angle=33).passes


def test_points_alone_and_regions() -> None:
    rng = np.random.default_rng(3)
    points = rng.random((500, 2))
    mesh = delaunay.triangulate(points)
    assert len(mesh.points) == 500
    assert delaunay.audit(mesh, points).passes
    graph = delaunay.Graph(
        [[0, 0], [2, 0], [2, 1], [0, 1], [1, 0], [1, 1]],
        [[0, 4], [4, 1], [1, 2], [2, 5], [5, 3], [3, 0], [4, 5]],
        regions=[[0.5, 0.5, 7, 0], [1.5, 0.5, 8, 0.001]],
    )
    mesh = delaunay.triangulate(graph)
    assert set(mesh.regions) == {0, 1}
    assert areas(mesh)[mesh.regions == 1].sum() == pytest.approx(1.0)
    assert areas(mesh)[mesh.regions == 1].max() <= 0.001


def test_sizes_from_a_function() -> None:
    mesh = delaunay.triangulate(square(), area_at=lambda x, y: 1e-4 + 0.01 * x)
    centres = mesh.points[mesh.triangles].mean(axis=1)
    assert (areas(mesh) <= 1e-4 + 0.01 * centres[:, 0]).all()

    def fails(x: float, y: float) -> float:
        raise ValueError("no size here")

    with pytest.raises(ValueError, match="no size here"):
        delaunay.triangulate(square(), area_at=fails)


def test_files_and_faults(tmp_path) -> None:
    path = tmp_path / "box.poly"
    path.write_text(
        "4 2 0 0\n1 0 0\n2 1 0\n3 1 1\n4 0 1\n4 1\n1 1 2 5\n2 2 3 5\n3 3 4 5\n4 4 1 6\n0\n"
    )
    mesh = delaunay.triangulate(delaunay.read_poly(path), refine=False)
    assert len(mesh.triangles) == 2
    assert sorted(mesh.edge_markers) == [5, 5, 5, 6]
    with pytest.raises(barrio.BadInputError, match="cross at"):
        delaunay.triangulate(delaunay.Graph([[0, 0], [1, 0], [1, 1], [0, 1]], [[0, 2], [1, 3]]))
    with pytest.raises(barrio.UsageError, match="shape"):
        delaunay.triangulate([[0, 0, 0]])
    with pytest.raises(barrio.UsageError, match="must be integers"):
        delaunay.triangulate(delaunay.Graph([[0, 0], [1, 0], [1, 1]], [[0.5, 1]]))
    with pytest.raises(barrio.UsageError, match="markers: must be integers, not float64"):
        delaunay.triangulate(delaunay.Graph([[0, 0], [1, 0], [1, 1]], [[0, 1]], markers=[1.5]))
    with pytest.raises(TypeError, match=r"area_at\(\S+ \S+\) returned None, not a number"):
        delaunay.triangulate(delaunay.Graph([[0, 0], [1, 0], [1, 1]]), area_at=lambda x, y: None)
    with pytest.raises(barrio.FailedError):
        delaunay.read_poly(tmp_path / "none.poly")


def test_a_triangulation_is_refined_again() -> None:
    graph = square(4)
    coarse = delaunay.triangulate(graph, max_area=0.02)
    again = delaunay.graph_of(
        coarse.points, coarse.triangles, edges=coarse.edges, edge_markers=coarse.edge_markers
    )
    fine = delaunay.triangulate(again, max_area=0.001)
    assert delaunay.audit(fine, graph, min_angle=20, max_area=0.001).passes
    assert delaunay.audit(fine, again, min_angle=20, max_area=0.001).passes
    assert set(fine.edge_markers) == {1, 2, 3, 4}
    assert (fine.points[: len(coarse.points)] == coarse.points).all()


def test_triangles_from_elsewhere_with_regions_and_attributes() -> None:
    points = np.array([[0, 0], [1, 0], [2, 0], [0, 1], [1, 1], [2, 1]], dtype=float)
    triangles = [[0, 1, 4], [0, 4, 3], [2, 1, 4], [2, 4, 5]]  # one of them clockwise
    graph = delaunay.graph_of(
        points,
        triangles,
        regions=[0, 0, 1, 1],
        attributes=points @ [[1.0], [-2.0]] + 3,
        region_rows=[[0, 0, 5, 0], [0, 0, 6, 0.001]],
    )
    mesh = delaunay.triangulate(graph, max_area=0.02)
    sizes = areas(mesh)
    for region, bound in ((0, 0.02), (1, 0.001)):
        assert sizes[mesh.regions == region].sum() == pytest.approx(1.0, abs=1e-13)
        assert sizes[mesh.regions == region].max() <= bound
    assert np.abs(mesh.attributes - (mesh.points @ [[1.0], [-2.0]] + 3)).max() < 1e-13
    with pytest.raises(barrio.Error, match="two triangles on one side"):
        delaunay.graph_of(points, [*triangles, [0, 1, 5]])


def test_geojson(tmp_path) -> None:
    path = tmp_path / "map.geojson"
    path.write_text(
        '{"type": "Polygon", "coordinates": [[[0,60],[2,60],[2,62],[0,62],[0,60]],'
        "[[0.5,60.5],[0.5,61],[1,61],[1,60.5],[0.5,60.5]]]}"
    )
    graph = delaunay.read_geojson(path, project=lambda x, y: (100 * x, 200 * (y - 60)))
    mesh = delaunay.triangulate(graph, max_area=100)
    assert areas(mesh).sum() == pytest.approx(200 * 400 - 50 * 100, rel=1e-13)
    assert delaunay.audit(mesh, graph, min_angle=20, max_area=100).passes


def test_geojson_is_snapped(tmp_path) -> None:
    path = tmp_path / "map.geojson"
    path.write_text(
        '{"type": "MultiPolygon", "coordinates": [[[[0,0],[2,0],[2,2],[0,2],[0,0]]], '
        "[[[2.00000001,0.5],[3,0],[3,2],[2.00000001,0.5]]], [[[5,5],[5.0000001,5],[5,5.0000001],[5,5]]]]}"
    )
    graph = delaunay.read_geojson(path, project=None)
    assert graph.left_out == ["feature 1, polygon 3, ring 1"]
    mesh = delaunay.triangulate(graph, min_angle=20)
    assert areas(mesh).sum() == pytest.approx(5, rel=1e-7)
    assert len(mesh.triangles) < 30
    assert len(delaunay.read_geojson(path, project=None, snap=0).points) == 10
    with pytest.raises(barrio.Error, match="tolerance: is 9, but all points lie within"):
        delaunay.read_geojson(path, project=None, snap=9)


def test_graphs_are_snapped() -> None:
    plain = square()
    points = [*plain.points, (0.5, 1e-4), (1 + 1e-4, 0)]
    segments = [*plain.segments, (0, 2), (1, 3), (5, 1)]
    graph = delaunay.Graph(points, segments, [*plain.markers, 7, 8, 9], left_out=["names"])
    with pytest.raises(barrio.Error, match="cross at"):
        delaunay.triangulate(graph)
    made, report = delaunay.snap(graph, 1e-3)
    assert (report.merged_points, report.points_on_segments, report.crossings) == (1, 1, 1)
    assert report.max_move == pytest.approx(1e-4)
    assert report.vanished_segments == [6]
    assert made.left_out == ["names"]
    np.testing.assert_array_equal(made.points[:5], points[:5])
    assert sorted(made.markers) == [1, 1, 2, 3, 4, 7, 7, 8, 8]
    assert areas(delaunay.triangulate(made)).sum() == pytest.approx(1, abs=1e-3)
    with pytest.raises(barrio.Error, match="tolerance: is nan"):
        delaunay.snap(graph, float("nan"))
