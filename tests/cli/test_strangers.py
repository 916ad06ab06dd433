"""Small inputs that failed once, from strangers: what each must give now. BARRIO_STRANGERS is their folder."""

import os
import re
import unittest
from pathlib import Path

import barrio_case
from barrio_case import barrio

FOLDER = Path(os.environ.get("BARRIO_STRANGERS") or "/nowhere")


class Strangers(barrio_case.Case):
    def given(self, name: str) -> Path:
        path = FOLDER / name
        if not path.exists():
            self.skipTest(f"{name}: not in {FOLDER}")
        return path

    def adapt(self, name: str, size: float, ranks: int = 0, output: str = "out.h5m") -> dict:
        path = self.folder / output
        outcome = barrio(
            "adapt", self.given(f"adapt/{name}"), "--size", size, "-o", path, "--json", ranks=ranks
        )
        self.assert_code(outcome, 0)
        return outcome.json()

    def assert_kept(self, found: dict, relative: float = 1e-12) -> None:
        self.assertTrue(found["measures"])
        for one in found["measures"]:
            self.assertAlmostEqual(one["after"] / one["before"], 1, delta=relative, msg=str(one))

    def case(self, name: str) -> Path:
        """Copy a case, with the names that keys have now."""
        text = self.given(f"amr/{name}").read_text()
        for before, now in (
            ("[ends]", "[boundary]"),
            ("[given]", "[inflow]"),
            ('"given"', '"inflow"'),
        ):
            text = text.replace(before, now)
        path = self.folder / name
        path.write_text(text)
        return path


class Files(Strangers):
    def info(self, name: str) -> dict:
        outcome = barrio("info", self.given(f"base/{name}"), "--json")
        self.assert_code(outcome, 0)
        return outcome.json()

    def load(self, name: str, *options: object, ranks: int = 3) -> dict:
        path = self.given(f"base/{name}")
        outcome = barrio("load", path, "--validate", "--json", *options, ranks=ranks)
        self.assert_code(outcome, 0)
        return outcome.json()

    def test_groups_and_parts_of_a_partitioned_gmsh_file(self) -> None:
        found = self.info("gmsh41_partitioned.msh")
        self.assertEqual({one["name"] for one in found["named_sets"]}, {"left", "body"})
        self.assertEqual(found["sets"]["parts"], 3)
        self.assertEqual(self.load("gmsh41_partitioned.msh")["parts"], 3)

    def test_a_group_of_points(self) -> None:
        found = self.info("gmsh41_point_group.msh")
        names = {one["name"] for one in found["named_sets"]}
        self.assertEqual(names, {"corner", "fault_edge", "left", "body"})

    def test_nodes_with_parameters(self) -> None:
        self.assertEqual(self.load("gmsh22_parametric_nodes.msh")["counts"]["volumes"], 1140)

    def test_solutions_of_cgns(self) -> None:
        names = {tag["name"] for tag in self.info("sparc1.cgns")["tags"]}
        self.assertEqual(names, {"Density1", "Temperature1", "VelocityX", "VelocityY", "VelocityZ"})
        for step in (1, 2, 3):
            self.load("sparc1.cgns", "--step", step)

    def test_degenerate_hexes_are_the_cells_that_they_are(self) -> None:
        self.assertEqual(self.load("degenerate_hexes.vtk")["counts"]["volumes"], 4)

    def test_a_variable_that_was_never_written(self) -> None:
        self.load("never_written_2d.nc")

    def test_weights_that_are_all_0(self) -> None:
        path = self.given("base/zero_weights.h5m")
        for method in ("rcb", "hilbert", "metis"):
            outcome = barrio(
                *("partition", path, "-n", 9, "-m", method, "--weight", "W", "--json"),
                *("-o", self.folder / "out.h5m"),
            )
            self.assert_code(outcome, 0)
            self.assertLess(outcome.json()["imbalance"], 1.1)


class Adapt(Strangers):
    def test_a_disc_in_a_flat_face(self) -> None:
        for size in (0.4, 1):
            found = self.adapt("disc-on-plate.msh", size)
            self.assert_kept(found)
            self.assertLess(found["cells"], found["cells_before"] / 10)

    def test_a_half_cylinder(self) -> None:
        for size in (0.3, 0.05):
            self.assert_kept(self.adapt("half-cylinder.msh", size))

    def test_a_node_set_grows(self) -> None:
        self.adapt("nodeset.mesh", 0.12, output="out.mesh")
        text = (self.folder / "out.mesh").read_text()
        rows = re.search(r"Vertices\s+\d+\s+(.*?)\n\s*[A-Z]", text, re.DOTALL)
        assert rows is not None
        points = [line.split() for line in rows[1].splitlines()]
        at_wall = [row for row in points if float(row[2]) == 0]
        self.assertGreater(len(at_wall), 100)
        self.assertEqual({row[3] for row in at_wall}, {"5"})
        self.assertNotIn("5", {row[3] for row in points if float(row[2]) != 0})

    def test_bodies_that_touch_in_a_vertex(self) -> None:
        counts = barrio_case.some_ranks(1, 2, 3, 4, 7, 8)
        found = {self.adapt("vertex-touch.mesh", 0.2, ranks)["checksum"] for ranks in counts}
        self.assertEqual(len(found), 1)

    def test_planes_of_six_digits(self) -> None:
        found = self.adapt("turned-box-6-digits.vtu", 0.19)
        self.assertLess(found["cells"], 1900)
        self.assert_kept(found, 1e-6)


class Amr(Strangers):
    def test_the_last_step_is_looked_at(self) -> None:
        case = self.case("last-step.toml")
        outcome = barrio("amr", case)  # the cells that would fail take first order
        self.assert_code(outcome, 0)
        self.assertIn("negative: 0 at the start, 0 at the end", outcome.out)
        outcome = barrio("amr", case, "--set", "gas.first_order_fallback=false")
        self.assert_error(outcome, 1, "of level 0, step ")

    def test_the_first_step_sees_the_inflow(self) -> None:
        self.assert_code(barrio("amr", self.case("inflow-mach8.toml")), 0)

    def test_a_level_that_begins_has_the_time_step(self) -> None:
        case = self.case("nosub.toml")
        case.write_text(case.read_text().replace("nosub.vtkhdf", str(self.folder / "nosub.vtkhdf")))
        self.assert_code(barrio("amr", case), 0)


if __name__ == "__main__":
    unittest.main()
