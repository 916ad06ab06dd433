"""Commands to try next on the file that `barrio show` has drawn."""

from __future__ import annotations

import shlex
from pathlib import PurePath
from typing import Any

from .. import words
from ..markup import tag
from ..pictures import Drawing
from ..story import Section
from .next import find_program


def shown_next_section(drawing: Drawing, about: dict[str, Any]) -> Section | None:
    """Suggest what barrio can do with the file, room by room."""
    barrio = find_program("barrio") or "barrio"
    lines = _lines(drawing, about, barrio)
    listed = [[tag("dt", why), tag("dd", tag("pre", tag("code", line)))] for why, line in lines]
    return Section("next", "What to try next", [tag("dl", listed, class_="try")]) if lines else None


def _lines(drawing: Drawing, about: dict[str, Any], barrio: str) -> list[tuple[str, str]]:
    facts, name = drawing.facts, str(about["input"])
    q, stem = shlex.quote, PurePath(name).stem
    if facts.get("kind") in ("amr", "plane", "ghosts") or not facts.get("n_cells"):
        return [("View it in detail, with ParaView 5.12 or newer", f"paraview {q(name)}")]
    lines = []
    has_tets = "tets" in facts.get("cells", {})
    if has_tets and facts.get("size"):
        # a mesh with cells of very different sizes would get far more of them
        is_even = facts["size"]["high"] < 4.0 * facts["size"]["median"]
        wanted = (0.5 if is_even else 1.0) * facts["size"]["median"]
        size = words.number(wanted).replace("\u202f", "")
        adapted = f"{stem}_fine.h5m"
        lines += [
            (
                "Let the mesh follow a size: edges half as long as now, on four ranks"
                if is_even
                else "Let the mesh follow a size: all edges as long as the median is now, on four ranks",
                f"{barrio} --ranks 4 adapt {q(name)} --size {size} -o {q(adapted)}",
            ),
            ("Look at it", f"{barrio} show {q(adapted)}"),
        ]
    n_parts = max(1, min(8, int(facts["n_cells"])))
    parts = f"{stem}_{words.plural(n_parts, 'part').replace(' ', '')}.h5m"
    lines += [
        (
            f"Cut it into {words.plural(n_parts, 'part')} for a parallel run",
            f"{barrio} --ranks 2 partition {q(name)} -n {n_parts} -o {q(parts)}",
        ),
        (
            "Load these on 4 ranks with ghosts, and check all invariants",
            f"{barrio} --ranks 4 load {q(parts)} --ghosts 1 --validate",
        ),
    ]
    if facts.get("kind") == "mesh" and PurePath(name).suffix != ".vtkhdf":
        picture = f"{stem}.vtkhdf"
        lines.append(
            ("View it from all sides, with ParaView", f"{barrio} convert {q(name)} {q(picture)}")
        )
    fields = facts.get("fields") or []
    if fields:
        field = q(str(fields[0]["name"]))
        lines.append(
            (
                "Draw one field as a picture",
                f"{barrio} show {q(name)} --field {field} -o {stem}.png",
            )
        )
    return lines
