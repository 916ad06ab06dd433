"""`barrio bench all`: every goal in one document, missed goals first, and its page."""

import json
import unittest

from barrio_case import Case, barrio


class BenchAll(Case):
    def test_goals_of_a_benchmark(self) -> None:
        path = self.folder / "goals.json"
        outcome = barrio("--result", path, "bench", "all", "strategies", limit=600)
        self.assert_code(outcome, 0)
        document = json.loads(path.read_text())
        self.assertEqual(document["schema"], "barrio.bench.all")
        self.assertEqual([run["benchmark"] for run in document["runs"]], ["strategies"])
        met = [goal["met"] for goal in document["goals"]]
        self.assertGreater(len(met), 5)
        self.assertEqual(met, sorted(met), "missed ones go first")
        self.assertEqual(document["n_met"], sum(met))
        for goal in document["goals"]:
            is_lower = goal["better"] == "lower"
            fits = goal["value"] <= goal["goal"] if is_lower else goal["value"] >= goal["goal"]
            self.assertEqual(fits, goal["met"], goal)
            self.assertIn(goal["id"], outcome.out)
        self.assertIn(f"{sum(met)} of {len(met)} goals are met", outcome.out)


if __name__ == "__main__":
    unittest.main()
