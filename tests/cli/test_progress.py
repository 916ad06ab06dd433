"""Progress bars appear on a terminal, also through the launcher, and nowhere else."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
import unittest

from barrio_case import COMMAND, Case, barrio

ERASE = "\r\x1b[K"
WORK = ["generate", "box", "--cells", "50", "50", "50", "--tets", "--parts", "8", "-o"]


class Bars(Case):
    def on_a_terminal(
        self, *words: object, columns: int = 80, **environment: str
    ) -> tuple[int, str]:
        """Run the command with only standard error on a terminal. @return exit code and the text on that terminal"""
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
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

    def test_bars_are_as_wide_as_the_terminal(self) -> None:
        for columns in (40, 60, 132):
            for ranks in ([], ["--ranks", 2]):
                with self.subTest(columns=columns, ranks=ranks):
                    code, shown = self.on_a_terminal(
                        *ranks, *WORK, self.folder / "box.h5m", columns=columns
                    )
                    self.assertEqual(code, 0, shown)
                    bars = [bar for bar in self.bars_of(shown) if "%" in bar]
                    self.assertGreater(len(bars), 1, shown)
                    for bar in bars:
                        self.assertLess(len(bar), columns, bar)
                    if columns == 132:
                        self.assertGreater(max(map(len, bars)), 80)

    def test_adaptation_moves_the_bar(self) -> None:
        box = self.folder / "box.h5m"
        self.assert_code(barrio("generate", "box", "--cells", 16, 16, 16, "--tets", "-o", box), 0)
        for ranks in ([], ["--ranks", 2]):
            with self.subTest(ranks=ranks):
                size = "plane,x=0.5,min_size=0.012,max_size=0.2"
                code, shown = self.on_a_terminal(
                    *ranks, "adapt", box, "--size", size, "-o", self.folder / "fine.h5m"
                )
                self.assertEqual(code, 0, shown)
                parts = [int(n) for n in re.findall(r"(\d+) %", shown)]
                self.assertEqual(parts, sorted(parts))
                self.assertGreater(len({n for n in parts if 10 < n < 90}), 4, parts)
                steps = [b - a for a, b in zip(parts, parts[1:], strict=False) if b < 90]
                self.assertLess(max(steps), 40, parts)

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
