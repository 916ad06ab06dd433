"""Pages quote code of the examples literally."""

import os
import re
import textwrap
import unittest
from pathlib import Path

SOURCE = Path(os.environ["BARRIO_SOURCE"])
# Pages, and the folder or folders whose files they quote.
QUOTES = {
    "docs/tutorial/first-mesh.md": "examples/01-heat",
    "docs/tutorial/neighbourhood-exchange.md": "examples/02-exchange",
    "docs/tutorial/adaptive-flow.md": "examples/15-amr",
    "docs/tutorial/mobile-objects.md": "examples/17-mobile",
    "docs/howto/objects-that-move.md": "examples/19-uneven",
    "docs/howto/my-mesh-in-my-solver.md": "examples/03-solver",
    "docs/howto/mesh-from-my-arrays.md": "examples/08-arrays",
    "docs/howto/mesh-that-changes.md": "examples/11-change",
    "docs/howto/adapt.md": "examples/13-follow",
    "docs/howto/triangulate.md": "examples/16-triangulate",
    "docs/howto/coast.md": "examples/16-triangulate",
    "docs/howto/boxes-of-cells.md": "examples/14-boxes",
    "docs/howto/write-large.md": "examples/12-stream",
    "docs/howto/messages.md": "examples/09-assembly examples/10-rays",
    "docs/howto/reactor-core.md": "examples/04-lattice",
    "docs/howto/cells-that-move.md": "examples/05-balance",
    "docs/explanation/overlap.md": "benchmarks/strategies",
    "docs/howto/overlap.md": "examples/06-overlap",
}
FENCED = re.compile(r"^```(c|cpp|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def occurs(block: str, text: str) -> bool:
    """Tell whether these lines follow each other in the text, with one common indentation."""
    wanted = textwrap.dedent(block).splitlines()
    lines = text.splitlines()
    return any(
        textwrap.dedent("\n".join(lines[i : i + len(wanted)])).splitlines() == wanted
        for i in range(len(lines) - len(wanted) + 1)
    )


class Quoted(unittest.TestCase):
    def test_pages(self) -> None:
        for page, folders in QUOTES.items():
            files = [
                path.read_text()
                for folder in folders.split()
                for path in sorted((SOURCE / folder).iterdir())
                if path.is_file()
            ]
            blocks = FENCED.findall((SOURCE / page).read_text())
            self.assertGreater(len(blocks), 0, page)
            for _, block in blocks:
                with self.subTest(page=page):
                    self.assertTrue(
                        any(occurs(block, text) for text in files),
                        f"{page} quotes what is in no file of {folders}:\n{block}",
                    )

    def test_finds_what_is_missing(self) -> None:
        text = "a\n  b\n    c\n  d\n"
        self.assertTrue(occurs("b\n  c\n", text))
        self.assertFalse(occurs("b\nc\n", text))
        self.assertFalse(occurs("b\nd\n", text))
        self.assertFalse(occurs("bb\n", text))


if __name__ == "__main__":
    unittest.main()
