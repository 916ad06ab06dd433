"""Write VTKHDF files of any shape, as barrio writes them: meshes in pieces, with steps, and AMR."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import h5py
import numpy as np

Map = Callable[[np.ndarray], np.ndarray]
_HEX, _QUAD = 12, 9
N_NODES = {1: 1, 3: 2, 5: 3, 9: 4, 10: 4, 12: 8}


@dataclass
class Mesh:
    """Cells of one type, with arrays on points and cells, and a piece for each cell."""

    points: np.ndarray
    cells: np.ndarray
    kind: int
    of_points: dict[str, np.ndarray] = field(default_factory=dict)
    of_cells: dict[str, np.ndarray] = field(default_factory=dict)
    n_pieces: int = 1

    def centres(self) -> np.ndarray:
        """Return the mean of the points of each cell."""
        return np.asarray(self.points[self.cells].mean(axis=1))

    def kept(self, is_kept: np.ndarray) -> Mesh:
        """Return the mesh of some cells."""
        return Mesh(self.points, self.cells[is_kept], self.kind)

    def pieces(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return the points and cells of each piece, as equal shares of the cells."""
        shares = np.array_split(np.arange(len(self.cells)), self.n_pieces)
        return [(np.unique(self.cells[share]), share) for share in shares]


def hexes(axes: list[np.ndarray], place: Map = lambda p: p) -> Mesh:
    """Make hexes between planes along three axes, with points moved by `place`."""
    ids = np.arange(np.prod([len(axis) for axis in axes])).reshape([len(axis) for axis in axes])
    points = np.stack(np.meshgrid(*axes, indexing="ij"), -1).reshape(-1, 3)
    low, high = slice(None, -1), slice(1, None)
    ring = ((low, low), (high, low), (high, high), (low, high))
    cells = [ids[i, j, k].ravel() for k in (low, high) for i, j in ring]
    return Mesh(place(points), np.stack(cells, -1), _HEX)


def quads(nx: int, ny: int, place: Map = lambda p: p) -> Mesh:
    """Make quads in the unit square at z = 0, with points moved by `place`."""
    ids = np.arange((nx + 1) * (ny + 1)).reshape(nx + 1, ny + 1)
    x, y = np.meshgrid(np.linspace(0, 1, nx + 1), np.linspace(0, 1, ny + 1), indexing="ij")
    points = np.stack([x.ravel(), y.ravel(), 0.0 * x.ravel()], -1)
    cells = [ids[:-1, :-1], ids[1:, :-1], ids[1:, 1:], ids[:-1, 1:]]
    return Mesh(place(points), np.stack([c.ravel() for c in cells], -1), _QUAD)


def elbow() -> Mesh:
    """Make a solid pipe elbow, whose ends lie in two sides of the box around it."""

    def place(p: np.ndarray) -> np.ndarray:
        x, y = (
            0.3 * a * np.sqrt(1 - b * b / 2) for a, b in ((p[:, 0], p[:, 1]), (p[:, 1], p[:, 0]))
        )
        angle = 0.5 * np.pi * p[:, 2]
        return np.stack([(1 + x) * np.cos(angle), (1 + x) * np.sin(angle), y], -1)

    across = np.linspace(-1, 1, 5)
    return hexes([across, across, np.linspace(0, 1, 9)], place)


def tunnel(*, is_fine: bool = True, is_on_wall: bool = False) -> Mesh:
    """Make a box around a small body, with fine cells there or equal ones everywhere."""
    fine = np.array([0, 1, 2, 3, 3.25, 3.5, 3.75, 4, 5, 6, 7.0])
    axis = fine if is_fine else np.linspace(0, 7, 22)
    up = axis - 3.0 if is_on_wall else axis
    mesh = hexes([axis, axis, up[up >= 0.0]])
    middle = np.array([3.5, 3.5, 0.5 if is_on_wall else 3.5])
    return mesh.kept((np.abs(mesh.centres() - middle) > 0.5).any(axis=1))


def write_mesh(path: Path, steps: list[Mesh], times: list[float] | None = None) -> Path:
    """Write a mesh, or one for each time."""
    with h5py.File(path, "w") as file:
        root = file.create_group("VTKHDF")
        root.attrs["Version"] = [2, 0]
        root.attrs.create("Type", np.bytes_("UnstructuredGrid"))
        pieces = [(mesh, ids, share) for mesh in steps for ids, share in mesh.pieces()]
        n_nodes = [N_NODES[mesh.kind] * len(share) for mesh, _, share in pieces]
        root["NumberOfPoints"] = [len(ids) for _, ids, _ in pieces]
        root["NumberOfCells"] = [len(share) for _, _, share in pieces]
        root["NumberOfConnectivityIds"] = n_nodes
        root["Points"] = np.concatenate([mesh.points[ids] for mesh, ids, _ in pieces])
        local = [np.searchsorted(ids, mesh.cells[share]).ravel() for mesh, ids, share in pieces]
        root["Connectivity"] = np.concatenate(local).astype(np.int64)
        offsets = [N_NODES[m.kind] * np.arange(len(share) + 1) for m, _, share in pieces]
        root["Offsets"] = np.concatenate(offsets)
        kinds = [np.full(len(share), mesh.kind, dtype=np.uint8) for mesh, _, share in pieces]
        root["Types"] = np.concatenate(kinds)
        for name in steps[0].of_points:
            values = [mesh.of_points[name][ids] for mesh, ids, _ in pieces]
            root[f"PointData/{name}"] = np.concatenate(values)
        for name in steps[0].of_cells:
            values = [mesh.of_cells[name][share] for mesh, _, share in pieces]
            root[f"CellData/{name}"] = np.concatenate(values)
        if times is not None:
            _write_steps(root, steps, times)
    return path


def _write_steps(root: h5py.Group, steps: list[Mesh], times: list[float]) -> None:
    def starts(counts: list[int]) -> np.ndarray:
        return np.concatenate([[0], np.cumsum(counts)[:-1]]).astype(np.int64)

    group = root.create_group("Steps")
    group.attrs["NSteps"] = len(times)
    group["Values"] = times
    group["NumberOfParts"] = [mesh.n_pieces for mesh in steps]
    group["PartOffsets"] = starts([mesh.n_pieces for mesh in steps])
    of_points = starts([sum(len(ids) for ids, _ in mesh.pieces()) for mesh in steps])
    of_cells = starts([len(mesh.cells) for mesh in steps])
    group["PointOffsets"] = of_points
    group["CellOffsets"] = of_cells[:, None]
    group["ConnectivityIdOffsets"] = starts([mesh.cells.size for mesh in steps])[:, None]
    for name in steps[0].of_points:
        group[f"PointDataOffsets/{name}"] = of_points
    for name in steps[0].of_cells:
        group[f"CellDataOffsets/{name}"] = of_cells


def write_amr(path: Path, n_axes: int, times: list[float] | None = None) -> Path:
    """Write two levels on 16 cells along each axis: boxes of 8, the first of them refined by 2.

    The values on cells are x + time. In two dimensions, boxes are one coarse cell thick.
    """
    n_steps = len(times or [0.0])
    with h5py.File(path, "w") as file:
        root = file.create_group("VTKHDF")
        root.attrs["Version"] = [2, 3]
        root.attrs.create("Type", np.bytes_("OverlappingAMR"))
        root.attrs.create("GridDescription", np.bytes_("XYZ"))
        root.attrs["Origin"] = [0.0, 0.0, 0.0]
        for level in (0, 1):
            thick = 8 if n_axes == 3 else 1 + level
            places = list(np.ndindex(*([2] * n_axes)))
            lows = [[8 * i for i in at] + [0] * (3 - n_axes) for at in places]
            boxes = [[v for i, low in enumerate(at) for v in (low, low + (8 if i < n_axes else thick) - 1)] for at in lows]  # fmt: skip
            size = 1.0 / 16 / (1 + level)
            group = root.create_group(f"Level{level}")
            group.attrs["Spacing"] = [size] * 3
            group["AMRBox"] = np.array(boxes * n_steps, dtype=np.int32)
            values = []
            for time in times or [0.0]:
                for low in lows:
                    x = (low[0] + np.arange(8) + 0.5) * size + time
                    values.append(np.tile(x, 8 * thick))
            group["CellData/density"] = np.concatenate(values)
            if times is not None:
                steps = root.require_group("Steps")
                n_boxes = len(boxes)
                of = steps.create_group(f"Level{level}")
                of["AMRBoxOffsets"] = n_boxes * np.arange(n_steps)
                of["NumberOfAMRBoxes"] = np.full(n_steps, n_boxes)
                of["CellDataOffsets/density"] = n_boxes * 64 * thick * np.arange(n_steps)
        if times is not None:
            root["Steps"].attrs["NSteps"] = n_steps
            root["Steps/Values"] = times
    return path
