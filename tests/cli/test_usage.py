"""User interface of the command: help, wrong command lines, JSON, the reference page. Needs no launcher."""

import json
import os
import re
import unittest
from pathlib import Path

from barrio_case import COMMAND, SOURCE, WING, Case, barrio, execute

COMMANDS = re.findall(r"^## barrio (\w+)$", barrio("reference").out, re.MULTILINE)
PARALLEL = ("generate", "convert", "partition", "load")


class Help(Case):
    def test_there_are_commands(self) -> None:
        self.assertGreaterEqual(
            set(COMMANDS),
            {"info", "generate", "convert", "partition", "load", "map", "report", "doctor"},
        )

    def test_every_command_shows_an_example(self) -> None:
        for command in COMMANDS:
            with self.subTest(command):
                outcome = barrio(command, "--help")
                self.assert_code(outcome, 0)
                self.assertRegex(outcome.out, rf"Example:\n  .*barrio .*{command} ?")
                self.assertEqual(outcome.err, "")

    def test_bash_completes_commands_and_options(self) -> None:
        script = barrio("completion").out

        def completed(*words: str) -> list[str]:
            line = " ".join(f"'{word}'" for word in words)
            last = f"COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _barrio"
            said = execute(["bash", "-c", f'{script}\n{last}\nprintf "%s\\n" "${{COMPREPLY[@]}}"'])
            self.assert_code(said, 0)
            return said.out.split()

        self.assertEqual(completed("barrio", "ad"), ["adapt"])
        self.assertEqual(set(completed("barrio", "")) & set(COMMANDS), set(COMMANDS))
        self.assertEqual(completed("barrio", "--ranks", "4", "adapt", "--min-s"), ["--min-size"])
        self.assertIn("--ranks", completed("barrio", "load", "--"))
        self.assertEqual(completed("barrio", "load", "wing"), [])  # names of files

    def test_usage_names_the_command_not_its_path(self) -> None:
        for words in ((), ("load",)):
            usage = barrio(*words, "--help").out.split("Usage: ")[1]
            self.assertTrue(usage.startswith(" ".join(("barrio", *words)) + " ["), usage[:80])

    def test_help_fits_into_the_terminal(self) -> None:
        for words in ([], *([command] for command in COMMANDS)):
            texts = set()
            for width in (40, 80, 200):
                with self.subTest(words=words, width=width):
                    outcome = barrio(*words, "--help", environment={"COLUMNS": str(width)})
                    self.assert_code(outcome, 0)
                    text, _, example = outcome.out.partition("Example")
                    for line in text.splitlines():
                        self.assertLessEqual(len(line), width, line)
                    for line in example.splitlines():  # a command is broken between words only
                        if len(line) > width:
                            self.assertEqual(len(line.removesuffix("\\").split()), 1, line)
                    self.assertNotRegex(outcome.out, r"\d{20}")
                    self.assertRegex(outcome.out, rf"(?m)^Usage: {' '.join(['barrio', *words])} \[")
                    texts.add("".join(text.split()))
            self.assertEqual(len(texts), 1, "the same text at all widths")

    def test_help_without_a_terminal_is_80_wide(self) -> None:
        outcome = barrio("--help", environment={"COLUMNS": ""})
        widest = max(len(line) for line in outcome.out.splitlines())
        self.assertTrue(70 <= widest <= 80, outcome.out)

    def test_help_names_the_options_of_all_commands(self) -> None:
        whole = barrio("--help").out
        for option in ("--ranks", "--json", "--result", "--times", "--trace", "--version"):
            self.assertRegex(whole, rf"(?m)^  {option}\b")
        for command in COMMANDS:
            self.assertIn("Options of all commands", barrio(command, "--help").out)

    def test_bench_lists_all_benchmarks(self) -> None:
        shown = barrio("bench", "--help").out
        programs = {
            path.name
            for path in (SOURCE / "benchmarks").iterdir()
            if (path / "CMakeLists.txt").exists()
        }
        self.assertGreater(len(programs), 5)
        for name in programs:
            self.assertRegex(shown, rf"(?m)^  {name} ")

    def test_a_number_out_of_range_is_named_in_few_words(self) -> None:
        for words in (
            ("adapt", "x.h5m", "--size", 1, "-o", "y.h5m", "--tolerance", -1),
            ("adapt", "x.h5m", "--size", 1, "-o", "y.h5m", "--max-seconds", -1),
            ("load", "x.h5m", "--step", -1),
        ):
            outcome = barrio(*words)
            self.assert_error(outcome, 2, f"{words[-2]}: -1 is not a number")
            self.assertNotRegex(outcome.err, r"\d{20}")

    def test_help_and_version_need_no_mpi(self) -> None:
        # A missing transport makes MPI_Init fail; the first run checks that it does.
        broken = {
            "OMPI_MCA_pml": "none-such",
            "OMPI_MCA_btl": "none-such",
            "MPICH_CH4_NETMOD": "none-such",
            "UCX_TLS": "none-such",
        }
        if barrio("load", WING, environment=broken).code == 0:
            self.skipTest("no way is known here to make MPI_Init fail")
        for words in (
            ["--help"],
            ["--version"],
            ["reference"],
            ["info", WING],
            *([c, "--help"] for c in COMMANDS),
        ):
            with self.subTest(words):
                self.assert_code(barrio(*words, environment=broken), 0)

    def test_one_process_needs_no_folder_of_its_launcher(self) -> None:
        # Open MPI keeps one folder for all single processes of a user, in which they disturb each other.
        file = self.folder / "no-folder"
        file.touch()
        outcome = barrio("load", WING, environment={"OMPI_MCA_orte_tmpdir_base": str(file)})
        self.assert_code(outcome, 0)

    def test_main_help_lists_all_commands(self) -> None:
        outcome = barrio("--help")
        self.assert_code(outcome, 0)
        for command in COMMANDS:
            self.assertRegex(outcome.out, rf"(?m)^  {command} ")

    def test_version_names_the_mpi(self) -> None:
        outcome = barrio("--version")
        self.assert_code(outcome, 0)
        self.assertRegex(outcome.out, r"^barrio \d+\.\d+\.\d+ .*(Open MPI|MPICH)")

    def test_reference_page_is_up_to_date(self) -> None:
        page = SOURCE / "docs" / "reference" / "command.md"
        self.assertEqual(
            page.read_text(),
            barrio("reference").out,
            "write it again: barrio reference > docs/reference/command.md",
        )


class WrongCommandLines(Case):
    """Exit code 2, one message, nothing on standard output."""

    def expect(self, words: list[object], *texts: str) -> None:
        with self.subTest(" ".join(map(str, words))):
            outcome = barrio(*words, cwd=self.folder)
            self.assert_error(outcome, 2, *texts)
            self.assertEqual(outcome.out, "")
            self.assertEqual(list(self.folder.iterdir()), [])

    def test_names(self) -> None:
        self.expect([], "a command is needed")
        self.expect(
            ["loadx"],
            "'loadx': is not a command of barrio. Did you mean 'load'?",
            "remedy: barrio --help",
        )
        self.expect(
            ["load", "--gost", 1, "x"],
            "'--gost': is not an option of barrio load. Did you mean '--ghosts'?",
            "remedy: barrio load --help",
        )
        self.expect(["info", "--no-qualty", "x"], "Did you mean '--no-quality'?")
        self.expect(["--jsn", "info", "x"], "Did you mean '--json'?")
        self.expect(["info", "x", "--rank", 4], "Did you mean '--ranks'?")
        self.expect(["info", "a", "b"], "'b': is not an argument of barrio info")

    def test_an_option_that_was_dropped(self) -> None:
        words = ["partition", "x.h5m", "-n", 2, "--full-parts", "-o", "y.h5m"]
        self.expect(words, "'--full-parts': does not exist any more", "leave it out")

    def test_former_spellings(self) -> None:
        for command, former, present in (
            ("delaunay", "--most-triangles", "--max-triangles"),
            ("adapt", "--most-cells", "--max-cells"),
            ("adapt", "--most-seconds", "--max-seconds"),
            ("adapt", "--least-quality=0.2", "--min-quality"),
            ("adapt", "--origin-field", "--parent-field"),
            ("adapt", "--finest", "--min-size"),
            ("adapt", "--largest", "--max-size"),
            ("join", "--all-or-nothing", "--require-conforming"),
        ):
            words = [command, "in.msh", former, 1, "-o", "out.h5m"]
            self.expect(words, f"'{former}': is spelt {present}", f"barrio {command} --help")

    def test_values(self) -> None:
        self.expect(["load"], "IN is required")
        self.expect(["load", "--ghosts", "x", "y"], "--ghosts")
        self.expect(
            ["partition", "x", "-n", 0, "-o", "y"], "--parts: 0 is not a whole number of 1 or more"
        )
        self.expect(
            ["partition", "x", "-n", "two", "-o", "y"],
            "--parts: two is not a whole number of 1 or more",
        )
        self.expect(["partition", "x", "-n", 99999999999999, "-o", "y"], "--parts")
        self.expect(["--ranks", 0, "load", "x"], "--ranks: 0 is not a whole number of 1 or more")
        self.expect(["generate", "box", "--cells", 2, 2, "-o", "x.h5m"], "--cells")
        self.expect(["partition", "x", "-n", 2, "-o", "x.vtk"], "'x.vtk' does not end in .h5m")
        self.expect(["load", "x", "--vtkhdf", "x.vtk"], "'x.vtk' does not end in .vtkhdf")
        self.expect(["--ranks", 100000, "load", "x"], "--ranks 100000: is more than 64 for each")
        self.expect(
            ["exec", "--rank", 2, "true"],
            "'--rank': stands where the program to run is expected",
            "remedy: options of barrio go before the program",
        )

    def test_exec_runs_what_the_shell_would(self) -> None:
        """The launcher looks in its own folder first; a virtual environment is before that in PATH."""
        mine = self.folder / "env"
        mine.mkdir()
        program = mine / "python3"
        program.write_text("#!/bin/sh\necho mine\n")
        program.chmod(0o755)
        path = f"{mine}:{os.environ['PATH']}"
        outcome = barrio("exec", "python3", ranks=2, environment={"PATH": path})
        self.assert_code(outcome, 0)
        self.assertEqual(outcome.out, "mine\nmine\n")

    def test_exec_looks_before_it_starts(self) -> None:
        plain = self.folder / "plain"
        plain.write_text("no program")
        for program, cause in (
            ("no_such_program_9", "no_such_program_9: is not in PATH"),
            (plain, "may not be executed"),
            (self.folder, "is a folder, not a program"),
            (self.folder / "absent", "does not exist"),
        ):
            with self.subTest(program):
                self.assert_error(barrio("exec", program, ranks=2), 1, cause)

    def test_places_are_looked_at_before_the_work(self) -> None:
        absent = self.folder / "absent" / "x.json"
        for option in ("--result", "--trace"):
            with self.subTest(option):
                outcome = barrio(option, absent, "load", WING)
                cause = f"{absent}: cannot be written: the folder {absent.parent} does not exist"
                self.assert_error(outcome, 1, cause)
                self.assertEqual(outcome.out, "")

    def test_values_that_the_work_refuses(self) -> None:
        self.expect(
            ["load", WING, "--method", "rbc"],
            "partitioner 'rbc': is not known. Did you mean 'rcb'?",
        )
        self.expect(["load", WING, "--ghosts", -1], "-1 ghost layers")
        self.expect(
            ["join", WING, WING, "--joint", "0:1", "-o", "x.h5m"],
            "--joint 0:1: is not of the form A:B:TOLERANCE",
        )
        self.expect(
            ["join", WING, WING, "--joint", "0:2:1e-3", "-o", "x.h5m"],
            "joint of pieces 0 and 2: does not exist among 2 pieces",
        )
        self.expect(
            ["generate", "box", "--volumes", 11, 1, 1, "-o", "x.h5m"],
            "11 pieces along axis 0: must not exceed the 10 cells there",
        )
        self.expect(
            ["partition", WING, "-n", 4, "-m", "mets", "-o", "x.h5m"],
            "partitioner 'mets': is not known. Did you mean 'metis'?",
        )
        self.expect(
            ["partition", WING, "-n", 4592, "-o", "x.h5m"],
            "4592 parts: are more than the 4591 cells of the mesh",
        )
        self.expect(
            ["convert", WING, "x.h5n"],
            "has the suffix '.h5n', which barrio does not write. Did you mean '.h5m'?",
        )
        self.expect(
            ["generate", "bx", "-o", "x.h5m"], "shape 'bx': is not known. Did you mean 'box'?"
        )
        self.expect(
            ["generate", "box", "--cells", 0, 2, 2, "-o", "x.h5m"],
            "needs at least one cell along each axis",
        )
        self.expect(
            ["generate", "box", "--cells", *[3000000] * 3, "-o", "x.h5m"],
            "has more vertices than can be numbered",
        )
        self.expect(
            ["generate", "box", "--low", 0, 0, "inf", "-o", "x.h5m"], "needs finite corners"
        )
        self.expect(
            ["generate", "box", "--high", 1, 0, 1, "-o", "x.h5m"],
            "needs finite corners, the lower one below the upper one",
        )

    def test_numbers_that_are_none_are_refused(self) -> None:
        for words in (
            ["join", "a.h5m", "b.h5m", "-t", "nan", "-o", "x.h5m"],
            ["adapt", "a.h5m", "--size", 1, "--max-size", "NaN", "-o", "x.h5m"],
            ["adapt", "a.h5m", "--size", 1, "--feature-angle=-nan", "-o", "x.h5m"],
            ["delaunay", "a.poly", "--max-area", "nan", "-o", "x.ele"],
        ):
            self.expect(words, "is not a number")

    def test_a_partitioner_is_checked_even_if_the_file_has_parts(self) -> None:
        self.assert_code(
            barrio("generate", "box", "-c", 2, 2, 2, "-n", 2, "-o", self.folder / "box.h5m"), 0
        )
        self.assert_error(
            barrio("load", self.folder / "box.h5m", "--method", "rbc"), 2, "Did you mean 'rcb'?"
        )

    def test_machines(self) -> None:
        traffic = self.folder / "traffic.json"
        self.assert_code(barrio("load", WING, "--traffic", traffic), 0)
        for machine in (
            "zz",
            "2x",
            "0x4",
            "2x4x",
            "-1x3",
            "torus:",
            "8:16;1",
            "99999999x99999999",
            "x" * 5000,
        ):
            with self.subTest(machine[:20]):
                outcome = barrio("map", traffic, f"--machine={machine}", limit=10)
                self.assert_error(outcome, 2, "machine", "remedy: ")
        self.assert_error(
            barrio("map", traffic, "--machine", "2x4", "--weight", "byts"),
            2,
            "Did you mean 'bytes'?",
        )
        self.assert_error(
            barrio("map", traffic, "--machine", "2x4", "--format", "slrm"),
            2,
            "Did you mean 'slurm'?",
        )
        self.assert_error(
            barrio("map", traffic, "--machine", "2x4", "--given", "nowhere.txt"), 1, "nowhere.txt"
        )
        for words, message in (
            (["--time", "-1"], "is negative"),
            (["--seed", "-1"], "--seed"),
            (["--pin", "0="], "is neither RANK nor RANK=CORE"),
            (["--pin", "0=99"], "core 99 is not in 0..7"),
            (["--pin", "7"], "must be of a rank in 0..0"),
            (["--bottleneck", "2"], "use a share, 0 to 1"),
            (["--method", "bset"], "Did you mean 'best'?"),
            (["--message-bytes", "-1"], "is -1"),
        ):
            with self.subTest(words=words):
                self.assert_error(barrio("map", traffic, "--machine", "2x4", *words), 2, message)
        self.assert_error(barrio("map", traffic), 2, "--machine", "is required")
        self.assert_error(barrio("map", f"{traffic}*x", "--machine", "2x4"), 2, "after its '*'")
        # An option's list does not consume the traffic file after it.
        named = barrio("map", "--machine", "2x4", "--hosts", "a,b", traffic, "--json")
        self.assert_code(named, 0)
        self.assertEqual(json.loads(named.out)["node_names"], ["a", "b"])
        several = barrio(
            "map", "--pin", "0=3", traffic, f"{traffic}*2.5", "--machine", "2x4", "--json"
        )
        self.assert_code(several, 0)
        self.assertEqual(json.loads(several.out)["placement"], [3])

    def test_orders_that_are_not_worth_it(self) -> None:
        def write(name: str, entries: list, collectives: list) -> Path:
            path = self.folder / name
            head = {"schema": "barrio.traffic", "schema_version": 1, "ranks": 4}
            path.write_text(json.dumps(head | {"entries": entries, "collectives": collectives}))
            return path

        def entry(source: int, target: int, n_bytes: int) -> list:
            return [source, target, 0, n_bytes, 1]

        inside = [entry(0, 1, 1000), entry(2, 3, 1000)]
        small = write("small.json", [*inside, entry(0, 2, 1000), entry(1, 3, 1006)], [])
        guessed = write("guessed.json", inside, [entry(0, 2, 9000), entry(1, 3, 9000)])
        order = self.folder / "order"
        words = ["--machine", "2x2", "-f", "permutation", "-o", order]
        given = [[0, 1], [2, 3]]
        better = [
            [0, 2],
            [1, 3],
        ]  # by node; the order of nodes and of cores does not change the cost

        def nodes(placement: list[int]) -> list[list[int]]:
            return sorted([r for r, core in enumerate(placement) if core // 2 == n] for n in (0, 1))

        for traffic, more, ranks, told in (
            (small, [], given, "gains 0.245 %, less than --min-gain 0.5"),
            (small, ["--min-gain", "0.1"], better, ""),
            (guessed, [], given, "a recording only estimates"),
            (guessed, ["--collectives", "1"], better, ""),
            (guessed, ["--collectives", "0"], given, "as good as the placement found"),
        ):
            with self.subTest(traffic=traffic.name, more=more):
                done = barrio("map", traffic, *words, *more, "--json")
                self.assert_code(done, 0)
                document = done.json()
                self.assertEqual(nodes(document["placement"]), ranks)
                if told:
                    self.assertEqual(document["placement"], [0, 1, 2, 3])
                lines = [line for line in order.read_text().splitlines() if line[0] != "#"]
                self.assertEqual([int(line) for line in lines], document["placement"])
                self.assertIn(told, document["choice"]["reason"])
                self.assertEqual(document["choice"]["order"], "given" if told else "found")
                text = barrio("map", traffic, *words, *more)
                self.assertEqual("the given order stays: " in text.out, bool(told), str(text))
        # The document keeps the best placement found.
        document = barrio("map", small, *words, "--json").json()
        self.assertEqual(nodes(document["choice"]["found"]["placement"]), better)
        self.assertLess(document["choice"]["found"]["cost"], document["after"]["cost"])
        self.assert_error(
            barrio("map", small, *words, "--min-gain", "-1"), 2, "--min-gain -1", "use 0 to 100"
        )
        # A machine whose near ranks are more distant than its far ranks gets a warning.
        for machine, is_told in (("2:2;10:1", True), ("2:2;1:10", False)):
            done = barrio("map", small, "--machine", machine)
            self.assertEqual("the wrong way round" in done.out, is_told, str(done))
            done = barrio("map", small, "--machine", machine, "--json")
            self.assertEqual(len(done.json()["warnings"]), int(is_told))

    def test_traffic_files(self) -> None:
        garbage = {
            "random": os.urandom(3000),
            "empty": b"",
            "text": b"hello\nworld\n",
            "json": b'{"schema":"barrio.traffic"}',
            "other": b'{"schema":"barrio.load","schema_version":1}',
            "cut": b'{"schema": "barrio.traffic", "ra',
            "matrix": b"%%MatrixMarket matrix coordinate real general\n3 3 1\n9 9 1.0\n",
            "absurd": b"%%MatrixMarket matrix coordinate real general\n999999999999 999999999999 1\n1 1 1.0\n",
        }
        for name, content in garbage.items():
            with self.subTest(name):
                path = self.folder / name
                path.write_bytes(content)
                self.assert_error(barrio("map", path, "--machine", "2x4", limit=10), 3, str(path))
        self.assert_error(
            barrio("map", self.folder / "none", "--machine", "2x4"), 1, "cannot be read"
        )


class OutputsAreTriedBeforeTheWork(Case):
    """The inputs do not exist: a message about the output was made before anything was read."""

    COMMANDS = (
        ("generate", "box", "-c", 2, 2, 2, "-o", "OUT.h5m"),
        ("convert", "none.msh", "OUT.h5m"),
        ("convert", "none.msh", "OUT.vtkhdf"),
        ("partition", "none.h5m", "-n", 2, "-o", "OUT.h5m"),
        ("join", "none.h5m", "none2.h5m", "-o", "OUT.h5m"),
        ("adapt", "none.h5m", "--size", 1, "-o", "OUT.h5m"),
        ("adapt", "none.mesh", "--size", 1, "-o", "OUT.mesh"),
        ("delaunay", "none.poly", "-o", "OUT.ele"),
        ("delaunay", "none.poly", "-o", "OUT.h5m"),
        ("load", "none.h5m", "--vtkhdf", "OUT.vtkhdf"),
        ("load", "none.h5m", "--traffic", "OUT.json"),
        ("load", "none.h5m", "--part-traffic", "OUT.json"),
        ("load", "none.h5m", "--result", "OUT.json"),
        ("load", "none.h5m", "--trace", "OUT.json"),
        ("map", "none.json", "--machine", "2x2", "-o", "OUT.txt"),
        ("map", "none.json", "--machine", "2x2", "--report", "OUT.html"),
        ("record", "-o", "OUT.json", "--", "true"),
        ("report", "none.json", "-o", "OUT.html"),
    )

    def expect_named(self, stem: str, cause: str, shell: str = "") -> None:
        for command in self.COMMANDS:
            words = [str(word).replace("OUT", stem) for word in command]
            with self.subTest(" ".join(words)):
                line = [COMMAND, *words]
                outcome = execute(["bash", "-c", f'{shell} exec "$@"', "-", *line])
                self.assert_error(outcome, 1, "cannot be written", cause)

    def test_a_folder_that_does_not_exist(self) -> None:
        self.expect_named(f"{self.folder}/nowhere/x", "the folder")

    def test_a_file_in_place_of_the_folder(self) -> None:
        (self.folder / "file").write_text("")
        self.expect_named(f"{self.folder}/file/x", "is not a folder")

    def test_a_folder_that_cannot_be_written(self) -> None:
        self.expect_named("/proc/x", "")

    def test_a_full_folder(self) -> None:
        # A limit on the size of files stands for a full disk.
        self.expect_named(
            f"{self.folder}/x", "File too large", shell="export UCX_TLS=tcp,self; ulimit -f 32;"
        )
        self.assertEqual(list(self.folder.iterdir()), [])


class Streams(Case):
    def test_results_on_stdout_messages_on_stderr(self) -> None:
        outcome = barrio("load", WING)
        self.assert_code(outcome, 0)
        self.assertTrue(outcome.out.startswith(str(WING) + "\n"), str(outcome))
        self.assertNotIn("barrio: ", outcome.out)
        self.assertIn("has no partition: cutting it into 1 parts by rcb", outcome.err)
        quiet = barrio("load", WING, environment={"BARRIO_LOG": "off"})
        self.assertEqual(quiet.err, "")

    def test_json_is_one_document_with_a_schema(self) -> None:
        box = self.folder / "box.h5m"
        traffic = self.folder / "traffic.json"
        runs = {
            "generate": ["generate", "box", "-c", 3, 3, 3, "-n", 3, "-o", box],
            "info": ["info", box],
            "load": ["load", box, "--traffic", traffic],
            "map": ["map", traffic, "--machine", "2x4"],
            "partition": ["partition", box, "-n", 2, "-o", self.folder / "two.h5m"],
            "convert": ["convert", box, self.folder / "box.vtkhdf"],
        }
        for name, words in runs.items():
            for line in (["--json", *words], [*words, "--json"]):
                with self.subTest(name):
                    outcome = barrio(*line)
                    self.assert_code(outcome, 0)
                    document = outcome.json()  # fails on a second document
                    self.assertEqual(document["schema"], f"barrio.{name}")
                    self.assertIsInstance(document["schema_version"], int)
                    if name in PARALLEL:
                        self.assertIn("phases", document)
        self.assertEqual(json.loads(traffic.read_text())["schema"], "barrio.traffic")

    def test_json_of_a_failure(self) -> None:
        for words in (["info", "none.h5m"], ["load", "none.h5m"]):
            with self.subTest(words):
                outcome = barrio(*words, "--json", cwd=self.folder)
                self.assert_error(outcome, 1, "none.h5m: cannot be read")
                document = outcome.json()
                self.assertEqual(document["schema"], "barrio.error")
                self.assertEqual(document["error"]["code"], 1)
                self.assertEqual(document["error"]["subject"], "none.h5m")

    def test_a_full_stdout_is_no_success(self) -> None:
        for words in (["info", WING], ["info", WING, "--json"], ["load", WING, "--json"]):
            with self.subTest(words):
                with open("/dev/full", "w") as full:
                    self.assert_error(
                        barrio(*words, stdout=full),
                        1,
                        "standard output: cannot be written: No space left on device",
                    )

    def test_names_that_are_no_utf8(self) -> None:
        # Latin-1, and a name that the 32 bytes of a .h5m file cut in the middle of a character.
        text = WING.read_bytes()
        for name in (b"Fl\xfcgel", ("Flügel " * 4 + "üüüü").encode()):
            path = self.folder / "name.msh"
            path.write_bytes(text.replace(b'2 1 "wing"', b'2 1 "' + name + b'"'))
            self.assertEqual(
                barrio("info", path, "--json").json()["named_sets"][0]["kind"], "neumann"
            )
            self.assert_code(barrio("convert", path, self.folder / "name.h5m"), 0)
            self.assertEqual(
                barrio("info", self.folder / "name.h5m", "--json").json()["sets"]["neumann"], 3
            )
            self.assert_code(barrio("load", self.folder / "name.h5m", "--json"), 0)

    def test_hidden_python_is_said(self) -> None:
        outcome = barrio(
            "report",
            "x.json",
            "-o",
            self.folder / "r.html",
            environment={"BARRIO_PYTHON": "/nowhere/python"},
        )
        self.assert_error(outcome, 1, "barrio report", "/nowhere/python", "remedy: ")


if __name__ == "__main__":
    unittest.main()
