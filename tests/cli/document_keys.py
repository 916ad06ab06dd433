"""Every key of a result document stands in docs/reference/documents.md. All tests that read a document check that."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Iterator
from pathlib import Path

PAGE = Path(os.environ["BARRIO_SOURCE"]) / "docs" / "reference" / "documents.md"
# Objects whose keys are names: of types, sets, fields, owners of memory, phases.
BY_NAME = {
    "entities",
    "max_memory_of_rank",
    "nodes_per_cell",
    "phases",
    "series",
}


@functools.cache
def known_keys() -> dict[str, set[str]]:
    """Return the words in code style that the page has for each schema, with those of schemas that it refers to."""
    text = PAGE.read_text()
    head, _, table = text.partition("| schema |")
    table, _, foot = table.partition("\n\n")
    words = functools.partial(re.findall, r"`(\w+)`")
    in_braces = " ".join(re.findall(r"`\{([^}]*)\}`", foot))
    common = {*words(head), *words(foot), *re.findall(r"\w+", in_braces)}
    rows: dict[str, tuple[set[str], set[str]]] = {}
    for line in table.splitlines():
        cells = line.split(" | ")
        if len(cells) < 3:
            continue
        referred = set(re.findall(r"`(barrio\.[\w.]+)`", cells[2]))
        for schema in re.findall(r"`(barrio[\w.]*)`", cells[0]):
            keys, others = rows.setdefault(schema, (set(), set()))
            keys.update(words(" | ".join(cells[2:])))
            others.update(referred)
    return {
        schema: common | keys | set().union(*(rows[other][0] for other in others if other in rows))
        for schema, (keys, others) in rows.items()
    }


def keys_of(value: object, parent: str = "") -> Iterator[tuple[str, str]]:
    """Yield each key of a document with the key above it."""
    if isinstance(value, list):
        for item in value:
            yield from keys_of(item, parent)
    elif isinstance(value, dict):
        for key, item in value.items():
            if parent not in BY_NAME:
                yield parent, key
            yield from keys_of(item, key if parent not in BY_NAME else "")


def unknown(document: object) -> list[str]:
    """List the keys of a document that the page does not have."""
    if not isinstance(document, dict) or "schema" not in document:
        return []
    schema = document["schema"]
    known = known_keys().get(schema)
    if known is None:
        return [f"the schema {schema}"]
    found = dict.fromkeys(
        f"{schema}: {parent}.{key}" for parent, key in keys_of(document) if key not in known
    )
    return list(found)
