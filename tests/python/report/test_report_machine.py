"""Test the section on a measured machine: curves, options for barrio map, and missing parts."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import report_samples as made
from barrio.report.__main__ import main
from barrio.report.figures import Line, by_size
from barrio.report.sections import machine as section_machine
from report_form import check

Write = Callable[..., str]
NOTHING = made.message_times(0.0, 0.0, 0)
BLUE, ORANGE = "#0072b2", "#e69f00"


def report(tmp_path: Path, *runs: str) -> str:
    """Make the page of some results, check its form, and return it with plain spaces."""
    output = tmp_path / "report.html"
    assert main(["-o", str(output), *runs]) == 0
    page = output.read_text(encoding="utf-8")
    check(page)
    return page.replace("\u202f", " ").replace("\u00a0", " ")


def plots(page: str) -> list[str]:
    """Return the plots of the page."""
    return re.findall(r'<svg role="img".*?</svg>', page, re.DOTALL)


def tables(page: str) -> list[list[list[str]]]:
    """Return the cells of all tables without markup."""
    return [
        [re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row) for row in re.findall(r"<tr>.*?</tr>", one)]
        for one in re.findall(r"<table>.*?</table>", page, re.DOTALL)
    ]


def test_both_kinds_are_told_with_the_options_that_use_them(tmp_path: Path, write: Write) -> None:
    page = report(tmp_path, write(made.machine()))
    for text in (
        "Messages have a latency of 500 ns and a bandwidth of 8000 MB/s inside a node, and a latency of 4.0 µs and a "
        "bandwidth of 2000 MB/s between nodes.",
        "machine.json: four ranks on two hosts, n01 and n02",
        "Inside a node, the latency is 500 ns for 1 B, and the bandwidth is 8000 MB/s for messages of at least "
        "64 KiB, without the latency; the highest rate is 7992 MB/s, for 4.0 MiB.",
        "A byte between nodes costs 4 times as much as inside a node. <code>barrio map --machine machine.json</code>",
        "uses these hosts, and the distances 1 and 4.",
        "A message between nodes costs as much as 8 000 bytes in addition to its own",
        "<code>barrio map --message-bytes 8000</code>",
        "the median of 1 pair inside a node and 3 pairs between nodes",
    ):  # fmt: skip
        assert text in page, text
    assert f"map traffic.json --machine {tmp_path}/machine.json --message-bytes 8000<" in page


def test_every_size_is_in_the_table(tmp_path: Path, write: Write) -> None:
    head, *rows = tables(report(tmp_path, write(made.machine())))[0]
    assert head == ["size", "inside a node", "MB/s", "between nodes", "MB/s", "between / inside"]
    assert len(rows) == 12
    assert rows[0] == ["1 B", "500 ns", "2.00", "4.0 µs", "0.250", "8.00"]
    assert rows[-1] == ["4.0 MiB", "524.8 µs", "7992", "2.1 ms", "1996", "4.00"]


def test_curves_are_those_of_the_document(
    tmp_path: Path, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: dict[str, list[Line]] = {}

    def keep(lines: list[Line], label: str, unit: str, said: str) -> str:
        drawn[unit] = lines
        return by_size(lines, label, unit, said)

    monkeypatch.setattr(section_machine, "by_size", keep)
    data = made.machine()
    data["between"]["seconds"][6] = 8e-6  # 4 KiB, off the model of latency and bandwidth
    pictures = plots(report(tmp_path, write(data)))
    names = ["inside a node", "between nodes", "", ""]
    assert [line.name for line in drawn["MB/s"]] == [line.name for line in drawn["s"]] == names
    inside, between, _, model = drawn["s"]
    assert inside.points == list(zip(data["inside"]["bytes"], data["inside"]["seconds"]))
    assert between.points[6] == (4096, 8e-6) and between.points[7][1] == model.points[7][1]
    assert model.points[6][1] == pytest.approx(4e-6 + 4095 / 2e9) and model.is_dashed
    rates = drawn["MB/s"][1].points
    assert rates[0] == (1, pytest.approx(0.25)) and rates[6] == (4096, pytest.approx(512.0))
    assert drawn["MB/s"][3].points[6][1] == pytest.approx(4096 / 6.0475)
    for picture in pictures:
        assert ">inside a node<" in picture and ">between nodes<" in picture
        assert BLUE in picture.lower() and ORANGE in picture.lower()
    assert [">100 MB/s<" in picture for picture in pictures] == [True, False]
    assert [">100.0 µs<" in p or ">100 µs<" in p for p in pictures] == [False, True]


@pytest.mark.parametrize(
    ("missing", "hosts", "said", "colour", "other"),
    [
        ("between", [["n01", 4]], "Nothing was measured between nodes: all ranks were on one host.",
         BLUE, ORANGE),
        ("inside", [["a", 1], ["b", 1], ["c", 1], ["d", 1]],
         "Nothing was measured inside a node: no host had two ranks.", ORANGE, BLUE),
    ],
)  # fmt: skip
def test_one_kind_may_be_missing(
    tmp_path: Path,
    write: Write,
    missing: str,
    hosts: list[Any],
    said: str,
    colour: str,
    other: str,
) -> None:
    data = made.machine() | {"hosts": hosts, missing: NOTHING, "distances": [1.0, 10.0]}
    data["message_bytes"] = 0.0 if missing == "between" else 8000.0
    page = report(tmp_path, write(data))
    assert said in page and "The distance between nodes is unknown" in page
    assert "the default distances 1 and 10." in page and "times as much" not in page
    is_known = missing == "inside"
    assert ("<code>barrio map --message-bytes 8000</code>" in page) == is_known
    assert ("in addition to its bytes, is unknown" in page) != is_known
    assert len(tables(page)[0][0]) == 3 and "between / inside" not in page
    assert "mpirun -n 4 --hostfile hosts " in page
    assert len(plots(page)) == 2
    for picture in plots(page):  # each kind has its colour, with or without the other
        assert colour in picture.lower() and other not in picture.lower()


def test_nothing_measured_is_said_without_plots(tmp_path: Path, write: Write) -> None:
    data = made.machine() | {"inside": NOTHING, "between": NOTHING, "distances": [1.0, 10.0]}
    page = report(tmp_path, write(data | {"message_bytes": 0.0}))
    assert plots(page) == []
    assert "Results of barrio: machine." in page
    assert "Nothing was measured inside a node" in page
    assert "Nothing was measured between nodes" in page


def test_times_that_do_not_grow_have_no_bandwidth(tmp_path: Path, write: Write) -> None:
    flat = {"bytes": [1, 8], "seconds": [2e-6, 2e-6], "latency": 2e-6, "bandwidth": 0.0}
    data = made.machine() | {"between": flat, "distances": [1.0, 10.0], "message_bytes": 0.0}
    page = report(tmp_path, write(data))
    assert (
        "Between nodes, the latency is 2.0 µs for 1 B; the highest rate is 4.00 MB/s, for 8 B."
        in page
    )
    assert ", and a latency of 2.0 µs between nodes." in page
    assert "The distance between nodes is unknown" in page


def test_sizes_of_one_kind_may_be_others(tmp_path: Path, write: Write) -> None:
    data = made.machine()
    data["inside"] |= {"bytes": [1, 2], "seconds": [1e-6, 2e-6]}
    rows = tables(report(tmp_path, write(data)))[0]
    assert rows[1][-1] == "4.00"
    assert rows[2][:3] == ["2 B", "2.0 µs", "1.00"] and rows[2][3:] == ["–", "–", "–"]
    assert rows[3][:3] == ["4 B", "–", "–"]


def test_a_host_that_comes_again_is_one(tmp_path: Path, write: Write) -> None:
    data = made.machine() | {"hosts": [["a", 1], ["b", 1], ["a", 1], ["b", 1]]}
    assert "four ranks on two hosts, a and b" in report(tmp_path, write(data))
    many = made.machine() | {"hosts": [[f"n{i}", 1] for i in range(16)], "ranks": 16}
    assert "machine.json: 16 ranks on 16 hosts<" in report(tmp_path, write(many))


def test_traffic_is_placed_on_the_measured_machine(tmp_path: Path, write: Write) -> None:
    name = "my machine.json"
    page = report(tmp_path, write(made.machine(), name), write(made.traffic()))
    command = (
        f"map {tmp_path}/traffic.json --machine &#x27;{tmp_path}/{name}&#x27; --message-bytes 8000<"
    )
    assert command in page
    assert "<code>barrio map --machine &#x27;my machine.json&#x27;</code>" in page
    assert check(page).headings[:2] == ["Traffic", "Messages inside a node and between nodes"]


def test_traffic_of_more_ranks_asks_for_more_hosts(tmp_path: Path, write: Write) -> None:
    few = made.machine() | {"hosts": [["a", 2], ["b", 1]], "ranks": 3}
    page = report(tmp_path, write(few), write(made.traffic()))
    assert "with room for 4 ranks" in page and "--message-bytes 8000 --hosts hosts<" in page


def test_names_are_escaped(tmp_path: Path, write: Write) -> None:
    page = report(tmp_path, write(made.machine() | {"hosts": [["<b>x</b>", 4]]}))
    assert "<b>x" not in page and "&lt;b&gt;x" in page


def test_of_many_machines_some_are_drawn(tmp_path: Path, write: Write) -> None:
    files = [write(made.machine(), f"m{i}.json") for i in range(5)]
    page = report(tmp_path, *files)
    assert len(plots(page)) == 6 and "Not drawn: m3.json, m4.json." in page


def times(**changed: Any) -> dict[str, Any]:
    """Make times of two sizes, with a change."""
    return {
        "bytes": [1, 4], "seconds": [1e-6, 2e-6], "latency": 1e-6, "bandwidth": 3e6, **changed,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("changed", "cause"),
    [
        ({"hosts": None}, "must have a list 'hosts'"),
        ({"hosts": []}, "must have a list 'hosts'"),
        ({"hosts": [["a", 2], "b"]}, "host 1 must be [name, number of ranks]"),
        ({"hosts": [["a", 4], ["b", 0]]}, "host 1 must be [name, number of ranks]"),
        ({"hosts": [["a", 2], ["b", 1]]}, "'hosts' have 3 ranks in total, but 'ranks' is 4"),
        ({"inside": None}, "must have times 'inside'"),
        ({"between": [1, 2]}, "must have times 'between'"),
        ({"inside": times(bytes=None)}, "'inside' must have a list 'bytes'"),
        ({"between": times(seconds=2.0)}, "'between' must have a list 'seconds'"),
        ({"between": times(seconds=[1e-6])}, "'between' has 2 sizes and 1 times"),
        ({"inside": times(bytes=[0, 4])}, "entry 0 in 'bytes' of 'inside' must be a number above 0"),
        ({"inside": times(seconds=[1e-6, "2"])}, "entry 1 in 'seconds' of 'inside' must be a number above 0"),
        ({"inside": times(seconds=[1e-6, True])}, "entry 1 in 'seconds' of 'inside' must be a number above 0"),
        ({"inside": times(seconds=[float("nan"), 1e-6])}, "entry 0 in 'seconds' of 'inside' must be"),
        ({"inside": times(bytes=[4, 4])}, "the sizes of 'inside' must increase"),
        ({"inside": times(latency=None)}, "'inside' must have a number 'latency' of at least 0"),
        ({"between": times(bandwidth=-1.0)}, "'between' must have a number 'bandwidth' of at least 0"),
        ({"distances": None}, "'distances' must be two numbers above 0"),
        ({"distances": [1.0]}, "'distances' must be two numbers above 0"),
        ({"distances": [1.0, 0.0]}, "'distances' must be two numbers above 0"),
        ({"message_bytes": None}, "must have a number 'message_bytes' of at least 0"),
        ({"message_bytes": -1.0}, "must have a number 'message_bytes' of at least 0"),
    ],
)  # fmt: skip
def test_broken_machine_is_refused(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    write: Write,
    changed: dict[str, Any],
    cause: str,
) -> None:
    path, output = write(made.machine() | changed), tmp_path / "out.html"
    assert main(["-o", str(output), path]) == 3
    assert f"{path}: {cause}" in capsys.readouterr().err
    assert not output.exists()


def test_ranks_need_not_be_told(tmp_path: Path, write: Write) -> None:
    data = made.machine()
    del data["ranks"]
    assert "four ranks on two hosts" in report(tmp_path, write(data))
