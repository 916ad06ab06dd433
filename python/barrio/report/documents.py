"""Find and check result files, and find their kinds from their contents."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from . import traffic_rows

FAILED = 1
USAGE = 2
BAD_INPUT = 3
SCHEMAS = (
    "info",
    "convert",
    "join",
    "partition",
    "load",
    "adapt",
    "amr",
    "delaunay",
    "heat",
    "traffic",
    "map",
    "machine",
    "generate",
    "record",
    "verification",
    "probe",
    "probe.transport",
    "profiles",
    "bench.all",
    "bench.adapt",
    "bench.amr",
    "bench.delaunay",
    "bench.exchange",
    "bench.mesh",
    "bench.mesh_scale",
    "bench.mobile",
    "bench.rankmap",
    "bench.rankmap_halo",
    "bench.rankmap_halo_plan",
    "bench.rankmap_simulated",
    "bench.strategies",
    "report",
    "doctor",
    "error",
)
NEWEST_VERSION = 1
_NEWEST_VERSIONS = {"bench.exchange": 2}  # of schemas that have changed
_HDF5 = b"\x89HDF\r\n\x1a\n"
_MESH_SUFFIXES = (".h5m", ".msh", ".mesh", ".meshb")


_AGAIN = "run the command that wrote it again; it may have ended early"
_TAKES = (
    "report reads JSON documents written by barrio (--result, --traffic), lists of files "
    "(.vtkhdf.series) and .vtkhdf files"
)


class ReportError(Exception):
    """An error with a remedy; its text is one line, 'SUBJECT: cause'."""

    def __init__(
        self, subject: object, cause: str, remedy: str = _AGAIN, code: int = BAD_INPUT
    ) -> None:
        super().__init__(f"{subject}: {cause}")
        self.remedy = remedy
        self.code = code


@dataclass(frozen=True)
class Document:
    """One JSON document of barrio. For traffic, the lists of rows are in `rows`, not in `data`."""

    path: Path
    kind: str
    data: dict[str, Any]
    rows: dict[str, np.ndarray] = field(default_factory=dict)

    def number(self, *keys: str) -> float | None:
        """Return the number under nested keys, or None if it is absent."""
        return as_number(self._find(keys))

    def text(self, *keys: str) -> str:
        """Return the text under nested keys, or an empty one."""
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
    """All results, by kind."""

    documents: list[Document] = field(default_factory=list)
    vtkhdf_files: list[Path] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)  # 'FILE: cause', for files in folders

    def of(self, *kinds: str) -> list[Document]:
        """Return the documents of these kinds, in the order given."""
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
    """Read every file of a command line, and every result of barrio in its folders.

    @throws ReportError at the first bad file that was named, or if no result remains
    """
    results = Results()
    seen: set[Path] = set()
    for run in runs:
        for path, is_named in _files_of(Path(run)):
            if path.resolve() in seen:
                continue
            seen.add(path.resolve())
            try:
                _read(path, results)
            except ReportError as error:
                if is_named:
                    raise
                results.skipped.append(str(error))
    if not results.documents and not results.vtkhdf_files:
        why = f"; skipped: {results.skipped[0]}" if results.skipped else ""
        cause = f"has no results of barrio (*.json, *.vtkhdf or *.series){why}"
        raise ReportError(runs[0], cause, _TAKES)
    return results


def _files_of(run: Path) -> Iterator[tuple[Path, bool]]:
    if not run.exists():
        cause = "cannot be read: no such file or folder"
        raise ReportError(run, cause, "check the path, or run the command that writes it", FAILED)
    if not run.is_dir():
        yield run, True
        return
    paths = [path for path in sorted(run.iterdir()) if path.is_file()]
    listed = {
        path.parent / name for path in paths if path.suffix == ".series" for name in _names_in(path)
    }
    for path in paths:
        if path.suffix in (".json", ".vtkhdf", ".series") and path not in listed:
            yield path, False


def _names_in(path: Path) -> list[str]:
    """Return the names of files in a list of VTKHDF files; none if it is broken."""
    try:
        entries = json.loads(path.read_bytes())["files"]
        return [str(entry["name"]) for entry in entries]
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return []


def _read(path: Path, results: Results) -> None:
    try:
        with path.open("rb") as file:
            is_hdf5 = file.read(len(_HDF5)) == _HDF5
        if path.suffix in _MESH_SUFFIXES:
            raise ReportError(path, "is a mesh, not a result", f"{_TAKES}; try barrio info {path}")
        if is_hdf5 or path.suffix == ".series":
            results.vtkhdf_files.append(path)
            return
        content = path.read_bytes()
    except OSError as error:
        remedy = "check that it is a file and that you have permission to read it"
        raise ReportError(path, f"cannot be read: {error.strerror}", remedy, FAILED) from error
    if path.suffix == ".vtkhdf":
        raise ReportError(path, "is not an HDF5 file, or is damaged")
    results.documents.append(parse(path, content))


def parse(path: Path, content: bytes) -> Document:
    """Parse a document. @throws ReportError if it is broken, or not barrio's"""
    if not content.strip():
        raise ReportError(path, "is empty")
    try:
        data, rows = traffic_rows.load(content)
    except (ValueError, RecursionError) as error:
        if path.suffix != ".json":
            raise ReportError(path, "is neither JSON nor VTKHDF", _TAKES) from error
        cause = f"is not JSON: {_one_line(error)}"
        raise ReportError(path, cause, f"{_TAKES}; if it is one of them, {_AGAIN}") from error
    schema = data.get("schema") if isinstance(data, dict) else None
    if not isinstance(schema, str) or not schema.startswith("barrio."):
        known = ", ".join(f"barrio.{kind}" for kind in SCHEMAS)
        raise ReportError(path, "has no schema of barrio", f"give one of {known}")
    kind = schema.removeprefix("barrio.")
    if kind not in SCHEMAS:
        known = ", ".join(f"barrio.{kind}" for kind in SCHEMAS)
        raise ReportError(
            path, f"has the unknown schema '{_one_line(schema)}'", f"give one of {known}"
        )
    version = data.get("schema_version")
    if not isinstance(version, int) or isinstance(version, bool):
        raise ReportError(path, "has no schema version")
    newest = _NEWEST_VERSIONS.get(kind, NEWEST_VERSION)
    if version > newest:
        cause = f"has schema version {version}, newer than {newest}"
        raise ReportError(path, cause, "use a newer barrio")
    if version < 1:
        raise ReportError(path, f"has the unknown schema version {version}")
    document = Document(path, kind, data, rows)
    if kind == "traffic":
        _check_traffic(document)
    elif kind == "map":
        _check_map(document)
    elif kind == "machine":
        _check_machine(document)
    elif kind == "probe":
        _check_probe(document)
    return document


def _one_line(text: object) -> str:
    return " ".join(str(text).split())[:200]


def _check_traffic(document: Document) -> None:
    n_ranks = document.data.get("ranks")
    if not isinstance(n_ranks, int) or n_ranks < 1:
        raise ReportError(document.path, "must have an integer 'ranks' of at least 1")
    if not isinstance(document.data.get("entries"), list):
        raise ReportError(document.path, "must have a list 'entries'")
    for name, one in traffic_rows.LISTS.items():
        if name in document.data:
            _check_rows(document, name, one, n_ranks)
    if "hosts" in document.data:
        _check_hosts(document, n_ranks)


def _check_rows(document: Document, name: str, one: str, n_ranks: int) -> None:
    """Check the rows of a traffic document, and convert those that are still a list to an array."""
    if name not in document.rows:
        rows = document.data[name]
        if not isinstance(rows, list):
            raise ReportError(document.path, f"'{name}' must be a list")
        for index, row in enumerate(rows):
            numbers = [as_number(value) for value in row] if isinstance(row, list) else []
            if len(numbers) < traffic_rows.N_COLUMNS or None in numbers:
                cause = f"{one} {index} must be [from, to, points, bytes, messages]"
                raise ReportError(document.path, cause)
        numbers = [row[: traffic_rows.N_COLUMNS] for row in rows]
        document.rows[name] = np.array(numbers, dtype=float).reshape(-1, traffic_rows.N_COLUMNS)
        document.data[name] = []
    strangers = traffic_rows.strangers(document.rows[name], n_ranks)
    if strangers.size:
        cause = f"{one} {strangers[0]} has a rank outside 0..{n_ranks - 1}"
        raise ReportError(document.path, cause)


def _check_hosts(document: Document, n_ranks: int) -> None:
    n_placed = _ranks_on_hosts(document)
    if n_placed not in (n_ranks, document.data.get("recorded_on_ranks", n_ranks)):
        cause = f"'hosts' have {n_placed} ranks in total, but 'ranks' is {n_ranks}"
        raise ReportError(document.path, cause)


def _ranks_on_hosts(document: Document) -> int:
    """Check that hosts are [name, number of ranks], and return the sum of the ranks."""
    hosts = document.data["hosts"]
    if not isinstance(hosts, list):
        raise ReportError(document.path, "'hosts' must be a list")
    for index, host in enumerate(hosts):
        is_pair = isinstance(host, list) and len(host) == 2
        if not (is_pair and isinstance(host[0], str) and type(host[1]) is int and host[1] > 0):
            raise ReportError(document.path, f"host {index} must be [name, number of ranks]")
    return sum(n for _, n in hosts)


def _check_map(document: Document) -> None:
    n_cores, n_nodes = document.data.get("cores"), document.data.get("nodes")
    if not (isinstance(n_cores, int) and isinstance(n_nodes, int) and 0 < n_nodes <= n_cores):
        raise ReportError(document.path, "must have integers 'cores' and 'nodes'")
    for name in ("given", "placement"):
        cores = document.data.get(name)
        if not isinstance(cores, list) or not all(
            isinstance(core, int) and 0 <= core < n_cores for core in cores
        ):
            raise ReportError(
                document.path, f"'{name}' must be a list of cores in 0..{n_cores - 1}"
            )
        if len(set(cores)) != len(cores):
            raise ReportError(document.path, f"'{name}' puts two ranks on one core")
    if len(document.data["given"]) != len(document.data["placement"]):
        raise ReportError(document.path, "'given' and 'placement' must have the same length")


def _check_machine(document: Document) -> None:
    if not document.items("hosts"):
        raise ReportError(document.path, "must have a list 'hosts'")
    _check_hosts(document, document.data.get("ranks", _ranks_on_hosts(document)))
    for name in ("inside", "between"):
        _check_times(document, name)
    distances = document.data.get("distances")
    if not (
        isinstance(distances, list) and len(distances) == 2 and all(map(_is_above_0, distances))
    ):
        cause = "'distances' must be two numbers above 0, inside a node and between nodes"
        raise ReportError(document.path, cause)
    n_bytes = document.number("message_bytes")
    if n_bytes is None or n_bytes < 0.0:
        raise ReportError(document.path, "must have a number 'message_bytes' of at least 0")


def _check_times(document: Document, name: str) -> None:
    """Check the times of messages inside a node or between nodes; empty lists were not measured."""
    if not isinstance(document.data.get(name), dict):
        raise ReportError(document.path, f"must have times '{name}'")
    times = document.table(name)
    for key in ("bytes", "seconds"):
        values = times.get(key)
        if not isinstance(values, list):
            raise ReportError(document.path, f"'{name}' must have a list '{key}'")
        for index, value in enumerate(values):
            if not _is_above_0(value):
                cause = f"entry {index} in '{key}' of '{name}' must be a number above 0"
                raise ReportError(document.path, cause)
    sizes, seconds = times["bytes"], times["seconds"]
    if len(sizes) != len(seconds):
        cause = f"'{name}' has {len(sizes)} sizes and {len(seconds)} times"
        raise ReportError(document.path, cause)
    if any(one >= next_one for one, next_one in pairwise(sizes)):
        raise ReportError(document.path, f"the sizes of '{name}' must increase")
    for key in ("latency", "bandwidth"):
        value = as_number(times.get(key))
        if value is None or value < 0.0:
            raise ReportError(document.path, f"'{name}' must have a number '{key}' of at least 0")


def _is_above_0(value: Any) -> bool:
    number = as_number(value)
    return number is not None and number > 0.0


def _check_probe(document: Document) -> None:
    found = document.data.get("transports")
    if not isinstance(found, list):
        raise ReportError(document.path, "must have a list 'transports'")
    for index, entry in enumerate(found):
        if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
            raise ReportError(document.path, f"transport {index} must have a name")
