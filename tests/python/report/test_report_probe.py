"""Test the pages on barrio probe: one for each transport, and an overview."""

from __future__ import annotations

import copy
import html
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import report_samples as made
from barrio.report.__main__ import main
from barrio.report.probe import timelines
from barrio.report.probe.data import mpi_name
from report_form import check

Write = Callable[..., str]
_PROBE = Path(__file__).resolve().parents[3] / "data" / "probe" / "openmpi.json"


@pytest.fixture
def probe() -> dict[str, Any]:
    """Read the document of the probe; each test has its own copy."""
    return json.loads(_PROBE.read_text(encoding="utf-8"))


def pages(folder: Path, *runs: str) -> dict[str, str]:
    """Make the pages, and return them by name with plain spaces."""
    folder = folder / "pages"
    folder.mkdir(exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    assert main(["-o", str(folder / "report.html"), *runs]) == 0
    return {
        path.name: path.read_text(encoding="utf-8").replace("\u202f", " ").replace("\u00a0", " ")
        for path in folder.iterdir()
    }


def follows(page: str) -> str:
    """Return the lines of the table at the top of a page: question: here."""
    found = re.search(r'<section id="follows".*?<table.*?</thead>(.*?)</table>', page, re.DOTALL)
    lines = re.findall(r"<tr[^>]*>(.*?)</tr>", found[1], re.DOTALL) if found else []
    cells = [
        [
            re.sub(r"<[^>]*>", "", cell)
            for cell in re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", line, re.DOTALL)
        ]
        for line in lines
    ]
    return html.unescape("\n".join(": ".join(line) for line in cells))


def bars(svg: str) -> int:
    """Count the calls in a timeline."""
    return svg.count('class="call"')


def timelines_of(page: str) -> dict[str, str]:
    """Return the timelines of a page by their alternative texts."""
    found = re.findall(r'<svg class="timeline".*?</svg>', page, re.DOTALL)
    return {re.search(r'aria-label="([^"]*)"', svg)[1]: svg for svg in found}  # type: ignore[index]


def test_every_transport_has_its_page_and_a_link_to_it(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, write: Write, probe: dict[str, Any]
) -> None:
    made_pages = pages(tmp_path, write(probe))
    assert set(made_pages) == {
        "report.html", "report-openmpi-shm.html", "report-openmpi-tcp.html",
    }  # fmt: skip
    said = [Path(line).name for line in capsys.readouterr().out.splitlines()]
    assert said[0] == "report.html" and set(said) == set(made_pages)
    overview = check(made_pages["report.html"], files=set(made_pages))
    assert overview.headings == ["MPIs and transports", "Settings", "Documents"]
    assert {link for link in overview.links if not link.startswith("#")} == {
        "report-openmpi-shm.html", "report-openmpi-tcp.html",
    }  # fmt: skip
    for text in (
        "up to 63.9 KiB",
        "from 64 KiB on",
        "256 MiB",
        "one unexpected message of each peer",
    ):
        assert text in made_pages["report.html"]
    page = check(made_pages["report-openmpi-tcp.html"], files=set(made_pages))
    assert page.headings == [
        "Consequences", "Comparison with the thesis", "Timelines", "Programs before and after",
        "Overlap with computing", "Where calls wait, by size", "Send modes", "Release of a sender",
        "Latencies and streams", "Settings",
    ]  # fmt: skip
    for text in ("Open MPI 4.1.4, tcp", "OMPI_MCA_pml=ob1 OMPI_MCA_btl=tcp,self", "sockets of ob1",
                 "AMD EPYC, 2 cores", "2026-11-22 18:48 UTC", "2, on one node"):  # fmt: skip
        assert text in made_pages["report-openmpi-tcp.html"]


def test_same_transport_twice_has_two_pages(
    tmp_path: Path, write: Write, probe: dict[str, Any]
) -> None:
    made_pages = pages(tmp_path, write(probe, "a.json"), write(probe, "b.json"))
    assert len(made_pages) == 5 and "report-openmpi-tcp-2.html" in made_pages


def test_every_figure_has_its_calls(tmp_path: Path, write: Write, probe: dict[str, Any]) -> None:
    page = pages(tmp_path, write(probe))["report-openmpi-shm.html"]
    drawn = timelines_of(page)
    figures, programs = (probe["transports"][0][key] for key in ("figures", "programs"))
    assert len(drawn) == len(figures) + 4
    for figure in figures:
        name = figure["figure"]
        svg = next(
            svg for said, svg in drawn.items()
            if (f"Figure {name}:" in said if name[0].isdigit() else figure["title"][1:] in said)
        )  # fmt: skip
        assert bars(svg) == sum(map(len, figure["ranks"])), name
        assert svg.count("<title>") == bars(svg)
        assert ">T0<" in svg and ">T3<" in svg and ">rank 1<" in svg
    for number, program, key in (("3.9", "tests", "before"), ("3.10", "tests", "after"),
                                 ("3.14", "delayed_waits", "before"),
                                 ("3.15", "delayed_waits", "after")):  # fmt: skip
        svg = next(svg for said, svg in drawn.items() if f"Figure {number}:" in said)
        assert bars(svg) == sum(map(len, programs[program][key]["ranks"]))
    assert page.count('<ul class="legend">') == 1
    for text in ("T2 + 2 (ts + tw) + tw + µ", "2.128 ms", "2.083 ms", "2.055 ms", "tw = 23.5 µs"):
        assert text in page


def test_short_calls_are_seen_and_stay_in_order() -> None:
    sides = timelines.calls_of(
        [
            [
                {"call": "Irecv", "message": 1, "begin": 0.0, "end": 1e-8},
                {"call": "Isend", "message": 0, "begin": 1e-8, "end": 2e-8},
                {"call": "compute", "message": -1, "begin": 2e-8, "end": 3e-3},
                {"call": "Wait", "message": 1, "begin": 3e-3, "end": 3e-3},
                {"call": "Wait", "message": 0, "begin": 3e-3, "end": 3e-3},
            ],
            [{"call": "no call"}, "no call"],
        ]
    )
    assert [call.label for call in sides[0]] == ["IR", "IS", "", "Wr", "Ws"] and sides[1] == []
    svg = timelines.draw(sides, "said", step_seconds=1e-3)
    bars_at = [
        (float(x), float(width))
        for x, width in re.findall(r'class="call" x="([\d.]+)" y="\d+" width="([\d.]+)"', svg)
    ]
    assert len(bars_at) == 5
    for (x, width), (next_x, _) in zip(bars_at, bars_at[1:]):
        assert x + width <= next_x + 0.11
    assert all(width >= 2.9 for _, width in bars_at)
    assert bars_at[-1][0] + bars_at[-1][1] <= 520


def test_what_follows_is_that_of_the_data(
    tmp_path: Path, write: Write, probe: dict[str, Any]
) -> None:
    shm, tcp = (
        follows(pages(tmp_path, write(probe))[f"report-openmpi-{name}.html"])
        for name in ("shm", "tcp")
    )
    for text in (
        "Wait for a send, right after it: blocks from 64 KiB on",
        "Pairs that both send first: would deadlock from 64 KiB on",
        "4 MiB: 1.1 ms, 1.0 µs",
        "127.9 KiB: its receiver waits for this message, waits for another message, tests once, tests "
        "8 times or probes, but not when it sends",
        "A receiver that comes late: a sender of 127.9 KiB continues when the receiver waits, not when it posts",
        "Wait for a send in buffered mode: never blocks, up to 4 MiB",
        "Kept at the receiver until its receive is posted: up to 63.9 KiB",
    ):
        assert text in tcp, (text, tcp)
    assert "blocks from 1 KiB on, the smallest size tried" in shm
    assert "A send completes while its receiver computes: up to 256 B" in shm
    assert "A message arrives while its sender computes: all sizes tried, up to 4 MiB" in shm


def of_tcp(tmp_path: Path, write: Write, probe: dict[str, Any], change: Callable[..., Any]) -> str:
    """Return the page of a transport after a change of its results."""
    changed = copy.deepcopy(probe)
    change(changed["transports"][1])
    return pages(tmp_path, write(changed))["report-openmpi-tcp.html"]


def test_what_follows_changes_with_the_data(
    tmp_path: Path, write: Write, probe: dict[str, Any]
) -> None:
    def all_get_through(found: dict[str, Any]) -> None:
        for row in found["deadlocks"]:
            row["would_deadlock"] = False

    def one_locks(found: dict[str, Any]) -> None:
        all_get_through(found)
        found["deadlocks"][1]["would_deadlock"] = True

    def nothing_blocks(found: dict[str, Any]) -> None:
        for row in found["early_waits"][0]["sizes"]:
            row["wait_blocks"] = False

    def buffers_block(found: dict[str, Any]) -> None:
        found["early_waits"][1]["sizes"][-1]["wait_blocks"] = True

    def nobody_stalls(found: dict[str, Any]) -> None:
        for row in found["releases"]:
            row.update(stalls=False, releases=False)

    def tests_do_nothing(found: dict[str, Any]) -> None:
        for row in found["overlap"]:
            for entry in row["tests"]:
                entry.update(wait_seconds=2e-4, saved=0.0)

    def all_is_hidden(found: dict[str, Any]) -> None:
        found["overlap"][0]["tests"][2]["saved"] = 0.97

    def sender_goes_on_at_the_receive(found: dict[str, Any]) -> None:
        figure = next(f for f in found["figures"] if f["figure"] == "late receiver")
        figure["ranks"][0][-1]["end"] = figure["ranks"][1][1]["end"] + 1e-5

    for change, texts in (
        (all_get_through, ["Pairs that both send first: no deadlock, up to 4 MiB"]),
        (one_locks, ["would deadlock at 4 KiB"]),
        (nothing_blocks, ["right after it: never blocks, up to 4 MiB"]),
        (buffers_block, ["in buffered mode: blocks from 4 MiB on"]),
        (nobody_stalls, ["127.9 KiB: does not wait; 4 MiB: does not wait"]),
        (tests_do_nothing, ["4 MiB: 200.0 µs, 200.0 µs", "hidden by computing: none, for any number of tests"]),
        (all_is_hidden, ["hidden by computing: at most 97 % (1 KiB, 8 tests)"]),
        (sender_goes_on_at_the_receive, ["continues when the receive is posted; its wait lasts 1.0 ms"]),
    ):  # fmt: skip
        said = follows(of_tcp(tmp_path, write, probe, change))
        for text in texts:
            assert text in said, (change.__name__, said)


def test_findings_stand_beside_those_of_2004(
    tmp_path: Path, write: Write, probe: dict[str, Any]
) -> None:
    page = pages(tmp_path, write(probe))["report-openmpi-tcp.html"]
    table = page[page.index('id="thesis"') : page.index('id="timelines"')]
    for text in (
        "MPICH 1.2.5, Beowulf cluster, 2004", "IBM MPI 3.2, SP2, 2004", "Open MPI 4.1.4, tcp, here",
        "Blocks from 60 KB on, until the receiver waits or tests", "Returns at once, with 100 KB too",
        "Returns at once at all sizes up to 4 MiB", "Yes; 32 messages of 32 KiB pass at once",
        "three of 20 KB act like one of 60 KB", "Yes, no wait for a send blocks",
        "ends when the partner waits for its own send", "model: from 373.0 µs",
        "eager limit 1 MiB: kept up to 1023.9 KiB, at most 4 GiB per rank with 4 096 peers",
    ):  # fmt: skip
        assert text in table, text
    slow = of_tcp(
        tmp_path, write, probe,
        lambda found: found["blocking_calls"][-1]["one_way"].update(isend_seconds=3e-3),
    )  # fmt: skip
    assert "Takes up to 3.0 ms, longest at 4 MiB" in slow
    locked = of_tcp(tmp_path, write, probe, lambda f: f["limits"].update(is_cumulative=True))
    assert "No, to the total on its way to a rank; 32 messages" in locked


def test_absent_and_stalled_transports_are_named(
    tmp_path: Path, write: Write, probe: dict[str, Any]
) -> None:
    probe["absent"] = [
        {"name": "ucx-shm", "summary": "", "variables": "", "reason": "no <ucx> & co"}
    ]
    probe["stalled"] = [{"name": "ucx-tcp", "reason": "it did not end within 30.0 s"}]
    probe["settings"][0] = {
        key: probe["settings"][0][key] for key in ("transport", "name", "how", "memory")
    } | {"reason": "no such parameter"}
    overview = pages(tmp_path, write(probe))["report.html"]
    check(overview, files={"report-openmpi-shm.html", "report-openmpi-tcp.html"})
    for text in ("Not measured", "is absent: no &lt;ucx&gt; &amp; co",
                 "</b> has no results: it did not end within 30.0 s", "does not run: no such parameter"):  # fmt: skip
        assert text in overview
    probe["transports"] = []
    alone = pages(tmp_path, write(probe))
    assert list(alone) == ["report.html"] and "No transport was measured." in alone["report.html"]


@pytest.mark.parametrize(
    ("kept", "headings"),
    [
        ([], []),
        (["latencies", "idle_calls"], ["Consequences", "Latencies and streams"]),
        (
            ["latencies", "idle_calls", "limits", "overlap", "streams"],
            ["Consequences", "Overlap with computing", "Latencies and streams", "Settings"],
        ),
        (["programs"], ["Consequences", "Programs before and after"]),
        (["figures"], ["Consequences", "Timelines"]),
    ],
)
def test_parts_may_be_missing(
    tmp_path: Path, write: Write, probe: dict[str, Any], kept: list[str], headings: list[str]
) -> None:
    """Leave experiments out, as other depths and older versions of the probe do."""
    optional = {"latencies", "idle_calls", "limits", "overlap", "streams", "blocking_calls",
                "early_waits", "releases", "deadlocks", "figures", "programs", "profile"}  # fmt: skip
    for found in probe["transports"]:
        for key in optional - set(kept):
            del found[key]
    if "limits" not in kept:
        del probe["settings"]
    made_pages = pages(tmp_path, write(probe))
    for page in made_pages.values():
        check(page, files=set(made_pages))
    found = check(made_pages["report-openmpi-tcp.html"], files=set(made_pages)).headings
    assert [heading for heading in found if heading != "Comparison with the thesis"] == headings
    assert ("Comparison with the thesis" in found) == bool(
        {"overlap", "programs", "figures"} & set(kept)
    )


def test_older_names_and_odd_values_do_no_harm(
    tmp_path: Path, write: Write, probe: dict[str, Any]
) -> None:
    tcp = probe["transports"][1]
    for row in tcp["overlap"]:
        for entry in row["tests"]:
            entry["overlap"] = entry.pop("saved")
    tcp["figures"][0]["ranks"] = [[{"call": "Isend", "begin": "soon"}, 7], None]
    tcp["figures"][1]["is_stalled"] = True
    tcp["releases"] += [None, {"call": "Test"}]
    tcp["latencies"] = {"bytes": 8}
    tcp["programs"]["tests"]["before"] = None
    page = pages(tmp_path, write(probe))["report-openmpi-tcp.html"]
    check(page, files={"report.html"})
    assert "hidden by computing: at most 4 %" in follows(page)
    assert "A wait was given up: with these calls" in page and "Figure 3.2:" not in page


def test_damage_is_said_at_the_top(tmp_path: Path, write: Write, probe: dict[str, Any]) -> None:
    page = pages(tmp_path, write(probe))["report-openmpi-tcp.html"]
    assert "arrived damaged" not in page
    page = of_tcp(
        tmp_path, write, probe,
        lambda f: f["early_waits"][1]["sizes"][0].update(is_damaged=True),
    )  # fmt: skip
    assert "A message arrived damaged, in: early waits." in page


def test_text_is_escaped(tmp_path: Path, write: Write, probe: dict[str, Any]) -> None:
    evil = '<b>&"x"</b>'
    probe |= {"mpi": evil, "host": evil, "stored_in": evil}
    tcp = probe["transports"][1]
    tcp |= {"mpi": evil, "name": evil, "summary": evil, "variables": evil, "host": evil}
    tcp["figures"][0] |= {"figure": evil, "title": evil}
    tcp["figures"][0]["ranks"][0][0]["call"] = evil
    tcp["releases"][1]["call"] = evil
    tcp["early_waits"][2]["mode"] = evil
    tcp["programs"]["tests"]["figures"] = evil
    for setting in probe["settings"]:
        setting |= {"transport": evil, "name": evil, "how": evil, "memory": evil}
    made_pages = pages(tmp_path, write(probe))
    assert len(made_pages) == 3
    for page in made_pages.values():
        check(page, files=set(made_pages))
        assert '&"x"' not in page and "<b>&amp;" not in page
    assert made_pages["report-b-x-b-b-x-b.html"].count("&lt;b&gt;&amp;&quot;x&quot;") > 10


def test_among_other_results_the_probe_has_a_section(
    tmp_path: Path, write: Write, probe: dict[str, Any]
) -> None:
    made_pages = pages(tmp_path, write(probe), write(made.heat()))
    assert list(made_pages) == ["report.html"]
    page = made_pages["report.html"]
    found = check(page)
    assert "Messages between two ranks" in found.headings and "Temperature" in found.headings
    section = page[page.index('id="probe"') : page.index('id="next"')]
    assert "<a " not in section and "<svg" not in section
    for text in ("Open MPI 4.1.4, shm", "Open MPI 4.1.4, tcp: wait after computing, by size",
                 "up to 63.9 KiB", "run barrio report on probe.json alone"):  # fmt: skip
        assert text in section


@pytest.mark.parametrize(
    ("document", "cause"),
    [
        ({}, "must have a list 'transports'"),
        ({"transports": {}}, "must have a list 'transports'"),
        ({"transports": [{"name": "shm"}, 3]}, "transport 1 must have a name"),
    ],
)
def test_broken_document_is_refused(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    write: Write,
    document: dict[str, Any],
    cause: str,
) -> None:
    path = write({"schema": "barrio.probe", "schema_version": 1, **document})
    assert main(["-o", str(tmp_path / "out.html"), path]) == 3
    assert cause in capsys.readouterr().err and not (tmp_path / "out.html").exists()


@pytest.mark.parametrize(
    ("library", "name"),
    [
        ("Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4", "Open MPI 4.1.4"),
        ("MPICH Version:      4.0.2\nMPICH Release date: Thu", "MPICH 4.0.2"),
        ("Spectrum MPI 10, build 3", "Spectrum MPI 10"),
        ("", "MPI"),
    ],
)
def test_mpi_has_a_short_name(library: str, name: str) -> None:
    assert mpi_name(library) == name


def test_nothing_follows_from_a_disturbed_run(
    tmp_path: Path, write: Write, probe: dict[str, Any]
) -> None:
    probe["transports"][1].update(is_disturbed=True, lost_time=0.43)
    setting = next(s for s in probe["settings"] if s["transport"] == "tcp" and "limits" in s)
    setting.update(is_disturbed=True, lost_time=0.2)
    made_pages = pages(tmp_path, write(probe))
    page = made_pages["report-openmpi-tcp.html"]
    assert check(page, files=set(made_pages)).headings == ["Measurements of the disturbed run"]
    assert "disturbed: other work took 43 % of a rank&#x27;s time" in page
    shown = page[: page.index("<details>")]
    assert "63.9 KiB" in page and "63.9 KiB" not in shown and not follows(page)
    assert not re.search(r"blocks|deadlock|comparison with the thesis", shown, re.IGNORECASE)
    overview = made_pages["report.html"]
    table = overview[overview.index('id="transports"') : overview.index('id="settings"')]
    line = table[table.index("report-openmpi-tcp.html") :]
    assert "disturbed: other work took 43 %" in line and "KiB" not in line
    assert "report-openmpi-shm.html" in table and "from 1 KiB on" in table
    mixed = pages(tmp_path, write(probe), write(made.load()))["report.html"]
    assert "shm: wait after computing" in mixed and "tcp: wait after computing" not in mixed
