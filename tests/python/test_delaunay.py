"""Triangulations from Python, compared with definitions in numpy."""

from __future__ import annotations

import dataclasses

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


def test_the_audit_looks_at_labels_and_hulls() -> None:
    graph = delaunay.Graph(
        [[0, 0], [2, 0], [2, 1], [0, 1], [1, 0.2]],
        [[0, 4], [4, 1], [1, 2], [2, 3], [3, 0]],
        markers=[1, 2, 3, 4, 5],
        regions=[[0.5, 0.5, 7, 0]],
        attributes=[[0.0], [1.0], [2.0], [3.0], [4.0]],
    )
    mesh = delaunay.triangulate(graph, max_area=0.01)
    found = delaunay.audit(mesh, graph, min_angle=20, max_area=0.01)
    assert found.passes, found.checks
    assert found.checksum == mesh.checksum
    for name, field in (
        ("markers", "edge_markers"),
        ("region labels", "regions"),
        ("attributes", "attributes"),
    ):
        values = getattr(mesh, field).copy()
        values[0] += 1
        spoilt = delaunay.audit(dataclasses.replace(mesh, **{field: values}), graph)
        assert [check for check, (met, _) in spoilt.checks.items() if not met] == [name]
    hull = delaunay.triangulate(graph, hull=True, max_area=0.01)
    assert delaunay.audit(hull, graph, min_angle=20, hull=True).passes
    assert not delaunay.audit(hull, graph, min_angle=20).passes
    assert hull.checksum != mesh.checksum


def test_one_checksum_for_any_order() -> None:
    rng = np.random.default_rng(5)
    points = rng.random((300, 2))
    order = rng.permutation(300)
    mesh = delaunay.triangulate(points, max_area=1e-3)
    assert delaunay.triangulate(points[order], max_area=1e-3).checksum == mesh.checksum
    assert delaunay.triangulate(points[order], max_area=9e-4).checksum != mesh.checksum


def test_forecast_and_limits() -> None:
    mesh = delaunay.triangulate(square(), max_area=1e-4)
    assert mesh.n_expected == pytest.approx(15500)
    assert abs(len(mesh.triangles) / 15500 - 1) < 0.1
    assert delaunay.triangulate(square()).n_expected is None
    with pytest.raises(
        barrio.FailedError,
        match=r"would make about 1\.[56]e12 triangles, \S+ TiB, but this machine has",
    ):
        delaunay.triangulate(square(), max_area=1e-12)
    few = delaunay.triangulate(square(), max_area=1e-12, max_triangles=100)
    assert not few.is_complete
    assert few.max_triangles == 100
    assert delaunay.triangulate(square()).max_triangles == 5_004_000
    with pytest.raises(barrio.UsageError, match="max_triangles: is 0"):
        delaunay.triangulate(square(), max_triangles=0)


def strip() -> delaunay.Graph:
    """Two squares side by side, with a hole in the first and a segment outside."""
    points = [[0, 0], [1, 0], [2, 0], [2, 1], [1, 1], [0, 1]]
    hole = [[0.4, 0.4], [0.6, 0.4], [0.6, 0.6], [0.4, 0.6]]
    return delaunay.Graph(
        [*points, *hole, [3, 0], [3, 1]],
        [
            *[[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 0], [1, 4]],
            *[[6, 7], [7, 8], [8, 9], [9, 6]],
            [10, 11],
        ],
        markers=[1, 1, 1, 1, 1, 1, 0, 5, 5, 5, 5, 9],
        holes=[[0.5, 0.5]],
        regions=[[0.1, 0.1, 7, 0], [1.5, 0.5, 8, 0]],
        attributes=np.arange(12.0).reshape(12, 1),
        region_names=["left", "right"],
        marker_names={5: "hole"},
    )


def test_size_fields() -> None:
    graph = strip()
    near = delaunay.size_near(graph, 5, min_size=0.02, growth=0.3)
    assert near(0.5, 0.4) == pytest.approx(0.02)
    assert near(0.5, 0.3) == pytest.approx(0.05)
    mesh = delaunay.triangulate(graph, size=near)
    assert delaunay.audit(mesh, graph, min_angle=20, size=near).checks["sizes"][0]
    at = delaunay.size_near(None, (2.0, 1.0), min_size=0.01, max_size=0.1)
    both = delaunay.triangulate(graph, size=[near, at, 0.5])
    assert len(both.triangles) > len(mesh.triangles)
    assert not delaunay.audit(mesh, graph, size=[near, at]).checks["sizes"][0]

    background = delaunay.size_on_mesh(
        [[0, 0], [2, 0], [2, 1], [0, 1]], [[0, 1, 2], [0, 3, 2]], [0.1, 0.2, 0.1, 0.02]
    )
    assert background(0.0, 1.0) == pytest.approx(0.02)
    assert background(1.0, 0.0) == pytest.approx(0.15)
    areas_of = delaunay.size_of_areas([[0, 0], [2, 0], [2, 1]], [[0, 1, 2]], [0.01])
    fine = delaunay.triangulate(graph, size=delaunay.smallest_size(background, areas_of))
    assert areas(fine).max() < 0.01 * (1 + 1e-9)
    slow = delaunay.size_by_function(lambda x, y: 0.02 + 0.1 * x, growth=0.1)
    assert delaunay.triangulate(graph, size=slow).is_complete

    def step(x: float, y: float) -> float:
        return 0.01 if x < 0.01 else 0.5

    limited = delaunay.limit_growth(step, 0.2, (0, 0, 2, 1))
    assert limited(1.01, 0.5) == pytest.approx(0.21, rel=0.1)
    slower = delaunay.limit_growth(near, 0.1, (0, 0, 2, 1))
    assert slower(0.5, 0.3) == pytest.approx(0.03)
    for fault, part in (
        (lambda: delaunay.size_near(graph, 3, min_size=1), "marker 3: is that of no segment"),
        (lambda: delaunay.size_near(None, 3, min_size=1), "markers: are of no graph"),
        (
            lambda: delaunay.triangulate(graph, size=step),
            "size_by_function, limit_growth or area_at",
        ),
        (lambda: delaunay.triangulate(graph, size=0.0), "size: is 0"),
        (lambda: delaunay.limit_growth(near, 0, (0, 0, 2, 1)), "growth of sizes: is 0"),
    ):
        with pytest.raises(barrio.UsageError, match=part):
            fault()
    with pytest.raises(ValueError, match="no size here"):
        delaunay.triangulate(graph, size=delaunay.size_by_function(fails, growth=1))
    with pytest.raises(TypeError, match=r"size\(\S+ \S+\) returned None, not a number"):
        delaunay.triangulate(graph, size=delaunay.size_by_function(lambda x, y: None, growth=1))


def fails(x: float, y: float) -> float:
    raise ValueError("no size here")


def test_a_function_is_not_missed_and_the_audit_takes_it() -> None:
    def spot(x: float, y: float) -> float:
        return 1e-6 if (x - 0.31) ** 2 + (y - 0.47) ** 2 < 1e-4 else 0.1

    mesh = delaunay.triangulate(square(), area_at=spot)
    assert len(mesh.triangles) > 314
    assert delaunay.audit(mesh, square(), area_at=spot).passes
    coarse = delaunay.triangulate(square(), max_area=0.1)
    assert not delaunay.audit(coarse, square(), area_at=spot).checks["sizes"][0]


def test_files_of_all_formats(tmp_path) -> None:
    graph = strip()
    mesh = delaunay.triangulate(graph, max_area=0.01)
    for suffix in ("h5m", "vtkhdf", "vtu", "msh", "ele"):
        mesh.save(tmp_path / f"strip.{suffix}")
        assert (tmp_path / f"strip.{suffix}").stat().st_size > 1000
    again = delaunay.triangulate(delaunay.read_poly(tmp_path / "strip.poly"), refine=False)
    assert len(again.triangles) == len(mesh.triangles)
    with pytest.raises(barrio.UsageError, match="is not a format of triangulations"):
        mesh.save(tmp_path / "strip.stl")
    with pytest.raises(barrio.FailedError):
        mesh.save(tmp_path / "none" / "strip.vtu")
    with pytest.raises(barrio.FailedError):
        mesh.save(tmp_path / "none" / "strip.h5m")


def test_to_mesh() -> None:
    mesh = delaunay.triangulate(strip(), max_area=0.01)
    whole = mesh.to_mesh()
    assert whole.n_global(barrio.Dim.face) == len(mesh.triangles)
    assert whole.n_global(barrio.Dim.vertex) == len(mesh.points)
    names = {(s.kind, s.id): s.name for s in whole.sets}
    assert names == {
        (barrio.SetKind.material, 1): "left",
        (barrio.SetKind.material, 2): "right",
        (barrio.SetKind.neumann, 1): "",
        (barrio.SetKind.neumann, 5): "hole",
    }
    assert {tag.name for tag in whole.tags} >= {"attribute_1", "attribute"}


def test_what_is_dropped_and_what_does_not_fit() -> None:
    graph = strip()
    mesh = delaunay.triangulate(graph)
    assert mesh.dropped_segments.tolist() == [11]
    for wide in (np.array(graph.segments) + 2**40, np.array(graph.segments) - 2**40):
        with pytest.raises(barrio.BadInputError, match="does not fit in int32"):
            delaunay.triangulate(delaunay.Graph(graph.points, wide))
    with pytest.raises(barrio.BadInputError, match="does not fit in int32"):
        delaunay.triangulate(
            delaunay.Graph(graph.points, graph.segments, sides=np.full((12, 2), 2**40))
        )
    with pytest.raises(barrio.Error, match="number vertices from 0"):
        delaunay.graph_of(graph.points, [[0, 1, 2**40]])
    with pytest.raises(barrio.UsageError, match="region_names: are more than regions"):
        delaunay.triangulate(delaunay.Graph(graph.points, graph.segments, region_names=["a"]))


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
