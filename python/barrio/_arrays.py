"""Convert the arrays of a `Mesh` to the form that the core expects.

Runs on each rank alone and sends nothing. The core raises the error of one rank on all ranks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from barrio.errors import BadInputError, ErrorCode, UsageError

# Node counts allowed for each cell type: corners only, and second order. None: any number.
NODES: dict[str, tuple[int, ...] | None] = {
    "edge": (2, 3),
    "triangle": (3, 6, 7),
    "quad": (4, 8, 9),
    "polygon": None,
    "tet": (4, 10),
    "pyramid": (5, 13, 14),
    "prism": (6, 15, 18),
    "knife": (7,),
    "hex": (8, 20, 27),
    "polyhedron": None,
}
VERTEX = "vertex"


def _usage(subject: str, cause: str, remedy: str = "") -> UsageError:
    return UsageError(ErrorCode.usage, subject, cause, remedy)


def type_name(key: Any, subject: str, with_vertices: bool = False) -> str:
    """Return the name of a type given by name or as a `CellType`."""
    name = key if isinstance(key, str) else getattr(key, "name", None)
    known = [*NODES, VERTEX] if with_vertices else list(NODES)
    if name not in known:
        raise _usage(
            subject, f"are given for the unknown type {key!r}", f"types are {', '.join(known)}"
        )
    return str(name)


def integers(values: Any, subject: str, dtype: type = np.int64) -> np.ndarray:
    """Convert integers of any width to `dtype`. An empty array may have any type."""
    array = np.asarray(values)
    if array.size == 0:
        return np.zeros(array.shape, dtype)
    if array.dtype.kind not in "iu":
        raise _usage(subject, f"must be integers, not {array.dtype}")
    limits = np.iinfo(dtype)
    low, high = int(array.min()), int(array.max())
    if low < limits.min or high > limits.max:
        wrong = low if low < limits.min else high
        raise BadInputError(
            ErrorCode.bad_input, subject, f"the value {wrong} does not fit in {limits.dtype}"
        )
    return np.ascontiguousarray(array, dtype)


def coordinates(values: Any) -> np.ndarray:
    array = np.asarray(values)
    if array.size == 0:
        return np.zeros((0, 3))
    if array.dtype.kind not in "fiu":
        raise _usage("coordinates", f"have the type {array.dtype}", "give real numbers")
    if array.ndim != 2 or array.shape[1] not in (2, 3):
        raise _usage(
            "coordinates", f"have the shape {array.shape}", "give (n, 3), or (n, 2) in a plane"
        )
    full = np.zeros((len(array), 3))
    full[:, : array.shape[1]] = array
    return full


def one_type(name: str, given: Any) -> tuple[str, int, np.ndarray | None, np.ndarray] | None:
    """Return all cells of a type as (name, nodes of each or 0, offsets, nodes); None without cells."""
    subject = f"cells of the type {name}"
    widths = NODES[name]
    if isinstance(given, tuple) and len(given) == 2:
        if widths is not None:
            raise _usage(
                subject,
                "are given as (offsets, nodes)",
                f"give an array of the shape (n, {widths[0]})",
            )
        offsets, nodes = (integers(part, subject) for part in given)
        if offsets.ndim != 1 or nodes.ndim != 1:
            raise _usage(
                subject,
                f"have the shapes {offsets.shape} and {nodes.shape}",
                "give (offsets, nodes)",
            )
        return name, 0, offsets, nodes
    array = integers(given, subject)
    if array.size == 0:
        return None
    if widths is None and array.ndim == 2 and name == "polygon":
        ends = np.arange(len(array) + 1, dtype=np.int64) * array.shape[1]
        return name, 0, ends, array.ravel()
    if widths is None or array.ndim != 2 or array.shape[1] not in widths:
        wanted = "(offsets, nodes)" if widths is None else " or ".join(f"(n, {w})" for w in widths)
        raise _usage(subject, f"have the shape {array.shape}", f"give {wanted}")
    return name, array.shape[1], None, array.ravel()


def parts_by_type(parts: Any, names: list[str]) -> dict[str, np.ndarray]:
    if parts is None:
        return {}
    if not isinstance(parts, Mapping):
        if len(names) > 1:
            raise _usage(
                "parts",
                "are one array, but the cells have several types",
                "give one array for each cell type",
            )
        if not names:
            return {}
        parts = {names[0]: parts}
    found = {}
    for key, values in parts.items():
        array = integers(values, "parts", np.int32)
        if array.ndim != 1:
            raise _usage("parts", f"have the shape {array.shape}", "give one number for each cell")
        if array.size > 0:
            found[type_name(key, "parts")] = array
    return found


def places(values: Any, subject: str) -> np.ndarray:
    array = np.asarray(values)
    if array.dtype.kind == "b":
        array = np.flatnonzero(array)
    array = integers(array, subject)
    if array.ndim != 1:
        raise _usage(
            subject,
            f"has members of the shape {array.shape}",
            "give a list of positions, or a mask",
        )
    return array


def one_set(given: Any) -> tuple[int, int, str, list[tuple[str, np.ndarray]]]:
    try:
        kind, number, name, members = given
        head = int(kind.value), int(number), str(name)
        items = list(members.items())
    except (TypeError, ValueError, AttributeError):
        raise _usage(
            f"set {given!r:.60}",
            "is not (SetKind, id, name, {type: places})",
            "give a tuple of this form",
        ) from None
    subject = f"set '{name}'"
    return *head, [(type_name(key, subject, True), places(some, subject)) for key, some in items]


def one_column(subject: str, values: Any) -> np.ndarray | None:
    array = np.asarray(values)
    if array.size == 0:
        return None
    if array.ndim not in (1, 2):
        raise _usage(
            subject, f"has values of the shape {array.shape}", "give (n,) or (n, n_components)"
        )
    if array.dtype.kind in "iub":
        return integers(
            array.astype(np.int8) if array.dtype.kind == "b" else array, subject, np.int32
        )
    if array.dtype.kind != "f" or array.dtype.itemsize > 8:
        raise _usage(subject, f"has values of the type {array.dtype}", "give int32 or float64")
    return np.ascontiguousarray(array, np.float64)


def one_tag(name: str, by_type: Any) -> tuple[str, bool, int, list[tuple[str, np.ndarray]]]:
    subject = f"tag '{name}'"
    if not isinstance(by_type, Mapping):
        raise _usage(subject, "is not given by type", 'give {"vertex": values} or {"tet": values}')
    columns = []
    for key, values in by_type.items():
        of_type = type_name(key, subject, True)
        column = one_column(subject, values)
        if column is not None:
            columns.append((of_type, column))
    kinds = {(c.dtype.kind == "f", 1 if c.ndim == 1 else c.shape[1]) for _, c in columns}
    if len(kinds) > 1:
        raise _usage(
            subject, "has values of several types or component counts", "give one tag for each"
        )
    is_real, width = kinds.pop() if kinds else (False, 1)
    return name, is_real, width, [(of_type, c.ravel().view(np.uint8)) for of_type, c in columns]


def normalised(
    points: Any, cells: Any, ids: Any, parts: Any, sets: Iterable[Any], tags: Any
) -> tuple[Any, ...]:
    """Check and convert all that a rank gives. Raises UsageError and BadInputError."""
    if not isinstance(cells, Mapping):
        raise _usage("cells", f"are a {type(cells).__name__}", 'give them by type: {"tet": array}')
    blocks = []
    for key, given in cells.items():
        block = one_type(type_name(key, "cells"), given)
        if block is not None:
            blocks.append(block)
    vertex_ids = np.zeros(0, np.int64) if ids is None else integers(ids, "vertex ids")
    if vertex_ids.ndim != 1:
        raise _usage("vertex ids", f"have the shape {vertex_ids.shape}", "give one for each vertex")
    of_parts = parts_by_type(parts, [block[0] for block in blocks])
    missing = set(of_parts) - {block[0] for block in blocks}
    if missing:
        raise _usage(
            "parts", f"are given for {missing.pop()} cells, but this rank has no such cell"
        )
    nothing = np.zeros(0, np.int32)
    return (
        coordinates(points),
        vertex_ids,
        [(*block, of_parts.get(block[0], nothing)) for block in blocks],
        [one_set(given) for given in sets],
        [one_tag(str(name), by_type) for name, by_type in (tags or {}).items()],
    )
