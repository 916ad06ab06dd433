"""Pictures with axes: where points are, round ticks, and sizes and quality of known cells."""

from __future__ import annotations

import numpy as np
import pytest
import pyvista as pv
from barrio.report.drawing.shapes import QUALITY, SIZE, measure_shapes
from barrio.report.framed import Shot, _labels, _ticks, shot_of


def header_of(width: int, height: int) -> bytes:
    """Return the first bytes of a PNG of this size."""
    return b"\x89PNG\r\n\x1a\n" + bytes(8) + width.to_bytes(4, "big") + height.to_bytes(4, "big")


def test_points_are_at_their_pixels() -> None:
    view = {
        "centre": [0.0, 0.0, 0.0],
        "right": [1.0, 0.0, 0.0],
        "above": [0.0, 1.0, 0.0],
        "pixels_per_unit": 400.0,
        "at": [250.0, 150.0],
        "box": [[-0.5, -0.25, 0.0], [0.5, 0.25, 0.0]],
        "moved_by": None,
    }
    shot = shot_of(header_of(500, 300), view, [[100.0, 10.0, 7.0], [300.0, 110.0, 7.0]])
    assert shot.pixels == (500, 300) and shot.is_straight
    assert shot.pixel_of(np.array([200.0, 60.0, 7.0])) == pytest.approx([250.0, 150.0])
    assert shot.pixel_of(np.array([300.0, 110.0, 7.0])) == pytest.approx([450.0, 50.0])
    assert shot.box == pytest.approx(np.array([[100.0, 10.0, 7.0], [300.0, 110.0, 7.0]]))
    turned = Shot(shot.content, view | {"right": [0.8, 0.6, 0.0]}, shot.middle, shot.size)
    assert not turned.is_straight
    left, top, right, bottom = turned.canvas
    assert left <= 0.0 and top <= 0.0 and right >= 500.0 and bottom >= 300.0


@pytest.mark.parametrize(
    ("low", "high", "n", "said"),
    [
        (0.0, 1.0, 5, ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]),
        (-2.0, 4.0, 3, ["-2", "0", "2", "4"]),
        (2.184, 2.334, 7, ["2.200", "2.225", "2.250", "2.275", "2.300", "2.325"]),
        (5234100.0, 5234900.0, 4, ["5234200", "5234400", "5234600", "5234800"]),
        (1e-7, 4e-7, 3, ["1e-07", "2e-07", "3e-07", "4e-07"]),
        (3.0, 3.0, 4, ["3"]),
    ],
)
def test_ticks_are_round_and_apart(low: float, high: float, n: int, said: list[str]) -> None:
    values = _ticks(low, high, n)
    assert _labels(values) == said
    assert len(set(said)) == len(said)
    assert all(low - 1e-6 <= value <= high + 1e-6 for value in values)


def test_sizes_and_quality_of_known_cells() -> None:
    points = np.array(
        [[x, y, z] for z in (0.0, 2.0) for y in (0.0, 2.0) for x in (0.0, 2.0)]
        + [[4.0, 0.0, 0.0], [4.0, 2.0, 0.0], [6.0, 1.0, 0.0]]
    )
    cells = [
        (pv.CellType.HEXAHEDRON, [0, 1, 3, 2, 4, 5, 7, 6]),
        (pv.CellType.TETRA, [0, 1, 2, 4]),
        (pv.CellType.TETRA, [0, 2, 1, 4]),  # inverted
        (pv.CellType.POLYGON, [1, 8, 10, 9, 3]),
        (pv.CellType.VERTEX, [0]),
    ]
    stream = np.concatenate([[len(nodes), *nodes] for _, nodes in cells])
    grid = pv.UnstructuredGrid(stream, [kind for kind, _ in cells], points)
    facts = measure_shapes(grid)
    sizes, quality = (np.asarray(grid.cell_data[name]) for name in (SIZE, QUALITY))
    assert sizes[0] == pytest.approx(2.0) and quality[0] == pytest.approx(1.0)
    assert sizes[1] == pytest.approx((3 * 2.0 + 3 * 8.0**0.5) / 6)
    assert quality[2] == pytest.approx(-quality[1]) and quality[1] > 0.5
    assert sizes[3] == pytest.approx((2.0 + 5.0**0.5 + 5.0**0.5 + 2.0 + 2.0) / 5)
    assert np.isnan(sizes[4]) and np.isnan(quality[3])
    assert facts["size"]["n_missing"] == 1 and sum(facts["size"]["counts"]) == 4
    assert facts["quality"]["n_inverted"] == 1 and facts["quality"]["n_missing"] == 2
    worst = facts["quality"]["worst"]
    assert [one["cell"] for one in worst] == [2, 1, 0]
    assert worst[0]["quality"] == pytest.approx(float(quality[2]))
    assert worst[2]["at"] == pytest.approx([1.0, 1.0, 1.0])
    assert worst[0]["at"] == pytest.approx([0.5, 0.5, 0.5])


def test_cells_of_second_order_count_by_their_corners() -> None:
    corners = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    pairs = ((0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (2, 3))
    middles = np.array([0.5 * (corners[a] + corners[b]) for a, b in pairs])
    points = np.concatenate([corners, middles])
    grid = pv.UnstructuredGrid([10, *range(10)], [pv.CellType.QUADRATIC_TETRA], points)
    measure_shapes(grid)
    assert grid.cell_data[SIZE][0] == pytest.approx((3 + 3 * 2**0.5) / 6)
    assert grid.cell_data[QUALITY][0] == pytest.approx(0.7071, abs=1e-3)
