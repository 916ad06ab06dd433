"""Cases of structured AMR: from dictionaries and files, with their cells."""

from __future__ import annotations

import copy
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mpi4py import MPI

import barrio
from barrio import amr

CASE: dict[str, Any] = {
    "title": 'a "pulse"',
    "grid": {"cells": [32, 16], "high": [2.0, 1.0], "levels": 3, "block": 8},
    "boundary": {"x": ["wall", "outflow"], "y": "periodic"},
    "let": {"r": "sqrt((x - 0.5)^2 + (y - 0.5)^2)"},
    "initial": {"density": 1, "velocity": ["0", 0.25], "pressure": "1 + 2 * exp(-40 * r^2)"},
    "refine": {"relative_jump": {"pressure": 0.03}},
    "run": {"steps": 3, "cfl": 0.4},
}


def test_cells_cover_the_domain_once(comm: MPI.Comm) -> None:
    case = amr.Case(comm, CASE)
    assert (case.n_steps, case.time, case.n_levels) == (0, 0.0, 3)
    result = case.run()
    assert case.n_steps == result["steps"] == 3
    assert case.time == result["simulated_time"] > 0.0
    cells = case.cells()
    areas = cells.sizes.prod(axis=1)
    assert comm.allreduce(float(areas.sum())) == pytest.approx(2.0, rel=1e-13)
    assert np.array_equal(cells.sizes[:, 0] * 2.0**cells.level, np.full(len(cells), 2.0 / 32))
    # The totals of the document, by another way: values of conserved variables on all cells.
    mass = comm.allreduce(float((cells["density"] * areas).sum()))
    total = next(one for one in result["totals"] if one["variable"] == "density")
    assert mass == pytest.approx(total["end"], rel=1e-12)
    momentum = comm.allreduce(float((cells["density"] * cells["velocity_y"] * areas).sum()))
    total = next(one for one in result["totals"] if one["variable"] == "momentum_y")
    assert momentum == pytest.approx(total["end"], rel=1e-12)
    # All cells of a level lie in its blocks.
    n_blocks = 0
    for level in range(3):
        low, high = case.blocks(level)
        n_blocks = comm.allreduce(len(low))
        assert n_blocks == result["levels"][level]["blocks"]
        centres = cells.centres[cells.level == level]
        inside = (centres[:, None] > low).all(axis=2) & (centres[:, None] < high).all(axis=2)
        assert (inside.sum(axis=1) == 1).all()
    assert n_blocks > 0


def test_the_result_is_that_of_one_rank(comm: MPI.Comm) -> None:
    result = amr.Case(comm, CASE).run()
    assert amr.Case(MPI.COMM_SELF, CASE).run()["checksum"] == result["checksum"]


def test_dictionary_file_and_command_agree(comm: MPI.Comm, folder: Path) -> None:
    path = folder / "pulse.toml"
    if comm.rank == 0:
        path.write_text(amr.to_toml(CASE))
    comm.Barrier()
    by_file = amr.Case(comm, path, settings={"run.steps": 2, "grid.levels": 2})
    changed = copy.deepcopy(CASE)
    changed["run"]["steps"], changed["grid"]["levels"] = 2, 2
    assert by_file.run()["checksum"] == amr.Case(comm, changed).run()["checksum"]
    command = Path(barrio.__file__).parents[2] / "bin" / "barrio"
    if comm.size == 1 and command.is_file():
        line = [str(command), "amr", str(path), "--json"]
        said = subprocess.run(line, check=True, capture_output=True, text=True).stdout
        assert f'"checksum": "{amr.Case(comm, path).run()["checksum"]}"' in said


def test_a_restart_continues_to_the_same_bits(comm: MPI.Comm, folder: Path) -> None:
    saved = CASE | {"checkpoint": {"file": str(folder / "pulse.h5")}}
    amr.Case(comm, saved, settings={"run.steps": 2}).run()
    again = amr.Case(comm, CASE, restart=folder / "pulse.h5")
    assert again.n_steps == 2
    assert again.run()["checksum"] == amr.Case(comm, CASE).run()["checksum"]


def test_numbers_of_numpy_and_other_values() -> None:
    text = amr.to_toml(
        {"a": np.int32(3), "b": np.array([0.5, 1e-300]), "c": True, "d e": {"f": []}}
    )
    assert text == 'a = 3\nb = [0.5, 1e-300]\nc = true\n["d e"]\nf = []\n'
    with pytest.raises(barrio.UsageError, match=r"a\.b: is of type set"):
        amr.to_toml({"a": {"b": {1}}})
    assert amr.to_toml({"slice": [{"file": "a.png"}, {"file": "b.png"}]}).count("[[slice]]") == 2


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"grid": {"cells": [31, 16], "high": [2.0, 1.0]}}, "must be a multiple"),
        ({"grids": {}}, "grids"),
        ({"initial": {"density": "1 +", "pressure": 1}}, "initial"),
        ({"initial": {"density": -1.0, "pressure": 1}}, "density is -1"),
    ],
)
def test_wrong_cases_are_refused_on_all_ranks(
    comm: MPI.Comm, change: dict[str, Any], said: str
) -> None:
    with pytest.raises(barrio.Error, match=said):
        amr.Case(comm, CASE | change)


def test_wrong_words(comm: MPI.Comm, folder: Path) -> None:
    case = amr.Case(comm, CASE)
    with pytest.raises(barrio.UsageError, match="quantity 'dens'"):
        case.cells()["dens"]
    with pytest.raises(barrio.UsageError, match="level 3: does not exist"):
        case.blocks(3)
    with pytest.raises(barrio.FailedError, match=r"absent\.toml"):
        amr.Case(comm, folder / "absent.toml")
    with pytest.raises(barrio.BadInputError, match=r"grid\.lvls"):
        amr.Case(comm, CASE, settings={"grid.lvls": 3})
