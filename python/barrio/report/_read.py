"""Read VTKHDF files with VTK, without OpenGL."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyvista as pv
from vtkmodules.vtkCommonCore import vtkCommand, vtkOutputWindow
from vtkmodules.vtkCommonExecutionModel import vtkStreamingDemandDrivenPipeline
from vtkmodules.vtkIOHDF import vtkHDFReader

GHOST_ARRAY = "vtkGhostType"


class Unreadable(Exception):
    """The file cannot be read as VTKHDF; the message has the reason."""


@dataclass(frozen=True)
class Frame:
    """One time step: all pieces as one grid, with the points that pieces share merged."""

    time: float
    grid: pv.UnstructuredGrid


class VtkhdfFile:
    """A VTKHDF file of unstructured grids, read step by step."""

    def __init__(self, path: Path) -> None:
        self._faults: list[str] = []
        self._reader = vtkHDFReader()
        vtkOutputWindow.GetInstance().SetDisplayModeToNever()
        self._reader.AddObserver(vtkCommand.ErrorEvent, self._note_fault)
        if not self._reader.CanReadFile(str(path)):
            raise Unreadable("is not a VTKHDF file, or is truncated")
        self._reader.SetFileName(str(path))
        self._reader.UpdateInformation()
        info = self._reader.GetOutputInformation(0)
        key = vtkStreamingDemandDrivenPipeline.TIME_STEPS()
        self.times: tuple[float, ...] = tuple(info.Get(key)) if info.Has(key) else ()
        self._merge: np.ndarray | None = None
        self.first = self.frame(0)

    @property
    def n_steps(self) -> int:
        """The number of time steps; 1 for a file without time."""
        return max(1, len(self.times))

    def frame(self, step: int) -> Frame:
        """Read one step. Cells and points keep the order of the file, piece after piece."""
        pieces = self._pieces(step)
        points = np.concatenate([piece.points for piece in pieces])
        if self._merge is None or len(self._merge) != len(points):
            self._keep, self._merge = _merge_points(points)
        grid = _append(pieces, points[self._keep], self._merge)
        for name in pieces[0].point_data:
            values = np.concatenate([piece.point_data[name] for piece in pieces])
            grid.point_data[name] = values[self._keep]
        return Frame(self.times[step] if self.times else 0.0, grid)

    def _pieces(self, step: int) -> list[pv.UnstructuredGrid]:
        if self.times:
            self._reader.SetStep(step)
        self._reader.Modified()
        self._reader.Update()
        if self._faults:
            raise Unreadable(self._faults[0])
        output = pv.wrap(self._reader.GetOutputDataObject(0))
        blocks = list(output) if isinstance(output, pv.PartitionedDataSet) else [output]
        if not all(isinstance(b, pv.UnstructuredGrid) for b in blocks if b is not None):
            raise Unreadable("has no unstructured grid")
        pieces = [block for block in blocks if block is not None and block.n_cells > 0]
        if not pieces:
            raise Unreadable("has no cells")
        return pieces

    def _note_fault(self, *_: Any) -> None:
        self._faults.append("cannot be read by VTK: it is truncated or damaged")


def _merge_points(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Merge points with the same coordinates. @return the points to keep, and the new index of each point"""
    raw = np.ascontiguousarray(points + 0.0)  # -0.0 becomes 0.0
    keys = raw.view(np.dtype((np.void, raw.dtype.itemsize * raw.shape[1]))).ravel()
    _, keep, merge = np.unique(keys, return_index=True, return_inverse=True)
    return keep, merge.ravel()


def _append(
    pieces: list[pv.UnstructuredGrid], points: np.ndarray, merge: np.ndarray
) -> pv.UnstructuredGrid:
    """Join pieces into one grid of merged points, with cell data."""
    cells, types = [], []
    first = 0
    for piece in pieces:
        sizes = np.diff(piece.cell_offsets)
        total = np.empty(len(piece.cell_connectivity) + len(sizes), dtype=np.int64)
        heads = piece.cell_offsets[:-1] + np.arange(len(sizes))
        is_head = np.zeros(len(total), dtype=bool)
        is_head[heads] = True
        total[is_head] = sizes
        total[~is_head] = merge[piece.cell_connectivity + first]
        cells.append(total)
        types.append(piece.celltypes)
        first += piece.n_points
    grid = pv.UnstructuredGrid(np.concatenate(cells), np.concatenate(types), points)
    for name in pieces[0].cell_data:
        if name != GHOST_ARRAY:
            grid.cell_data[name] = np.concatenate([p.cell_data[name] for p in pieces])
    if all(
        GHOST_ARRAY in piece.cell_data for piece in pieces
    ):  # renamed, since VTK hides cells marked with it
        ghost = np.concatenate([piece.cell_data[GHOST_ARRAY] for piece in pieces])
        grid.cell_data["is_ghost"] = (np.asarray(ghost) != 0).astype(np.uint8)
    return grid
