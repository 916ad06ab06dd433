"""Colours for colour-blind readers, in the same order everywhere."""

from __future__ import annotations

import colorsys
import math
from dataclasses import dataclass

# Okabe and Ito's palette without black, ordered for contrast between neighbours in the list.
_FEW = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#999999")
# Outlines of blocks by level, as barrio/cases/running/slice.cpp draws them; deeper levels have the last one.
OUTLINES = ("#9e9ea8", "#ffffff", "#ffb840", "#ff5c52")
NO_VALUE = "#c3c7cc"  # where a field has no value
_GOLDEN = 0.6180339887498949


def colour(index: int, n_colours: int) -> str:
    """Return the colour of one part or rank out of many, as #rrggbb."""
    if n_colours <= len(_FEW):
        return _FEW[index % len(_FEW)]
    hue = (0.55 + index * _GOLDEN) % 1.0  # far apart for neighbours in the list
    lightness = (0.38, 0.55, 0.72)[index % 3]  # differs for readers who cannot see the hue
    red, green, blue = colorsys.hls_to_rgb(hue, lightness, 0.62)
    return f"#{round(255 * red):02x}{round(255 * green):02x}{round(255 * blue):02x}"


def colours(n_colours: int) -> list[str]:
    """Return the colours of all parts or ranks, in order."""
    return [colour(index, n_colours) for index in range(n_colours)]


def tints(n_colours: int) -> list[str]:
    """Return the colours mixed with white, for faces with visible edges."""
    return [f"#{(int(name[1:], 16) >> 1 & 0x7F7F7F) + 0x808080:06x}" for name in colours(n_colours)]


@dataclass(frozen=True)
class Bands:
    """A colour scale from low to high, in bands of a round width."""

    low: float
    high: float
    count: int
    colour_map: str = "inferno"


def round_bands(lowest: float, highest: float, about: int = 20) -> Bands:
    """Choose about that many bands, each 1, 2, 2.5 or 5 times a power of ten wide.

    Values may exceed the scale by a tenth of a band, so that a small undershoot adds no band.
    """
    if not (math.isfinite(lowest) and math.isfinite(highest)):
        lowest, highest = 0.0, 1.0
    least = max(abs(lowest), abs(highest), 1e-30) * 1e-6
    if highest - lowest < least:
        lowest, highest = lowest - least, highest + least
    raw = (highest - lowest) / about
    power = 10.0 ** math.floor(math.log10(raw))
    width = next(m * power for m in (1.0, 2.0, 2.5, 5.0, 10.0) if m * power >= 0.9 * raw)
    first, last = math.floor(lowest / width + 0.1), math.ceil(highest / width - 0.1)
    return Bands(first * width, last * width, last - first)
