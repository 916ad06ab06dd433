"""Lay out the pages of the site: those of the repository, one for each public header, one for each example."""

from __future__ import annotations

import os
import pathlib
import re
import shutil
import subprocess

import headers
import python_page

LINK = re.compile(r"(?<=\]\()([^)\s#:]+)(#[^)\s]*)?(?=\))")
LANGUAGES = {
    ".cpp": "cpp",
    ".hpp": "cpp",
    ".c": "c",
    ".py": "python",
    ".toml": "toml",
    ".f90": "fortran",
    ".txt": "cmake",
}
SECTIONS = {
    "tutorial": "Tutorials",
    "howto": "How-to",
    "explanation": "Explanation",
    "reference": "Reference",
    "decisions": "Decisions",
}


class Site:
    """Pages in a folder `stage`, from the sources in `source`; paths are those of the repository."""

    def __init__(self, source: pathlib.Path, stage: pathlib.Path) -> None:
        self.source = source
        self.stage = stage
        words = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
        listed = subprocess.run(
            words, cwd=source, check=True, capture_output=True, text=True
        ).stdout.split()
        self.files = [name for name in listed if (source / name).is_file()]
        self.public = sorted(
            name for name in self.files if re.fullmatch(r"barrio/(\w+/)?\w+\.hpp", name)
        )
        self.examples = sorted(
            {
                "/".join(name.split("/")[:2])
                for name in self.files
                if name.count("/") >= 2 and name.startswith("examples/")
            }
        )
        self.rooms = re.search(
            r"set\(BARRIO_ROOMS ([^)]*)\)", (source / "cmake/BarrioRooms.cmake").read_text()
        )[1].split()

    def write(self, name: str, text: str) -> None:
        path = self.stage / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def place_of(self, name: str) -> str:
        """Return the page that has a file or folder of the repository."""
        if name == "README.md":
            return "index.md"
        if name in self.public:
            return name.removesuffix(".hpp") + ".md"
        if name in self.examples:
            return f"{name}/index.md"
        if name.startswith("examples/") and os.path.dirname(name) in self.examples:
            return f"{os.path.dirname(name)}/index.md"
        return name

    def with_links(self, name: str, text: str) -> str:
        """Lead the links of a page to where the site has what they name."""
        folder = os.path.dirname(name)
        here = os.path.dirname(self.place_of(name))

        def moved(match: re.Match) -> str:
            target = os.path.normpath(os.path.join(folder, match[1]))
            place = self.place_of(target)
            if not place.endswith(".md") and (self.source / target).is_file():
                copy = self.stage / target
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(self.source / target, copy)
            return os.path.relpath(place, here or ".") + (match[2] or "")

        return LINK.sub(moved, text)

    def add_repository_pages(self) -> None:
        for name in self.files:
            if not name.endswith(".md") or name.startswith("docs/site/"):
                continue
            text = self.with_links(name, (self.source / name).read_text())
            if name == "docs/reference/python.md":
                text = python_page.with_directives(text)
            folder = os.path.dirname(name)
            if name.endswith("/README.md") and folder.startswith("docs/"):
                text += toctree(sorted(self.pages_in(folder)))
            if folder.startswith("barrio/") and name.endswith("README.md"):
                continue  # the first part of the page of its room
            self.write(self.place_of(name), text)

    def pages_in(self, folder: str) -> list[str]:
        return [
            os.path.basename(name).removesuffix(".md")
            for name in self.files
            if os.path.dirname(name) == folder
            and name.endswith(".md")
            and not name.endswith("README.md")
        ]

    def add_index(self) -> None:
        front = self.stage / "index.md"
        sections = [f"{title} <docs/{folder}/README>" for folder, title in SECTIONS.items()]
        others = [
            "CHANGELOG",
            "CONTRIBUTING",
            "SECURITY",
            "python/README",
            "data/README",
            "packaging/README",
            "docs/README",
            "docs/nightly",
        ]
        front.write_text(
            front.read_text()
            + toctree(
                [
                    *sections[:3],
                    "C++ <barrio/index>",
                    "Python <docs/reference/python>",
                    *sections[3:],
                    "Examples <examples/index>",
                ]
            )
            + toctree(others)
        )
        tutorials = "".join(
            f"- {{doc}}`{name}`\n" for name in sorted(self.pages_in("docs/tutorial"))
        )
        self.write(
            "docs/tutorial/README.md",
            "# Tutorials\n\n" + tutorials + toctree(sorted(self.pages_in("docs/tutorial"))),
        )

    def add_headers(self, by_file: dict[str, list[headers.Entity]]) -> None:
        writer = headers.Writer(headers.ids(by_file.values()))
        for header in self.public:
            purpose = re.search(
                r"^/// @file (.+)$", (self.source / header).read_text(), re.MULTILINE
            )
            self.write(
                self.place_of(header),
                writer.page(header, purpose[1] if purpose else "", by_file.get(header, [])),
            )
        for room in self.rooms:
            name = f"barrio/{room}/README.md"
            text = (
                self.with_links(name, (self.source / name).read_text())
                if name in self.files
                else f"# {room}\n"
            )
            of_room = [
                header for header in self.public if os.path.dirname(header) == f"barrio/{room}"
            ]
            rows = "".join(
                f"| [{pathlib.PurePath(header).name}]({pathlib.PurePath(header).stem}.md) | {self.purpose(header)} |\n"
                for header in of_room
            )
            text += f"\n## Headers\n\n| header | purpose |\n|---|---|\n{rows}"
            self.write(name, text + toctree([pathlib.PurePath(header).stem for header in of_room]))
        umbrellas = [
            pathlib.PurePath(header).stem for header in self.public if header.count("/") == 1
        ]
        lines = "".join(f"- [{room}]({room}/README.md)\n" for room in self.rooms)
        whole = "".join(f"- [{name}.hpp]({name}.md)\n" for name in umbrellas)
        self.write(
            "barrio/index.md",
            "# C++\n\nOne folder, namespace and CMake target for each room; the page of a header has all "
            f"that it declares, in its order.\n\n{lines}\nHeaders that include whole rooms:\n\n{whole}"
            + toctree([f"{room}/README" for room in self.rooms] + umbrellas),
        )

    def purpose(self, header: str) -> str:
        found = re.search(r"^/// @file (.+)$", (self.source / header).read_text(), re.MULTILINE)
        return found[1].replace("|", "\\|") if found else ""

    def add_examples(self) -> None:
        for folder in self.examples:
            text = f"# {os.path.basename(folder)}\n"
            for name in sorted(name for name in self.files if os.path.dirname(name) == folder):
                suffix = pathlib.PurePath(name).suffix
                if suffix not in LANGUAGES or name.endswith("CMakeLists.txt"):
                    continue
                code = (self.source / name).read_text()
                text += f"\n## {os.path.basename(name)}\n\n~~~~~{LANGUAGES[suffix]}\n{code}~~~~~\n"
            self.write(f"{folder}/index.md", text)
        lines = "".join(
            f"- [{os.path.basename(name)}]({os.path.basename(name)}/index.md)\n"
            for name in self.examples
        )
        self.write(
            "examples/index.md",
            "# Examples\n\nPrograms that are built and run by the tests.\n\n"
            + lines
            + toctree([f"{os.path.basename(name)}/index" for name in self.examples]),
        )


def toctree(entries: list[str]) -> str:
    return "\n```{toctree}\n:hidden:\n\n" + "\n".join(entries) + "\n```\n"
