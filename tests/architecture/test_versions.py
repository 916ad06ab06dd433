"""The version is the same wherever it stands, and the changelog has it: python3 test_versions.py"""

import re
import unittest
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
PLACES = {
    "pyproject.toml": r'^version = "(.+)"',
    "python/pyproject.toml": r'^version = "(.+)"',
    "python/CMakeLists.txt": r"project\(barrio_python VERSION ([\d.]+)",
    "CITATION.cff": r"^version: (.+)",
    "packaging/conda/recipe.yaml": r"^  version: (.+)",
}


def found(name: str, pattern: str) -> str:
    match = re.search(pattern, (SOURCE / name).read_text(), re.MULTILINE)
    assert match, f"{name} names no version"
    return match[1]


class Versions(unittest.TestCase):
    def setUp(self) -> None:
        self.version = found("CMakeLists.txt", r"^project\(barrio VERSION ([\d.]+)")

    def test_every_place_has_it(self) -> None:
        for name, pattern in PLACES.items():
            with self.subTest(name):
                self.assertEqual(found(name, pattern), self.version)

    def test_the_changelog_begins_with_it(self) -> None:
        first = found("CHANGELOG.md", r"^## (.+)")
        self.assertRegex(first, rf"^{re.escape(self.version)} \((unreleased|\d{{4}}-\d\d-\d\d)\)$")

    def test_releases_have_entries_in_descending_order(self) -> None:
        text = (SOURCE / "CHANGELOG.md").read_text()
        parts = re.split(r"^## ([\d.]+) .*$", text, flags=re.MULTILINE)[1:]
        versions = [tuple(map(int, version.split("."))) for version in parts[::2]]
        self.assertEqual(versions, sorted(versions, reverse=True))
        for version, entry in zip(versions, parts[1::2], strict=True):
            self.assertTrue(re.search(r"^- ", entry, re.MULTILINE), f"{version} has no entries")

    def test_recipes_ask_for_what_the_build_asks_for(self) -> None:
        """A library that CMake requires stands in both recipes."""
        required = set()
        for path in (SOURCE / "barrio").rglob("CMakeLists.txt"):
            required |= set(re.findall(r"find_package\((\w+)[^)]*\bREQUIRED\b", path.read_text()))
        names = {"nlohmann_json": "json", "ParallelHDF5": "hdf5", "MPI": "mpi", "XxHash": "xxhash"}
        for recipe in ("packaging/spack/package.py", "packaging/conda/recipe.yaml"):
            text = (SOURCE / recipe).read_text().lower()
            for library in required - {"Threads"}:
                self.assertIn(names.get(library, library).lower(), text, recipe)


if __name__ == "__main__":
    unittest.main()
