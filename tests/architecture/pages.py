"""Instructions in the documentation: make targets, files to write, commands to run."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

SOURCE = Path(__file__).parents[2]
SHELL = ("", "sh", "bash", "console")
# Pages whose commands need resources that a test lacks.
NOT_RUN = {
    "docs/howto/cluster.md": "the modules and the batch system of a cluster",
    "docs/howto/install.md": "packages and a container, which packaging/try follows in fresh systems",
    "docs/howto/code-you-cannot-change.md": "four hosts; tests/rankmap/delivery makes some up",
}
# Commands that a clean tree has already run, or that download.
LEFT_OUT = re.compile(r"apt-get |git clone |make check|(\S*=\S* )?\S*pip install ")
_OUTPUT_OPTIONS = (" -o", "--result", "--traffic", "--trace")
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A code block of a page: a file to write (`path`), or shell commands."""

    commands: tuple[str, ...] = ()
    path: str = ""
    text: str = ""


def pages() -> list[str]:
    """List the pages that people follow: without decisions, which are history, and the generated command page."""
    found = ["README.md", "python/README.md", "data/README.md"]
    for folder in ("tutorial", "howto", "explanation", "reference"):
        found += sorted(str(p.relative_to(SOURCE)) for p in (SOURCE / "docs" / folder).glob("*.md"))
    return [page for page in found if page != "docs/reference/command.md"]


def text_of(page: str) -> str:
    return (SOURCE / page).read_text()


def make_targets(text: str) -> list[str]:
    """Find targets that a page names as `make TARGET` in code, in order. Skips targets that only test."""
    named = [(m.start(), m[1]) for m in re.finditer(r"`make ([a-z-]+)[^`\n]*`", text)]
    named += [(m.start(), m[1]) for m in re.finditer(r"^make ([a-z-]+)", text, re.MULTILINE)]
    ordered = [target for _, target in sorted(named)]
    return [target for target in dict.fromkeys(ordered) if not target.startswith("check")]


def commands_of(text: str) -> tuple[str, ...]:
    """Extract the commands of a block. If some lines start with `$`, all other lines are output."""
    text = text.replace("\\\n", " ")
    lines = text.splitlines()
    if any(line.startswith("$ ") for line in lines):
        lines = [line[2:] for line in lines if line.startswith("$ ")]
    return tuple(line for line in lines if line.strip() and not line.lstrip().startswith("#"))


def blocks(text: str) -> list[Block]:
    found = []
    for match in _FENCE.finditer(text):
        language, body = match.groups()
        if language in SHELL:
            found.append(Block(commands=commands_of(body)))
            continue
        before = text[: match.start()].rstrip().rsplit("\n\n", 1)[-1]
        named = re.search(r"[Ww]rite `([\w/.]+)`[^`]*:$|`([\w/.]+\.\w+)`:$", before)
        if named:
            found.append(Block(path=named[1] or named[2], text=body))
    return found


def outputs_of(text: str) -> list[str]:
    """Find the files that a page writes, by its blocks and the options of its commands, relative to the source folder."""
    folder = "build/mine/" if "$BARRIO/" in text else ""  # a folder of the reader's own
    found = []
    for block in blocks(text):
        if block.path:
            found.append(folder + block.path)
        for command in block.commands:
            entered = re.search(r"(?:^|&& *)cd (\S+)", command)
            if entered and not LEFT_OUT.match(command):
                folder += entered[1] + "/"
            words = command.split("#")[0]
            named = re.findall(rf"(?:{'|'.join(_OUTPUT_OPTIONS)})[ =](\S+)", words)
            if re.search(r"\bexec \S", words):
                named += re.findall(r"(?<= )[^-\s]\S*\.(?:vtkhdf|png|pgm)", words)
            found += [name if name.startswith("/") else folder + name for name in named]
    return found


def spans(text: str) -> list[str]:
    """Find commands in running text."""
    return re.findall(
        r"`((?:barrio|mpiexec|mpirun|build/release/bin/\w+) [^`\n]+)`", _FENCE.sub("", text)
    )
