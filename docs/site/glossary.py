"""Extension of Sphinx: words of the glossary lead to it, at their first use on a page."""

from __future__ import annotations

import re

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

PAGE = "docs/reference/glossary"
# Sections of the glossary whose words a page uses; a word means what the first of them says.
SECTIONS = {
    "exchange": ("Messages",),
    "mpi": ("Messages",),
    "rankmap": ("Messages",),
    "mobile": ("Mobile objects", "Messages"),
    "adapt": ("Adaptation", "Meshes"),
    "amr": ("Structured AMR",),
    "cases": ("Structured AMR",),
    "delaunay": ("Triangulation",),
    "mesh": ("Meshes",),
    "io": ("Meshes",),
    "partition": ("Meshes",),
}
# Words that a page uses in their common sense too.
COMMON = set(
    [
        "agent",
        "anchor",
        "audit",
        "block",
        "candidate",
        "claim",
        "compact",
        "contested",
        "copy",
        "entity",
        "field",
        "frozen",
        "hole",
        "home",
        "interface",
        "interior",
        "key",
        "level",
        "listed",
        "marker",
        "neighbour",
        "net",
        "object",
        "operator",
        "origin",
        "owner",
        "parent",
        "part",
        "pass",
        "piece",
        "place",
        "reader",
        "region",
        "ring",
        "row",
        "run",
        "seat",
        "segment",
        "set",
        "side",
        "slot",
        "stage",
        "star",
        "tag",
        "wire",
    ]
)


def words_of(text: str) -> dict[str, dict[str, str]]:
    """Return the anchor of each word, by section."""
    found: dict[str, dict[str, str]] = {}
    section = ""
    for line in text.splitlines():
        if line.startswith("## "):
            section = line[3:]
        row = re.match(r"\| ([^|]+) \| ", line)
        if row and row[1] != "word":
            for word in row[1].split(", "):
                found.setdefault(section, {})[word] = anchor(section, word)
    return found


def anchor(section: str, word: str) -> str:
    return "word-" + re.sub(r"\W+", "-", f"{section} {word}".lower())


class LinkWords(SphinxPostTransform):
    default_priority = 400

    def run(self, **kwargs: object) -> None:
        name = self.env.docname
        if name == PAGE or "decisions" in name:
            return
        path = name.split("/")
        room = path[1] if path[0] == "barrio" and len(path) > 2 else ""
        sections = ("Every room", *SECTIONS.get(room, ()))
        words = {}
        for section in reversed(sections):
            words |= self.config.barrio_words.get(section, {})
        words = {word: target for word, target in words.items() if word not in COMMON}
        if not words:
            return
        pattern = re.compile(
            r"\b(" + "|".join(sorted(map(re.escape, words), key=len, reverse=True)) + r")(e?s)?\b",
            re.IGNORECASE,
        )
        for node in list(self.document.findall(nodes.Text)):
            inside = node.parent
            if not isinstance(inside, nodes.paragraph):
                continue
            parts: list[nodes.Node] = []
            text, at = node.astext(), 0
            for match in pattern.finditer(text):
                word = match[1].lower()
                if word not in words:
                    continue
                target = words.pop(word)
                uri = self.app.builder.get_relative_uri(name, PAGE) + "#" + target
                parts += [
                    nodes.Text(text[at : match.start()]),
                    nodes.reference(
                        match[0], match[0], refuri=uri, internal=True, classes=["word"]
                    ),
                ]
                at = match.end()
            if parts:
                inside.replace(node, [*parts, nodes.Text(text[at:])])


def add_anchors(app: Sphinx, name: str, source: list[str]) -> None:
    """Give each row of the glossary an anchor."""
    if name != PAGE:
        return
    section, lines = "", []
    for line in source[0].splitlines():
        if line.startswith("## "):
            section = line[3:]
        row = re.match(r"\| ([^|]+) \| ", line)
        if row and row[1] != "word":
            spans = "".join(
                f'<span id="{anchor(section, word)}"></span>' for word in row[1].split(", ")
            )
            line = f"| {spans}{line[2:]}"
        lines.append(line)
    source[0] = "\n".join(lines) + "\n"


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_config_value("barrio_words", {}, "env")
    app.add_post_transform(LinkWords)
    app.connect("source-read", add_anchors)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
