"""Which public entities have no doc comment, and what their pages say, from Doxygen's XML: python3 test_docs.py"""

import sys
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "docs" / "site"))

import headers  # noqa: E402
import python_page  # noqa: E402


def member(kind: str, name: str, line: int, text: str = "", more: str = "") -> str:
    return (
        f'<memberdef kind="{kind}" id="id_{name}_{line}" prot="public"><name>{name}</name>{more}'
        f"<briefdescription>{f'<para>{text}</para>' if text else ''}</briefdescription>"
        f'<detaileddescription/><location file="barrio/room/x.hpp" line="{line}"/></memberdef>'
    )


def compound(kind: str, name: str, line: int, inside: str, text: str = "") -> str:
    return (
        f'<doxygen><compounddef kind="{kind}" id="id_{name.replace("::", "_")}"><compoundname>{name}</compoundname>'
        f"{inside}<briefdescription>{f'<para>{text}</para>' if text else ''}</briefdescription>"
        f'<detaileddescription/><location file="barrio/room/x.hpp" line="{line}"/></compounddef></doxygen>'
    )


VALUES = "".join(
    f"<enumvalue><name>{name}</name><briefdescription>{text}</briefdescription><detaileddescription/></enumvalue>"
    for name, text in (("told", "<para>said</para>"), ("untold", ""))
)
ROOM = compound(
    "namespace",
    "barrio::room",
    1,
    member(
        "function",
        "said",
        20,
        "Return <computeroutput>n</computeroutput> * 2.",
        "<type>int</type><argsstring>(int n)</argsstring>",
    )
    + member("function", "unsaid", 21, "", "<type>void</type><argsstring>()</argsstring>")
    + member(
        "function", "operator==", 22, "", "<type>bool</type><argsstring>(Box, Box)</argsstring>"
    )
    + member("enum", "Kind", 23, "Kinds.", VALUES),
)
BOX = compound(
    "struct",
    "barrio::room::Box",
    5,
    member("variable", "size", 6, "model units", "<type>double</type>")
    + member("variable", "count", 7, "", "<type>int</type>")
    + member("function", "Box", 8, "", "<argsstring>(Box &amp;&amp;) noexcept</argsstring>"),
    "A box.",
)
HIDDEN = compound("struct", "barrio::room::detail::Part", 30, member("variable", "n", 31))


class Docs(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        for name, text in (("a.xml", ROOM), ("b.xml", BOX), ("c.xml", HIDDEN)):
            (Path(folder.name) / name).write_text(text)
        self.by_file = headers.read(Path(folder.name))

    def test_those_without_text_are_named(self) -> None:
        found = headers.without_text(self.by_file["barrio/room/x.hpp"])
        self.assertEqual(
            found,
            [
                "barrio/room/x.hpp:7: barrio::room::Box::count has no doc comment",
                "barrio/room/x.hpp:21: barrio::room::unsaid has no doc comment",
                "barrio/room/x.hpp:23: Kind::untold has no doc comment",
            ],
        )
        self.assertEqual(headers.count(self.by_file["barrio/room/x.hpp"]), 8)

    def test_a_page_has_them_in_the_order_of_the_header(self) -> None:
        entities = self.by_file["barrio/room/x.hpp"]
        page = headers.Writer(headers.ids(self.by_file.values())).page(
            "barrio/room/x.hpp", "For tests.", entities
        )
        places = [
            page.index(text)
            for text in ("{cpp:struct} Box", "double size", "int said(int n)", "{cpp:enum} Kind")
        ]
        self.assertEqual(places, sorted(places))
        self.assertIn("Return `n` \\* 2.", page)
        self.assertNotIn("operator", page)

    def test_python(self) -> None:
        text = "## Mesh\n\nA mesh.\n\n- `Mesh(comm: Comm)`\n- `n: int`\n- `close() -> None`: Close it.\n"
        self.assertEqual(
            python_page.without_text(text),
            ["docs/reference/python.md: Mesh.n: int has no docstring"],
        )
        self.assertIn(
            ":::{py:method} barrio.Mesh.close() -> None", python_page.with_directives(text)
        )


if __name__ == "__main__":
    unittest.main()
