"""Results of barrio map --measure: message times by size, inside a node and between nodes."""

from __future__ import annotations

from dataclasses import dataclass

from . import words
from .colours import colours
from .documents import Document

_KINDS = {"inside": "inside a node", "between": "between nodes"}
_MEGABYTE = 1e6  # bandwidths are in MB/s, as in the command and the papers


@dataclass(frozen=True)
class MessageTimes:
    """One-way times of messages inside a node or between nodes, with fitted latency and bandwidth."""

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
        """Return the seconds of each size by the model of latency and bandwidth."""
        if not self.bandwidth:
            return []
        return [(n, self.latency + (n - self.sizes[0]) / self.bandwidth) for n in self.sizes]

    def modelled_bandwidths(self) -> list[tuple[float, float]]:
        """Return the MB/s of each size by the model."""
        return _rates(self.modelled())


def _rates(times: list[tuple[float, float]]) -> list[tuple[float, float]]:
    return [(n, n / t / _MEGABYTE) for n, t in times]


def times_of(document: Document) -> dict[str, MessageTimes]:
    """Return the measured times by 'inside' and 'between', without those not measured."""
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
    """Tell whether the distances were measured; else they are the defaults of barrio map."""
    found = times_of(document)
    return len(found) == len(_KINDS) and all(times.bandwidth for times in found.values())


def message_bytes(document: Document) -> int:
    """Return the cost of a message in bytes, in addition to its own; 0 if unknown."""
    return round(document.number("message_bytes") or 0.0)


def rate(bytes_per_second: float) -> str:
    """Write a bandwidth as the command does, in 10⁶ bytes per second."""
    return f"{words.number(bytes_per_second / _MEGABYTE)}\u00a0MB/s"


def fit_in_words(times: MessageTimes) -> str:
    """Write the fit: 'a latency of 6.2 µs and a bandwidth of 3481 MB/s'."""
    latency = f"a latency of {words.seconds(times.latency)}"
    return f"{latency} and a bandwidth of {rate(times.bandwidth)}" if times.bandwidth else latency
