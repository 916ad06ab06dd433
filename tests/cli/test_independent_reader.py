"""Decode a .h5m file of barrio's with h5py, by the layout alone, and find the mesh that went in. Needs h5py."""

import unittest
from collections import Counter

from barrio_case import WING, Case, barrio
from h5m_by_hand import H5m, h5py, why_not

N_PARTS = 5


def gmsh_elements() -> tuple[dict[int, tuple[float, ...]], list[tuple[int, int, list[int]]]]:
    """Nodes, and (type, geometric entity, nodes) of each element, from the text."""
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
        # One id space, without holes: vertices, the tables, sets.
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


if __name__ == "__main__":
    unittest.main()
