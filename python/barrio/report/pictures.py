"""Read and draw VTKHDF files in processes of their own, and collect the results."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from .documents import USAGE, ReportError
from .drawing.render import FACTS_FILE, UNREADABLE, VIEW_SUFFIX, WRONG_USE
from .framed import Shot, shot_of

TIME_LIMIT_SECONDS = 600.0
MAX_DRAWN = 12  # files that are drawn; of further ones the page has the facts
_UNREADABLE_REMEDY = (
    "report reads VTKHDF files of unstructured grids and of AMR, as barrio writes them; "
    "if it is one, run the command that wrote it again, or leave it out"
)
REMEDY = "install off-screen OpenGL: apt install libegl1 libgl1-mesa-dri"


@dataclass
class Drawing:
    """Facts and pictures of one VTKHDF file."""

    path: Path
    facts: dict[str, Any] = field(default_factory=dict)
    images: dict[str, bytes] = field(default_factory=dict)
    views: dict[str, dict[str, Any]] = field(default_factory=dict)  # projections of the images
    fault: str = ""  # the reason for missing pictures

    @property
    def kind(self) -> str:
        """Kind of the file: series, ghosts, mesh, plane or amr; empty if it could not be read."""
        return str(self.facts.get("kind", ""))

    def shot(self, key: str) -> Shot:
        """Return a picture with its projection."""
        return shot_of(self.images[key], self.views[key], self.facts.get("box"))


def draw_all(paths: list[Path], wants_pictures: bool = True) -> list[Drawing]:
    """Read several files, and draw the first ones, in parallel on the cores.

    @throws ReportError if one is not a VTKHDF file; a failure to draw is noted in its Drawing.
    """
    n_drawn = MAX_DRAWN if wants_pictures else 0
    return _run_all(paths[:n_drawn], True) + _run_all(paths[n_drawn:], False)


def _run_all(paths: list[Path], wants_pictures: bool) -> list[Drawing]:
    drawings: list[Drawing] = []
    n_at_once = max(1, min(os.cpu_count() or 1, 4))
    for first in range(0, len(paths), n_at_once):
        with contextlib.ExitStack() as stack:
            jobs = [
                stack.enter_context(_Job(path, wants_pictures))
                for path in paths[first : first + n_at_once]
            ]
            drawings += [job.finish() for job in jobs]
    return drawings


def draw_shown(about: Path, cells: Path, name: Path) -> Drawing:
    """Draw the file of `barrio show`. @param about  its document @param name  of the file, for messages"""
    with _Job(cells, True, about, name) as job:
        return job.finish()


class _Job:
    """One drawing process and its folder."""

    def __init__(
        self,
        path: Path,
        wants_pictures: bool,
        about: Path | None = None,
        name: Path | None = None,
    ) -> None:
        self._path = name or path
        self._temporary = tempfile.TemporaryDirectory(prefix="barrio-report-")
        self._folder = Path(self._temporary.name)
        self._log = (self._folder / "log").open("w+b")
        command = [sys.executable, "-m", "barrio.report.drawing.render", str(path.resolve())]
        command += [str(self._folder), *([] if wants_pictures else ["--no-pictures"])]
        command += ["--about", str(about.resolve())] if about else []
        environment = dict(os.environ)
        root = str(Path(__file__).absolute().parents[2])
        known = [root, *filter(None, [environment.get("PYTHONPATH")])]
        environment["PYTHONPATH"] = os.pathsep.join(known)
        self._process = subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=self._log,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        self._log.close()
        self._temporary.cleanup()

    def finish(self) -> Drawing:
        """Wait for the process, and collect its facts and pictures."""
        drawing = Drawing(self._path)
        try:
            code = self._process.wait(TIME_LIMIT_SECONDS)
        except subprocess.TimeoutExpired:
            drawing.fault = f"not finished after {TIME_LIMIT_SECONDS:.0f} s"
            self._process.kill()
            code = self._process.wait()
        if code == WRONG_USE:
            raise ReportError(self._path, self._last_words(), "name one of these, or none", USAGE)
        if code == UNREADABLE:
            cause = self._last_words() or "cannot be read"
            raise ReportError(self._path, cause, _UNREADABLE_REMEDY)
        facts = self._folder / FACTS_FILE
        if facts.exists():
            with contextlib.suppress(ValueError):
                drawing.facts = json.loads(facts.read_bytes())
        drawing.images = {p.stem: p.read_bytes() for p in sorted(self._folder.glob("*.png"))}
        views = sorted(self._folder.glob(f"*{VIEW_SUFFIX}"))
        drawing.views = {
            p.name.removesuffix(VIEW_SUFFIX): json.loads(p.read_bytes()) for p in views
        }
        if code != 0 and not drawing.fault:
            if code < 0 and not drawing.facts:
                cause = (
                    f"cannot be read: VTK ended with {signal.Signals(-code).name}, so it is damaged"
                )
                raise ReportError(self._path, cause, _UNREADABLE_REMEDY)
            drawing.fault = self._fault_of(code, bool(drawing.facts))
        return drawing

    def _fault_of(self, code: int, has_facts: bool) -> str:
        if has_facts and code < 0:
            name = signal.Signals(-code).name
            return f"VTK ended with {name}, probably for lack of OpenGL; {REMEDY}"
        if has_facts:
            return f"{self._last_words()}; {REMEDY}"
        return self._last_words() or f"the drawing process ended with code {code}"

    def _last_words(self) -> str:
        self._log.seek(0)
        lines = self._log.read().decode("utf-8", "replace").split("\n")
        return next((" ".join(line.split()) for line in reversed(lines) if line.strip()), "")[:300]
