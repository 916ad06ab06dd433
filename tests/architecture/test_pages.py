"""The make targets that a page names build each program that the page runs."""

import re
import unittest

import pages
from pages import SOURCE

COMMENT = re.compile(r"(^|\s)#.*$")


def programs_of_folder(folder: str) -> set[str]:
    """Find the names of the programs that the CMake files of a folder build."""
    names = set()
    for path in sorted((SOURCE / folder).glob("*/CMakeLists.txt")):
        text = path.read_text()
        for name in re.findall(r"add_executable\((\S+)", text):
            renamed = re.search(rf"set_target_properties\({name} [^)]*OUTPUT_NAME (\S+?)\)", text)
            if name == "${program}":
                listed = re.search(r"foreach\(program IN ITEMS ([^)]*)\)", text)
                names |= set(listed[1].split()) if listed else set()
            else:
                names.add(renamed[1] if renamed else name)
    return names


def groups() -> dict[str, set[str]]:
    """Return the programs of each group of the top CMakeLists.txt."""
    text = (SOURCE / "CMakeLists.txt").read_text()
    demo = re.search(r"barrio_add_group\(barrio-demo ([^)]*)\)", text)
    more = re.search(r"barrio_add_group\(barrio-demo-more barrio-demo ([^)]*)\)", text)
    named = {word.replace("barrio_command", "barrio") for word in demo[1].split()}
    return {
        "barrio-demo-first": {"follow"},
        "barrio-demo": named,
        "barrio-demo-more": named | set(more[1].split()),
        "barrio-examples": {"barrio"} | programs_of_folder("examples"),
        "barrio-benchmarks": {"barrio"} | programs_of_folder("benchmarks"),
        "barrio-install": {"barrio"} | {p for p in programs_of_folder("benchmarks")},
    }


def built_by_make() -> dict[str, set[str]]:
    """Return the programs that each target of make builds."""
    built = {}
    known = groups()
    everything = set().union(*known.values())
    for rule in re.split(r"\n(?=[a-z-]+:)", (SOURCE / "Makefile").read_text()):
        target = rule.split(":")[0]
        for line in re.findall(r"\$\(call build,release\)(.*)", rule):
            names = re.findall(r"barrio-[\w-]+", line)
            built[target] = set().union(*(known[n] for n in names)) if names else everything
    return built


def programs_in(command: str, known: set[str]) -> set[str]:
    """Find the programs of barrio that a command line starts."""
    words = COMMENT.sub("", command).split()
    found = {
        name for word in words if (name := word.rsplit("/", 1)[-1]) in known and "." not in name
    }
    plain = [word for word in words if not word.startswith("-") and not word.isdigit()]
    for first, second in zip(plain, plain[1:], strict=False):
        if first == "bench":
            found.add(f"barrio-bench-{second}")
    return found


def programs_of(text: str, known: set[str]) -> set[str]:
    """Find the programs that a page runs: in shell blocks, and, except barrio itself, in running text."""
    commands = [
        c for block in pages.blocks(text) for c in block.commands if not pages.LEFT_OUT.match(c)
    ]
    own = {name for c in commands for name in re.findall(r"^mpi\S+ .*-o (\S+)", c)}
    found = set().union(*(programs_in(command, known) for command in commands), set())
    found |= set().union(
        *(programs_in(span, known) - {"barrio"} for span in pages.spans(text)), set()
    )
    return found - own


class Pages(unittest.TestCase):
    def test_what_is_run_is_built(self) -> None:
        built = built_by_make()
        known = set().union(*built.values())
        n_programs = 0
        for page in pages.pages():
            text = pages.text_of(page)
            wanted = programs_of(text, known)
            has = set().union(
                *(built.get(target, set()) for target in pages.make_targets(text)), set()
            )
            if re.search(r"^cmake --build build( |$)", text, re.MULTILINE):
                has |= known
            n_programs += len(wanted)
            with self.subTest(page):
                self.assertEqual(
                    sorted(wanted - has),
                    [],
                    f"{page} runs what none of its 'make' targets builds: {pages.make_targets(text)}",
                )
        self.assertGreater(n_programs, 20)

    def test_it_says_so_first(self) -> None:
        built = built_by_make()
        known = set().union(*built.values())
        for page in pages.pages():
            text = pages.text_of(page)
            begins = [
                text.index(command)
                for block in pages.blocks(text)
                for command in block.commands
                if programs_in(command, known) and not pages.LEFT_OUT.match(command)
            ]
            if not begins:
                continue
            with self.subTest(page):
                first = re.search(
                    r"make (demo|examples|bench|all|install)\b|cmake --build build ", text
                )
                self.assertIsNotNone(first, f"{page} does not say how to build")
                self.assertLessEqual(first.start(), min(begins))

    def test_they_write_below_build(self) -> None:
        n_files = 0
        for page in pages.pages():
            if page in pages.NOT_RUN:
                continue
            with self.subTest(page):
                written = pages.outputs_of(pages.text_of(page))
                n_files += len(written)
                among = [path for path in written if not path.startswith(("build/", "$PWD/build/"))]
                self.assertEqual(among, [], f"{page} writes among the sources")
        self.assertGreater(n_files, 30)
        text = "```sh\na -o b.h5m --result c.json  # -o d\nmkdir -p build/x && cd build/x\nexec e f.png -o g\n```\n"
        self.assertEqual(pages.outputs_of(text), ["b.h5m", "c.json", "build/x/g", "build/x/f.png"])

    def test_targets_exist(self) -> None:
        known = set(re.findall(r"^([a-z-]+):", (SOURCE / "Makefile").read_text(), re.MULTILINE))
        for page in pages.pages():
            with self.subTest(page):
                named = re.findall(r"`make ([a-z-]+)", pages.text_of(page))
                self.assertEqual(sorted(set(named) - known), [])

    def test_looks_right(self) -> None:
        built = built_by_make()
        self.assertIn("heat", built["demo"])
        self.assertIn("solver", built["examples"])
        self.assertIn("halo", built["examples"])
        self.assertNotIn("halo", built["demo"])
        self.assertIn("barrio-bench-mesh", built["bench"])
        known = set().union(*built.values())
        line = "PATH=x build/release/bin/barrio --ranks 2 exec ./solver a.h5m # halo"
        self.assertEqual(programs_in(line, known), {"barrio", "solver"})
        self.assertEqual(
            programs_in("barrio --ranks 2 bench mesh --folder /tmp", known),
            {"barrio", "barrio-bench-mesh"},
        )
        text = "Write `a.py`:\n\n```python\nx\n```\n\n```\n$ b \\\n  c\nout\n```\n"
        self.assertEqual(
            pages.blocks(text),
            [pages.Block(path="a.py", text="x\n"), pages.Block(commands=("b    c",))],
        )


class Architecture(unittest.TestCase):
    """Statements on files are true, on the architecture page and the pages of the rooms."""

    def test_what_it_names_is_there(self) -> None:
        listed = [
            SOURCE / "docs/explanation/architecture.md",
            *sorted((SOURCE / "barrio").glob("*/README.md")),
        ]
        self.assertGreater(len(listed), 4)
        n_names = 0
        for page in listed:
            for line in page.read_text().splitlines():
                named = re.findall(r"`((?:barrio|tests|cmake|docs|benchmarks)/[\w./]+)`", line)
                for path in named:
                    self.assertTrue((SOURCE / path).exists(), f"{page.name}: {path}")
                if not line.startswith("|") or not any("." in path for path in named):
                    continue
                texts = "".join((SOURCE / p).read_text() for p in named if (SOURCE / p).is_file())
                texts = re.sub(r"^#include .*$", "", texts, flags=re.MULTILINE)
                where = line.rsplit("|", 2)[1] if line.count("|") == 3 else line.rsplit("|", 3)[2]
                for name in re.findall(r"`([A-Za-z_]+(?:::\w+)?)`", where):
                    n_names += 1
                    short = name.split("::")[-1]
                    self.assertTrue(
                        re.search(rf"\b{short}\b", texts), f"{page.name}: {name} in {named}"
                    )
        self.assertGreater(n_names, 30)

    def test_folders_of_big_rooms_are_told_of(self) -> None:
        for page in sorted((SOURCE / "barrio").glob("*/README.md")):
            told = set(re.findall(r"`(\w+)/`", page.read_text()))
            there = {p.name for p in page.parent.iterdir() if p.is_dir()}
            self.assertEqual(told, there, page.parent.name)


if __name__ == "__main__":
    unittest.main()
