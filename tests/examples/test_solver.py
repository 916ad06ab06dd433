"""examples/03-solver on 1, 2 and 4 ranks, in C++ and Python: the same heat, and a file that VTK's own reader opens."""

import os
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "cli"))

from barrio_case import MPIEXEC, WING, Case, Outcome, barrio, execute, some_ranks

SOLVER = os.environ["BARRIO_SOLVER"]
SCRIPT = Path(os.environ["BARRIO_SOURCE"]) / "examples" / "03-solver" / "solver.py"
PYTHON = os.environ.get("BARRIO_PYTHON", "")
PACKAGE = os.environ.get("BARRIO_PACKAGE", "")

READ = """
import sys
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkIOHDF import vtkHDFReader
reader = vtkHDFReader()
reader.SetFileName(sys.argv[1])
reader.UpdateInformation()
reader.SetStep(reader.GetNumberOfSteps() - 1)
reader.Update()
pieces = reader.GetOutputDataObject(0)
grids = [pieces.GetPartition(i) for i in range(pieces.GetNumberOfPartitions())]
heat = [vtk_to_numpy(grid.GetPointData().GetArray("heat")) for grid in grids]
n_cells = sum(grid.GetNumberOfCells() for grid in grids)
print(reader.GetNumberOfSteps(), n_cells, min(h.min() for h in heat) >= 0, max(h.max() for h in heat) <= 1)
"""


class Solver(Case):
    def run_at(self, ranks: int, *words: object) -> Outcome:
        outcome = execute(
            [*MPIEXEC, "-n", str(ranks), *map(str, words)], environment={"PYTHONPATH": PACKAGE}
        )
        self.assert_code(outcome, 0)
        return outcome

    def test_the_same_heat_everywhere(self) -> None:
        mesh = self.folder / "mesh.h5m"
        self.assert_code(barrio("partition", WING, "-n", 4, "-o", mesh), 0)
        lines = set()
        for ranks in some_ranks(1, 2, 4):
            out = self.folder / f"heat{ranks}.vtkhdf"
            lines.add(self.run_at(ranks, SOLVER, mesh, out).out)
            self.assertTrue(out.exists())
        if PYTHON:
            for ranks in some_ranks(1, 2, 4):
                out = self.folder / f"python{ranks}.vtkhdf"
                lines.add(self.run_at(ranks, PYTHON, SCRIPT, mesh, out).out)
                read = execute([PYTHON, "-c", READ, str(out)])
                self.assertEqual(read.out.split(), ["5", "4591", "True", "True"], str(read))
        self.assertEqual(len(lines), 1, lines)
        self.assertRegex(lines.pop(), r"^mean heat 0\.[0-9]{6} after 50 steps\n$")

    def test_checkpoints_go_on_at_any_rank_count(self) -> None:
        script = SCRIPT.with_name("restart.py")
        programs = [[os.environ["BARRIO_RESTART"]]] + ([[PYTHON, script]] if PYTHON else [])
        at = WING
        for years, ranks in enumerate((2, 3, 1, 4), start=1):
            for program in programs:
                out = self.folder / f"year{years}.h5m"
                printed = self.run_at(ranks, *program, at, out).out
                self.assertEqual(printed, f"1053 vertices, {years}.000 years old\n")
            at = out
        self.assert_no_leftovers(self.folder)

    def test_wrong_words_are_told_the_right_ones(self) -> None:
        programs = [
            (SOLVER, "solver MESH OUT.vtkhdf"),
            (os.environ["BARRIO_RESTART"], "restart IN OUT.h5m"),
        ]
        for program, usage in programs:
            for words in ([], ["x"], ["a", "b", "c"]):
                outcome = execute([program, *words])
                self.assert_code(outcome, 2)
                self.assertIn(usage, outcome.err)
        for script in (SCRIPT, SCRIPT.with_name("restart.py")) if PYTHON else ():
            outcome = execute([PYTHON, str(script)], environment={"PYTHONPATH": PACKAGE})
            self.assert_code(outcome, 1)
            self.assertIn(f"usage: {script.name}", outcome.err)

    def test_a_tag_of_another_shape_is_refused(self) -> None:
        """Regression: such a tag overran the field's memory."""
        vtk = self.folder / "wide.vtk"
        vtk.write_text(
            "# vtk DataFile Version 3.0\nwide\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 4 double\n"
            "0 0 0 1 0 0 0 1 0 0 0 1\nCELLS 1 5\n4 0 1 2 3\nCELL_TYPES 1\n10\nPOINT_DATA 4\n"
            "FIELD fields 1\nage 64 4 double\n" + " ".join(["1"] * 256) + "\n"
        )
        programs = [[os.environ["BARRIO_RESTART"]]]
        if PYTHON:
            programs.append([PYTHON, "-m", "mpi4py", str(SCRIPT.with_name("restart.py"))])
        for program in programs:
            outcome = execute(
                [*MPIEXEC, "-n", "2", *program, str(vtk), str(self.folder / "out.h5m")],
                environment={"PYTHONPATH": PACKAGE},
            )
            self.assertNotEqual(outcome.code, 0, str(outcome))
            self.assertIn("tag 'age': has 64 component(s) of float64, not 1", outcome.err)
            self.assertFalse((self.folder / "out.h5m").exists())

    def test_any_format_without_parts(self) -> None:
        outcome = self.run_at(3, SOLVER, WING, self.folder / "heat.vtkhdf")
        self.assertIn("after 50 steps", outcome.out)


if __name__ == "__main__":
    unittest.main()
