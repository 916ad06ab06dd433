"""Pages on barrio probe: one for each MPI and transport, and an overview.

If all documents are of the probe, the output is the overview, and the pages are in the same folder:
-o report.html gives report.html and, for instance, report-openmpi-tcp.html. Links are relative, so
the files can be moved together; each page is self-contained. Among results of other kinds the
probe gets a section of the one page instead (sections/probe.py).
"""

from __future__ import annotations

from pathlib import Path

from .. import words
from ..documents import Document, Results
from ..markup import Html, listing, paragraph, raw, tag
from ..page import contents, span_of_times, whole_page, written
from ..story import Section
from .data import Transport, damages, disturbance, limit, limits_of, transports_of
from .figures import figures_body, programs_body
from .findings import findings_table
from .follows import follows_table
from .tables import (
    blocking_tables,
    latency_parts,
    missing,
    modes_table,
    overlap_plot,
    overlap_table,
    releases_table,
    settings_tables,
    transports_table,
)

_TITLE = "barrio: messages between two ranks"


def is_for_probe_only(results: Results) -> bool:
    """Tell whether all results are of the probe."""
    return (
        not results.vtkhdf_files
        and bool(results.documents)
        and all(document.kind == "probe" for document in results.documents)
    )


def make_probe_pages(results: Results, output: Path) -> dict[Path, str]:
    """Return the pages by path: the transports first, the overview (output) last."""
    transports = transports_of(results)
    places = {
        transport.slug: output.with_name(f"{output.stem}-{transport.slug}{output.suffix}")
        for transport in transports
    }
    pages = {places[t.slug]: transport_page(t, output.name) for t in transports}
    links = {slug: place.name for slug, place in places.items()}
    pages[output] = overview_page(results, transports, links)
    return pages


def overview_page(results: Results, transports: list[Transport], links: dict[str, str]) -> str:
    """Compare all MPIs and transports, with links to the page of each."""
    documents = results.of("probe")
    made = [
        Section("transports", "MPIs and transports", _compared(transports, links)),
        _section("absent", "Not measured", _absent(documents)),
        _section("settings", "Settings", _settings(transports)),
        Section("documents", "Documents", [_origins(document) for document in documents]),
    ]
    n_mpis = len({transport.mpi for transport in transports})
    lead = (
        f"{words.spelled(len(transports), 'transport')} of {words.spelled(n_mpis, 'MPI')}: up to "
        "which sizes messages travel without help, where calls wait for the other side, and which "
        "calls release them."
    )
    lead = lead[0].upper() + lead[1:]
    return _page(_TITLE, [tag("h1", _TITLE), paragraph(lead, class_="lead")], made)


def _compared(transports: list[Transport], links: dict[str, str]) -> list[Html]:
    if not transports:
        return [paragraph("No transport was measured.")]
    return [transports_table(transports, links)]


def _settings(transports: list[Transport]) -> list[Html]:
    return [
        part for transport in transports for part in settings_tables(transport, transport.title)
    ]


def _absent(documents: list[Document]) -> list[Html | None]:
    return [note for document in documents for note in missing(document)]


def _origins(document: Document) -> Html:
    stored = document.text("stored_in")
    return listing(
        ["file", "MPI", "host", "time", "barrio", "ranks", "duration", "profiles stored in"],
        [
            document.path.name,
            document.text("mpi").strip("\x00 \n") or words.NOTHING,
            document.text("host") or words.NOTHING,
            span_of_times(document.text("time"), document.text("time")) or words.NOTHING,
            _barrio(document),
            words.count(document.number("ranks")),
            words.seconds(document.number("seconds")),
            tag("code", stored) if stored else "not stored",
        ],
    )


def _barrio(document: Document) -> str:
    version, commit = document.text("barrio"), document.text("commit")
    compiler = " ".join(filter(None, [document.text("compiler"), document.text("build")]))
    said = filter(None, [version, commit and f"commit {commit}", compiler])
    return ", ".join(said) or words.NOTHING


def transport_page(transport: Transport, overview: str) -> str:
    """Return the page of one transport."""
    back = paragraph(tag("a", "All MPIs and transports", href=overview), class_="soft")
    header = [back, tag("h1", transport.title), _cards(transport), _about(transport)]
    broken = damages(transport.found)
    if broken:
        where = words.listing(broken)
        header.append(paragraph(f"A message arrived damaged, in: {where}.", class_="note error"))
    if transport.is_disturbed:
        header.append(
            paragraph(
                f"This run was {disturbance(transport.found)}. It has no valid results, and no "
                "limits are given. Probe again on an idle host, with a core for each of the two "
                "ranks.",
                class_="note error",
            )
        )
        folded = [
            tag("details", tag("summary", f"{made.title} (disturbed)"), made.body)
            for made in _measured(transport)
            if made is not None
        ]
        disturbed = _section("disturbed", "Measurements of the disturbed run", folded)
        return _page(f"barrio: {transport.title}", header, [disturbed])
    made = [
        _section("follows", "Consequences", [follows_table(transport)]),
        _section("thesis", "Comparison with the thesis", [findings_table(transport)]),
        *_measured(transport),
    ]
    return _page(f"barrio: {transport.title}", header, made)


def _measured(transport: Transport) -> list[Section | None]:
    return [
        _section("timelines", "Timelines", figures_body(transport)),
        _section("programs", "Programs before and after", programs_body(transport)),
        _section(
            "overlap",
            "Overlap with computing",
            [overlap_plot(transport), overlap_table(transport)],
        ),
        _section("blocking", "Where calls wait, by size", blocking_tables(transport)),
        _section("modes", "Send modes", [modes_table(transport)]),
        _section("releases", "Release of a sender", [releases_table(transport)]),
        _section("streams", "Latencies and streams", latency_parts(transport)),
        _section("settings", "Settings", settings_tables(transport)),
    ]


def _cards(transport: Transport) -> Html:
    cards: list[tuple[str, str]] = []
    if transport.is_disturbed:
        return raw("")
    latencies = transport.rows("latencies")
    if latencies:
        n = words.in_bytes(latencies[0].number("bytes"))
        cards.append((words.seconds(latencies[0].number("seconds")), f"a message of {n}"))
    limits = limits_of(transport.found)
    for key, name in (
        ("eager_bytes", "kept until a receive is posted"),
        ("arriving_bytes", "arrive while the sender computes"),
        ("detached_bytes", "leave while the receiver computes"),
    ):
        if limits.number(key) is not None:
            cards.append((limit(limits, key), name))
    if not cards:
        return raw("")
    return tag("ul", [tag("li", tag("b", v), tag("span", n)) for v, n in cards], class_="cards")


def _about(transport: Transport) -> Html:
    found = transport.found
    variables = found.text("variables")
    kind = found.text("platform", "host_kind")
    apart = found.data.get("is_between_nodes")
    where = {True: ", on different nodes as MPI sees it", False: ", on one node"}.get(apart, "")
    return listing(
        ["MPI", "transport", "variables", "ranks", "host", "time", "duration", "barrio"],
        [
            found.text("mpi").strip("\x00 \n") or transport.mpi,
            ": ".join(filter(None, [transport.name, found.text("summary")])),
            tag("code", variables) if variables else "none",
            f"{words.count(found.number('ranks'))}{where}",
            " ".join(filter(None, [found.text("host"), kind and f"({kind})"])) or words.NOTHING,
            span_of_times(found.text("time"), found.text("time")) or words.NOTHING,
            words.seconds(found.number("seconds")),
            _barrio(found),
        ],
    )


def _section(anchor: str, title: str, body: list[Html | None] | list[Html]) -> Section | None:
    there = [part for part in body if part]
    return Section(anchor, title, there) if there else None


def _page(title: str, header: list[Html], made: list[Section | None]) -> str:
    sections = [section for section in made if section is not None]
    main = tag("main", tag("header", header), contents(sections), written(sections))
    return whole_page(title, main)
