"""`barrio probe` on a busy host: it finds the limits of an idle host, or says that it cannot."""

import os
import unittest

from barrio_case import Case, barrio, other_work

RUNS = int(os.environ.get("BARRIO_TEST_BUSY_PROBES", "3"))
RESOLUTION = 64  # bytes


class BusyProbe(Case):
    def limits(self) -> dict:
        outcome = barrio(
            "probe", "--json", "--depth", "limits", "--transport", "tcp", "--no-settings", "--no-store",
            "--limit", 150, ranks=2, limit=180,
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
