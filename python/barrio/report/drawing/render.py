"""Draw the pictures of one VTKHDF file: python -m barrio.report.drawing.render FILE FOLDER.

Runs in a process of its own, because VTK aborts the process if there is no OpenGL. The facts are
written to FOLDER/facts.json before the first picture is drawn, so they survive an abort. Each
picture is saved as soon as it is drawn.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..colours import Bands
    from .facts import File
    from .show import About

WRONG_USE, UNREADABLE = 2, 3  # exit codes
FACTS_FILE = "facts.json"
VIEW_SUFFIX = ".view.json"  # of the projection of a picture
MAX_EXPLODED = 64  # parts in the exploded view
N_CLOSE = 1_500  # triangles in the close-up of the smallest, if there are too many for edges


def main(arguments: list[str]) -> int:
    """Read FILE, write facts and pictures to FOLDER.

    @param arguments  FILE FOLDER [--no-pictures] [--about DOCUMENT]
    """
    path, folder = Path(arguments[0]), Path(arguments[1])
    draws = "--no-pictures" not in arguments[2:]
    os.environ.setdefault("VTK_DEFAULT_OPENGL_WINDOW", "vtkEGLRenderWindow")
    from .facts import NotThere, Wanted, find_facts
    from .read import Unreadable, open_file

    about = None
    if "--about" in arguments[2:]:
        from .show import About

        about = About(json.loads(Path(arguments[-1]).read_bytes()))
    try:
        file = open_file(path, without=("part",) if about and about.hides_parts else ())
        facts = find_facts(file, about.wanted if about else Wanted())
        if about and facts["kind"] in ("mesh", "series") and facts["n_cells"]:
            from .show import add_facts

            add_facts(file.first.grid, facts, about)
    except NotThere as error:
        print(error, file=sys.stderr)
        return WRONG_USE
    except Unreadable as error:
        print(error, file=sys.stderr)
        return UNREADABLE
    except (ValueError, IndexError, TypeError, KeyError, AttributeError, MemoryError) as error:
        print(f"cannot be read, it is probably damaged: {error}", file=sys.stderr)
        return UNREADABLE
    (folder / FACTS_FILE).write_text(json.dumps(facts), encoding="utf-8")
    if draws:
        if about and facts["kind"] in ("mesh", "series") and facts["n_cells"]:
            _draw_shown(file, facts, about, folder)
        else:
            draw(file, facts, folder)
    return 0


def _draw_shown(file: File, facts: dict[str, Any], about: About, folder: Path) -> None:
    """Draw a mesh with its sets and sizes, then its fields."""
    from . import show

    grid = _scaled(file.first.grid.copy(), facts)
    at = _scaled_at(int(facts["cut"]["axis"]), facts) if "cut" in facts else None
    show.draw_shown(grid, facts, about, at, folder)
    (folder / FACTS_FILE).write_text(json.dumps(facts), encoding="utf-8")  # it knows the sides now
    if about.is_picture and facts["fields"]:
        _draw_fields(file, facts, folder)
    elif not about.is_picture or not any(folder.glob("*.png")):
        draw(file, facts, folder)


def draw(file: File, facts: dict[str, Any], folder: Path) -> None:
    """Draw the pictures for this kind of file."""
    if facts["kind"] == "amr":
        _draw_cuts(file, facts, folder)
        return
    if facts["kind"] == "plane":
        _draw_plane(file, facts, folder)
        return
    if facts["kind"] == "ghosts":
        _draw_ghosts(file, facts, folder)
        return
    if facts.get("is_changing"):
        _draw_states(file, facts, folder)
    elif file.first.grid.n_cells:
        _draw_parts(_scaled(file.first.grid, facts), facts, folder)
    _draw_fields(file, facts, folder)


def _scaled(grid: Any, facts: dict[str, Any]) -> Any:
    """Move a grid to the origin, with the size 1: VTK draws in single precision."""
    import numpy as np

    if grid.n_cells:
        low, high = np.array(facts["box"])
        size = float((high - low).max())
        grid.points = (grid.points - 0.5 * (low + high)) / (size if size > 0.0 else 1.0)
    return grid


def _draw_plane(file: File, facts: dict[str, Any], folder: Path) -> None:
    from . import scenes

    grid = file.first.grid
    scenes.draw_plane(grid, facts["has_edges"], folder / "plane.png")
    if facts["n_parts"] > 1:
        scenes.draw_plane(grid, False, folder / "parts.png", "part")
    if not facts["has_edges"]:
        scenes.draw_finest(grid, N_CLOSE, folder / "finest.png")


def _draw_ghosts(file: File, facts: dict[str, Any], folder: Path) -> None:
    from . import scenes
    from .read import own_cells

    grid = _scaled(file.first.grid, facts)
    if "part" in grid.cell_data:
        _draw_parts(own_cells(grid), facts, folder)
    scenes.draw_ghosts(grid, facts["shown_rank"], facts["n_ranks"], folder / "ghosts.png")


def _draw_parts(grid: Any, facts: dict[str, Any], folder: Path) -> None:
    import numpy as np

    from . import scenes
    from .skin import find_skin

    n_parts = len(facts.get("cells_of_part", [0]))
    if "part" not in grid.cell_data:
        grid.cell_data["part"] = np.zeros(grid.n_cells, dtype=np.int32)
    skin = find_skin(grid)
    scenes.draw_parts(skin, n_parts, folder / "parts.png")
    n_filled = len(np.unique(grid.cell_data["part"]))
    if n_filled > 1 and n_parts <= MAX_EXPLODED and facts["dimension"] > 1 and skin.normal is None:
        scenes.draw_exploded(grid, n_parts, folder / "exploded.png")
    elif skin.body is not None:
        scenes.draw_outside(skin, n_parts, folder / "outside.png")
    if "cut" in facts and not (folder / "inside.png").exists():
        axis = int(facts["cut"]["axis"])
        scenes.draw_inside(grid, axis, _scaled_at(axis, facts), folder / "inside.png")


def _draw_states(file: File, facts: dict[str, Any], folder: Path) -> None:
    """Draw a mesh that changes at some steps, coloured by part, from one place."""
    import numpy as np

    from . import scenes
    from .skin import find_skin

    skins = {}
    for step in facts["shown_steps"]:
        grid = _scaled(file.frame(step).grid, facts)
        if not grid.n_cells:
            continue
        if "part" not in grid.cell_data:
            grid.cell_data["part"] = np.zeros(grid.n_cells, dtype=np.int32)
        skins[folder / f"mesh{step}.png"] = find_skin(grid)
    if skins:
        scenes.draw_states(skins, facts["n_parts"])


def _draw_fields(file: File, facts: dict[str, Any], folder: Path) -> None:
    """Draw the first field at the chosen steps, outside and in a cut, and the others at the last one."""
    from .fields import Frame, cut_frame, draw_field
    from .read import magnitude_of
    from .skin import find_skin

    fields, steps = facts["fields"], facts["shown_steps"]
    frames: list[dict[Path, Frame]] = [{} for _ in range(len(fields) + 1)]  # the last: the cut
    skins: dict[int, Any] = {}
    for step in steps if fields else []:
        frame = file.frame(step)
        if not frame.grid.n_cells:
            continue
        grid = _scaled(frame.grid, facts)
        if frame.mesh not in skins:
            skins[frame.mesh] = find_skin(grid)
        for index, field in enumerate(fields):
            of_points = field["of"] == "vertices"
            data = grid.point_data if of_points else grid.cell_data
            is_shown = (index == 0 or step == steps[-1]) and field["range"][0] is not None
            if is_shown and field["name"] in data:
                values = magnitude_of(data[field["name"]])
                shown = Frame(skins[frame.mesh], values, of_points)
                frames[index][folder / f"field{index}-{step}.png"] = shown
                if index == 0 and "cut" in facts and "bands" in field:
                    axis = int(facts["cut"]["axis"])
                    cut = cut_frame(grid, shown, axis, _scaled_at(axis, facts))
                    frames[-1] |= {folder / f"cut-{step}.png": cut} if cut is not None else {}
    for field, of_field in zip([*fields, *fields[:1]], frames, strict=False):
        if of_field:
            draw_field(of_field, _scale_of(field))


def _scaled_at(axis: int, facts: dict[str, Any]) -> float:
    """Return the place of the cut in the grid that `_scaled` has moved."""
    low, high = facts["box"]
    size = max(b - a for a, b in zip(low, high, strict=True)) or 1.0
    return float((facts["cut"]["at"] - 0.5 * (low[axis] + high[axis])) / size)


def _scale_of(field: dict[str, Any]) -> Bands | list[int]:
    from ..colours import Bands

    if "numbers" in field:
        return [int(number) for number in field["numbers"]]
    low, high, count = field["bands"]
    return Bands(low, high, count)


def _draw_cuts(file: File, facts: dict[str, Any], folder: Path) -> None:
    """Draw cuts through boxes of cells: the first field at all chosen steps, the others at the last one.

    In space, the last step is cut across all axes.
    """
    from ..colours import Bands
    from .amr import cut
    from .fields import draw_cut

    steps, last_axis = facts["shown_steps"], 2
    for step in steps:
        grid = file.frame(step).grid
        for index, field in enumerate(facts["fields"]):
            if index > 0 and step != steps[-1]:
                continue
            is_last_in_space = facts["dimension"] == 3 and step == steps[-1] and index == 0
            for axis in (2, 1, 0) if is_last_in_space else (last_axis,):
                bands = Bands(*field["bands"])
                which = "" if axis == last_axis else "xyz"[axis]
                path = folder / f"field{index}-{step}{which}.png"
                draw_cut(cut(grid, field["name"], axis, facts["at"][axis]), bands, path)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
