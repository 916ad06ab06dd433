"""docs/reference/settings.md lists exactly the CMake options, make variables and environment variables in use."""

import functools
import re
import subprocess
import unittest
from pathlib import Path

SOURCE = Path(__file__).parents[2]
PAGE = (SOURCE / "docs" / "reference" / "settings.md").read_text()
CODE = ("barrio", "apps", "benchmarks", "examples", "python", "cmake", "tools")
NOT_OF_THE_ENVIRONMENT = {"VERSION_CODENAME"}  # of /etc/os-release
VARIABLE = r"[A-Z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)*"


@functools.cache
def files(*patterns: str) -> dict[str, str]:
    """Return the texts of the source files."""
    listed = subprocess.run(
        ["git", "-C", SOURCE, "ls-files", "--cached", "--others", "--exclude-standard", *patterns],
        capture_output=True,
        text=True,
    )
    names = listed.stdout.split("\n") if listed.returncode == 0 else []
    names = names or [str(p.relative_to(SOURCE)) for q in patterns for p in SOURCE.glob(q)]
    return {name: (SOURCE / name).read_text() for name in names if (SOURCE / name).is_file()}


def named(heading: str) -> list[str]:
    """Return the names in the first column of the tables under headings that start like this."""
    names = []
    for section in re.split(r"^## ", PAGE, flags=re.MULTILINE)[1:]:
        if section.startswith(heading):
            for row in re.findall(r"^\| (`[^|]*) \|", section, re.MULTILINE):
                names += re.findall(r"`([^`]+)`", row)
    return names


def cmake_options() -> set[str]:
    found = set()
    for name, text in files("CMakeLists.txt", "*/CMakeLists.txt", "cmake/*.cmake").items():
        if name.startswith(("examples/", "tests/install/")):
            continue  # users' projects
        found |= set(re.findall(r"^\s*option\((\w+)", text, re.MULTILINE))
        cached = re.findall(r"^\s*set\((\w+) [^\n]*CACHE (?!INTERNAL)", text, re.MULTILINE)
        found |= set(cached)
    return found


@functools.cache
def read_by_code() -> set[str]:
    found = set()
    for name, text in files(*(f"{folder}/**" for folder in CODE)).items():
        if name.endswith((".cpp", ".hpp", ".c", ".h")):
            found |= set(re.findall(rf'getenv\("({VARIABLE})"\)', text))
            if "getenv(" in text:  # also names from a list
                found |= set(re.findall(r'"([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)"', text))
        elif name.endswith(".py"):
            found |= set(re.findall(rf'environ(?:\.\w+\(|\[)"({VARIABLE})"', text))
            for names in re.findall(r"in \(([^()]*)\)\)?:", text):
                if "os.environ" in text:
                    found |= set(re.findall(r'"([A-Z0-9]+_[A-Z0-9_]+)"', names))
        elif name.startswith("cmake/"):
            found |= set(re.findall(rf"\bENV[ {{]({VARIABLE})", text))
        elif name.startswith("tools/"):
            found |= set(re.findall(r"\$\{?(BARRIO_[A-Z_]+)", text))
            found |= set(re.findall(r"\$\{([A-Z][A-Z_]+):-", text))
    return found - NOT_OF_THE_ENVIRONMENT


@functools.cache
def read_by_tests() -> set[str]:
    read, provided = set(), set()
    for name, text in files("tests/**", "cmake/BarrioTests.cmake").items():
        if name.endswith((".cpp", ".hpp", ".c")):
            read |= set(re.findall(r'getenv\("(BARRIO_\w+)"\)', text))
        elif name.endswith(".py"):
            read |= set(re.findall(r'environ(?:\.get\(|\[)\s*"(BARRIO_\w+)"', text))
        else:
            provided |= set(re.findall(r"\b(BARRIO_\w+)=", text))
    return read - provided


class Settings(unittest.TestCase):
    maxDiff = None

    def check(self, heading: str, read: set[str]) -> None:
        names = named(heading)
        self.assertEqual(sorted(names), sorted(set(names)), "a name stands twice")
        self.assertGreater(len(read), 1, "nothing was found: does this test still look right?")
        self.assertEqual(sorted(read - set(names)), [], "read, but not on the page")

    def test_cmake_options(self) -> None:
        self.check("CMake options", cmake_options())
        self.assertEqual(sorted(set(named("CMake options")) - cmake_options()), [])

    def test_variables_of_make(self) -> None:
        text = (SOURCE / "Makefile").read_text()
        read = set(re.findall(r"^([A-Z]+) \?=", text, re.MULTILINE))
        self.check("Variables of make", read)
        self.assertEqual(set(named("Variables of make")), read)

    def test_environment(self) -> None:
        self.check("Environment: of barrio", {n for n in read_by_code() if n.startswith("BARRIO_")})
        of_make = set(named("Variables of make"))
        self.check("Environment: of", (read_by_code() | read_by_tests()) - of_make)

    def test_nothing_on_the_page_that_nobody_reads(self) -> None:
        texts = [
            text
            for name, text in files(*(f"{f}/**" for f in (*CODE, "tests"))).items()
            if name != "tests/architecture/test_settings.py"
        ]
        for name in named("Environment"):
            with self.subTest(name):
                self.assertTrue(any(re.search(rf"\b{name}\b", text) for text in texts))

    def test_finds_each_kind_of_reading(self) -> None:
        self.assertIn("BARRIO_LOG", read_by_code())
        self.assertIn("HDF5_ROOT", read_by_code())
        self.assertIn("BARRIO_SKIP_INSTALL", read_by_code())
        self.assertIn("BARRIO_SEED", read_by_tests())


if __name__ == "__main__":
    unittest.main()
