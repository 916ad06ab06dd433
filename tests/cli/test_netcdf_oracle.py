"""Read Exodus files and climate grids with the netCDF library, from the Exodus II manual and the CF conventions alone, and
compare with barrio's .h5m. Needs netCDF4 and h5py; files of other programs need the collection of samples."""

import unittest
from pathlib import Path

from barrio_case import Case, at_ranks, barrio
from h5m_by_hand import SAMPLES, H5m, h5py, why_not

try:
    import netCDF4
    import numpy
except ImportError as reason:
    netCDF4 = None
    why_not = why_not or f"this Python has no netCDF4: {reason}"

# Corners of the sides of elements, in the order of the manual.
HEX_SIDES = ((1, 2, 6, 5), (2, 3, 7, 6), (3, 4, 8, 7), (1, 5, 8, 4), (1, 4, 3, 2), (5, 6, 7, 8))
TET_SIDES = ((1, 2, 4), (2, 3, 4), (1, 4, 3), (1, 3, 2))
SIDES = {"HEX": HEX_SIDES, "TET": TET_SIDES}
NETCDF_KINDS = (
    "NETCDF3_CLASSIC",
    "NETCDF3_64BIT_OFFSET",
    "NETCDF3_64BIT_DATA",
    "NETCDF4",
    "NETCDF4_CLASSIC",
)


class Exodus:
    def __init__(self, path: Path) -> None:
        with netCDF4.Dataset(path) as file:
            file.set_auto_mask(False)
            variables = {name: variable[...] for name, variable in file.variables.items()}
            types = {
                name: variable.elem_type[:3].upper()
                for name, variable in file.variables.items()
                if name.startswith("connect")
            }
        if "coord" in variables:
            self.coordinates = variables["coord"].T
        else:
            self.coordinates = numpy.stack([variables["coord" + k] for k in "xyz"], axis=1)
        self.blocks = {}
        elements = []
        for i, id in enumerate(variables["eb_prop1"], 1):
            nodes = [tuple(map(int, row)) for row in variables[f"connect{i}"]]
            self.blocks[int(id)] = sorted(nodes)
            elements += [(types[f"connect{i}"], row) for row in nodes]
        self.node_sets = {
            int(id): sorted(set(map(int, variables[f"node_ns{i}"])))
            for i, id in enumerate(variables.get("ns_prop1", ()), 1)
        }
        self.side_sets = {}
        for i, id in enumerate(variables.get("ss_prop1", ()), 1):
            sides = set()
            for element, side in zip(
                variables[f"elem_ss{i}"], variables[f"side_ss{i}"], strict=True
            ):
                kind, nodes = elements[element - 1]
                sides.add(tuple(sorted(nodes[c - 1] for c in SIDES[kind][side - 1])))
            self.side_sets[int(id)] = sorted(sides)


@unittest.skipIf(h5py is None or netCDF4 is None, why_not)
class NetcdfOracle(Case):
    def expect_same(self, path: Path) -> None:
        expected = Exodus(path)
        out = self.folder / (path.stem + ".h5m")
        self.assert_code(at_ranks("convert", path, out), 0)
        mesh = H5m(out)
        self.addCleanup(mesh.close)
        self.assertTrue(
            numpy.array_equal(mesh.root["nodes/coordinates"][...], expected.coordinates)
        )
        elements = mesh.elements()
        members = {
            tag: {
                id: [tuple(elements[e]) if e in elements else e for e in ids]
                for id, ids in mesh.sets_with(tag).items()
            }
            for tag in ("MATERIAL_SET", "DIRICHLET_SET", "NEUMANN_SET")
        }
        self.assertEqual(
            {id: sorted(nodes) for id, nodes in members["MATERIAL_SET"].items()}, expected.blocks
        )
        self.assertEqual(
            {id: sorted(nodes) for id, nodes in members["DIRICHLET_SET"].items()},
            expected.node_sets,
        )
        self.assertEqual(
            {
                id: sorted(tuple(sorted(nodes)) for nodes in sides)
                for id, sides in members["NEUMANN_SET"].items()
            },
            expected.side_sets,
        )
        sides = [
            tuple(sorted(nodes)) for nodes in elements.values() if len(nodes) < len(SIDES["HEX"])
        ]
        self.assertEqual(len(sides), len(set(sides)), "a side is listed twice")

    def test_files_of_other_programs(self) -> None:
        for name in ("1khex.g", "8hex.g", "mbtest2.g", "hex_2x2x2_ss.exo"):
            if not (SAMPLES / name).exists():
                self.skipTest(f"the collection of sample files is not there: no {name}")
            with self.subTest(name):
                self.expect_same(SAMPLES / name)

    def test_what_the_netcdf_library_writes(self) -> None:
        for kind in NETCDF_KINDS:
            with self.subTest(kind):
                path = self.folder / f"{kind}.exo"
                self.write_tets(path, kind)
                self.expect_same(path)
                shown = barrio("--json", "info", path).json()
                self.assertEqual(shown["entities"], {"tets": 6 * 3**3})
                self.assertEqual([tag["name"] for tag in shown["tags"]], ["height", "material"])

    def test_values_of_the_last_time_step(self) -> None:
        for kind in ("NETCDF3_64BIT_DATA", "NETCDF4"):
            path, out = self.folder / f"{kind}.exo", self.folder / f"{kind}.h5m"
            self.write_tets(path, kind)
            self.assert_code(at_ranks("convert", path, out), 0)
            mesh = H5m(out)
            self.addCleanup(mesh.close)
            coordinates = mesh.root["nodes/coordinates"][...]
            height = mesh.root["nodes/tags/height"][...]
            self.assertTrue(numpy.array_equal(height, 10 * coordinates[:, 2]))
            material = mesh.root["elements/Tet4/tags/material"][...]
            self.assertTrue(numpy.array_equal(material, numpy.repeat([7.0, 8.0], [60, 102])))

    @staticmethod
    def write_tets(path: Path, kind: str) -> None:
        """Write a box of 3 x 3 x 3 cubes of 6 tets in two blocks, with a side set on the bottom and two time steps."""
        n = 3
        corner = [(k, j, i) for k in range(n + 1) for j in range(n + 1) for i in range(n + 1)]
        number = {place: at + 1 for at, place in enumerate(corner)}
        tets = []
        for k, j, i in [c for c in corner if max(c) < n]:
            for a, b in ((0, 1), (1, 2), (2, 0), (1, 0), (2, 1), (0, 2)):
                steps = [(0, 0, 0)]
                for axis in (a, b, 3 - a - b):
                    steps.append(tuple(s + (axis == d) for d, s in enumerate(steps[-1])))
                tets.append([number[k + s[0], j + s[1], i + s[2]] for s in steps])
        with netCDF4.Dataset(path, "w", format=kind) as file:
            file.createDimension("time_step", None)
            for name, size in (
                ("num_nodes", len(corner)),
                ("num_el_blk", 2),
                ("num_el_in_blk1", 60),
                ("num_el_in_blk2", len(tets) - 60),
                ("num_nod_per_el1", 4),
                ("num_side_sets", 1),
                ("len_name", 33),
                ("one", 1),
            ):
                file.createDimension(name, size)

            def add(name, dtype, dimensions, values, attributes=()):
                packed = {"zlib": True} if kind == "NETCDF4" and dtype == "f8" else {}
                variable = file.createVariable(name, dtype, dimensions, **packed)
                variable.setncatts(dict(attributes))
                variable[...] = values

            places = numpy.array(corner, dtype=float) / n
            for axis, name in enumerate(("coordz", "coordy", "coordx")):
                add(name, "f8", ("num_nodes",), places[:, axis])
            add("eb_prop1", "i4", ("num_el_blk",), [7, 8], {"name": "ID"})
            for block, rows in ((1, tets[:60]), (2, tets[60:])):
                add(
                    f"connect{block}",
                    "i4",
                    (f"num_el_in_blk{block}", "num_nod_per_el1"),
                    rows,
                    {"elem_type": "TETRA"},
                )
            bottom = [
                (at + 1, side)
                for at, tet in enumerate(tets)
                for side, places_of in enumerate(TET_SIDES, 1)
                if all(corner[tet[c - 1] - 1][0] == 0 for c in places_of)
            ]
            file.createDimension("num_side_ss1", len(bottom))
            add("ss_prop1", "i4", ("num_side_sets",), [30], {"name": "ID"})
            add("elem_ss1", "i4", ("num_side_ss1",), [element for element, _ in bottom])
            add("side_ss1", "i4", ("num_side_ss1",), [side for _, side in bottom])
            add("time_whole", "f8", ("time_step",), [0.0, 1.0])
            for name, text in (("name_nod_var", "height"), ("name_elem_var", "material")):
                letters = netCDF4.stringtochar(numpy.array([text], dtype="S33"))
                add(name, "S1", ("one", "len_name"), letters)
            z = places[:, 0]
            add("vals_nod_var1", "f8", ("time_step", "num_nodes"), [0 * z, 10 * z])
            for block, size in ((1, 60), (2, len(tets) - 60)):
                values = numpy.full((2, size), 6.0 + block)
                values[0] = 0
                add(
                    f"vals_elem_var1eb{block}",
                    "f8",
                    ("time_step", f"num_el_in_blk{block}"),
                    values,
                )


@unittest.skipIf(h5py is None or netCDF4 is None, why_not)
class ClimateOracle(Case):
    def expect_same(self, path: Path, levels: str, names: tuple[str, ...]) -> None:
        out = self.folder / (path.stem + ".h5m")
        self.assert_code(at_ranks("convert", path, out), 0)
        mesh = H5m(out)
        self.addCleanup(mesh.close)
        with netCDF4.Dataset(path) as file:
            axes = [numpy.asarray(file[name][...], dtype=float) for name in (levels, "lat", "lon")]
            z, y, x = numpy.meshgrid(*axes, indexing="ij")
            expected = numpy.stack([x.ravel(), y.ravel(), z.ravel()], axis=1)
            self.assertTrue(
                numpy.array_equal(mesh.root["nodes/coordinates"][...], expected), "coordinates"
            )
            self.assertEqual(set(mesh.root["nodes/tags"]) - {"GLOBAL_ID"}, set(names))
            for name in names:
                variable = file[name]
                values = variable[...]
                if "time" in variable.dimensions:
                    values = values[-1]
                kind = int if values.dtype.kind == "i" else float
                plain = numpy.ma.filled(numpy.ma.asarray(values).astype(kind), numpy.nan)
                expected = numpy.broadcast_to(plain, x.shape).ravel()
                found = mesh.root["nodes/tags"][name][...]
                self.assertTrue(numpy.array_equal(found, expected, equal_nan=kind is float), name)
        # Every cell of the index space once. Its corners are an index and the next one along each axis.
        places = {
            tuple(sorted(numpy.unravel_index(numpy.array(nodes) - 1, x.shape)[axis].tolist()))
            for nodes in mesh.elements().values()
            for axis in range(3)
        }
        self.assertTrue(all(len(set(some)) == 2 and some[3] < some[4] for some in places))
        n_cells = numpy.prod([n - 1 for n in x.shape])
        self.assertEqual(len({tuple(sorted(nodes)) for nodes in mesh.elements().values()}), n_cells)

    def test_a_file_of_cam(self) -> None:
        path = SAMPLES / "eul3x48x96.t0.nc"
        if not path.exists():
            self.skipTest(f"the collection of sample files is not there: no {path.name}")
        self.expect_same(path, "lev", ("T", "U", "V"))

    def test_what_the_netcdf_library_writes(self) -> None:
        for kind in NETCDF_KINDS:
            with self.subTest(kind):
                path = self.folder / f"{kind}.nc"
                self.write_grid(path, kind)
                self.expect_same(path, "plev", ("ta", "ps", "packed", "land"))
                shown = barrio("--json", "info", path).json()
                self.assertEqual(
                    shown["grid"],
                    {
                        "longitudes": 8,
                        "latitudes": 5,
                        "levels": 3,
                        "time_steps": 2,
                        "is_periodic": True,
                    },
                )
                self.assertEqual(shown["entities"], {"hexes": 7 * 4 * 2})
                self.assertEqual(shown["quality"]["inverted"], 0)

    @staticmethod
    def write_grid(path: Path, kind: str) -> None:
        """Write a grid: descending latitudes and pressures, a field with one height, packed shorts with missing values."""
        numbers = numpy.random.default_rng(7)
        with netCDF4.Dataset(path, "w", format=kind) as file:
            for name, size in (
                ("time", None),
                ("plev", 3),
                ("lat", 5),
                ("lon", 8),
                ("height", 1),
                ("bnds", 2),
            ):
                file.createDimension(name, size)

            def add(name, dtype, dimensions, values, **attributes):
                packed = {"zlib": True} if kind == "NETCDF4" and len(dimensions) > 2 else {}
                fill = attributes.pop("_FillValue", None)
                variable = file.createVariable(name, dtype, dimensions, fill_value=fill, **packed)
                variable.setncatts(attributes)
                variable[...] = values

            add("lat", "f4", ("lat",), numpy.linspace(80, -80, 5), units="degrees_north")
            add("lat_bnds", "f4", ("lat", "bnds"), numpy.zeros((5, 2)))
            add("lon", "f8", ("lon",), 45.0 * numpy.arange(8), units="degrees_east")
            add("plev", "f8", ("plev",), [1e5, 5e4, 1e4], units="Pa", positive="down")
            add("height", "f8", ("height",), [2.0], units="m", positive="up")
            add("time", "f8", ("time",), [0.0, 31.0], units="days since 2000-01-01")
            shape = (2, 3, 5, 8)
            add("ta", "f4", ("time", "plev", "lat", "lon"), numbers.random(shape), units="K")
            add("ps", "f8", ("time", "height", "lat", "lon"), numbers.random((2, 1, 5, 8)))
            add("land", "i2", ("lat", "lon"), numbers.integers(0, 2, (5, 8)))
            values = 250.0 + numpy.round(numbers.random((5, 8)), 2)
            add(
                "packed",
                "i2",
                ("lat", "lon"),
                numpy.ma.masked_where(values > 250.7, values),
                scale_factor=0.01,
                add_offset=250.0,
                _FillValue=-999,
            )


if __name__ == "__main__":
    unittest.main()
