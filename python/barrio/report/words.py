"""Numbers in words: units and three or four digits, and a dash for what is not there."""

from __future__ import annotations

import math

NOTHING = "–"
_GAP = "\u00a0"  # does not break


def count(value: float | None) -> str:
    """Write a whole number with thin spaces between groups of three."""
    return NOTHING if value is None else f"{round(value):,}".replace(",", "\u202f")


def number(value: float | None, digits: int = 3) -> str:
    """Write a number with so many digits; powers of ten where it is very small or large."""
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
    """Write an exponent."""
    return str(exponent).translate(_RAISED)


_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def unit_of(largest: float) -> tuple[float, str]:
    """Choose the unit of bytes for values up to largest: its size and its name."""
    for size, name in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if largest >= size:
            return size, name
    return 1.0, "B"


def in_bytes(value: float | None) -> str:
    """Write bytes in the unit that suits them (1 kB = 1000 B)."""
    if value is None:
        return NOTHING
    size, name = unit_of(abs(value))
    return f"{number(value / size) if size > 1 else count(value)}{_GAP}{name}"


def seconds(value: float | None) -> str:
    """Write a time in seconds, milliseconds or microseconds."""
    if value is None:
        return NOTHING
    if value == 0.0:
        return f"0{_GAP}s"
    for size, name in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if abs(value) >= size:
            return f"{number(value / size)}{_GAP}{name}"
    return f"{number(value / 1e-9)}{_GAP}ns"


def percent(share: float | None) -> str:
    """Write a share of 1 as per cent."""
    return NOTHING if share is None else f"{100.0 * share:.1f}{_GAP}%"


def kelvin(value: float | None) -> str:
    """Write a temperature or a difference of two."""
    return NOTHING if value is None else f"{number(value)}{_GAP}K"


def plural(n: float | None, one: str, many: str = "") -> str:
    """Write a count and its noun: '1 rank', '4 ranks'."""
    return f"{count(n)} {one if n == 1 else many or one + 's'}"


def listing(words: list[str]) -> str:
    """Join words: 'a', 'a and b', 'a, b and c'."""
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))
