"""Check that code compiled for an instruction set is used with that set only.

    check_kernels.py kernels_avx2=OBJECT kernels_avx512=OBJECT ...

The linker keeps one copy of an inline function that several objects define. If that copy was compiled for AVX, every
caller in the program crashes on a processor without AVX. So the objects of kernels may define only such inline
functions whose names state their instruction set.
"""

from __future__ import annotations

import subprocess
import sys

SHARED = "WVuw"  # kinds of symbols of which the linker keeps one copy


def foreign(table: str, kernel_set: str) -> list[str]:
    """Find names in a table of `nm` that other objects may define too."""
    found = []
    for line in table.splitlines():
        parts = line.split(maxsplit=2)
        if len(parts) == 3 and parts[1] in SHARED and kernel_set not in parts[2]:
            found.append(parts[2])
    return found


def main() -> int:
    bad = 0
    for argument in sys.argv[1:]:
        kernel_set, _, path = argument.partition("=")
        table = subprocess.run(
            ["nm", "--demangle", "--defined-only", path], capture_output=True, text=True, check=True
        ).stdout
        if f"{kernel_set}::" not in table:
            print(f"{path} defines nothing in {kernel_set}")
            bad += 1
        for name in foreign(table, kernel_set):
            print(f"{path} may give its {kernel_set} copy to others: {name}")
            bad += 1
    return 1 if bad or len(sys.argv) < 2 else 0


if __name__ == "__main__":
    sys.exit(main())
