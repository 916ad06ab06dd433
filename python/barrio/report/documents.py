"""Find and check result files, and tell their kinds apart by content."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FAILED = 1
BAD_INPUT = 3
SCHEMAS = ("info", "partition", "load", "heat", "traffic", "map", "generate", "error")
NEWEST_VERSION = 1
_HDF5 = b"\x89HDF\r\n\x1a\n"


class ReportError(Exception):
    """A fault in the input; its text is one line, 'FILE: cause'."""

    def __init__(self, subject: object, cause: str, code: int = BAD_INPUT) -> None:
        super().__init__(f"{subject}: {cause}")
        self.code = code


@dataclass(frozen=True)
class Document:
    """One JSON document that barrio wrote."""

    path: Path
    kind: str
    data: dict[str, Any]

    def number(self, *keys: str) -> float | None:
        """Return the number under nested keys, or None where there is none."""
        return as_number(self._find(keys))

    def text(self, *keys: str) -> str:
        """Return the text under nested keys, or nothing."""
        found = self._find(keys)
        return found if isinstance(found, str) else ""

    def table(self, *keys: str) -> dict[str, Any]:
        """Return the object under nested keys, or an empty one."""
        found = self._find(keys)
        return found if isinstance(found, dict) else {}

    def items(self, *keys: str) -> list[Any]:
        """Return the list under nested keys, or an empty one."""
        found = self._find(keys)
        return found if isinstance(found, list) else []

    def _find(self, keys: tuple[str, ...]) -> Any:
        found: Any = self.data
        for key in keys:
            found = found.get(key) if isinstance(found, dict) else None
        return found


@dataclass
class Results:
    """All that was given, by kind."""

    documents: list[Document] = field(default_factory=list)
    vtkhdf_files: list[Path] = field(default_factory=list)
    skipped: list[Path] = field(default_factory=list)

    def of(self, *kinds: str) -> list[Document]:
        """Return the documents of some kinds, in the order given."""
        return [document for kind in kinds for document in self.documents if document.kind == kind]


def as_number(value: Any) -> float | None:
    """Return a finite number, or None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value) if math.isfinite(value) else None
    except OverflowError:
        return None


def collect(runs: list[str]) -> Results:
    """Read every file of a command line. @throws ReportError at the first bad one."""
    results = Results()
    seen: set[Path] = set()
    for run in runs:
        for path, is_named in _files_of(Path(run)):
            if path.resolve() in seen:
                continue
            seen.add(path.resolve())
            _read(path, is_named, results)
    if not results.documents and not results.vtkhdf_files:
        raise ReportError(runs[0], "holds no results of barrio (*.json or *.vtkhdf)")
    return results


def _files_of(run: Path) -> Iterator[tuple[Path, bool]]:
    if not run.exists():
        raise ReportError(run, "cannot be read: there is no such file or folder", FAILED)
    if not run.is_dir():
        yield run, True
        return
    for path in sorted(run.iterdir()):
        if path.suffix in (".json", ".vtkhdf") and path.is_file():
            yield path, False


def _read(path: Path, is_named: bool, results: Results) -> None:
    try:
        with path.open("rb") as file:
            is_hdf5 = file.read(len(_HDF5)) == _HDF5
        if is_hdf5:
            results.vtkhdf_files.append(path)
            return
        content = path.read_bytes()
    except OSError as error:
        raise ReportError(path, f"cannot be read: {error.strerror}", FAILED) from error
    if path.suffix == ".vtkhdf":
        raise ReportError(path, "is not an HDF5 file, or is damaged")
    document = parse(path, content)
    if document is not None:
        results.documents.append(document)
    elif is_named:
        known = ", ".join(f"barrio.{kind}" for kind in SCHEMAS)
        raise ReportError(path, f"has no schema that barrio writes ({known})")
    else:
        results.skipped.append(path)


def parse(path: Path, content: bytes) -> Document | None:
    """Read a document; None for JSON that is not barrio's. @throws ReportError for a broken one."""
    if not content.strip():
        raise ReportError(path, "is empty")
    try:
        data = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise ReportError(path, f"is not JSON: {_one_line(error)}") from error
    schema = data.get("schema") if isinstance(data, dict) else None
    if not isinstance(schema, str) or not schema.startswith("barrio."):
        return None
    kind = schema.removeprefix("barrio.")
    if kind not in SCHEMAS:
        raise ReportError(path, f"has the unknown schema '{_one_line(schema)}'")
    version = data.get("schema_version")
    if not isinstance(version, int):
        raise ReportError(path, "has no schema version")
    if version > NEWEST_VERSION:
        raise ReportError(
            path, f"has schema version {version}, newer than {NEWEST_VERSION}; use a newer barrio"
        )
    document = Document(path, kind, data)
    if kind == "traffic":
        _check_traffic(document)
    elif kind == "map":
        _check_map(document)
    return document


def _one_line(text: object) -> str:
    return " ".join(str(text).split())[:200]


def _check_traffic(document: Document) -> None:
    n_ranks = document.data.get("ranks")
    if not isinstance(n_ranks, int) or n_ranks < 1:
        raise ReportError(document.path, "has no whole number 'ranks'")
    if not isinstance(document.data.get("entries"), list):
        raise ReportError(document.path, "has no list 'entries'")
    for index, entry in enumerate(document.data["entries"]):
        numbers = [as_number(value) for value in entry] if isinstance(entry, list) else []
        if len(numbers) < 5 or None in numbers:
            raise ReportError(
                document.path, f"entry {index} is not [from, to, points, bytes, messages]"
            )
        if not all(isinstance(rank, int) and 0 <= rank < n_ranks for rank in entry[:2]):
            raise ReportError(document.path, f"entry {index} has a rank outside 0..{n_ranks - 1}")


def _check_map(document: Document) -> None:
    n_cores, n_nodes = document.data.get("cores"), document.data.get("nodes")
    if not (isinstance(n_cores, int) and isinstance(n_nodes, int) and 0 < n_nodes <= n_cores):
        raise ReportError(document.path, "has no whole numbers 'cores' and 'nodes'")
    for name in ("given", "placement"):
        cores = document.data.get(name)
        if not isinstance(cores, list) or not all(
            isinstance(core, int) and 0 <= core < n_cores for core in cores
        ):
            raise ReportError(document.path, f"'{name}' is not a list of cores in 0..{n_cores - 1}")
        if len(set(cores)) != len(cores):
            raise ReportError(document.path, f"'{name}' puts two ranks on one core")
    if len(document.data["given"]) != len(document.data["placement"]):
        raise ReportError(document.path, "'given' and 'placement' differ in length")
