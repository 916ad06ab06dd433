"""The section on the goals of benchmarks, missed ones first."""

from __future__ import annotations

from typing import Any

from ..documents import Document
from ..markup import Html, paragraph, table
from ..story import Section, Story


def bench_section(story: Story) -> Section | None:
    """Show the results of `barrio bench all`."""
    documents = story.results.of("bench.all")
    if not documents:
        return None
    body: list[Html] = []
    for document in documents:
        body += goals_table(document)
    return Section("bench", "Goals of the benchmarks", body)


def goals_table(document: Document) -> list[Html]:
    """Show the goals of a document, missed ones first."""
    goals = _dicts(document.data.get("goals"))
    missed = [goal for goal in goals if goal.get("met") is not True]
    body = [
        paragraph(
            f"{len(goals) - len(missed)} of {len(goals)} goals are met ({document.path.name}). "
            "A busy machine misses more of them: repeat the run on an idle one."
        )
    ]
    if goals:
        met = [goal for goal in goals if goal.get("met") is True]
        # In a document of one benchmark, goals do not repeat its name.
        of_one = document.kind.removeprefix("bench.")
        rows = [_row(goal, of_one) for goal in missed + met]
        body.append(table(["", "benchmark", "goal", "measured", "wanted"], rows, n_left=3))
    for run in _dicts(document.data.get("not_run")):
        body.append(paragraph(f"Not run: {run.get('benchmark')}: {run.get('reason')}"))
    return body


def _row(goal: dict[str, Any], benchmark: str) -> list[str]:
    unit = str(goal.get("unit") or "").strip()
    sign = "\u2265" if goal.get("better") == "higher" else "\u2264"
    return [
        "met" if goal.get("met") is True else "missed",
        str(goal.get("benchmark", benchmark)),
        str(goal.get("id")),
        f"{_number(goal.get('value'))} {unit}".strip(),
        f"{sign} {_number(goal.get('goal'))}",
    ]


def _number(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return "?"
    return f"{value:.4g}"


def _dicts(items: Any) -> list[dict[str, Any]]:
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []
