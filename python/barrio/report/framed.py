"""Pictures with axes in the units of the file and a colour scale, as SVG for pages or as PNG files."""

from __future__ import annotations

import base64
import io
import itertools
import math
from dataclasses import dataclass, field
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, MaxNLocator

from .colours import NO_VALUE, Bands
from .markup import Html, raw
from .plot import Plot

_AXES = "xyz"
_WIDTH, _HEIGHT = 7.0, 5.4  # of a picture in inches, at most
_DPI = 160.0  # of PNG files
_BOTTOM, _TOP = 0.55, 0.12  # margins in inches
_LEFT, _DIGIT = 0.42, 0.085  # at the left, without ticks, and of each of their digits
_BAR, _PLAIN = 1.15, 0.25  # width at the right, in inches
_CHIP, _LETTER = 0.45, 0.082  # width of a colour and of a letter in a list of names, in inches
_MIN_TICKS = 40.0  # points of an axis that has ticks
_MIN_APART = 9.0  # points between ticks with labels
_TITLE = 0.42  # height in inches
_MAX_CHIPS = 22


@dataclass(frozen=True)
class Scale:
    """Colours of a picture: bands of values, or names with a colour each; neither for plain pictures."""

    label: str = ""
    bands: Bands | None = None
    names: list[tuple[str, str]] = field(default_factory=list)  # colour and name
    has_missing: bool = False


@dataclass(frozen=True)
class Shot:
    """A rendered picture, its projection (`drawing.picture.View`), and the scaling of the file in it."""

    content: bytes
    view: dict[str, Any]
    middle: np.ndarray  # the file's coordinates: those of the picture * size + middle
    size: float

    @property
    def pixels(self) -> tuple[int, int]:
        """Return width and height."""
        width, height = (int.from_bytes(self.content[i : i + 4], "big") for i in (16, 20))
        return width, height

    def pixel_of(self, point: np.ndarray) -> np.ndarray:
        """Return the pixel of a point of the file, from the top left."""
        away = (point - self.middle) / self.size - np.array(self.view["centre"])
        right, above = away @ np.array(self.view["right"]), away @ np.array(self.view["above"])
        scale = float(self.view["pixels_per_unit"])
        return np.array(self.view["at"]) + scale * np.array([right, -above])

    @property
    def is_straight(self) -> bool:
        """Tell whether the picture is seen along an axis of the file, and lies along the other two."""
        ways = (np.array(self.view["right"]), np.array(self.view["above"]))
        return all(np.abs(way).max() > 1.0 - 1e-6 for way in ways)

    @property
    def corners(self) -> np.ndarray:
        """Return the corners of the box around what is drawn, in pixels."""
        ends = itertools.product(*self.box.T)
        return np.array([self.pixel_of(np.array(corner)) for corner in ends])

    @property
    def canvas(self) -> tuple[float, float, float, float]:
        """Return left, top, right and bottom pixel of picture and axes."""
        width, height = self.pixels
        if self.is_straight:
            return 0.0, 0.0, float(width), float(height)
        low, high = self.corners.min(axis=0), self.corners.max(axis=0)
        return min(0.0, low[0]), min(0.0, low[1]), max(width, high[0]), max(height, high[1])

    @property
    def per_inch(self) -> float:
        """Return pixels per inch on the page."""
        left, top, right, bottom = self.canvas
        return max((right - left) / _WIDTH, (bottom - top) / _HEIGHT)

    @property
    def inches(self) -> tuple[float, float]:
        """Return width and height of the canvas on the page."""
        left, top, right, bottom = self.canvas
        return (right - left) / self.per_inch, (bottom - top) / self.per_inch

    @property
    def box(self) -> np.ndarray:
        """Return low and high corner of what is drawn, in the file's coordinates."""
        return np.array(self.view["box"]) * self.size + self.middle


def shot_of(content: bytes, view: dict[str, Any], box: Any) -> Shot:
    """Make a shot. @param box  of the file: grids are drawn around the origin, with the size 1"""
    if view.get("moved_by") is not None:
        return Shot(content, view, np.array(view["moved_by"]), float(view["scaled_by"]))
    low, high = np.array(box)
    return Shot(content, view, 0.5 * (low + high), float((high - low).max()) or 1.0)


def framed(shots: list[Shot], scale: Scale, said: str) -> Html:
    """Return an SVG of pictures with one projection, laid over one another, with axes and colours.

    @param said  alternative text
    """
    plot = Plot(*_size_of(shots[0], scale, ""))
    plot.figure.set_layout_engine("none")
    plot.figure.delaxes(plot.axes)
    place = _draw(plot.figure, shots[0], scale, "")
    x, y, width, height = (72.0 * inches for inches in place)
    images = "".join(
        f'<image class="shot" x="{x:.2f}" y="{y:.2f}" width="{width:.2f}" height="{height:.2f}" '
        f'href="data:image/png;base64,{base64.b64encode(shot.content).decode("ascii")}"/>'
        for shot in shots
    )
    text = str(plot.svg(said))
    start = text.index(">", text.index("<svg")) + 1
    return raw(text[:start] + images + text[start:])


@dataclass(frozen=True)
class Panel:
    """One of the pictures that are saved side by side."""

    shot: Shot
    scale: Scale
    title: str


def image_of(panels: list[Panel], title: str) -> Any:
    """Draw pictures side by side as one image of Pillow."""
    from PIL import Image

    images = [_image(panel) for panel in panels]
    head = _head(title, sum(image.width for image in images))
    whole = Image.new("RGB", (head.width, head.height + max(i.height for i in images)), "white")
    whole.paste(head, (0, 0))
    left = 0
    for image in images:
        whole.paste(image, (left, head.height))
        left += image.width
    return whole


def _head(title: str, width: int) -> Any:
    with mpl.rc_context({"text.parse_math": False}):
        figure = Figure(figsize=(width / _DPI, _TITLE), dpi=_DPI, facecolor="white")
        figure.text(0.2 * _DPI / width, 0.45, title, fontsize=12.0, va="center")
        image = _drawn(figure)
    return image if image.width >= width else image.resize((width, image.height))


def _drawn(figure: Figure) -> Any:
    from PIL import Image

    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    return Image.fromarray(np.asarray(canvas.buffer_rgba()).copy()).convert("RGB")


def _image(panel: Panel) -> Any:
    shot, scale = panel.shot, panel.scale
    style = {"font.size": 9.5, "text.parse_math": False}
    with mpl.rc_context(style):
        size = _size_of(shot, scale, panel.title)
        figure = Figure(figsize=size, dpi=_DPI, facecolor="white")
        x, y, width, height = _draw(figure, shot, scale, panel.title)
        whole_width, whole_height = figure.get_size_inches()
        bottom = whole_height - y - height
        place = (x / whole_width, bottom / whole_height, width / whole_width, height / whole_height)
        picture = figure.add_axes(place, zorder=-1.0)
        picture.set_axis_off()
        picture.imshow(_pixels(shot.content), aspect="auto", interpolation="lanczos")
        return _drawn(figure)


def _pixels(content: bytes) -> np.ndarray:
    from PIL import Image

    return np.asarray(Image.open(io.BytesIO(content)).convert("RGBA"))


def _size_of(shot: Shot, scale: Scale, title: str) -> tuple[float, float]:
    width, height = shot.inches
    top = _TITLE if title else _TOP
    return width + _left_of(shot) + _right_of(scale), max(height, 1.2) + _BOTTOM + top


def _left_of(shot: Shot) -> float:
    """Return the width left of a picture: that of the longest number there."""
    if not shot.is_straight:
        return _LEFT + 4 * _DIGIT
    axis = int(np.argmax(np.abs(np.array(shot.view["above"]))))
    labels = _labels(_straight_ticks(shot, axis, 1)[2])
    return _LEFT + _DIGIT * max((len(label) for label in labels), default=0)


def _straight_ticks(shot: Shot, axis: int, which: int) -> tuple[float, float, list[float]]:
    """Return the pixel of the middle, pixels per unit, and ticks of an axis that a picture lies along.

    @param which  0: to the right, 1: upwards
    """
    step = np.zeros(3)
    step[axis] = shot.size  # a length of 1 in the picture
    begin = float(shot.pixel_of(shot.middle)[which])
    slope = (float(shot.pixel_of(shot.middle + step)[which]) - begin) / shot.size
    seen = sorted(shot.middle[axis] + (n - begin) / slope for n in (0.0, shot.pixels[which]))
    low, high = max(seen[0], shot.box[0, axis]), min(seen[1], shot.box[1, axis])
    return begin, slope, _ticks(low, high, max(2, int(shot.inches[which] / 0.9)))


def _right_of(scale: Scale) -> float:
    if scale.bands is not None:
        return _BAR
    names = [_short(name) for _, name in scale.names] + ["no value"] * scale.has_missing
    longest = max((len(name) for name in [*names, _short(scale.label)]), default=0)
    return _CHIP + _LETTER * longest if names else _PLAIN


def _draw(
    figure: Figure, shot: Shot, scale: Scale, title: str
) -> tuple[float, float, float, float]:
    """Draw axes and scale. @return left, top, width and height of the image in inches"""
    whole_width, whole_height = figure.get_size_inches()
    width, height = shot.inches
    top = _TITLE if title else _TOP
    bottom = whole_height - top - height
    left = _left_of(shot)
    place = (left / whole_width, bottom / whole_height, width / whole_width, height / whole_height)
    axes = figure.add_axes(place)
    axes.set_xlim(shot.canvas[0], shot.canvas[2])
    axes.set_ylim(shot.canvas[3], shot.canvas[1])
    axes.patch.set_visible(False)
    _draw_axes(axes, shot)
    if title:
        figure.text(
            left / whole_width, 1.0 - 0.26 / whole_height, title, fontsize=11.0, va="center"
        )
    right = left + width + 0.14
    _draw_scale(figure, scale, right, bottom, height)
    at = [-edge / shot.per_inch for edge in shot.canvas[:2]]
    size = [n / shot.per_inch for n in shot.pixels]
    return left + at[0], top + at[1], size[0], size[1]


def _draw_scale(figure: Figure, scale: Scale, right: float, bottom: float, height: float) -> None:
    """Draw a colour bar or names right of a picture; lengths in inches."""
    whole_width, whole_height = figure.get_size_inches()
    if scale.bands is not None:
        bands = scale.bands
        length = max(min(height, 4.2), 1.0)
        low = max(bottom + 0.5 * (height - length), 0.1)
        bar_axes = figure.add_axes(
            (right / whole_width, low / whole_height, 0.17 / whole_width, length / whole_height)
        )
        edges = np.linspace(bands.low, bands.high, bands.count + 1)
        colours = mpl.colormaps[bands.colour_map].resampled(bands.count)
        mapping = mpl.cm.ScalarMappable(mpl.colors.Normalize(bands.low, bands.high), colours)
        step = max(1, bands.count // (5 if length > 1.8 else 3))
        bar = figure.colorbar(
            mapping, cax=bar_axes, boundaries=edges, ticks=edges[::step], spacing="proportional"
        )
        bar.outline.set_visible(False)
        bar.ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        bar.set_label(scale.label)
    names = scale.names[:_MAX_CHIPS]
    if len(scale.names) > len(names):
        names = [*names, ("#00000000", f"and {len(scale.names) - len(names)} more")]
    if scale.has_missing:
        names = [*names, (NO_VALUE, "no value")]
    if names:
        chips = [Patch(facecolor=colour, label=_short(name)) for colour, name in names]
        at = (right / whole_width, (bottom + height) / whole_height)
        if scale.bands is not None:
            at = (right / whole_width, 0.28 / whole_height)
        figure.legend(
            handles=chips,
            loc="upper left",
            bbox_to_anchor=at,
            borderaxespad=0.0,
            frameon=False,
            fontsize=8.5,
            handlelength=1.0,
            handleheight=1.0,
            title=None if scale.bands is not None else _short(scale.label) or None,
            alignment="left",
        )


def _short(name: str) -> str:
    """Shorten a long name in the middle: names in a list often differ at their ends."""
    return name if len(name) <= 24 else f"{name[:12]}\u2026{name[-11:]}"


def _draw_axes(axes: Axes, shot: Shot) -> None:
    """Draw the axes of the file: along two sides of a picture that is seen along an axis, else along a box."""
    right, above = np.array(shot.view["right"]), np.array(shot.view["above"])
    along = [int(np.argmax(np.abs(way))) for way in (right, above)]
    for side in axes.spines.values():
        side.set_visible(False)
    if not shot.is_straight:
        axes.set_xticks([])
        axes.set_yticks([])
        _draw_box(axes, shot)
        return
    for axis, of in zip(along, (axes.xaxis, axes.yaxis), strict=True):
        begin, slope, values = _straight_ticks(shot, axis, 0 if of is axes.xaxis else 1)
        of.set_ticks(
            [begin + slope * (value - shot.middle[axis]) for value in values], _labels(values)
        )
        (axes.set_xlabel if of is axes.xaxis else axes.set_ylabel)(_AXES[axis])
    axes.tick_params(length=3.0)
    for side in ("left", "bottom"):
        axes.spines[side].set_visible(True)
        axes.spines[side].set_linewidth(0.6)


def _draw_box(axes: Axes, shot: Shot) -> None:
    """Draw ticks and names along three edges of the box around what is drawn."""
    box = shot.box
    middle = shot.corners.mean(axis=0)
    point = shot.per_inch / 72.0  # pixels
    ink = mpl.rcParams["text.color"]
    written: list[np.ndarray] = []  # where ticks have labels
    for axis in range(3):
        if box[1, axis] - box[0, axis] <= 1e-9 * np.ptp(box, axis=0).max():
            continue
        edges = []
        for i in (0, 1):
            for j in (0, 1):
                first = np.array(box[0])
                others = [other for other in range(3) if other != axis]
                first[others[0]], first[others[1]] = box[i, others[0]], box[j, others[1]]
                last = np.array(first)
                last[axis] = box[1, axis]
                edges.append((shot.pixel_of(first), shot.pixel_of(last)))
        way = edges[0][1] - edges[0][0]
        is_upright = abs(way[1]) > 1.5 * abs(way[0])
        # an upright edge at the left, another one at the bottom
        start, end = min(edges, key=lambda e: (e[0] + e[1])[0] if is_upright else -(e[0] + e[1])[1])
        length = float(np.linalg.norm(end - start))
        if length < 1.0:
            continue
        outward = np.array([way[1], -way[0]]) / length
        if outward @ (0.5 * (start + end) - middle) < 0.0:
            outward = -outward
        axes.plot(*np.array([start, end]).T, color=ink, linewidth=0.6, clip_on=False)
        values = _ticks(box[0, axis], box[1, axis], max(2, int(length / (65.0 * point))))
        values = values if length >= _MIN_TICKS * point else []
        for value, text in zip(values, _labels(values), strict=True):
            share = (value - box[0, axis]) / (box[1, axis] - box[0, axis])
            at = start + share * (end - start)
            axes.plot(
                *np.array([at, at + 3.5 * point * outward]).T,
                color=ink,
                linewidth=0.6,
                clip_on=False,
            )
            if all(np.linalg.norm(at - other) > _MIN_APART * point for other in written):
                _write(axes, at + 6.0 * point * outward, text, outward, 8.5)
                written.append(at)
        widest = max((len(text) for text in _labels(values)), default=0)
        away = 14.0 + (5.0 * widest if abs(outward[0]) > 0.7 else 5.0)
        _write(axes, 0.5 * (start + end) + away * point * outward, _AXES[axis], outward, 9.5)


def _write(axes: Axes, at: np.ndarray, text: str, outward: np.ndarray, size: float) -> None:
    across = "center" if abs(outward[0]) < 0.35 else ("left" if outward[0] > 0.0 else "right")
    up = "center" if abs(outward[1]) < 0.35 else ("top" if outward[1] > 0.0 else "bottom")
    axes.text(at[0], at[1], text, ha=across, va=up, fontsize=size, clip_on=False)


def _ticks(low: float, high: float, n: int) -> list[float]:
    """Choose about n round values between two ends."""
    if not high > low:
        return [low]
    found = MaxNLocator(n, steps=[1, 2, 2.5, 5, 10]).tick_values(low, high)
    slack = 1e-6 * (high - low)
    values = [float(value) for value in found if low - slack <= value <= high + slack]
    return [0.0 if abs(value) < slack else value for value in values]


def _labels(values: list[float]) -> list[str]:
    """Write ticks with as many places as tell them apart."""
    if len(values) < 2:
        return [f"{value:.6g}" for value in values]
    step = min(abs(b - a) for a, b in itertools.pairwise(values))
    largest = max(abs(value) for value in values)
    if largest >= 1e7 or largest < 1e-4:
        digits = max(1, math.ceil(math.log10(largest / step)) + 1)
        return [f"{value:.{min(digits, 12)}g}" for value in values]
    places = max(0, -math.floor(math.log10(step) + 1e-9))
    if places and any(abs(round(value, places) - value) > 1e-3 * step for value in values):
        places += 1  # steps of 2.5
    return [f"{value:.{places}f}" for value in values]
