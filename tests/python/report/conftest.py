"""Files for the tests of the report: documents, a time series and a mesh with ghosts."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from report_samples import hexes, write_vtkhdf

if importlib.util.find_spec("barrio") is None:  # not installed: use the source folder
    sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "python"))


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., str]:
    """Return a function that writes a document and returns its path."""

    def write_document(data: Any, name: str = "") -> str:
        path = tmp_path / (name or data["schema"].replace("barrio.", "") + ".json")
        path.write_text(data if isinstance(data, str) else json.dumps(data), encoding="utf-8")
        return str(path)

    return write_document


@pytest.fixture(scope="session")
def vtkhdf(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Write a time series of two parts, and a mesh of two ranks with their ghosts."""
    folder = tmp_path_factory.mktemp("vtkhdf")
    points, cells, centres = hexes()
    side = (centres[:, 0] > 1.0).astype(np.int32)
    halves = [np.flatnonzero(side == i) for i in (0, 1)]
    steady = 300.0 + 10.0 * points[:, 0]
    fields = [(t, steady - 50.0 * np.exp(-3.0 * t) * (points[:, 1] > 0)) for t in (0, 0.1, 0.5, 2)]
    parts = {"part": [side[half] for half in halves]}
    write_vtkhdf(folder / "heat.vtkhdf", halves, parts, fields)

    near = [half[np.abs(centres[half, 0] - 1.0) < 0.5] for half in halves]
    pieces = [np.concatenate([halves[0], near[1]]), np.concatenate([halves[1], near[0]])]
    ghosts = {
        "part": [side[piece] for piece in pieces],
        "owner": [side[piece] for piece in pieces],
        "rank": [np.full(len(piece), rank, np.int32) for rank, piece in enumerate(pieces)],
        "vtkGhostType": [(side[p] != rank).astype(np.uint8) for rank, p in enumerate(pieces)],
    }
    write_vtkhdf(folder / "ghosts.vtkhdf", pieces, ghosts, [])
    return {
        "heat": str(folder / "heat.vtkhdf"),
        "ghosts": str(folder / "ghosts.vtkhdf"),
        "n_cells": str(len(cells)),
        "n_ghosts": str(len(near[0])),
    }
