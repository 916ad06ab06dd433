"""Change bytes of small mesh files, and check how barrio handles them.

It must end with exit code 0, 1 or 3, never by a signal or with 70, after at most 10 s of work.

    fuzz.py [--count N] [--seed S]

The seed is printed and repeats a run. A file that breaks the rule is kept and named.
"""

from __future__ import annotations

import argparse
import random
import resource
import shutil
import sys
import tempfile
from pathlib import Path

from barrio_case import WING, Outcome, barrio, tool
from seed_files import write_seeds

ALLOWED = (0, 1, 3)
LIMIT_CPU_SECONDS = 10.0
LIMIT_SECONDS = 60.0  # a host that stalls for half a minute makes good runs look hung


def seeds(folder: Path) -> list[Path]:
    """Write good files to start from."""
    box = folder / "box.h5m"
    assert barrio("generate", "box", "-c", 3, 2, 2, "-n", 3, "-o", box).code == 0
    polygons = folder / "polygons.h5m"
    shutil.copy(box, polygons)
    tool("polygons", polygons, "/tstt/elements/Quad4")
    binary = folder / "small_binary.msh"
    texts = write_seeds(folder)
    tool("gmsh-binary", texts[0], binary)
    coarse = folder / "coarse_binary.msh"
    tool("gmsh-binary", WING, coarse)
    return [box, polygons, texts[0], binary, coarse, *texts[1:]]


def damage(good: bytes, source: random.Random) -> bytes:
    """Change one to four bytes, or sometimes cut, double or drop a piece."""
    data = bytearray(good)
    for _ in range(source.randint(1, 4)):
        # Half of all changes hit the first 4 KiB, which describe the tables.
        at = source.randrange(min(len(data), 4096) if source.random() < 0.5 else len(data))
        data[at] = source.choice(
            (0, 255, 127, 128, data[at] ^ (1 << source.randrange(8)), source.randrange(256))
        )
    if source.random() < 0.1:
        first = source.randrange(len(data))
        last = min(len(data), first + source.randrange(1, 200))
        data[first:last] = b"" if source.random() < 0.5 else data[first:last] * 2
    return bytes(data)


def cpu_seconds() -> float:
    """Return the total CPU time of all ended commands."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def fault_of(outcome: Outcome, worked_seconds: float) -> str:
    if outcome.code not in ALLOWED:
        return f"exit code {outcome.code}"
    if worked_seconds > LIMIT_CPU_SECONDS:
        return f"{worked_seconds:.1f} s of work"
    if outcome.code != 0 and outcome.err.count("barrio: error: ") != 1:
        return "not exactly one error message"
    if "HDF5-DIAG" in outcome.err:
        return "HDF5 speaks"
    return ""


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    parser.add_argument("--only", default="", help="a file to start from, by name")
    parser.add_argument(
        "--info-only", action="store_true", help="leave out load, which takes ten times as long"
    )
    wanted = parser.parse_args()
    print(f"repeat this run with --seed {wanted.seed} --count {wanted.count}", flush=True)
    source = random.Random(wanted.seed)
    folder = Path(tempfile.mkdtemp(prefix="barrio-fuzz-"))
    good = [path for path in seeds(folder) if wanted.only in path.name]
    for path in good:
        assert barrio("info", path).code == 0, path
        assert wanted.info_only or barrio("load", path, "--validate").code == 0, path
    n_faults = 0
    codes: dict[int, int] = {}
    for i in range(wanted.count):
        origin = good[i % len(good)]
        bad = folder / f"bad_{i}_{origin.name}"
        bad.write_bytes(damage(origin.read_bytes(), source))
        runs = [("info", bad)] + (
            [] if wanted.info_only else [("load", bad, "--ghosts", 1, "--validate")]
        )
        faults = []
        for words in runs:
            before = cpu_seconds()
            outcome = barrio(*words, limit=LIMIT_SECONDS)
            codes[outcome.code] = codes.get(outcome.code, 0) + 1
            if fault := fault_of(outcome, cpu_seconds() - before):
                faults.append(f"{fault}: {outcome}")
        n_faults += len(faults)
        for fault in faults:
            print(f"FAULT, kept {bad}\n{fault}", flush=True)
        if not faults:
            bad.unlink()
    print(
        f"{wanted.count} damaged files, exit codes: {dict(sorted(codes.items()))}, {n_faults} faults"
    )
    if n_faults == 0:
        shutil.rmtree(folder)
    # Of many files some must survive and some must be refused, or the damage is badly tuned.
    many = 200
    is_tuned = codes.get(3, 0) > 0 and codes.get(0, 0) > 0
    return 1 if n_faults > 0 or (wanted.count >= many and not is_tuned) else 0


if __name__ == "__main__":
    sys.exit(main())
