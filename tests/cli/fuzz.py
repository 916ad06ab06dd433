"""Flip bytes of small mesh files and see how barrio takes it: exit code 0, 1 or 3 within 10 s, never a signal or 70.

    fuzz.py [--count N] [--seed S]

The seed is printed; with it a run can be repeated. A file that breaks the rule is kept and named.
"""

from __future__ import annotations

import argparse
import base64
import random
import shutil
import struct
import sys
import tempfile
import zlib
from pathlib import Path

from barrio_case import WING, Outcome, barrio, tool

ALLOWED = (0, 1, 3)
LIMIT_SECONDS = 10.0


def seeds(folder: Path) -> list[Path]:
    """Good files to start from."""
    box = folder / "box.h5m"
    assert barrio("generate", "box", "-c", 3, 2, 2, "-n", 3, "-o", box).code == 0
    polygons = folder / "polygons.h5m"
    shutil.copy(box, polygons)
    tool("polygons", polygons, "/tstt/elements/Quad4")
    text = folder / "small.msh"
    text.write_text("""$MeshFormat
4.1 0 8
$EndMeshFormat
$PhysicalNames
2
2 1 "floor"
3 2 "inside"
$EndPhysicalNames
$Entities
0 0 1 1
1 0 0 0 1 1 0 1 1 0
1 0 0 0 1 1 1 1 2 0
$EndEntities
$Nodes
2 6 1 6
2 1 0 4
1
2
3
4
0 0 0
1 0 0
0 1 0
1 1 0
3 1 0 2
5
6
0.5 0.5 1
0.5 0.5 -1
$EndNodes
$Elements
2 6 1 6
2 1 2 2
1 1 2 3
2 2 4 3
3 1 4 4
3 1 2 3 5
4 2 4 3 5
5 1 3 2 6
6 2 3 4 6
$EndElements
""")
    binary = folder / "small_binary.msh"
    tool("gmsh-binary", text, binary)
    coarse = folder / "coarse_binary.msh"
    tool("gmsh-binary", WING, coarse)
    old = folder / "old.msh"
    old.write_text("""$MeshFormat
2.2 0 8
$EndMeshFormat
$Nodes
5
1 0 0 0
2 1 0 0
3 0 1 0
4 0 0 1
5 1 1 1
$EndNodes
$Elements
3
1 2 4 7 1 1 1 1 2 3
2 4 4 8 1 1 1 1 2 3 4
3 4 4 8 1 1 2 2 3 4 5
$EndElements
""")
    return [box, polygons, text, binary, coarse, old, *vtk_seeds(folder)]


def vtk_seeds(folder: Path) -> list[Path]:
    """Two tets, as a text of version 3 and as binary of version 5."""
    head = "# vtk DataFile Version {}.0\nseed\n{}\nDATASET UNSTRUCTURED_GRID\nPOINTS 5 double\n"
    points = (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0)
    text = folder / "small.vtk"
    text.write_text(
        head.format(3, "ASCII")
        + " ".join(map(str, points))
        + "\nCELLS 2 10\n4 0 1 2 3\n4 1 2 3 4\nCELL_TYPES 2\n10 10\nCELL_DATA 2\n"
        + "SCALARS material int\nLOOKUP_TABLE default\n1 2\nPOINT_DATA 5\nVECTORS v float\n"
        + " ".join(map(str, points))
    )
    binary = folder / "small_binary.vtk"
    binary.write_bytes(
        head.format(5, "BINARY").encode()
        + struct.pack(">15d", *points)
        + b"\nCELLS 3 8\nOFFSETS vtktypeint64\n"
        + struct.pack(">3q", 0, 4, 8)
        + b"\nCONNECTIVITY vtktypeint64\n"
        + struct.pack(">8q", 0, 1, 2, 3, 1, 2, 3, 4)
        + b"\nCELL_TYPES 2\n"
        + struct.pack(">2i", 10, 10)
        + b"\nCELL_DATA 2\nFIELD data 1\npart 1 2 int\n"
        + struct.pack(">2i", 0, 1)
    )
    return [text, binary, *grid_seeds(folder), *vtu_seeds(folder, points)]


def grid_seeds(folder: Path) -> list[Path]:
    """Datasets whose cells no list says."""
    head = "# vtk DataFile Version 3.0\nseed\nASCII\nDATASET {}\nDIMENSIONS 3 2 2\n"
    data = "CELL_DATA 2\nSCALARS material int\nLOOKUP_TABLE default\n1 2\n"
    even = folder / "even_grid.vtk"
    even.write_text(head.format("STRUCTURED_POINTS") + "ORIGIN 1 2 3\nSPACING 0.5 1 2\n" + data)
    axes = folder / "axes_grid.vtk"
    axes.write_text(
        head.format("RECTILINEAR_GRID")
        + "X_COORDINATES 3 double\n1 2 4\nY_COORDINATES 2 float\n5 6\nZ_COORDINATES 2 int\n-1 1\n"
        + data
    )
    return [even, axes]


def vtu_seeds(folder: Path, points: tuple[float, ...]) -> list[Path]:
    """Two tets: values in line in base64, and appended as they are; both compressed."""
    arrays = (
        ("Points", 'type="Float64" NumberOfComponents="3"', struct.pack("<15d", *points)),
        ("Cells", 'type="Int32" Name="connectivity"', struct.pack("<8i", 0, 1, 2, 3, 1, 2, 3, 4)),
        ("Cells", 'type="Int32" Name="offsets"', struct.pack("<2i", 4, 8)),
        ("Cells", 'type="UInt8" Name="types"', bytes((10, 10))),
        ("CellData", 'type="Int32" Name="part"', struct.pack("<2i", 0, 1)),
    )
    files = []
    for is_appended in (False, True):
        sections = {"Points": "", "Cells": "", "CellData": ""}
        appended = b""
        for section, heading, values in arrays:
            packed = zlib.compress(values)
            sizes = struct.pack("<4I", 1, len(values), 0, len(packed))
            if is_appended:
                form = f'format="appended" offset="{len(appended)}"/>'
                appended += sizes + packed
            else:
                letters = (base64.b64encode(sizes) + base64.b64encode(packed)).decode()
                form = f'format="binary">{letters}</DataArray>'
            sections[section] += f"<DataArray {heading} {form}\n"
        text = (
            '<?xml version="1.0"?>\n<VTKFile type="UnstructuredGrid" version="0.1"'
            ' byte_order="LittleEndian" compressor="vtkZLibDataCompressor">\n<UnstructuredGrid>\n'
            '<Piece NumberOfPoints="5" NumberOfCells="2">\n'
            + "".join(f"<{name}>\n{body}</{name}>\n" for name, body in sections.items())
            + "</Piece>\n</UnstructuredGrid>\n"
        ).encode()
        if is_appended:
            text += b'<AppendedData encoding="raw">\n_' + appended + b"\n</AppendedData>\n"
        files.append(folder / ("appended.vtu" if is_appended else "compressed.vtu"))
        files[-1].write_bytes(text + b"</VTKFile>\n")
    return files


def damage(good: bytes, source: random.Random) -> bytes:
    """Change one to four bytes, or now and then cut, double or drop a piece."""
    data = bytearray(good)
    for _ in range(source.randint(1, 4)):
        # Half of all changes go to the first 4 KiB, where the tables are described.
        at = source.randrange(min(len(data), 4096) if source.random() < 0.5 else len(data))
        data[at] = source.choice(
            (0, 255, 127, 128, data[at] ^ (1 << source.randrange(8)), source.randrange(256))
        )
    if source.random() < 0.1:
        first = source.randrange(len(data))
        last = min(len(data), first + source.randrange(1, 200))
        data[first:last] = b"" if source.random() < 0.5 else data[first:last] * 2
    return bytes(data)


def fault_of(outcome: Outcome) -> str:
    if outcome.code not in ALLOWED:
        return f"exit code {outcome.code}"
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
            outcome = barrio(*words, limit=LIMIT_SECONDS)
            codes[outcome.code] = codes.get(outcome.code, 0) + 1
            if fault := fault_of(outcome):
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
    # Files must both survive and be refused, or the damage is not what it should be.
    return 1 if n_faults > 0 or codes.get(3, 0) == 0 or codes.get(0, 0) == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
