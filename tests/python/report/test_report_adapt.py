"""Test the sections on adaptation and on its benchmark."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import report_samples as made
from barrio.report.__main__ import main
from report_form import check

Write = Callable[..., str]


def report(tmp_path: Path, *runs: str) -> str:
    """Make the page of some results, and return it with plain spaces."""
    output = tmp_path / "report.html"
    assert main(["-o", str(output), *runs]) == 0
    return output.read_text(encoding="utf-8").replace("\u202f", " ").replace("\u00a0", " ")


def rows_of(page: str) -> dict[str, list[str]]:
    """Return the cells of all rows of tables, by the first cell."""
    rows = {}
    for row in re.findall(r"<tr>(.*?)</tr>", page):
        first, *others = re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row)
        rows[first] = [re.sub("<.*?>", "", cell) for cell in others]
    return rows


def test_an_adaptation_is_shown_with_its_changes(tmp_path: Path, write: Write) -> None:
    page = report(tmp_path, write(made.adapt()))
    assert check(page).headings[:2] == ["Adaptation", "Time per phase and rank"]
    text = re.sub("<.*?>", "", html.unescape(page))
    assert "shock.h5m: 48 000 tets of box.h5m became 59 826 on 2 ranks in 3.75 s" in text
    assert "Edge lengths are requested by plane,x=0.5,min_size=0.03." in text
    rows = rows_of(page)
    for name, value in (
        ("cells before", "48 000"), ("cells", "59 826"), ("vertices", "11 031"),
        ("min quality", "0.551"), ("mean quality", "0.860"), ("edges in range", "91.8 %"),
        ("time taken", "3.75 s"), ("thereof load balancing", "30.0 ms (0.8 %)"),
        ("checksum", "e87016ed299688d4"),
    ):  # fmt: skip
        assert rows[name] == [value]
    assert rows["splits"] == ["12 993", "26 100", "50 %", "14", "21"]
    assert rows["moves"] == ["20 285", "100 006", "20 %", "30", "223"]
    assert page.count("<svg") == 1
    assert "adapt contains adapt.*; adapt.rounds contains adapt.border" in page


def suggestions_in(page: str) -> dict[str, str]:
    """Return the commands to try next, by why."""
    found = re.findall(r"<dt>(.*?)</dt><dd><pre><code>(.*?)</code>", page, re.DOTALL)
    return {html.unescape(why): html.unescape(line) for why, line in found}


def test_what_to_try_next_leads_on_from_the_adapted_mesh(tmp_path: Path, write: Write) -> None:
    options = {"feature_angle": 30.0, "min_quality": 0.3, "min_size": 0.0, "max_size": None}
    run = made.adapt() | {"options": options | {"frozen": ["wall one"]}, "left_out": ["ids"]}
    found = suggestions_in(report(tmp_path, write(run)))
    assert found["Adapt it on one rank: the checksum must be the same, e87016ed299688d4"].endswith(
        "--ranks 1 adapt box.h5m --size plane,x=0.5,min_size=0.03 --feature-angle 30 --frozen 'wall one' "
        "--leave-out -o shock_again.h5m"
    )
    look = "Look into the adapted mesh: its sets, a cut through its cells, sizes and quality"
    assert found[look].endswith(" show shock.h5m -o shock.html")


def test_what_to_try_next_leads_on_from_the_flow(tmp_path: Path, write: Write) -> None:
    run = made.amr() | {"case": "cases/tube.toml", "output": {"file": "tube.vtkhdf", "states": 3}}
    found = suggestions_in(report(tmp_path, write(run)))
    look = found["Look at all fields of the flow, its states as a film"]
    assert look.endswith(" show tube.vtkhdf -o tube.html")
    more = found["Compute tube.toml with another level of finer blocks"]
    assert more.endswith("--ranks 2 amr cases/tube.toml --set grid.levels=3")


def test_headline_is_of_the_adapted_mesh(tmp_path: Path, write: Write) -> None:
    box = made.HEADER | {"schema": "barrio.generate", "output": "box.h5m", "cells": 48000}
    page = report(tmp_path, write(box), write(made.adapt()))
    lead = re.search(r'<p class="lead">(.*?)</p>', page, re.DOTALL)
    assert lead
    assert lead[1] == (
        "The mesh shock.h5m has 59 826 cells and 11 031 vertices. It was adapted from box.h5m, "
        "48 000 cells, in 3.75 s: the worst cell has a quality of 0.551, and 91.8 % of the edges "
        "have the requested length."
    )
    assert "barrio info shock.h5m" in page


def test_what_barrio_cannot_read_is_not_proposed(tmp_path: Path, write: Write) -> None:
    page = report(tmp_path, write(made.adapt() | {"output": "shock.vtkhdf"}))
    assert "info shock.vtkhdf" not in page and "load shock.vtkhdf" not in page


def test_what_an_adaptation_left_undone_is_noted(tmp_path: Path, write: Write) -> None:
    left_out = ["field 'q' on faces", "2 listed edges"]
    short = made.adapt() | {"is_complete": False, "left_out": left_out}
    page = html.unescape(report(tmp_path, write(short)))
    assert "shock.h5m: the time limit ended adaptation early; the mesh is valid." in page
    assert "shock.h5m lacks what could not be kept: field 'q' on faces and 2 listed edges." in page
    assert "could not be kept" not in report(tmp_path, write(made.adapt()))


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        (
            {"size": ["0.1", "sphere,x=0"]},
            "requested by 0.1, sphere,x=0, the smallest at each point.",
        ),
        ({"size": [], "size_field": "h"}, "requested by the sizes in h."),
        ({"size": [], "error_field": "eta"}, "requested by the errors in eta."),
    ],
)
def test_wanted_lengths_are_named(
    tmp_path: Path, write: Write, wanted: dict[str, Any], said: str
) -> None:
    page = report(tmp_path, write(made.adapt() | wanted))
    assert f"Edge lengths are {said}" in re.sub("<.*?>", "", page)


def test_adaptations_on_several_rank_counts_are_compared(tmp_path: Path, write: Write) -> None:
    runs = [write(made.adapt(n), f"adapt{n}.json") for n in (1, 2, 4)]
    page = report(tmp_path, *runs)
    assert "box.h5m becomes the same mesh to the last bit on 1, 2 and 4 ranks." in page
    assert page.count("<svg") == 3
    runs.append(write(made.adapt(8, "bad"), "adapt8.json"))
    page = report(tmp_path, *runs)
    assert "box.h5m becomes 2 different meshes on 1, 2, 4 and 8 ranks" in page
    assert "<details><summary>adapt8.json: shock.h5m</summary>" in page
    other = write(made.adapt(8, "other") | {"size": ["0.2"]}, "adapt8.json")
    assert "on 1, 2 and 4 ranks" in report(tmp_path, *runs[:3], other)


def test_the_benchmark_has_missed_goals_first(tmp_path: Path, write: Write) -> None:
    page = report(tmp_path, write(made.bench_adapt()))
    assert "Benchmark of adaptation" in check(page).headings
    assert "1 of 2 goals are met (bench.adapt.json)" in page
    goals = [page.index(f"bubble.{goal}") for goal in ("peak_bytes_per_cell", "mean_quality")]
    assert goals == sorted(goals) and goals[-1] < page.index("cells before")
    assert "521.3 B" in page
    rows = rows_of(page)
    for name, value in (
        ("", "bubble"), ("cells before", "37 481"), ("cells", "41 225"),
        ("cells / C, the volume in requested lengths", "10.0"), ("min quality", "0.436"),
        ("edges in range", "94.4 %"), ("longest edge / requested", "1.54"),
        ("error of the volume", "9.09 × 10⁻¹³"), ("thereof load balancing", "50.0 ms (4.0 %)"),
        ("a second call", "240.0 ms"), ("peak memory per cell", "521 B"),
        ("messages per rank", "562 (max 566)"), ("bytes per rank", "2.0 MiB (max 3.0 MiB)"),
        ("passes", "351"), ("checksum", "2f5978bd60598bd2"),
    ):  # fmt: skip
        assert rows[name] == [value], name
    assert rows["collapses"] == ["11 223", "20 766", "54 %", "35", "40"]
    assert page.count("<svg") == 1


@pytest.mark.parametrize("junk", [None, "x", -1, 1e308, [], {}, [None], True])
def test_junk_in_what_was_counted_is_no_crash(tmp_path: Path, write: Write, junk: Any) -> None:
    document = made.bench_adapt()
    (case,) = document["cases"]
    for key in case:
        document["cases"].append(case | {key: junk})
    for kind in case["changes"]:
        document["cases"].append(case | {"changes": case["changes"] | {kind: junk}})
        counts = dict.fromkeys(case["changes"][kind], junk)
        document["cases"].append(case | {"changes": case["changes"] | {kind: counts}})
    check(report(tmp_path, write(document)))
