"""Test the section on structured AMR."""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Callable
from pathlib import Path

import report_samples as made
from report_form import check
from test_report_adapt import report, rows_of

Write = Callable[..., str]
# A picture of one pixel.
PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def test_a_run_is_shown_with_its_levels_and_slices(tmp_path: Path, write: Write) -> None:
    path = write(made.amr())
    (Path(path).parent / "a.png").write_bytes(PIXEL)
    page = report(tmp_path, path)
    assert check(page).headings[:2] == ["Structured AMR", "Time per phase and rank"]
    text = re.sub("<.*?>", "", html.unescape(page))
    assert (
        "A tube: Euler equations, 220 steps to time 0.2000 on 2 ranks, 450 560 cell updates" in text
    )
    assert "A tube: 220 steps on 2 levels with 3 072 cells." in text
    rows = rows_of(page)
    assert rows["1"] == ["16", "1 024", "12.5 %"]
    assert rows["together"] == ["0.0120", "0.0110", "missed"]
    assert rows["kernel"] == ["75.0 %"]
    assert rows["momentum_x"] == ["0", "0.0125000", "100.000 %"]
    assert base64.b64encode(PIXEL).decode() in page
    assert "density at time 0.2000, from 0.1250 (dark) to 1.000 (light)" in text
    assert "gone.png" in text
    assert "blocks of level 1" in text
    assert page.count("<svg") == 1


def test_runs_on_other_ranks_are_compared(tmp_path: Path, write: Write) -> None:
    same = report(tmp_path, write(made.amr(1), "1.json"), write(made.amr(2), "2.json"))
    assert "the same state to the last bit on 1 and 2 ranks" in same
    other = report(tmp_path, write(made.amr(1), "1.json"), write(made.amr(2, "0"), "2.json"))
    assert "2 different states on 1 and 2 ranks" in other
