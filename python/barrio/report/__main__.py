"""Run the command python -m barrio.report -o report.html RUN...

It makes one page. If all documents are of barrio probe, it makes an overview and a page for each MPI
and transport.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import NoReturn

from .documents import USAGE, ReportError, collect
from .output import say, write_page

_EXAMPLE = """example:
  python -m barrio.report -o report.html partition.json load.json heat.json heat.vtkhdf

If all documents are of barrio probe, the page is an overview, and each MPI and transport gets a page
in the same folder: report-openmpi-tcp.html.

exit codes: 0 success, 1 a file is missing or cannot be written, 2 usage, 3 a file is broken or of an
unknown kind. If pictures cannot be rendered, the page says why and the exit code is 0.
"""


_MAX_NAMED = 5  # skipped files that the warning lists


class _Parser(argparse.ArgumentParser):
    """A parser that prints errors in barrio's format."""

    def error(self, message: str) -> NoReturn:
        say(f"error: barrio report: {message}", "see barrio report --help")
        sys.exit(USAGE)


def main(arguments: list[str] | None = None) -> int:
    """Make the page. @return the exit code"""
    options = _parse(arguments)
    try:
        results = collect(options.run)
        if results.skipped:
            say(_left_out(results.skipped))
        from .probe.pages import is_for_probe_only, make_probe_pages

        output = Path(options.output)
        if is_for_probe_only(results):
            return _write_all(make_probe_pages(results, output))
        from .page import make_page
        from .pictures import draw_all
        from .story import Story

        n_files = len(results.vtkhdf_files)
        if n_files and options.pictures and sys.stderr.isatty():
            say(f"drawing pictures of {n_files} VTKHDF {'file' if n_files == 1 else 'files'}")
        drawings = draw_all(results.vtkhdf_files, options.pictures)
        for drawing in drawings:
            if drawing.fault:
                say(f"warning: {drawing.path}: pictures could not be rendered: {drawing.fault}")
        page = make_page(Story(results, drawings, options.pictures, options.suggestions))
        write_page(output, page)
    except ReportError as error:
        say(f"error: {error}", error.remedy)
        return error.code
    print(options.output)
    return 0


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = _Parser(
        prog="python -m barrio.report",
        description="Make one self-contained HTML page of results: pictures, plots, tables.",
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "run",
        nargs="+",
        metavar="RUN",
        help="JSON document, VTKHDF file or list of such files (.vtkhdf.series) written by barrio, or a folder of them",
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
        help="omit pictures of the mesh, which need OpenGL; keep plots and tables",
    )
    parser.add_argument(
        "--no-suggestions",
        dest="suggestions",
        action="store_false",
        help="omit the section of commands to try next, which name the result files",
    )
    return parser.parse_args(arguments)


def _write_all(pages: dict[Path, str]) -> int:
    """Write several pages. The overview is written last and printed first."""
    for path, page in pages.items():
        write_page(path, page)
    for path in reversed(pages):
        print(path)
    return 0


def _left_out(skipped: list[str]) -> str:
    named = "; ".join(skipped[:_MAX_NAMED])
    more = f"; and {len(skipped) - _MAX_NAMED} more" if len(skipped) > _MAX_NAMED else ""
    return (
        f"warning: {len(skipped)} {'file' if len(skipped) == 1 else 'files'} skipped: {named}{more}"
    )


if __name__ == "__main__":
    sys.exit(main())
