"""Read the lists of rows in traffic documents as arrays: Python lists take ten times the memory."""

from __future__ import annotations

import contextlib
import json
import re
from typing import Any

import numpy as np

N_COLUMNS = 5  # from, to, points, bytes, messages
LISTS = {"entries": "entry", "collectives": "collective"}  # and the word for one row
_OPENING = re.compile(rb'"(entries|collectives)"\s*:\s*\[')
_ENDING = re.compile(rb"\]\s*\]")
_NUMERIC = b"0123456789+-.eE,[] \t\r\n"
_PIECE = 1 << 22  # bytes that are parsed to lists at a time


def load(content: bytes) -> tuple[Any, dict[str, np.ndarray]]:
    """Parse JSON. For traffic, return lists of rows as arrays, with empty lists in their place.

    Lists that are not plain rows of numbers stay lists, so that the checks can report their faults.
    @throws ValueError, RecursionError if it is not JSON
    """
    if b'"barrio.traffic"' in content:
        short, rows = _take_out(content)
        with contextlib.suppress(
            ValueError
        ):  # parsed again below, for an error with the right position
            data = json.loads(short)
            if isinstance(data, dict) and all(data.get(name) == [] for name in rows):
                return data, rows
    return json.loads(content), {}


def _take_out(content: bytes) -> tuple[bytes, dict[str, np.ndarray]]:
    kept, rows, at = [], {}, 0
    while opening := _OPENING.search(content, at):
        name, begin = opening[1].decode(), opening.end()
        ending = _ENDING.search(content, begin)
        found = _read_rows(content, begin, ending.start() + 1) if ending else None
        if ending is None or found is None or name in rows:
            return content, {}
        rows[name] = found
        kept.append(content[at:begin])
        at = ending.end() - 1
    return b"".join([*kept, content[at:]]), rows


def _read_rows(content: bytes, begin: int, end: int) -> np.ndarray | None:
    """Parse rows from after the bracket that opens their list to after that of the last row."""
    pieces = []
    at = begin
    while at < end:
        cut = content.find(b"]", min(at + _PIECE, end - 1)) + 1
        piece = content[at:cut].lstrip()
        if piece.translate(None, _NUMERIC):
            return None
        if at > begin and not piece.startswith(b","):
            return None
        try:
            read = np.array(json.loads(b"[" + piece[at > begin :] + b"]"))
        except ValueError:  # not JSON, or rows of different lengths
            return None
        if read.ndim != 2 or read.shape[1] < N_COLUMNS or not is_finite(read):
            return None
        pieces.append(read[:, :N_COLUMNS])
        at = cut
    return np.concatenate(pieces)


def is_finite(values: np.ndarray) -> bool:
    """Tell whether all values are finite numbers."""
    return values.dtype.kind == "i" or (
        values.dtype.kind == "f" and bool(np.isfinite(values).all())
    )


def strangers(rows: np.ndarray, n_ranks: int) -> np.ndarray:
    """Return the indices of rows with a rank outside 0..n_ranks-1, or not an integer."""
    ranks = rows[:, :2]
    return np.flatnonzero(
        ((ranks < 0) | (ranks >= n_ranks) | (ranks != np.floor(ranks))).any(axis=1)
    )
