"""barrio delaunay: input and output files, audits, and refused input. Needs vtk for one test."""

import filecmp
import os
import unittest

from barrio_case import OLD, SOURCE, Case, barrio, execute

try:
    import vtk
    from vtk.util.numpy_support import vtk_to_numpy
except ImportError as reason:
    vtk = None
    why_not = f"this Python lacks a package: {reason}"

PLATE = SOURCE / "data" / "plate.poly"
BOUNDS = ["--min-angle", "25", "--max-area", "0.01"]
AREA = 4 * 2 - 6 * 0.4**2 * 0.5  # of a dodecagon
SQUARE = "4 2 0 0\n1 0 0\n2 1 0\n3 1 1\n4 0 1\n"
VTK_SQUARE = (
    "# vtk DataFile Version 3.0\nx\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 4 double\n"
    "0 0 0 1 0 0 1 1 0 0 1 {}\n"
)
SIDES = "4 0\n1 1 2\n2 2 3\n3 3 4\n4 4 1\n0\n"


class Delaunay(Case):
    def test_what_is_written_passes_the_audit(self) -> None:
        for ending in ("h5m", "ele"):
            mesh = self.folder / f"plate.{ending}"
            made = barrio("delaunay", PLATE, *BOUNDS, "-o", mesh, "--json")
            self.assert_code(made, 0)
            result = made.json()
            self.assertEqual(result["points_in_file"], 18)
            self.assertEqual(result["regions"], 2)
            audit = barrio("delaunay", "--audit", mesh, PLATE, *BOUNDS, "--json")
            self.assert_code(audit, 0)
            self.assertEqual(audit.json()["audit"]["triangles"], result["triangles"])
            self.assertAlmostEqual(audit.json()["audit"]["area"], AREA, places=5)
            text = barrio("delaunay", "--audit", mesh, PLATE, "--min-angle", "33")
            self.assert_code(text, 4)
            self.assertIn("FAILS the audit", text.out)
            self.assertIn("angles       FAULT", text.out)

    def test_ranks_and_the_order_of_vertices(self) -> None:
        one, two = self.folder / "one.h5m", self.folder / "two.h5m"
        self.assert_code(barrio("delaunay", PLATE, "-o", one), 0)
        self.assert_code(barrio("delaunay", PLATE, "-o", two, ranks=2), 0)
        self.assertTrue(filecmp.cmp(one, two, shallow=False))
        self.assert_code(barrio("delaunay", PLATE, "-o", self.folder / "plate.ele"), 0)
        points = [line.split() for line in PLATE.read_text().splitlines() if line[0].isdigit()]
        nodes = [line.split() for line in (self.folder / "plate.node").read_text().splitlines()]
        for wanted, found in zip(points[1:19], nodes[1:19], strict=True):
            self.assertEqual([float(x) for x in wanted], [float(x) for x in found])

    def test_points_stay_alone_unless_a_bound_is_given(self) -> None:
        points = self.folder / "points.node"
        lines = [f"{i + 1} {(i * 37) % 101} {(i * i) % 97}" for i in range(90)]
        points.write_text("90 2 0 0\n" + "\n".join(lines) + "\n")
        mesh = self.folder / "points.h5m"
        made = barrio("delaunay", points, "-o", mesh, "--json")
        self.assert_code(made, 0)
        self.assertEqual(made.json()["vertices"], 90)
        self.assert_code(barrio("delaunay", "--audit", mesh, points), 0)
        fine = barrio("delaunay", points, "--min-angle", 20, "-o", mesh, "--json")
        self.assert_code(fine, 0)
        self.assertGreater(fine.json()["vertices"], 90)

    def test_info_knows_markers_and_regions(self) -> None:
        mesh = self.folder / "plate.h5m"
        self.assert_code(barrio("delaunay", PLATE, "-o", mesh), 0)
        info = barrio("info", mesh)
        self.assert_code(info, 0)
        self.assertIn("7 (2 material, 5 neumann)", info.out)

    @unittest.skipIf(vtk is None, why_not if vtk is None else "")
    def test_vtk_reads_it(self) -> None:
        mesh = self.folder / "plate.vtkhdf"
        made = barrio("delaunay", PLATE, *BOUNDS, "-o", mesh, "--json")
        self.assert_code(made, 0)
        reader = vtk.vtkHDFReader()
        reader.SetFileName(str(mesh))
        reader.Update()
        grid = reader.GetOutputDataObject(0)
        types = vtk_to_numpy(grid.GetCellTypes())
        triangles = types == vtk.VTK_TRIANGLE
        self.assertEqual(int(triangles.sum()), made.json()["triangles"])
        self.assertEqual(grid.GetNumberOfPoints(), made.json()["vertices"])
        sizes = vtk.vtkCellSizeFilter()
        sizes.SetInputData(grid)
        sizes.Update()
        area = vtk_to_numpy(sizes.GetOutput().GetCellData().GetArray("Area"))
        self.assertAlmostEqual(float(area.sum()), AREA, places=5)
        attribute = vtk_to_numpy(grid.GetCellData().GetArray("attribute"))
        self.assertAlmostEqual(float(area[attribute == 2].sum()), 4.0, places=9)
        self.assertLess(float(area[attribute == 2].max()), 0.002)
        marker = vtk_to_numpy(grid.GetCellData().GetArray("marker"))
        self.assertEqual(set(marker[~triangles]), {0, 1, 2, 3, 4, 5})

    def test_a_mesh_is_refined_and_keeps_what_it_has(self) -> None:
        coarse = self.folder / "coarse.h5m"
        self.assert_code(barrio("delaunay", PLATE, *BOUNDS, "-o", coarse), 0)
        for source in (coarse, self.folder / "plate.ele"):
            if source.suffix == ".ele":
                self.assert_code(barrio("delaunay", PLATE, *BOUNDS, "-o", source), 0)
            fine = self.folder / "fine.h5m"
            made = barrio("delaunay", source, "--max-area", "0.004", "-o", fine, "--json", ranks=2)
            self.assert_code(made, 0)
            self.assertEqual(made.json()["regions"], 2)
            self.assertEqual(made.json()["left_out"], [])
            self.assertAlmostEqual(made.json()["areas"]["sum"], AREA, places=5)
            for asked in (PLATE, source):
                audit = barrio("delaunay", "--audit", fine, asked, "--max-area", "0.004")
                self.assert_code(audit, 0)
            self.assertIn("7 (2 material, 5 neumann)", barrio("info", fine).out)

    def test_triangles_without_segments_are_refined(self) -> None:
        self.assert_code(barrio("delaunay", PLATE, "-o", self.folder / "plate.ele"), 0)
        (self.folder / "plate.poly").unlink()
        fine = self.folder / "fine.h5m"
        made = barrio(
            "delaunay", self.folder / "plate.ele", "--max-area", "0.01", "-o", fine, "--json"
        )
        self.assert_code(made, 0)
        self.assertAlmostEqual(made.json()["areas"]["sum"], AREA, places=5)
        audit = barrio("delaunay", "--audit", fine, self.folder / "plate.ele", "--max-area", "0.01")
        self.assert_code(audit, 0)

    def test_a_mesh_of_gmsh_is_refined(self) -> None:
        mesh = self.folder / "square.msh"
        mesh.write_text(
            "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n"
            "$Nodes\n5\n1 0 0 3\n2 2 0 3\n3 2 2 3\n4 0 2 3\n5 1 1 3\n$EndNodes\n"
            "$Elements\n6\n1 1 2 7 1 1 2\n2 1 2 7 1 2 3\n3 2 2 4 1 1 2 5\n4 2 2 4 1 5 2 3\n"
            "5 2 2 6 2 3 4 5\n6 2 2 6 2 4 1 5\n$EndElements\n"
            '$NodeData\n1\n"depth"\n1\n0\n3\n0\n1\n5\n1 1\n2 5\n3 7\n4 3\n5 4\n$EndNodeData\n'
        )
        fine = self.folder / "fine.h5m"
        made = barrio("delaunay", mesh, "--max-area", "0.01", "-o", fine, "--json")
        self.assert_code(made, 0)
        result = made.json()
        self.assertEqual(result["left_out"], ["z = 3 of all vertices"])
        self.assertIn('left out: $NodeData "depth"', made.err)
        self.assertEqual(result["regions"], 2)
        self.assertAlmostEqual(result["areas"]["sum"], 4.0, places=12)
        self.assertIn("neumann 7, material 4, material 6", barrio("info", mesh).out)
        self.assertIn("material 4, material 6, neumann 7", barrio("info", fine).out)

    @unittest.skipIf(vtk is None, why_not if vtk is None else "")
    def test_values_at_vertices_are_carried(self) -> None:
        mesh, fine = self.folder / "square.vtk", self.folder / "fine.vtkhdf"
        mesh.write_text(
            VTK_SQUARE.format(0) + "CELLS 2 8\n3 0 1 2\n3 0 2 3\nCELL_TYPES 2\n5\n5\n"
            "CELL_DATA 2\nSCALARS kind int 1\nLOOKUP_TABLE default\n1 2\n"
            "POINT_DATA 4\nSCALARS depth double 1\nLOOKUP_TABLE default\n1 3 4 2\n"
            "VECTORS wind double\n0 0 0 1 0 1 1 1 2 0 1 1\n"
        )
        made = barrio("delaunay", mesh, "--max-area", "0.01", "-o", fine, "--json", ranks=4)
        self.assert_code(made, 0)
        self.assertEqual(made.json()["left_out"], ["tag kind"])
        reader = vtk.vtkHDFReader()
        reader.SetFileName(str(fine))
        reader.Update()
        grid = reader.GetOutputDataObject(0)
        x, y, _ = vtk_to_numpy(grid.GetPoints().GetData()).T
        depth, wind = (vtk_to_numpy(grid.GetPointData().GetArray(n)) for n in ("depth", "wind"))
        self.assertLess(float(abs(depth - 1 - 2 * x - y).max()), 1e-12)
        for column, wanted in zip(wind.T, (x, y, x + y), strict=True):
            self.assertLess(float(abs(column - wanted).max()), 1e-12)

    def test_meshes_that_are_none_of_the_plane(self) -> None:
        box, tets = self.folder / "quads.vtk", self.folder / "bent.vtk"
        box.write_text(VTK_SQUARE.format(0) + "CELLS 1 5\n4 0 1 2 3\nCELL_TYPES 1\n9\n")
        tets.write_text(VTK_SQUARE.format(1) + "CELLS 2 8\n3 0 1 2\n3 0 2 3\nCELL_TYPES 2\n5\n5\n")
        for mesh, part in ((box, "has quads"), (tets, "vertex 3 lies at z = 1")):
            refused = barrio("delaunay", mesh, "-o", self.folder / "x.h5m", ranks=2)
            self.assert_code(refused, 3)
            self.assertIn(part, refused.err)
            self.assertEqual(refused.err.count("error:"), 1)

    def test_areas_by_a_formula(self) -> None:
        mesh = self.folder / "graded.h5m"
        formula = "0.0005 + 0.01*(x^2 + y^2)"
        made = barrio("delaunay", PLATE, "--area", formula, "-o", mesh, "--json")
        self.assert_code(made, 0)
        self.assertEqual(made.json()["options"]["area"], formula)
        self.assert_code(barrio("delaunay", "--audit", mesh, PLATE, "--area", formula), 0)
        self.assert_code(barrio("delaunay", "--audit", mesh, PLATE, "--area", "0.0004"), 4)
        for bad, part in (
            ("0.1*z", "'z', which is not known"),
            ("(x", "cannot be read"),
            ("x - 9", "is -"),
        ):
            refused = barrio("delaunay", PLATE, "--area", bad, "-o", mesh)
            self.assert_code(refused, 3 if part == "is -" else 2)
            self.assertIn(part, refused.err)

    def test_attributes_of_points(self) -> None:
        graph = self.folder / "slope.poly"
        graph.write_text("4 2 1 0\n1 0 0 0\n2 2 0 2\n3 2 1 5\n4 0 1 3\n" + SIDES)
        self.assert_code(
            barrio("delaunay", graph, "--max-area", "0.01", "-o", self.folder / "fine.ele"), 0
        )
        lines = (self.folder / "fine.node").read_text().splitlines()
        self.assertEqual(lines[0].split()[2:], ["1", "1"])
        for line in lines[1:]:
            _, x, y, height, _ = line.split()
            self.assertAlmostEqual(float(height), float(x) + 3 * float(y), places=12)
        mesh = self.folder / "fine.h5m"
        self.assert_code(barrio("delaunay", graph, "-o", mesh, ranks=4), 0)
        self.assertIn("attribute_1 (double)", barrio("info", mesh).out)

    def test_geojson_is_projected_or_refused(self) -> None:
        land = self.folder / "land.geojson"
        ring = "[[[-22,64],[-19,63.5],[-19,66],[-22,66],[-22,64]]]"
        land.write_text(f'{{"type": "Polygon", "coordinates": {ring}}}')
        mesh = self.folder / "land.h5m"
        refused = barrio("delaunay", land, "-o", mesh)
        self.assert_code(refused, 2)
        self.assertIn("--project auto", refused.err)
        refused = barrio("delaunay", PLATE, "--project", "auto", "-o", mesh)
        self.assert_code(refused, 2)
        flat = barrio("delaunay", land, "--project", "none", "-o", mesh, "--json")
        self.assert_code(flat, 0)
        self.assertAlmostEqual(flat.json()["areas"]["sum"], 6.75, places=12)
        made = barrio(
            "delaunay", land, "--project", "auto", "--max-area", "1e8", "-o", mesh, "--json"
        )
        if made.code == 2 and "not in this build" in made.err:
            self.skipTest("this build has no PROJ")
        self.assert_code(made, 0)
        self.assertIn("+proj=stere", made.json()["projection"])
        # area of a spherical trapezoid, by the sines of its latitudes; the map is conformal, areas here true to 1/1000
        self.assertLess(abs(made.json()["areas"]["sum"] / 3.62e10 - 1), 0.03)
        words = ["--project", "auto", "--max-area", "1e8"]
        self.assert_code(barrio("delaunay", "--audit", mesh, land, *words), 0)
        refused = barrio("delaunay", land, "--project", "EPSG:99", "-o", mesh)
        self.assert_code(refused, 2)
        self.assertIn("is not a projection", refused.err)

    def test_a_file_that_is_read_is_not_replaced(self) -> None:
        copy = self.folder / "plate.poly"
        copy.write_bytes(PLATE.read_bytes())
        refused = barrio("delaunay", copy, "-o", self.folder / "plate.ele")
        self.assert_code(refused, 2)
        self.assertIn("would replace", refused.err)
        self.assertEqual(copy.read_bytes(), PLATE.read_bytes())

    def test_bad_graphs(self) -> None:
        old = self.folder / "old.h5m"
        old.write_bytes(OLD)
        cases = {
            SQUARE + "2 0\n1 1 3\n2 2 4\n0\n": "cross at (0.5, 0.5)",
            SQUARE + "3 0\n1 1 2\n2 2 3\n3 3 4\n0\n": "enclose nothing",
            SQUARE.replace("3 1 1", "3 1 0") + SIDES: "points 1 and 2: are both at (1, 0)",
            SQUARE.replace("3 1 1", "3 nan 1") + SIDES: "bad.poly:4: x is nan",
            SQUARE.replace("3 1 1", "3 1e300 1") + SIDES: "1e+300",
            SQUARE.replace("3 1 1", "3 1 1e-300") + SIDES: "1e-300",
            SQUARE + SIDES + "0\n1 5 5\n": "after the regions",
            SQUARE + SIDES.replace("4 4 1", "4 4 9"): "bad.poly:10: an end of a segment is 9",
            "3 2 0 0\n1 0 0\n2 1 1\n3 2 2\n0 0\n0\n": "lie on one line",
            SQUARE[:20]: "ends before point",
        }
        for text, part in cases.items():
            bad = self.folder / "bad.poly"
            bad.write_text(text)
            with self.subTest(part=part):
                refused = barrio("delaunay", bad, "-o", old)
                self.assert_code(refused, 3)
                self.assertIn(part, refused.err)
                self.assertEqual(refused.err.count("error:"), 1)
                self.assertEqual(old.read_bytes(), OLD)
        together = barrio("delaunay", self.folder / "bad.poly", "-o", old, ranks=3)
        self.assert_code(together, 3)
        self.assertEqual(together.err.count("error:"), 1)

    def test_bounds_and_places(self) -> None:
        out = self.folder / "x.h5m"
        for words, code, part in (
            ([PLATE, "--min-angle", "40", "-o", out], 2, "not in range"),
            ([PLATE, "--max-area", "-1", "-o", out], 2, "--max-area"),
            ([PLATE], 2, "needs --output or --audit"),
            ([PLATE, "-o", self.folder / "x.stl"], 2, "is not a format of triangulations"),
            ([self.folder / "none.poly", "-o", out], 1, "cannot be read"),
            ([PLATE, "-o", self.folder / "no" / "x.h5m"], 1, "cannot be written"),
        ):
            with self.subTest(part=part):
                refused = barrio("delaunay", *words)
                self.assert_code(refused, code)
                self.assertIn(part, refused.err)
                self.assertFalse(out.exists())

    def test_a_full_disk_leaves_the_old_file(self) -> None:
        for ending in ("h5m", "vtkhdf", "ele", "msh", "vtu"):
            old = self.folder / f"full.{ending}"
            old.write_bytes(OLD)
            words = [os.environ["BARRIO_COMMAND"], "delaunay", str(PLATE), "-o", str(old)]
            full = {
                "LD_PRELOAD": os.environ["BARRIO_FAULTY_IO"],
                "FAULTY_IO_CALLS": "2",  # writes
                "FAULTY_IO_FILE": old.name,
                "FAULTY_IO_AT": "1",
                "FAULTY_IO_ERROR": "28",
            }
            with self.subTest(ending=ending):
                failed = execute(words, environment=full)
                self.assert_code(failed, 1)
                self.assertIn("No space left", failed.err)
                self.assertEqual(old.read_bytes(), OLD)
                self.assertEqual([p.name for p in self.folder.glob("*.part*")], [])


if __name__ == "__main__":
    unittest.main()
