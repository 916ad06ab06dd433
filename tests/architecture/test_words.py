"""tools/words and tools/casts --density find what they are there for, in a small tree of their own."""

from __future__ import annotations

import pathlib
import shutil
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[2]


class InATree(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="barrio-words-")
        self.addCleanup(folder.cleanup)
        self.tree = pathlib.Path(folder.name)
        (self.tree / "tools").mkdir()
        for name in ("words", "casts"):
            shutil.copy(SOURCE / "tools" / name, self.tree / "tools" / name)
        subprocess.run(["git", "init", "-q", self.tree], check=True)

    def run_tool(self, *words: str) -> tuple[int, str]:
        run = subprocess.run(
            ["python3", self.tree / "tools" / words[0], *words[1:]], capture_output=True, text=True
        )
        return run.returncode, run.stdout + run.stderr

    def write(self, name: str, text: str) -> None:
        path = self.tree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


class Words(InATree):
    HEADER = "#pragma once\n\n/// @file Sizes of cells.\n\n"

    def found_in(self, name: str, text: str) -> list[str]:
        self.write(name, text)
        code, output = self.run_tool("words", name)
        rules = [line.split(": ")[1] for line in output.splitlines() if line.startswith(name)]
        self.assertEqual(code, 1 if rules else 0, output)
        return rules

    def test_what_it_finds(self) -> None:
        for text, rule in (
            ("/// What a cell has.\nstruct Cell {};\n", "what"),
            ("int size;  // what is left of it\nint more;  // What is left\n", "what"),
            ('throw Error("-1 layers: are none");\n', "none"),
            ("int most_cells;\n", "most"),
            ('add_option("--least-quality");\n', "most"),
            ("constexpr int MOST_CELLS = 1;\n", "most"),
            ("// at the begin of a step\n", "former"),
        ):
            with self.subTest(text):
                self.assertEqual(self.found_in("barrio/mesh/tables/x.cpp", text), [rule])

    def test_python_and_pages(self) -> None:
        self.assertEqual(
            self.found_in("tools/x.py", '"""What it is."""\n# Who does it\n'), ["what", "what"]
        )
        self.assertEqual(self.found_in("docs/x.md", "`--most-cells`\n"), ["most"])

    def test_public_headers(self) -> None:
        for text, rules in (
            (self.HEADER + "/// Return the size.\ndouble size();\n", []),
            (self.HEADER + "/// The size.\ndouble size();\n", ["verb"]),
            (
                self.HEADER
                + "/// A size.\ntemplate <class T>\n[[nodiscard]] T size(int a) const;\n",
                ["verb"],
            ),
            (self.HEADER + "/// A size.\nstruct Size {};\n/// Another.\nint size = 3;\n", []),
            (self.HEADER + "/// A call.\nusing Call = std::function<void(int)>;\n", []),
            ("#pragma once\n/// Return it.\nint size();\n", ["file"]),
        ):
            with self.subTest(text):
                self.assertEqual(self.found_in("barrio/mesh/x.hpp", text), rules)
        self.assertEqual(
            self.found_in("barrio/mesh/tables/x.hpp", "/// The size.\nint size();\n"), []
        )

    def test_the_tree_is_clean_and_a_path_that_is_not_there_is_told(self) -> None:
        run = subprocess.run([SOURCE / "tools" / "words"], capture_output=True, text=True)
        self.assertEqual(run.returncode, 0, run.stdout)
        self.assertEqual(self.run_tool("words", "nowhere")[0], 2)


class Casts(InATree):
    def test_density(self) -> None:
        lines = "int a = b;\n" * 98
        for casts in (
            "int c = static_cast<int>(d);\nint e = static_cast<int>(f);\n",
            "int c = int(d);\nauto e = std::size_t(f);\n",
            "int c = (int)d;\nauto e = (std::int64_t)(f);\n",
        ):
            self.write("barrio/mesh/x.cpp", lines + casts)
            code, output = self.run_tool("casts", "--density")
            self.assertEqual(code, 1, output)
            self.assertIn("barrio/mesh: 2 casts in 100 lines, 2.00 per 100, above 1.5", output)
        self.write(
            "barrio/mesh/x.cpp",
            lines + "int c = int(d);\nvoid f(int);  // int(x), static_cast<int>(y)\n",
        )
        self.assertEqual(self.run_tool("casts", "--density")[0], 0)


if __name__ == "__main__":
    unittest.main()
