"""What barrio map --measure found: how long messages take inside a node and between nodes, by size."""

from __future__ import annotations

from dataclasses import dataclass

from . import words
from .colours import colours
from .documents import Document

_KINDS = {"inside": "inside a node", "between": "between nodes"}
_MEGABYTE = 1e6  # bandwidths are told in MB/s, as the command and the papers do


@dataclass(frozen=True)
class MessageTimes:
    """Times of messages of one kind, one way, and the two numbers that stand for them."""

    name: str
    colour: str
    sizes: list[float]
    seconds: list[float]
    latency: float
    bandwidth: float  # bytes per second beyond the latency; 0 if not known
    n_pairs: float | None

    def bandwidths(self) -> list[tuple[float, float]]:
        """Return the MB/s of each size."""
        return _rates(self.times())

    def times(self) -> list[tuple[float, float]]:
        """Return the seconds of each size."""
        return list(zip(self.sizes, self.seconds, strict=True))

    def modelled(self) -> list[tuple[float, float]]:
        """Return the seconds that latency and bandwidth alone give each size."""
        if not self.bandwidth:
            return []
        return [(n, self.latency + (n - self.sizes[0]) / self.bandwidth) for n in self.sizes]

    def modelled_bandwidths(self) -> list[tuple[float, float]]:
        """Return the MB/s of that."""
        return _rates(self.modelled())


def _rates(times: list[tuple[float, float]]) -> list[tuple[float, float]]:
    return [(n, n / t / _MEGABYTE) for n, t in times]


def times_of(document: Document) -> dict[str, MessageTimes]:
    """Return what was measured, by 'inside' and 'between'; what was not is left out."""
    return {
        key: MessageTimes(
            name,
            colour,
            [float(n) for n in document.items(key, "bytes")],
            [float(t) for t in document.items(key, "seconds")],
            document.number(key, "latency") or 0.0,
            document.number(key, "bandwidth") or 0.0,
            document.number(key, "pairs"),
        )
        for (key, name), colour in zip(_KINDS.items(), colours(len(_KINDS)), strict=True)
        if document.items(key, "bytes")
    }


def are_distances_known(document: Document) -> bool:
    """Tell whether the distances were measured; else they are the usual ones of barrio map."""
    found = times_of(document)
    return len(found) == len(_KINDS) and all(times.bandwidth for times in found.values())


def message_bytes(document: Document) -> int:
    """Return as how many bytes a message counts beside its own; 0 if that is not known."""
    return round(document.number("message_bytes") or 0.0)


def rate(bytes_per_second: float) -> str:
    """Write a bandwidth as the command does, in 10⁶ bytes per second."""
    return f"{words.number(bytes_per_second / _MEGABYTE)}\u00a0MB/s"


def fit_in_words(times: MessageTimes) -> str:
    """Write the two numbers: 'a latency of 6.2 µs and a bandwidth of 3481 MB/s'."""
    latency = f"a latency of {words.seconds(times.latency)}"
    return f"{latency} and a bandwidth of {rate(times.bandwidth)}" if times.bandwidth else latency
