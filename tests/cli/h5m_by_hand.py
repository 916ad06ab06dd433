"""Decode a .h5m file with h5py, by the layout alone."""

from __future__ import annotations

import os
from pathlib import Path

try:
    import h5py

    why_not = ""
except ImportError as reason:
    h5py = None
    why_not = f"this Python has no h5py: {reason}"

# Files of other programs, where available.
SAMPLES = Path(os.environ.get("BARRIO_INTEROP", "/nowhere")) / "other"


class H5m:
    def __init__(self, path: Path) -> None:
        self.file = h5py.File(path, "r")
        self.root = self.file["tstt"]

    def close(self) -> None:
        self.file.close()

    def expand(self, row: int) -> list[int]:
        """Return the ids in a set: from the end of the row before to its own; flag 8 means pairs (first, count)."""
        table = self.root["sets/list"]
        first = 0 if row == 0 else int(table[row - 1, 0]) + 1
        words = [int(w) for w in self.root["sets/contents"][first : int(table[row, 0]) + 1]]
        if int(table[row, 3]) & 8 == 0:
            return words
        return [
            id
            for at in range(0, len(words), 2)
            for id in range(words[at], words[at] + words[at + 1])
        ]

    def sets_with(self, tag: str) -> dict[int, list[int]]:
        group = self.root["tags"][tag]
        if "id_list" not in group:
            return {}
        first = int(self.root["sets/list"].attrs["start_id"])
        return {
            int(value): self.expand(int(id) - first)
            for id, value in zip(group["id_list"], group["values"], strict=True)
        }

    def elements(self) -> dict[int, tuple[int, ...]]:
        """Return the vertex ids of each element, by its id."""
        return {
            int(table["connectivity"].attrs["start_id"]) + i: tuple(int(v) for v in nodes)
            for table in self.root["elements"].values()
            for i, nodes in enumerate(table["connectivity"])
        }
