"""Run the fuzzers of the readers, one after the other: tests/fuzz/run.py [--seconds 60] [--only vtk] [--seed S]

The corpus in build/fuzz/corpus serves the next run. A find is kept in build/fuzz/finds and named. To reproduce it, give
the fuzzer only that file (build/fuzz/bin/fuzz_vtk FILE).
"""

from __future__ import annotations

import argparse
import os
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "tests" / "cli"))
from seed_files import write_seeds  # noqa: E402

SUFFIXES = (
    "h5m",
    "msh",
    "mesh",
    "vtk",
    "vtu",
    "vtkhdf",
    "xdmf",
    "e",
    "cgns",
    "nc",
    "poly",
    "geojson",
)
# MPI and HDF5 leak themselves.
ENVIRONMENT = {
    "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1:quarantine_size_mb=16:malloc_context_size=8",
    "ASAN_SYMBOLIZER_PATH": shutil.which("llvm-symbolizer-16") or "",
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    **os.environ,
}
# Words that random changes would find late.
WORDS = {
    "msh": "$MeshFormat $EndMeshFormat $PhysicalNames $EndPhysicalNames $Entities $EndEntities "
    "$PartitionedEntities $EndPartitionedEntities $Nodes $EndNodes $Elements $EndElements "
    "$GhostElements $EndGhostElements $Periodic $EndPeriodic $Comments $EndComments 4.1 2.2",
    "mesh": "MeshVersionFormatted Dimension Vertices Edges Triangles Quadrilaterals Tetrahedra Pyramids Prisms "
    "Hexahedra Corners Ridges RequiredVertices RequiredEdges RequiredTriangles RequiredQuadrilaterals "
    "RequiredTetrahedra Hexaedra Pentahedra TetrahedraP2 Normals End #",
    "vtk": "ASCII BINARY DATASET UNSTRUCTURED_GRID STRUCTURED_POINTS STRUCTURED_GRID RECTILINEAR_GRID "
    "POLYDATA POINTS CELLS CELL_TYPES VERTICES LINES POLYGONS TRIANGLE_STRIPS DIMENSIONS ORIGIN SPACING "
    "X_COORDINATES Y_COORDINATES Z_COORDINATES POINT_DATA CELL_DATA SCALARS LOOKUP_TABLE VECTORS NORMALS "
    "TENSORS TENSORS6 TEXTURE_COORDINATES COLOR_SCALARS FIELD GLOBAL_IDS PEDIGREE_IDS METADATA OFFSETS "
    "CONNECTIVITY GLOBAL_ID material vtktypeint64 bit char unsigned_char short int long float double string",
    "vtu": "VTKFile UnstructuredGrid Piece NumberOfPoints NumberOfCells Points Cells PointData CellData "
    "FieldData DataArray AppendedData NumberOfComponents NumberOfTuples type Name format ascii binary appended "
    "encoding raw base64 offset connectivity offsets types faces faceoffsets byte_order LittleEndian BigEndian "
    "header_type UInt32 UInt64 compressor vtkZLibDataCompressor vtkLZ4DataCompressor Int8 UInt8 Int16 UInt16 "
    "Int32 Int64 Float32 Float64 String",
    "xdmf": "Xdmf Domain Grid GridType CollectionType Uniform Collection Temporal Spatial Tree Topology TopologyType Mixed "
    "Triangle Tetrahedron Hexahedron PolyLine Polygon 3DSMesh 2DRectMesh 3DCoRectMesh NumberOfElements NodesPerElement "
    "Geometry GeometryType XYZ XY X_Y_Z VXVYVZ ORIGIN_DXDYDZ DataItem Dimensions NumberType DataType Precision Float Int "
    "UInt Format XML HDF Binary Endian Seek Attribute Center Node Cell Reference xi:include xpointer xpointer(/Xdmf/Domain "
    "Grid[1]/*[self::Topology])",
    "poly": "#node #options # -1 0.5 1e-16 1e-45 1e60 1e300 1e-300 2.0000000000000004 2147483647",
    "geojson": "#options Feature FeatureCollection GeometryCollection Polygon MultiPolygon LineString type "
    "features geometry geometries coordinates properties bbox null 1e-16 1e60 1e-45 180 -180",
}


def more_seeds(folder: Path) -> None:
    """Write seeds that the tests of the command lack: sections, datasets and encodings that are read or skipped."""
    (folder / "sections.msh").write_text(
        "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Comments\nof a test\n$EndComments\n"
        "$Entities\n1 1 1 0\n1 0 0 0 0\n1 0 0 0 1 0 0 0 2 1 -1\n1 0 0 0 1 1 0 1 7 1 1\n$EndEntities\n"
        "$PartitionedEntities\n2\n1\n9 2\n1 0 1 0\n5 0 1 1 1 0 0 0 0\n0\n2 2 1 1 1 0 0 0 1 1 0 1 7 0\n"
        "3 2 1 1 2 0 0 0 1 1 0 1 7 0\n0\n$EndPartitionedEntities\n"
        "$Nodes\n2 4 1 4\n2 2 0 3\n1\n2\n3\n0 0 0\n1 0 0\n0 1 0\n2 3 1 1\n4\n1 1 0 0.5 0.5\n$EndNodes\n"
        "$Elements\n2 2 1 2\n2 2 2 1\n1 1 2 3\n2 3 2 1\n2 2 4 3\n$EndElements\n"
        "$GhostElements\n1\n2 2 1 1\n$EndGhostElements\n"
        '$NodeData\n1\n"heat"\n1\n0.0\n3\n0\n1\n1\n1 0.5\n$EndNodeData\n'
    )
    head = "# vtk DataFile Version 2.0\nseed\nASCII\nDATASET {}\n"
    (folder / "polygons.vtk").write_text(
        head.format("POLYDATA") + "POINTS 5 float\n0 0 0 1 0 0 0 1 0 1 1 0 2 2 0\n"
        "VERTICES 1 2\n1 4\nPOLYGONS 2 9\n3 0 1 2\n4 1 4 3 2\n"
        "CELL_DATA 3\nCOLOR_SCALARS c 1\n0 .5 1\nNORMALS n float\n0 0 1 0 0 1 0 0 1\nMETADATA\nINFORMATION 0\n\n"
        "POINT_DATA 5\nTEXTURE_COORDINATES t 2 float\n0 0 0 0 0 0 0 0 0 0\nGLOBAL_IDS g int\n1 2 3 4 5\n"
    )
    (folder / "curved.vtk").write_text(
        head.format("STRUCTURED_GRID") + "DIMENSIONS 2 2 2\nPOINTS 8 float\n"
        "0 0 0 1 0 0 0 1 0 1 1 0 0 0 1 1 0 1 0 1 1 1 1 1\nPOINT_DATA 8\nTENSORS t float\n"
        + "1 0 0 0 1 0 0 0 1\n"
        * 8
    )
    array = '<DataArray type="{}" Name="{}" format="ascii"{}>{}</DataArray>'
    piece = (
        '<Piece NumberOfPoints="4" NumberOfCells="1"><Points>'
        + array.format("Float32", "Points", ' NumberOfComponents="3"', "0 0 0 1 0 0 0 1 0 0 0 1")
        + "</Points><Cells>"
        + array.format("Int64", "connectivity", "", "0 1 2 3")
        + array.format("Int64", "offsets", "", "4")
        + array.format("UInt8", "types", "", "10")
        + "</Cells><PointData>"
        + array.format("Float64", "v", ' NumberOfComponents="3"', "0 0 0 " * 4)
        + "</PointData><CellData>"
        + array.format("Int32", "material", "", "3")
        + "</CellData></Piece>"
    )
    (folder / "text.vtu").write_text(
        '<VTKFile type="UnstructuredGrid" version="1.0" byte_order="BigEndian" header_type="UInt64">'
        f"<UnstructuredGrid>{piece}{piece}</UnstructuredGrid></VTKFile>"
    )


def graph_seeds(folder: Path) -> None:
    """Write planar graphs. graph_fuzzer.cpp describes their special comments."""
    plate = SOURCE / "data" / "plate.poly"
    (folder / plate.name).write_bytes(plate.read_bytes())
    (folder / "apart.poly").write_text(
        "0 2 0 0\n3 1\n0 0 1 7\n1 1 2 8\n2 2 0 9\n0\n#node\n3 2 1 1\n0 0 0 .5 1\n1 1 0 .5 2\n2 0 1 .5 3\n"
    )
    box = "4 2 0 0\n1 0 0\n2 1 0\n3 1 1\n4 0 1\n4 0\n1 1 2\n2 2 3\n3 3 4\n4 4 1\n0\n"
    (folder / "box.poly").write_text(box)
    (folder / "box_with_options.poly").write_text(f"#options 30 0.01 6\n{box}1\n1 .5 .5 1 .1\n")
    (folder / "hull.poly").write_text(
        "#options 20 0 1\n6 2 0 0\n0 0 0\n1 2 0\n2 2 2\n3 0 2\n4 1 1\n5 1 1e-9\n1 0\n0 0 4\n0\n"
    )
    # a point in the middle of a segment, one very near it, and an isolated segment
    (folder / "touching.poly").write_text(
        "7 2 0 0\n1 0 0\n2 4 0\n3 0 4\n4 2 0\n5 1 2.9999999999999996\n6 1 1\n7 1.5 1\n"
        "4 0\n1 1 2\n2 2 3\n3 3 1\n4 6 7\n0\n"
    )

    square = "[[[0,0],[2,0],[2,2],[0,2],[0,0]],[[0.5,0.5],[0.5,1],[1,1],[1,0.5],[0.5,0.5]]]"
    beside = "[[[2,0],[4,0,7],[4,2],[2,2],[2,1],[2,0]]]"
    (folder / "beside.geojson").write_text(
        '{"type":"FeatureCollection","note":"#options 30 0.1 0 ","features":['
        f'{{"type":"Feature","properties":{{"a":1}},"geometry":{{"type":"Polygon","coordinates":{square}}}}},'
        f'{{"type":"Feature","properties":null,"geometry":{{"type":"MultiPolygon","coordinates":[{beside}]}}}},'
        '{"type":"Feature","geometry":null},{"type":"Feature","geometry":{"type":"GeometryCollection",'
        '"geometries":[{"type":"Point","coordinates":[0,0]}]}}]}'
    )
    (folder / "plain.geojson").write_text(f'{{"type":"Polygon","coordinates":{beside}}}')


def run(build: Path, suffix: str, seconds: int, seed: int) -> bool:
    """Run a fuzzer. @return whether it found nothing"""
    corpus = build / "corpus" / suffix
    finds = build / "finds"
    for folder in (corpus, finds):
        folder.mkdir(parents=True, exist_ok=True)
    words = build / "corpus" / f"{suffix}.words"
    words.write_text("".join(f'"{word}"\n' for word in WORDS.get(suffix, "CDF").split()))
    log = build / "corpus" / f"{suffix}.log"
    print(f"fuzz_{suffix}: {seconds} s, seed {seed} ... ", end="", flush=True)
    with log.open("w") as out:
        code = subprocess.run(
            [
                build / "bin" / f"fuzz_{suffix}",
                corpus,
                f"-max_total_time={seconds}",
                f"-seed={seed}",
                f"-dict={words}",
                f"-artifact_prefix={finds}/{suffix}-",
                f"-timeout={60 if suffix in ('poly', 'geojson') else 10}",
                "-rss_limit_mb=1500",
                "-malloc_limit_mb=400",
                "-max_len=200000",
                "-print_final_stats=1",
                "-detect_leaks=0",
            ],
            stdout=out,
            stderr=subprocess.STDOUT,
            env=ENVIRONMENT,
        ).returncode
    text = log.read_text(errors="replace")
    runs = re.findall(r"stat::number_of_executed_units: *(\d+)", text)
    covered = re.findall(r" cov: (\d+)", text)
    print(f"{(runs or ['?'])[-1]} files, {(covered or ['?'])[-1]} edges covered", end="")
    print("" if code == 0 else f"; FIND, see the end of {log}", flush=True)
    return code == 0


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--build", type=Path, default=SOURCE / "build" / "fuzz")
    parser.add_argument("--seconds", type=int, default=60, help="for each format")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1, 1 << 31))
    parser.add_argument("--only", choices=SUFFIXES, help="one format alone")
    wanted = parser.parse_args()
    seeds = wanted.build / "corpus" / "seeds"
    seeds.mkdir(parents=True, exist_ok=True)
    write_seeds(seeds)
    more_seeds(seeds)
    graph_seeds(seeds)
    subprocess.run([wanted.build / "bin" / "fuzz_seeds", seeds], check=True, env=ENVIRONMENT)
    for path in seeds.iterdir():
        corpus = wanted.build / "corpus" / path.suffix[1:]
        corpus.mkdir(exist_ok=True)
        (corpus / path.name).write_bytes(path.read_bytes())
    suffixes = (wanted.only,) if wanted.only else SUFFIXES
    is_well = [run(wanted.build, suffix, wanted.seconds, wanted.seed) for suffix in suffixes]
    return 0 if all(is_well) else 1


if __name__ == "__main__":
    sys.exit(main())
