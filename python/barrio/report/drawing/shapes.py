"""Sizes and quality of the cells of a mesh."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyvista as pv

SIZE, QUALITY = "barrio_size", "barrio_quality"  # arrays of cells
N_BARS = 40  # of a histogram
_MAX_RATIO = 20.0  # of sizes on a linear scale
_MAX_WORST = 5
# Edges of VTK's linear cell types.
_EDGES = {
    3: ((0, 1),),
    5: ((0, 1), (1, 2), (2, 0)),
    8: ((0, 1), (1, 3), (3, 2), (2, 0)),
    9: ((0, 1), (1, 2), (2, 3), (3, 0)),
    10: ((0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (2, 3)),
    11: tuple((a, b) for a in range(8) for b in range(a + 1, 8) if (a ^ b) in (1, 2, 4)),
    12: (
        (0, 1),
        (1, 2),
        (2, 3),
        (3, 0),
        (4, 5),
        (5, 6),
        (6, 7),
        (7, 4),
        (0, 4),
        (1, 5),
        (2, 6),
        (3, 7),
    ),
    13: ((0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3), (0, 3), (1, 4), (2, 5)),
    14: ((0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 4), (2, 4), (3, 4)),
}
_SECOND_ORDER = (21, 22, 23, 24, 25, 26, 27)
_SURFACES_AND_SOLIDS = (5, 9, 10, 12, 13, 14)  # types whose scaled Jacobian VTK measures


def measure_shapes(grid: pv.UnstructuredGrid) -> dict[str, Any]:
    """Add arrays of sizes and of quality, and return their histograms. Cells of second order count by their corners.

    Size is the mean length of a cell's edges, quality the scaled Jacobian: 1 for a cube or a regular tetrahedron,
    0 for a flat cell, negative for an inverted one.
    """
    nodes, offsets = grid.cell_connectivity, grid.cell_offsets
    is_linear = not np.isin(grid.celltypes, _SECOND_ORDER).any()
    linear = grid if is_linear else grid.linear_copy()
    kinds = linear.celltypes
    sizes = np.full(grid.n_cells, np.nan)
    for kind, edges in _EDGES.items():
        cells = np.flatnonzero(kinds == kind)
        if len(cells):
            ends = np.array(edges)
            at = nodes[offsets[:-1][cells][:, None, None] + ends]
            away = grid.points[at[:, :, 0]] - grid.points[at[:, :, 1]]
            sizes[cells] = np.linalg.norm(away, axis=2).mean(axis=1)
    _measure_polygons(grid, sizes)
    quality = np.full(grid.n_cells, np.nan)
    known = np.isin(kinds, _SURFACES_AND_SOLIDS)
    if known.any():
        measured = linear.cell_quality("scaled_jacobian")["scaled_jacobian"]
        quality[known] = np.asarray(measured)[known]
    grid.cell_data[SIZE], grid.cell_data[QUALITY] = sizes, quality
    return {"size": _size_facts(sizes), "quality": _quality_facts(grid, quality)}


def _measure_polygons(grid: pv.UnstructuredGrid, sizes: np.ndarray) -> None:
    polygons = np.flatnonzero(grid.celltypes == pv.CellType.POLYGON)
    if not len(polygons):
        return
    counts = np.diff(grid.cell_offsets)[polygons]
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    place = np.arange(counts.sum()) - np.repeat(starts, counts)
    first = np.repeat(grid.cell_offsets[:-1][polygons], counts)
    nodes = grid.cell_connectivity
    here = grid.points[nodes[first + place]]
    after = grid.points[nodes[first + (place + 1) % np.repeat(counts, counts)]]
    sizes[polygons] = np.add.reduceat(np.linalg.norm(after - here, axis=1), starts) / counts


def _size_facts(sizes: np.ndarray) -> dict[str, Any] | None:
    known = sizes[np.isfinite(sizes)]
    if not len(known):
        return None
    low, high = float(known.min()), float(known.max())
    is_log = low > 0.0 and high > _MAX_RATIO * low
    edges = (
        (np.geomspace if is_log else np.linspace)(low, high, N_BARS + 1)
        if high > low
        else [low, low]
    )
    counts = np.histogram(known, edges)[0] if high > low else [len(known)]
    return {
        "low": low,
        "high": high,
        "median": float(np.median(known)),
        "is_log": bool(is_log),
        "edges": [float(edge) for edge in edges],
        "counts": [int(n) for n in counts],
        "n_missing": len(sizes) - len(known),
    }


def _quality_facts(grid: pv.UnstructuredGrid, quality: np.ndarray) -> dict[str, Any] | None:
    known = quality[np.isfinite(quality)]
    if not len(known):
        return None
    edges = np.linspace(min(0.0, float(np.floor(known.min() * 10.0) / 10.0)), 1.0, N_BARS + 1)
    order = np.argsort(np.where(np.isfinite(quality), quality, np.inf), kind="stable")
    worst = order[: min(_MAX_WORST, len(known))]
    place = np.argsort(np.argsort(worst))  # cells are extracted in ascending order
    centres = grid.extract_cells(worst).cell_centers().points[place]
    return {
        "low": float(known.min()),
        "median": float(np.median(known)),
        "n_inverted": int((known <= 0.0).sum()),
        "edges": edges.tolist(),
        "counts": np.histogram(np.clip(known, edges[0], 1.0), edges)[0].tolist(),
        "n_missing": len(quality) - len(known),
        "worst": [
            {"cell": int(cell), "quality": float(quality[cell]), "at": centre.tolist()}
            for cell, centre in zip(worst, centres, strict=True)
        ],
    }
