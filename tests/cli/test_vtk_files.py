"""Write VTK files in every encoding with VTK itself, read them with barrio, and compare. Needs vtk, h5py."""

import json
import unittest
from pathlib import Path

from barrio_case import Case, barrio

try:
    import h5py
    import numpy
    import vtk
    from vtk.util.numpy_support import numpy_to_vtk, vtk_to_numpy
except ImportError as reason:
    vtk = None
    why_not = f"this Python lacks a package: {reason}"

N_POINTS = 40
# Faces of a hex by its corners.
HEX_FACES = ((0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7), (0, 3, 2, 1), (4, 5, 6, 7))
# VTK's type, its table in .h5m files, and the nodes of VTK's cell in our order.
TYPES = [
    (3, "Edge2", (0, 1)),
    (5, "Tri3", (0, 1, 2)),
    (9, "Quad4", (0, 1, 2, 3)),
    (8, "Quad4", (0, 1, 3, 2)),
    (10, "Tet4", (0, 1, 2, 3)),
    (14, "Pyramid5", (0, 1, 2, 3, 4)),
    (13, "Prism6", (0, 1, 2, 3, 4, 5)),
    (11, "Hex8", (0, 1, 3, 2, 4, 5, 7, 6)),
    (12, "Hex8", (0, 1, 2, 3, 4, 5, 6, 7)),
]


def add(data, name: str, values) -> None:
    array = numpy_to_vtk(values, deep=1)
    array.SetName(name)
    data.AddArray(array)


def make_bricks(*n: int):
    """Make hexes of a box, with the row number of each point and cell as data."""
    image = vtk.vtkImageData()
    image.SetDimensions(*(k + 1 for k in n))
    to_grid = vtk.vtkAppendFilter()
    to_grid.AddInputData(image)
    to_grid.Update()
    grid = to_grid.GetOutput()
    for c in range(grid.GetNumberOfCells()):
        assert grid.GetCellType(c) in (vtk.VTK_VOXEL, vtk.VTK_HEXAHEDRON)
    random = numpy.random.default_rng(7)
    n_points, n_cells = grid.GetNumberOfPoints(), grid.GetNumberOfCells()
    add(grid.GetPointData(), "point", numpy.arange(n_points, dtype="int32"))
    add(grid.GetPointData(), "temperature", random.random(n_points))
    add(grid.GetPointData(), "flow speed", random.random((n_points, 3)).astype(numpy.float32))
    add(grid.GetCellData(), "cell", numpy.arange(n_cells, dtype="int32"))
    add(grid.GetCellData(), "load", random.random((n_cells, 2)))
    add(grid.GetCellData(), "count", random.integers(-9, 9, n_cells).astype("int32"))
    return grid


def pieces_of(path: Path) -> list:
    """Read the grids of a VTKHDF file by VTK's own reader."""
    reader = vtk.vtkHDFReader()
    reader.SetFileName(str(path))
    reader.Update()
    data = reader.GetOutputDataObject(0)
    if not isinstance(data, vtk.vtkPartitionedDataSet):
        return [data]
    return [data.GetPartition(p) for p in range(data.GetNumberOfPartitions())]


def make_grid():
    """Make a soup of cells of many types, with data of many types."""
    random = numpy.random.default_rng(5)
    points = vtk.vtkPoints()
    points.SetData(numpy_to_vtk(random.random((N_POINTS, 3)), deep=1))
    grid = vtk.vtkUnstructuredGrid()
    grid.SetPoints(points)
    for number in random.integers(0, len(TYPES), 60):
        kind, _, order = TYPES[number]
        nodes = random.choice(N_POINTS, len(order), replace=False)
        grid.InsertNextCell(kind, len(nodes), [int(n) for n in nodes])
    n_cells = grid.GetNumberOfCells()
    add(grid.GetPointData(), "temperature", random.random(N_POINTS))
    add(grid.GetPointData(), "flow speed", random.random((N_POINTS, 3)).astype(numpy.float32))
    add(grid.GetCellData(), "load", random.random((n_cells, 2)))
    for kind in ("int8", "uint8", "int16", "uint16", "int32", "int64"):
        add(grid.GetCellData(), kind, random.integers(0, 100, n_cells).astype(kind))
    add(grid.GetCellData(), "material", random.integers(1, 4, n_cells).astype("int32"))
    return grid


def spell_hexes_as_polyhedra(path: Path) -> None:
    """Replace the hexes of a .h5m file without parts by lists of faces, each face once."""
    with h5py.File(path, "r+") as file:
        elements = file["tstt/elements"]
        hexes = elements["Hex8/connectivity"][:]
        faces: dict[tuple[int, ...], tuple[int, tuple[int, ...]]] = {}
        cells = []
        for nodes in hexes:
            corners = [tuple(int(nodes[c]) for c in face) for face in HEX_FACES]
            cells += [
                faces.setdefault(tuple(sorted(f)), (100000 + len(faces), f))[0] for f in corners
            ]
        for name, kind, start, data in (
            ("Quad4_2", "Quad", 100000, numpy.array([corners for _, corners in faces.values()])),
            ("Polyhedron6", "Polyhedron", 200000, numpy.array(cells).reshape(-1, 6)),
        ):
            group = elements.create_group(name)
            number = h5py.check_enum_dtype(elements["Hex8"].attrs.get_id("element_type").dtype)[
                kind
            ]
            group.attrs.create(
                "element_type", number, dtype=elements["Hex8"].attrs.get_id("element_type").dtype
            )
            table = group.create_dataset("connectivity", data=data.astype("int64"))
            table.attrs["start_id"] = numpy.int64(start)
        del elements["Hex8"]


@unittest.skipIf(vtk is None, globals().get("why_not", ""))
class VtkFiles(Case):
    def setUp(self) -> None:
        super().setUp()
        self.grid = make_grid()

    def compare(self, path: Path, ranks: int = 3) -> None:
        out = path.with_suffix(".h5m")
        self.assert_code(barrio("convert", path, out, ranks=ranks), 0)
        with h5py.File(out) as file:
            self.compare_with(file["tstt"])

    def compare_with(self, root) -> None:
        points, cells = self.grid.GetPointData(), self.grid.GetCellData()
        numpy.testing.assert_array_equal(
            root["nodes/coordinates"][:], vtk_to_numpy(self.grid.GetPoints().GetData())
        )
        for i in range(points.GetNumberOfArrays()):
            expected = vtk_to_numpy(points.GetArray(i))
            found = root[f"nodes/tags/{points.GetArrayName(i)}"][:]
            numpy.testing.assert_array_equal(found.reshape(expected.shape), expected)
        rows: dict[str, list[int]] = {}
        nodes: dict[str, list[list[int]]] = {}
        for c in range(self.grid.GetNumberOfCells()):
            kind = self.grid.GetCellType(c)
            table, order = next((t, o) for k, t, o in TYPES if k == kind)
            ids = self.grid.GetCell(c).GetPointIds()
            rows.setdefault(table, []).append(c)
            nodes.setdefault(table, []).append([ids.GetId(i) for i in order])
        self.assertEqual(set(root["elements"]), set(rows))
        for table, of_table in rows.items():
            group = root[f"elements/{table}"]
            numpy.testing.assert_array_equal(group["connectivity"][:] - 1, nodes[table], table)
            for i in range(cells.GetNumberOfArrays()):
                name = cells.GetArrayName(i)
                if name == "material":
                    continue
                expected = vtk_to_numpy(cells.GetArray(i))[of_table]
                found = group[f"tags/{name}"][:]
                numpy.testing.assert_array_equal(found.reshape(expected.shape), expected, name)
        materials = vtk_to_numpy(cells.GetArray("material"))
        volumes = [c for table in ("Tet4", "Pyramid5", "Prism6", "Hex8") for c in rows[table]]
        self.assertEqual(
            sorted(int(v) for v in root["tags/MATERIAL_SET/values"][:]),
            sorted(set(int(m) for m in materials[volumes])),
        )

    def test_legacy(self) -> None:
        for version in (42, 51):
            for is_binary in (False, True):
                with self.subTest(version=version, is_binary=is_binary):
                    path = self.folder / f"legacy{version}{is_binary}.vtk"
                    writer = vtk.vtkUnstructuredGridWriter()
                    writer.SetFileName(str(path))
                    writer.SetInputData(self.grid)
                    writer.SetFileVersion(version)
                    writer.SetFileType(2 if is_binary else 1)
                    self.assertEqual(writer.Write(), 1)
                    if (
                        not is_binary
                    ):  # VTK writes fewer digits: compare with its own reading of the file
                        reader = vtk.vtkUnstructuredGridReader()
                        reader.SetFileName(str(path))
                        reader.ReadAllVectorsOn()
                        reader.ReadAllScalarsOn()
                        reader.ReadAllFieldsOn()
                        reader.Update()
                        self.grid = reader.GetOutput()
                    self.compare(path)

    def test_vtu(self) -> None:
        ascii, binary, appended = (
            vtk.vtkXMLWriter.Ascii,
            vtk.vtkXMLWriter.Binary,
            vtk.vtkXMLWriter.Appended,
        )
        # Mode, is compressed, is base64, bits of sizes, is big endian, bytes of a block.
        for case in (
            (ascii, False, False, 32, False, 0),
            (binary, False, False, 32, False, 0),
            (binary, True, False, 64, False, 48),
            (appended, False, False, 64, True, 0),
            (appended, True, False, 32, False, 240),
            (appended, False, True, 32, False, 0),
            (appended, True, True, 64, True, 96),
        ):
            with self.subTest(case=case):
                mode, is_compressed, is_encoded, bits, is_big, block = case
                path = self.folder / f"{'_'.join(map(str, case))}.vtu"
                writer = vtk.vtkXMLUnstructuredGridWriter()
                writer.SetFileName(str(path))
                writer.SetInputData(self.grid)
                writer.SetDataMode(mode)
                if is_compressed:
                    writer.SetCompressorTypeToZLib()
                    writer.SetBlockSize(block)
                else:
                    writer.SetCompressorTypeToNone()
                writer.SetEncodeAppendedData(is_encoded)
                (writer.SetHeaderTypeToUInt64 if bits == 64 else writer.SetHeaderTypeToUInt32)()
                (writer.SetByteOrderToBigEndian if is_big else writer.SetByteOrderToLittleEndian)()
                self.assertEqual(writer.Write(), 1)
                self.compare(path)

    def test_data_goes_to_vtkhdf_and_is_read_by_vtk(self) -> None:
        grid = make_bricks(4, 3, 2)
        writer = vtk.vtkXMLUnstructuredGridWriter()
        writer.SetInputData(grid)
        writer.SetFileName(str(self.folder / "bricks.vtu"))
        self.assertEqual(writer.Write(), 1)
        parted = self.folder / "bricks.h5m"
        self.assert_code(barrio("partition", self.folder / "bricks.vtu", "-n", 4, "-o", parted), 0)
        wanted = {
            kind: {name: vtk_to_numpy(data.GetArray(name)) for name in names}
            for kind, data, names in (
                ("points", grid.GetPointData(), ("point", "temperature", "flow speed")),
                ("cells", grid.GetCellData(), ("cell", "load", "count")),
            )
        }
        contents = []
        for ranks in (1, 2, 4):
            out = self.folder / f"bricks{ranks}.vtkhdf"
            outcome = barrio("convert", parted, out, ranks=ranks)
            self.assert_code(outcome, 0)
            self.assertNotIn("cannot hold", outcome.err)
            with h5py.File(out) as file:
                arrays: dict[str, bytes] = {}
                file.visititems(
                    lambda name, item, arrays=arrays: (
                        arrays.update({name: item[()].tobytes()})
                        if hasattr(item, "shape")
                        else None
                    )
                )
                contents.append(arrays)
            n = 0
            for piece in pieces_of(out):
                for kind, number, data in (
                    ("points", "point", piece.GetPointData()),
                    ("cells", "cell", piece.GetCellData()),
                ):
                    rows = vtk_to_numpy(data.GetArray(number))
                    n += len(rows) if kind == "cells" else 0
                    for name, values in wanted[kind].items():
                        found = vtk_to_numpy(data.GetArray(name))
                        numpy.testing.assert_array_equal(found, values[rows], f"{name} at {ranks}")
                        is_real = values.dtype.kind == "f"
                        self.assertEqual(found.dtype, "float64" if is_real else "int32", name)
            self.assertEqual(n, 4 * 3 * 2)
        self.assertGreater(len(contents[0]), 12)
        self.assertEqual(contents[0], contents[1])
        self.assertEqual(contents[0], contents[2])

    def loaded(self, path: Path, ranks: int):
        """Return the checksum of a mesh and what was said."""
        outcome = barrio("--json", "load", path, ranks=ranks)
        self.assert_code(outcome, 0)
        return json.loads(outcome.out), outcome.err

    def write_hdf(self, data, name: str) -> Path:
        path = self.folder / name
        writer = vtk.vtkHDFWriter()
        writer.SetInputData(data)
        writer.SetFileName(str(path))
        self.assertEqual(writer.Write(), 1)
        return path

    def test_pieces_of_vtkhdf_and_pvtu_are_one_mesh(self) -> None:
        grid = make_bricks(6, 5, 4)
        whole, _ = self.loaded(self.write_hdf(grid, "whole.vtkhdf"), 1)
        split = vtk.vtkRedistributeDataSetFilter()
        split.SetInputData(grid)
        split.SetNumberOfPartitions(5)
        split.PreservePartitionsInOutputOn()
        split.GenerateGlobalCellIdsOff()
        split.Update()
        pieces = split.GetOutput()
        ids = vtk.vtkGenerateGlobalIds()
        ids.SetInputData(pieces)
        ids.Update()
        ghosts = vtk.vtkGhostCellsGenerator()
        ghosts.SetInputData(pieces)
        ghosts.BuildIfRequiredOff()
        ghosts.SetNumberOfGhostLayers(1)
        ghosts.Update()
        files = [
            (self.write_hdf(pieces, "pieces.vtkhdf"), "points with the same coordinates"),
            (self.write_hdf(ids.GetOutput(), "ids.vtkhdf"), "points of the same global id"),
            (self.write_hdf(ghosts.GetOutput(), "ghosts.vtkhdf"), "ghost cell(s)"),
        ]
        sources = ""
        for p in range(ghosts.GetOutput().GetNumberOfPartitions()):
            writer = vtk.vtkXMLUnstructuredGridWriter()
            writer.SetInputData(ghosts.GetOutput().GetPartition(p))
            writer.SetFileName(str(self.folder / f"piece_{p}.vtu"))
            self.assertEqual(writer.Write(), 1)
            sources += f'<Piece Source="piece_{p}.vtu"/>'
        parallel = self.folder / "ghosts.pvtu"
        parallel.write_text(
            '<VTKFile type="PUnstructuredGrid" version="0.1"><PUnstructuredGrid GhostLevel="1">'
            '<PPointData><PDataArray type="Float64" Name="temperature"/></PPointData><PCellData>'
            '<PDataArray type="UInt8" Name="vtkGhostType"/><PDataArray type="Int32" Name="cell"/></PCellData>'
            f"{sources}</PUnstructuredGrid></VTKFile>"
        )
        files.append((parallel, "ghost cell(s)"))
        for path, notice in files:
            sums = set()
            for ranks in (1, 3):
                with self.subTest(file=path.name, ranks=ranks):
                    found, said = self.loaded(path, ranks)
                    self.assertIn(notice, said)
                    self.assertEqual(found["counts"], whole["counts"])
                    sums.add(found["checksum"])
            self.assertEqual(len(sums), 1)
            shown = barrio("--json", "info", path)
            self.assert_code(shown, 0)
            self.assertEqual(json.loads(shown.out)["vertices"], whole["counts"]["vertices"], path)

    def test_a_mesh_comes_back_from_vtkhdf(self) -> None:
        for tets in ((), ("--tets",)):
            mesh = self.folder / "box.h5m"
            self.assert_code(
                barrio("generate", "box", "-c", 5, 4, 3, *tets, "-n", 6, "-o", mesh), 0
            )
            back = self.folder / "box.vtkhdf"
            self.assert_code(barrio("convert", mesh, back, ranks=4), 0)
            wanted, _ = self.loaded(mesh, 2)
            found, _ = self.loaded(back, 3)
            self.assertEqual(found["checksum"], wanted["checksum"])

    def test_other_data_in_vtkhdf_are_refused_by_name(self) -> None:
        image = vtk.vtkImageData()
        image.SetDimensions(3, 3, 3)
        blocks = vtk.vtkMultiBlockDataSet()
        blocks.SetBlock(0, make_bricks(1, 1, 1))
        for data, kind in ((image, "ImageData"), (blocks, "MultiBlockDataSet")):
            outcome = barrio("info", self.write_hdf(data, f"{kind}.vtkhdf"))
            self.assert_code(outcome, 3)
            self.assertIn(f"is a VTKHDF file of the type '{kind}'", outcome.err)

    def test_second_order_cells_are_those_of_vtk(self) -> None:
        """Compare with VTK's own node positions: nodes must return to them, and each field to its node."""
        for name in (
            "QuadraticEdge",
            "QuadraticTriangle",
            "BiQuadraticTriangle",
            "QuadraticQuad",
            "BiQuadraticQuad",
            "QuadraticTetra",
            "QuadraticPyramid",
            "QuadraticWedge",
            "BiQuadraticQuadraticWedge",
            "QuadraticHexahedron",
            "TriQuadraticHexahedron",
        ):
            with self.subTest(cell=name):
                cell = getattr(vtk, "vtk" + name)()
                n = cell.GetNumberOfPoints()
                places = numpy.array(cell.GetParametricCoords()[: 3 * n]).reshape(n, 3)
                grid = vtk.vtkUnstructuredGrid()
                points = vtk.vtkPoints()
                points.SetDataTypeToDouble()
                for place in places:
                    points.InsertNextPoint(place)
                grid.SetPoints(points)
                grid.InsertNextCell(cell.GetCellType(), n, list(range(n)))
                add(grid.GetPointData(), "place", places)
                path = self.folder / f"{name}.vtu"
                writer = vtk.vtkXMLUnstructuredGridWriter()
                writer.SetFileName(str(path))
                writer.SetInputData(grid)
                self.assertEqual(writer.Write(), 1)
                out, mesh = path.with_suffix(".vtkhdf"), path.with_suffix(".h5m")
                self.assert_code(barrio("convert", path, mesh, ranks=2), 0)
                self.assert_code(barrio("convert", mesh, out, ranks=1), 0)
                read = pieces_of(out)[0]
                self.assertEqual(read.GetNumberOfCells(), 1)
                self.assertEqual(read.GetCellType(0), cell.GetCellType())
                found = vtk_to_numpy(read.GetCell(0).GetPoints().GetData())
                numpy.testing.assert_allclose(found, places, atol=1e-6)
                values = vtk_to_numpy(read.GetPointData().GetArray("place"))
                numpy.testing.assert_array_equal(values, vtk_to_numpy(read.GetPoints().GetData()))
                with h5py.File(mesh) as file:
                    nodes = file["tstt/nodes"]
                    numpy.testing.assert_array_equal(
                        nodes["tags/place"][:].reshape(n, 3), nodes["coordinates"][:]
                    )

    def test_polyhedra_of_vtk_keep_their_volumes(self) -> None:
        grid = make_bricks(3, 2, 2)
        mixed = vtk.vtkUnstructuredGrid()
        mixed.SetPoints(grid.GetPoints())
        for c in range(grid.GetNumberOfCells()):
            ids = grid.GetCell(c).GetPointIds()
            order = (0, 1, 3, 2, 4, 5, 7, 6) if grid.GetCellType(c) == vtk.VTK_VOXEL else range(8)
            nodes = [ids.GetId(i) for i in order]
            if c % 3 != 0:
                mixed.InsertNextCell(vtk.VTK_HEXAHEDRON, 8, nodes)
                continue
            faces = vtk.vtkIdList()
            faces.InsertNextId(len(HEX_FACES))
            for face in HEX_FACES:
                faces.InsertNextId(4)
                for corner in face:
                    faces.InsertNextId(nodes[corner])
            mixed.InsertNextCell(vtk.VTK_POLYHEDRON, faces)
        add(mixed.GetCellData(), "cell", numpy.arange(12, dtype="int32"))
        writers = []
        for version in (42, 51):
            for kind in (1, 2):
                writer = vtk.vtkUnstructuredGridWriter()
                writer.SetFileVersion(version)
                writer.SetFileType(kind)
                writers.append((writer, f"polyhedra{version}{kind}.vtk"))
        for mode in (vtk.vtkXMLWriter.Ascii, vtk.vtkXMLWriter.Binary, vtk.vtkXMLWriter.Appended):
            writer = vtk.vtkXMLUnstructuredGridWriter()
            writer.SetDataMode(mode)
            writers.append((writer, f"polyhedra{mode}.vtu"))
        for writer, name in writers:
            with self.subTest(file=name):
                path = self.folder / name
                writer.SetFileName(str(path))
                writer.SetInputData(mixed)
                self.assertEqual(writer.Write(), 1)
                out = path.with_suffix(".vtkhdf")
                self.assert_code(barrio("convert", path, out, ranks=3), 0)
                types = {}
                for piece in pieces_of(out):
                    sizes = vtk.vtkCellSizeFilter()
                    sizes.SetInputData(piece)
                    sizes.Update()
                    volumes = vtk_to_numpy(sizes.GetOutput().GetCellData().GetArray("Volume"))
                    numpy.testing.assert_allclose(volumes, 1.0, rtol=1e-12)
                    numbers = vtk_to_numpy(piece.GetCellData().GetArray("cell"))
                    for c, number in enumerate(numbers):
                        types[int(number)] = piece.GetCellType(c)
                self.assertEqual(
                    types,
                    {
                        c: vtk.VTK_HEXAHEDRON if c % 3 != 0 else vtk.VTK_POLYHEDRON
                        for c in range(12)
                    },
                )

    def test_polyhedra_are_opened_by_vtk(self) -> None:
        mesh = self.folder / "polyhedra.h5m"
        self.assert_code(barrio("generate", "box", "-c", 3, 2, 2, "-o", mesh), 0)
        spell_hexes_as_polyhedra(mesh)
        for ranks in (1, 3):
            out = self.folder / f"polyhedra{ranks}.vtkhdf"
            self.assert_code(barrio("convert", mesh, out, ranks=ranks), 0)
            n, volume = 0, 0.0
            for grid in pieces_of(out):
                sizes = vtk.vtkCellSizeFilter()
                sizes.SetInputData(grid)
                sizes.Update()
                volume += vtk_to_numpy(sizes.GetOutput().GetCellData().GetArray("Volume")).sum()
                for c in range(grid.GetNumberOfCells()):
                    self.assertEqual(grid.GetCell(c).GetNumberOfFaces(), 6)
                    self.assertEqual(grid.GetCell(c).GetNumberOfPoints(), 8)
                    self.assertEqual(grid.GetCellType(c), vtk.VTK_POLYHEDRON)
                    n += 1
            self.assertEqual(n, 12)
            self.assertAlmostEqual(volume, 1.0, places=6)


if __name__ == "__main__":
    unittest.main()
