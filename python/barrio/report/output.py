"""Messages and pages of the commands."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from .documents import FAILED, ReportError


def write_page(path: Path, page: str) -> None:
    """Write the page completely or not at all."""
    write_whole(path, page.encode("utf-8"))


def write_whole(path: Path, content: bytes) -> None:
    """Write a file completely or not at all. @throws ReportError"""
    unfinished = path.with_name(f"{path.name}.part{os.getpid()}")
    try:
        unfinished.write_bytes(content)
        unfinished.replace(path)
    except OSError as error:
        unfinished.unlink(missing_ok=True)
        cause = f"cannot be written: {error.strerror}"
        remedy = "choose another path with -o, or free disk space"
        raise ReportError(path, cause, remedy, FAILED) from error


def say(text: str, remedy: str = "") -> None:
    """Print a message and its remedy to standard error, in barrio's format."""
    print(f"barrio: {' '.join(text.split())}", file=sys.stderr)
    if remedy:
        print(f"  remedy: {' '.join(remedy.split())}", file=sys.stderr)
