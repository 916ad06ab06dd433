"""Read VTKHDF files with VTK, without OpenGL: unstructured grids, overlapping AMR, and lists of files."""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyvista as pv
from vtkmodules.vtkCommonCore import vtkCommand, vtkOutputWindow
from vtkmodules.vtkCommonDataModel import vtkOverlappingAMR
from vtkmodules.vtkCommonExecutionModel import vtkStreamingDemandDrivenPipeline
from vtkmodules.vtkFiltersCore import vtkAppendFilter
from vtkmodules.vtkIOHDF import vtkHDFReader

from .amr import AmrGrid, amr_of

GHOST_ARRAY = "vtkGhostType"
SERIES_SUFFIX = ".series"
_POINT_IDS = ("GlobalPointIds", "GLOBAL_ID")
GLOBAL_IDS = frozenset({*_POINT_IDS, "GlobalCellIds"})
_POLYHEDRON = 42  # VTK's cell type
_DAMAGED = "cannot be read by VTK: it is truncated or damaged"


class Unreadable(Exception):
    """The file cannot be read as VTKHDF; the message has the reason."""


@dataclass(frozen=True)
class Frame:
    """One time step: all pieces as one grid, or the levels of an AMR grid.

    Two frames have the same `mesh` number if points and cells are the same.
    """

    time: float
    grid: Any  # pv.UnstructuredGrid or AmrGrid
    mesh: int = 0

    @property
    def is_amr(self) -> bool:
        """Tell whether the grid has levels of boxes."""
        return isinstance(self.grid, AmrGrid)


def open_file(path: Path, without: tuple[str, ...] = ()) -> VtkhdfFile | FileSeries:
    """Open a VTKHDF file or a list of such files. @param without  arrays of cells to leave out @throws Unreadable"""
    is_list = path.suffix == SERIES_SUFFIX
    return FileSeries(path, without) if is_list else VtkhdfFile(path, without)


class VtkhdfFile:
    """A VTKHDF file of unstructured grids or overlapping AMR, read step by step."""

    def __init__(self, path: Path, without: tuple[str, ...] = ()) -> None:
        self._without = without
        self._faults: list[str] = []
        self._path = str(path)
        vtkOutputWindow.GetInstance().SetDisplayModeToNever()
        reader = self._new_reader()
        if not reader.CanReadFile(self._path):
            raise Unreadable("is not a VTKHDF file, or is truncated")
        reader.UpdateInformation()
        info = reader.GetOutputInformation(0)
        key = vtkStreamingDemandDrivenPipeline.TIME_STEPS()
        self.times: tuple[float, ...] = tuple(info.Get(key)) if info.Has(key) else ()
        if not all(map(math.isfinite, self.times)):
            raise Unreadable("has a time step whose time is no number")
        self._known: list[tuple[np.ndarray, ...]] = []  # points and cells of the last mesh
        self._n_meshes = 0
        self._merged: tuple[np.ndarray, np.ndarray] | None = None
        self.first = self.frame(0)

    @property
    def n_steps(self) -> int:
        """The number of time steps; 1 for a file without time."""
        return max(1, len(self.times))

    def frame(self, step: int) -> Frame:
        """Read one step. Cells and points keep the order of the file, piece after piece."""
        time = self.times[step] if self.times else 0.0
        output = self._read(step)
        if isinstance(output, vtkOverlappingAMR):
            grid = amr_of(output)
            if grid is None:
                raise Unreadable("has no boxes of cells")
            return Frame(time, grid)
        pieces = _pieces_of(output)
        if not pieces:
            return Frame(time, pv.UnstructuredGrid(), self._number_of([]))
        for piece in pieces:
            _check(piece)
            for name in self._without:
                piece.cell_data.pop(name, None)
        mesh = self._number_of(pieces)
        if self._merged is None:
            self._merged = _merge_points(pieces)
        grid = _joined(pieces, *self._merged)
        is_shown = len(self.times) < 2 and {"owner", "rank"} <= set(grid.cell_data)
        if "is_ghost" in grid.cell_data and not is_shown:
            grid = own_cells(grid)
        return Frame(time, grid, mesh)

    def _number_of(self, pieces: list[pv.UnstructuredGrid]) -> int:
        """Count the meshes: the number grows if points or cells differ from the last frame."""
        new = [(p.points, p.cell_connectivity, p.cell_offsets, p.celltypes) for p in pieces]
        is_same = len(new) == len(self._known) and all(
            np.array_equal(a, b)
            for one, other in zip(new, self._known, strict=True)
            for a, b in zip(one, other, strict=True)
        )
        if not is_same or not self._n_meshes:
            self._known = [tuple(np.array(array) for array in one) for one in new]
            self._n_meshes += 1
            self._merged = None
        return self._n_meshes

    def _new_reader(self) -> vtkHDFReader:
        reader = vtkHDFReader()
        reader.AddObserver(vtkCommand.ErrorEvent, self._note_fault)
        reader.SetFileName(self._path)
        return reader

    def _read(self, step: int) -> Any:
        """Read a step with a reader of its own: one that has read a step of one piece reads no others."""
        reader = self._new_reader()
        if self.times:
            reader.SetStep(step)
        reader.Update()
        if self._faults:
            raise Unreadable(self._faults[0])
        return reader.GetOutputDataObject(0)

    def _note_fault(self, *_: Any) -> None:
        self._faults.append(_DAMAGED)


class FileSeries:
    """A list of VTKHDF files, one for each time, as `barrio amr` leaves it while it runs."""

    def __init__(self, path: Path, without: tuple[str, ...] = ()) -> None:
        self._without = without
        self._files = listed_files(path)
        absent = [file.name for file, _ in self._files if not file.is_file()]
        if absent:
            more = f" and {len(absent) - 1} more" if len(absent) > 1 else ""
            raise Unreadable(f"lists {absent[0]}{more}, which cannot be found")
        self.times = tuple(time for _, time in self._files)
        self._last: tuple[int, VtkhdfFile] | None = None
        self._meshes: list[bytes] = []  # digests of different meshes, in the order of their numbers
        self.first = self.frame(0)

    @property
    def n_steps(self) -> int:
        """The number of files."""
        return len(self._files)

    def frame(self, step: int) -> Frame:
        """Read one file."""
        path, time = self._files[step]
        if self._last is None or self._last[0] != step:
            try:
                self._last = step, VtkhdfFile(path, self._without)
            except Unreadable as error:
                raise Unreadable(f"lists {path.name}, which {error}") from error
        frame = self._last[1].first
        if step > 0 and frame.is_amr != self.first.is_amr:
            raise Unreadable("lists files of meshes and files of AMR")
        return Frame(time, frame.grid, step if frame.is_amr else self._number_of(frame.grid))

    def _number_of(self, grid: pv.UnstructuredGrid) -> int:
        """Return the number of a mesh: the same for the same points and cells."""
        digest = hashlib.sha256()
        for array in (grid.points, grid.cell_connectivity, grid.cell_offsets, grid.celltypes):
            digest.update(np.ascontiguousarray(array).data)
        if digest.digest() not in self._meshes:
            self._meshes.append(digest.digest())
        return self._meshes.index(digest.digest())


def listed_files(path: Path) -> list[tuple[Path, float]]:
    """Return the files and times of a list. @throws Unreadable"""
    try:
        data = json.loads(path.read_bytes())
    except OSError as error:
        raise Unreadable(f"cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise Unreadable("is no list of files: it is not JSON") from error
    entries = data.get("files") if isinstance(data, dict) else None
    if not isinstance(entries, list) or not entries:
        raise Unreadable("is no list of files, or an empty one")
    found = []
    for index, entry in enumerate(entries):
        name, time = (entry.get(k) if isinstance(entry, dict) else None for k in ("name", "time"))
        is_number = isinstance(time, int | float) and not isinstance(time, bool)
        with contextlib.suppress(OverflowError):
            if isinstance(name, str) and name and is_number and math.isfinite(time):
                found.append((path.parent / name, float(time)))
        if len(found) != index + 1:
            raise Unreadable(f"lists file {index} without a name or without a time")
    return found


def magnitude_of(values: Any) -> np.ndarray:
    """Return a scalar field as reals, or the lengths of a vector field; infinite values become NaN."""
    array = np.asarray(values, dtype=float)
    array = array if array.ndim == 1 else np.linalg.norm(array.reshape(len(array), -1), axis=1)
    return np.where(np.isfinite(array), array, np.nan)


def _pieces_of(output: Any) -> list[pv.UnstructuredGrid]:
    """Return the pieces with cells."""
    name = output.GetClassName() if output is not None else "nothing"
    if name not in ("vtkUnstructuredGrid", "vtkPartitionedDataSet", "vtkPolyData"):
        raise Unreadable(f"is of type {name.removeprefix('vtk')}, not an unstructured grid or AMR")
    wrapped = pv.wrap(output)
    if isinstance(wrapped, pv.PolyData):
        wrapped = wrapped.cast_to_unstructured_grid()
    blocks = list(wrapped) if isinstance(wrapped, pv.PartitionedDataSet) else [wrapped]
    if not all(isinstance(block, pv.UnstructuredGrid) for block in blocks if block is not None):
        raise Unreadable("has no unstructured grid")
    return [block for block in blocks if block is not None and block.n_cells > 0]


def _check(piece: pv.UnstructuredGrid) -> None:
    """Refuse pieces whose cells or arrays contradict their counts: VTK would read beyond their ends."""
    nodes, offsets = piece.cell_connectivity, piece.cell_offsets
    if len(offsets) and (offsets[0] != 0 or (np.diff(offsets) < 0).any()):
        raise Unreadable("is damaged: the offsets of its cells do not grow")
    if len(nodes) != offsets[-1]:
        raise Unreadable("is damaged: its cells have another number of points than it says")
    if len(nodes) and (nodes.min() < 0 or nodes.max() >= piece.n_points):
        raise Unreadable("is damaged: a cell has a point that is not there")
    if not np.isfinite(piece.points).all():
        raise Unreadable("has points whose coordinates are no numbers")
    for data, n, of in (
        (piece.point_data, piece.n_points, "point"),
        (piece.cell_data, piece.n_cells, "cell"),
    ):
        for name in data:
            if len(data[name]) != n:
                raise Unreadable(f"is damaged: array '{name}' has not one value for each {of}")


def _merge_points(pieces: list[pv.UnstructuredGrid]) -> tuple[np.ndarray, np.ndarray]:
    """Merge the points that pieces share: by global id, or else by coordinates.

    Points of one piece stay apart even if they coincide, as those of two bodies that touch.
    @return the points to keep, and the new index of each point
    """
    if len(pieces) == 1:
        every = np.arange(pieces[0].n_points)
        return every, every
    for name in _POINT_IDS:
        if not all(name in piece.point_data for piece in pieces):
            continue
        ids = np.concatenate([np.asarray(piece.point_data[name]) for piece in pieces])
        if ids.ndim == 1 and (ids >= 0).all():
            _, keep, merge = np.unique(ids, return_index=True, return_inverse=True)
            return keep, merge.ravel()
    points = np.ascontiguousarray(np.concatenate([p.points for p in pieces]) + 0.0)  # no -0.0
    raw = points.view(np.dtype((np.void, points.dtype.itemsize * points.shape[1]))).ravel()
    _, place = np.unique(raw, return_inverse=True)
    place = place.ravel()
    piece = np.repeat(np.arange(len(pieces)), [p.n_points for p in pieces])
    # Number the points of a piece at one place: the k-th ones of two pieces are one point.
    order = np.lexsort((np.arange(len(place)), place, piece))
    is_new = np.ones(len(order), dtype=bool)
    is_new[1:] = (np.diff(place[order]) != 0) | (np.diff(piece[order]) != 0)
    starts = np.flatnonzero(is_new)
    turn = np.empty(len(order), dtype=np.int64)
    turn[order] = np.arange(len(order)) - np.repeat(starts, np.diff([*starts, len(order)]))
    _, keep, merge = np.unique(
        place + (place.max() + 1) * turn, return_index=True, return_inverse=True
    )
    return keep, merge.ravel()


def _joined(
    pieces: list[pv.UnstructuredGrid], keep: np.ndarray, merge: np.ndarray
) -> pv.UnstructuredGrid:
    """Join pieces into one grid of merged points, with the arrays that all pieces have."""
    if any((piece.celltypes == _POLYHEDRON).any() for piece in pieces):
        append = vtkAppendFilter()
        for piece in pieces:
            append.AddInputData(piece)
        append.Update()
        grid = pv.wrap(append.GetOutput())
        grid.clear_data()
        keep = np.arange(grid.n_points)
    else:
        points = np.concatenate([piece.points for piece in pieces])
        grid = _append(pieces, points[keep], merge)
    for name in _names(pieces, "point_data"):
        grid.point_data[name] = np.concatenate([p.point_data[name] for p in pieces])[keep]
    for name in _names(pieces, "cell_data"):
        values = np.concatenate([piece.cell_data[name] for piece in pieces])
        if name == GHOST_ARRAY:  # renamed, since VTK hides cells marked with it
            name, values = "is_ghost", (np.asarray(values) != 0).astype(np.uint8)
        grid.cell_data[name] = values
    return grid


def own_cells(grid: pv.UnstructuredGrid) -> pv.UnstructuredGrid:
    """Return the own cells of all pieces, each cell once, and their points, without `is_ghost`."""
    own = grid.extract_cells(np.asarray(grid.cell_data["is_ghost"]) == 0)
    for data in (own.point_data, own.cell_data):
        for name in ("vtkOriginalPointIds", "vtkOriginalCellIds", "is_ghost"):
            if name in data:
                del data[name]
    return own


def _names(pieces: list[pv.UnstructuredGrid], of: str) -> list[str]:
    """Return the arrays of numbers that all pieces have with the same width."""

    def shape(piece: pv.UnstructuredGrid, name: str) -> Any:
        data = getattr(piece, of)
        values = np.asarray(data[name]) if name in data else np.array("")
        return values.shape[1:] if values.dtype.kind in "iufb" else None

    first = list(getattr(pieces[0], of))
    widths = {name: shape(pieces[0], name) for name in first}
    return [
        n for n in first if widths[n] is not None and all(shape(p, n) == widths[n] for p in pieces)
    ]


def _append(
    pieces: list[pv.UnstructuredGrid], points: np.ndarray, merge: np.ndarray
) -> pv.UnstructuredGrid:
    """Join the cells of pieces on merged points."""
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
    return pv.UnstructuredGrid(np.concatenate(cells), np.concatenate(types), points)
