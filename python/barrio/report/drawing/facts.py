"""Facts of a VTKHDF file that the page shows: counts, arrays with their ranges, and curves over time."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..colours import round_bands
from .amr import AmrGrid
from .read import GLOBAL_IDS, FileSeries, Frame, VtkhdfFile, magnitude_of, own_cells
from .skin import Skin, dimension_of, dimension_of_type, find_skin

File = VtkhdfFile | FileSeries
MAX_STEPS = 100  # steps read for the curve over time
MAX_FIELDS = 4  # fields that are drawn
_MAX_NUMBERS = 12  # different whole numbers that have a colour each
_BESIDE_MIDDLE = 0.507
_SAME = 1e-6  # range over largest value of an array that is the same everywhere
_LINE, _TRIANGLE = 3, 5  # VTK's cell types
MAX_WITH_EDGES = 40_000  # triangles of a plane that are drawn with edges
# Arrays that are shown otherwise, or are names and not values.
_NO_FIELDS = {"part", "rank", "owner", "is_ghost", "region", "marker", "attribute"} | GLOBAL_IDS
_NAMES = {
    1: "vertices as cells",
    2: "vertices as cells",
    3: "edges",
    4: "poly-lines",
    5: "triangles",
    6: "triangle strips",
    7: "polygons",
    8: "pixels",
    9: "quads",
    10: "tets",
    11: "voxels",
    12: "hexes",
    13: "wedges",
    14: "pyramids",
    15: "pentagonal prisms",
    16: "hexagonal prisms",
    21: "edges of second order",
    22: "triangles of second order",
    23: "quads of second order",
    24: "tets of second order",
    25: "hexes of second order",
    26: "wedges of second order",
    27: "pyramids of second order",
    28: "quads of second order",
    29: "hexes of second order",
    32: "wedges of second order",
    34: "triangles of second order",
    36: "polygons of second order",
    37: "pyramids of second order",
    42: "polyhedra",
}


@dataclass(frozen=True)
class Wanted:
    """Choice of fields and frames."""

    fields: tuple[str, ...] = ()  # names; empty: the first `max_fields`
    max_fields: int = MAX_FIELDS
    max_frames: int = 0  # frames spread over all steps; 0: up to four, where the field changes most
    only_varying: bool = False  # no fields that are the same everywhere, unless they are named
    hidden: frozenset[str] = frozenset()  # arrays that are shown otherwise
    step: int = 0  # the only one to show, from 1; 0: any


class NotThere(Exception):
    """The file has no field of a wanted name, or not that many steps; the message says what it has."""


def find_facts(file: File, wanted: Wanted | None = None) -> dict[str, Any]:
    """Find the kind of the file, and the counts and measures that the page shows. @throws NotThere"""
    wanted = wanted or Wanted()
    if wanted.step > file.n_steps:
        raise NotThere(f"has no step {wanted.step}; it has {file.n_steps}")
    facts: dict[str, Any] = {"n_steps": file.n_steps, "has_times": bool(file.times)}
    if file.times:
        facts["time"] = [file.times[0], file.times[-1]]
    if file.first.is_amr:
        return facts | _amr_facts(file, wanted)
    grid = file.first.grid
    if is_plane(file):
        return facts | _mesh_facts(grid) | _plane_facts(grid)
    if "is_ghost" in grid.cell_data:  # ghosts are there twice: the mesh is that of the own cells
        facts |= _ghost_facts(grid)
        grid = own_cells(grid)
    skin = find_skin(grid) if grid.n_cells else None
    facts |= _mesh_facts(grid) | {
        "has_body": skin is not None and skin.body is not None,
        "has_wall": skin is not None and skin.wall is not None,
        "normal": None if skin is None or skin.normal is None else skin.normal.tolist(),
    }
    if "part" in grid.cell_data:
        facts["cells_of_part"] = _count(grid.cell_data["part"])
    if facts.get("kind") == "ghosts":
        return facts
    if skin is not None and dimension_of(grid) == 3:
        facts["cut"] = _cut_of(np.array(grid.bounds).reshape(3, 2).T, skin)
    fields = _fields_of(grid, file.n_steps > 1, wanted)
    if file.n_steps > 1:
        return facts | {"kind": "series"} | _series_facts(file, fields, wanted)
    _measure(fields, [[_numbers(file.first, field)] for field in fields])
    shown = {"shown_steps": [0], "shown_times": [file.first.time]}
    return facts | {"kind": "mesh", "fields": fields} | shown


def _cut_of(box: np.ndarray, skin: Skin) -> dict[str, float]:
    """Choose a plane through the mesh: across its shortest axis, or through the body in it.

    It is a little beside the middle, where structured meshes have faces.
    """
    axis = min((1, 2, 0), key=lambda a: round(float((box[1] - box[0])[a]), 9))
    low, high = box
    if skin.body is not None:
        axis = 1 if skin.inward is None else int(np.argmax(np.abs(skin.inward)))
        low, high = np.array(skin.body.bounds).reshape(3, 2).T
    return {"axis": axis, "at": float(low[axis] + _BESIDE_MIDDLE * (high - low)[axis])}


def is_plane(file: File) -> bool:
    """Tell whether the file is a triangulation in the plane, with edges on segments."""
    if file.first.is_amr or file.n_steps > 1:
        return False
    grid = file.first.grid
    types = set(np.unique(grid.celltypes).tolist())
    is_flat = grid.bounds[4] == grid.bounds[5]
    names = {"region", "marker"} <= set(grid.cell_data)
    return names and is_flat and _TRIANGLE in types <= {_LINE, _TRIANGLE}


def _count(values: np.ndarray) -> list[int]:
    return np.bincount(np.maximum(np.asarray(values, dtype=np.int64), 0)).tolist()


def _plane_facts(grid: Any) -> dict[str, Any]:
    """Count triangles by region, with the region's attribute from the file."""
    is_triangle = grid.celltypes == _TRIANGLE
    regions = np.asarray(grid.cell_data["region"])[is_triangle]
    numbers, first, counts = np.unique(regions, return_index=True, return_counts=True)
    n = len(numbers)
    attributes: list[float | None] = [None] * n
    if "attribute" in grid.cell_data:
        attributes = _plain(np.asarray(grid.cell_data["attribute"], float)[is_triangle][first])
    return {
        "kind": "plane",
        "n_cells": int(is_triangle.sum()),
        "n_lines": int((~is_triangle).sum()),
        "n_parts": len(np.unique(grid.cell_data["part"])) if "part" in grid.cell_data else 1,
        "has_edges": int(is_triangle.sum()) <= MAX_WITH_EDGES,
        "regions": list(map(list, zip(numbers.tolist(), attributes, counts.tolist(), strict=True))),
    }


def _ghost_facts(grid: Any) -> dict[str, Any]:
    rank, owner = np.asarray(grid.cell_data["rank"]), np.asarray(grid.cell_data["owner"])
    ghost = np.asarray(grid.cell_data["is_ghost"]) != 0
    n_ranks = int(max(rank.max(), owner.max())) + 1
    shown = n_ranks // 2
    if not (rank == shown).any():
        shown = int(rank[0])
    of_owner = np.bincount(np.maximum(owner[ghost & (rank == shown)], 0), minlength=n_ranks)
    return {
        "kind": "ghosts",
        "n_ranks": n_ranks,
        "owned_of_rank": np.bincount(rank[~ghost], minlength=n_ranks).tolist(),
        "ghosts_of_rank": np.bincount(rank[ghost], minlength=n_ranks).tolist(),
        "shown_rank": shown,
        "ghosts_of_owner": of_owner.tolist(),
    }


def _mesh_facts(grid: Any) -> dict[str, Any]:
    kinds, counts = np.unique(grid.celltypes, return_counts=True)
    cells: dict[str, int] = {}
    for kind, n in zip(kinds.tolist(), counts.tolist(), strict=True):
        name = _NAMES.get(kind, f"cells of VTK's type {kind}")
        cells[name] = cells.get(name, 0) + n
    top = dimension_of(grid)
    n_top = sum(
        n
        for kind, n in zip(kinds.tolist(), counts.tolist(), strict=True)
        if dimension_of_type(kind) == top
    )
    return {
        "cells": cells,
        "n_cells": int(n_top),
        "n_vertices": grid.n_points,
        "dimension": top,
        "box": np.array(grid.bounds).reshape(3, 2).T.tolist() if grid.n_cells else None,
        "arrays": _arrays_of(grid),
    }


def _arrays_of(grid: Any) -> list[dict[str, Any]]:
    """List all arrays with their ranges, those of vectors by length."""
    found = []
    for of, data in (("vertices", grid.point_data), ("cells", grid.cell_data)):
        for name in data:
            if name.startswith("barrio_"):
                continue
            values = np.asarray(data[name])
            n = 1 if values.ndim == 1 else int(np.prod(values.shape[1:]))
            sizes = magnitude_of(values)
            known = sizes[np.isfinite(sizes)]
            found.append(
                {
                    "name": name,
                    "of": of,
                    "components": n,
                    "is_whole": values.dtype.kind in "iub",
                    "n_missing": int(len(sizes) - len(known)),
                    "low": float(known.min()) if len(known) else None,
                    "high": float(known.max()) if len(known) else None,
                }
            )
    return found


def _chosen(fields: list[dict[str, Any]], wanted: Wanted) -> list[dict[str, Any]]:
    """Return the wanted fields in that order, or the first ones. @throws NotThere"""
    if not wanted.fields:
        return [field for field in fields if field["name"] not in wanted.hidden][
            : wanted.max_fields
        ]
    chosen = []
    for name in wanted.fields:
        of_name = [field for field in fields if field["name"] == name]
        if not of_name:
            known = ", ".join(dict.fromkeys(str(field["name"]) for field in fields))
            raise NotThere(f"has no field '{name}'; it has {known or 'none'}")
        chosen += of_name
    return chosen


def _fields_of(grid: Any, is_series: bool, wanted: Wanted) -> list[dict[str, Any]]:
    """Choose the arrays to draw: temperature and other scalars first, then vectors and whole numbers.

    Without steps, an array that is the same everywhere comes last.
    """
    found = []
    for of, data in (("vertices", grid.point_data), ("cells", grid.cell_data)):
        for name in data:
            values = np.asarray(data[name])
            n = 1 if values.ndim == 1 else int(np.prod(values.shape[1:]))
            if (
                name in _NO_FIELDS
                or name.startswith("barrio_")
                or n > 9
                or n == 0
                or not len(values)
            ):
                continue
            is_whole = values.dtype.kind in "iub" and n == 1
            if is_whole and name == "material" and (values == values[0]).all():
                continue
            known = magnitude_of(values)
            known = known[np.isfinite(known)]
            is_dull = not is_series and (
                not len(known) or not np.ptp(known) > _SAME * np.abs(known).max()
            )
            if is_dull and wanted.only_varying and name not in wanted.fields:
                continue
            rank = (name != "temperature", is_dull, is_whole, n > 1, of == "cells")
            field = {"name": name, "of": of, "components": n, "is_whole": is_whole}
            found.append((rank, field | {"is_dull": is_dull}))
    return _chosen([field for _, field in sorted(found, key=lambda pair: pair[0])], wanted)


def _numbers(frame: Frame, field: dict[str, Any]) -> np.ndarray:
    """Return the numbers of a field that are drawn; none if this step lacks it."""
    if frame.is_amr:
        return np.asarray(frame.grid.shown(field["name"]))
    data = frame.grid.point_data if field["of"] == "vertices" else frame.grid.cell_data
    return magnitude_of(data[field["name"]]) if field["name"] in data else np.empty(0)


def _measure(fields: list[dict[str, Any]], values: list[list[np.ndarray]]) -> None:
    """Add scale, range and number of missing values, over all given steps."""
    for field, of_steps in zip(fields, values, strict=True):
        known = [numbers[np.isfinite(numbers)] for numbers in of_steps]
        field["n_missing"] = int(sum(map(len, of_steps)) - sum(map(len, known)))
        low = min((float(k.min()) for k in known if len(k)), default=None)
        high = max((float(k.max()) for k in known if len(k)), default=None)
        field["range"] = [low, high]
        if field["is_whole"]:
            every = np.unique(np.concatenate([np.unique(k) for k in known] or [np.empty(0)]))
            if 0 < len(every) <= _MAX_NUMBERS:
                field["numbers"] = [int(number) for number in every]
                continue
        bands = round_bands(low if low is not None else 0.0, high if high is not None else 1.0)
        field["bands"] = [bands.low, bands.high, bands.count]


def _series_facts(file: File, fields: list[dict[str, Any]], wanted: Wanted) -> dict[str, Any]:
    """Measure the fields and the mesh at every step; sample the steps of a long series."""
    last = file.n_steps - 1
    steps = sorted(
        {round(i * last / (MAX_STEPS - 1)) for i in range(MAX_STEPS)}
        | ({wanted.step - 1} if wanted.step else set())
    )
    final = _numbers(file.frame(last), fields[0]) if fields else np.empty(0)
    values: list[list[np.ndarray]] = [[] for _ in fields]
    rows, meshes, cells, boxes, n_parts = [], set(), [], [], 1
    for step in steps:
        frame = file.frame(step)
        meshes.add(frame.mesh)
        cells.append(_n_cells(frame))
        boxes.append(_box_of(frame))
        if not frame.is_amr and len(part := frame.grid.cell_data.get("part", [])):
            n_parts = max(n_parts, int(np.max(part)) + 1)
        numbers = [_numbers(frame, field) for field in fields]
        for kept, of_step in zip(values, numbers, strict=True):
            known = of_step[np.isfinite(of_step)]
            ends = [known.min(), known.max()] if len(known) else []
            is_few = len(known) and len(np.unique(known)) <= _MAX_NUMBERS
            missing = [np.nan] * (len(of_step) - len(known))
            kept.append(np.array([*(np.unique(known) if is_few else ends), *missing]))
        rows.append([frame.time, *_moments(numbers[0] if fields else np.empty(0), final)])
    known_boxes = [box for box in boxes if box is not None]
    ends = (np.min, np.max)
    union = [
        end([box[i] for box in known_boxes], axis=0).tolist()
        for i, end in enumerate(ends)
        if known_boxes
    ]
    _measure(fields, values)
    table = np.array(rows)
    columns = ("times", "mean", "lowest", "highest", "mean_away", "max_away")
    facts: dict[str, Any] = {name: _plain(table[:, i]) for i, name in enumerate(columns)}
    facts |= {
        "fields": fields,
        "is_changing": len(meshes) > 1,
        "cells_of_step": cells,
        "box": union or None,
    }
    facts["n_parts"] = n_parts
    facts["field"] = fields[0]["name"] if fields else ""
    is_one = not facts["is_changing"] and bool(fields)
    chosen = choose_frames(table[:, 4]) if is_one else _spread(len(steps), 4)
    if wanted.max_frames:
        chosen = _spread(len(steps), wanted.max_frames)
    if wanted.step:
        chosen = [steps.index(wanted.step - 1)]
    facts["shown_steps"] = [steps[i] for i in chosen]
    facts["cells_of_shown"] = {str(steps[i]): cells[i] for i in chosen}
    facts["shown_times"] = [float(file.times[step]) for step in facts["shown_steps"]]
    return facts


def _n_cells(frame: Frame) -> int:
    if frame.is_amr:
        return sum(frame.grid.n_cells(level) for level in range(len(frame.grid.levels)))
    kinds, counts = np.unique(frame.grid.celltypes, return_counts=True)
    top = dimension_of(frame.grid)
    pairs = zip(kinds.tolist(), counts.tolist(), strict=True)
    return sum(n for kind, n in pairs if dimension_of_type(kind) == top)


def _box_of(frame: Frame) -> np.ndarray | None:
    if frame.is_amr:
        return np.asarray(frame.grid.bounds)
    return np.array(frame.grid.bounds).reshape(3, 2).T if frame.grid.n_cells else None


def _moments(values: np.ndarray, final: np.ndarray) -> list[float]:
    """Return mean, min, max, and mean and max distance from the last step, of the known values."""
    known = values[np.isfinite(values)]
    if not len(known):
        return [np.nan] * 5
    away = np.abs(values - final)[np.isfinite(values - final)] if len(values) == len(final) else []
    distances = [np.mean(away), np.max(away)] if len(away) else [np.nan, np.nan]
    return [float(x) for x in (known.mean(), known.min(), known.max(), *distances)]


def _spread(n: int, n_chosen: int) -> list[int]:
    """Choose some of n steps, evenly, or the last one."""
    if n_chosen == 1:
        return [n - 1]
    return sorted({round(i * (n - 1) / (n_chosen - 1)) for i in range(n_chosen)})


def _plain(column: np.ndarray) -> list[float | None]:
    """Replace NaN, which JSON does not have, by None."""
    return [float(value) if math.isfinite(value) else None for value in column]


def choose_frames(mean_away: np.ndarray) -> list[int]:
    """Choose four steps: the first, the last, and two between them by the remaining distance."""
    last = len(mean_away) - 1
    wanted = [0]
    for share in (0.65, 0.25):
        near = [abs(float(value) - share * float(mean_away[0])) for value in mean_away]
        inner = range(1, last)
        if len(inner):
            wanted.append(min(inner, key=lambda i: near[i] if math.isfinite(near[i]) else 1e300))
    return sorted({*wanted, last})


def _amr_facts(file: File, wanted: Wanted) -> dict[str, Any]:
    """Count boxes and cells by level in the last step, and measure the fields at every step."""
    grid: AmrGrid = file.first.grid
    first = grid.levels[0][0].values
    fields: list[dict[str, Any]] = [
        {"name": name, "of": "cells", "components": values.shape[-1], "is_whole": False}
        for name, values in first.items()
        if values.dtype.kind in "iufb"
    ]
    every = all_boxes(grid)
    fields = [f for f in fields if all(f["name"] in box.values for box in every)]
    fields = sorted(fields, key=lambda f: (f["name"] != "density", f["components"] > 1))
    fields = _chosen(fields, wanted)
    facts = _series_facts(file, fields, wanted) if file.n_steps > 1 else _one_amr(file, fields)
    last: AmrGrid = file.frame(file.n_steps - 1).grid
    levels = [
        {"blocks": len(boxes), "cells": last.n_cells(level)}
        for level, boxes in enumerate(last.levels)
    ]
    finest = [level for level in last.levels if level][-1]
    low = np.min([box.low for box in finest], axis=0)
    high = np.max([box.high for box in finest], axis=0)
    return facts | {
        "kind": "amr",
        "dimension": grid.dimension,
        "levels": levels,
        "at": (0.5 * (low + high)).tolist(),
        "arrays": [],
    }


def _one_amr(file: File, fields: list[dict[str, Any]]) -> dict[str, Any]:
    _measure(fields, [[_numbers(file.first, field)] for field in fields])
    box = file.first.grid.bounds.tolist()
    return {"fields": fields, "box": box, "shown_steps": [0], "shown_times": [file.first.time]}


def all_boxes(grid: AmrGrid) -> list[Any]:
    """Return the boxes of all levels."""
    return [box for level in grid.levels for box in level]
