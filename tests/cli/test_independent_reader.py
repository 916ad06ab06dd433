"""Decode barrio's .h5m files with h5py, from the layout alone, and compare with the input mesh. Needs h5py."""

import unittest
from collections import Counter

from barrio_case import WING, Case, barrio
from h5m_by_hand import H5m, h5py, why_not

N_PARTS = 5


def gmsh_elements() -> tuple[dict[int, tuple[float, ...]], list[tuple[int, int, list[int]]]]:
    """Read the nodes, and (type, geometric entity, nodes) of each element, from the text."""
    words = iter(WING.read_text().split("$Nodes\n")[1].replace("$EndNodes\n$Elements", " ").split())
    nodes = {}
    n_blocks = int(next(words))
    for _ in range(3):
        next(words)
    for _ in range(n_blocks):
        for _ in range(3):
            next(words)
        tags = [int(next(words)) for _ in range(int(next(words)))]
        for tag in tags:
            nodes[tag] = (float(next(words)), float(next(words)), float(next(words)))
    elements = []
    n_blocks = int(next(words))
    for _ in range(3):
        next(words)
    for _ in range(n_blocks):
        next(words)
        entity, kind, n = int(next(words)), int(next(words)), int(next(words))
        for _ in range(n):
            next(words)
            elements.append((kind, entity, [int(next(words)) for _ in range({2: 3, 4: 4}[kind])]))
    return nodes, elements


@unittest.skipIf(h5py is None, why_not)
class IndependentReader(Case):
    def setUp(self) -> None:
        super().setUp()
        path = self.folder / "wing.h5m"
        self.assert_code(barrio("partition", WING, "-n", N_PARTS, "-o", path, ranks=2), 0)
        self.mesh = H5m(path)
        self.addCleanup(self.mesh.close)
        self.root = self.mesh.root

    def test_layout(self) -> None:
        self.assertEqual(set(self.root), {"nodes", "elements", "sets", "tags", "elemtypes"})
        names = h5py.check_enum_dtype(self.root["elemtypes"].dtype)
        self.assertEqual(
            (names["Edge"], names["Tri"], names["Tet"], names["Hex"], names["Polyhedron"]),
            (1, 2, 5, 9, 10),
        )
        coordinates, tets, triangles = (
            self.root["nodes/coordinates"],
            self.root["elements/Tet4/connectivity"],
            self.root["elements/Tri3/connectivity"],
        )
        self.assertEqual(
            (coordinates.shape, tets.shape, triangles.shape), ((1053, 3), (4591, 4), (1034, 3))
        )
        # One id space without gaps: vertices, the tables, sets.
        starts = sorted(
            [
                (int(coordinates.attrs["start_id"]), 1053),
                (int(tets.attrs["start_id"]), 4591),
                (int(triangles.attrs["start_id"]), 1034),
                (int(self.root["sets/list"].attrs["start_id"]), len(self.root["sets/list"])),
            ]
        )
        self.assertEqual(starts[0][0], 1)
        for (first, n), (next_first, _) in zip(starts, starts[1:]):
            self.assertEqual(first + n, next_first)
        self.assertEqual(int(self.root.attrs["max_id"]), starts[-1][0] + starts[-1][1] - 1)
        self.assertEqual(int(self.root["elements/Tet4"].attrs["element_type"]), names["Tet"])
        last = [int(x) for x in self.root["sets/list"][-1]]
        self.assertEqual(last[:3], [len(self.root["sets/contents"]) - 1, -1, -1])
        for table in ("nodes", "elements/Tet4", "elements/Tri3"):
            ids = sorted(int(x) for x in self.root[table]["tags/GLOBAL_ID"])
            self.assertEqual(ids, list(range(1, len(ids) + 1)), table)

    def test_every_element_is_there_with_its_places_and_groups(self) -> None:
        nodes, elements = gmsh_elements()
        coordinates = [tuple(map(float, x)) for x in self.root["nodes/coordinates"]]
        self.assertEqual(Counter(coordinates), Counter(nodes.values()))
        found = {
            kind: Counter(
                tuple(coordinates[int(v) - 1] for v in row)
                for row in self.root[f"elements/{name}/connectivity"]
            )
            for kind, name in ((2, "Tri3"), (4, "Tet4"))
        }
        expected = {
            kind: Counter(tuple(nodes[v] for v in of) for k, _, of in elements if k == kind)
            for kind in (2, 4)
        }
        self.assertEqual(found, expected)

        parts = self.mesh.sets_with("PARALLEL_PARTITION")
        first = int(self.root["elements/Tet4/connectivity"].attrs["start_id"])
        self.assertEqual(sorted(parts), list(range(N_PARTS)))
        self.assertEqual(
            sorted(id for ids in parts.values() for id in ids), list(range(first, first + 4591))
        )
        self.assertEqual(
            {id: len(set(ids)) for id, ids in self.mesh.sets_with("MATERIAL_SET").items()},
            {11: 1978, 12: 2613},
        )
        self.assertEqual(
            {id: len(set(ids)) for id, ids in self.mesh.sets_with("NEUMANN_SET").items()},
            {1: 264, 2: 282, 3: 488},
        )
        names = self.root["tags/NAME"]
        self.assertEqual(
            sorted(bytes(v).rstrip(b"\0").decode() for v in names["values"]),
            ["far", "farfield", "near", "symmetry", "wing"],
        )


@unittest.skipIf(h5py is None, why_not)
class ForeignPartitions(Case):
    """Partitions of another program in a file are kept, or used."""

    def setUp(self) -> None:
        super().setUp()
        self.box = self.folder / "box.h5m"
        made = barrio("generate", "box", "--cells", 6, 4, 2, "--blocks", 2, 2, 1, "-o", self.box)
        self.assert_code(made, 0)

    def test_values_and_tags_of_parts_stay(self) -> None:
        with h5py.File(self.box, "r+") as file:
            parts = file["tstt/tags/PARALLEL_PARTITION"]
            parts["values"][...] = [7, 17, 27, 37]
            label = file.create_group("tstt/tags/LABEL")
            label["type"] = parts["values"].dtype
            label.attrs.create("class", 1, dtype="i4")
            label["id_list"] = parts["id_list"][1:3]
            label.create_dataset("values", data=[101, 102], dtype="i4")
        for ranks in (1, 2, 3):
            copy = self.folder / f"copy{ranks}.h5m"
            self.assert_code(barrio("convert", self.box, copy, ranks=ranks), 0)
            with h5py.File(copy) as file:
                parts = file["tstt/tags/PARALLEL_PARTITION"]
                value_of = dict(zip(parts["id_list"], parts["values"], strict=True))
                label = file["tstt/tags/LABEL"]
                found = {
                    int(value_of[i]): int(v)
                    for i, v in zip(label["id_list"], label["values"], strict=True)
                }
            self.assertEqual(sorted(value_of.values()), [7, 17, 27, 37])
            self.assertEqual(found, {17: 101, 27: 102})
        cut = barrio("partition", self.box, "-n", 2, "-o", self.folder / "cut.h5m")
        self.assert_code(cut, 0)
        self.assertEqual(cut.err.count("the parts are new"), 1, cut.err)
        self.assertIn("LABEL", cut.err)

    def test_wide_integers_of_cells_are_parts(self) -> None:
        with h5py.File(self.box, "r+") as file:
            cells = file["tstt/elements/Hex8"]
            tag = file.create_group("tstt/tags/WIDE")
            tag["type"] = cells["connectivity"].dtype
            tag.attrs.create("class", 2, dtype="i4")
            values = [2**40 + 3 * (row % 3) for row in range(len(cells["connectivity"]))]
            cells.create_dataset("tags/WIDE", data=values, dtype="i8")
        checksums = set()
        for ranks in (1, 2, 4):
            loaded = barrio(
                *("load", self.box, "--partition-tag", "WIDE", "--validate", "--json"), ranks=ranks
            )
            self.assert_code(loaded, 0)
            self.assertEqual(loaded.json()["parts"], 3)
            checksums.add(loaded.json()["checksum"])
        self.assertEqual(len(checksums), 1)
        refused = barrio("load", self.box, "--partition-tag", "UNIQUE_ID")
        self.assert_error(refused, 2, "gives each entity a number of its own")


if __name__ == "__main__":
    unittest.main()
