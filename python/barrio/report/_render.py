"""Draw the pictures of one VTKHDF file: python -m barrio.report._render FILE FOLDER.

Runs in a process of its own, because VTK aborts the process if there is no OpenGL. The facts are
written to FOLDER/facts.json before the first picture is drawn, so they survive an abort. Each
picture is saved as soon as it is drawn.
"""

from __future__ import annotations

import json
import math
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    from ._read import VtkhdfFile

UNREADABLE = 3  # exit code
_LINE, _TRIANGLE = 3, 5  # VTK's cell types
FACTS_FILE = "facts.json"
MAX_STEPS = 100  # steps read for the curve over time
MAX_EXPLODED = 64  # parts in the exploded view
MAX_WITH_EDGES = 40_000  # triangles of a plane that are drawn with edges
N_CLOSE = 1_500  # triangles in the close-up of the smallest, if there are too many for edges


def main(arguments: list[str]) -> int:
    """Read FILE, write facts and pictures to FOLDER."""
    path, folder = Path(arguments[0]), Path(arguments[1])
    draws = arguments[2:] != ["--no-pictures"]
    os.environ.setdefault("VTK_DEFAULT_OPENGL_WINDOW", "vtkEGLRenderWindow")
    from ._read import Unreadable, VtkhdfFile

    try:
        file = VtkhdfFile(path)
        facts = find_facts(file)
    except Unreadable as error:
        print(error, file=sys.stderr)
        return UNREADABLE
    (folder / FACTS_FILE).write_text(json.dumps(facts), encoding="utf-8")
    if draws:
        draw(file, facts, folder)
    return 0


def find_facts(file: VtkhdfFile) -> dict[str, Any]:
    """Find the kind of the file, and the counts and measures that the page shows."""
    import numpy as np

    from ._scenes import find_skin

    grid = file.first.grid
    cells = set(grid.cell_data)
    facts: dict[str, Any] = {"n_steps": file.n_steps}
    if is_plane(file):
        return facts | _plane_facts(grid)
    facts["has_body"] = find_skin(grid).wall is not None
    if {"owner", "rank", "is_ghost"} <= cells:
        own = np.asarray(grid.cell_data["is_ghost"]) == 0
        if "part" in cells:
            facts["cells_of_part"] = _count(grid.cell_data["part"][own])
        return facts | _ghost_facts(grid)
    facts |= {"kind": "mesh", "n_cells": grid.n_cells, "n_vertices": grid.n_points}
    if "part" in cells:
        facts["cells_of_part"] = _count(grid.cell_data["part"])
    field = _field_name(grid)
    if file.n_steps > 1 and field:
        facts |= {"kind": "series", "field": field} | _series_facts(file, field)
    return facts


def _count(values: np.ndarray) -> list[int]:
    import numpy as np

    return np.bincount(np.maximum(np.asarray(values, dtype=np.int64), 0)).tolist()


def is_plane(file: VtkhdfFile) -> bool:
    """Tell whether the file is a triangulation in the plane, with edges on segments."""
    import numpy as np

    grid = file.first.grid
    types = set(np.unique(grid.celltypes).tolist())
    is_flat = grid.bounds[4] == grid.bounds[5]
    names = {"region", "marker"} <= set(grid.cell_data)
    return names and is_flat and file.n_steps == 1 and _TRIANGLE in types <= {_LINE, _TRIANGLE}


def _plane_facts(grid: Any) -> dict[str, Any]:
    """Count triangles by region, with the region's attribute from the file."""
    import numpy as np

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
        "n_vertices": grid.n_points,
        "has_edges": int(is_triangle.sum()) <= MAX_WITH_EDGES,
        "regions": list(map(list, zip(numbers.tolist(), attributes, counts.tolist(), strict=True))),
    }


def _field_name(grid: Any) -> str:
    names = [name for name in grid.point_data if grid.point_data[name].ndim == 1]
    return "temperature" if "temperature" in names else (names[0] if names else "")


def _ghost_facts(grid: Any) -> dict[str, Any]:
    import numpy as np

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
        "n_cells": int((~ghost).sum()),
        "n_vertices": grid.n_points,
        "owned_of_rank": np.bincount(rank[~ghost], minlength=n_ranks).tolist(),
        "ghosts_of_rank": np.bincount(rank[ghost], minlength=n_ranks).tolist(),
        "shown_rank": shown,
        "ghosts_of_owner": of_owner.tolist(),
    }


def _series_facts(file: VtkhdfFile, field: str) -> dict[str, Any]:
    """Compare the field at every step with the last one; sample the steps of a long series."""
    import numpy as np

    from .colours import round_bands

    last = file.n_steps - 1
    steps = sorted({round(i * last / (MAX_STEPS - 1)) for i in range(MAX_STEPS)})
    final = np.asarray(file.frame(last).grid.point_data[field], dtype=float)
    rows = []
    for step in steps:
        frame = file.frame(step)
        values = np.asarray(frame.grid.point_data[field], dtype=float)
        away = np.abs(values - final) if len(values) == len(final) else np.full(1, np.nan)
        rows.append(
            (frame.time, values.mean(), values.min(), values.max(), away.mean(), away.max())
        )
    table = np.array(rows)
    bands = round_bands(float(table[:, 2].min()), float(table[:, 3].max()))
    columns = ("times", "mean", "lowest", "highest", "mean_away", "max_away")
    facts: dict[str, Any] = {name: _plain(table[:, i]) for i, name in enumerate(columns)}
    facts["bands"] = [bands.low, bands.high, bands.count]
    facts["shown_steps"] = [steps[i] for i in choose_frames(table[:, 4])]
    facts["shown_times"] = [float(file.times[step]) for step in facts["shown_steps"]]
    return facts


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


def draw(file: VtkhdfFile, facts: dict[str, Any], folder: Path) -> None:
    """Draw the pictures for this kind of file."""
    import numpy as np

    from . import _scenes
    from .colours import Bands

    grid = file.first.grid
    if facts["kind"] == "plane":
        _scenes.draw_plane(grid, facts["has_edges"], folder / "plane.png")
        if not facts["has_edges"]:
            _scenes.draw_finest(grid, N_CLOSE, folder / "finest.png")
        return
    if facts["kind"] == "ghosts":
        if "part" in grid.cell_data:
            own = grid.extract_cells(np.asarray(grid.cell_data["is_ghost"]) == 0)
            _draw_parts(own, len(_count(grid.cell_data["part"])), folder)
        _scenes.draw_ghosts(grid, facts["shown_rank"], facts["n_ranks"], folder / "ghosts.png")
        return
    _draw_parts(grid, len(facts.get("cells_of_part", [0])), folder)
    if facts["kind"] == "series":
        skin = _scenes.find_skin(grid)
        low, high, count = facts["bands"]
        for step in facts["shown_steps"]:
            values = np.asarray(file.frame(step).grid.point_data[facts["field"]], dtype=float)
            bands = Bands(low, high, count)
            _scenes.draw_field(skin, values, bands, folder / f"field{step}.png")


def _draw_parts(grid: Any, n_parts: int, folder: Path) -> None:
    import numpy as np

    from . import _scenes

    if "part" not in grid.cell_data:
        grid.cell_data["part"] = np.zeros(grid.n_cells, dtype=np.int32)
    _scenes.draw_parts(_scenes.find_skin(grid), n_parts, folder / "parts.png")
    if 1 < n_parts <= MAX_EXPLODED:
        _scenes.draw_exploded(grid, n_parts, folder / "exploded.png")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
