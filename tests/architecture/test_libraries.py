"""The page for clusters names all libraries that the build looks for."""

import re
import sys
import unittest
from pathlib import Path

SOURCE = Path(__file__).parents[2]
PAGE = SOURCE / "docs" / "howto" / "cluster.md"
# As CMake calls them, and as the page does where that differs.
NAMES = {
    "GTest": None,  # tests
    "Git": None,
    "MPI": "MPI",
    "ParallelHDF5": "HDF5",
    "PNG": "libpng",
    "PTScotch": "PT-Scotch",
    "PkgConfig": None,
    "Python": None,
    "Python3": None,
    "Threads": None,
    "XxHash": "xxHash",
    "ZLIB": "zlib",
    "barrio": None,
    "nanobind": None,
    "nlohmann_json": "nlohmann-json",
}
LISTS = ["barrio/**/CMakeLists.txt", "apps/CMakeLists.txt", "cmake/BarrioMpi.cmake"]
FOUND = re.compile(r"^\s*find_package\((\w+)[^)]*\)", re.MULTILINE)


def packages() -> dict[str, Path]:
    """Return the packages that the library and the command need, with the file that looks for each."""
    files = [path for pattern in LISTS for path in sorted(SOURCE.glob(pattern))]
    return {name: path for path in files for name in FOUND.findall(path.read_text())}


class Libraries(unittest.TestCase):
    def test_the_page_names_what_the_build_looks_for(self) -> None:
        found = packages()
        self.assertGreater(len(found), 10)
        rows = [line for line in PAGE.read_text().splitlines() if line.startswith("|")]
        table = "\n".join(rows)
        for package, path in found.items():
            name = NAMES.get(package, package)
            with self.subTest(package=package, path=str(path)):
                if name is not None:
                    self.assertRegex(table, rf"\b{re.escape(name)}\b")

    def test_the_page_names_nothing_else(self) -> None:
        known = {NAMES.get(name, name) for name in packages()}
        rows = re.findall(r"^\| (?:optional: )?([^|]+) \|", PAGE.read_text(), re.MULTILINE)
        words = {word for row in rows for word in re.split(r", and the |, | built for that ", row)}
        named = {word.removeprefix("an ") for word in words} - {
            "library",
            "---",
            "question",
            "error",
        }
        self.assertEqual({word for word in named if word not in known}, set())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
