"""Check that what is compiled for an instruction set is used with that set only.

    check_kernels.py kernels_avx2=OBJECT kernels_avx512=OBJECT ...

The linker keeps one copy of an inline function that several objects have. If it is the one which was compiled for AVX,
every part of the program that calls it dies on a processor without. So the objects of kernels define no such function
but those whose name says for which set they are.
"""

from __future__ import annotations

import subprocess
import sys

SHARED = "WVuw"  # kinds of symbols of which the linker keeps one


def foreign(table: str, kernel_set: str) -> list[str]:
    """Names in a table of `nm` that other objects may have too."""
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
