"""Levels of boxes of an overlapping AMR grid, and plane cuts through them as images."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from vtkmodules.util.numpy_support import vtk_to_numpy

_GHOST_ARRAY = "vtkGhostType"
_REFINED = 8  # VTK's mark of a cell that finer ones cover
_MIN_WIDTH, _MAX_WIDTH = 720, 1440  # pixels of the longer side of a cut


@dataclass(frozen=True)
class Box:
    """A box of cells: its low corner, cell sizes, counts of cells, and values by name."""

    low: np.ndarray
    spacing: np.ndarray
    n_cells: tuple[int, int, int]
    values: dict[str, np.ndarray]  # shape (z, y, x, components)
    is_covered: np.ndarray | None  # by finer cells, shape (z, y, x)

    @property
    def high(self) -> np.ndarray:
        """Return the high corner."""
        return np.asarray(self.low + self.spacing * np.array(self.n_cells))


@dataclass(frozen=True)
class AmrGrid:
    """Boxes by level, coarse to fine."""

    levels: list[list[Box]] = field(default_factory=list)

    @property
    def bounds(self) -> np.ndarray:
        """Return low and high corner of all boxes."""
        boxes = [box for level in self.levels for box in level]
        low, high = (np.array([getattr(b, k) for b in boxes]) for k in ("low", "high"))
        return np.array([low.min(axis=0), high.max(axis=0)])

    @property
    def dimension(self) -> int:
        """Return 2 if the coarsest boxes are one cell thick along z, else 3."""
        return 2 if all(box.n_cells[2] == 1 for box in self.levels[0]) else 3

    def n_cells(self, level: int) -> int:
        """Count the cells of a level; in two dimensions along x and y, since boxes have some thickness."""
        n_axes = self.dimension
        return sum(int(np.prod(box.n_cells[:n_axes])) for box in self.levels[level])

    def shown(self, name: str) -> np.ndarray:
        """Return the values on cells that no finer ones cover, the length of each vector."""
        found = [np.empty(0)]
        for box in (box for level in self.levels for box in level):
            values = magnitude(box.values[name])
            found.append(values.ravel() if box.is_covered is None else values[~box.is_covered])
        return np.concatenate(found)


def magnitude(values: np.ndarray) -> np.ndarray:
    """Return the values of a scalar, or the lengths of vectors along the last axis."""
    scalar = values[..., 0] if values.shape[-1] == 1 else np.linalg.norm(values, axis=-1)
    return np.asarray(scalar, dtype=float)


def amr_of(output: Any) -> AmrGrid | None:
    """Copy the boxes of VTK's overlapping AMR; None if it has none on the coarsest level."""
    levels = []
    for level in range(output.GetNumberOfLevels()):
        blocks = [
            output.GetDataSetAsImageData(level, i) for i in range(output.GetNumberOfBlocks(level))
        ]
        levels.append([_box_of(block) for block in blocks if block is not None])
    return AmrGrid(levels) if levels and levels[0] else None


def _box_of(block: Any) -> Box:
    extent, spacing = np.array(block.GetExtent()), np.array(block.GetSpacing())
    n = tuple(int(i) for i in np.maximum(extent[1::2] - extent[::2], 1))
    low = np.array(block.GetOrigin()) + spacing * extent[::2]
    data, values = block.GetCellData(), {}
    for index in range(data.GetNumberOfArrays()):
        array = data.GetArray(index)
        if array is not None and array.GetNumberOfTuples() == np.prod(n):
            values[array.GetName()] = vtk_to_numpy(array).reshape(*n[::-1], -1)
    ghost = values.pop(_GHOST_ARRAY, None)
    covered = None if ghost is None else (ghost[..., 0].astype(int) & _REFINED) != 0
    return Box(low, spacing, (n[0], n[1], n[2]), values, covered)


@dataclass(frozen=True)
class Cut:
    """A plane cut: values and levels by pixel, and the outlines of boxes as rows of pixels."""

    values: np.ndarray  # NaN where there is no cell
    outlines: list[
        tuple[int, int, int, int, int]
    ]  # level, first and last row, first and last column
    axes: tuple[int, int]  # to the right and up
    bounds: np.ndarray  # low and high corner of the grid

    @property
    def pixels(self) -> tuple[int, int]:
        """Return rows and columns."""
        return self.values.shape[0], self.values.shape[1]


def cut(grid: AmrGrid, name: str, axis: int, at: float) -> Cut:
    """Cut across an axis; finer cells hide coarser ones. The first row of pixels is at the top."""
    across = [i for i in range(3) if i != axis]
    low, high = grid.bounds[:, across]
    finest = min((box.spacing[across].min() for level in grid.levels for box in level), default=1.0)
    n = round(float((high - low).max() / finest))
    width = min(n, _MAX_WIDTH) if n >= _MIN_WIDTH else n * -(-_MIN_WIDTH // max(n, 1))
    pixel = (high - low).max() / width
    shape = np.maximum(np.round((high - low) / pixel).astype(int), 1)
    places = [low[i] + (np.arange(shape[i]) + 0.5) * (high - low)[i] / shape[i] for i in (0, 1)]
    values = np.full((shape[1], shape[0]), np.nan)
    outlines = []
    for level, boxes in enumerate(grid.levels):
        for box in boxes:
            if not box.low[axis] <= at < box.high[axis] or name not in box.values:
                continue
            spans = [
                np.searchsorted(places[i], (box.low[a], box.high[a])) for i, a in enumerate(across)
            ]
            (u, u_end), (v, v_end) = spans
            if u == u_end or v == v_end:
                continue
            index: list[Any] = [0, 0, 0]
            index[axis] = np.array([int((at - box.low[axis]) / box.spacing[axis])])
            for place, (begin, end), a in zip(places, spans, across, strict=True):
                index[a] = ((place[begin:end] - box.low[a]) / box.spacing[a]).astype(int)
            for a in range(3):
                index[a] = np.clip(index[a], 0, box.n_cells[a] - 1)
            block = magnitude(box.values[name][np.ix_(index[2], index[1], index[0])])
            block = block.squeeze(axis=2 - axis)  # rows are the later of the two axes
            values[v:v_end, u:u_end] = block
            outlines.append((level, v, v_end - 1, u, u_end - 1))
    last = shape[1] - 1
    rows = [(k, last - b, last - a, c, d) for k, a, b, c, d in outlines]
    return Cut(values[::-1], rows, (across[0], across[1]), grid.bounds)
