"""Decode a CGNS file with h5py, from the layout alone, and compare with barrio's .h5m. Needs h5py and the collection of
samples."""

import unittest

from barrio_case import Case, at_ranks
from h5m_by_hand import SAMPLES, H5m, h5py, why_not

NODES_OF_TYPE = {3: 2, 5: 3, 7: 4, 10: 4, 12: 5, 14: 6, 17: 8}


@unittest.skipIf(h5py is None, why_not)
class CgnsOracle(Case):
    def test_an_airfoil_of_another_program(self) -> None:
        path = SAMPLES / "2d_naca0012.cgns"
        if not path.exists():
            self.skipTest(f"the collection of sample files is not there: no {path.name}")
        with h5py.File(path) as file:
            zone = file["BASE#1/naca0012.uns"]
            axes = [zone[f"GridCoordinates/Coordinate{axis}/ data"][...].tolist() for axis in "XYZ"]
            elements = {}
            for section in zone.values():
                if section.attrs.get("label") != b"Elements_t":
                    continue
                n_nodes = NODES_OF_TYPE[int(section[" data"][0])]
                nodes = section["ElementConnectivity/ data"][...].reshape(-1, n_nodes).tolist()
                first = int(section["ElementRange/ data"][0])
                elements.update({first + i: tuple(of) for i, of in enumerate(nodes)})
            conditions = {
                condition["FamilyName/ data"][...].tobytes().decode(): sorted(
                    elements[int(e)] for e in condition["ElementList/ data"][:, 0]
                )
                for condition in zone["ZoneBC"].values()
            }
        out = self.folder / "naca.h5m"
        self.assert_code(at_ranks("convert", path, out), 0)
        mesh = H5m(out)
        self.addCleanup(mesh.close)
        self.assertEqual(mesh.root["nodes/coordinates"][...].T.tolist(), axes)
        found = mesh.elements()
        self.assertEqual(sorted(found.values()), sorted(elements.values()))
        self.assertEqual(
            sorted(sorted(found[e] for e in ids) for ids in mesh.sets_with("NEUMANN_SET").values()),
            sorted(conditions.values()),
        )


if __name__ == "__main__":
    unittest.main()
