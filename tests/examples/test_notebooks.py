"""examples/18-notebooks: the cells of each notebook, run in their order, and what they show."""

import ast
import json
import os
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "cli"))

from barrio_case import SOURCE, Case, execute

PYTHON = os.environ.get("BARRIO_PYTHON", "")  # empty: barrio is built without its package
PACKAGE = os.environ.get("BARRIO_PACKAGE", "")
FOLDER = SOURCE / "examples" / "18-notebooks"
# As a notebook does, a cell shows the value of its last expression.
HEAD = """import matplotlib
matplotlib.use("Agg")
def show(value):
    page = getattr(value, "_repr_html_", None)
    print("SHOWN", page() if page else repr(value))
"""


def script_of(notebook: dict) -> str:
    text = HEAD
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code":
            continue
        source = "".join(cell["source"])
        body = ast.parse(source).body
        last = body[-1]
        if isinstance(last, ast.Expr) and not source.rstrip().endswith(";"):
            text += "".join(ast.unparse(part) + "\n" for part in body[:-1])
            text += f"show({ast.unparse(last.value)})\n"
        else:
            text += ast.unparse(ast.Module(body, [])) + "\n"
    return text


@unittest.skipUnless(PYTHON, "barrio is built without its Python package")
class Notebooks(Case):
    def shown_by(self, name: str) -> list[str]:
        path = self.folder / "cells.py"
        path.write_text(script_of(json.loads((FOLDER / name).read_text())))
        environment = {"PYTHONPATH": PACKAGE, "PYVISTA_OFF_SCREEN": "true"}
        outcome = execute([PYTHON, str(path)], cwd=self.folder, environment=environment)
        self.assert_code(outcome, 0)
        return outcome.out.split("SHOWN ")[1:]

    def test_all_are_known(self) -> None:
        names = [path.name for path in sorted(FOLDER.iterdir())]
        self.assertEqual(names, ["adapt.ipynb", "flow.ipynb"])

    def test_have_no_outputs(self) -> None:
        for path in FOLDER.iterdir():
            for cell in json.loads(path.read_text())["cells"]:
                self.assertFalse(cell.get("outputs"), f"{path.name}: clear the outputs")

    def test_adapt(self) -> None:
        mesh, fine, report, _, changes, _, checksum = self.shown_by("adapt.ipynb")
        self.assertIn("<table", mesh)
        self.assertIn("<table", fine)
        counts = ast.literal_eval(report)
        self.assertEqual(counts["cells_before"], 6**4)
        self.assertGreater(counts["in_range"], 0.9)
        before, _, splits, collapses = ast.literal_eval(changes)
        self.assertEqual(before, counts["cells"])
        self.assertGreater(min(splits, collapses), 0)
        self.assertRegex(checksum, r"^'[0-9a-f]{16}'$")
        self.assertTrue((self.folder / "ball.vtkhdf").is_file())

    def test_flow(self) -> None:
        run, levels, place = self.shown_by("flow.ipynb")
        self.assertGreater(ast.literal_eval(run)[0], 10)
        self.assertTrue(all(n > 0 for _, n in ast.literal_eval(levels)))
        self.assertAlmostEqual(float(place), 0.850, delta=0.01)  # of the exact solution


if __name__ == "__main__":
    unittest.main()
