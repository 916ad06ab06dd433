"""Placement of ranks from Python, compared with costs computed from the definition."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from mpi4py import MPI

import barrio
from barrio import rankmap


def cost(traffic: rankmap.Traffic, placement: np.ndarray, per_node: int) -> float:
    """Sum bytes times distance over pairs: 1 inside a node, 10 between nodes."""
    ends = placement[traffic.pairs]
    apart = ends[:, 0] // per_node != ends[:, 1] // per_node
    return float(np.sum(traffic.bytes * np.where(apart, 10.0, 1.0)))


def test_small_problems_are_solved(tmp_path) -> None:
    rng = np.random.default_rng(5)
    pairs = [(i, j) for i in range(6) for j in range(6) if i != j and rng.random() < 0.5]
    traffic = rankmap.Traffic.of(6, pairs, rng.integers(1, 100, len(pairs)))
    placed = rankmap.place(traffic, "2x3", hosts="a,b")
    best = min(cost(traffic, np.array(order), 3) for order in itertools.permutations(range(6)))
    assert placed.cost_after == pytest.approx(best)
    assert placed.cost_after == pytest.approx(cost(traffic, placed.placement, 3))
    assert placed.cost_before == pytest.approx(cost(traffic, np.arange(6), 3))
    path = tmp_path / f"order{MPI.COMM_WORLD.rank}"
    placed.write(path, "permutation")
    read = [int(line) for line in path.read_text().splitlines() if not line.startswith("#")]
    assert read == list(placed.placement)
    placed.write(path, "slurm")
    hosts = [line for line in path.read_text().splitlines() if not line.startswith("#")]
    assert hosts == ["ab"[core // 3] for core in placed.placement]


def test_given_orders_and_pins() -> None:
    traffic = rankmap.Traffic.of(4, [(0, 2), (1, 3)], [10, 10])
    placed = rankmap.place(traffic, "2x2", given=[3, 2, 1, 0], pins=[(0, -1)])
    assert placed.given.tolist() == [3, 2, 1, 0]
    assert placed.placement[0] == 3
    assert placed.cost_after == 20.0


def test_traffic_files(tmp_path) -> None:
    path = tmp_path / f"graph{MPI.COMM_WORLD.rank}"
    path.write_text("3 2 1\n2 5\n1 5 3 7\n2 7\n")
    traffic = rankmap.read_traffic(path)
    assert traffic.n_ranks == 3
    assert traffic.pairs.tolist() == [[0, 1], [1, 0], [1, 2], [2, 1]]
    assert traffic.bytes.tolist() == [5, 5, 7, 7]


def test_wrong_arguments() -> None:
    traffic = rankmap.Traffic.of(4, [(0, 2)], [10])
    with pytest.raises(barrio.UsageError, match=r"more|cores"):
        rankmap.place(traffic, "1x2")
    with pytest.raises(barrio.UsageError, match="paper-construction"):
        rankmap.place(traffic, "2x2", method="magic")
    with pytest.raises(barrio.UsageError, match="have 0 to 9, but there are 4 ranks"):
        rankmap.Traffic.of(4, [(0, 9)], [10])
    with pytest.raises(barrio.UsageError, match="have 0 to -1, but there are 4 ranks"):
        rankmap.Traffic.of(4, [(0, -1)], [10])
    with pytest.raises(barrio.UsageError, match=r"bytes: have the shape \(2,\), not \(1,\)"):
        rankmap.Traffic.of(4, [(0, 1)], [10, 11])


@pytest.mark.parametrize("wrong", [-1, np.nan, np.inf, -np.inf])
def test_amounts_that_no_traffic_has(wrong: float) -> None:
    with pytest.raises(barrio.UsageError, match=r"bytes: are \S+ for pair 1"):
        rankmap.Traffic.of(4, [(0, 1), (1, 2)], [1, wrong])
    with pytest.raises(barrio.UsageError, match=r"messages: are \S+ for pair 0"):
        rankmap.Traffic.of(4, [(0, 1), (1, 2)], [1, 2], [wrong, 1])


def test_reorder_in_the_program() -> None:
    comm = MPI.COMM_WORLD
    n = comm.size
    if n < 4:
        found = rankmap.reorder(comm, [], [])
        assert found.n_moved == 0
        found.comm.Free()
        return
    # Invented nodes of two: partners are on different ones.
    half = n // 2
    partner = (comm.rank + half) % (2 * half) if comm.rank < 2 * half else comm.rank
    neighbours = [] if partner == comm.rank else [partner]
    found = rankmap.reorder(comm, neighbours, [8.0] * len(neighbours), node=comm.rank // 2)
    nodes = found.comm.allgather(comm.rank // 2)
    assert sorted(found.comm.allgather(comm.rank)) == list(range(n))
    together = sum(nodes[i] == nodes[i + half] for i in range(half))
    assert found.cost_after <= found.cost_before
    assert together == round(half * (1 - found.share_after))
    found.comm.Free()


def test_reorder_refuses_on_all_ranks() -> None:
    with pytest.raises(barrio.BadInputError):
        rankmap.reorder(MPI.COMM_WORLD, [MPI.COMM_WORLD.size], [1.0])


def test_numbers_that_are_no_ranks() -> None:
    with pytest.raises(barrio.BadInputError, match="does not fit in int32"):
        rankmap.Traffic.of(4, np.array([[0, 2**32 + 2]]), [1])
    with pytest.raises(barrio.UsageError, match="must be integers, not float64"):
        rankmap.Traffic.of(4, [[0.5, 1]], [1])
    with pytest.raises(barrio.UsageError, match=r"\(n, 2\)"):
        rankmap.Traffic.of(4, [[0, 1, 2], [1, 2, 3]], [1, 2])


def test_wrong_arguments_of_one_rank_end_all() -> None:
    comm = MPI.COMM_WORLD
    neighbours = [0.5] if comm.rank == comm.size - 1 else []
    with pytest.raises(barrio.UsageError):
        rankmap.reorder(comm, neighbours, [1.0] * len(neighbours))


@pytest.mark.parametrize("flows_first", [False, True])
def test_qaplib_problems_with_diagonals(tmp_path, flows_first: bool) -> None:
    rng = np.random.default_rng(9)
    first, second = rng.integers(0, 9, (2, 5, 5))
    first = first + first.T + np.diag(np.arange(5))
    path = tmp_path / f"problem{MPI.COMM_WORLD.rank}.dat"
    path.write_text("\n".join(["5", *(" ".join(map(str, row)) for row in (*first, *second))]))
    placed = rankmap.place_qaplib(path, flows_first=flows_first, seconds=0.01)
    distances, flows = (second, first) if flows_first else (first, second)

    def value(order: np.ndarray) -> float:
        return float(np.sum(flows * distances[np.ix_(order, order)]))

    best = min(value(np.array(order)) for order in itertools.permutations(range(5)))
    assert placed.cost_before == value(np.arange(5))
    assert placed.cost_after == best
    assert value(placed.placement) == best
