"""barrio delaunay: input and output files, audits, and refused input. Needs vtk for one test."""

import filecmp
import json
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

    def test_holes_and_repeated_options_before_the_input(self) -> None:
        features = []
        for name, size in (("land", 1), ("sea", 3)):
            ring = [[-size, -size], [size, -size], [size, size], [-size, size], [-size, -size]]
            geometry = {"type": "Polygon", "coordinates": [ring]}
            features.append({"type": "Feature", "properties": {"name": name}, "geometry": geometry})
        sea = self.folder / "sea.geojson"
        sea.write_text(json.dumps({"type": "FeatureCollection", "features": features}))
        mesh = self.folder / "sea.h5m"
        options = ["--project", "none", "--size", "0.5", "--hole", "land"]
        made = barrio("delaunay", *options, sea, "-o", mesh, "--json")
        self.assert_code(made, 0)
        self.assertEqual(made.json()["options"]["holes"], ["land"])
        self.assertEqual(made.json()["regions"], 1)
        found = barrio("delaunay", "--audit", mesh, *options, sea, "--json")
        self.assert_code(found, 0)
        self.assertAlmostEqual(found.json()["audit"]["area"], 32)
        self.assert_code(barrio("delaunay", "--audit", mesh, *options[:-2], sea), 4)
        for hole, said in (
            ("lend", "Did you mean 'land'?"),
            ("3", "a number from 1 to 2, or a name: 'land', 'sea'"),
        ):
            refused = barrio("delaunay", sea, "--hole", hole, "-o", mesh)
            self.assert_code(refused, 2)
            self.assertIn(said, refused.err)
        refused = barrio("delaunay", "--hole", "1", PLATE, "-o", mesh)
        self.assert_code(refused, 2)
        self.assertIn("features of GeoJSON alone", refused.err)

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
        self.assertFalse(made.json()["has_default_projection"])
        default = barrio("delaunay", land, "--max-area", "1e8", "-o", mesh)
        self.assert_code(default, 0)
        self.assertIn("(the default for degrees; --project none takes them", default.out)
        self.assertIn("snapped within 0.01 (from the file's digits; --snap 0", default.out)
        # area of a spherical trapezoid, by the sines of its latitudes; the map is conformal, areas here true to 1/1000
        self.assertLess(abs(made.json()["areas"]["sum"] / 3.62e10 - 1), 0.03)
        words = ["--project", "auto", "--max-area", "1e8"]
        self.assert_code(barrio("delaunay", "--audit", mesh, land, *words), 0)
        refused = barrio("delaunay", land, "--project", "EPSG:99", "-o", mesh)
        self.assert_code(refused, 2)
        self.assertIn("is not a projection", refused.err)

    def test_polygons_as_people_have_them(self) -> None:
        # borders beside each other, an overlap, a sliver
        rings = (
            "[[0,0],[4,0],[4,4],[0,4],[0,0]]",
            "[[4.0000001,1],[6,0],[6,4],[4.0000001,3],[4.0000001,1]]",
            "[[3,3],[3.5,3],[3.5,3.5],[3,3]]",
            "[[8,0],[9,0],[9,1e-7],[8,0]]",
        )
        features = ",".join(
            f'{{"type": "Feature", "properties": {{"name": "n{i}"}}, "geometry": '
            f'{{"type": "Polygon", "coordinates": [{ring}]}}}}'
            for i, ring in enumerate(rings)
        )
        land, mesh = self.folder / "land.geojson", self.folder / "land.h5m"
        land.write_text(f'{{"type": "FeatureCollection", "features": [{features}]}}')
        words = ["--project", "none", "--snap", "1e-6"]
        made = barrio("delaunay", land, *words, "-o", mesh, "--json", ranks=2)
        self.assert_code(made, 0)
        snapping = made.json()["snapping"]
        self.assertEqual(snapping["points_on_segments"], 2)
        self.assertEqual(snapping["is_default"], False)
        self.assertEqual(
            snapping["vanished"],
            [
                "feature 3 'n2', which earlier features cover",
                "feature 4 'n3', which is smaller than the tolerance",
            ],
        )
        self.assertEqual(snapping["overlaps"], ["feature 1 'n0' and feature 3 'n2' by 0.125"])
        self.assertAlmostEqual(made.json()["areas"]["sum"], 22.0, places=5)
        self.assert_code(barrio("delaunay", "--audit", mesh, land, *words), 0)
        text = barrio("delaunay", land, *words, "-o", mesh).out
        self.assertIn("snapped within 1e-06: ", text)
        self.assertIn("vanished: feature 3 'n2'", text)
        refused = barrio("delaunay", land, "--project", "none", "--snap", "0", "-o", mesh)
        self.assert_code(refused, 3)

    def test_the_whole_earth_is_too_large_for_one_map(self) -> None:
        earth, mesh = self.folder / "earth.geojson", self.folder / "earth.h5m"
        boxes = ",".join(
            f"[[[{x},{y}],[{x + 9},{y}],[{x + 9},{y + 9}],[{x},{y}]]]"
            for x, y in ((-170, -60), (-80, 40), (10, 0), (100, 50))
        )
        earth.write_text(f'{{"type": "MultiPolygon", "coordinates": [{boxes}]}}')
        refused = barrio("delaunay", earth, "-o", mesh)
        if refused.code == 2 and "not in this build" in refused.err:
            self.skipTest("this build has no PROJ")
        self.assert_code(refused, 3)
        self.assertIn("too large for one map", refused.err)
        self.assertIn("--project none", refused.err)
        self.assertFalse(mesh.exists())
        for projection in ("none", "EPSG:6933"):
            self.assert_code(barrio("delaunay", earth, "--project", projection, "-o", mesh), 0)

    def test_snapping_of_segments_on_request(self) -> None:
        graph, mesh = self.folder / "cross.poly", self.folder / "made.ele"
        graph.write_text(
            SQUARE.replace("4 2", "5 2") + "5 0.5 0.0001\n" + SIDES.replace("4 0", "6 0", 1)[:-2]
        )
        with graph.open("a") as out:
            out.write("5 1 3\n6 2 4\n0\n")
        self.assert_code(barrio("delaunay", graph, "-o", mesh), 3)
        made = barrio("delaunay", graph, "--snap", "0.001", "-o", mesh, "--json")
        self.assert_code(made, 0)
        self.assertEqual(made.json()["snapping"]["crossings"], 1)
        self.assertEqual(made.json()["snapping"]["points_on_segments"], 1)
        self.assert_code(barrio("delaunay", "--audit", mesh, graph, "--snap", "0.001"), 0)
        for words, code, part in (
            ([graph, "--snap", "nan"], 2, "nan is not a number of 0 or more"),
            ([graph, "--snap", "-1"], 2, "-1 is not a number of 0 or more"),
            ([graph, "--snap", "2"], 2, "is 2, but all points lie within a square of size 1"),
            ([mesh, "--snap", "0.1"], 2, "applies to points, segments and polygons"),
        ):
            with self.subTest(part=part):
                refused = barrio("delaunay", *words, "-o", self.folder / "x.h5m")
                self.assert_code(refused, code)
                self.assertIn(part, refused.err)
                self.assertEqual(refused.err.count("error:"), 1)

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

    def test_hulls_and_points_alone_pass_the_audit(self) -> None:
        box = self.folder / "box.poly"
        box.write_text(
            "8 2 0 0\n1 0 0\n2 3 0\n3 3 3\n4 0 3\n5 1 1\n6 2 1\n7 2 2\n8 1 2\n"
            "5 1\n1 1 4 5\n2 5 6 0\n3 6 7 0\n4 7 8 0\n5 8 5 10\n1\n1 1.5 1.5\n"
        )
        for ending in ("h5m", "ele"):
            mesh = self.folder / f"hull.{ending}"
            self.assert_code(barrio("delaunay", box, "--hull", "--max-area", 0.1, "-o", mesh), 0)
            audit = barrio("delaunay", "--audit", mesh, box, "--hull", "--max-area", 0.1)
            self.assert_code(audit, 0)
            self.assertIn("on segments or the convex hull", audit.out)
            without = barrio("delaunay", "--audit", mesh, box, "--max-area", 0.1)
            self.assert_code(without, 4)
            self.assertIn("boundary     FAULT", without.out)
        points = self.folder / "corner.node"
        points.write_text("5 2 0 0\n1 0 0\n2 10 0\n3 10 1\n4 4 0.2\n5 6 0.3\n")
        mesh = self.folder / "corner.h5m"
        self.assert_code(barrio("delaunay", points, "--min-angle", 20, "-o", mesh), 0)
        self.assert_code(barrio("delaunay", "--audit", mesh, points, "--min-angle", 20), 0)

    def test_the_audit_looks_at_labels(self) -> None:
        mesh = self.folder / "plate.ele"
        self.assert_code(barrio("delaunay", PLATE, *BOUNDS, "-o", mesh), 0)
        node, poly = mesh.with_suffix(".node"), mesh.with_suffix(".poly")
        for path, line, check in (
            (mesh, 5, "region labels"),
            (poly, 5, "markers"),
            (node, 40, "point markers"),
        ):
            before = path.read_text()
            lines = before.splitlines()
            lines[line] = " ".join([*lines[line].split()[:-1], "77"])
            path.write_text("\n".join(lines) + "\n")
            with self.subTest(check=check):
                audit = barrio("delaunay", "--audit", mesh, PLATE, *BOUNDS)
                self.assert_code(audit, 4)
                self.assertRegex(audit.out, f"{check} +FAULT")
                self.assertEqual(audit.out.count("FAULT"), 1)
            path.write_text(before)
        self.assert_code(barrio("delaunay", "--audit", mesh, PLATE, *BOUNDS), 0)

    def test_one_checksum_for_the_mesh_its_files_and_other_orders(self) -> None:
        turned = self.folder / "turned.poly"
        head, *points = [
            line.split() for line in PLATE.read_text().splitlines() if line and line[0].isdigit()
        ]
        n = int(head[0])
        n_segments = int(points[n][0])
        points, rest = points[:n], points[n:]
        last = n + 1
        lines = [" ".join(head)]
        lines += [" ".join([str(last - int(p[0])), *p[1:]]) for p in reversed(points)]
        lines.append(" ".join(rest[0]))
        for i, (_, a, b, *marker) in enumerate(reversed(rest[1 : n_segments + 1])):
            lines.append(" ".join([str(i + 1), str(last - int(b)), str(last - int(a)), *marker]))
        lines += [" ".join(words) for words in rest[n_segments + 1 :]]
        turned.write_text("\n".join(lines) + "\n")
        sums = set()
        for graph in (PLATE, turned):
            for ending in ("h5m", "ele"):
                mesh = self.folder / f"sum.{ending}"
                made = barrio("delaunay", graph, *BOUNDS, "-o", mesh, "--json")
                self.assert_code(made, 0)
                sums.add(made.json()["checksum"])
                audit = barrio("delaunay", "--audit", mesh, PLATE, *BOUNDS, "--json")
                self.assert_code(audit, 0)
                sums.add(audit.json()["audit"]["checksum"])
        self.assertEqual(len(sums), 1)
        self.assertRegex(sums.pop(), "^[0-9a-f]{16}$")
        finer = barrio("delaunay", PLATE, "--max-area", 0.005, "-o", mesh, "--json")
        self.assertNotEqual(finer.json()["checksum"], made.json()["checksum"])

    def test_a_forecast_is_told_and_what_memory_cannot_hold_is_refused(self) -> None:
        square, old = self.folder / "square.poly", self.folder / "old.h5m"
        square.write_text(SQUARE + SIDES)
        old.write_bytes(OLD)
        for words in (("--max-area", "1e-12"), ("--area", "1e-12 + 1e-13*x")):
            refused = barrio("delaunay", square, *words, "-o", old)
            self.assert_code(refused, 1)
            self.assertRegex(
                refused.err, r"would make about 1\.[56]e12 triangles, \S+ TiB, but this machine has"
            )
            self.assertIn("by --max-triangles", refused.err)
            self.assertEqual(old.read_bytes(), OLD)
        together = barrio("delaunay", square, "--max-area", "1e-12", "-o", old, ranks=2)
        self.assert_code(together, 1)
        self.assertEqual(together.err.count("error:"), 1)
        limited = barrio(
            "delaunay", square, "--max-area", "1e-12", "--max-triangles", 500, "-o", old, "--json"
        )
        self.assert_code(limited, 0)
        self.assertLessEqual(limited.json()["triangles"], 500)
        self.assertAlmostEqual(limited.json()["forecast"]["triangles"], 1.55e12, delta=1)
        self.assertFalse(limited.json()["is_complete"])
        made = barrio("delaunay", square, "--max-area", "1e-3", "-o", old)
        self.assert_code(made, 0)
        self.assertIn("1 550 triangles were expected from areas and bounds", made.out)
        angle = barrio("delaunay", square, "-o", old, "--json")
        self.assertIsNone(angle.json()["forecast"]["triangles"])
        self.assertNotIn("expected", barrio("delaunay", square, "-o", old).out)

    def test_an_angle_that_needs_very_many_triangles_is_not_reached(self) -> None:
        lines, mesh = self.folder / "lines.poly", self.folder / "lines.h5m"
        lines.write_text(
            "8 2 0 0\n" + SQUARE.split("\n", 1)[1] + "5 0.2 0.5\n6 0.8 0.5\n7 0.2 0.5000001\n"
            "8 0.8 0.5000001\n6 0\n1 1 2\n2 2 3\n3 3 4\n4 4 1\n5 5 6\n6 7 8\n0\n"
        )
        made = barrio("delaunay", lines, "--min-angle", 30, "-o", mesh)
        self.assert_code(made, 0)
        self.assertIn(
            "not reached: 5 008 000 triangles do not suffice for a min angle of 30 degrees; use a smaller one, or "
            "allow more by --max-triangles",
            made.out,
        )


if __name__ == "__main__":
    unittest.main()
