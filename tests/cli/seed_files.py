"""Small sound mesh files, text and binary: seeds for tests that damage files."""

from __future__ import annotations

import base64
import struct
import zlib
from pathlib import Path


def write_seeds(folder: Path) -> list[Path]:
    """Write Gmsh 4.1 and 2.2 texts first, then Medit and VTK files."""
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
    return [text, old, *medit_seeds(folder), *vtk_seeds(folder), *xdmf_seeds(folder)]


def xdmf_seeds(folder: Path) -> list[Path]:
    """Write a mixed list of cells, a series that includes its mesh, and a grid with axes."""

    def item(dimensions: str, kind: str, numbers: str) -> str:
        return f'<DataItem Dimensions="{dimensions}" NumberType="{kind}" Precision="8" Format="XML">{numbers}</DataItem>'

    mesh = (
        '<Grid Name="mesh"><Topology TopologyType="Mixed" NumberOfElements="2">'
        + item("10", "Int", "6 0 1 2 3 6 1 2 3 4")
        + '</Topology><Geometry GeometryType="XYZ">'
        + item("5 3", "Float", "0 0 0 1 0 0 0 1 0 0 0 1 1 1 1")
        + "</Geometry></Grid>"
    )
    step = (
        '<Grid Name="u"><xi:include xpointer="xpointer(/Xdmf/Domain/Grid[1]/*[self::Topology or self::Geometry])"/>'
        '<Attribute Name="u" Center="Cell">' + item("2", "Float", "1 2") + "</Attribute></Grid>"
    )
    series = f'<Grid GridType="Collection" CollectionType="Temporal">{step}{step}</Grid>'
    axes = (
        '<Grid><Topology TopologyType="3DRectMesh" Dimensions="2 2 2"/><Geometry GeometryType="VXVYVZ">'
        + item("2", "Float", "0 1") * 3
        + "</Geometry></Grid>"
    )
    files = []
    for name, grids in (("mixed", mesh), ("series", mesh + series), ("axes", axes)):
        files.append(folder / f"{name}.xdmf")
        files[-1].write_text(
            f'<?xml version="1.0"?>\n<Xdmf Version="3.0"><Domain>{grids}</Domain></Xdmf>\n'
        )
    return files


def medit_seeds(folder: Path) -> list[Path]:
    """Write two tets with a triangle, as text and as binary of version 2."""
    points = ((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1))
    rows = {
        "Triangles": (6, ((1, 2, 3, 7),)),
        "Tetrahedra": (8, ((1, 2, 3, 4, 1), (2, 3, 4, 5, 2))),
    }
    rows["Corners"] = (13, ((1,), (5,)))
    text = folder / "small.mesh"
    lines = ["MeshVersionFormatted 2", "Dimension 3", "# five", "Vertices", "5"]
    lines += [f"{x} {y} {z} 0" for x, y, z in points]
    for keyword, (_, cells) in rows.items():
        lines += [keyword, str(len(cells)), *(" ".join(map(str, cell)) for cell in cells)]
    text.write_text("\n".join([*lines, "End", ""]))
    binary = folder / "small.meshb"
    data = struct.pack("<5i", 1, 2, 3, 20, 3)
    vertices = b"".join(struct.pack("<3di", *point, 0) for point in points)
    data += struct.pack("<3i", 4, len(data) + 12 + len(vertices), 5) + vertices
    for code, cells in rows.values():
        numbers = [number for cell in cells for number in cell]
        data += struct.pack("<3i", code, len(data) + 12 + 4 * len(numbers), len(cells))
        data += struct.pack(f"<{len(numbers)}i", *numbers)
    binary.write_bytes(data + struct.pack("<2i", 54, 0))
    return [text, binary]


def vtk_seeds(folder: Path) -> list[Path]:
    """Write two tets, as text of version 3 and as binary of version 5."""
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
    """Write datasets with implicit cells."""
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
    """Write two tets: values inline in base64, and appended raw; both compressed."""
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
