"""Test the sections on triangulations in the plane, on their audits, and on the benchmark."""

from __future__ import annotations

import base64
import html
import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import report_samples as made
from barrio.report.colours import tints
from barrio.report.drawing.facts import MAX_WITH_EDGES
from PIL import Image
from report_form import check
from test_report_adapt import report, rows_of
from test_report_page import cards_of, commands, lead_of

Write = Callable[..., str]


def text_of(page: str) -> str:
    """Return the text of the page without markup."""
    return html.unescape(re.sub("<.*?>", "", page))


def said_of_plots(page: str) -> list[str]:
    """Return the alternative texts of the plots."""
    return re.findall(r'<svg role="img" aria-label="([^"]*)"', page)


def test_snapping_is_told(tmp_path: Path, write: Write) -> None:
    document = made.delaunay()
    document["snapping"] = {
        "tolerance": 1e-05,
        "is_default": True,
        "merged_points": 3,
        "max_move": 4e-6,
        "points_on_segments": 1,
        "crossings": 0,
        "repeated_segments": 2,
        "cut_rings": 0,
        "overlap_area": 1.5,
        "overlaps": ["feature 1 'lake' and feature 2 '<land>' by 1.5", 7],
        "inverted": [],
        "vanished": ["feature 3"],
    }
    page = report(tmp_path, write(document))
    check(page)
    text = text_of(page)
    assert (
        "plate.h5m: snapped within 1e-05, from the digits of the file: 3 points merged with others, "
        "1 end on segments and 2 repeated pieces dropped. No point moved by more than 4" in text
    )
    assert "Areas overlap; the first one keeps what they share: 2" in text
    assert "feature 1 'lake' and feature 2 '<land>' by 1.5" in text
    assert "Vanished: 1" in text
    assert "Left out, where" not in text
    document["snapping"] |= {"is_default": False, "overlaps": "x", "vanished": None}
    document["snapping"] |= dict.fromkeys(
        ("merged_points", "max_move", "points_on_segments", "repeated_segments"), 0
    )
    text = text_of(report(tmp_path, write(document)))
    assert "plate.h5m: snapped within 1e-05: no point or segment had to change." in text
    for damaged in (None, [], {"tolerance": "much"}):
        document["snapping"] = damaged
        assert "snapped" not in text_of(report(tmp_path, write(document)))


def test_parts_and_the_disk_are_told(tmp_path: Path, write: Write) -> None:
    document = made.delaunay()
    document["options"]["memory"] = 1_000_000
    document["parts"] = {
        "n": 64,
        "interfaces": 700,
        "exchanges": 2,
        "imbalance_of_parts": 1.06,
        "bytes_written": 7_000_000,
        "seconds": {"run": 2.0, "computing": 1.7, "disk": 0.9, "waiting_for_disk": 0.1},
    }
    text = text_of(report(tmp_path, write(document)))
    assert "The domain was cut into 64 parts along 700 edges" in text
    assert (
        "Of the refinement's time, ranks computed for 85 % and waited for the disk for 5 %; it was busy for 45 %, "
        "so 40 % of the time were overlapped." in text
    )
    document["parts"]["seconds"] = {"run": 0.0}
    assert "overlapped" not in text_of(report(tmp_path, write(document)))
    document["parts"]["seconds"] = "long"
    assert "64 parts" in text_of(report(tmp_path, write(document)))


def test_a_triangulation_is_shown_with_its_angles(tmp_path: Path, write: Write) -> None:
    page = report(tmp_path, write(made.delaunay()))
    assert check(page).headings[:2] == ["Triangulation", "Time per phase and rank"]
    text = text_of(page)
    assert (
        "plate.h5m: 18 points and 19 segments of plate.poly became 10 300 triangles in 5.0 ms, "
        "2.06 M per second. Requested: angles of at least 25 degrees and areas of at most 0.01, and "
        "the max areas of regions in the file." in text
    )
    rows = rows_of(page)
    for name, value in (
        ("run", "delaunay.json"), ("triangles", "10 300"), ("vertices", "5 413"),
        ("points of the file", "18"), ("points added inside", "5 222"),
        ("points added on segments", "173"), ("regions", "2"), ("min angle, degrees", "25.2"),
        ("min area", "0.000682"), ("max area", "0.00999"), ("total area", "7.52"),
        ("time to triangulate", "500.0 µs"), ("time to refine", "4.5 ms"), ("time to write", "7.0 ms"),
        ("triangles per second", "2.06 M"), ("memory per triangle", "47 B"),
    ):  # fmt: skip
        assert rows[name] == [value], name
    assert said_of_plots(page) == [
        "Min angles of 10 300 triangles: from 25 to 59 degrees; requested: 25"
    ]
    assert "requested: 25 degrees (dashed)" in page
    assert "by min angle; a regular triangle has 60 degrees. Half of them have at least 42." in text
    assert 'class="note' not in page


def test_headline_is_of_the_triangulation(tmp_path: Path, write: Write) -> None:
    page = report(tmp_path, write(made.delaunay()))
    assert lead_of(page) == (
        "The mesh plate.h5m has 10 300 cells and 5 413 vertices. It was triangulated from plate.poly "
        "in 5.0 ms: its min angle is 25.2 degrees."
    )
    assert cards_of(page) == ["10 300", "5 413", "25.2°"]
    audited = report(tmp_path, write(made.delaunay(), "a.json"), write(made.audit(), "b.json"))
    assert lead_of(audited).endswith("its min angle is 25.2 degrees. The audit finds 1 fault.")
    assert cards_of(audited) == ["10 300", "5 413", "25.2°", "1 fault"]
    alone = report(tmp_path, write(made.audit()))
    assert lead_of(alone).startswith("The mesh plate.h5m has 10 300 cells and 5 413 vertices. The")


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"is_complete": False}, "plate.h5m: refinement stopped at --max-triangles: some triangles exceed"),
        ({"bad_triangles": {"at_segments": 23}},
         "plate.h5m: 23 times a triangle was left as it is, since segments may not be split."),
        ({"bad_triangles": {"by_rounding": 1}},
         "plate.h5m: once a triangle was left as it is, since coordinates are too coarse for smaller"),
        ({"points_outside": 1},
         "1 point of the file lies outside the segments, or in holes, and is not a vertex."),
        ({"points_outside": 2000},
         "2 000 points of the file lie outside the segments, or in holes, and are not vertices."),
        ({"left_out": ["attributes of points", "2 pieces of segments"]},
         "plate.h5m lacks what could not be kept: attributes of points and 2 pieces of segments."),
        ({"angles": {"min": 5.71}}, "plate.h5m: an angle of 5.71 degrees remains, since segments meet at"),
    ],
)  # fmt: skip
def test_what_is_not_as_wanted_is_noted(
    tmp_path: Path, write: Write, changed: dict[str, Any], said: str
) -> None:
    notes = re.findall(
        r'<div class="note">(.*?)</div>', report(tmp_path, write(made.delaunay() | changed))
    )
    assert len(notes) == 1 and said in html.unescape(notes[0])


def test_angles_below_the_bound_are_counted(tmp_path: Path, write: Write) -> None:
    counts = [1] + [0] * 18 + [7, 5] + [0] * 38 + [10, 0]
    angles = {"min": 0.5, "triangles_of_degree": counts}
    options = {"min_angle": 20.5, "max_area": 0.0, "region_areas": False}
    page = report(tmp_path, write(made.delaunay() | {"angles": angles, "options": options}))
    assert said_of_plots(page) == [
        "Min angles of 23 triangles: from 0 to 59 degrees; requested: 20.5; 8 have less"
    ]
    assert "Requested: angles of at least 20.5 degrees." in text_of(page)


def test_bounds_that_were_not_kept_to_are_not_shown(tmp_path: Path, write: Write) -> None:
    """Check a document of --no-refinement: it has the bounds too, though they were not applied."""
    bare = made.delaunay() | {"points_added": {"inside": 0, "on_segments": 0}}
    bare["angles"] = bare["angles"] | {"min": 8.28}
    page = report(tmp_path, write(bare))
    assert "No points were added: it is the triangulation of the input." in text_of(page)
    assert "asked for" not in said_of_plots(page)[0] and 'class="note' not in page
    assert any("in/plate.poly --no-refinement --audit plate.h5m" in line for line in commands(page))
    none = made.delaunay() | {"options": {"min_angle": 0.0, "max_area": 0.0, "hull": True}}
    said = text_of(report(tmp_path, write(none)))
    assert "No bounds were requested. It extends to the convex hull." in said


def test_several_triangulations_stand_in_a_table(tmp_path: Path, write: Write) -> None:
    runs = [write(made.delaunay() | {"triangles": 1000 + i}, f"{i}.json") for i in range(5)]
    page = report(tmp_path, *runs)
    check(page)
    rows = re.findall(r"<tr><th[^>]*>(\d).json</th><td[^>]*>(1 00\d)</td>", page)
    assert rows == [(str(i), f"1 00{i}") for i in range(5)]
    assert len(said_of_plots(page)) == 5
    assert "1.json: triangles by min angle" in page
    assert "<details><summary>2.json</summary>" not in page
    assert "<details><summary>3.json</summary>" in page


def test_what_to_try_next_is_what_is_not_there(
    tmp_path: Path, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("barrio.report.sections.next.find_program", lambda _: "barrio")
    document = made.delaunay() | {"output": "out/plate.ele"}
    document["options"] = document["options"] | {"region_areas": False}
    asked = "barrio delaunay in/plate.poly --min-angle 25 --max-area 0.01"
    drawn = f"{asked} --no-region-areas -o out/plate.vtkhdf"
    assert commands(report(tmp_path, write(document))) == [f"{asked} --audit out/plate.ele", drawn]
    audit = write(made.audit() | {"mesh": "out/plate.ele"}, "audit.json")
    assert commands(report(tmp_path, write(document), audit)) == [drawn]
    document["options"]["hull"] = True
    (line,) = commands(report(tmp_path, write(document)))
    assert line == f"{asked} --hull --no-region-areas -o out/plate.vtkhdf"
    for changed in ({"is_complete": False}, {"output": "plate.vtkhdf"}, {"input": 3}):
        assert commands(report(tmp_path, write(document | changed))) == ["barrio --help"]


def images_of(page: str) -> list[np.ndarray]:
    """Return the pixels of the pictures."""
    contents = re.findall(r'(?:src|href)="data:image/png;base64,([^"]*)"', page)
    return [
        np.asarray(Image.open(io.BytesIO(base64.b64decode(content))).convert("RGBA"), dtype=int)
        for content in contents
    ]


def share_of(image: np.ndarray, name: str) -> float:
    """Return the share of a picture that has a colour, or nearly."""
    rgb = np.array([int(name[i : i + 2], 16) for i in (1, 3, 5)])
    return float(((np.abs(image[..., :3] - rgb) < 12).all(axis=-1) & (image[..., 3] > 0)).mean())


def test_a_mesh_of_the_plane_is_drawn_by_region(tmp_path: Path, write: Write) -> None:
    path = tmp_path / "plate.vtkhdf"
    assert made.write_plane(path, 6, {1: 2.5, 2: -1.0, 7: 0.0}) == 72
    page = report(tmp_path, write(made.delaunay()), str(path))
    form = check(page)
    assert form.headings[0] == "Triangulation" and "Parts" not in form.headings
    assert [image["alt"] for image in form.images] == [
        "plate.vtkhdf, 72 triangles from above, coloured by its 3 regions"
    ]
    assert "region 1, attribute 2.5: 24 triangles" in page and "Thick lines are edges on" in page
    (image,) = images_of(page)
    height, width = image.shape[:2]
    assert abs(height / width - 1.0) < 0.02
    for i, tint in enumerate(tints(3)):  # stripes, from left to right
        stripe = image[:, width * i // 3 : width * (i + 1) // 3]
        assert f"background:{tint}" in page
        assert share_of(stripe, tint) > 0.7 and share_of(image, tint) < 0.34
    dark = image[height // 4 : height // 2, :, :3].max(axis=2) < 90
    assert dark[:, :6].any() and dark[:, -6:].any()  # edges on segments


def test_a_mesh_of_the_plane_needs_no_document(tmp_path: Path) -> None:
    path = tmp_path / "a.vtkhdf"
    made.write_plane(path, 2, {0: 0.0})
    page = report(tmp_path, "--no-pictures", str(path))
    assert check(page).headings == ["Triangulation", "Files", "What to try next"]
    assert "Pictures were omitted" in page
    assert cards_of(page) == ["8", "9"]
    assert "a.vtkhdf: 8 triangles from above." in report(tmp_path, str(path))


def test_of_many_triangles_the_smallest_are_drawn_near(tmp_path: Path) -> None:
    path = tmp_path / "many.vtkhdf"
    assert made.write_plane(path, 150, {1: 1.0}) > MAX_WITH_EDGES
    page = report(tmp_path, str(path))
    assert [image["alt"] for image in check(page).images] == [
        "many.vtkhdf, 45 000 triangles from above", "The surroundings of the smallest triangle, with all edges.",
    ]  # fmt: skip
    assert "There are too many other edges to draw." in page
    whole, near = images_of(page)
    tint = tints(1)[0]
    assert share_of(whole, tint) > 0.95 > share_of(near, tint) > 0.6


def test_a_surface_in_space_is_no_plane(tmp_path: Path) -> None:
    path = tmp_path / "bent.vtkhdf"
    made.write_plane(path, 3, {1: 1.0}, is_flat=False)
    assert check(report(tmp_path, "--no-pictures", str(path))).headings[0] == "Shape"


def test_audits_have_their_faults_first(tmp_path: Path, write: Write) -> None:
    page = report(tmp_path, write(made.audit()))
    assert check(page).headings[0] == "Audit of the triangulation"
    text = text_of(page)
    assert (
        "1 fault plate.h5m as a triangulation of plate.poly with angles of at least 25 degrees and "
        "areas of at most 0.01: 2 of 3 checks pass." in text
    )
    places = [page.index(f">{name}<") for name in ("angles", "rows", "holes")]
    assert places == sorted(places)
    assert page.count('class="badge bad"') == 2 and page.count('class="badge good"') == 2
    assert "triangle 14 has 24.9 degrees" in page and "3 signs needed fractions" in page
    clean = made.audit()
    clean["audit"] = clean["audit"] | {"passes": True, "checks": clean["audit"]["checks"][::2]}
    clean["audit"]["min_angle"] = 8.28  # so no larger one was requested
    assert "of plate.poly with areas of at most 0.01: 2 of 2 checks" in text_of(
        report(tmp_path, write(clean))
    )
    both = report(tmp_path, write(clean, "clean.json"), write(made.audit(), "bad.json"))
    assert both.index("<h3>bad.json") < both.index("<h3>clean.json")
    assert "2 of 2 checks pass" in text_of(both) and ">passes<" in both
    assert "The audit passes." in lead_of(report(tmp_path, write(clean)))


@pytest.mark.parametrize(
    ("audit", "badge"),
    [
        (None, "not checked"), ({}, "not checked"), ({"passes": True}, "not checked"),
        ({"passes": False}, "faults"), ({"passes": None, "checks": [{"met": "x"}]}, "1 fault"),
        ({"passes": True, "checks": [{"met": False}, {"check": 3, "met": True}]}, "1 fault"),
    ],
)  # fmt: skip
def test_an_audit_never_passes_by_mistake(
    tmp_path: Path, write: Write, audit: Any, badge: str
) -> None:
    page = report(tmp_path, write(made.audit() | {"audit": audit}))
    check(page)
    assert re.search(rf'class="badge[^"]*">{badge}</span>', page)


def test_the_benchmark_has_missed_goals_first(tmp_path: Path, write: Write) -> None:
    page = report(tmp_path, write(made.bench_delaunay()))
    assert "Benchmark of triangulation" in check(page).headings
    assert "1 of 2 goals are met (bench.delaunay.json)" in page
    goals = [
        page.index(f"pipe.0.1M.{of}") for of in ("peak_bytes_per_triangle", "speed_of_triangle")
    ]
    assert goals == sorted(goals)
    assert "Without CGAL: is not there (BARRIO_PEERS_DIR)" in page
    rows = re.findall(r"<tr><th[^>]*>((?:pipe|points), .*?)</tr>", page)
    assert [re.findall(">([^<]+)<", f">{row}") for row in rows] == [
        ["pipe, 0.1 M", "barrio", "100 000", "50.0 ms", "62.5 ms", "2.00 M", "44 B"],
        ["pipe, 0.1 M", "Triangle", "99 000", "100.0 ms", "125.0 ms", "0.990 M", "–"],
        ["points, 4 M", "barrio", "7 999 960", "2.00 s", "2.50 s", "4.00 M", "40 B"],
    ]  # fmt: skip
    assert said_of_plots(page) == ["Triangles per second of each mesher"]


@pytest.mark.parametrize("junk", [None, "x", -1, 1e308, [], {}, [None], {"x": None}, True])
def test_junk_anywhere_is_no_crash(tmp_path: Path, write: Write, junk: Any) -> None:
    kept = ("schema", "schema_version")
    counts = made.delaunay()["angles"]["triangles_of_degree"]
    plain = made.delaunay() | {"angles": {"min": 25.203}}  # without a plot, which takes time
    for document in (plain, made.audit(), made.bench_delaunay() | {"parts": []}):
        changed = [document | {key: junk} for key in document if key not in kept]
        for key, inner in document.items():
            if isinstance(inner, dict):
                changed += [document | {key: inner | {name: junk}} for name in inner]
        for one in changed:  # alone, so that it heads the page
            check(report(tmp_path, write(one)))
    drawn = [
        plain | {"angles": {"triangles_of_degree": many}}
        for many in ([junk] * 61, [*counts[:-1], junk], counts * 2, [0] * 61)
    ]
    bench = made.bench_delaunay()
    parts = [part | {key: junk} for part in bench["parts"] for key in part]
    of_barrio = bench["parts"][0]["barrio"]
    parts += [bench["parts"][0] | {"barrio": of_barrio | {key: junk}} for key in of_barrio]
    drawn.append(bench | {"parts": [*parts, junk]})
    check(report(tmp_path, *[write(d, f"{i}.json") for i, d in enumerate(drawn)]))
