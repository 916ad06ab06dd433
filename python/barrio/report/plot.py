"""Plots as inline SVG with the page's text colours, for light and dark mode."""

from __future__ import annotations

import io
import re
from typing import Any

import matplotlib as mpl
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from .markup import Html, escape, raw

INK, FAINT = "#010203", "#010204"  # replaced by the page's own colours
_STYLE: dict[str, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "barrio",
    "text.parse_math": False,
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9.5,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": INK,
    "axes.titlesize": 10.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": INK,
    "ytick.color": INK,
    "grid.color": FAINT,
    "legend.frameon": False,
}


class Plot:
    """A figure in barrio's style; svg() finishes it."""

    n_made = 0

    def __init__(self, width: float, height: float) -> None:
        self._style = mpl.rc_context(_STYLE)
        self._style.__enter__()
        self.figure = Figure(figsize=(width, height), layout="constrained")
        FigureCanvasSVG(self.figure)
        self.axes = self.figure.add_subplot()

    def svg(self, said: str) -> Html:
        """Return the SVG element with unique ids and the alternative text `said`."""
        output = io.StringIO()
        self.figure.savefig(output, format="svg", transparent=True, metadata={"Date": None})
        self._style.__exit__(None, None, None)
        Plot.n_made += 1
        text = output.getvalue()
        text = text[text.index("<svg") :]
        text = re.sub(r"<metadata>.*?</metadata>\s*", "", text, flags=re.DOTALL)
        name = f"p{Plot.n_made}-"
        text = re.sub(r'\bid="', f'id="{name}', text)
        text = re.sub(r'href="#', f'href="#{name}', text).replace("url(#", f"url(#{name}")
        text = text.replace(INK, "var(--ink)").replace(FAINT, "var(--line)")
        # A browser that shrinks an image must average pixels, not drop them.
        text = re.sub(r"image-rendering: ?[^;\"]*;?", "", text)
        text = text.replace("'DejaVu Sans', sans-serif", "system-ui, sans-serif")
        text = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", text, count=1)
        text = re.sub(
            r'(<svg[^>]*?) width="([^"]*)pt"', r'\1 style="max-width:\2pt"', text, count=1
        )
        return raw(text.replace("<svg", f'<svg role="img" aria-label="{escape(said)}"', 1).strip())
