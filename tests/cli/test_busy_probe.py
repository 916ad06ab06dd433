"""`barrio probe` on a busy host: it finds the limits of an idle host, or says that it cannot."""

import contextlib
import os
import subprocess
import sys
import unittest
from collections.abc import Iterator

from barrio_case import Case, barrio

LOOPS_OF_CORE = 2
RUNS = int(os.environ.get("BARRIO_TEST_BUSY_PROBES", "3"))
RESOLUTION = 64  # bytes


@contextlib.contextmanager
def other_work() -> Iterator[None]:
    """Keep each core busy with two processes that compute and call nothing."""
    n = LOOPS_OF_CORE * len(os.sched_getaffinity(0))
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(n)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


class BusyProbe(Case):
    def limits(self) -> dict:
        outcome = barrio(
            "probe", "--json", "--depth", "limits", "--transport", "tcp", "--no-settings", "--no-store",
            ranks=2, limit=180,
        )  # fmt: skip
        self.assert_code(outcome, 0)
        return outcome.json()["transports"][0]

    def test_limits_are_those_of_a_quiet_host(self) -> None:
        quiet = self.limits()
        self.assertIsNotNone(quiet["limits"]["eager_bytes"])
        with other_work():
            found = [self.limits() for _ in range(RUNS)]
        n_found = 0
        for one in found:
            for name in ("eager_bytes", "arriving_bytes", "detached_bytes"):
                limit = one["limits"][name]
                if limit is None:
                    self.assertTrue(one["is_disturbed"])
                    continue
                n_found += 1
                self.assertLessEqual(abs(limit - quiet["limits"][name]), RESOLUTION, name)
        self.assertGreater(n_found, 0, "no limit at all was found")


if __name__ == "__main__":
    unittest.main()
