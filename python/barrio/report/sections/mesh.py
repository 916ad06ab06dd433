"""Sections on the mesh: its contents, its parts, its ghosts."""

from __future__ import annotations

from typing import Any

from .. import figures, words
from ..colours import colour
from ..documents import Document
from ..framed import Scale
from ..markup import Html, figure, legend, listing, paragraph, table, tag
from ..pictures import Drawing
from ..story import Section, Story, base_name, film, framed_picture, missing_pictures, picture
from .fields import MAX_SIDE_BY_SIDE, side_in_words

_MAX_LEGEND = 24


def mesh_section(story: Story) -> Section | None:
    """Show the results of barrio info and barrio generate."""
    body = [_info_table(document) for document in story.results.of("info")]
    made = [
        [
            base_name(document.text("output")) or document.path.name,
            words.count(document.number("cells")),
            words.count(document.number("vertices")),
            words.count(document.number("parts")),
        ]
        for document in story.results.of("generate")
    ]
    if made:
        body.append(table(["Generated", "cells", "vertices", "parts"], made))
    return Section("mesh", "Mesh", body) if body else None


def _info_table(document: Document) -> Html:
    rows: list[list[object]] = [
        ["format", f"{document.text('format')}, {words.in_bytes(document.number('file_bytes'))}"],
        ["vertices", words.count(document.number("vertices"))],
    ]
    rows += [[n, words.count(document.number("entities", n))] for n in document.table("entities")]
    sets = document.table("sets")
    rows.append(["sets", ", ".join(f"{words.count(document.number('sets', n))} {n}" for n in sets)])
    names = [
        f"{item.get('kind', '')} {item.get('id', '')} {item.get('name', '')}".strip()
        for item in document.items("named_sets")
        if isinstance(item, dict)
    ]
    if names:
        rows.append(["named sets", ", ".join(names)])
    low, high = document.items("box", "low"), document.items("box", "high")
    if low and len(low) == len(high):
        spans = [f"[{a}, {b}]" for a, b in zip(low, high, strict=True)]
        rows.append(["box", " × ".join(spans)])
    quality = document.table("quality")
    if quality:
        shortest, longest = (
            document.number("quality", f"{w}_edge") for w in ("shortest", "longest")
        )
        rows.append(["edges", f"{words.number(shortest)} to {words.number(longest)}"])
        worst, mean = (document.number("quality", f"{w}_edge_ratio") for w in ("min", "mean"))
        rows.append(
            ["edge ratio", f"{words.number(worst)} at worst, {words.number(mean)} on average"]
        )
        rows.append(["inverted cells", words.count(document.number("quality", "inverted"))])
    rows += [["not supported", str(what)] for what in document.items("unsupported")]
    return table([], rows, n_left=2, caption=f"barrio info, {document.path.name}")


def parts_section(story: Story) -> Section | None:
    """Show the mesh and its parts, and the quality of the partition."""
    partitions = story.results.of("partition")
    drawing = story.main_drawing
    if not partitions and drawing is None:
        return None
    body: list[Html] = []
    if partitions:
        body.append(_cut_in_words(partitions[0], is_one_of_many=len(partitions) > 1))
    if drawing is not None:
        body += shape_views(story, drawing)
    bars = _cells_per_part(drawing) if drawing is not None else None
    if len(partitions) == 1:
        body.append(tag("div", bars, _cut_table(partitions), class_="beside"))
    else:
        body += [part for part in (bars, _cut_table(partitions) if partitions else None) if part]
    return Section("parts", "Parts" if partitions or bars else "Shape", body)


def _cut_in_words(document: Document, *, is_one_of_many: bool) -> Html:
    output = base_name(document.text("output")) or document.path.name
    which = f" ({output})" if is_one_of_many else ""
    cells, parts = document.number("cells"), document.number("parts")
    imbalance, cut_sides = document.number("imbalance"), document.number("cut_sides")
    return paragraph(
        f"{document.text('method').upper() or 'The partitioner'} cut {words.count(cells)} cells "
        f"into {words.plural(parts, 'part')}{which}. The largest part has {words.number(imbalance, 4)} "
        f"times the mean number of cells. {words.count(cut_sides)} sides of cells lie between two parts: "
        "ranks communicate across these."
    )


def _cut_table(partitions: list[Document]) -> Html:
    rows = []
    for document in partitions:
        total = sum(
            value
            for phase in document.items("phases")
            if isinstance(phase, dict) and isinstance(value := phase.get("max_seconds"), float)
        )
        rows.append(
            [
                base_name(document.text("output")) or document.path.name,
                document.text("method"),
                words.count(document.number("parts")),
                words.number(document.number("imbalance"), 5),
                words.count(document.number("cut_sides")),
                words.count(document.number("empty_parts")),
                words.seconds(total or None),
            ]
        )
    head = ["partition", "method", "parts", "imbalance", "cut sides", "empty parts", "time"]
    caption = "imbalance = largest part / mean part, in cells"
    if len(rows) == 1:
        return listing(head, rows[0], caption)
    return table(head, rows, n_left=2, caption=caption)


def shape_views(story: Story, drawing: Drawing) -> list[Html]:
    """Show the pictures of a mesh, coloured by part, at some steps if it changes."""
    facts, images = drawing.facts, drawing.images
    n_parts = len(facts.get("cells_of_part", []))
    if facts.get("is_changing"):
        n_parts = int(facts["n_parts"])
    by_part = ", coloured by part" if n_parts > 1 else ""
    body, shown = [], []
    if "parts" in images:
        said = f"{_side_of(facts)}{by_part}."
        shown.append(framed_picture(drawing, ["parts"], f"{drawing.path.name}: {said}", said))
    if "exploded" in images:
        said = "All parts of the mesh, moved apart."
        shown.append(picture(images["exploded"], said, said))
    if "outside" in images:
        said = f"The outside of the mesh{by_part}."
        shown.append(framed_picture(drawing, ["outside"], said, said))
    if not story.is_adapted(drawing):
        shown += inside_views(drawing)
    if shown:
        body.append(tag("div", shown, class_="pair"))
    states = _states(drawing)
    if states:
        body.append(tag("div", states, class_="frames"))
    is_empty = not facts.get("is_changing") and not facts.get("n_cells")
    if is_empty:
        body.append(paragraph("The mesh has no cells: there is nothing to draw."))
    elif not (shown or states) or drawing.fault:
        body.append(missing_pictures(drawing, story.wants_pictures))
    if 1 < n_parts <= _MAX_LEGEND and (shown or states):
        body.append(legend([(colour(i, n_parts), f"part {i}") for i in range(n_parts)]))
    return body


def inside_views(drawing: Drawing, scale: Scale | None = None) -> list[Html]:
    """Show the cells behind a cut."""
    if "inside" not in drawing.images:
        return []
    said = f"{inside_caption(drawing)}."
    return [framed_picture(drawing, ["inside"], f"{drawing.path.name}: {said}", said, scale)]


def inside_caption(drawing: Drawing) -> str:
    """Write where the cells behind the cut begin."""
    cut = drawing.facts["cut"]
    return f"The cells behind {'xyz'[int(cut['axis'])]} = {words.number(cut['at'])}"


def _side_of(facts: dict[str, Any]) -> str:
    if facts.get("has_wall"):
        return "The body that the mesh surrounds, and the side of the box on which it stands, seen from inside"
    if facts.get("has_body"):
        return "The body that the mesh surrounds, without the box around it"
    side = side_in_words(facts)
    return "The outside of the mesh" if side == "on the outside" else f"The mesh, {side}"


def _states(drawing: Drawing) -> list[Html]:
    """Show a mesh that changes at the chosen steps."""
    facts = drawing.facts
    frames: list[tuple[str, str]] = []
    counts = facts.get("cells_of_shown", {})
    for step, time in zip(facts.get("shown_steps", []), facts.get("shown_times", []), strict=True):
        if f"mesh{step}" in drawing.images:
            cells = f", {words.plural(counts[str(step)], 'cell')}" if str(step) in counts else ""
            caption = f"The mesh at time {words.number(time)}, frame {step} of {facts['n_steps'] - 1}{cells}"
            frames.append((f"mesh{step}", caption))
    if len(frames) > MAX_SIDE_BY_SIDE:
        return [film(drawing, frames, Scale())]
    return [framed_picture(drawing, [key], caption, caption) for key, caption in frames]


def _cells_per_part(drawing: Drawing) -> Html | None:
    cells = [int(n) for n in drawing.facts.get("cells_of_part", [])]
    if len(cells) < 2 or drawing.facts.get("is_changing"):
        return None
    colours_said = " Colours as in the pictures." if drawing.images else ""
    caption = f"Cells per part: {words.count(min(cells))} to {words.count(max(cells))}."
    return figure(figures.cells_per_part(cells), caption + colours_said)


def ghosts_section(story: Story) -> Section | None:
    """Show the ghosts of one rank, and the counts of all ranks."""
    loads = story.results.of("load")
    drawing = story.drawing("ghosts")
    if not loads and drawing is None:
        return None
    body = [
        paragraph(
            "Every rank has its own cells and its ghosts: copies of adjacent cells that other ranks "
            "own. The owners send the values on ghosts, in an exchange between neighbours only."
        )
    ]
    tables = [_load_table(document) for document in loads]
    if drawing is not None:
        body += ghost_views(story, drawing, tables[:1])
        tables = tables[1:]
    return Section("ghosts", "Ghosts", body + tables)


def ghost_views(story: Story, drawing: Drawing, tables: list[Html]) -> list[Html]:
    """Show the ghosts of one rank: the picture on the left, the bars and the table of the run on the right."""
    facts = drawing.facts
    rank, n_ranks = int(facts["shown_rank"]), int(facts["n_ranks"])
    owned, ghosts = facts["owned_of_rank"], facts["ghosts_of_rank"]
    owners = [(i, n) for i, n in enumerate(facts["ghosts_of_owner"]) if n > 0]
    body: list[Html] = []
    shown: list[Html] = []
    right: list[Html] = []
    if "ghosts" in drawing.images:
        said = f"Own cells of rank {rank}, and its ghost cells coloured by owner"
        caption = [
            f"Rank {rank} of {n_ranks}: its {words.plural(owned[rank], 'own cell')}",
            f", and its {words.plural(ghosts[rank], 'ghost')}, moved away and coloured by owner."
            if ghosts[rank]
            else "; it has no ghosts.",
            legend(
                [("#dcdcd6", "own cells")]
                + [
                    (colour(i, n_ranks), f"{words.count(n)} owned by rank {i}")
                    for i, n in owners[:_MAX_LEGEND]
                ]
            ),
        ]
        shown.append(picture(drawing.images["ghosts"], said, caption))
    else:
        body.append(missing_pictures(drawing, story.wants_pictures))
        said = ", ".join(f"{words.count(n)} from rank {i}" for i, n in owners[:_MAX_LEGEND])
        body.append(
            paragraph(
                f"Rank {rank} of {n_ranks} has {words.count(owned[rank])} own cells and "
                f"{words.count(ghosts[rank])} ghosts: {said or 'none'}."
            )
        )
    if len(owned) > 1:
        plot = figures.owned_and_ghosts(owned, ghosts, rank)
        total = sum(ghosts) / max(1, sum(owned))
        caption = (
            f"Cells on every rank. In total, ghosts are {words.percent(total)} of the own cells."
        )
        right.append(figure(plot, caption))
    right += tables
    columns = [*shown, tag("div", right)] if shown else right
    return [*body, tag("div", columns, class_="beside")]


def _load_table(document: Document) -> Html:
    lines = (
        ("own cells", "owned_cells", words.count),
        ("ghost cells", "ghost_cells", words.count),
        ("shared vertices", "shared_vertices", words.count),
        ("neighbours", "neighbours", words.number),
        ("messages per exchange", "exchange_messages", words.number),
        ("bytes per exchange", "exchange_bytes", words.in_bytes),
        ("mesh memory", "memory_bytes", words.in_bytes),
        ("peak memory", "peak_resident_bytes", words.in_bytes),
    )
    rows = []
    for name, key, write in lines:
        if not document.table(key):
            continue
        low, mean, high, total = (document.number(key, k) for k in ("min", "mean", "max", "total"))
        is_count = write is words.number and low is not None and float(low).is_integer()
        ends = words.count if is_count else write
        rows.append([name, ends(low), write(mean), ends(high), ends(total)])
    ranks = words.plural(document.number("ranks"), "rank")
    caption = (
        f"{base_name(document.text('input'))} on {ranks}, "
        f"{words.plural(document.number('ghost_layers'), 'layer')} of ghosts, "
        f"loaded in {words.seconds(document.number('seconds'))} ({document.path.name})"
    )
    return table(["per rank", "min", "mean", "max", "total"], rows, caption=caption)
