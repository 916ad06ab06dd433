"""The section on results that have no section of their own: their numbers, and the goals of benchmarks."""

from __future__ import annotations

from typing import Any

from .. import words
from ..documents import Document, as_number
from ..markup import Html, paragraph, table, tag
from ..story import Section, Story, base_name
from .bench import goals_table

_KINDS = (
    "convert",
    "join",
    "record",
    "verification",
    "probe.transport",
    "profiles",
    "bench.amr",
    "bench.exchange",
    "bench.mesh",
    "bench.mesh_scale",
    "bench.rankmap",
    "bench.rankmap_halo",
    "bench.rankmap_halo_plan",
    "bench.rankmap_simulated",
    "bench.strategies",
    "report",
    "doctor",
)
# Keys that the head of the page, the list of documents or the section on phases has.
_ELSEWHERE = {
    "schema",
    "schema_version",
    "barrio",
    "commit",
    "compiler",
    "build",
    "host",
    "time",
    "mpi",
    "nodes",
    "cores_of_rank_0",
    "phases",
    "goals",
}
_MAX_ROWS, _MAX_COLUMNS, _MAX_TABLES = 60, 24, 24
_MAX_ITEMS, _MAX_TEXT = 12, 160  # of a list, and of a text, that are shown


def results_section(story: Story) -> Section | None:
    """Show the results of commands and benchmarks, one after the other."""
    documents = story.results.of(*_KINDS)
    if not documents:
        return None
    body: list[Html] = []
    for document in documents:
        body.append(tag("h3", f"barrio {document.kind.replace('.', ' ')}: {document.path.name}"))
        said = _in_words(document)
        body += [paragraph(said)] if said else []
        if document.kind.startswith("bench.") and document.items("goals"):
            body += goals_table(document)
        body += _tables(document)
    return Section("results", "Results", body)


def _in_words(document: Document) -> str:
    cells, vertices = document.number("cells"), document.number("vertices")
    output = base_name(document.text("output"))
    if document.kind == "convert" and output and cells is not None:
        source = base_name(document.text("input"))
        return (
            f"{source or 'A mesh'} was written as {output}: {words.plural(cells, 'cell')} and "
            f"{words.plural(vertices, 'vertex', 'vertices')}."
        )
    if document.kind == "join" and output and cells is not None:
        n = len(document.items("pieces"))
        before, after = (document.number("report", k) for k in ("vertices_before", "vertices"))
        merged = (
            f", after merging {words.count(before - after)} vertices"
            if before is not None and after is not None
            else ""
        )
        return f"{words.plural(n, 'piece')} became {output}: {words.plural(cells, 'cell')}{merged}."
    if document.kind == "record":
        n = len(document.items("jobs"))
        command = " ".join(str(word) for word in document.items("command"))
        return f"{words.plural(n, 'MPI job')} of '{_text(command)}' recorded."
    if document.kind == "verification":
        is_right = document.data.get("as_planned") is True
        return f"The ranks are {'placed as planned' if is_right else 'not placed as planned'}."
    return ""


def _tables(document: Document) -> list[Html]:
    """Show all numbers and texts: single ones in one table, each list of objects in another."""
    single: list[list[Any]] = []
    tables: list[tuple[str, list[dict[str, Any]]]] = []
    for key, value in document.data.items():
        if key not in _ELSEWHERE:
            _collect(_spoken(key), key, value, single, tables)
    body = [table([], single[:_MAX_ROWS], n_left=2)] if single else []
    for title, rows in tables[:_MAX_TABLES]:
        body.append(_table_of(title, rows))
    return body


def _collect(
    title: str,
    key: str,
    value: Any,
    single: list[list[Any]],
    tables: list[tuple[str, list[dict[str, Any]]]],
) -> None:
    """Put a value into the table of single ones, or into tables of its own."""
    if isinstance(value, dict):
        for inner, of in value.items():
            _collect(f"{title}: {_spoken(inner)}", inner, of, single, tables)
    elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
        rows = [item for item in value if isinstance(item, dict)]
        tables.append((title, rows))
        for index, row in enumerate(rows):
            name = next(
                (str(row[k]) for k in ("name", "part", "id", "path") if row.get(k)), str(index)
            )
            for inner, of in row.items():
                if isinstance(of, list) and any(isinstance(item, dict) for item in of):
                    _collect(f"{title}, {name}: {_spoken(inner)}", inner, of, single, tables)
    else:
        single.append([title, _written(key, value)])


def _table_of(title: str, rows: list[dict[str, Any]]) -> Html:
    """Make a table of objects; columns of objects in them come last."""
    flat = [_flat(row) for row in rows[:_MAX_ROWS]]
    keys = sorted(dict.fromkeys(key for row in flat for key in row), key=lambda key: ": " in key)
    more = f" (the first {_MAX_ROWS} of {len(rows)})" if len(rows) > _MAX_ROWS else ""
    if len(keys) > _MAX_COLUMNS:
        more += f" ({len(keys) - _MAX_COLUMNS} more columns are in the document)"
        keys = keys[:_MAX_COLUMNS]
    n_text = 0
    while n_text < len(keys) and all(isinstance(row.get(keys[n_text], ""), str) for row in flat):
        n_text += 1
    cells = [
        [_written(key, row[key]) if key in row else words.NOTHING for key in keys] for row in flat
    ]
    return table([_spoken(key) for key in keys], cells, n_left=max(n_text, 1), caption=title + more)


def _flat(row: dict[str, Any]) -> dict[str, Any]:
    """Return the values of an object, those of objects in it under both names."""
    flat: dict[str, Any] = {}
    for key, value in row.items():
        if isinstance(value, dict):
            flat |= {
                f"{_text(key)}: {_text(k)}": v
                for k, v in value.items()
                if not isinstance(v, dict | list)
            }
        elif not (isinstance(value, list) and any(isinstance(item, dict) for item in value)):
            flat[_text(key)] = value
    return flat


def _spoken(key: Any) -> str:
    return _text(key).replace("_", " ")


def _written(key: str, value: Any) -> str:
    """Write a value in the unit that its key names."""
    if value is None:
        return words.NOTHING
    if isinstance(value, bool):
        return "yes" if value else "no"
    number = as_number(value)
    if number is None:
        return _text(value)
    if (key.endswith("seconds") or key.startswith("phases: ")) and number >= 0.0:
        return words.seconds(number)
    if key.endswith("bytes") and 0.0 <= number < 2.0**63:
        return words.in_bytes(number)
    is_whole = number.is_integer() and abs(number) < 2.0**53
    return words.count(number) if is_whole else words.number(number, 4)


def _text(value: Any) -> str:
    if isinstance(value, list):
        shown = ", ".join(_text(item) for item in value[:_MAX_ITEMS])
        more = f", and {len(value) - _MAX_ITEMS} more" if len(value) > _MAX_ITEMS else ""
        return (shown + more) or "none"
    text = str(value)
    return text if len(text) <= _MAX_TEXT else f"{text[:_MAX_TEXT]}…"
