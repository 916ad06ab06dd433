"""Bad files and bad output paths on BARRIO_RANKS ranks: one message, the right exit code, in time, and no lost file.

Every case runs `barrio partition BAD -o OUT` over an old OUT: this command reads, checks and would write.
"""

import os
import shutil
import stat
import unittest
from collections.abc import Callable
from pathlib import Path

from barrio_case import (
    HEAT,
    IS_QUICK,
    MPIEXEC,
    OLD,
    RANKS,
    WING,
    Case,
    at_ranks,
    barrio,
    execute,
    tool,
)

HEX = "/tstt/elements/Hex8/connectivity"
CONTENTS = "/tstt/sets/contents"

Damage = Callable[[Path], object]


def cut(share: float) -> Damage:
    return lambda path: os.truncate(path, int(path.stat().st_size * share))


def edit(old: bytes, new: bytes) -> Damage:
    def work(path: Path) -> None:
        text = path.read_bytes()
        assert old in text, old
        path.write_bytes(text.replace(old, new, 1))

    return work


def change(dataset: str, place: int, value: object) -> Damage:
    return lambda path: tool("set", path, dataset, place, value)


def polygons(place: int, value: object) -> Damage:
    def work(path: Path) -> None:
        tool("polygons", path, "/tstt/elements/Quad4")
        tool("set", path, "/tstt/elements/Quad4/poly_indices", place, value)

    return work


# name: (damage to a good file, text in the message). The quick set comes first; tests/io runs all of them in one launch.
H5M: dict[str, tuple[Damage, str]] = {
    "cut_half": (cut(0.5), "is damaged: truncated file"),
    "part_missing": (
        change(CONTENTS, 1, 14),
        "the partition leaves out 1 element(s), the first is element 14",
    ),
    "polygons_far": (polygons(60, 1e15), "/poly_indices: does not ascend"),
    "cut_tenth": (cut(0.1), "is damaged: truncated file"),
    "cut_nine_tenths": (cut(0.9), "is damaged: truncated file"),
    "cut_byte": (
        lambda path: os.truncate(path, path.stat().st_size - 1),
        "is damaged: truncated file",
    ),
    "text": (lambda path: path.write_text("a text, not a mesh\n"), "is not an HDF5 file"),
    "empty": (lambda path: path.write_bytes(b""), "is empty"),
    "zeros": (lambda path: path.write_bytes(bytes(5000)), "is not an HDF5 file"),
    "no_root": (lambda path: tool("remove", path, "/tstt"), "no group /tstt"),
    "no_vertices": (
        lambda path: tool("remove", path, "/tstt/nodes/coordinates"),
        "has no vertex coordinates",
    ),
    "part_twice": (change(CONTENTS, 1, 16), "element 15 (0-based) is in part 0 and in part 1"),
    "vertex_high": (change(HEX, -1, 121), "hex 59 has vertex 120, but there are 120 vertices"),
    "vertex_zero": (change(HEX, 0, 0), "hex 0 has vertex -1"),
    "nan": (
        change("/tstt/nodes/coordinates", -1, "nan"),
        "a coordinate of vertex 119 is not a finite number",
    ),
    "polygons_back": (polygons(47, 5), "/poly_indices: does not ascend"),
    "sets_beyond": (
        change("/tstt/sets/list", -4, 1000000),
        "set 10 points outside the contents of sets",
    ),
    "sets_behind": (change("/tstt/sets/list", 4, -1), "set 1 points outside the contents of sets"),
    "type": (
        lambda path: tool("type", path, "/tstt/elements/Quad4", "Hex"),
        "hex 60 has 4 vertices, but needs at least 8",
    ),
    "polyhedra": (
        lambda path: tool("type", path, "/tstt/elements/Hex8", "Polyhedron"),
        "polyhedron 0 has face 1, but that is not the id of a face",
    ),
}

GMSH: dict[str, tuple[Damage, str]] = {
    "cut_half": (cut(0.5), "ends early"),
    "third_order": (
        edit(b"\n2 1 2 128\n", b"\n2 1 21 128\n"),
        "has elements of Gmsh type 21, which is not supported",
    ),
    "cut_tenth": (cut(0.02), "ends early"),
    "cut_nine_tenths": (cut(0.9), "ends early"),
    "version": (edit(b"4.1 0 8", b"3.0 0 8"), "is of format 3.0; barrio reads 4.1, 2.2 and 1.0"),
    "unknown_node": (
        edit(b"\n1 21 1 46 \n", b"\n1 21 1 460000 \n"),
        "an element has node 460000, which is not in the file",
    ),
    "nan": (
        edit(b"\n0 1 0 1\n1\n0 0 0\n", b"\n0 1 0 1\n1\n0 nan 0\n"),
        "a coordinate of vertex 0 is not a finite number",
    ),
    "twice": (edit(b"\n0 2 0 1\n2\n", b"\n0 2 0 1\n1\n"), "has node 1 twice"),
    "count": (
        edit(b"67 1053 1 1053", b"67 4611686018427387904 1 1053"),
        "a count of 4611686018427387904 makes no sense",
    ),
}


class BadInput(Case):
    good = b""  # a sound box of hexes in 4 parts

    def setUp(self) -> None:
        super().setUp()
        self.box = self.folder / "box.h5m"
        if not BadInput.good:
            self.assert_code(barrio("generate", "box", "-c", 5, 4, 3, "-n", 4, "-o", self.box), 0)
            BadInput.good = self.box.read_bytes()
        self.box.write_bytes(BadInput.good)
        self.out = self.folder / "out.h5m"
        self.out.write_bytes(OLD)

    def expect(self, path: Path, code: int, *texts: str) -> None:
        before = sorted(p.name for p in self.folder.iterdir())
        outcome = at_ranks("partition", path, "-n", 2, "-o", self.out, "--json")
        self.assert_error(outcome, code, *texts)
        self.assertEqual(outcome.json()["schema"], "barrio.error")
        self.assertEqual(outcome.json()["error"]["code"], code)
        self.assertEqual(self.out.read_bytes(), OLD)
        self.assertEqual(
            sorted(p.name for p in self.folder.iterdir()), before, "something was left behind"
        )

    def run_all(self, cases: dict[str, tuple[Damage, str]], good: Path, n_quick: int) -> None:
        for name, (damage, text) in list(cases.items())[: n_quick if IS_QUICK else None]:
            with self.subTest(name):
                bad = self.folder / f"bad_{name}{good.suffix}"
                shutil.copy(good, bad)
                damage(bad)
                self.expect(bad, 3, text)
                bad.unlink()

    def test_the_good_files_are_good(self) -> None:
        for path in (self.box, WING):
            self.assert_code(
                at_ranks("partition", path, "-n", 2, "-o", self.folder / "fine.h5m"), 0
            )

    def test_h5m(self) -> None:
        self.run_all(H5M, self.box, 3)

    def test_gmsh(self) -> None:
        self.run_all(GMSH, WING, 2)

    def test_gmsh_binary(self) -> None:
        good = self.folder / "binary.msh"
        tool("gmsh-binary", WING, good)
        self.assert_code(at_ranks("load", good), 0)
        cuts = (0.02, 0.2, 0.5, 0.7, 0.9, 0.999)
        self.run_all({f"cut_{share}": (cut(share), "ends early") for share in cuts}, good, 1)

    def test_what_is_no_file(self) -> None:
        self.expect(
            self.folder / "missing.h5m", 1, "missing.h5m: cannot be read: No such file or directory"
        )
        near = str(self.box).replace(".h5m", "_.h5m")
        self.expect(Path(near), 1, f"Did you mean '{self.box}'?")
        self.expect(self.folder / "no" / "x.h5m", 1, f"The folder {self.folder}/no does not exist")
        self.expect(self.folder, 1, "is a folder, not a mesh file")
        if not IS_QUICK:
            self.expect(self.box / "below", 1, "cannot be read: Not a directory")
            self.expect(Path("/proc/self/mem"), 1, "/proc/self/mem: cannot be read")

    def test_info_finds_it_too(self) -> None:
        texts = {
            "type": "element 0 has 4 nodes",
            "vertex_high": "element 59 has vertex 121",
            "vertex_zero": "element 0 has vertex 0",
            "twice": "an element has node 2, which is not in the file",
        }
        # Only a load, which reads all tables, can find these faults.
        unseen = {
            "part_missing",
            "part_twice",
            "polygons_far",
            "polygons_back",
            "nan",
            "polyhedra",
            "unknown_node",
        }
        for cases, good in ((H5M, self.box), (GMSH, WING)):
            for name, (damage, text) in cases.items():
                with self.subTest(name):
                    bad = self.folder / f"bad{good.suffix}"
                    shutil.copy(good, bad)
                    damage(bad)
                    outcome = barrio("info", bad)
                    if name in unseen:
                        self.assert_code(outcome, 0)
                    else:
                        self.assert_error(outcome, 3, texts.get(name, text))


class BadPlaces(Case):
    """Output paths that cannot be written."""

    def refuse(
        self, out: Path, *texts: str, words: tuple[object, ...] = ("partition", WING, "-n", 4, "-o")
    ) -> None:
        with self.subTest(str(out)):
            self.assert_error(
                at_ranks(*words, out), 1, str(out), "cannot be written", "remedy: ", *texts
            )

    def test_places(self) -> None:
        (self.folder / "file").write_bytes(OLD)
        self.refuse(self.folder / "missing" / "x.h5m", "the folder")
        if IS_QUICK:
            return
        self.refuse(self.folder / "file" / "x.h5m", "is not a folder")
        self.refuse(Path("/proc/x.h5m"), "No such file or directory")
        (self.folder / "folder.h5m").mkdir()
        self.refuse(self.folder / "folder.h5m", "it is a folder")
        os.mkfifo(self.folder / "pipe.h5m")
        self.refuse(self.folder / "pipe.h5m", "it is a device or a pipe, not a file")
        self.assertTrue(stat.S_ISFIFO((self.folder / "pipe.h5m").stat().st_mode))
        self.refuse(self.folder / "missing" / "x.vtkhdf", words=("convert", WING))
        self.refuse(self.folder / "missing" / "x.json", words=("load", WING, "--traffic"))
        self.refuse(self.folder / "missing" / "x.json", words=("load", WING, "--trace"))
        self.refuse(self.folder / "missing" / "x.vtkhdf", words=("load", WING, "--vtkhdf"))
        self.assertEqual((self.folder / "file").read_bytes(), OLD)
        self.assert_no_leftovers()

    def test_no_rights(self) -> None:
        if os.geteuid() == 0:
            self.skipTest("root may write anywhere")
        place = self.folder / "closed"
        place.mkdir(mode=0o500)
        self.refuse(place / "x.h5m", "Permission denied")

    def test_full_disk(self) -> None:
        with self.small_disk("64k") as disk:
            for name, words in (
                ("x.h5m", ("partition", WING, "-n", 4, "-o")),
                ("x.vtkhdf", ("convert", WING)),
                ("x.meshb", ("convert", WING)),
            ):
                (disk / name).write_bytes(OLD)
                self.refuse(disk / name, "No space left on device", words=words)
                self.assertEqual((disk / name).read_bytes(), OLD)
                self.assert_no_leftovers(disk)
                if IS_QUICK:
                    return

    def test_disk_that_fills_while_time_steps_are_written(self) -> None:
        if not HEAT:
            self.skipTest("the example heat is not built")
        launch = [*MPIEXEC, "-n", RANKS] if RANKS > 1 else []
        with self.small_disk("600k") as disk:
            out = disk / "heat.vtkhdf"
            out.write_bytes(OLD)
            words = [*launch, HEAT, WING, "-o", out, "--frames", 40, "--end-time", 0.01]
            outcome = execute(list(map(str, words)))
            self.assert_error(outcome, 1, "heat.vtkhdf: cannot be written: No space left on device")
            self.assertEqual(out.read_bytes(), OLD)
            self.assert_no_leftovers(disk)

    def test_devices_are_written_not_replaced(self) -> None:
        # Our own device: a fault here must not delete the machine's /dev/full.
        device = self.folder / "full"
        try:
            os.mknod(device, 0o600 | stat.S_IFCHR, os.makedev(1, 7))
            with open(device, "wb", buffering=0) as probe:
                probe.write(b"x")
        except PermissionError as reason:
            self.skipTest(f"no device can be made here: {reason}")
        except OSError:
            pass  # full, as it should be
        traffic = self.folder / "traffic.json"
        self.assert_code(barrio("load", WING, "--traffic", traffic), 0)
        self.assert_error(
            barrio("map", traffic, "--machine", "2x4", "--result", device),
            1,
            "cannot be written: No space left on device",
        )
        self.assertTrue(stat.S_ISCHR(device.stat().st_mode))
        self.assert_no_leftovers()


if __name__ == "__main__":
    unittest.main()
