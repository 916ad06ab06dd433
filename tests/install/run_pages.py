"""Follow the pages of the documentation in a clean clone of the tree: make targets, then the commands literally.

    run_pages.py [--keep] [PAGE...]

System packages are the installed ones; the Python environment is that of the tree. Pages share one build, in the order
of their targets.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "tests" / "architecture"))
import pages  # noqa: E402

ORDER = ["demo", "examples", "bench", "install"]  # later pages use builds of earlier ones
OF_THE_CALLER = ("PYTHONPATH", "PREFIX", "MAKEFLAGS", "MAKELEVEL", "MFLAGS")
THE_END = "the page ends here"
MAKE_LIMIT, PAGE_LIMIT = 3000, 600


def environment(clone: Path) -> dict[str, str]:
    mine = {name: value for name, value in os.environ.items() if name not in OF_THE_CALLER}
    as_root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    return {
        **mine,
        **as_root,
        "BARRIO": str(clone),  # as python/README calls it
        "BARRIO_SKIP_INSTALL": "1",
        "BARRIO_PROFILE": str(clone / "build" / "profiles.json"),
    }


def link_python(clone: Path) -> None:
    """Give the clone the tree's Python environment, with the stamps that tools/setup checks."""
    original, mine = SOURCE / "build" / "venv", clone / "build" / "venv"
    mine.mkdir(parents=True)
    for entry in original.iterdir():
        if not entry.name.startswith("."):
            (mine / entry.name).symlink_to(entry.resolve())
    python = subprocess.run(
        ["/usr/bin/python3", "-V"], capture_output=True, text=True
    ).stdout.strip()
    requirements = (clone / "python" / "requirements.txt").read_bytes()
    (mine / ".identity").write_text(f"{clone} {python}")
    (mine / ".python").write_text(f"{clone} {python} {hashlib.sha256(requirements).hexdigest()}  -")


def script_of(page: str) -> str:
    """Return everything that a page writes and runs, as one shell session."""
    lines = ["set -eo pipefail"]
    text = (SOURCE / page).read_text()
    if "$BARRIO/" in text:
        lines.append("mkdir -p build/mine && cd build/mine")  # a folder of the reader's own
    for block in pages.blocks(text):
        if block.path:
            if "/" in block.path:
                lines.append(f"mkdir -p {Path(block.path).parent}")
            lines += [f"cat > {block.path} <<'END_OF_FILE'", block.text + "END_OF_FILE"]
        for command in block.commands:
            if not pages.LEFT_OUT.match(command) and not command.startswith("make "):
                lines += [f"echo {shell_word('$ ' + command)}", command]
    return "\n".join([*lines, f"echo {THE_END}"]) + "\n"


def shell_word(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def make_lines(page: str) -> list[str]:
    """Return the page's build commands, each target once: as in a block with its variables, else `make TARGET`."""
    text = (SOURCE / page).read_text()
    written = [c.split("#")[0].strip() for block in pages.blocks(text) for c in block.commands]
    lines = []
    for target in pages.make_targets(text):
        full = [line for line in written if line.startswith(f"make {target}")]
        lines += full or [f"make {target}"]
    return [line for line in lines if line.split()[1] in ORDER]


def runnable() -> list[str]:
    """List the pages with commands to run, in order of their needs."""
    found = [
        page
        for page in pages.pages()
        if page not in pages.NOT_RUN
        and any(block.commands for block in pages.blocks((SOURCE / page).read_text()))
    ]
    return sorted(
        found,
        key=lambda page: max((ORDER.index(m.split()[1]) for m in make_lines(page)), default=0),
    )


class CleanTree(unittest.TestCase):
    chosen: tuple[str, ...] = ()
    keeps = False

    def run_in(self, clone: Path, words: list[str], limit: float) -> str:
        begin = time.monotonic()
        done = subprocess.run(
            words,
            cwd=clone,
            env=environment(clone),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=limit,
        )
        said = done.stdout[-6000:]
        self.assertEqual(done.returncode, 0, f"{' '.join(words)}\n{said}")
        print(f"    {time.monotonic() - begin:6.1f} s  {' '.join(words)[:80]}", flush=True)
        return said

    def test_pages(self) -> None:
        if not (SOURCE / ".git").exists():
            self.skipTest(f"{SOURCE} is not a git repository, so there is nothing to clone")
        if not (SOURCE / "build" / "venv").exists():
            self.skipTest("build/venv is missing (tools/setup python)")
        folder = Path(tempfile.mkdtemp(prefix="barrio-pages-"))
        if not self.keeps:
            self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        clone = folder / "barrio"
        subprocess.run(["git", "clone", "-q", str(SOURCE), str(clone)], check=True)
        link_python(clone)
        made: set[str] = set()
        for page in self.chosen or runnable():
            with self.subTest(page):
                print(page, flush=True)
                for line in make_lines(page):
                    if line not in made:
                        self.run_in(clone, ["bash", "-c", line], MAKE_LIMIT)
                        made.add(line)
                script = folder / "page.sh"  # not standard input, which launchers read
                script.write_text(script_of(page))
                said = self.run_in(clone, ["bash", str(script)], PAGE_LIMIT)
                self.assertTrue(said.endswith(THE_END + "\n"), said)
                self.expect_clean(clone)

    def expect_clean(self, clone: Path) -> None:
        """Expect that nothing was written among the sources, and let later pages begin without it."""
        status = ["git", "-C", str(clone), "status", "--porcelain"]
        written = subprocess.run(status, capture_output=True, text=True, check=True).stdout
        subprocess.run(["git", "-C", str(clone), "clean", "-fdq"], check=True)
        self.assertEqual(written, "", "the page writes outside of build/")

    def test_enough_pages_are_run(self) -> None:
        self.assertGreaterEqual(len(runnable()), 9, runnable())


if __name__ == "__main__":
    words = sys.argv[1:]
    CleanTree.keeps = "--keep" in words
    CleanTree.chosen = tuple(word for word in words if word != "--keep")
    unittest.main(argv=sys.argv[:1])
