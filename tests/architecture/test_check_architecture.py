"""check_architecture.py must find each kind of fault: every case is a small tree with one fault."""

from __future__ import annotations

import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).with_name("check_architecture.py")
EDGES = ["base:", "mpi: base", "mesh: base mpi", "files: base", "apps: base mpi mesh files"]
SOUND = {
    "barrio/base/id.hpp": "#include <vector>\n",
    "barrio/mpi/comm.hpp": '#include "barrio/base/id.hpp"\n',
    "barrio/mpi/comm.cpp": '#include "barrio/mpi/comm.hpp"\n#include <mpi.h>\n',
    "barrio/mesh/mesh.hpp": '#include "barrio/mpi/comm.hpp"\n',
    "barrio/files/slab.hpp": '#include "barrio/base/id.hpp"\n',
    "barrio/barrio.hpp": '#include "barrio/mesh/mesh.hpp"\n#include "barrio/files/slab.hpp"\n',
    "apps/info.cpp": '#include "apps/info.hpp"\n#include "barrio/barrio.hpp"\n#include "barrio/files/slab.hpp"\n',
    "apps/info.hpp": "",
}


def check(changes: dict[str, str], edges: list[str] | None = None) -> tuple[bool, str]:
    """Run the script on the sound tree, with some files added or replaced."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in {**SOUND, **changes}.items():
            path = pathlib.Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        done = subprocess.run(
            [sys.executable, SCRIPT, "--source", folder, "--edges", *(edges or EDGES)],
            capture_output=True,
            text=True,
            check=False,
        )
    return done.returncode == 0, done.stdout + done.stderr


class CheckArchitecture(unittest.TestCase):
    def assert_refused(
        self, reason: str, changes: dict[str, str], edges: list[str] | None = None
    ) -> None:
        passed, output = check(changes, edges)
        self.assertIn(reason, output)
        self.assertFalse(passed, output)

    def test_a_sound_tree_passes(self) -> None:
        passed, output = check({})
        self.assertTrue(passed, output)
        self.assertIn("9 includes between files of barrio, 0 faults", output)

    def test_an_edge_that_is_not_allowed(self) -> None:
        for include in (
            '#include "barrio/mesh/mesh.hpp"',
            "#include <barrio/mesh/mesh.hpp>",
            '  #  include "barrio/mesh/mesh.hpp"',
            '#include "../mesh/mesh.hpp"',
            '#include "barrio/mpi/../mesh/mesh.hpp"',
        ):
            with self.subTest(include):
                self.assert_refused(
                    "barrio/files/more.cpp:2: 'files' may not include 'mesh' (barrio/mesh/mesh.hpp)",
                    {"barrio/files/more.cpp": "// one line\n" + include + "\n"},
                )

    def test_an_edge_upward_between_folders_in_a_room(self) -> None:
        self.assert_refused(
            "barrio/base/detail/x.hpp:1: 'base' may not include 'mpi'",
            {"barrio/base/detail/x.hpp": '#include "barrio/mpi/comm.cpp"\n'},
        )

    def test_a_room_that_includes_the_command_line(self) -> None:
        self.assert_refused(
            "'mesh' may not include 'apps'", {"barrio/mesh/more.cpp": '#include "apps/info.hpp"\n'}
        )

    def test_python_is_held_to_its_list(self) -> None:
        self.assert_refused(
            "python/src/core.cpp:1: 'python' may not include 'mesh'",
            {"python/src/core.cpp": '#include "barrio/mesh/mesh.hpp"\n'},
            [*EDGES, "python: base"],
        )

    def test_a_room_that_includes_the_umbrella(self) -> None:
        self.assert_refused(
            "'files' includes the umbrella header barrio/barrio.hpp",
            {"barrio/files/more.cpp": '#include "barrio/barrio.hpp"\n'},
        )

    def test_a_circle_between_files_of_one_room(self) -> None:
        self.assert_refused(
            "files include in a circle: ",
            {
                "barrio/base/a.hpp": '#include "barrio/base/b.hpp"\n',
                "barrio/base/b.hpp": '#include "c.hpp"\n',
                "barrio/base/c.hpp": '#include "barrio/base/a.hpp"\n',
            },
        )
        self.assert_refused(
            "circle: barrio/base/a.hpp -> barrio/base/a.hpp",
            {"barrio/base/a.hpp": '#include "barrio/base/a.hpp"\n'},
        )

    def test_what_is_private_to_another_room(self) -> None:
        for folder in ("detail", "rounds"):
            self.assert_refused(
                f"'mesh' includes barrio/mpi/{folder}/x.hpp, which is private to 'mpi'",
                {
                    f"barrio/mpi/{folder}/x.hpp": "",
                    "barrio/mesh/more.cpp": f'#include "barrio/mpi/{folder}/x.hpp"\n',
                },
            )
        for name, shown in (
            ("mpi::detail::f()", "mpi::detail"),
            ("::barrio::detail::f()", "barrio::detail"),
        ):
            self.assert_refused(
                f"barrio/mesh/more.cpp:2: 'mesh' names {shown}, which is private",
                {"barrio/mesh/more.cpp": f"// mpi::detail\nint i = {name};\n"},
            )

    def test_a_public_header_that_includes_a_private_one(self) -> None:
        for public in ("barrio/mpi/y.hpp", "barrio/mpi/detail/y.hpp"):
            self.assert_refused(
                f"{public}:1: a public header includes barrio/mpi/rounds/x.hpp, which is private",
                {"barrio/mpi/rounds/x.hpp": "", public: '#include "barrio/mpi/rounds/x.hpp"\n'},
            )

    def test_what_a_room_may_do_with_its_own(self) -> None:
        passed, output = check(
            {
                "barrio/mpi/detail/x.hpp": "",
                "barrio/mpi/y.hpp": '#include "barrio/mpi/detail/x.hpp"\nint i = mpi::detail::f();\n',
                "barrio/mpi/rounds/z.hpp": '#include "barrio/mpi/detail/x.hpp"\n',
                "barrio/mpi/rounds/y.cpp": '#include "barrio/mpi/y.hpp"\n#include "barrio/mpi/rounds/z.hpp"\n',
                "barrio/mpi/routed/y.cpp": '#include "barrio/mpi/rounds/z.hpp"\n',
            }
        )
        self.assertTrue(passed, output)

    def test_a_circle_between_folders(self) -> None:
        self.assert_refused(
            "folders include each other in a circle: mpi/a -> mpi/b -> mpi/a",
            {
                "barrio/mpi/a/x.hpp": "",
                "barrio/mpi/b/x.hpp": "",
                "barrio/mpi/a/x.cpp": '#include "barrio/mpi/b/x.hpp"\n',
                "barrio/mpi/b/x.cpp": '#include "barrio/mpi/a/x.hpp"\n',
            },
        )

    def test_a_folder_with_too_many_files(self) -> None:
        for folder in (
            "barrio/mpi/a",
            "apps/amr",
            "python/barrio/report",
            "benchmarks/mesh",
            "tests/cli",
        ):
            self.assert_refused(
                f"{folder}/ holds 31 files, more than 30",
                {f"{folder}/{i}.py": "" for i in range(31)},
            )

    def test_a_function_with_too_many_lines(self) -> None:
        body = "  call();\n" * 99
        for head in (
            "int f(int a) {\n",
            "template <class T>\nvoid f(T&& a,\n  int b) noexcept {\n",
            "struct S {\n  int i = 0;\n  int f() const {\n",
            "namespace {\nS::S(int a)\n  : a_(a) {\n",
        ):
            text = (
                head
                + body
                + "}\n"
                + "};\n" * head.startswith("struct")
                + "}\n" * head.startswith("name")
            )
            self.assert_refused("a function has ", {"barrio/mpi/long.cpp": text})
            short = text.replace("  call();\n", "", 3)
            passed, output = check({"barrio/mpi/long.cpp": short})
            self.assertTrue(passed, output)
        many = "namespace a {\n" + 'void f() { // }\n  if (b) {\n    c("}");\n  }\n}\n' * 50 + "}\n"
        passed, output = check({"barrio/mpi/many.cpp": many})
        self.assertTrue(passed, output)

    def test_an_umbrella_that_misses_a_header(self) -> None:
        self.assert_refused(
            "barrio/mpi.hpp does not include barrio/mpi/more.hpp",
            {"barrio/mpi/more.hpp": "", "barrio/mpi.hpp": '#include "barrio/mpi/comm.hpp"\n'},
        )

    def test_a_room_that_is_not_in_the_list(self) -> None:
        self.assert_refused(
            "barrio/attic/ is not in the list of rooms", {"barrio/attic/readme.txt": "old"}
        )

    def test_a_file_that_does_not_exist(self) -> None:
        self.assert_refused(
            "includes barrio/base/gone.hpp, which does not exist",
            {"barrio/mpi/more.cpp": '#include "barrio/base/gone.hpp"\n'},
        )

    def test_a_list_with_faults(self) -> None:
        self.assert_refused(
            "the list has a circle: base -> mpi -> base", {}, ["base: mpi", *EDGES[1:]]
        )
        self.assert_refused(
            "the list lets 'base' include 'attic', which is no room",
            {},
            ["base: attic", *EDGES[1:]],
        )
        self.assert_refused("is not 'room: rooms it may include'", {}, ["base"])

    def test_a_tree_without_includes(self) -> None:
        self.assert_refused("no include was found", {name: "" for name in SOUND})

    def test_comments_are_not_includes(self) -> None:
        passed, output = check(
            {
                "barrio/files/more.cpp": '// #include "barrio/mesh/mesh.hpp"\n'
                '/*\n#include "barrio/mesh/mesh.hpp"\n*/\n'
            }
        )
        self.assertTrue(passed, output)


if __name__ == "__main__":
    unittest.main()
