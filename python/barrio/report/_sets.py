"""Colours and names of sets, for pictures and their scales."""

from __future__ import annotations

from typing import Any

from .colours import NO_VALUE, colours


def set_colours(numbers: list[int]) -> list[str]:
    """Return the colours of sets, in the order of ascending places; grey for -1, no set."""
    named = colours(sum(number >= 0 for number in numbers))
    return ([NO_VALUE] if numbers and numbers[0] < 0 else []) + named


def set_name(one: dict[str, Any]) -> str:
    """Return the name of a set; its kind and id if it has none."""
    return str(one.get("name") or f"{one.get('kind')} {one.get('id')}")
