"""Progress bars appear on a terminal, also through the launcher, and nowhere else."""

import os
import pty
import re
import subprocess
import unittest

from barrio_case import COMMAND, Case, barrio

ERASE = "\r\x1b[K"
WORK = ["generate", "box", "--cells", "50", "50", "50", "--tets", "--parts", "8", "-o"]


class Bars(Case):
    def on_a_terminal(self, *words: object, **environment: str) -> tuple[int, str]:
        """Run the command with only standard error on a terminal. @return exit code and the text on that terminal"""
        ours, theirs = pty.openpty()
        with subprocess.Popen(
            [COMMAND, *map(str, words)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=theirs,
            env=os.environ | environment,
        ) as process:
            os.close(theirs)
            shown = b""
            while True:
                try:
                    piece = os.read(ours, 65536)
                except OSError:  # the other end is closed
                    break
                if not piece:
                    break
                shown += piece
            os.close(ours)
            code = process.wait()
        return code, shown.decode()

    def bars_of(self, shown: str) -> list[str]:
        return [frame for frame in shown.split(ERASE)[1:] if frame]

    def test_steps_of_ranks_are_drawn_and_erased(self) -> None:
        code, shown = self.on_a_terminal("--ranks", 2, *WORK, self.folder / "box.h5m")
        self.assertEqual(code, 0, shown)
        bars = self.bars_of(shown)
        self.assertGreater(len(bars), 2, shown)
        for bar in bars:
            self.assertRegex(bar, r"^barrio generate \[=* *\] +\d+ %  (\w+\.\w+, )?[\d.]+ (ms|s)")
        parts = [int(re.search(r"(\d+) %", bar)[1]) for bar in bars]
        self.assertEqual(parts, sorted(parts))
        self.assertTrue(any("partition.reorder" in bar for bar in bars), bars)
        self.assertTrue(shown.endswith(ERASE), repr(shown[-80:]))

    def test_a_search_knows_how_long_it_takes(self) -> None:
        traffic = self.folder / "traffic.json"
        self.assert_code(barrio(*WORK, self.folder / "box.h5m"), 0)
        self.assert_code(
            barrio("load", self.folder / "box.h5m", "--ghosts", 1, "--part-traffic", traffic), 0
        )
        code, shown = self.on_a_terminal("map", traffic, "--machine", "2x4", "--time", "2")
        self.assertEqual(code, 0, shown)
        for bar in self.bars_of(shown):
            self.assertRegex(bar, r"^barrio map \[=* *\] +\d+ %")

    def test_pipes_and_files_get_none(self) -> None:
        box = self.folder / "box.h5m"
        self.assertNotIn("\x1b", barrio(*WORK, box, ranks=2).err)
        code, shown = self.on_a_terminal("--ranks", 2, *WORK, box, BARRIO_PROGRESS="0")
        self.assertEqual(code, 0, shown)
        self.assertNotIn("\x1b", shown)
        drawn = barrio(*WORK, box, environment={"BARRIO_PROGRESS": "1"})
        self.assertIn("\x1b[Kbarrio generate [", drawn.err)


if __name__ == "__main__":
    unittest.main()
