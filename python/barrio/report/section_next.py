"""The sections at the end: what to try next, and the documents as they are."""

from __future__ import annotations

import json
import shlex

from . import words
from .documents import Document
from .markup import Html, paragraph, table, tag
from .story import Section, Story, base_name

_MAX_RAW = 150_000  # characters of one document
_MAX_ALL_RAW = 1_500_000


def next_section(story: Story) -> Section:
    """Suggest commands that lead on from these results."""
    lines = _suggestions(story)
    listed = [[tag("dt", why), tag("dd", tag("pre", tag("code", line)))] for why, line in lines]
    return Section("next", "What to try next", [tag("dl", listed, class_="try")])


def _suggestions(story: Story) -> list[tuple[str, str]]:
    q = shlex.quote
    mesh = story.mesh_name or "mesh.h5m"
    ranks, parts = int(story.n_ranks() or 4), int(story.n_parts() or 8)
    partitions = story.results.of("partition")
    source = partitions[0].text("input") if partitions else mesh
    method = partitions[0].text("method") if partitions else "rcb"
    other = "rcb" if method != "rcb" else "ptscotch"
    recut = base_name(mesh).rsplit(".", 1)[0] + f"_{other}.h5m"
    lines = [
        ("What is in the mesh file: counts, sets, tags, quality", f"barrio info {q(mesh)}"),
        (
            "Load it on another number of ranks, with all promises checked",
            f"barrio --ranks {2 * ranks} load {q(mesh)} --ghosts 1 --validate",
        ),
        (
            "Cut it by another method and compare the cut sides",
            f"barrio --ranks 2 partition {q(source)} -n {parts} -m {other} -o {q(recut)}",
        ),
    ]
    runs = story.results.of("heat")
    if runs:
        time = runs[0].number("end_time")
        end = f" --end-time {time:g}" if time else ""
        lines.append(
            (
                "Run again on one rank: the checksums must be the same",
                f"mpiexec -n 1 heat {q(mesh)}{end} --result heat1.json",
            )
        )
    traffics = story.results.of("traffic")
    if traffics:
        n = int(traffics[0].data["ranks"])
        machine = f"2x{(n + 1) // 2}"
        lines.append(
            (
                "Place the ranks on a machine of your own",
                f"barrio map {q(str(traffics[0].path))} --machine {machine} -o ranks.txt",
            )
        )
    series = story.drawing("series", "ghosts", "mesh")
    if series is not None:
        lines.append(
            (
                "Look at it from all sides (ParaView 5.12 or newer)",
                f"paraview {q(str(series.path))}",
            )
        )
    return lines


def raw_section(story: Story) -> Section | None:
    """Show every document, folded."""
    documents = story.results.documents
    if not documents:
        return None
    body: list[Html] = [_origin_table(documents)]
    room = _MAX_ALL_RAW
    for document in documents:
        text = json.dumps(document.data, indent=1, ensure_ascii=False)
        limit = min(_MAX_RAW, max(room, 0))
        room -= min(len(text), limit)
        if len(text) > limit:
            text = f"{text[:limit]}\n… cut off here; the whole is in {document.path.name}"
        title = f"{document.path.name} (barrio.{document.kind})"
        body.append(tag("details", tag("summary", title), tag("pre", tag("code", text))))
    return Section("documents", "Documents", body)


def _origin_table(documents: list[Document]) -> Html:
    rows = [
        [
            d.path.name,
            f"barrio.{d.kind}",
            d.text("time") or words.NOTHING,
            d.text("barrio") or words.NOTHING,
            d.text("commit") or words.NOTHING,
            words.count(d.number("ranks")),
        ]
        for d in documents
    ]
    return table(["file", "schema", "time", "barrio", "commit", "ranks"], rows, n_left=5)


def errors_section(story: Story) -> list[Html]:
    """Show what failed, at the top of the page."""
    notes = []
    for document in story.results.of("error"):
        subject, cause, remedy = (
            document.text("error", key) for key in ("subject", "cause", "remedy")
        )
        notes.append(
            tag(
                "div",
                tag("b", f"{document.path.name}: {subject}"),
                paragraph(cause),
                paragraph(f"Remedy: {remedy}") if remedy else None,
                class_="note error",
            )
        )
    return notes
