"""Compressible flow on levels of cells that follow it: runs of the cases of `barrio amr`.

from mpi4py import MPI
from barrio import amr

case = amr.Case(MPI.COMM_WORLD, "sod.toml", settings={"grid.levels": 3})
result = case.run()
cells = case.cells()
print(result["checksum"], cells["density"].max())
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from barrio import _mpi
from barrio.errors import ErrorCode, UsageError

if TYPE_CHECKING:
    from mpi4py import MPI

__all__ = ["Case", "Cells"]


@dataclass(frozen=True)
class Cells:
    """This rank's cells that no finer ones cover.

    `level` has one number for each cell; `centres` and `sizes`, shape (n, axes), are in the units of the case.
    `cells["density"]` returns the values of a quantity.
    """

    names: tuple[str, ...]
    level: NDArray[np.int32]
    centres: NDArray[np.float64]
    sizes: NDArray[np.float64]
    values: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.level)

    def __getitem__(self, name: str) -> NDArray[np.float64]:
        if name not in self.names:
            raise _usage(f"quantity '{name}'", "is not one of a cell", ", ".join(self.names))
        return self.values[:, self.names.index(name)]


class Case:
    """A case with its state on the ranks of a communicator. All methods but `cells` and `blocks` are collective."""

    def __init__(
        self,
        comm: MPI.Comm,
        case: str | Path | Mapping[str, Any],
        *,
        settings: Mapping[str, Any] | None = None,
        restart: str | Path | None = None,
    ) -> None:
        """Read a case, and make its initial state.

        `case` is a TOML file, or its content as nested mappings: {"grid": {"cells": [128, 16]}, ...}. `settings`
        replace values, as {"grid.levels": 3}. `restart` is a checkpoint to continue from. Raises BadInputError for
        an invalid case, on all ranks.
        """
        is_file = isinstance(case, str | Path)
        name = str(case) if is_file else "the case"
        text = "" if isinstance(case, str | Path) else to_toml(case)
        lines = [f"{key}={_value(value, key)}" for key, value in (settings or {}).items()]
        core = _mpi.load_core()
        self._run = core.AmrRun(comm, name, text, lines, "" if restart is None else str(restart))

    def run(self) -> dict[str, Any]:
        """Advance to the end of the case, write its files, and return the result document of the command."""
        self._run.run()
        return self.result()

    def result(self) -> dict[str, Any]:
        """Return the document of the present state: levels, totals, errors, checksum."""
        result: dict[str, Any] = json.loads(self._run.result())
        return result

    @property
    def time(self) -> float:
        """Simulated time."""
        return float(self._run.time)

    @property
    def n_steps(self) -> int:
        """Steps of the coarsest level."""
        return int(self._run.n_steps)

    @property
    def n_levels(self) -> int:
        """Levels that the case allows."""
        return int(self._run.n_levels)

    def cells(self) -> Cells:
        """Copy this rank's cells that no finer ones cover."""
        names, *arrays = self._run.cells()
        return Cells(tuple(names), *arrays)

    def blocks(self, level: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return low and high corners of this rank's blocks of a level, shape (n, axes)."""
        low, high = self._run.blocks(level)
        return low, high

    def __repr__(self) -> str:
        if not hasattr(self, "_run"):
            return "<barrio.amr.Case that was refused>"
        return f"<barrio.amr.Case at time {self.time:g} after {self.n_steps} steps>"


def to_toml(case: Mapping[str, Any]) -> str:
    """Write nested mappings as TOML."""
    return "\n".join(_table(case, ())) + "\n"


def _table(table: Mapping[str, Any], path: tuple[str, ...]) -> list[str]:
    lines, inner = [], []
    for key, value in table.items():
        here = (*path, _key(key))
        if isinstance(value, Mapping):
            inner += [f"[{'.'.join(here)}]", *_table(value, here)]
        elif (
            isinstance(value, list | tuple) and value and all(isinstance(v, Mapping) for v in value)
        ):
            for one in value:
                inner += [f"[[{'.'.join(here)}]]", *_table(one, here)]
        else:
            lines.append(f"{_key(key)} = {_value(value, '.'.join(here))}")
    return lines + inner


def _key(key: Any) -> str:
    if not isinstance(key, str):
        raise _usage(f"key {key!r}", "is not a text", "name keys as in case files")
    is_bare = key.replace("_", "").replace("-", "").isalnum() and key.isascii()
    return key if is_bare else json.dumps(key)


def _value(value: Any, key: str) -> str:
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, int | np.integer):
        return str(int(value))
    if isinstance(value, float | np.floating):
        return repr(float(value))
    if isinstance(value, str | Path):
        return json.dumps(str(value))
    if isinstance(value, Mapping):
        inner = (f"{_key(name)} = {_value(one, f'{key}.{name}')}" for name, one in value.items())
        return "{ " + ", ".join(inner) + " }"
    if isinstance(value, list | tuple | np.ndarray):
        return "[" + ", ".join(_value(one, key) for one in value) + "]"
    raise _usage(
        key, f"is of type {type(value).__name__}", "give a number, a text, a list or a mapping"
    )


def _usage(subject: str, cause: str, remedy: str) -> UsageError:
    return UsageError(ErrorCode.usage, subject, cause, remedy)
