"""HTML escaped by construction: only tag() and raw() make markup of text."""

from __future__ import annotations

import html
import re
from typing import Any

_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
_VOID = {"img", "input", "meta", "br", "col", "hr"}


class Html(str):
    """Text that is already HTML."""

    __slots__ = ()


def raw(text: str) -> Html:
    """Use text as HTML. Only for text that this package made itself."""
    return Html(text)


def escape(text: object) -> str:
    """Escape text for HTML, and drop characters that HTML does not allow."""
    return html.escape(_CONTROL.sub("", str(text)), quote=True)


def join(children: Any) -> Html:
    """Concatenate children: Html unchanged, lists item by item, None as nothing, all else escaped."""
    if children is None:
        return Html("")
    if isinstance(children, Html):
        return children
    if isinstance(children, list | tuple):
        return Html("".join(join(child) for child in children))
    return Html(escape(children))


def tag(name: str, /, *children: Any, **attributes: Any) -> Html:
    """Make an element. A trailing _ of an attribute is dropped (class_), and so is an attribute None."""
    said = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in _VOID:
        return Html(f"<{name}{said}>")
    return Html(f"<{name}{said}>{join(children)}</{name}>")


def paragraph(*children: Any, **attributes: Any) -> Html:
    """Make a paragraph."""
    return tag("p", *children, **attributes)


def table(head: list[Any], rows: list[list[Any]], n_left: int = 1, caption: Any = None) -> Html:
    """Make a table that scrolls sideways on a narrow screen; columns after n_left are numbers."""

    def line(kind: str, cells: list[Any]) -> Html:
        if len(cells) == 1 and isinstance(cells[0], Html) and cells[0].startswith("<tr"):
            return cells[0]
        made = []
        for index, cell in enumerate(cells):
            if isinstance(cell, Html) and cell.startswith(("<td", "<th")):
                made.append(cell)
                continue
            name = "th" if kind == "th" or index == 0 else "td"
            scope = None if name == "td" else ("col" if kind == "th" else "row")
            made.append(tag(name, cell, class_=None if index < n_left else "n", scope=scope))
        return tag("tr", made)

    return tag(
        "div",
        tag(
            "table",
            tag("caption", caption) if caption else None,
            tag("thead", line("th", head)) if head else None,
            tag("tbody", [line("td", row) for row in rows]),
        ),
        class_="scroll",
        tabindex="0",
    )


def listing(head: list[Any], row: list[Any], caption: Any = None) -> Html:
    """Make a table with one row as two columns, of names and values."""
    return table([], [[*pair] for pair in zip(head, row, strict=True)], n_left=2, caption=caption)


def figure(content: Any, caption: Any, class_: str = "") -> Html:
    """Make a figure with its caption."""
    return tag("figure", content, tag("figcaption", caption), class_=class_ or None)


def legend(entries: list[tuple[str, str]]) -> Html:
    """Make a row of coloured squares with labels."""
    chips = [tag("li", tag("i", style=f"background:{colour}"), name) for colour, name in entries]
    return tag("ul", chips, class_="legend")
