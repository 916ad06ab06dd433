"""Global options work the same before and after the name of every subcommand."""

import json
import re
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

from barrio_case import ALL, COMMAND, SOURCE, WING, Case, Outcome, barrio, execute

REFERENCE = barrio("reference").out
# A build without the Python package has no reports, and its message names the command.
HAS_REPORTS = "barrio report" not in barrio("report", "no-such-run.json").err
COMMANDS = [
    name
    for name in re.findall(r"^## barrio (\w+)$", REFERENCE, re.MULTILINE)
    if name != "report" or HAS_REPORTS
]
# One command of each kind but by night: options are read in one place for all.
KINDS = ("info", "load", "exec", "record", "report", "bench")
if not ALL:
    COMMANDS = [name for name in COMMANDS if name in KINDS]
GENERAL = REFERENCE.split("## Options of all commands")[1].split("## barrio")[0]
GLOBALS = set(re.findall(r"^\| `(?:-\w,)?(--\w+)", GENERAL, re.MULTILINE))
# Commands that pass on the words after their own: options of barrio there belong to the started program.
ENDS_WITH_A_PROGRAM = {"exec", "record", "seat"}
WITHOUT_RESULT = {"exec", "seat"}
SCHEMAS = {"bench": "barrio.bench.strategies"}
LIMIT = 90.0


class GlobalOptions(Case):
    @classmethod
    def setUpClass(cls) -> None:
        cls.made = Path(tempfile.mkdtemp(prefix="barrio-cli-"))
        cls.addClassCleanup(shutil.rmtree, cls.made, ignore_errors=True)
        cls.box = cls.made / "box.h5m"
        cls.traffic = cls.made / "traffic.json"
        cls.make("generate", "box", "-c", 4, 4, 4, "-n", 2, "-o", cls.box)
        cls.make("load", cls.box, "--traffic", cls.traffic, "--result", cls.made / "load.json")
        cls.make("generate", "box", "-c", 2, 2, 2, "--tets", "-o", cls.made / "tets.h5m")
        for x in (0, 1):
            corner = ("--low", x, 0, 0, "--high", x + 1, 1, 1)
            cls.make("generate", "box", "-c", 2, 2, 2, *corner, "-o", cls.made / f"{x}.h5m")

    @classmethod
    def make(cls, *words: object) -> None:
        outcome = barrio(*words, environment={"BARRIO_LOG": "error"})
        if outcome.code != 0:
            raise AssertionError(str(outcome))

    def words_of(self, command: str) -> list[object]:
        """Return arguments of a subcommand for a short run."""
        new = self.folder / "new.h5m"
        quick = ["--parts", "rounds", "--sizes", 8, "--repeats", 1, "--batch-seconds", 0.001]
        return {
            "info": [WING],
            "generate": ["box", "-c", 3, 3, 3, "-o", new],
            "convert": [self.box, self.folder / "new.vtkhdf"],
            "partition": [self.box, "-n", 2, "-o", new],
            "join": [self.made / "0.h5m", self.made / "1.h5m", "--tolerance", 1e-6, "-o", new],
            "adapt": [self.made / "tets.h5m", "--size", 0.5, "-o", new],
            "amr": [SOURCE / "examples" / "15-amr" / "sod.toml", "--set", "run.steps=2"],
            "delaunay": [SOURCE / "data" / "plate.poly", "-o", new],
            "load": [self.box],
            "probe": ["--depth", "limits", "--transport", "shm", "--no-settings", "--no-store"],
            "record": ["-o", self.folder / "new.json", "--", COMMAND, "load", self.box],
            "map": [self.traffic, "--machine", "2x4"],
            "seat": [self.made / "load.json", "--", "true"],
            "report": [self.made / "load.json", "-o", self.folder / "report.html"],
            "exec": ["true"],
            "bench": ["strategies", *quick],
            "doctor": [],
        }[command]

    def places(self, command: str, option: list[object]) -> dict[str, list[object]]:
        words = self.words_of(command)
        lines = {"before": [*option, command, *words]}
        if command in ENDS_WITH_A_PROGRAM or command == "bench":
            lines["behind the name"] = [command, *option, *words]
        if command not in ENDS_WITH_A_PROGRAM:
            lines["at the end"] = [command, *words, *option]
        return lines

    def what_it_did(self, outcome: Outcome) -> dict[str, object]:
        """Return everything that must not depend on the position of the options."""
        told = [
            line
            for line in outcome.err.splitlines()
            if re.search(r"does not use|barrio: error|remedy", line)
        ]
        return {
            "code": outcome.code,
            "told": told,
            "ranks": re.findall(r"starting \d+ ranks?", outcome.err),
            "prints": outcome.out != "",
            "times": "region" in outcome.err,
        }

    def told_unused(self, outcome: Outcome) -> str:
        return " ".join(re.findall(r"does not use (.*)", outcome.err))

    def keys_of(self, text: str) -> tuple[str, list[str]]:
        document = json.loads(text)  # fails on two documents, and on extra text
        self.assertIsInstance(document["schema_version"], int)
        return document["schema"], sorted(document)

    def assert_same(self, command: str, option: list[object]) -> dict[str, Outcome]:
        outcomes = {
            place: barrio(*line, cwd=self.folder, limit=LIMIT)
            for place, line in self.places(command, option).items()
        }
        first = outcomes["before"]
        for place, outcome in outcomes.items():
            with self.subTest(command=command, option=option, place=place):
                self.assertEqual(self.what_it_did(outcome), self.what_it_did(first), str(outcome))
                # barrio seat needs a launcher.
                self.assertEqual(outcome.code, 2 if command == "seat" else 0, str(outcome))
        return outcomes

    def test_every_option_is_tried(self) -> None:
        self.assertEqual(
            GLOBALS,
            {"--help", "--version", "--ranks", "--json", "--result", "--times", "--trace"},
        )

    def test_version(self) -> None:
        version = barrio("--version").out
        for command in COMMANDS:
            lines = self.places(command, ["--version"])
            for place, line in lines.items():
                with self.subTest(command=command, place=place):
                    outcome = barrio(*line)
                    self.assert_code(outcome, 0)
                    self.assertEqual(outcome.out, version, str(outcome))

    def test_ranks(self) -> None:
        for command in COMMANDS:
            for outcome in self.assert_same(command, ["--ranks", 2]).values():
                starts = "starting 2 ranks" in outcome.err or command in ("probe", "record")
                self.assertNotEqual(starts, "does not use --ranks" in outcome.err, str(outcome))

    def test_json(self) -> None:
        for command in COMMANDS:
            documents = []
            for place, outcome in self.assert_same(command, ["--json"]).items():
                with self.subTest(command=command, place=place):
                    if command == "exec":
                        self.assertIn("does not use --json", outcome.err)
                        continue
                    documents.append(self.keys_of(outcome.out))
                    wanted = SCHEMAS.get(command, f"barrio.{command}")
                    self.assertEqual(
                        documents[-1][0], "barrio.error" if command == "seat" else wanted
                    )
            self.assertTrue(all(document == documents[0] for document in documents))

    def test_files_and_times(self) -> None:
        for command in COMMANDS:
            for place in self.places(command, []):
                result = self.folder / f"{command}-{place.split()[0]}-result.json"
                trace = self.folder / f"{command}-{place.split()[0]}-trace.json"
                option = ["--times", "--result", result, "--trace", trace]

                outcome = barrio(*self.places(command, option)[place], cwd=self.folder, limit=LIMIT)
                with self.subTest(command=command, place=place):
                    self.assert_code(outcome, 2 if command == "seat" else 0)
                    self.assert_file(result, "--result", outcome, command in WITHOUT_RESULT)
                    unused = self.told_unused(outcome)
                    self.assert_file(trace, "--trace", outcome, "--trace" in unused)
                    self.assertNotEqual("region" in outcome.err, "--times" in unused, str(outcome))

    def assert_file(self, path: Path, option: str, outcome: Outcome, is_left_out: bool) -> None:
        """Assert that the file exists, or that a message says why not."""
        self.assertEqual(option in self.told_unused(outcome), is_left_out, str(outcome))
        self.assertEqual(path.exists(), not is_left_out, str(outcome))
        if path.exists():
            json.loads(path.read_text())

    def test_a_wrong_command_line_is_a_document_too(self) -> None:
        for line in (["--json", "loadx", WING], ["load", WING, "--json", "--gost"]):
            with self.subTest(line):
                outcome = barrio(*line)
                self.assert_error(outcome, 2, "Did you mean")
                self.assertEqual(outcome.json()["error"]["code"], 2)

    def test_json_of_a_failing_benchmark(self) -> None:
        for line in (["--json", "bench", "strategies", "--parts", "x"], ["bench", "x", "--json"]):
            with self.subTest(line):
                outcome = barrio(*line)
                self.assert_error(outcome, 2)
                self.assertEqual(outcome.json()["schema"], "barrio.error")

    def test_all_benchmarks_have_their_own_ranks(self) -> None:
        self.assert_error(barrio("--ranks", 2, "bench", "all"), 2, "cannot be given to bench all")
        self.assert_error(barrio("bench", "all", "mash"), 2, "Did you mean 'mesh'?")

    def test_options_behind_a_program_are_its_own(self) -> None:
        script = self.folder / "words.py"
        script.write_text("import sys\nprint(sys.argv[1:])\n")
        outcome = barrio("exec", "--ranks", 1, sys.executable, script, "--ranks", 3, "--json")
        self.assert_code(outcome, 0)
        self.assertEqual(outcome.out.strip(), "['--ranks', '3', '--json']")
        new = self.folder / "new.json"
        outcome = barrio("record", "-o", new, "--", COMMAND, "load", self.box, "--json")
        self.assert_code(outcome, 0)
        self.assertIn('"schema": "barrio.load"', outcome.out)

    def test_ranks_of_a_launcher_stay(self) -> None:
        for line in (["bench", "strategies", "--ranks", 2], ["--ranks", 2, "bench", "strategies"]):
            with self.subTest(line):
                outcome = execute(
                    [COMMAND, *map(str, line)], environment={"OMPI_COMM_WORLD_SIZE": "2"}
                )
                self.assert_error(outcome, 2, "--ranks 2: a launcher has already started 2 ranks")


if __name__ == "__main__":
    unittest.main()
