"""Adapting a million tetrahedra gives bitwise the same mesh on any number of ranks, from any distribution."""

import unittest

from barrio_case import Case, barrio


class Million(Case):
    def test_the_same_bits(self) -> None:
        found = {}
        for ranks, start in (
            *((ranks, "slabs") for ranks in (1, 2, 3, 4, 7, 8)),
            *((ranks, start) for ranks in (2, 4) for start in ("one", "scattered")),
        ):
            words = ("bench", "adapt", "--cases", "cube", "--fields", "--start", start, "--json")
            outcome = barrio("--ranks", ranks, *words)
            self.assert_code(outcome, 0)
            row = outcome.json()["cases"][0]
            self.assertEqual(row["cells_before"], 998_250)
            self.assertLess(abs(row["volume"] - 1), 1e-12)
            self.assertLess(row["fields"]["linear_error"], 1e-12)
            found[ranks, start] = (row["checksum"], *row["fields"]["checksums"])
        self.assertEqual(len(set(found.values())), 1, found)


if __name__ == "__main__":
    unittest.main()
