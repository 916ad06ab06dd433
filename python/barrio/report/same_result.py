"""Compare runs of one problem on several rank counts: a sentence with a badge."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable

from . import words
from .documents import Document
from .markup import Html, paragraph, tag


def compare_ranks(
    documents: Iterable[tuple[Hashable, Document]],
    checksum: str,
    same: Callable[[Document, str], str],
    differs: Callable[[Document, int, str], str],
) -> list[Html]:
    """Compare the checksums of each group that ran on more than one rank count.

    `documents` come with the key of their group. `same` and `differs` make a sentence from the first
    document of a group, the number of different results (`differs` only), and the rank counts in words.
    """
    groups: dict[Hashable, list[Document]] = {}
    for key, document in documents:
        if document.text(checksum):
            groups.setdefault(key, []).append(document)
    said = []
    for group in groups.values():
        ranks = sorted({int(document.number("ranks") or 0) for document in group})
        if len(ranks) < 2:
            continue
        where = words.listing([str(n) for n in ranks])
        n_results = len({document.text(checksum) for document in group})
        if n_results == 1:
            badge, text = tag("span", "same", class_="badge good"), same(group[0], where)
        else:
            badge = tag("span", "differs", class_="badge bad")
            text = differs(group[0], n_results, where)
        said.append(paragraph(badge, " ", text))
    return said
