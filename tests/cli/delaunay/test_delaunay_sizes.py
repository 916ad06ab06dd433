"""barrio delaunay: sizes by position, and contents that must not be lost."""

import unittest

from barrio_case import SOURCE, Case, barrio

try:
    import vtk
    from vtk.util.numpy_support import vtk_to_numpy
except ImportError as reason:
    vtk = None
    why_not = f"this Python lacks a package: {reason}"

PLATE = SOURCE / "data" / "plate.poly"
SQUARE = "4 2 0 0\n1 0 0\n2 1 0\n3 1 1\n4 0 1\n4 1\n1 1 2 1\n2 2 3 2\n3 3 4 3\n4 4 1 4\n0\n"
SPOT = "(x-0.31)^2+(y-0.47)^2<1e-4 ? 1e-6 : 0.1"
BACKGROUND = (
    "# vtk DataFile Version 3.0\nx\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 5 double\n"
    "0 0 0 1 0 0 1 1 0 0 1 0 0.3 0.6 0\nCELLS 4 16\n3 0 1 4\n3 1 2 4\n3 2 3 4\n3 3 0 4\n"
    "CELL_TYPES 4\n5 5 5 5\nPOINT_DATA 5\nSCALARS h double 1\nLOOKUP_TABLE default\n"
    ".2 .2 .2 .2 .01\nSCALARS k double 1\nLOOKUP_TABLE default\n.2 .2 .2 .2 .2\n"
)


class Sizes(Case):
    def setUp(self) -> None:
        super().setUp()
        self.square = self.folder / "square.poly"
        self.square.write_text(SQUARE)
        self.mesh = self.folder / "mesh.h5m"

    def n_triangles(self, *words: object) -> int:
        made = barrio("delaunay", *words, "-o", self.mesh, "--json")
        self.assert_code(made, 0)
        return int(made.json()["triangles"])

    def test_narrow_places_of_a_formula_and_their_audit(self) -> None:
        coarse = self.n_triangles(self.square, "--area", "0.1")
        blind = barrio("delaunay", "--audit", self.mesh, self.square, "--area", SPOT)
        self.assert_code(blind, 4)
        self.assertIn("sizes        FAULT", blind.out)
        self.assertGreater(self.n_triangles(self.square, "--area", SPOT), coarse + 300)
        self.assert_code(barrio("delaunay", "--audit", self.mesh, self.square, "--area", SPOT), 0)
        steep = self.n_triangles(self.square, "--area", SPOT)
        self.assertGreater(
            self.n_triangles(self.square, "--area", SPOT, "--growth", "0.2"), 2 * steep
        )
        few = barrio(
            "delaunay", self.square, "--area", SPOT, "--resolution", "1e-7", "-o", self.mesh
        )
        self.assert_code(few, 2)
        self.assertIn("needs 1e+14 samples", few.err)

    def test_sizes_by_marker_point_and_number(self) -> None:
        sizes = ["--size", "marker,id=5,min_size=0.02,growth=0.3", "--size", "0.2"]
        sizes += ["--size", "point,x=1,y=1,min_size=0.01,max_size=0.1"]
        fine = self.n_triangles(PLATE, *sizes)
        self.assertGreater(fine, 1.3 * self.n_triangles(PLATE, "--size", "0.2"))
        self.assert_code(barrio("delaunay", "--audit", self.mesh, PLATE, "--size", "0.2"), 0)
        self.assert_code(barrio("delaunay", "--audit", self.mesh, PLATE, *sizes), 4)
        for size, part in (
            ("marker,id=77,min_size=0.01", "marker 77: is that of no segment and no point"),
            ("marker,id=77,min_size=0.01", "markers are 0, 1, 2, 3, 4, 5"),
            ("markr,id=5", "is neither a number above 0 nor a known kind"),
            ("marker,id=5,minsize=1", "Did you mean 'min_size'?"),
            ("marker,id=5", "must give 'min_size'"),
            ("marker,min_size=1", "must give 'id'"),
            ("marker,id=1.5,min_size=1", "must give a whole number for 'id'"),
            ("marker,id=5,min_size=x", "must give a number for 'min_size'"),
            ("marker,id=5,id=4,min_size=1", "gives 'id' twice"),
            ("marker,id=5,min_size=2,max_size=1", "sizes from 2 to 1"),
            ("0", "size: is 0"),
        ):
            refused = barrio("delaunay", PLATE, "--size", size, "-o", self.folder / "x.h5m")
            with self.subTest(size=size):
                self.assert_code(refused, 2)
                self.assertIn(part, refused.err)
                self.assertFalse((self.folder / "x.h5m").exists())

    def test_a_background_mesh(self) -> None:
        background = self.folder / "sizes.vtk"
        background.write_text(BACKGROUND)
        words = ["--background", background, "--size-field", "h"]
        self.assertGreater(self.n_triangles(self.square, *words), 200)
        self.assert_code(barrio("delaunay", "--audit", self.mesh, self.square, *words), 0)
        self.assertLess(
            self.n_triangles(self.square, "--background", background, "--size-field", "k"), 200
        )
        self.assert_code(barrio("delaunay", "--audit", self.mesh, self.square, *words), 4)
        for more, part in (
            ([], "has 2 real numbers at each vertex"),
            (["--size-field", "H"], "has no real number 'H' at each vertex. Did you mean 'h'?"),
        ):
            refused = barrio("delaunay", self.square, *words[:2], *more, "-o", self.mesh)
            self.assert_code(refused, 2)
            self.assertIn(part, refused.err)

    def test_areas_of_triangles(self) -> None:
        coarse = self.folder / "coarse.ele"
        self.assert_code(barrio("delaunay", PLATE, "--max-area", "0.1", "-o", coarse), 0)
        n = int(coarse.read_text().split()[0])
        areas = self.folder / "coarse.area"
        areas.write_text(
            f"{n}\n" + "".join(f"{i + 1} {0.001 if i < 5 else -1}\n" for i in range(n))
        )
        fine = self.n_triangles(coarse, "--area", areas)
        self.assertGreater(fine, n + 5 * 0.1 / 0.001 / 8)
        self.assert_code(barrio("delaunay", "--audit", self.mesh, coarse, "--area", areas), 0)
        areas.write_text(f"{n + 1}\n")
        for mesh, code, part in (
            (coarse, 3, f"has areas of {n + 1} triangles, but the mesh has {n}"),
            (PLATE, 2, "has max areas for the triangles of an .ele file, which IN is not"),
        ):
            refused = barrio("delaunay", mesh, "--area", areas, "-o", self.mesh)
            self.assert_code(refused, code)
            self.assertIn(part, refused.err)

    def test_growth_around_regions(self) -> None:
        steep = self.n_triangles(PLATE)
        self.assertGreater(self.n_triangles(PLATE, "--growth", "0.1"), 1.1 * steep)
        without = self.n_triangles(PLATE, "--growth", "0.1", "--no-region-areas")
        self.assertLess(without, steep)


class Contents(Case):
    def test_triangle_files_have_holes_and_regions(self) -> None:
        for name in ("a", "b"):
            source = PLATE if name == "a" else self.folder / "a.poly"
            made = barrio(
                "delaunay", source, "--no-refinement", "-o", self.folder / f"{name}.ele", "--json"
            )
            self.assert_code(made, 0)
            self.assertEqual(made.json()["regions"], 2)
            self.assertAlmostEqual(made.json()["areas"]["sum"], 7.52, places=5)
        self.assertEqual(
            (self.folder / "a.ele").read_text().split()[:2],
            (self.folder / "b.ele").read_text().split()[:2],
        )

    def test_segments_outside_are_named_by_their_numbers(self) -> None:
        graph = self.folder / "outside.poly"
        graph.write_text(
            "6 2 0 0\n1 0 0\n2 1 0\n3 1 1\n4 0 1\n5 2 0\n6 2 1\n"
            "5 0\n11 1 2\n12 2 3\n13 3 4\n14 4 1\n27 5 6\n0\n"
        )
        made = barrio("delaunay", graph, "-o", self.folder / "x.h5m")
        self.assert_code(made, 0)
        self.assertIn(
            "1 segments of the file lie outside or in holes, in whole or in part: 27\n", made.out
        )
        result = barrio("delaunay", graph, "-o", self.folder / "x.h5m", "--json").json()
        self.assertEqual(result["segments_outside"], {"count": 1, "first": [27]})

    def test_names_pass_through(self) -> None:
        land = self.folder / "land.geojson"
        rings = "[[[0,0],[1,0],[1,1],[0,1],[0,0]]]", "[[[1,0],[2,0],[2,1],[1,1],[1,0]]]"
        features = ",".join(
            f'{{"type": "Feature", "properties": {{"name": "{name}"}}, '
            f'"geometry": {{"type": "Polygon", "coordinates": {ring}}}}}'
            for name, ring in zip(("West", "East"), rings, strict=True)
        )
        land.write_text(f'{{"type": "FeatureCollection", "features": [{features}]}}')
        first = self.folder / "land.h5m"
        last = land
        for step in (first, self.folder / "land.msh", self.folder / "again.h5m"):
            words = ["--project", "none"] if last == land else []
            made = barrio("delaunay", last, *words, "-o", step, "--json", ranks=2)
            self.assert_code(made, 0)
            told = barrio("info", step).out
            self.assertIn("West", told)
            self.assertIn("East", told)
            last = step
            if step != first:
                self.assertEqual(made.json()["left_out"], [])
        lost = barrio("delaunay", last, "-o", self.folder / "land.vtu")
        self.assert_code(lost, 0)
        self.assertIn("4 names of regions and markers, which .h5m and .msh hold", lost.out)

    def test_gmsh_and_vtu(self) -> None:
        for suffix in ("msh", "vtu"):
            mesh = self.folder / f"plate.{suffix}"
            made = barrio("delaunay", PLATE, "--max-area", "0.01", "-o", mesh, "--json", ranks=2)
            self.assert_code(made, 0)
            fine = barrio(
                "delaunay", mesh, "--no-refinement", "-o", self.folder / "x.h5m", "--json"
            )
            self.assert_code(fine, 0)
            self.assertEqual(fine.json()["triangles"], made.json()["triangles"])
            self.assertAlmostEqual(fine.json()["areas"]["sum"], 7.52, places=5)
            if suffix == "msh":
                self.assertEqual(fine.json()["regions"], 2)
                self.assertIn(
                    "7 (2 material, 5 neumann)", barrio("info", self.folder / "x.h5m").out
                )

    @unittest.skipIf(vtk is None, why_not if vtk is None else "")
    def test_vtk_reads_vtu(self) -> None:
        graph = self.folder / "slope.poly"
        graph.write_text(
            "4 2 1 0\n1 0 0 0\n2 2 0 2\n3 2 1 5\n4 0 1 3\n4 1\n1 1 2 7\n2 2 3 8\n3 3 4 0\n4 4 1 0\n"
            "0\n1\n1 1 .5 2.5 -1\n"
        )
        mesh = self.folder / "slope.vtu"
        made = barrio("delaunay", graph, "--max-area", "0.001", "-o", mesh, "--json")
        self.assert_code(made, 0)
        reader = vtk.vtkXMLUnstructuredGridReader()
        reader.SetFileName(str(mesh))
        reader.Update()
        grid = reader.GetOutput()
        types = vtk_to_numpy(grid.GetCellTypes())
        triangles = types == vtk.VTK_TRIANGLE
        self.assertEqual(int(triangles.sum()), made.json()["triangles"])
        self.assertEqual(grid.GetNumberOfPoints(), made.json()["vertices"])
        sizes = vtk.vtkCellSizeFilter()
        sizes.SetInputData(grid)
        sizes.Update()
        area, length = (
            vtk_to_numpy(sizes.GetOutput().GetCellData().GetArray(n)) for n in ("Area", "Length")
        )
        self.assertAlmostEqual(float(area.sum()), 2.0, places=12)
        region, attribute, marker = (
            vtk_to_numpy(grid.GetCellData().GetArray(n)) for n in ("region", "attribute", "marker")
        )
        self.assertEqual(set(region[triangles]), {1})
        self.assertEqual(set(attribute[triangles]), {2.5})
        for number, wanted in ((7, 2.0), (8, 1.0)):
            self.assertAlmostEqual(float(length[marker == number].sum()), wanted, places=12)
        x, y, _ = vtk_to_numpy(grid.GetPoints().GetData()).T
        height = vtk_to_numpy(grid.GetPointData().GetArray("attribute_1"))
        self.assertLess(float(abs(height - x - 3 * y).max()), 1e-12)

    def test_files_of_sizes_are_not_replaced(self) -> None:
        background = self.folder / "sizes.vtk"
        background.write_text(BACKGROUND)
        mesh = self.folder / "own.h5m"
        self.assert_code(barrio("delaunay", background, "--no-refinement", "-o", mesh), 0)
        square = self.folder / "square.poly"
        square.write_text(SQUARE)
        words = ["--background", mesh, "--size-field", "h", "-o", mesh]
        refused = barrio("delaunay", square, *words)
        self.assert_code(refused, 2)
        self.assertIn("would replace", refused.err)


if __name__ == "__main__":
    unittest.main()
