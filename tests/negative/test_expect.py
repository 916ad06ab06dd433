"""expect.py must fail: each case is a command that misses one expectation."""

from __future__ import annotations

import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

SCRIPT = pathlib.Path(__file__).with_name("expect.py")
SPEAKER = [sys.executable, "-S", "-c", "import sys; print('red green green'); sys.exit(3)"]
SLEEPER = [sys.executable, "-S", "-c", "import time; print('begun', flush=True); time.sleep(60)"]


def expect(options: list[str], command: list[str]) -> tuple[bool, str]:
    done = subprocess.run(
        [sys.executable, SCRIPT, *options, "--", *command],
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode == 0, done.stdout


class Expect(unittest.TestCase):
    def test_says_yes_if_all_is_as_expected(self) -> None:
        passed, _ = expect(
            [
                "--exit",
                "3",
                "--text",
                "red",
                "--once",
                "red",
                "--count",
                "2",
                "green",
                "--forbid",
                "blue",
            ],
            SPEAKER,
        )
        self.assertTrue(passed)

    def test_says_no_to_what_differs(self) -> None:
        for options, reason in (
            (["--exit", "0"], "exit code 3, expected 0"),
            (["--exit", "3", "--text", "blue"], "'blue' is not in the output"),
            (["--exit", "3", "--once", "green"], "'green' is in the output 2 times, expected 1"),
            (
                ["--exit", "3", "--count", "1", "blue"],
                "'blue' is in the output 0 times, expected 1",
            ),
            (["--exit", "3", "--forbid", "red"], "'red' is in the output"),
        ):
            with self.subTest(reason):
                passed, output = expect(options, SPEAKER)
                self.assertFalse(passed)
                self.assertIn(reason, output)

    def test_ends_what_does_not_end(self) -> None:
        begin = time.monotonic()
        passed, output = expect(["--exit", "0", "--within", "0.5"], SLEEPER)
        self.assertFalse(passed)
        self.assertIn("it did not end within 0.5 s", output)
        self.assertIn("begun", output)
        self.assertLess(time.monotonic() - begin, 10)

    def test_runs_again_if_the_launcher_lost_the_exit_code(self) -> None:
        for lost, passes in ((2, True), (3, False)):
            with self.subTest(lost=lost), tempfile.TemporaryDirectory() as folder:
                count = pathlib.Path(folder, "count")
                count.write_text("0", encoding="utf-8")
                program = (
                    f"import pathlib, sys; count = pathlib.Path({str(count)!r}); n = int(count.read_text());"
                    f"count.write_text(str(n + 1)); lost = n < {lost};"
                    "print('TERMINATED WITH THE EXIT STRING: Hangup (signal 1)' if lost else 'red');"
                    "sys.exit(1 if lost else 3)"
                )
                passed, _ = expect(["--exit", "3"], [sys.executable, "-S", "-c", program])
                self.assertEqual(passed, passes)
                self.assertEqual(count.read_text(encoding="utf-8"), "3")


if __name__ == "__main__":
    unittest.main()
