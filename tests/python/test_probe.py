from __future__ import annotations

import pytest
from mpi4py import MPI

import barrio

WORLD = MPI.COMM_WORLD


def test_one_rank_is_refused() -> None:
    with pytest.raises(barrio.UsageError, match="two ranks"):
        barrio.probe(MPI.COMM_SELF)


def test_depths_are_named() -> None:
    with pytest.raises(barrio.UsageError, match="depth 'deep'"):
        barrio.probe(WORLD, depth="deep")


@pytest.mark.skipif(WORLD.size < 2, reason="needs two ranks")
def test_limits() -> None:
    found = barrio.probe(WORLD)
    assert found["schema"] == "barrio.probe.transport"
    if found["is_disturbed"]:
        pytest.skip("other work disturbs the measurement on this host")
    assert 64 <= found["limits"]["eager_bytes"] < 2**22
    assert [row["bytes"] for row in found["overlap"]] == [1024 * 4**i for i in range(7)]
    assert found["profile"]["packet_bytes"] >= 8192
    assert WORLD.allgather(found["limits"]) == [found["limits"]] * WORLD.size


@pytest.mark.skipif(WORLD.size < 2, reason="needs two ranks")
def test_check() -> None:
    found = barrio.probe(WORLD, depth="check")
    assert not found["check"]["has_profile"]
    assert "limits" not in found
