"""Typical workflows of the command: generate, partition, load, map, convert; on BARRIO_RANKS ranks."""

import itertools
import json
import unittest
from pathlib import Path

from barrio_case import COMMAND, MPIEXEC, OLD, RANKS, WING, Case, at_ranks, barrio, execute, tool

# Computed by one rank.
WING_CHECKSUM = "baccf1251a00fe90"
WING8_CHECKSUM = "79226b4a79c3548e"
ADAPTED_CHECKSUM = "655bfada50b367e6"
BOX_CHECKSUM = "353f22f3d697e3c4"


def cube_with_fields(n: int, size: float, error: float) -> str:
    """Write a legacy VTK file: a cube of n^3 boxes of six tets, with a size at each vertex and an error of each cell."""

    def vertex(i: int, j: int, k: int) -> int:
        return i + (n + 1) * (j + (n + 1) * k)

    places = [(i, j, k) for k in range(n + 1) for j in range(n + 1) for i in range(n + 1)]
    cells = []
    for i, j, k in itertools.product(range(n), repeat=3):
        for axes in itertools.permutations(range(3)):
            at = [i, j, k]
            path = [vertex(*at)]
            for axis in axes:
                at[axis] += 1
                path.append(vertex(*at))
            if axes in ((0, 2, 1), (1, 0, 2), (2, 1, 0)):  # odd
                path[2], path[3] = path[3], path[2]
            cells.append(path)
    lines = ["# vtk DataFile Version 3.0", "cube", "ASCII", "DATASET UNSTRUCTURED_GRID"]
    lines += [f"POINTS {len(places)} double", *(f"{x / n} {y / n} {z / n}" for x, y, z in places)]
    lines += [
        f"CELLS {len(cells)} {5 * len(cells)}",
        *(f"4 {a} {b} {c} {d}" for a, b, c, d in cells),
    ]
    lines += [f"CELL_TYPES {len(cells)}", *["10"] * len(cells)]
    for where, count, name, number in (
        ("POINT_DATA", len(places), "h", size),
        ("CELL_DATA", len(cells), "eta", error),
    ):
        lines += [f"{where} {count}", f"SCALARS {name} double 1", "LOOKUP_TABLE default"]
        lines += [str(number)] * count
    return "\n".join(lines) + "\n"


class Flows(Case):
    def test_info_of_the_wing(self) -> None:
        found = at_ranks("info", WING, "--json").json()
        self.assertEqual(found["vertices"], 1053)
        self.assertEqual(found["entities"], {"triangles": 1034, "tets": 4591})
        self.assertEqual(
            {s["name"]: (s["kind"], s["id"]) for s in found["named_sets"]},
            {
                "wing": ("neumann", 1),
                "symmetry": ("neumann", 2),
                "farfield": ("neumann", 3),
                "near": ("material", 11),
                "far": ("material", 12),
            },
        )

    def test_model_of_64_volumes(self) -> None:
        bricks = self.folder / "bricks.h5m"
        made = at_ranks(
            *("generate", "box", "--cells", 8, 9, 10, "--volumes", 4, 4, 4, "--blocks", 2, 2, 1),
            *("--tets", "-o", bricks, "--json"),
        )
        self.assert_code(made, 0)
        self.assertEqual(made.json()["parts"], 4)
        sets = barrio("info", bricks, "--json").json()["sets"]
        self.assertEqual((sets["material"], sets["geometry"], sets["neumann"]), (64, 729, 6))
        loaded = at_ranks("load", bricks, "--ghosts", 2, "--validate", "--json").json()
        faces = 2 * 5 * (8 * 9 + 8 * 10 + 9 * 10)
        self.assertEqual(
            loaded["counts"],
            {"vertices": 990, "edges": 25 * 27, "faces": faces, "volumes": 4320},
        )

    def test_adapt(self) -> None:
        box, fine = self.folder / "box.h5m", self.folder / "fine.h5m"
        self.assert_code(at_ranks("generate", "box", "--cells", 8, 8, 8, "--tets", "-o", box), 0)
        size = "plane,x=0.5,min_size=0.1,width=0.04,max_size=0.4"
        outcome = at_ranks("adapt", box, "--size", size, "-o", fine, "--json")
        self.assert_code(outcome, 0)
        found = outcome.json()
        self.assertEqual((found["cells_before"], found["checksum"]), (3072, ADAPTED_CHECKSUM))
        self.assertEqual(found["left_out"], [])
        loaded = at_ranks("load", fine, "--ghosts", 1, "--validate", "--json").json()
        self.assertEqual(loaded["counts"]["volumes"], found["cells"])
        self.assertEqual(loaded["checksum"], ADAPTED_CHECKSUM)
        sets = barrio("info", fine, "--json").json()["named_sets"]
        self.assertEqual({one["name"] for one in sets}, {"box", "x-", "x+", "y-", "y+", "z-", "z+"})

    def test_adapt_by_a_field(self) -> None:
        state, first, second = (self.folder / n for n in ("state.vtk", "first.h5m", "second.h5m"))
        state.write_text(cube_with_fields(4, size=0.12, error=0.08))
        outcome = at_ranks(
            "adapt", state, "--size-field", "h", "--parent-field", "o", "-o", first, "--json"
        )
        self.assert_code(outcome, 0)
        found = outcome.json()
        self.assertTrue(found["is_complete"])
        self.assertGreater(found["edges_in_range"], 0.8)
        # The adapted file has the field again, with the same values.
        outcome = at_ranks("adapt", first, "--size-field", "h", "-o", second, "--json")
        self.assert_code(outcome, 0)
        again = outcome.json()
        self.assertGreater(again["cells_unchanged"], 0.8 * found["cells"])
        for given, text in (
            ((), "come from one of --size, --size-field and --error-field"),
            (("--size-field", "k"), "'k': is neither a field nor a tag on the vertices"),
            (("--error-field", "h", "--target-error", 1), "has no value on some of the cells"),
            (("--size", 0.1, "--growth", 0.3), "these are a function"),
            (("--size", 1e-5), "fit into the memory"),
            (("--size", 1e-5, "--max-cells", 1e6), "are allowed"),
            (("--size", 0.1, "--target-error", 1), "--error-field"),
            (("--size", 0.1, "--parent-field", "h"), "a tag of that name"),
        ):
            outcome = at_ranks("adapt", first, *given, "-o", self.folder / "none.h5m")
            self.assert_code(outcome, 2)
            self.assertIn(text, outcome.err)

    def test_adapt_by_errors(self) -> None:
        state, out = self.folder / "state.vtk", self.folder / "out.h5m"
        state.write_text(cube_with_fields(4, size=0.2, error=0.08))
        target = ("--target-error", 0.02, "--error-order", 2)
        outcome = at_ranks("adapt", state, "--error-field", "eta", *target, "-o", out, "--json")
        self.assert_code(outcome, 0)
        self.assertGreater(outcome.json()["cells"], 5 * outcome.json()["cells_before"])

    def test_bench_adapt(self) -> None:
        if not Path(COMMAND).with_name("barrio-bench-adapt").exists():
            self.skipTest("barrio-bench-adapt is not built here")
        small = ("--boxes", 8, "--scale", 5, "--cases", "cube", "bubble", "--json")
        outcome = at_ranks("bench", "adapt", *small, "--fields", "--migrating")
        self.assert_code(outcome, 0)
        found = outcome.json()
        self.assertEqual([row["case"] for row in found["cases"]], ["cube", "bubble"])
        for row in found["cases"]:
            self.assertGreater(row["changes"]["collapses"]["made"], 0)
        met = {goal["id"]: goal["met"] for goal in found["goals"]}
        for case in ("cube", "bubble"):
            self.assertTrue(met[f"{case}.volume_error"])
            self.assertTrue(met[f"{case}.imbalance_of_cells"])
            self.assertTrue(met[f"{case}.linear_error"])
            self.assertTrue(met[f"{case}.volume_error_by_migration"])

    def test_adapt_refuses_what_it_cannot_do(self) -> None:
        hexes, bricks, out = (self.folder / f"{n}.h5m" for n in ("hexes", "bricks", "out"))
        cells = ("--cells", 4, 4, 4)
        self.assert_code(at_ranks("generate", "box", *cells, "-o", hexes), 0)
        volumes = ("--volumes", 2, 1, 1, "--tets")
        self.assert_code(at_ranks("generate", "box", *cells, *volumes, "-o", bricks), 0)
        for source, size, text in (
            (hexes, "0.1", "a hex of 8 nodes"),
            (bricks, "plane,x=0.5,min_sise=0.1,max_size=1", "Did you mean 'min_size'?"),
            (bricks, "-1", "must be above 0"),
        ):
            outcome = at_ranks("adapt", source, "--size", size, "-o", out)
            self.assert_code(outcome, 2)
            self.assertIn(text, outcome.err)
            self.assertFalse(out.exists())
        # The curves of the geometry are listed edges: they are refined with their sets.
        outcome = at_ranks("adapt", bricks, "--size", "0.1", "-o", out)
        self.assert_code(outcome, 0)
        self.assertIn("volumes, areas and lengths of all sets as before", outcome.out)
        self.assert_code(at_ranks("load", out, "--validate"), 0)

    def test_join(self) -> None:
        left, right, fine, whole = (
            self.folder / f"{name}.h5m" for name in ("left", "right", "fine", "whole")
        )
        for path, cells, low in ((left, 4, 0), (right, 4, 1), (fine, 5, 1)):
            box = ("--cells", cells, cells, cells, "--low", low, 0, 0, "--high", low + 1, 1, 1)
            self.assert_code(at_ranks("generate", "box", *box, "-o", path), 0)
        outcome = at_ranks("join", left, right, "--tolerance", 1e-6, "-o", whole, "--json")
        self.assert_code(outcome, 0)
        report = outcome.json()["report"]
        self.assertEqual((report["vertices_before"], report["vertices"]), (250, 225))
        self.assertEqual(report["joints"][0]["unmatched"], 0)
        self.assertEqual(barrio("info", whole, "--json").json()["vertices"], 225)
        self.assert_code(at_ranks("load", whole, "--ghosts", 1, "--validate"), 0)

        whole.unlink()
        words = ("join", left, fine, "--tolerance", 1e-6, "-o", whole)
        outcome = at_ranks(*words)
        self.assert_code(outcome, 0)
        self.assertIn("8 vertices have a partner, 53 have none", outcome.out)
        outcome = at_ranks(*words, "--require-conforming", "--json")
        self.assert_code(outcome, 4)
        self.assertFalse(outcome.json()["report"]["joints"][0]["joined"])
        # A tolerance wider than the cells: the old output remains.
        for tolerance in (0.3, 0.9, 1e9):
            whole.write_bytes(OLD)
            outcome = at_ranks("join", left, fine, "--tolerance", tolerance, "-o", whole)
            self.assert_code(outcome, 4)
            self.assertIn(f"tolerance {tolerance:g}: is too wide", outcome.err)
            self.assertLess(outcome.seconds, 20.0)
            self.assertEqual(whole.read_bytes(), OLD)
        self.assert_no_leftovers()

    def test_wing_partition_load_map(self) -> None:
        wing8, traffic, parts = (
            self.folder / name for name in ("wing8.h5m", "traffic.json", "parts.json")
        )
        cut = at_ranks("partition", WING, "-n", 8, "-o", wing8, "--json").json()
        self.assertEqual(
            (cut["cells"], cut["vertices"], cut["parts"], cut["empty_parts"]), (4591, 1053, 8, 0)
        )
        self.assertLess(cut["imbalance"], 1.01)
        self.assert_no_leftovers()

        outcome = at_ranks(
            "load",
            wing8,
            "--ghosts",
            1,
            "--validate",
            "--traffic",
            traffic,
            "--part-traffic",
            parts,
            "--vtkhdf",
            self.folder / "ghosts.vtkhdf",
            "--json",
        )
        self.assert_code(outcome, 0)
        loaded = outcome.json()
        self.assertEqual(loaded["checksum"], WING8_CHECKSUM)
        self.assertEqual(
            loaded["counts"], {"vertices": 1053, "edges": 0, "faces": 1034, "volumes": 4591}
        )
        self.assertEqual(
            (loaded["ranks"], loaded["parts"], loaded["ghost_layers"], loaded["validated"]),
            (RANKS, 8, 1, True),
        )
        self.assertEqual(loaded["owned_cells"]["total"], 4591)
        self.assertEqual(loaded["exchange_messages"]["total"] > 0, RANKS > 1)
        self.assertEqual(
            tool("numbers", self.folder / "ghosts.vtkhdf", "/VTKHDF/NumberOfCells").count("\n"),
            RANKS,
        )

        part_traffic = json.loads(parts.read_text())
        self.assertEqual(part_traffic["schema"], "barrio.traffic")
        found = barrio("map", parts, "--machine", "2x4", "-o", self.folder / "ranks.txt", "--json")
        self.assert_code(found, 0)
        self.assertEqual(found.json()["schema"], "barrio.map")
        lines = (self.folder / "ranks.txt").read_text().splitlines()
        self.assertEqual(
            sorted(line.split("=")[0] for line in lines if not line.startswith("#")),
            [f"rank {r}" for r in range(8)],
        )

    def test_several_partitions_and_no_geometry(self) -> None:
        bricks, one, two, bare = (
            self.folder / f"{name}.h5m" for name in ("bricks", "one", "two", "bare")
        )
        made = ("generate", "box", "--cells", 8, 9, 10, "--volumes", 4, 4, 4, "-o", bricks)
        self.assert_code(at_ranks(*made), 0)
        cut = at_ranks("partition", bricks, "-n", 3, "-o", one, "--json").json()
        self.assertEqual((cut["tag"], cut["parts"]), ("PARALLEL_PARTITION", 3))
        words = ("--method", "hilbert", "--tag", "FINE", "-o", two, "--json")
        self.assertEqual(at_ranks("partition", one, "-n", 7, *words).json()["tag"], "FINE")
        self.assertEqual(
            barrio("info", two, "--json").json()["partitions"],
            [{"tag": "FINE", "parts": 7}, {"tag": "PARALLEL_PARTITION", "parts": 3}],
        )
        self.assertIn("FINE (7 parts), PARALLEL_PARTITION (3 parts)", barrio("info", two).out)
        for tag, parts in (("FINE", 7), ("PARALLEL_PARTITION", 3)):
            loaded = at_ranks("load", two, "--partition-tag", tag, "--validate", "--json")
            self.assert_code(loaded, 0)
            self.assertEqual(loaded.json()["parts"], parts)
            converted = self.folder / f"{tag}.h5m"
            self.assert_code(at_ranks("convert", two, converted, "--partition-tag", tag), 0)
            partitions = barrio("info", converted, "--json").json()["partitions"]
            self.assertEqual({p["tag"]: p["parts"] for p in partitions}[tag], parts)
        self.assert_error(
            at_ranks("load", two, "--partition-tag", "COARSE"),
            2,
            "has no partition 'COARSE'.",
            "remedy: it has FINE (7 parts), PARALLEL_PARTITION (3 parts)",
        )

        words = ("--drop", "geometry", "--keep-order", "-o", bare)
        self.assert_code(at_ranks("partition", bricks, "-n", 2, *words), 0)
        info = barrio("info", bare, "--json").json()
        self.assertEqual((info["sets"]["geometry"], info["sets"]["material"]), (0, 64))
        # Faces of the six boundaries remain; interior faces and all edges are dropped.
        faces = 2 * (8 * 9 + 8 * 10 + 9 * 10)
        self.assertEqual(info["entities"], {"hexes": 720, "quads": faces})
        self.assert_code(at_ranks("load", bare, "--ghosts", 1, "--validate"), 0)

    def test_weights(self) -> None:
        box, parts = self.folder / "box.h5m", self.folder / "parts.h5m"
        self.assert_code(at_ranks("generate", "box", "--cells", 6, 6, 6, "-o", box), 0)
        words = ("partition", box, "-n", 3, "-m", "hilbert", "-o", parts)
        # GLOBAL_ID counts from 1, so the last cells have the largest weights.
        cut = at_ranks(*words, "--weight", "GLOBAL_ID", "--type-weight", "hex=2", "--json").json()
        self.assertLess(cut["weight_imbalance"], 1.02)
        self.assertGreater(cut["imbalance"], 1.1)
        self.assertIn("in weight", at_ranks(*words, "--weight", "GLOBAL_ID").out)
        for option, cause in (
            (("--weight", "GLOBALID"), "Did you mean 'GLOBAL_ID'?"),
            (("--weight", "NAME"), "must be a tag with a single number per cell"),
            (("--type-weight", "hx=2"), "is not of the form TYPE=N. Did you mean 'hex'?"),
            (("--type-weight", "hex=-2"), "is not of the form TYPE=N."),
            (("--type-weight", "hex"), "is not of the form TYPE=N."),
        ):
            with self.subTest(option):
                self.assert_error(at_ranks(*words, *option), 2, cause)

    def test_wing_without_a_partition(self) -> None:
        outcome = at_ranks("load", WING, "--ghosts", 1, "--validate", "--json")
        self.assert_code(outcome, 0)
        self.assertEqual(outcome.json()["checksum"], WING_CHECKSUM)
        self.assertEqual(outcome.json()["parts"], RANKS)

    def test_files_do_not_depend_on_the_rank_count(self) -> None:
        here, alone = self.folder / "here", self.folder / "alone"
        for folder in (here, alone):
            folder.mkdir()
        for run, folder in ((at_ranks, here), (barrio, alone)):
            self.assert_code(
                run("generate", "box", "-c", 5, 4, 3, "--tets", "-n", 7, "-o", folder / "box.h5m"),
                0,
            )
            self.assert_code(run("partition", WING, "-n", 6, "-o", folder / "wing.h5m"), 0)
            self.assert_code(
                run("partition", WING, "-n", 6, "--keep-order", "-o", folder / "kept.h5m"), 0
            )
            self.assert_code(run("convert", folder / "wing.h5m", folder / "wing.vtkhdf"), 0)
            self.assert_no_leftovers(folder)
        for name in ("box.h5m", "wing.h5m", "kept.h5m", "wing.vtkhdf"):
            with self.subTest(name):
                self.assertEqual(tool("digest", here / name), tool("digest", alone / name))

    def test_convert_and_back_is_the_same_mesh(self) -> None:
        self.assert_code(at_ranks("convert", WING, self.folder / "wing.h5m"), 0)
        outcome = barrio("load", self.folder / "wing.h5m", "--json")
        self.assert_code(outcome, 0)
        self.assertEqual(outcome.json()["checksum"], WING_CHECKSUM)

    def test_more_ranks_than_parts_is_a_notice(self) -> None:
        self.assert_code(
            barrio("generate", "box", "-c", 3, 3, 3, "-n", 2, "-o", self.folder / "two.h5m"), 0
        )
        outcome = barrio(
            "load", self.folder / "two.h5m", "--ghosts", 1, "--validate", "--json", ranks=RANKS + 2
        )
        self.assert_code(outcome, 0)
        self.assertIn(f"has 2 parts for {RANKS + 2} ranks: {RANKS} ranks stay empty", outcome.err)
        self.assertEqual(outcome.json()["owned_cells"]["min"], 0)
        self.assertEqual(outcome.json()["checksum"], BOX_CHECKSUM)

    def test_ranks_inside_a_launcher_are_refused(self) -> None:
        # Ignores the launcher's own messages, which comment on the exit code.
        outcome = execute([*MPIEXEC, "-n", str(RANKS), COMMAND, "--ranks", "4", "load", str(WING)])
        self.assert_code(outcome, 2)
        self.assertIn(f"--ranks 4: a launcher has already started {RANKS} ranks", outcome.err)
        self.assertIn("remedy: leave --ranks out under mpiexec or srun", outcome.err)

    def test_ranks_says_how_it_starts(self) -> None:
        outcome = barrio("load", WING, ranks=2)
        self.assert_code(outcome, 0)
        self.assertEqual(outcome.err.count("barrio: starting 2 ranks: "), 1)
        self.assertNotIn("starting", outcome.out)
        self.assertIn("parts            2 on 2 ranks", outcome.out)

    def test_trace_and_times(self) -> None:
        outcome = at_ranks("--times", "--trace", self.folder / "trace.json", "load", WING)
        self.assert_code(outcome, 0)
        self.assertIn("mesh.share", outcome.err)
        events = json.loads((self.folder / "trace.json").read_text())
        events = events["traceEvents"] if isinstance(events, dict) else events
        self.assertEqual(
            {
                e["pid"] if RANKS == 1 else e.get("pid", e.get("tid"))
                for e in events
                if e.get("name") == "mesh.share"
            }
            != set(),
            True,
        )
        self.assert_no_leftovers()


class Checksums(Case):
    """Checksums are the same on any number of ranks."""

    def test_one_to_eight_ranks(self) -> None:
        self.assert_code(barrio("partition", WING, "-n", 8, "-o", self.folder / "wing8.h5m"), 0)
        for ranks in (1, 2, 3, 4, 8):
            with self.subTest(ranks):
                outcome = barrio(
                    "load",
                    self.folder / "wing8.h5m",
                    "--ghosts",
                    1,
                    "--validate",
                    "--json",
                    ranks=ranks,
                )
                self.assert_code(outcome, 0)
                self.assertEqual(outcome.json()["checksum"], WING8_CHECKSUM)
                self.assertEqual(outcome.json()["ranks"], ranks)

    def test_files_are_the_same_bytes(self) -> None:
        wing = self.folder / "wing.h5m"
        self.assert_code(barrio("partition", WING, "-n", 3, "-o", wing), 0)
        for name, words in (
            ("out.h5m", ["partition", wing, "-n", 5, "-o"]),
            ("out.vtkhdf", ["convert", wing]),
        ):
            texts = []
            for ranks in (1, 3, 4):
                out = self.folder / name
                self.assert_code(barrio(*words, out, ranks=ranks), 0)
                texts.append(out.read_bytes())
            self.assertTrue(texts[0] == texts[1] == texts[2], name)


if __name__ == "__main__":
    unittest.main()
