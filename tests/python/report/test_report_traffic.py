"""Test traffic as numbers: reading, and sums over bins, nodes and links."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import report_samples as made
from barrio.report import machines, traffic_rows
from barrio.report.__main__ import main
from barrio.report.documents import Document, parse
from barrio.report.mapping_figures import Matrix, scale_of
from barrio.report.matrices import MAX_BINS, is_wide, matrices, orders_of
from barrio.report.networks import Link, network_of_nodes, network_of_ranks
from barrio.report.traffic import Flows, Traffic, bin_size, binned, find_traffic, units_of

Write = Callable[..., str]


def document_of(data: dict[str, Any]) -> Document:
    """Read a document as the command does."""
    return parse(Path("a.json"), json.dumps(data).encode())


def machine_of(text: str, nodes: int, cores: int, **more: Any) -> Document:
    """Make a mapping with its machine only."""
    return Document(
        Path("map.json"), "map", {"machine": text, "nodes": nodes, "cores": cores} | more
    )


def random_flows(n: int, n_flows: int, seed: int = 7) -> Flows:
    """Make flows between ranks, of integer bytes so that sums are exact."""
    rng = np.random.default_rng(seed)
    senders, receivers = rng.integers(0, n, (2, n_flows))
    keep = senders != receivers
    return Flows(senders[keep], receivers[keep], rng.integers(1, 999, keep.sum()).astype(float))


ROWS = [[0, 2, 1, 8, 1], [2, 0, 2, 16, 2], [1, 1, 5, 40, 5], [3, 1, 3, 24, 1]]


@pytest.mark.parametrize("piece", [1, 20, 1 << 22])
@pytest.mark.parametrize("indent", [None, 0, 3])
def test_rows_are_read_in_pieces(
    monkeypatch: pytest.MonkeyPatch, piece: int, indent: int | None
) -> None:
    monkeypatch.setattr(traffic_rows, "_PIECE", piece)
    data = made.HEADER | {"schema": "barrio.traffic", "ranks": 4, "entries": ROWS}
    data |= {"collectives": ROWS[:1], "hosts": [["a", 3], ["b", 1]], "last": [1]}
    found, rows = traffic_rows.load(json.dumps(data, indent=indent).encode())
    assert rows["entries"].tolist() == ROWS and rows["collectives"].tolist() == ROWS[:1]
    assert found == data | {"entries": [], "collectives": []}


@pytest.mark.parametrize(
    "entries",
    [[], ROWS, [[0, 1, 0.5, 4.25, 1]], [[*row, 77] for row in ROWS], [[0, 1, 2, 3, 4], [1, 0, 2, 3, 4, 5]],
     [[0, 1, 10**19, 10**20, 1]]],
)  # fmt: skip
def test_rows_are_the_same_however_they_are_read(entries: list[Any]) -> None:
    data = made.HEADER | {"schema": "barrio.traffic", "ranks": 4, "entries": entries}
    document = document_of(data)
    assert document.rows["entries"].tolist() == [row[:5] for row in entries]
    assert document.data["entries"] == []


@pytest.mark.parametrize(
    ("changed", "cause"),
    [
        ({"entries": 5}, "must have a list 'entries'"),
        ({"entries": [[0, 1, 1, 8]]}, "entry 0 must be [from, to, points, bytes, messages]"),
        ({"entries": [[0, 1, 1, 8, 1], [0, 1, True, 8, 1]]}, "entry 1 must be [from, to"),
        ({"entries": [[0, 1, 1, 8, 1], [0, 1, 1, "8]]", 1]]}, "entry 1 must be [from, to"),
        ({"entries": [[[0, 1, 1, 8, 1]]]}, "entry 0 must be [from, to"),
        ({"entries": [[0, 1, 1, 8, 1], [0, 4, 1, 8, 1]]}, "entry 1 has a rank outside 0..3"),
        ({"entries": [[0, 0.5, 1, 8, 1]]}, "entry 0 has a rank outside 0..3"),
        ({"collectives": {}}, "'collectives' must be a list"),
        ({"collectives": [[0, 1]]}, "collective 0 must be [from, to, points, bytes, messages]"),
        ({"collectives": [[0, 1, 1, 8, 1], [-1, 1, 1, 8, 1]]}, "collective 1 has a rank outside 0..3"),
        ({"hosts": "a"}, "'hosts' must be a list"),
        ({"hosts": [["a", 2], ["b"]]}, "host 1 must be [name, number of ranks]"),
        ({"hosts": [["a", 4], ["b", 0]]}, "host 1 must be [name, number of ranks]"),
        ({"hosts": [["a", 4], ["b", True]]}, "host 1 must be [name, number of ranks]"),
        ({"hosts": [["a", 2], ["b", 1]]}, "'hosts' have 3 ranks in total, but 'ranks' is 4"),
    ],
)  # fmt: skip
def test_broken_traffic_is_refused(
    capsys: pytest.CaptureFixture[str], write: Write, changed: dict[str, Any], cause: str
) -> None:
    path = write(made.traffic() | changed)
    assert main([path]) == 3
    assert f"{path}: {cause}" in capsys.readouterr().err


def test_infinite_traffic_is_refused(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    text = json.dumps(made.traffic() | {"entries": ROWS}).replace("24", "1e999")
    assert main([write(text, "traffic.json")]) == 3
    assert "entry 3 must be [from, to" in capsys.readouterr().err


def test_hosts_may_be_of_the_ranks_that_recorded() -> None:
    parts = {"recorded_on_ranks": 2, "hosts": [["a", 1], ["b", 1]]}
    assert document_of(made.traffic() | parts).items("hosts") == parts["hosts"]


@pytest.mark.parametrize(("n", "size"), [(1, 1), (7, 2), (64, 8), (100, 1), (100, 33), (5, 9)])
def test_bins_add_up_to_the_traffic(n: int, size: int) -> None:
    flows = random_flows(n, 500)
    place = np.random.default_rng(1).permutation(n)
    sums = binned(flows, place, size)
    wanted = np.zeros((-(-n // size),) * 2)
    for sender, receiver, amount in zip(flows.senders, flows.receivers, flows.amounts, strict=True):
        wanted[place[sender] // size, place[receiver] // size] += amount
    assert np.array_equal(sums, wanted)
    assert sums.sum() == flows.total


def test_bins_of_many_ranks_need_little_memory() -> None:
    n = 16384  # a whole matrix would take 2 GiB
    flows = random_flows(n, 26 * n)
    tracemalloc.start()
    sums = binned(flows, np.arange(n), bin_size(n, 8, MAX_BINS))
    network_of_ranks(flows, np.arange(n) // 8, n // 8, 10)
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert sums.shape == (342, 342) and sums.sum() == flows.total
    assert peak_bytes < 64 << 20


@pytest.mark.parametrize(
    ("n", "cores", "size"),
    [(100, 8, 1), (512, 8, 1), (513, 8, 2), (4096, 64, 8), (5000, 8, 16), (5000, 11, 11), (1100, 7, 3),
     (131072, 64, 256), (1, 1, 1)],
)  # fmt: skip
def test_bins_end_where_nodes_do(n: int, cores: int, size: int) -> None:
    assert bin_size(n, cores, 512) == size


@pytest.mark.parametrize(
    ("document", "sizes", "said"),
    [
        (machine_of("8,8,4;1:10", 3, 20), [8, 8, 4], "three nodes of 8, 8 and 4 cores"),
        (machine_of("2,4,2,4:2:2;1:10:20", 4, 12), [2, 4, 2, 4], "four nodes of 2, 4, 2 and 4 cores"),
        (machine_of(",".join(["4", "2"] * 5) + ";1:10", 10, 30), [4, 2] * 5, "ten nodes of 2 to 4 cores"),
        (machine_of("8:2/4:4;1:2:10:20", 16, 256), [16] * 16, "16 nodes of 16 cores"),
        (machine_of("torus:2x2;3;1:10", 4, 12), [3] * 4, "four nodes of three cores"),
        (machine_of("4 nodes of 12 cores in all;1:10:20", 4, 12), None, "four nodes with twelve cores in total"),
        (machine_of("8,8,5;1:10", 3, 20), None, "three nodes with 20 cores in total"),
    ],
)  # fmt: skip
def test_nodes_that_are_not_alike(document: Document, sizes: list[int] | None, said: str) -> None:
    assert machines.cores_of_nodes(document) == sizes
    assert machines.nodes_in_words(document) == said


@pytest.mark.parametrize(
    ("document", "found"),
    [
        (machine_of("4:2;1:10", 2, 8), {"nodes": [0, 4]}),
        (machine_of("2:3:2;1:10:20", 6, 12), {"nodes": [0, 2, 4, 6, 8, 10], "switches": [0, 6]}),
        (machine_of("2:2/2:2;1:2:10:20", 4, 16), {"nodes": [0, 4, 8, 12], "switches": [0, 8]}),
        (machine_of("1:2:2:2;1:2:3:4", 8, 8),
         {"nodes": list(range(8)), "switches": [0, 2, 4, 6], "groups of switches": [0, 4]}),
        (machine_of("2,1,3,4:2:2;1:10:20", 4, 10), {"nodes": [0, 2, 3, 6], "switches": [0, 3]}),
        (machine_of("torus:2x2;2;1:10", 4, 8), {"nodes": [0, 2, 4, 6]}),
        (machine_of("dense:3", 3, 3), {"nodes": [0, 1, 2]}),
        (machine_of("4 nodes of 12 cores in all;1:10:20", 4, 12), {}),
    ],
)  # fmt: skip
def test_units_of_a_machine(document: Document, found: dict[str, list[int]]) -> None:
    assert {unit.plural: unit.first_cores.tolist() for unit in machines.units(document)} == found


def test_cyclic_order_of_nodes_that_are_not_alike() -> None:
    given = [0, 2, 5, 3, 6, 4]
    assert (
        machines.given_order(machine_of("2,3,2;1:10", 3, 7, given=[0, 2, 5, 1, 3, 6])) == "cyclic"
    )
    assert machines.given_order(machine_of("2,3,2;1:10", 3, 7, given=given)) == "file"


def test_blocks_of_nodes_that_are_not_alike() -> None:
    """Leave cores free: a block is no larger than the ranks on its node."""
    cores = [16, 0, 8, 9, 1, 17, 2, 10, 11, 19]
    document = machine_of("8,8,4;1:10", 3, 20, given=cores, placement=[4, 5, 6, 7, 16, 17, 18, 19, 3, 2],
                          node_names=["a.org", "b.org", "c.org"])  # fmt: skip
    (before, after), said = orders_of(document, {"given": "before", "placement": "after"})
    assert before.ranks.tolist() == [1, 4, 6, 2, 3, 7, 8, 0, 5, 9]
    assert before.blocks and before.blocks.starts == [0, 3, 7]
    assert before.blocks.names == ["a", "b", "c"]
    assert after.blocks and after.blocks.starts == [0, 6] and after.blocks.names == ["a", "c"]
    assert "Squares are nodes" in said


@pytest.mark.parametrize(
    ("machine", "nodes", "starts", "said"),
    [
        ("64:64;1:10", 64, list(range(0, 4096, 64)), "Squares are nodes"),
        (
            "8:16:32;1:10:20",
            512,
            list(range(0, 4096, 128)),
            "Squares are switches; nodes are too small",
        ),
        ("8:512;1:10", 512, None, "Nodes are too small to be visible here, and are not drawn"),
        ("4096;1", 1, None, "All cores are on one node"),
        (
            "512 nodes of 4096 cores in all;1:10:20",
            512,
            None,
            "the document does not have their sizes",
        ),
    ],
)
def test_blocks_can_be_seen(machine: str, nodes: int, starts: list[int] | None, said: str) -> None:
    document = machine_of(machine, nodes, 4096, given=list(range(4096)))
    (order,), where = orders_of(document, {"given": "given order"})
    assert (order.blocks.starts if order.blocks else None) == starts
    assert said in where
    assert is_wide(100) and not is_wide(200)


def test_matrices_are_in_the_order_of_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[Matrix] = []
    monkeypatch.setattr(
        "barrio.report.matrices.traffic_matrix", lambda matrix, _: drawn.append(matrix) or ""
    )
    traffic = Traffic(
        [document_of(made.traffic() | {"entries": [[0, 1, 1, 8, 1], [2, 3, 1, 5, 1]]})]
    )
    mapped = machine_of("2:2;1:10", 2, 4, given=[0, 1, 2, 3], placement=[1, 2, 0, 3])
    orders, where = orders_of(mapped, {"given": "before", "placement": "after"})
    matrices(traffic, "bytes", orders, 2, where)
    for matrix, places in zip(drawn, ({(0, 1): 8, (2, 3): 5}, {(1, 2): 8, (0, 3): 5})):
        assert {place: value for place, value in np.ndenumerate(matrix.amounts) if value} == places
    assert [matrix.order.ranks.tolist() for matrix in drawn] == [[0, 1, 2, 3], [2, 0, 1, 3]]


def test_links_and_nodes_by_ranks_and_by_nodes_agree() -> None:
    n, n_nodes = 60, 7
    flows = random_flows(n, 2000)
    node_of = np.sort(np.random.default_rng(3).integers(0, n_nodes, n))
    sums = np.zeros((n_nodes, n_nodes))
    np.add.at(sums, (node_of[flows.senders], node_of[flows.receivers]), flows.amounts)
    by_nodes, by_ranks = network_of_nodes(sums, 5), network_of_ranks(flows, node_of, n_nodes, 5)
    assert by_nodes.links == by_ranks.links and len(by_nodes.links) == 5
    assert np.array_equal(by_nodes.out_bytes, by_ranks.out_bytes)
    assert by_nodes.out_bytes.sum() == sums.sum() - np.trace(sums)
    both = {(a, b): sums[a, b] + sums[b, a] for a in range(n_nodes) for b in range(a + 1, n_nodes)}
    assert by_nodes.links == [
        Link(pair, both[pair]) for pair in sorted(both, key=lambda pair: (-both[pair], pair))[:5]
    ]


def test_nodes_of_cores() -> None:
    nodes = machines.units(machine_of("8,8,4;1:10", 3, 20))[0]
    assert units_of(nodes, [0, 7, 8, 15, 16, 19]).tolist() == [0, 0, 1, 1, 2, 2]


def test_one_scale_for_all_matrices() -> None:
    scale = scale_of([np.array([[0.0, 3.0]]), np.array([[5e4, 0.0]])], "bytes")
    assert (scale.low, scale.high) == (3.0, 5e4)
    assert scale_of([np.array([[1.0, 1e12]])], "bytes").low == 1e6
    same = scale_of([np.full((2, 2), 8.0)], "bytes")
    assert same.low < same.high == 8.0


def test_traffic_of_a_mapping_is_found_by_its_sum() -> None:
    traffic, other = (
        document_of(made.traffic()),
        document_of(made.traffic() | {"entries": [[0, 1, 1, 8, 1]]}),
    )
    rows = [[0, 3, 0, 1_000_000, 1]]
    with_collectives = document_of(made.traffic() | {"collectives": rows})
    mapped = made.mapped()

    def found(mapped: dict[str, Any], *documents: Document) -> Traffic | None:
        return find_traffic(document_of(mapped), list(documents))

    assert found(mapped, other, traffic) == Traffic([traffic])
    assert found(mapped, other) is None
    assert found(mapped, with_collectives) == Traffic([with_collectives])
    assert found(mapped | {"total_weight": 36e6}, with_collectives) == Traffic(
        [with_collectives], True
    )
    assert found(mapped | {"total_weight": 35e6 + 8}, traffic, other) == Traffic([traffic, other])
    # With --message-bytes the sum differs, but the bytes of the busiest node are the same.
    assert found(mapped | {"total_weight": 5e7}, other, traffic) == Traffic([traffic])
    mapped["before"]["max_node_out_bytes"] += 1.0
    assert found(mapped | {"total_weight": 5e7}, other, traffic) is None


def test_what_a_rank_sends_itself_does_not_count() -> None:
    document = document_of(
        made.traffic() | {"entries": ROWS, "collectives": [[1, 1, 0, 9, 1], [0, 1, 0, 5, 1]]}
    )
    traffic = Traffic([document])
    assert traffic.flows().total == 48 and traffic.flows("messages").total == 4
    assert traffic.flows("points").total == 6 and traffic.collectives().total == 5
    assert Traffic([document], True).flows().total == 53
