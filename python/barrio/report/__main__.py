"""The command: python -m barrio.report -o report.html RUN..."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from .documents import FAILED, ReportError, collect

_EXAMPLE = """example:
  python -m barrio.report -o report.html partition.json load.json heat.json heat.vtkhdf

exit codes: 0 made, 1 a file is missing or cannot be written, 2 usage, 3 a file is broken or of an
unknown kind. Where pictures cannot be rendered, the page says why and the exit code is 0.
"""


def main(arguments: list[str] | None = None) -> int:
    """Make the page. @return the exit code"""
    options = _parse(arguments)
    try:
        results = collect(options.run)
        for path in results.skipped:
            _say(f"warning: {path}: is not a result of barrio; left out")
        from .page import make_page
        from .pictures import draw_all
        from .story import Story

        drawings = draw_all(results.vtkhdf_files, options.pictures)
        for drawing in drawings:
            if drawing.fault:
                _say(f"warning: {drawing.path}: pictures could not be rendered: {drawing.fault}")
        page = make_page(Story(results, drawings, options.pictures))
        _write(Path(options.output), page)
    except ReportError as error:
        _say(f"error: {error}")
        return error.code
    print(options.output)
    return 0


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m barrio.report",
        description="Make one self-contained HTML page of results: pictures, plots, tables.",
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "run",
        nargs="+",
        metavar="RUN",
        help="JSON document or VTKHDF file that barrio wrote, or a folder of them",
    )
    parser.add_argument(
        "-o",
        "--output",
        default="report.html",
        metavar="FILE",
        help="page to write (default: %(default)s)",
    )
    parser.add_argument(
        "--no-pictures",
        dest="pictures",
        action="store_false",
        help="leave out pictures of the mesh, which need OpenGL; plots and tables stay",
    )
    return parser.parse_args(arguments)


def _write(path: Path, page: str) -> None:
    """Write the page whole or not at all."""
    unfinished = path.with_name(f"{path.name}.part{os.getpid()}")
    try:
        unfinished.write_bytes(page.encode("utf-8"))
        unfinished.replace(path)
    except OSError as error:
        unfinished.unlink(missing_ok=True)
        raise ReportError(path, f"cannot be written: {error.strerror}", FAILED) from error


def _say(text: str) -> None:
    print(f"barrio: {' '.join(text.split())}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
