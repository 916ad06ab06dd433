from __future__ import annotations

import gc
import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest
from mpi4py import MPI

import barrio


def ring(comm: MPI.Comm) -> list[int]:
    return sorted({(comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size} - {comm.rank})


def others(comm: MPI.Comm) -> list[int]:
    return [rank for rank in range(comm.size) if rank != comm.rank]


def said(source: int, to: int, k: int = 0) -> np.ndarray:
    """Compute a rank's message to another, the same on every rank. Some are empty, some larger than a packet."""
    rng = np.random.default_rng([source, to, k])
    return rng.random([0, 3, 40, 20_000][(source + to + k) % 4])


@pytest.fixture
def exchange(comm: MPI.Comm) -> barrio.Exchange:
    return barrio.Exchange(comm, ring(comm), packet_bytes=1024)


def test_a_round(comm: MPI.Comm, exchange: barrio.Exchange) -> None:
    assert exchange.neighbours == ring(comm)
    for step in range(3):
        assert exchange.epoch == step
        with exchange.round(np.float64) as r:
            for k in range(4):
                for to in exchange.neighbours:
                    r.send(to, said(comm.rank, to, k + step))
        got: dict[int, list[np.ndarray]] = {rank: [] for rank in exchange.neighbours}
        for source, array in r.received():
            assert array.dtype == np.float64 and array.ndim == 1
            got[source].append(array)
        for source, arrays in got.items():
            assert len(arrays) == 4
            for k, array in enumerate(arrays):
                np.testing.assert_array_equal(array, said(source, comm.rank, k + step))
        assert list(r.received()) == [] == r.collect()
    assert "3 rounds done" in repr(exchange)


def test_collect_is_by_source(comm: MPI.Comm) -> None:
    exchange = barrio.Exchange(comm, others(comm), packet_bytes=64, ring_depth=1)
    r = exchange.round(np.int64)
    for to in reversed(exchange.neighbours):
        r.send(to, comm.rank)
        r.send(to, [comm.rank, to])
    r.send(comm.rank, [-1])  # to itself
    got = r.collect()
    assert [source for source, _ in got] == sorted([comm.rank, *2 * others(comm)])
    for (source, array), expected in zip(
        [one for one in got if one[0] != comm.rank],
        [words for rank in others(comm) for words in ([rank], [rank, comm.rank])],
    ):
        assert array.tolist() == expected, source


def test_exchange_in_one_call(comm: MPI.Comm, exchange: barrio.Exchange) -> None:
    to_all = {to: said(comm.rank, to) for to in exchange.neighbours}
    got = exchange.exchange(to_all, np.float64)
    assert list(got) == exchange.neighbours
    for source, array in got.items():
        np.testing.assert_array_equal(array, said(source, comm.rank))
    # Only even ranks send.
    got = exchange.exchange(to_all if comm.rank % 2 == 0 else {}, "f8")
    assert list(got) == [rank for rank in exchange.neighbours if rank % 2 == 0]


@pytest.mark.parametrize(
    "dtype",
    ["f4", "i1", "u8", ">i4", "?", "c16", "M8[s]", "S5", "U3", [("id", "i8"), ("x", "f8", (3,))]],
    ids=str,
)
def test_any_dtype(comm: MPI.Comm, exchange: barrio.Exchange, dtype: object) -> None:
    kind = np.dtype(dtype)
    rng = np.random.default_rng(7)
    data = rng.integers(0, 2, size=12 * kind.itemsize, dtype=np.uint8)
    array = data.view(kind) if kind.kind != "U" else np.array(["a", "bcd", ""] * 4)
    got = exchange.exchange(dict.fromkeys(exchange.neighbours, array), kind)
    assert list(got) == exchange.neighbours
    for back in got.values():
        assert back.dtype == kind
        assert back.tobytes() == array.tobytes()


def test_any_layout(comm: MPI.Comm, exchange: barrio.Exchange) -> None:
    table = np.arange(24.0).reshape(4, 6)
    for data, flat in (
        (table, range(24)),
        (table[:, 2], [2, 8, 14, 20]),
        (table.T[:2], [0, 6, 12, 18, 1, 7, 13, 19]),
        (table[::-2, 0], [18, 6]),
        ([1, 2.5], [1, 2.5]),
        ([], []),
        (3, [3]),
        (np.float32(0.5), [0.5]),
        (table.tobytes(), range(24)),
        (bytearray(table.tobytes()), range(24)),
        (memoryview(table[1]), range(6, 12)),
    ):
        for back in exchange.exchange(dict.fromkeys(exchange.neighbours, data), float).values():
            assert back.tolist() == list(flat)
    records = [("id", "i4"), ("x", "f8")]
    for back in exchange.exchange({to: [(3, 0.5)] for to in exchange.neighbours}, records).values():
        assert back["id"].tolist() == [3] and back["x"].tolist() == [0.5]


def test_arrays_are_yours(comm: MPI.Comm) -> None:
    """Sent arrays may be changed at once; received arrays outlive the round and the exchange."""
    exchange = barrio.Exchange(comm, ring(comm), packet_bytes=256)
    mine = np.full(20, comm.rank)
    kept = []
    for step in range(5):
        with exchange.round(mine.dtype) as r:
            for to in exchange.neighbours:
                mine[:] = 100 * step + comm.rank
                r.send(to, mine)
                mine[:] = -1
        kept += [(step, source, array) for source, array in r]
    del exchange, r
    gc.collect()
    assert len(kept) == 5 * len(ring(comm))
    for step, source, array in kept:
        assert array.flags.writeable and array.flags.aligned
        assert (array == 100 * step + source).all()
        array += 1


def test_introductions_bring_new_neighbours(comm: MPI.Comm) -> None:
    exchange = barrio.Exchange(comm, ring(comm), termination="introductions")
    far = (comm.rank + 2) % comm.size
    got = exchange.exchange({far: [comm.rank]}, int)
    assert {source: array.tolist() for source, array in got.items()} == {
        (comm.rank - 2) % comm.size: [(comm.rank - 2) % comm.size]
    }
    assert set(exchange.neighbours) == ({far, (comm.rank - 2) % comm.size} | set(ring(comm))) - {
        comm.rank
    }
    exchange.validate()


@pytest.mark.parametrize("termination", ["allreduce", "consensus"])
def test_any_rank_can_be_met(comm: MPI.Comm, termination: str) -> None:
    exchange = barrio.Exchange(comm, [], termination=termination)
    for _ in range(2):
        got = exchange.exchange({to: [comm.rank] for to in range(comm.size)}, np.int32)
        assert [array.tolist() for array in got.values()] == [[rank] for rank in range(comm.size)]
    assert exchange.neighbours == others(comm)


@pytest.mark.parametrize("routing", ["direct", "by_node", "automatic"])
def test_any_routing_brings_the_same(comm: MPI.Comm, routing: str) -> None:
    exchange = barrio.Exchange(comm, others(comm), routing=routing)
    for k in range(2):
        got = exchange.exchange({to: said(comm.rank, to, k) for to in others(comm)}, float)
        assert list(got) == others(comm)
        for source, array in got.items():
            np.testing.assert_array_equal(array, said(source, comm.rank, k))


def test_neighbours_change_between_rounds(comm: MPI.Comm, box: barrio.Mesh) -> None:
    exchange = barrio.Exchange(comm, box.neighbours)
    assert exchange.neighbours == box.neighbours.tolist()
    exchange.set_neighbours([])
    assert exchange.neighbours == []
    assert exchange.exchange({}, int) == {}
    exchange.set_neighbours(ring(comm))
    exchange.add_neighbours(others(comm))
    assert exchange.neighbours == others(comm)
    exchange.validate()
    assert list(exchange.exchange(dict.fromkeys(others(comm), 1), int)) == others(comm)
    assert exchange.memory_bytes > 0 or comm.size == 1


def test_lists_that_are_not_mutual_are_named(comm: MPI.Comm) -> None:
    if comm.size == 1:
        pytest.skip("one rank has no neighbours")
    exchange = barrio.Exchange(comm, [1] if comm.rank == 0 else [])
    with pytest.raises(barrio.Error, match="rank 0 lists rank 1, which does not list it") as caught:
        exchange.validate()
    assert caught.value.is_agreed


def test_wrong_neighbours_are_named_on_all_ranks(comm: MPI.Comm) -> None:
    last = comm.size - 1
    for termination in ("neighbourhood", "consensus"):
        for wrong, text in (
            ([comm.size], f"neighbour {comm.size}: is not a rank of this job"),
            ([last], f"neighbour {last}: is this rank itself"),
        ):
            with pytest.raises(barrio.UsageError, match=text) as caught:
                barrio.Exchange(comm, wrong if comm.rank == last else [], termination=termination)
            assert caught.value.is_agreed
            assert caught.value.first_rank == last
    with pytest.raises(barrio.UsageError, match=r"Did you mean 'consensus'\?"):
        barrio.Exchange(comm, [], termination="consenus")
    with pytest.raises(barrio.UsageError, match=r"routing 'by node': .* Did you mean 'by_node'\?"):
        barrio.Exchange(comm, [], routing="by node")
    with pytest.raises(TypeError, match=r"mpi4py\.MPI\.Comm"):
        barrio.Exchange(None, [])


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        (lambda r, to: r.send(to, 1j), "does not fit in"),
        (lambda r, to: r.send(to, np.ones(3)), "of float64 does not fit in int32"),
        (lambda r, to: r.send(to, [0.5]), "begin the round with its dtype"),
        (lambda r, to: r.send(to, b"12345"), "5 bytes, which is not a multiple of int32"),
        (lambda r, _: r.send(10_000, 1), "rank 10000: is not a rank of this job"),
        (lambda r, _: r.send(-1, 1), "rank -1: is not a rank of this job"),
    ],
)
def test_a_round_goes_on_after_a_message_it_refused(
    comm: MPI.Comm, exchange: barrio.Exchange, wrong: Callable, text: str
) -> None:
    with exchange.round(np.int32) as r:
        with pytest.raises(barrio.UsageError, match=text):
            wrong(r, comm.rank)
        for to in exchange.neighbours:
            r.send(to, comm.rank)
    assert [array.tolist() for _, array in r.collect()] == [[rank] for rank in ring(comm)]


def test_strangers_are_refused(comm: MPI.Comm) -> None:
    if comm.size == 1:
        pytest.skip("one rank has no others")
    exchange = barrio.Exchange(comm, [])
    to = others(comm)[0]
    text = f"rank {to}: is not a neighbour of rank {comm.rank} .*introductions"
    with exchange.round(int) as r, pytest.raises(barrio.UsageError, match=text):
        r.send(to, 1)
    assert r.collect() == []
    with pytest.raises(barrio.UsageError, match=text):  # before the round began
        exchange.exchange({to: 1}, int)
    assert exchange.exchange({}, int) == {}


def test_wrong_order_of_calls(comm: MPI.Comm, exchange: barrio.Exchange) -> None:
    with exchange.round(int) as r:
        assert "sending" in repr(r)
        for to in exchange.neighbours:
            r.send(to, [1, 2])
    assert r.dtype == np.dtype(int)
    with pytest.raises(barrio.UsageError, match="round 0: is closed for sending"):
        r.send(comm.rank, 3)
    for call in (
        lambda: exchange.round(int),
        lambda: exchange.exchange({}, int),
        lambda: exchange.set_neighbours([]),
        lambda: exchange.add_neighbours([]),
        exchange.validate,
    ):
        with pytest.raises(barrio.UsageError, match=r"is still in round 0 \(read that round"):
            call()
    assert len(r.collect()) == len(ring(comm))
    with pytest.raises(barrio.UsageError, match="round 0: is closed for sending"):
        r.send(comm.rank, 3)
    exchange.round(int).collect()
    assert exchange.epoch == 2


@pytest.mark.parametrize(
    ("dtype", "text"),
    [(object, "holds Python objects"), ("S", "has no size"), (("f8", 3), "has a shape")],
)
def test_dtypes_that_cannot_travel(exchange: barrio.Exchange, dtype: object, text: str) -> None:
    for call in (lambda: exchange.round(dtype), lambda: exchange.exchange({}, dtype)):
        with pytest.raises(barrio.UsageError, match=text):
            call()
    assert exchange.epoch == 0


def test_dtypes_that_differ_are_found(comm: MPI.Comm, exchange: barrio.Exchange) -> None:
    """Odd messages of bytes are not whole doubles; the rest of the round can be read."""
    is_even = comm.rank % 2 == 0
    r = exchange.round(np.float64 if is_even else np.uint8)
    for to in exchange.neighbours:
        r.send(to, [1] if not is_even else [])
    n_refused = 0
    for _ in range(comm.size):
        try:
            r.collect()
            break
        except barrio.UsageError as error:
            assert "message of 1 bytes from rank" in str(error)
            n_refused += 1
    assert n_refused == (sum(rank % 2 for rank in ring(comm)) if is_even else 0)
    exchange.exchange({}, int)


def test_more_than_one_message_is_no_dict(comm: MPI.Comm, exchange: barrio.Exchange) -> None:
    if comm.size < 2:
        pytest.skip("one rank has no neighbours")
    if comm.rank == 0:
        with exchange.round(int) as r:
            for to in [*exchange.neighbours, *exchange.neighbours]:
                r.send(to, 1)
        r.collect()
    elif 0 in ring(comm):
        with pytest.raises(barrio.UsageError, match="rank 0: sent more than one message"):
            exchange.exchange({}, int)
    else:
        exchange.exchange({}, int)
    exchange.exchange({}, int)


def test_integers_of_python_fit_or_are_refused(exchange: barrio.Exchange) -> None:
    for back in exchange.exchange(dict.fromkeys(exchange.neighbours, 255), np.uint8).values():
        assert back.tolist() == [255]
    with pytest.raises(OverflowError):
        exchange.exchange(dict.fromkeys([*exchange.neighbours, MPI.COMM_WORLD.rank], 256), np.uint8)
    exchange.exchange({}, np.uint8)


@pytest.mark.parametrize("how", ["raise", "drop"])
def test_a_round_that_is_given_up_ends_the_exchange(comm: MPI.Comm, how: str) -> None:
    """Every rank abandons it, so none waits. Other exchanges continue."""
    exchange = barrio.Exchange(comm, ring(comm), packet_bytes=64)
    r = exchange.round(int)
    if how == "raise":
        with pytest.raises(ZeroDivisionError), r:
            for to in exchange.neighbours:
                r.send(to, range(100) if comm.rank % 2 == 0 and comm.size > 2 else 1)
            _ = 1 // 0
        with pytest.raises(barrio.UsageError, match=r"is closed for sending"):
            r.send(comm.rank, 1)
    del r
    gc.collect()
    for call in (
        lambda: exchange.round(int),
        lambda: exchange.exchange({}, int),
        lambda: exchange.neighbours,
        exchange.validate,
    ):
        with pytest.raises(barrio.UsageError, match="was left in the middle of a round"):
            call()
    other = barrio.Exchange(comm, ring(comm))
    assert len(other.exchange(dict.fromkeys(ring(comm), 1), int)) == len(ring(comm))


def test_several_exchanges_at_once(comm: MPI.Comm) -> None:
    first = barrio.Exchange(comm, ring(comm))
    second = barrio.Exchange(comm, others(comm))
    a = first.round(int)
    b = second.round(float)
    for to in second.neighbours:
        b.send(to, 0.5)
    for to in first.neighbours:
        a.send(to, 2)
    assert [array[0] for _, array in a.collect()] == [2] * len(ring(comm))
    assert [array[0] for _, array in b.collect()] == [0.5] * (comm.size - 1)


@pytest.mark.skipif(MPI.COMM_WORLD.size > 1, reason="starts a process that uses MPI")
@pytest.mark.parametrize("state", ["between", "sending", "receiving"])
def test_the_interpreter_ends_well_with_an_exchange_alive(state: str) -> None:
    code = (
        "import barrio; from mpi4py import MPI; e = barrio.Exchange(MPI.COMM_WORLD, []); r = e.round(float)\n"
        "r.send(0, 1.0)\n"
        f"if '{state}' != 'sending': it = r.received()\n"
        f"if '{state}' == 'between': list(it)\n"
        "print('end', flush=True)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout) == (0, "end\n"), done.stderr
    assert "nanobind" not in done.stderr
    assert "rror" not in done.stderr
