"""Numbers as text: with units and three or four digits, and a dash for missing values."""

from __future__ import annotations

import math

NOTHING = "–"
_GAP = "\u00a0"  # no-break space


def count(value: float | None) -> str:
    """Write a whole number with thin spaces between groups of three."""
    return NOTHING if value is None else f"{round(value):,}".replace(",", "\u202f")


def number(value: float | None, digits: int = 3) -> str:
    """Write a number with this many digits; with a power of ten if it is very small or large."""
    if value is None:
        return NOTHING
    if value == 0.0 or not math.isfinite(value):
        return "0" if value == 0.0 else str(value)
    power = math.floor(math.log10(abs(value)))
    if -4 <= power < 6:
        places = max(0, digits - 1 - power)
        text = f"{value:.{places}f}"
        if power >= 4:
            text = f"{value:,.0f}".replace(",", "\u202f")
        return text
    mantissa, _, exponent = f"{value:.{digits - 1}e}".partition("e")
    return f"{mantissa}{_GAP}×{_GAP}10{raised(int(exponent))}"


def raised(exponent: int) -> str:
    """Write an exponent in superscript."""
    return str(exponent).translate(_RAISED)


_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def unit_of(largest: float) -> tuple[float, str]:
    """Choose the unit of bytes for values up to `largest`. @return its size and its name"""
    for power, name in ((5, "PiB"), (4, "TiB"), (3, "GiB"), (2, "MiB"), (1, "KiB")):
        if largest >= 1024.0**power:
            return 1024.0**power, name
    return 1.0, "B"


def in_bytes(value: float | None) -> str:
    """Write bytes as the command does, in a suitable unit (1 KiB = 1024 B)."""
    if value is None:
        return NOTHING
    size, name = unit_of(abs(value))
    if abs(value) >= 1e4 * size:
        return f"{number(value / size)}{_GAP}{name}"
    return f"{f'{value / size:.1f}' if size > 1 else count(value)}{_GAP}{name}"


def seconds(value: float | None) -> str:
    """Write a time as the command does: in minutes, seconds, milli-, micro- or nanoseconds."""
    if value is None:
        return NOTHING
    if value == 0.0:
        return f"0{_GAP}s"
    if abs(value) >= 6e5:
        return f"{number(value / 60.0)}{_GAP}min"
    for least, size, digits, name in (
        (120.0, 60.0, 1, "min"),
        (1.0, 1.0, 2, "s"),
        (1e-3, 1e-3, 1, "ms"),
        (1e-6, 1e-6, 1, "µs"),
    ):
        if abs(value) >= least:
            return f"{value / size:.{digits}f}{_GAP}{name}"
    return f"{value / 1e-9:.0f}{_GAP}ns"


def percent(share: float | None, digits: int = 1) -> str:
    """Write a share of 1 as per cent."""
    return NOTHING if share is None else f"{100.0 * share:.{digits}f}{_GAP}%"


def kelvin(value: float | None) -> str:
    """Write a temperature, or a difference of temperatures."""
    return NOTHING if value is None else f"{number(value)}{_GAP}K"


_SMALL = [
    "no",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
]


def spelled(n: int, one: str) -> str:
    """Write a count, up to twelve as a word, with its noun: 'two nodes', '16 cores'."""
    said = _SMALL[n] if 0 <= n < len(_SMALL) else count(n)
    return f"{said} {one if n == 1 else one + 's'}"


def plural(n: float | None, one: str, many: str = "") -> str:
    """Write a count with its noun: '1 rank', '4 ranks'."""
    return f"{count(n)} {one if n == 1 else many or one + 's'}"


def listing(words: list[str]) -> str:
    """Join words: 'a', 'a and b', 'a, b and c'."""
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))
