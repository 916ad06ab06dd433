"""barrio delaunay --method pcdm: the same files on any ranks, audits, names, and refused options."""

import filecmp
import json
import os
import unittest

from barrio_case import SOURCE, Case, barrio

PLATE = SOURCE / "data" / "plate.poly"
COAST = SOURCE / "data" / "iceland.geojson"
PCDM = ["--method", "pcdm"]


class InParts(Case):
    def test_files_do_not_depend_on_ranks_and_pass_the_audit(self) -> None:
        for ending in ("h5m", "vtkhdf"):
            one, three = self.folder / f"one.{ending}", self.folder / f"three.{ending}"
            bounds = ["--max-area", "0.0005", "--min-angle", "25"]
            made = barrio("delaunay", PLATE, *bounds, *PCDM, "-o", one, "--json")
            self.assert_code(made, 0)
            again = barrio("delaunay", PLATE, *bounds, *PCDM, "-o", three, "--json", ranks=3)
            self.assert_code(again, 0)
            self.assertEqual(made.json()["checksum"], again.json()["checksum"])
            self.assertEqual(made.json()["parts"]["n"], 16)
            self.assertTrue(filecmp.cmp(one, three, shallow=False))
        mesh = self.folder / "three.h5m"
        audit = barrio("delaunay", "--audit", mesh, PLATE, *bounds, *PCDM, "--json")
        self.assert_code(audit, 0)
        self.assertEqual(audit.json()["audit"]["triangles"], made.json()["triangles"])
        told = barrio("info", mesh).out
        self.assertIn("parts       16", told)
        self.assertIn("material 2", told)
        as_a_whole = barrio("delaunay", "--audit", mesh, PLATE, *bounds)
        self.assert_code(as_a_whole, 4)
        self.assertIn("delaunay     FAULT", as_a_whole.out)

    def test_coast_with_sizes_on_two_ranks(self) -> None:
        mesh = self.folder / "coast.h5m"
        sizes = ["--size", "20000", "--size", "marker,id=5,min_size=4000,growth=0.3"]
        made = barrio("delaunay", COAST, *sizes, *PCDM, "--parts", "9", "-o", mesh, ranks=2)
        self.assert_code(made, 0)
        self.assertIn("  9 parts along ", made.out)
        audit = barrio("delaunay", "--audit", mesh, COAST, *sizes, *PCDM)
        self.assert_code(audit, 0)
        self.assertIn("Vatnaj", barrio("info", mesh).out)

    def test_asynchronous_parts_pass_the_audit(self) -> None:
        mesh = self.folder / "mesh.h5m"
        bounds = ["--max-area", "0.0001", "--min-angle", "25"]
        words = [*PCDM, "--parts", "20", "--asynchronous"]
        made = barrio("delaunay", PLATE, *bounds, *words, "-o", mesh, "--json", ranks=2)
        self.assert_code(made, 0)
        self.assertTrue(made.json()["options"]["asynchronous"])
        self.assert_code(barrio("delaunay", "--audit", mesh, PLATE, *bounds, *PCDM), 0)
        self.assert_code(barrio("delaunay", PLATE, "--asynchronous", "-o", mesh), 2)

    def test_a_limit_of_memory_changes_nothing_but_the_memory(self) -> None:
        bounds = ["--max-area", "0.00002", "--parts", "60"]
        whole, small = self.folder / "whole.h5m", self.folder / "small.h5m"
        made = barrio("delaunay", PLATE, *bounds, *PCDM, "-o", whole, "--json", ranks=2)
        self.assert_code(made, 0)
        scratch = ["--scratch", os.getcwd()]  # on a disk, unlike some folders for tests
        limited = barrio(
            "delaunay",
            PLATE,
            *bounds,
            *PCDM,
            "--memory",
            "6MB",
            *scratch,
            "-o",
            small,
            "--json",
            "--trace",
            self.folder / "trace.json",
            ranks=2,
        )
        if "is in memory" in limited.err:
            self.skipTest(f"{os.getcwd()} is in memory")
        self.assert_code(limited, 0)
        self.assertTrue(filecmp.cmp(whole, small, shallow=False))
        self.assertEqual(limited.json()["options"]["memory"], 6_000_000)
        self.assertGreater(limited.json()["parts"]["bytes_written"], 5_000_000)
        seconds = limited.json()["parts"]["seconds"]
        self.assertGreater(seconds["disk"], 0)
        self.assertGreater(seconds["computing"], 0)
        self.assertLessEqual(seconds["computing"] + seconds["waiting_for_disk"], seconds["run"])
        held = limited.json()["parts"]["max_memory_of_rank"]
        self.assertLessEqual(held["all"], 3_000_000)
        self.assertGreater(held["objects"], 500_000)
        self.assertGreater(held["blocks of the disk"], 0)
        self.assertEqual(made.json()["parts"]["max_memory_of_rank"], {})
        self.assertLess(limited.json()["memory_bytes"], 6_000_000)
        self.assertGreater(made.json()["memory_bytes"], 20_000_000)
        events = json.loads((self.folder / "trace.json").read_text())
        tracks = {one["args"]["name"]: one["tid"] for one in events if one["name"] == "thread_name"}
        for rank in ("rank 0", "rank 1"):
            of_disk = [tid for name, tid in tracks.items() if name.startswith(f"{rank}: disk")]
            on_disk = {one["name"] for one in events if one.get("tid") in of_disk}
            self.assertLessEqual({"mobile.read", "mobile.write"}, on_disk)
            curve = f"{rank}: bytes of mobile objects in memory"
            values = [one["args"]["value"] for one in events if one["name"] == curve]
            self.assertGreater(len(values), 20)
            self.assertGreater(min(values), 0)

    def test_scratch_folders_that_do_not_do(self) -> None:
        mesh = self.folder / "x.h5m"
        limit = [*PCDM, "--memory", "1GB"]
        for folder, code, said in (
            (self.folder / "none", 1, "does not exist"),
            ("/dev/shm", 2, "is in memory"),
        ):
            if not os.path.isdir("/dev/shm") and code == 2:
                continue
            made = barrio("delaunay", PLATE, *limit, "--scratch", folder, "-o", mesh, ranks=2)
            self.assert_code(made, code)
            self.assertIn(said, made.err)
        self.assert_code(barrio("delaunay", PLATE, "--memory", "1GB", "-o", mesh), 2)
        self.assert_code(barrio("delaunay", PLATE, "--parts", "4", "-o", mesh), 2)
        self.assert_code(barrio("delaunay", PLATE, *PCDM, "--memory", "much", "-o", mesh), 2)
        self.assertEqual(os.listdir(self.folder), [])

    def test_what_does_not_go_together_is_refused_and_writes_nothing(self) -> None:
        mesh = self.folder / "x.h5m"
        for words in (
            ["--move-points"],
            ["--no-refinement"],
            ["--hull"],
            ["--max-triangles", "1000"],
            ["-o", self.folder / "x.msh"],
        ):
            output = [] if "-o" in words else ["-o", mesh]
            made = barrio("delaunay", PLATE, *PCDM, *words, *output, ranks=2)
            self.assert_code(made, 2)
        self.assertEqual(os.listdir(self.folder), [])
        self.assert_code(barrio("delaunay", PLATE, "--method", "updr", "-o", mesh), 2)


if __name__ == "__main__":
    unittest.main()
