"""Goals that a program judges over several runs: what was measured, what is wanted, whether it is met."""

from __future__ import annotations

import json
from pathlib import Path


def goal_of(name: str, value: float, limit: float, better: str, unit: str = "") -> dict:
    is_met = value >= limit if better == "higher" else value <= limit
    return {
        "id": name,
        "value": value,
        "unit": unit,
        "goal": limit,
        "better": better,
        "met": is_met,
    }


def report(goals: list[dict], path: Path) -> int:
    """Write all goals to a file and print them, with the values of single runs. Return 4 if one is missed, else 0."""
    path.write_text(json.dumps(goals, indent=1) + "\n")
    for goal in goals:
        sign = "<=" if goal["better"] == "lower" else ">="
        verdict = "met" if goal["met"] else "NOT MET"
        line = f"{goal['id']:<66} {goal['value']:>9.4f}{goal['unit']} ({sign} {goal['goal']})  {verdict}"
        if "values" in goal:
            line += f"  of {' '.join(f'{value:.3f}' for value in goal['values'])}"
        print(line)
    missed = sum(not goal["met"] for goal in goals)
    print(f"{len(goals) - missed} of {len(goals)} goals met")
    return 4 if missed else 0
