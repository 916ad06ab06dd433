"""Draw files with `barrio show`, and compare what it says and draws with what the files have. Needs pyvista."""

import fcntl
import json
import os
import re
import unittest
from pathlib import Path

from barrio_case import SOURCE, WING, Case, Outcome, barrio

try:
    import numpy
    import pyvista  # noqa: F401  draws
    from PIL import Image
except ImportError as reason:
    numpy = None
    why_not = f"this Python lacks a package: {reason}"

OKABE_BLUE, OKABE_ORANGE = (0, 114, 178), (230, 159, 0)  # first colours of sets
# A square of two triangles in sets of their own, with the edges at the bottom and at the left in others.
SQUARE = """$MeshFormat
2.2 0 8
$EndMeshFormat
$PhysicalNames
4
1 3 "bottom"
1 4 "left"
2 1 "lower"
2 2 "upper"
$EndPhysicalNames
$Nodes
4
1 100 10 0
2 300 10 0
3 300 110 0
4 100 110 0
$EndNodes
$Elements
4
1 1 2 3 1 1 2
2 1 2 4 2 4 1
3 2 2 1 3 1 2 3
4 2 2 2 4 1 3 4
$EndElements
"""
CASE = """title = "pulse"
[grid]
cells = [16, 16]
high = [1.0, 1.0]
levels = 2
block = 8
[initial]
density = "x < 0.5 ? 2 : 1"
pressure = "1"
[refine]
jump = { density = 0.1 }
[run]
steps = 2
[output]
file = "pulse.vtkhdf"
"""


@unittest.skipIf(numpy is None, "" if numpy else why_not)
class Show(Case):
    def show(self, *words: object, ranks: int = 0) -> Outcome:
        return barrio("show", *words, "--no-open", ranks=ranks, cwd=self.folder)

    def page(self, *words: object) -> str:
        outcome = self.show(*words, "-o", "page.html")
        self.assert_code(outcome, 0)
        self.assertEqual(outcome.err, "", outcome)
        self.assertEqual(outcome.out, "page.html\n")
        page = (self.folder / "page.html").read_text(encoding="utf-8")
        return page.replace("\u202f", " ").replace("\u00a0", " ")

    def picture(self, *words: object, ranks: int = 0) -> "numpy.ndarray":
        outcome = self.show(*words, "-o", "picture.png", ranks=ranks)
        self.assert_code(outcome, 0)
        return numpy.asarray(Image.open(self.folder / "picture.png").convert("RGB")).astype(int)

    def assertIn(self, member: str, container: str, msg: object = None) -> None:
        """Fail with the text alone: pages are long."""
        self.assertTrue(member in container, msg or f"'{member}' is missing")

    def write(self, name: str, text: str) -> Path:
        (self.folder / name).write_text(text)
        return self.folder / name

    @staticmethod
    def share_of(picture: "numpy.ndarray", colour: tuple[int, int, int]) -> float:
        """Return the share of pixels of about this colour."""
        return float((numpy.abs(picture - numpy.array(colour)).max(axis=2) < 12).mean())

    def test_what_a_killed_one_left_is_removed(self) -> None:
        """Leave folders as killed processes do: old ones go, but not of one that still runs, nor other folders."""
        path = self.write("square.msh", SQUARE)
        names = (
            ".barrio-show.aaaaaa",
            ".barrio-show.bbbbbb",
            ".barrio-show.cccccc",
            ".barrio-show.longer-name",
        )
        for name in names:
            (self.folder / name).mkdir()
            (self.folder / name / "cells.vtkhdf").touch()
        for name in names[:2] + names[3:]:
            os.utime(self.folder / name, (1e9, 1e9))
        running = os.open(self.folder / names[1], os.O_RDONLY)
        fcntl.flock(running, fcntl.LOCK_EX)
        self.picture(path)
        os.close(running)
        self.assertEqual(sorted(found.name for found in self.folder.glob(".*")), sorted(names[1:]))

    def test_a_page_says_what_the_file_has(self) -> None:
        page = self.page(WING)
        found = barrio("info", WING, "--json").json()
        for name, n in found["entities"].items():
            self.assertRegex(page, rf">{name}</t[hd]><td[^>]*>{n:,}<".replace(",", " "))
        for one in found["named_sets"]:
            self.assertIn(one["name"], page)
        self.assertIn("Gmsh 4.1", page)
        self.assertIn("Cells by their scaled Jacobian", page)
        self.assertNotIn("coloured by part", page)  # the file has none
        self.assertNotIn("farfield</text>", page)  # not drawn, so it has no colour
        self.assertIn("wing</text>", page)
        self.assertEqual(page.count(">material<"), 2)  # sets, and no array of that name
        self.assertEqual(list(self.folder.glob(".barrio-show*")), [])
        lines = re.findall(r"<pre><code>(.*?)</code></pre>", page)
        self.assertTrue(any(" adapt " in line for line in lines), lines)

    def test_a_picture_has_the_colours_of_sets_and_coordinates(self) -> None:
        picture = self.picture(self.write("square.msh", SQUARE))
        # Edges of the sets "bottom" and "left" over plain triangles.
        self.assertGreater(self.share_of(picture, OKABE_BLUE), 0.0003)
        self.assertGreater(self.share_of(picture, OKABE_ORANGE), 0.0003)
        page = self.page("square.msh")
        ticks = set(re.findall(r">(\d+)</text>", page))
        self.assertLessEqual({"100", "150", "200", "250", "300", "50"}, ticks)
        names = set(re.findall(r">(\w+)</text>", page))
        self.assertLessEqual({"lower", "upper", "bottom", "left"}, names)
        self.assertIn("All edges have a mean length of", page)
        lines = re.findall(r"<pre><code>(.*?)</code></pre>", page)
        self.assertFalse(any(" adapt " in line for line in lines), lines)  # it has no tetrahedra
        for line in lines:
            self.assert_code(barrio(*line.split()[1:], cwd=self.folder), 0)

    def test_the_picture_is_the_same_on_any_ranks(self) -> None:
        mesh = self.folder / "box.h5m"
        self.assert_code(barrio("generate", "box", "--cells", 4, 4, 4, "--tets", "-o", mesh), 0)
        one = self.picture(mesh)
        other = self.picture(mesh, ranks=3)
        self.assertEqual(one.shape, other.shape)
        self.assertTrue((one == other).all())

    def test_fields_are_chosen_by_name(self) -> None:
        case = self.write("pulse.toml", CASE)
        self.assert_code(barrio("amr", case, cwd=self.folder), 0)
        page = self.page("pulse.vtkhdf")
        self.assertIn("2 levels of blocks", page)
        self.assertNotIn("nothing to draw", page)
        for name in ("density", "pressure"):
            self.assertIn(f">{name}</text>", page)
        only = self.page("pulse.vtkhdf", "--field", "pressure")
        self.assertIn(">pressure</text>", only)
        self.assertNotIn(">density</text>", only)
        wrong = self.show("pulse.vtkhdf", "--field", "pressures")
        self.assert_error(wrong, 2, "has no field 'pressures'", "density")

    def test_steps_are_a_film(self) -> None:
        for step in range(6):
            values = " ".join(str(step * 10 + i) for i in range(4))
            self.write(
                f"s{step}.vtk",
                "# vtk DataFile Version 3.0\ns\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 4 double\n"
                "0 0 0 1 0 0 1 1 0 0 1 0\nCELLS 1 5\n4 0 1 2 3\nCELL_TYPES 1\n9\n"
                f"POINT_DATA 4\nSCALARS heat double 1\nLOOKUP_TABLE default\n{values}\n",
            )
            self.assert_code(
                barrio("convert", f"s{step}.vtk", f"s{step}.vtkhdf", cwd=self.folder), 0
            )
        files = [{"name": f"s{step}.vtkhdf", "time": 0.5 * step} for step in range(6)]
        text = json.dumps({"file-series-version": "1.0", "files": files})
        self.write("s.vtkhdf.series", text)
        page = self.page("s.vtkhdf.series")
        self.assertEqual(page.count('class="shot"'), 6 + 1)  # and the sizes
        self.assertIn("time 2.50, frame 5 of 5: heat", page)
        self.assertNotIn("the mesh changes", page)
        self.assertIn("The values go from 0 to 53.00", page)
        self.assert_code(self.show("s.vtkhdf.series", "-o", "s.gif"), 0)
        film = Image.open(self.folder / "s.gif")
        self.assertEqual(film.n_frames, 6)
        frames = []
        for place in range(6):
            film.seek(place)
            frames.append(numpy.asarray(film.convert("RGB")).astype(int))
        for before, after in zip(frames, frames[1:]):
            self.assertGreater(float((numpy.abs(after - before).max(axis=2) > 40).mean()), 0.01)
        third = self.page("s.vtkhdf.series", "--step", 3)
        self.assertIn("time 1.00, frame 2 of 5: heat", third)
        self.assertNotIn("frame 5 of 5", third)
        beyond = self.show("s.vtkhdf.series", "--step", 7)
        self.assert_error(beyond, 2, "has no step 7; it has 6")

    def test_files_of_the_plane(self) -> None:
        square = "4 2 0 0\n1 0 0\n2 1 0\n3 1 1\n4 0 1\n4 1\n1 1 2 5\n2 2 3 6\n3 3 4 5\n4 4 1 5\n0\n"
        poly = self.write("square.poly", square)
        page = self.page(poly)
        self.assertIn("4 edges on 4 vertices", page)
        self.assertIn("marker 5</text>", page)
        made = barrio("delaunay", poly, "--max-area", 0.01, "-o", "fine.ele", cwd=self.folder)
        self.assert_code(made, 0)
        n = int(re.search(r"([\d,' ]+) triangles", made.out)[1].replace(" ", ""))
        self.assertIn(f"{n} triangles on", self.page("fine.ele"))
        polygon = {"type": "Polygon", "coordinates": [[[0, 0], [2, 0], [1, 1], [0, 0]]]}
        feature = {"type": "Feature", "properties": {"name": "roof"}, "geometry": polygon}
        shape = self.write("roof.geojson", json.dumps(feature))
        self.assertIn("3 edges on 3 vertices", self.page(shape))
        points = self.write("points.node", "1 2 0 0\n1 0 0\n")
        self.assert_error(self.show(points), 3, "has points alone", "barrio delaunay")

    def test_wrong_words_and_files(self) -> None:
        self.assert_error(
            self.show(WING, "-o", "a.jpg"),
            2,
            "neither a page (.html), nor a picture (.png), nor a film",
        )
        self.assert_error(self.show(WING, "-o", "a.gif"), 1, "has no steps")
        absent = self.show("absent.msh")
        self.assert_error(absent, 1, "absent.msh")
        noise = self.show(self.write("noise.msh", "no mesh\n"))
        self.assert_error(noise, 3, "noise.msh")
        self.assertLess(max(absent.seconds, noise.seconds), 10.0)
        result = self.write("load.json", json.dumps({"schema": "barrio.load"}))
        self.assert_error(self.show(result), 3, "barrio report")
        self.assert_error(self.show(WING, "-o", "no/such/page.html"), 1, "no/such")
        self.assertEqual(list(self.folder.glob(".barrio-show*")), [])

    def test_a_full_disk_is_an_error(self) -> None:
        box = self.folder / "box.vtkhdf"
        self.assert_code(
            barrio("generate", "box", "--cells", 2, 2, 2, "-o", "b.h5m", cwd=self.folder), 0
        )
        self.assert_code(barrio("convert", "b.h5m", box, cwd=self.folder), 0)
        with self.small_disk("64k") as place:
            self.assert_error(self.show(box, "-o", place / "a.png"), 1, "a.png", "free disk space")
            self.assertEqual([path.name for path in place.iterdir()], [])

    def test_without_opengl_the_page_says_so(self) -> None:
        nowhere = str(self.folder / "nowhere")
        environment = {
            "VTK_DEFAULT_OPENGL_WINDOW": "vtkEGLRenderWindow",
            "__EGL_VENDOR_LIBRARY_DIRS": nowhere,
            "__EGL_VENDOR_LIBRARY_FILENAMES": nowhere,
            "DISPLAY": "",
            "WAYLAND_DISPLAY": "",
        }
        outcome = barrio("show", WING, cwd=self.folder, environment=environment)
        self.assert_code(outcome, 0)
        self.assertIn("pictures could not be rendered", outcome.err)
        page = (self.folder / "show.html").read_text()
        self.assertIn("apt install libegl1 libgl1-mesa-dri", page)
        self.assertIn("farfield", page)  # the table of sets is there
        wanted = barrio("show", WING, "-o", "a.png", cwd=self.folder, environment=environment)
        self.assert_error(wanted, 1, "OpenGL")
        self.assertFalse((self.folder / "a.png").exists())


if __name__ == "__main__":
    assert SOURCE.is_dir()
    unittest.main()
