"""Calls between any ranks: row transfers, questions, shared ids, sums over sharers, neighbour collectives."""

from __future__ import annotations

import numpy as np
import pytest
from mpi4py import MPI

import barrio

ROUTES = ("automatic", "crystal", "direct", "counted")


@pytest.fixture(scope="module")
def context() -> barrio.Context:
    return barrio.Context(MPI.COMM_WORLD)


def rows_of(
    source: int, n_ranks: int, n: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Compute the destinations and three arrays of a rank, the same on every rank."""
    rng = np.random.default_rng([17, source, n])
    kind = np.dtype([("id", "i8"), ("name", "S3")])
    records = np.zeros(n, kind)
    records["id"] = rng.integers(0, 1 << 60, n)
    records["name"] = np.array([b"a", b"bc", b"def"])[np.arange(n) % 3]
    return (
        rng.integers(0, n_ranks, n),
        records,
        rng.random((n, 3)),
        rng.integers(0, 99, n).astype(np.int16),
    )


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("n", [0, 1, 50, 30_000])
def test_transfer(comm: MPI.Comm, context: barrio.Context, route: str, n: int) -> None:
    def n_of(rank: int) -> int:
        return n if rank != 1 else n // 2

    to, *arrays = rows_of(comm.rank, comm.size, n_of(comm.rank))
    source, *came = context.transfer(to, *arrays, route=route)
    expected_source: list[np.ndarray] = []
    expected: list[list[np.ndarray]] = [[], [], []]
    for rank in range(comm.size):
        its_to, *its = rows_of(rank, comm.size, n_of(rank))
        mine = its_to == comm.rank
        expected_source.append(np.full(mine.sum(), rank))
        for k in range(3):
            expected[k].append(its[k][mine])
    np.testing.assert_array_equal(source, np.concatenate(expected_source))
    for array, wanted, sent in zip(came, expected, arrays):
        assert array.dtype == sent.dtype and array.shape[1:] == sent.shape[1:]
        np.testing.assert_array_equal(array, np.concatenate(wanted))
        array[:] = array  # ours


def test_transfer_of_odd_lengths(comm: MPI.Comm, context: barrio.Context) -> None:
    for n_bytes in (1, 2, 3, 4, 8, 16, 24, 31, 32, 100):
        rows = np.arange(7 * n_bytes, dtype=np.uint8).reshape(7, n_bytes) + np.uint8(comm.rank)
        source, came = context.transfer(np.full(7, (comm.rank + 1) % comm.size), rows)
        assert source.tolist() == 7 * [(comm.rank - 1) % comm.size]
        np.testing.assert_array_equal(
            came, (rows - np.uint8(comm.rank)) + source[0].astype(np.uint8)
        )


def test_what_one_rank_gives_wrong_all_hear(comm: MPI.Comm, context: barrio.Context) -> None:
    last = comm.size - 1

    def refused(words: str, to: object, *arrays: object, **options: str) -> None:
        good = (np.zeros(2, int), np.zeros(2))
        with pytest.raises(barrio.UsageError, match=words):
            if comm.rank == last:
                context.transfer(to, *arrays, **options)  # type: ignore[arg-type]
            else:
                context.transfer(*good)

    refused(r"row 1 of a tuple list: is for rank 99", [0, 99], np.zeros(2))
    refused(r"is for rank -1", [0, -5], np.zeros(2))
    refused(r"to: has shape \(3,\) for 2 rows", [0, 0, 0], np.zeros(2))
    refused(r"to: must hold integers, not float64", [0.0, 0.0], np.zeros(2))
    refused(r"are 2 in one array and 1 in another", [0, 0], np.zeros(2), np.zeros(1))
    refused(r"holds Python objects", [0], np.array([None]))
    refused(r"single value", 0, 1.0)
    refused(r"without rows", [0, 0])
    refused(r"route 'by crystal'", [0, 0], np.zeros(2), route="by crystal")
    if comm.size > 1:
        refused(r"delivers items of float", [0, 0], np.zeros(2, np.float32))
        refused(r"delivers items of float", [0], np.zeros((1, 3)))
    # The context still works.
    source, _ = context.transfer([comm.rank], [1.0])
    assert source.tolist() == [comm.rank]


def test_ask(comm: MPI.Comm, context: barrio.Context) -> None:
    """Ask for squares of numbers, each from the rank that holds it; an answer has three numbers."""
    rng = np.random.default_rng([5, comm.rank])
    numbers = rng.integers(0, 1000, 0 if comm.rank == 1 else 200)
    calls = []

    def cubes(asked: np.ndarray) -> np.ndarray:
        assert (asked % comm.size == comm.rank).all()
        calls.append(len(asked))
        return np.stack([asked, asked**2, asked**3], axis=1)

    got = context.ask(numbers % comm.size, numbers, cubes, "3i8")
    np.testing.assert_array_equal(got, np.stack([numbers, numbers**2, numbers**3], axis=1))
    assert len(calls) == 1
    names = context.ask(
        numbers % comm.size, numbers, lambda asked: [str(n).encode() for n in asked], "S8"
    )
    assert names.tolist() == [str(n).encode() for n in numbers]
    assert context.ask([], np.zeros(0), lambda asked: asked, "f8").shape == (0,)


def test_an_answer_that_fails(comm: MPI.Comm, context: barrio.Context) -> None:
    def answer(asked: np.ndarray) -> np.ndarray:
        if comm.rank == comm.size - 1:
            raise KeyError("no such table")
        return asked

    with pytest.raises(
        KeyError if comm.rank == comm.size - 1 else barrio.UsageError, match="no such table"
    ):
        context.ask([0], [1.0], answer, "f8")
    with pytest.raises(
        barrio.UsageError, match=r"answers: have shape \(0,\) and not \(\d+,\)|answers"
    ):
        context.ask([0], [1.0], lambda asked: asked[:0] if comm.rank == 0 else asked, "f8")
    for requests, dtype in (([1.5], "i8"), ([b"four"], "S3")):
        with pytest.raises(barrio.UsageError, match="do not fit in"):
            context.ask([0], requests, lambda asked: asked, dtype)


def test_shared_ids(comm: MPI.Comm, context: barrio.Context) -> None:
    lists = [
        np.random.default_rng([3, rank]).integers(-2, 30, 20 + rank) for rank in range(comm.size)
    ]
    mine = lists[comm.rank]
    shared = context.shared_ids(mine)
    assert shared.offsets.tolist()[0] == 0 and len(shared.offsets) == len(mine) + 1
    neighbours = set()
    for i, wanted in enumerate(mine):
        got = [
            (int(shared.ranks[k]), int(shared.positions[k]))
            for k in range(int(shared.offsets[i]), int(shared.offsets[i + 1]))
        ]
        expected = [
            (rank, position)
            for rank, ids in enumerate(lists)
            for position, one in enumerate(ids)
            if one == wanted >= 0 and (rank, position) != (comm.rank, i)
        ]
        assert got == expected
        neighbours |= {rank for rank, _ in expected}
    assert shared.neighbours == sorted(neighbours - {comm.rank})


@pytest.mark.parametrize("method", ["automatic", "pairwise", "owner", "crystal"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.int32])
def test_gather_scatter(comm: MPI.Comm, method: str, dtype: type) -> None:
    lists = [np.random.default_rng([4, rank]).integers(-2, 25, 30) for rank in range(comm.size)]
    ids = lists[comm.rank]
    plan = barrio.GatherScatter(comm, ids, method=method)
    assert plan.method in ("pairwise", "owner", "crystal") and comm.rank not in plan.neighbours
    values = [
        np.random.default_rng([6, rank]).integers(1, 4, (30, 2)).astype(dtype)
        for rank in range(comm.size)
    ]
    for op, combine in (("sum", np.sum), ("product", np.prod), ("min", np.min), ("max", np.max)):
        mine = values[comm.rank].copy()
        if op == "min":
            plan.begin(mine, op)
            with pytest.raises(barrio.UsageError, match="under way already"):
                plan.begin(mine, op)
            plan.end()
        else:
            plan.apply(mine, op)
        for i, one in enumerate(ids):
            if one < 0:
                assert (mine[i] == values[comm.rank][i]).all()
                continue
            all_of_it = [
                values[rank][j]
                for rank in range(comm.size)
                for j in np.flatnonzero(lists[rank] == one)
            ]
            np.testing.assert_array_equal(
                mine[i], combine(np.array(all_of_it), axis=0).astype(dtype)
            )


def test_gather_scatter_refuses(comm: MPI.Comm) -> None:
    with pytest.raises(barrio.UsageError, match="ids: must be integers, not float64"):
        barrio.GatherScatter(comm, [0.5] if comm.rank == comm.size - 1 else [1])
    with pytest.raises(barrio.UsageError, match=r"method 'pairwize'.*pairwise"):
        barrio.GatherScatter(comm, [1], method="pairwize" if comm.rank == 0 else "owner")
    plan = barrio.GatherScatter(comm, [1, 2])
    for values, words in (
        (np.zeros(3), r"shape \(3,\) for 2 ids"),
        (np.zeros((2, 2), order="F"), "must be a contiguous"),
        (np.zeros(2, complex), "must be a contiguous"),
        (np.zeros(()), "shape"),
    ):
        with pytest.raises(barrio.UsageError, match=words):
            plan.apply(values)
    with pytest.raises(barrio.UsageError, match="op 'add'"):
        plan.apply(np.zeros(2), "add")
    with pytest.raises(barrio.UsageError, match="not under way"):
        plan.end()
    values = np.ones(2)
    plan.apply(values)
    assert values.tolist() == 2 * [comm.size]


def ring(comm: MPI.Comm) -> list[int]:
    return sorted({(comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size} - {comm.rank})


def test_neighbour_collectives(comm: MPI.Comm) -> None:
    exchange = barrio.Exchange(comm, ring(comm))
    got = exchange.neighbor_allgather(np.arange(comm.rank) + 0.5, "f8")
    assert list(got) == ring(comm)
    for rank, array in got.items():
        np.testing.assert_array_equal(array, np.arange(rank) + 0.5)
    got = exchange.neighbor_broadcast([comm.rank, 7] if comm.rank % 2 == 0 else None, "i4")
    assert {rank: array.tolist() for rank, array in got.items()} == {
        rank: [rank, 7] for rank in ring(comm) if rank % 2 == 0
    }
    mine = np.array([[comm.rank, 1.5], [2.0, -comm.rank]])
    total = exchange.neighbor_allreduce(mine)
    near = [comm.rank, *ring(comm)]
    np.testing.assert_array_equal(
        total, [[sum(near), 1.5 * len(near)], [2.0 * len(near), -sum(near)]]
    )
    assert mine[0, 0] == comm.rank, "a copy"
    assert exchange.neighbor_allreduce(np.int32(comm.rank), "max") == max(near)
    with pytest.raises(barrio.UsageError, match="op 'mean'"):
        exchange.neighbor_allreduce([1.0], "mean")
    exchange.validate()


def test_a_plan_may_be_dropped_with_values_on_their_way(comm: MPI.Comm) -> None:
    for method in ("pairwise", "owner", "crystal"):
        plan = barrio.GatherScatter(comm, [1, 2], method=method)
        plan.begin(np.zeros(2))
        del plan


def test_neighbours_made_mutual(comm: MPI.Comm, context: barrio.Context) -> None:
    named = [(comm.rank + 1) % comm.size]  # each rank knows only the next one
    assert context.mutual_neighbours(named) == ring(comm)
    with pytest.raises(barrio.UsageError, match="99"):
        context.mutual_neighbours([99] if comm.rank == comm.size - 1 else named)


def test_options_of_one_round(comm: MPI.Comm) -> None:
    exchange = barrio.Exchange(comm, ring(comm), keeps_discovered=False, stall_limit_seconds=600)
    far = (comm.rank + comm.size // 2) % comm.size
    for termination in ("consensus", "allreduce", "automatic", None):
        with exchange.round("i8", termination=termination, packet_bytes=256) as r:
            if termination is None:
                if far not in {*ring(comm), comm.rank}:
                    with pytest.raises(barrio.UsageError, match="is not a neighbour"):
                        r.send(far, [1])
            else:
                r.send(far, np.arange(100) + comm.rank)
        came = r.collect()
        if termination is not None:
            source = (comm.rank - comm.size // 2) % comm.size
            assert [rank for rank, _ in came] == [source]
            np.testing.assert_array_equal(came[0][1], np.arange(100) + source)
    with pytest.raises(barrio.UsageError, match="termination 'consensu'"):
        exchange.round("i8", termination="consensu")


def test_a_cancelled_round_and_the_next(comm: MPI.Comm) -> None:
    exchange = barrio.Exchange(comm, ring(comm))
    r = exchange.round("f8")
    for to in ring(comm):
        r.send(to, np.full(5000, -1.0))
    r.cancel()
    assert "over" in repr(r)
    r.cancel()  # no effect
    got = exchange.exchange({to: [1.0] for to in ring(comm)}, "f8")
    assert {rank: array.tolist() for rank, array in got.items()} == {
        rank: [1.0] for rank in ring(comm)
    }
    exchange.validate()


def test_idle_neighbours(comm: MPI.Comm) -> None:
    exchange = barrio.Exchange(comm, ring(comm))
    for _ in range(3):
        exchange.exchange({0: [1]} if 0 in ring(comm) else {}, "i8")
    dropped = exchange.drop_idle_neighbours(3)
    assert dropped == [rank for rank in ring(comm) if 0 not in (rank, comm.rank)]
    assert exchange.neighbours == [rank for rank in ring(comm) if rank not in dropped]
    exchange.validate()
