"""Run programs, and judge goals over several runs: measured value, goal, and verdict."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

LIMIT_SECONDS = 1800


def run(words: list[object], environment: dict[str, str] | None = None) -> str:
    """Return the output of a program, which must succeed."""
    done = subprocess.run(
        [str(word) for word in words],
        env={**os.environ, **(environment or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LIMIT_SECONDS,
        check=False,
    )
    if done.returncode != 0:
        raise SystemExit(
            f"{' '.join(map(str, words))}\nended with {done.returncode}:\n{done.stderr}"
        )
    return done.stdout


def run_at_once(words: list[object], n: int = 2) -> list[str]:
    """Return the outputs of `n` copies of a program that run at once, to measure the worth of the machine's cores."""
    line = [str(word) for word in words]
    copies = [
        subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        for _ in range(n)
    ]
    texts = [one.communicate(timeout=LIMIT_SECONDS)[0] for one in copies]
    if any(one.returncode != 0 for one in copies):
        raise SystemExit(f"{' '.join(line)}\nended with {[one.returncode for one in copies]}")
    return texts


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
    """Write all goals to a file and print them, with the values of each run. Return 4 if one is missed, else 0."""
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
