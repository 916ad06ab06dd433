"""Test numbers as text, colours and frames."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from barrio.report import machines, words
from barrio.report.colours import colours, round_bands
from barrio.report.documents import Document
from barrio.report.drawing.facts import choose_frames
from barrio.report.markup import escape, raw, tag


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "–"), (0.0, "0"), (3.5385e-9, "3.54 × 10⁻⁹"), (1.434e9, "1.43 × 10⁹"),
        (0.0502, "0.0502"), (20.0, "20.0"), (299.97, "300"), (9999.6, "10000"), (12345.0, "12 345"),
        (-2.5, "-2.50"),
    ],
)  # fmt: skip
def test_number(value: float | None, text: str) -> None:
    assert words.number(value).replace("\u00a0", " ").replace("\u202f", " ") == text


def test_units() -> None:
    assert words.in_bytes(999) == "999\u00a0B"
    assert words.in_bytes(1023) == "1\u202f023\u00a0B"
    assert words.in_bytes(1024) == "1.0\u00a0KiB"
    assert words.in_bytes(12096) == "11.8\u00a0KiB"
    assert words.in_bytes(38273024) == "36.5\u00a0MiB"
    assert words.in_bytes(3 * 1024**5) == "3.0\u00a0PiB"
    assert words.seconds(0.0784) == "78.4\u00a0ms"
    assert words.seconds(0.131134) == "131.1\u00a0ms"
    assert words.seconds(1.6e-5) == "16.0\u00a0µs"
    assert words.seconds(4.598) == "4.60\u00a0s"
    assert words.seconds(150) == "2.5\u00a0min"
    assert words.percent(0.29947) == "29.9\u00a0%"
    assert words.spelled(2, "node") == "two nodes"
    assert words.spelled(1, "core") == "one core"
    assert words.spelled(48, "core") == "48 cores"
    assert words.plural(1, "vertex", "vertices") == "1 vertex"
    assert words.listing(["1", "2", "4"]) == "1, 2 and 4"


@pytest.mark.parametrize(
    ("nodes", "cores", "machine", "said", "option"),
    [
        (2, 8, "4:2;1:10", "two nodes of four cores (2x4), distance 1 in a node, 10 between nodes",
         "2x4"),
        (2, 8, "4:2;1:20",
         "two nodes of four cores (4:2;1:20), distance 1 in a node, 20 between nodes", "4:2;1:20"),
        (64, 512, "8:16:4;1:10:20", "64 nodes of eight cores (8:16:4;1:10:20)", "8:16:4;1:10:20"),
        (4, 8, "torus:2x2;2;1:10", "four nodes of two cores, a torus (torus:2x2;2;1:10)",
         "torus:2x2;2;1:10"),
        (1, 2, "", "one node of two cores", ""),
    ],
)  # fmt: skip
def test_machine_in_words(nodes: int, cores: int, machine: str, said: str, option: str) -> None:
    data = {"nodes": nodes, "cores": cores, "machine": machine}
    document = Document(Path("map.json"), "map", data)
    assert machines.machine_in_words(document) == said
    assert machines.machine_option(document) == option


@pytest.mark.parametrize(
    ("given", "order"),
    [([0, 1, 2, 3], "block"), ([0, 2, 1, 3], "cyclic"), ([3, 2, 1, 0], "file"), ([], "block")],
)
def test_given_order_is_recognised(given: list[int], order: str) -> None:
    document = Document(Path("map.json"), "map", {"nodes": 2, "cores": 4, "given": given})
    assert machines.given_order(document) == order


def test_markup_escapes_all_but_html() -> None:
    assert tag("p", "<&>", raw("<b>x</b>"), class_='"') == (
        '<p class="&quot;">&lt;&amp;&gt;<b>x</b></p>'
    )
    assert escape("a\x00b\ud800c") == "abc"


@pytest.mark.parametrize("n", [1, 8, 9, 100])
def test_colours_differ(n: int) -> None:
    assert len(set(colours(n))) == n


@pytest.mark.parametrize(
    ("low", "high"), [(249.92, 350.0), (0.0, 1.0), (5.0, 5.0), (-1e-9, 3e12), (0.0, 0.0)]
)
def test_bands_are_round_and_hold_the_values(low: float, high: float) -> None:
    bands = round_bands(low, high)
    width = (bands.high - bands.low) / bands.count
    assert 4 <= bands.count <= 25
    assert bands.low <= low + 0.11 * width and bands.high >= high - 0.11 * width


def test_an_undershoot_costs_no_band() -> None:
    bands = round_bands(249.92, 350.0)
    assert (bands.low, bands.high, bands.count) == (250.0, 350.0, 20)


def test_frames_go_from_first_to_last() -> None:
    assert choose_frames(np.array([8.0, 7.0, 5.0, 2.0, 1.0, 0.0])) == [0, 2, 3, 5]
    assert choose_frames(np.array([8.0, 0.0])) == [0, 1]
    assert choose_frames(np.array([8.0, np.nan, 0.0])) == [0, 1, 2]
