"""Run the benchmark at several rank counts, and map its regions to the paper's steps."""

from __future__ import annotations

import argparse
import json
from typing import Any

from figure_tools import output_of

MESHES = {
    "bricks": ("hexes", "with geometry"),
    "hexes": ("hexes", "without"),
    "brick-tets": ("tets", "with geometry"),
    "tets": ("tets", "without"),
}

# The six steps of Tautges et al. 2012, section II, as regions of barrio: those that read, and those that distribute.
# The partition is among the sets of a file and is read with them; the rest of step 2 assigns parts to elements.
# The coordinates that a rank uses arrive with the sharers of the vertices, so half of step 4 is in "resolve".
STEPS = {
    "header": ["read.header"],
    "partition": ["read.parts"],
    "elements": ["read.cells", "mesh.cells"],
    "vertices": ["read.vertices"],
    "faces and edges": ["read.sides", "mesh.sides"],
    "sets and tags": ["read.sets", "read.tags", "mesh.sets", "mesh.tags"],
    "resolve": ["mesh.share"],
    "ghosts": ["mesh.ghosts"],
}
REST = "the rest"


def run(options: argparse.Namespace) -> dict[str, Any]:
    """Measure all rank counts, for files in the order of their parts and in another order."""
    runs = []
    for ranks in options.ranks:
        for order in (["--no-structured", "--unordered"], []):
            command = [str(options.barrio), "--ranks", str(ranks), "bench", "mesh", "--json"]
            command += ["--meshes", *MESHES, "--millions", str(options.millions)]
            command += ["--parts", str(options.parts), "--repeats", str(options.repeats)]
            command += ["--folder", str(options.out), "--peers", "none", "--no-join", "--load-only"]
            runs.append(json.loads(output_of([*command, *order])))
    return {"schema": "barrio.bench.mesh_figures", "schema_version": 1, "runs": runs}


def steps_of(mesh: dict[str, Any]) -> dict[str, float]:
    """Return the seconds of each step on its slowest rank; so their sum may exceed the total."""
    steps = {
        name: sum(mesh["phases"].get(r, 0.0) for r in regions) for name, regions in STEPS.items()
    }
    return {**steps, REST: max(0.0, mesh["load_seconds"] - sum(steps.values()))}
