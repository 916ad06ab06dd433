"""Numbers not measured in this run: the paper's, and those of libraries that no distribution has."""

from __future__ import annotations

from dataclasses import dataclass

CRAY, BLUE_GENE = "Cray XE6", "Blue Gene/P"
MPI, IPCOMMAN = "MPI", "IPComMan, 8-byte buffers"


@dataclass(frozen=True)
class Value:
    """One number of the paper's text. `derived`: computed from three others of the same figure."""

    figure: str
    machine: str
    who: str
    x: int
    quantity: str
    value: float
    derived: bool = False


# Ovcharenko et al. 2012, section 5: 1024 cores. `normalised` is the time of a message relative to the first run,
# `over_mpi` the time of MPI over that of IPComMan, `over_one` the time with 8-byte buffers over that with larger ones.
# The text lacks IPComMan's normalised time: it is MPI's time, times the first speed-up, over the last.
PAPER = [
    Value("figure07", CRAY, MPI, 61440, "normalised", 190),
    Value("figure07", BLUE_GENE, MPI, 61440, "normalised", 7),
    Value("figure07", CRAY, IPCOMMAN, 61440, "normalised", 190 * 1.5 / 43.5, derived=True),
    Value("figure07", BLUE_GENE, IPCOMMAN, 61440, "normalised", 7 * 5 / 2.75, derived=True),
    Value("figure07", CRAY, IPCOMMAN, 1024, "over_mpi", 1.5),
    Value("figure07", CRAY, IPCOMMAN, 61440, "over_mpi", 43.5),
    Value("figure07", BLUE_GENE, IPCOMMAN, 1024, "over_mpi", 1 / 2.75),
    Value("figure07", BLUE_GENE, IPCOMMAN, 61440, "over_mpi", 1 / 5),
    Value("figure08", BLUE_GENE, IPCOMMAN, 8, "over_one", 1),
    Value("figure08", BLUE_GENE, "IPComMan", 256, "over_one", 67),
    Value("figure08", BLUE_GENE, "IPComMan", 65536, "over_one", 79),
    Value("figure08", BLUE_GENE, MPI, 0, "over_one", 5),
    Value("figure10", CRAY, MPI, 2048, "normalised", 108),
    Value("figure10", BLUE_GENE, MPI, 2048, "normalised", 65),
    Value("figure10", CRAY, IPCOMMAN, 2048, "normalised", 108 * 1.25 / 145, derived=True),
    Value("figure10", BLUE_GENE, IPCOMMAN, 2048, "normalised", 1.33),
    Value("figure10", CRAY, IPCOMMAN, 64, "over_mpi", 1.25),
    Value("figure10", CRAY, IPCOMMAN, 2048, "over_mpi", 145),
    Value("figure10", BLUE_GENE, IPCOMMAN, 64, "over_mpi", 2.1),
    Value("figure10", BLUE_GENE, IPCOMMAN, 2048, "over_mpi", 102),
]

# A round of `tile` on 64 ranks, 64 messages of 8 bytes to each neighbour: its time over that of `packed` in the same
# program. Measured once, with Open MPI 4.1.4 on 2 cores, from the sources SCOREC/core 395d3a2e, LLNL/ygm 72826a9,
# Nek5000/gslib 95acf5b and mpi-advance/locality_aware 015711d. Not part of this run, so no goal is measured by them.
ELSEWHERE_SHORT_TILE = {
    "MPI Advance, personalized": 2.88 / 1.69,
    "gslib, crystal router": 3.91 / 1.69,
    "MPI Advance, nonblocking": 6.38 / 1.69,
    "PCU": 7.21 / 1.69,
    "YGM": 15.2 / 1.69,
}
