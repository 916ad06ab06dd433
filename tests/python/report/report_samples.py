"""Make small results as barrio writes them: documents, and a mesh in parts as VTKHDF."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import numpy as np

HEADER: dict[str, Any] = {
    "schema_version": 1,
    "barrio": "0.1.0",
    "commit": "c0ffee123456",
    "compiler": "GNU 12.2.0",
    "build": "Release",
    "host": "node7",
    "time": "2026-01-02T03:04:05Z",
    "mpi": "Open MPI v4.1.4, package: Debian",
    "ranks": 4,
    "nodes": 1,
    "cores_of_rank_0": 2,
}


def phase(name: str, seconds: list[float], has_ranks: bool = True) -> dict[str, Any]:
    """Make the times of a phase."""
    return {
        "name": name,
        "entries": len(seconds),
        "ranks": len(seconds),
        "min_seconds": min(seconds),
        "mean_seconds": sum(seconds) / len(seconds),
        "max_seconds": max(seconds),
        "seconds_of_rank": seconds if has_ranks else [],
    }


def spread(low: float, mean: float, high: float) -> dict[str, float]:
    """Make min, mean, max and total of a number that differs between ranks."""
    return {"min": low, "mean": mean, "max": high, "total": 4 * mean}


def partition() -> dict[str, Any]:
    """Make a barrio.partition."""
    return {
        **HEADER, "schema": "barrio.partition", "input": "wing.msh", "output": "wing8.h5m",
        "method": "rcb", "parts": 8, "cells": 80326, "vertices": 16270, "cut_sides": 6103,
        "imbalance": 1.0234, "empty_parts": 0, "phases": [phase("partition.cut", [0.08, 0.09])],
    }  # fmt: skip


def bench_all() -> dict[str, Any]:
    """Make a barrio.bench.all."""
    goal = {"unit": "x", "goal": 1.5, "better": "lower"}
    return {
        **HEADER, "schema": "barrio.bench.all", "n_met": 1,
        "runs": [{"benchmark": "mesh", "arguments": [], "ranks": 2, "code": 0, "seconds": 12.5}],
        "not_run": [{"benchmark": "rankmap", "reason": "is not there (make bench)"}],
        "goals": [
            {**goal, "benchmark": "exchange", "id": "ring.late", "value": 2.25, "met": False},
            {"benchmark": "mesh", "id": "tets.load", "value": 7.125, "unit": "M/s", "goal": 5.0,
             "better": "higher", "met": True},
        ],
    }  # fmt: skip


def changes() -> dict[str, Any]:
    """Make the counts of changes of an adaptation."""
    counts = {"splits": (12993, 26100, 14, 21), "collapses": (11223, 20766, 35, 40),
              "swaps": (13939, 13939, 16, 21), "moves": (20285, 100006, 30, 223)}  # fmt: skip
    keys = ("made", "tried", "rounds", "passes")
    return {kind: dict(zip(keys, of, strict=True)) for kind, of in counts.items()}


def adapt(ranks: int = 2, checksum: str = "e87016ed299688d4") -> dict[str, Any]:
    """Make a barrio.adapt."""
    return {
        **HEADER, "schema": "barrio.adapt", "ranks": ranks, "input": "box.h5m", "output": "shock.h5m",
        "size": ["plane,x=0.5,min_size=0.03"], "size_field": "", "error_field": "", "left_out": [],
        "cells_before": 48000, "cells": 59826, "vertices": 11031, "cells_unchanged": 1,
        "checksum": checksum, "quality": {"min": 0.5515, "mean": 0.8596},
        "edges_in_range": 0.9183, "is_complete": True, "seconds": 3.75,
        "seconds_of_balance": 0.03, "changes": changes(),
        "phases": [phase("adapt", [3.75] * ranks), phase("adapt.rounds", [3.5] * ranks)],
    }  # fmt: skip


def amr(ranks: int = 2, checksum: str = "4b1e1a6279144d77") -> dict[str, Any]:
    """Make a barrio.amr."""
    return {
        **HEADER, "schema": "barrio.amr", "ranks": ranks, "title": "A tube", "system": "Euler equations",
        "grid": {"cells": [128, 16], "low": [0, 0], "high": [1, 0.125], "ratio": 2, "block": 8},
        "simulated_time": 0.2, "steps": 220, "levels": [{"blocks": 32, "cells": 2048}, {"blocks": 16, "cells": 1024}],
        "updates": 450560, "seconds": 0.1, "updates_per_second": 4.5e6, "is_met": False,
        "shares": {"kernel": 0.75, "fill": 0.1, "regrid": 0.002},
        "totals": [{"variable": "density", "begin": 0.0703125, "end": 0.0703125},
                   {"variable": "momentum_x", "begin": 0.0, "end": 0.0125}],
        "series": {"time": [0.0, 0.1, 0.2], "mass": [0.5, 0.5, 0.5]},
        "errors": [{"quantity": "density", "error": 0.0041},
                   {"quantity": "together", "error": 0.012, "max_error": 0.011, "is_met": False}],
        "slices": [{"file": "a.png", "quantity": "density", "time": 0.2, "min": 0.125, "max": 1.0,
                    "has_boxes": True},
                   {"file": "gone.png", "quantity": "density", "time": 0.2, "min": 0.125, "max": 1.0,
                    "has_boxes": True}],
        "checksum": checksum, "phases": [phase("amr.steps", [0.1] * ranks)],
    }  # fmt: skip


def bench_adapt() -> dict[str, Any]:
    """Make a barrio.bench.adapt of one case."""
    goal = {"unit": "", "better": "higher"}
    case = {
        "case": "bubble", "cells_before": 37481, "cells": 41225, "complexity": 4122.5,
        "volume": 1.0 - 2.0**-40, "quality": {"min": 0.4357, "mean": 0.8324},
        "lengths": {"in_range": 0.9441, "shortest": 0.436, "longest": 1.5435},
        "imbalance": {"cells": 1.00002, "vertices": 1.00095}, "checksum": "2f5978bd60598bd2",
        "seconds": 1.25, "seconds_of_rounds": 1.01, "seconds_of_balance": 0.05,
        "seconds_of_second_call": 0.24, "peak_bytes_per_cell": 521.3, "passes": 351,
        "messages": {"mean": 562.0, "max": 566.0}, "bytes": {"mean": 2097152.0, "max": 3145728.0},
        "collectives": {"mean": 493.0, "max": 493.0}, "changes": changes(),
    }  # fmt: skip
    return {
        **HEADER, "schema": "barrio.bench.adapt", "ranks": 2, "boxes": 14, "scale": 3.0,
        "cases": [case], "peak_resident_bytes": 28606464,
        "goals": [
            {**goal, "id": "bubble.mean_quality", "value": 0.8324, "goal": 0.8, "met": True},
            {**goal, "id": "bubble.peak_bytes_per_cell", "value": 521.3, "unit": " B", "goal": 250.0,
             "better": "lower", "met": False},
        ],
    }  # fmt: skip


def delaunay() -> dict[str, Any]:
    """Make a barrio.delaunay of a triangulation."""
    counts = [0] * 25 + [3, 12, 40, 95, 150] + [400] * 20 + [200] * 10 + [0]
    return {
        **HEADER, "schema": "barrio.delaunay", "ranks": 1, "input": "in/plate.poly", "output": "plate.h5m",
        "options": {"min_angle": 25.0, "max_area": 0.01, "region_areas": True, "hull": False},
        "points_in_file": 18, "segments_in_file": 19, "points_outside": 0, "vertices": 5413,
        "triangles": 10300, "angles": {"min": 25.203, "triangles_of_degree": counts},
        "areas": {"sum": 7.52, "min": 0.00068234, "max": 0.0099931}, "regions": 2, "left_out": [],
        "points_added": {"inside": 5222, "on_segments": 173},
        "bad_triangles": {"at_segments": 0, "by_rounding": 0}, "is_complete": True,
        "memory_bytes": 484100, "seconds_of_triangulating": 0.0005, "seconds_of_refining": 0.0045,
        "seconds_of_writing": 0.007, "phases": [phase("delaunay.refine", [0.0045])],
    }  # fmt: skip


def audit() -> dict[str, Any]:
    """Make a barrio.delaunay of an audit that finds a fault."""
    made = delaunay()
    return {
        **HEADER, "schema": "barrio.delaunay", "ranks": 1, "input": made["input"],
        "options": made["options"], "mesh": made["output"], "phases": [],
        "audit": {
            "passes": False, "points": 5413, "triangles": 10300, "exact_signs": 3, "min_angle": 25.203,
            "area": 7.52, "max_area": 0.0099931, "yardstick": 4.9,
            "checks": [{"check": "rows", "met": True, "text": "5413 vertices, 10300 triangles"},
                       {"check": "angles", "met": False, "text": "triangle 14 has 24.9 degrees"},
                       {"check": "holes", "met": True, "text": "1 are empty"}],
        },
    }  # fmt: skip


def bench_delaunay() -> dict[str, Any]:
    """Make a barrio.bench.delaunay of two parts, one of them without other meshers."""

    def times(least: float, n: int) -> dict[str, Any]:
        return {"min_seconds": least, "median_seconds": 1.25 * least, "triangles": n,
                "triangles_per_second": n / least}  # fmt: skip

    goal = {"unit": "x", "goal": 1.0, "better": "higher"}
    return {
        **HEADER, "schema": "barrio.bench.delaunay", "ranks": 1,
        "left_out": {"CGAL": "is not there (BARRIO_PEERS_DIR)"},
        "parts": [
            {"part": "pipe", "millions": 0.1, "peak_bytes_per_triangle": 44.0,
             "barrio": times(0.05, 100_000), "triangle": times(0.1, 99_000)},
            {"part": "points", "millions": 4.0, "peak_bytes_per_triangle": 40.0,
             "barrio": times(2.0, 7_999_960)},
        ],
        "goals": [
            {**goal, "id": "pipe.0.1M.speed_of_triangle", "value": 2.02, "met": True},
            {**goal, "id": "pipe.0.1M.peak_bytes_per_triangle", "value": 84.0, "unit": " B",
             "goal": 64.0, "better": "lower", "met": False},
        ],
    }  # fmt: skip


def load() -> dict[str, Any]:
    """Make a barrio.load."""
    return {
        **HEADER, "schema": "barrio.load", "input": "wing8.h5m", "seconds": 0.389, "parts": 8,
        "ghost_layers": 1, "counts": {"vertices": 16270, "volumes": 80326},
        "owned_cells": spread(20081, 20081.5, 20082), "ghost_cells": spread(5609, 6033.25, 6556),
        "shared_vertices": spread(1113, 1236.25, 1350), "neighbours": spread(2, 2.5, 3),
        "exchange_messages": spread(2, 2.5, 3), "exchange_bytes": spread(12096, 13610, 15320),
        "phases": [phase("load", [0.38] * 4), phase("io.read", [0.0781, 0.078, 0.078, 0.08])],
    }  # fmt: skip


def heat(ranks: int = 4, checksum: str = "967acb7d88257f05") -> dict[str, Any]:
    """Make a barrio.heat."""
    return {
        **HEADER, "schema": "barrio.heat", "ranks": ranks, "mesh": "wing8.h5m", "parts": 8,
        "vertices": 16270, "cells": 80326, "end_time": 20.0, "stages": 4252, "exchanges": 4269,
        "mesh_checksum": "5077bfed08ee40e0", "temperature_checksum": checksum,
        "max_error": 3.5385e-9, "tolerance": 1e-6, "seconds": 4.598,
        "phases": [phase("heat.solve", [4.0] * ranks), phase("heat.wait", [1.0] * ranks)],
    }  # fmt: skip


def traffic() -> dict[str, Any]:
    """Make a barrio.traffic of two pairs with much traffic: 0 with 2, 1 with 3."""
    pairs = {(0, 2): 9_000_000, (1, 3): 8_000_000, (0, 1): 500_000}
    entries = [[i, j, n // 8, n, 100] for (i, j), n in pairs.items()]
    entries += [[j, i, n // 8, n, 100] for (i, j), n in pairs.items()]
    return {**HEADER, "schema": "barrio.traffic", "ranks": 4, "entries": entries}


def mapped() -> dict[str, Any]:
    """Make a barrio.map of that traffic on two nodes."""
    return {
        **HEADER, "schema": "barrio.map", "ranks": 4, "cores": 4, "nodes": 2, "machine": "2:2;1:10",
        "weight": "bytes", "method": "pair exchange", "complete": True, "seconds": 2e-5,
        "total_weight": 35_000_000.0, "lower_bound": 35_000_000.0,
        "before": {"cost": 341e6, "inter_node_weight": 34e6, "inter_node_share": 34 / 35,
                   "max_node_out_bytes": 17e6, "node_bytes": [[1e6, 17e6], [17e6, 0.0]]},
        "after": {"cost": 44e6, "inter_node_weight": 1e6, "inter_node_share": 1 / 35,
                  "max_node_out_bytes": 5e5, "node_bytes": [[18e6, 5e5], [5e5, 16e6]]},
        "placement": [0, 2, 1, 3], "given": [0, 1, 2, 3], "node_names": ["left", "right"],
    }  # fmt: skip


def message_times(latency: float, bandwidth: float, n_pairs: int) -> dict[str, Any]:
    """Make the times of messages that follow the model of latency and bandwidth exactly."""
    sizes = [4**power for power in range(12)] if n_pairs else []
    seconds = [latency + (size - 1) / bandwidth for size in sizes]
    known = (
        {"latency": latency, "bandwidth": bandwidth}
        if n_pairs
        else {"latency": 0.0, "bandwidth": 0.0}
    )
    return {"bytes": sizes, "seconds": seconds, "pairs": n_pairs, **known}


def machine() -> dict[str, Any]:
    """Make a barrio.machine of two hosts with two ranks each."""
    return {
        **HEADER, "schema": "barrio.machine", "hosts": [["n01.x", 2], ["n02.x", 2]],
        "inside": message_times(0.5e-6, 8e9, 1), "between": message_times(4e-6, 2e9, 3),
        "distances": [1.0, 4.0], "message_bytes": 8000.0,
    }  # fmt: skip


def hexes() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Make a box of 4 x 3 x 4 hexes with a hole of 2 x 1 x 1 that touches y = 0: points, cells."""
    n = (5, 4, 5)
    ids = np.arange(np.prod(n)).reshape(n)
    points = np.stack(np.meshgrid(*map(np.arange, n), indexing="ij"), -1).reshape(-1, 3) / 2.0
    cells = []
    for i, j, k in np.ndindex(4, 3, 4):
        if i in (1, 2) and j == 0 and k == 1:
            continue
        low, high = ids[i : i + 2, j : j + 2, k], ids[i : i + 2, j : j + 2, k + 1]
        ring = [(0, 0), (1, 0), (1, 1), (0, 1)]
        cells.append([low[at] for at in ring] + [high[at] for at in ring])
    cells_of = np.array(cells)
    return points, cells_of, points[cells_of].mean(axis=1)


def write_vtkhdf(
    path: Path,
    pieces: list[np.ndarray],
    cell_data: dict[str, list[np.ndarray]],
    fields: list[tuple[float, np.ndarray]],
) -> None:
    """Write pieces (cells of the box) with their own points, and a temperature per time step."""
    points, cells, _ = hexes()
    used = [np.unique(cells[piece]) for piece in pieces]
    local = [np.searchsorted(u, cells[piece]) for u, piece in zip(used, pieces, strict=True)]
    with h5py.File(path, "w") as file:
        root = file.create_group("VTKHDF")
        root.attrs["Version"] = [2, 0]
        root.attrs.create("Type", np.bytes_("UnstructuredGrid"))
        root["NumberOfPoints"] = [len(u) for u in used]
        root["NumberOfCells"] = [len(piece) for piece in pieces]
        root["NumberOfConnectivityIds"] = [8 * len(piece) for piece in pieces]
        root["Points"] = np.concatenate([points[u] for u in used])
        root["Connectivity"] = np.concatenate([c.ravel() for c in local])
        root["Offsets"] = np.concatenate([8 * np.arange(len(piece) + 1) for piece in pieces])
        root["Types"] = np.full(sum(map(len, pieces)), 12, dtype=np.uint8)
        for name, values in cell_data.items():
            root[f"CellData/{name}"] = np.concatenate(values)
        if not fields:
            return
        n_points, n = sum(map(len, used)), len(fields)
        each = [np.concatenate([values[u] for u in used]) for _, values in fields]
        root["PointData/temperature"] = np.concatenate(each)
        steps = root.create_group("Steps")
        steps.attrs["NSteps"] = n
        steps["Values"] = [time for time, _ in fields]
        steps["NumberOfParts"] = np.full(n, len(pieces))
        for name in ("PartOffsets", "PointOffsets"):
            steps[name] = np.zeros(n, dtype=np.int64)
        for name in ("CellOffsets", "ConnectivityIdOffsets"):
            steps[name] = np.zeros((n, 1), dtype=np.int64)
        steps["PointDataOffsets/temperature"] = n_points * np.arange(n)
        for name in cell_data:
            steps[f"CellDataOffsets/{name}"] = np.zeros(n, dtype=np.int64)


def write_plane(path: Path, n: int, regions: dict[int, float], is_flat: bool = True) -> int:
    """Write a square of 2 n n triangles with vertical stripes as regions; return their number."""
    ids = np.arange((n + 1) ** 2).reshape(n + 1, n + 1)
    corners = [ids[:-1, :-1], ids[1:, :-1], ids[1:, 1:], ids[:-1, 1:]]
    a, b, c, d = (corner.ravel() for corner in corners)
    triangles = np.concatenate([np.stack([a, b, c], -1), np.stack([a, c, d], -1)])
    lines = np.concatenate([np.stack([s[:-1], s[1:]], -1) for s in (ids[0], ids[-1])])
    numbers, attributes = np.array(list(regions)), np.array(list(regions.values()))
    x, y = np.divmod(ids.ravel(), n + 1)
    stripe = (x[a] * len(regions)) // n
    stripes, rest = np.concatenate([stripe, stripe]), np.zeros(len(lines), int)
    sizes = [3] * len(triangles) + [2] * len(lines)
    with h5py.File(path, "w") as file:
        root = file.create_group("VTKHDF")
        root.attrs["Version"] = [2, 0]
        root.attrs.create("Type", np.bytes_("UnstructuredGrid"))
        root["NumberOfPoints"] = [ids.size]
        root["NumberOfCells"] = [len(sizes)]
        root["NumberOfConnectivityIds"] = [sum(sizes)]
        root["Points"] = np.stack([x, y, 0 * x if is_flat else x * y], -1) / n
        root["Connectivity"] = np.concatenate([triangles.ravel(), lines.ravel()])
        root["Offsets"] = np.concatenate([[0], np.cumsum(sizes)])
        root["Types"] = np.array([5] * len(triangles) + [3] * len(lines), dtype=np.uint8)
        root["CellData/region"] = np.concatenate([numbers[stripes], rest])
        root["CellData/attribute"] = np.concatenate([attributes[stripes], 0.0 * rest])
        root["CellData/marker"] = np.concatenate([0 * stripes, rest + 1])
    return len(triangles)
