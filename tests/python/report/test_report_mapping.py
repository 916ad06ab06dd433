"""Test the section on a mapping: matrices, costs and links, and pages without them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import report_samples as made
from barrio.report.__main__ import main
from report_form import check

Write = Callable[..., str]


def report(tmp_path: Path, *runs: str) -> str:
    """Make the page of some results, check its form, and return it with plain spaces."""
    output = tmp_path / "report.html"
    assert main(["-o", str(output), *runs]) == 0
    page = output.read_text(encoding="utf-8")
    check(page)
    return page.replace("\u202f", " ").replace("\u00a0", " ")


def pictures(page: str) -> list[str]:
    """Return the alternative texts of the pictures."""
    return re.findall(r'<svg role="img" aria-label="([^"]*)"', page)


def grid(side: int) -> tuple[dict[str, Any], np.ndarray]:
    """Make the traffic of a cube of side^3 ranks, and the position of each rank in it."""
    n = side**3
    at = np.random.default_rng(5).permutation(n)
    ids = np.argsort(at).reshape(side, side, side)
    pairs = [
        np.stack([np.delete(ids, end, axis).ravel() for end in ends])
        for axis in range(3)
        for ends in ((-1, 0), (0, -1))
    ]
    entries = [[a, b, 10, 80, 1] for a, b in np.concatenate(pairs, axis=1).T.tolist()]
    return made.HEADER | {"schema": "barrio.traffic", "ranks": n, "entries": entries}, at


def mapped_grid(side: int, machine: str, nodes: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Make the traffic of a cube and its mapping, without sums over nodes."""
    traffic, at = grid(side)
    total = 80.0 * len(traffic["entries"])
    figures = {"cost": 10 * total, "inter_node_weight": total, "inter_node_share": 1.0}
    mapped = made.mapped() | {
        "ranks": side**3, "cores": side**3, "nodes": nodes, "machine": machine,
        "total_weight": total, "given": list(range(side**3)), "placement": at.tolist(),
        "before": figures, "after": figures | {"cost": 5 * total}, "node_names": [],
    }  # fmt: skip
    return traffic, mapped


@pytest.mark.parametrize(
    ("machine", "nodes", "said"),
    [
        ("64:64;1:10", 64, "Squares are nodes"),
        ("8:16:32;1:10:20", 512, "Squares are switches; nodes are too small to be visible here"),
        ("8:512;1:10", 512, "Nodes are too small to be visible here, and are not drawn"),
    ],
)
def test_many_ranks_are_added_up(
    tmp_path: Path, write: Write, machine: str, nodes: int, said: str
) -> None:
    page = report(tmp_path, *map(write, mapped_grid(16, machine, nodes)))
    assert "Each cell is the sum over 16 × 16 ranks." in page and said in page
    assert page.count('xlink:href="data:image/png') == 4  # two matrices with their colour scales
    assert "The ten heaviest links between two nodes, before" in page
    assert "the busiest node, node" in page and "node, busiest first" in page
    assert len(page) < 2_500_000


def test_heaviest_links_come_from_traffic_where_the_document_has_no_sums(
    tmp_path: Path, write: Write
) -> None:
    data = made.mapped()
    with_sums = report(tmp_path, write(data), write(made.traffic()))
    for key in ("before", "after"):
        del data[key]["node_bytes"]
    without = report(tmp_path, write(data), write(made.traffic()))
    link = "Before, the heaviest link, between left and right, carries 32.4 MiB; 16.2 MiB leave the busiest node"
    for page in (with_sums, without):
        assert link in page
        assert "After, the heaviest link, between left and right, carries 976.6 KiB" in page
        assert "before: max 16.2 MiB, mean 16.2 MiB" in page
    alone = report(tmp_path, write(data))
    assert "The traffic between nodes is unknown" in alone
    assert pictures(alone) == ["Costs"]


def test_costs_are_written_at_the_bars(tmp_path: Path, write: Write) -> None:
    data = made.mapped() | {"cost_construction": 170.5e6}
    page = report(tmp_path, write(data))
    texts = [
        "100 % (3.41 × 10⁸)",
        "50.0 % (1.70 × 10⁸)",
        "12.9 % (4.40 × 10⁷)",
        "10.3 % (3.50 × 10⁷)",
    ]
    places = [page.index(text) for text in texts]
    assert places == sorted(places)
    assert "the paper&#x27;s construction" in page or "the paper's construction" in page
    data["cost_construction"] = None
    assert "50.0 % (1.70" not in report(tmp_path, write(data))
    assert "--bottleneck" not in page
    data["before"] |= {"mixed_cost": 4e8}
    data["after"] |= {"mixed_cost": 5e7}
    mixed = report(tmp_path, write(data))
    assert "(--bottleneck): it went from 4.00 × 10⁸ to 5.00 × 10⁷" in mixed


def test_nodes_that_are_not_alike_are_named_over_their_blocks(tmp_path: Path, write: Write) -> None:
    n = 20
    entries = [[i, (7 * i + 1) % n, 1, 8 * (i + 1), 1] for i in range(n) if (7 * i + 1) % n != i]
    data = made.mapped() | {
        "cores": n, "nodes": 3, "machine": "8,8,4;1:10", "node_names": ["big1", "big2", "small"],
        "given": list(range(n)), "placement": list(range(n)), "before": {"cost": 1.0},
        "total_weight": float(sum(entry[3] for entry in entries)),
    }  # fmt: skip
    traffic = made.traffic() | {"ranks": n, "entries": entries}
    page = report(tmp_path, write(data), write(traffic))
    assert "20 ranks on three nodes of 8, 8 and 4 cores" in page
    matrix = page[page.index("<svg") : page.index("</svg>")]
    begin, end = (
        float(x)
        for x in re.findall(r'id="p\d+-patch_2".*?d="M ([\d.]+) .*?L ([\d.]+) ', matrix, re.DOTALL)[
            0
        ]
    )
    squares = re.findall(
        r'd="M ([\d.]+) [^"]*?L ([\d.]+) [^"]*"[^>]*style="fill: none; stroke: #d55e00', matrix
    )
    places = [
        tuple(round(n * (float(x) - begin) / (end - begin), 2) for x in pair) for pair in squares
    ]
    assert places == [(0, 8), (8, 16), (16, 20)]
    assert all(f">{name}<" in matrix for name in ("big1", "big2", "small"))


def test_one_rank_and_one_node(tmp_path: Path, write: Write) -> None:
    quiet = {"cost": 0.0, "inter_node_weight": 0.0, "inter_node_share": 0.0}
    data = made.mapped() | {
        "cores": 4, "nodes": 1, "machine": "4;1", "given": [0], "placement": [0], "total_weight": 0.0,
        "before": quiet, "after": quiet, "node_names": ["only"],
    }  # fmt: skip
    page = report(tmp_path, write(data), write(made.traffic() | {"ranks": 1, "entries": []}))
    assert "1 rank on one node of four cores" in page and "all orders cost the same" in page
    assert pictures(page) == []
    data |= {"given": [0, 1, 2, 3], "placement": [0, 1, 2, 3], "total_weight": 35e6}
    busy = report(tmp_path, write(data), write(made.traffic()))
    assert "All cores are on one node." in busy and "heaviest link" not in busy


def test_nothing_crosses(tmp_path: Path, write: Write) -> None:
    data = made.mapped()
    data["after"]["node_bytes"] = [[1e6, 0.0], [0.0, 1e6]]
    page = report(tmp_path, write(data))
    assert "After: no traffic crosses between nodes." in page
    assert "Heaviest links, before" in pictures(page) and "Heaviest links, after" not in pictures(
        page
    )
    data["before"]["node_bytes"] = data["after"]["node_bytes"]
    assert pictures(report(tmp_path, write(data))) == ["Costs"]


def test_collectives_and_hosts_are_told(tmp_path: Path, write: Write) -> None:
    collectives = [[i, (i + 1) % 4, 0, 512, 1] for i in range(4)]
    hosts = [["n1.site", 2], ["<n2>.site", 2]]
    traffic = made.traffic() | {"collectives": collectives, "hosts": hosts}
    page = report(tmp_path, write(traffic))
    assert "Collectives send another 2.0 KiB, by a model; they are not drawn." in page
    assert "It was recorded on two hosts, n1 and &lt;n2&gt;: the squares." in page
    data = made.mapped()
    told = "carry 33.4 MiB, collectives 2.0 KiB, by a model. Collectives"
    assert f"{told} are not included here." in report(tmp_path, write(traffic), write(data))
    data["total_weight"] += 2048
    assert f"{told} are included here." in report(tmp_path, write(traffic), write(data))


def test_names_of_nodes_are_escaped_everywhere(tmp_path: Path, write: Write) -> None:
    data = made.mapped() | {"node_names": ["<u>&\x01", "</svg>$x$"]}
    page = report(tmp_path, write(data), write(made.traffic()))
    assert "<u>" not in page and page.count("</svg>") == page.count("<svg") and "\x01" not in page
    assert page.count("&lt;u&gt;&amp;") > 4


def test_domains_are_cut_where_hosts_differ_without(tmp_path: Path, write: Write) -> None:
    data = made.mapped() | {"node_names": ["n1.cluster.org", "n2.cluster.org"]}
    page = report(tmp_path, write(data)).split("Documents</h2>")[0]
    assert "between n1 and n2, carries" in page and "cluster.org" not in page
    data["node_names"] = ["n1.left", "n1.right"]
    assert "between n1.left and n1.right, carries" in report(tmp_path, write(data))


def test_phases_are_added_up(tmp_path: Path, write: Write) -> None:
    fine = made.traffic()
    coarse = fine | {"entries": [[0, 1, 1, 8_000_000, 1]]}
    files = [write(fine, "fine.json"), write(coarse, "coarse.json")]
    page = report(tmp_path, write(made.mapped() | {"total_weight": 43e6}), *files)
    assert "Matrix of bytes from rank to rank, before (block)" in pictures(page)
    assert f"barrio map {files[0]} {files[1]} --machine 2x2" in page


def test_rows_are_shown_with_the_document_and_cut(tmp_path: Path, write: Write) -> None:
    page = report(tmp_path, write(made.traffic()))
    shown = re.search(r"<details>.*?<code>(.*?)</code>", page, re.DOTALL)
    assert shown
    assert json.loads(shown[1].replace("&quot;", '"'))["entries"] == made.traffic()["entries"]
    many, _ = grid(12)
    cut = report(tmp_path, write(many))
    assert "… truncated; the full document is traffic.json" in cut
