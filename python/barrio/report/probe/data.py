"""Results of barrio probe by MPI and transport, and simple queries on them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from .. import words
from ..documents import Document, Results

STEP_SECONDS = 1e-3  # default of the time that the other side computes in an experiment
_FLAVOURS = (
    (re.compile(r"Open MPI v?([\w.]+)"), "Open MPI", "openmpi"),
    (re.compile(r"MPICH Version:\s*([\w.]+)"), "MPICH", "mpich"),
)
_MAX_NAME = 40  # characters of the name of another MPI


@dataclass(frozen=True)
class Transport:
    """One transport of one MPI: its results, and the settings tried with it."""

    found: Document
    mpi: str
    slug: str  # for a file name, unique among all transports
    settings: list[Document] = field(default_factory=list)

    @property
    def name(self) -> str:
        """Name of the transport, as given to the probe."""
        return self.found.text("name")

    @property
    def title(self) -> str:
        """Name of the MPI and the transport."""
        return f"{self.mpi}, {self.name}"

    @property
    def is_disturbed(self) -> bool:
        """Other work took so much time that the measurements have no meaning."""
        return is_true(self.found, "is_disturbed")

    def rows(self, *keys: str) -> list[Document]:
        """Return the objects of a list under nested keys."""
        return rows(self.found, *keys)


def disturbance(found: Document) -> str:
    """Write the share of time that other work took from a disturbed transport or setting."""
    lost = found.number("lost_time")
    part = "much" if lost is None else words.percent(lost, 0)
    return f"disturbed: other work took {part} of a rank's time"


def rows(found: Document, *keys: str) -> list[Document]:
    """Return the objects of a list under nested keys, each as a document."""
    entries = found.items(*keys)
    return [Document(found.path, found.kind, row) for row in entries if isinstance(row, dict)]


def transports_of(results: Results) -> list[Transport]:
    """Return all transports, in the order given."""
    all_of: list[Transport] = []
    taken: set[str] = set()
    for document in results.of("probe"):
        for found in rows(document, "transports"):
            library = found.text("mpi") or document.text("mpi")
            slug = _slug(f"{_flavour(library)}-{found.text('name')}")
            n_alike = 1
            while slug in taken:
                n_alike += 1
                slug = _slug(f"{_flavour(library)}-{found.text('name')}-{n_alike}")
            taken.add(slug)
            settings = [
                setting
                for setting in rows(document, "settings")
                if setting.text("transport") == found.text("name")
            ]
            all_of.append(Transport(found, mpi_name(library), slug, settings))
    return all_of


def mpi_name(library: str) -> str:
    """Shorten the library version of an MPI: 'Open MPI 4.1.4'."""
    for pattern, name, _ in _FLAVOURS:
        version = pattern.search(library)
        if version:
            return f"{name} {version[1]}"
    first = re.split(r"[,\n\x00]", library, maxsplit=1)[0].strip()
    return first[:_MAX_NAME] or "MPI"


def _flavour(library: str) -> str:
    return next(
        (flavour for pattern, _, flavour in _FLAVOURS if pattern.search(library)),
        mpi_name(library),
    )


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-") or "transport"


def size(n_bytes: float | None) -> str:
    """Write a message size: '4 KiB', '3.9 KiB'."""
    return words.in_bytes(n_bytes).replace(".0\u00a0", "\u00a0")


def limit(limits: Document, key: str) -> str:
    """Write a limit: 'none', 'up to 4 KiB', 'all up to 4 MiB'; a dash if it was not measured."""
    if key in limits.data and limits.data[key] is None:
        return "not found: host busy"
    n, largest = limits.number(key), limits.number("largest_tried_bytes")
    if n is None:
        return words.NOTHING
    if n == 0:
        return "none"
    return f"all up to {size(n)}" if largest is not None and n >= largest else f"up to {size(n)}"


def limits_of(found: Document) -> Document:
    """Return the limits of a transport or a setting."""
    return Document(found.path, found.kind, found.table("limits"))


def is_true(row: Document, *keys: str) -> bool:
    """Tell whether a flag is present and set."""
    *path, last = keys
    return row.table(*path).get(last) is True if path else row.data.get(last) is True


@dataclass(frozen=True)
class Onset:
    """The sizes at which an effect occurs, of those that were tried."""

    at: list[float]
    tried: list[float]

    @property
    def is_never(self) -> bool:
        """The effect occurs at none of the sizes tried."""
        return bool(self.tried) and not self.at

    @property
    def is_from_here_on(self) -> bool:
        """The effect occurs at some size and at all larger ones."""
        return bool(self.at) and self.at == self.tried[-len(self.at) :]

    def in_words(self) -> str:
        """Write the sizes: 'from 4 KiB on', 'at no size up to 4 MiB', 'at 4 KiB and 1 MiB'."""
        if not self.tried:
            return words.NOTHING
        if not self.at:
            return f"at no size up to {size(self.tried[-1])}"
        if not self.is_from_here_on:
            return f"at {words.listing([size(n) for n in self.at])}"
        smallest = ", the smallest size tried" if self.at == self.tried else ""
        return f"from {size(self.at[0])} on{smallest}"


def onset(entries: list[Document], *keys: str) -> Onset:
    """Find the sizes at which a flag is set."""
    known = sorted(
        (n, is_true(row, *keys)) for row in entries if (n := row.number("bytes")) is not None
    )
    return Onset([n for n, holds in known if holds], [n for n, _ in known])


def sizes_of_mode(transport: Transport, mode: str) -> list[Document]:
    """Return the waits right after a send, for one send mode, by size."""
    for entry in transport.rows("early_waits"):
        if entry.text("mode") == mode:
            return rows(entry, "sizes")
    return []


def wait_after(row: Document, n_calls: int, key: str = "tests") -> float | None:
    """Return the remaining wait after computing with this many calls."""
    for entry in rows(row, key):
        if entry.number("calls") == n_calls:
            return entry.number("wait_seconds")
    return None


def test_counts(transport: Transport) -> list[int]:
    """Return the numbers of tests that were tried while computing."""
    counts = {
        int(n)
        for row in transport.rows("overlap")
        for entry in rows(row, "tests")
        if (n := entry.number("calls")) is not None
    }
    return sorted(counts)


def damages(found: Document) -> list[str]:
    """Return the names of the experiments in which a message arrived damaged."""
    named = [key for key, value in found.data.items() if _has_damage(value)]
    return [name.replace("_", " ") for name in named]


def _has_damage(value: object) -> bool:
    if isinstance(value, dict):
        return value.get("is_damaged") is True or any(_has_damage(v) for v in value.values())
    return isinstance(value, list) and any(_has_damage(v) for v in value)
