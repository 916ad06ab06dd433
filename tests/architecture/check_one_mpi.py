"""Check that programs load exactly one MPI, and an HDF5 built for the same MPI.

    check_one_mpi.py --flavour openmpi PROGRAM...

Two MPIs in one process link silently and crash at run time. Flavour `other` accepts any single MPI.
"""

from __future__ import annotations

import argparse
import pathlib
import re
import subprocess
import sys

# Names of the shared libraries: Open MPI 4 and 5; MPICH 3 and newer, whose ABI others share.
LIBRARIES = {
    "openmpi": re.compile(r"^libmpi\.so\.40$"),
    "mpich": re.compile(r"^(libmpich|libmpi)\.so\.12$"),
}


def libraries_of(listing: str) -> dict[str, str]:
    """Parse the output of `ldd` to name -> path; the path of a missing library is 'not found'."""
    found = {}
    for line in listing.splitlines():
        match = re.match(r"\s*(\S+) => (not found|\S+)", line)
        if match:
            found[pathlib.PurePosixPath(match.group(1)).name] = match.group(2)
    return found


def faults_of(listing: str, flavour: str) -> list[str]:
    libraries = libraries_of(listing)
    faults = [f"{name} is not found" for name, path in libraries.items() if path == "not found"]
    loaded = {
        known: [name for name in libraries if pattern.match(name)]
        for known, pattern in LIBRARIES.items()
    }
    names = sorted(name for matches in loaded.values() for name in matches)
    if len(names) != 1:
        faults.append(f"loads {len(names)} MPI libraries, not one: {', '.join(names) or 'none'}")
    elif flavour in LIBRARIES and not loaded[flavour]:
        faults.append(f"loads {names[0]}, which is not of {flavour}")
    for name, path in libraries.items():
        if not name.startswith("libhdf5") or flavour not in LIBRARIES:
            continue
        for other in LIBRARIES.keys() - {flavour}:
            if other in name or other in path:
                faults.append(f"loads {name} ({path}), which was built for {other}")
        if "serial" in name:
            faults.append(f"loads {name}, which has no MPI in it")
    return faults


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--flavour", required=True, help="the MPI they were built for: openmpi, mpich or other"
    )
    parser.add_argument(
        "--listing", action="store_true", help="the files are texts that ldd printed (for tests)"
    )
    parser.add_argument("programs", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    n_faults = 0
    for program in options.programs:
        if not program.exists():
            print(f"{program.name}: is not built")
            n_faults += 1
            continue
        if options.listing:
            listing = program.read_text(encoding="utf-8")
        else:
            listing = subprocess.run(
                ["ldd", program], capture_output=True, text=True, check=True
            ).stdout
        faults = faults_of(listing, options.flavour)
        n_faults += len(faults)
        print(f"{program.name}: {'; '.join(faults) or 'one MPI'}")
    return 1 if n_faults else 0


if __name__ == "__main__":
    sys.exit(main())
