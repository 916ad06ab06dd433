"""Timelines of two ranks as inline SVG, with a bar for each call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .. import words
from ..documents import as_number
from ..markup import Html, escape, raw

# Okabe and Ito's colours. Computing has the pale colour of the page's lines.
_KINDS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("Isend", "#0072B2", ("Isend",)),
    ("Irecv", "#56B4E9", ("Irecv",)),
    ("Test, Testall", "#F0E442", ("Test", "Testall")),
    ("Iprobe", "#CC79A7", ("Iprobe",)),
    ("Wait, Waitall", "#D55E00", ("Wait", "Waitall")),
)
_COMPUTE, _OTHER = "var(--line)", "#999999"
_WIDTH, _LEFT, _RIGHT = 520.0, 46.0, 22.0
_TOP, _ROW, _LABEL = 16.0, 20.0, 14.0  # heights: names of the steps, a bar, the labels over it
_GAP = 4.0
_LEAST = 3.0  # min width of a bar: shorter calls are drawn wider, and the next ones begin later
_LETTER = 6.6  # width
_WIDE = 30.0  # min width of a bar with its own label


@dataclass(frozen=True)
class Call:
    """One call of a rank."""

    name: str
    message: int
    begin: float
    end: float
    label: str  # the thesis' short name: IS, IR, T, Ws, Wr; empty for computing

    @property
    def seconds(self) -> float:
        """Duration of the call."""
        return max(0.0, self.end - self.begin)


def calls_of(ranks: Any) -> list[list[Call]]:
    """Read the calls of both ranks, and skip malformed entries."""
    sides: list[list[Call]] = []
    for side in ranks if isinstance(ranks, list) else []:
        entries = (
            [call for call in side if isinstance(call, dict)] if isinstance(side, list) else []
        )
        sent = {call.get("message") for call in entries if call.get("call") == "Isend"}
        calls = []
        for call in entries:
            begin, end = as_number(call.get("begin")), as_number(call.get("end"))
            if begin is None or end is None:
                continue
            name, message = str(call.get("call", "")), as_number(call.get("message"))
            label = _label(name, call.get("message") in sent)
            calls.append(Call(name, -1 if message is None else int(message), begin, end, label))
        sides.append(calls)
    return sides


def _label(name: str, is_of_send: bool) -> str:
    labels = {"Isend": "IS", "Irecv": "IR", "Test": "T", "Testall": "T", "Iprobe": "P"}
    if name == "Wait":
        return "Ws" if is_of_send else "Wr"
    return "Wall" if name == "Waitall" else labels.get(name, "" if name == "compute" else name[:4])


def end_of(sides: list[list[Call]]) -> float:
    """Return the end of the last call."""
    return max((call.end for side in sides for call in side), default=0.0)


def legend_entries() -> list[tuple[str, str]]:
    """Return the colours and their meanings."""
    return [(_COMPUTE, "computing"), *[(colour, name) for name, colour, _ in _KINDS]]


def in_words(sides: list[list[Call]]) -> str:
    """Write the time of each kind of call, rank by rank: 'rank 0: IS 2.2 µs, 3 Ws 1.1 µs'."""
    said = []
    for rank, side in enumerate(sides):
        times: dict[str, list[float]] = {}
        for call in side:
            if call.label:
                times.setdefault(call.label, []).append(call.seconds)
        calls = [
            f"{f'{len(each)} ' if len(each) > 1 else ''}{label} {words.seconds(sum(each))}"
            for label, each in times.items()
        ]
        if calls:
            said.append(f"rank {rank}: {', '.join(calls)}")
    return "; ".join(said)


def draw(
    sides: list[list[Call]], said: str, longest: float = 0.0, step_seconds: float | None = None
) -> Html:
    """Draw a row for each rank, over an axis up to the longest time (default: of these calls).

    With step_seconds, T0 to T3 are marked, up to the longest time.
    """
    longest = max(longest, end_of(sides), 1e-9)
    plot_width = _WIDTH - _LEFT - _RIGHT

    def place(seconds: float) -> float:
        return _LEFT + plot_width * max(0.0, seconds) / longest

    parts = []
    bottom = _TOP + len(sides) * (_LABEL + _ROW + _GAP)
    if step_seconds:
        parts += _marks(step_seconds, longest, place, bottom)
    for rank, side in enumerate(sides):
        top = _TOP + rank * (_LABEL + _ROW + _GAP) + _LABEL
        middle = top + _ROW / 2 + 4
        parts.append(f'<text x="{_LEFT - 6:g}" y="{middle:g}" text-anchor="end">rank {rank}</text>')
        parts += _bars(side, rank, place, top)
    parts += _axis(longest, place, bottom)
    height = bottom + 20
    return raw(
        f'<svg class="timeline" viewBox="0 0 {_WIDTH:g} {height:g}" role="img" '
        f'aria-label="{escape(said)}">{"".join(parts)}</svg>'
    )


def _bars(side: list[Call], rank: int, place: Any, top: float) -> list[str]:
    parts = []
    labels: list[tuple[float, float, list[str]]] = []  # begin, end and names of the bars
    is_wide = True
    cursor = 0.0
    for call in side:
        begin = max(place(call.begin), cursor)
        end = max(place(call.end), begin + (_LEAST if call.label else 0.0))
        cursor = end
        parts.append(
            f'<rect class="call" x="{begin:.1f}" y="{top:g}" width="{end - begin:.1f}" '
            f'height="{_ROW:g}" style="fill:{_colour(call.name)}">'
            f"<title>{escape(_tip(call, rank))}</title></rect>"
        )
        if not call.label:
            continue
        if labels and begin - labels[-1][1] < _LETTER and not is_wide and end - begin < _WIDE:
            names = labels[-1][2]
            labels[-1] = (labels[-1][0], end, names + [call.label] * (call.label not in names))
        else:
            labels.append((begin, end, [call.label]))
        is_wide = end - begin >= _WIDE
    taken = 0.0
    for begin, end, names in labels:
        text = " ".join(names)
        width = _LETTER * len(text)
        centre = min(max((begin + end) / 2, taken + width / 2), _WIDTH - width / 2)
        centre = max(centre, _LEFT + width / 2 - 2)
        taken = centre + width / 2 + _LETTER
        parts.append(
            f'<text class="what" x="{centre:.1f}" y="{top - 3:g}" text-anchor="middle">'
            f"{escape(text)}</text>"
        )
    return parts


def _colour(name: str) -> str:
    if name == "compute":
        return _COMPUTE
    return next((colour for _, colour, names in _KINDS if name in names), _OTHER)


def _tip(call: Call, rank: int) -> str:
    what = "computing" if call.name == "compute" else call.name
    if call.message >= 0:
        what += f" of message {call.message}"
    begin, end = (f"{1e3 * t:.4f} ms" for t in (call.begin, call.end))
    return f"rank {rank}: {what}, {words.seconds(call.seconds)}, from {begin} to {end}"


def _marks(step: float, longest: float, place: Any, bottom: float) -> list[str]:
    parts = []
    for index in range(4):
        at = index * step
        if at > longest * 1.001:
            break
        x = place(at)
        parts.append(
            f'<line class="mark" x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP - 2:g}" y2="{bottom:g}"/>'
            f'<text x="{x:.1f}" y="{_TOP - 5:g}" text-anchor="middle">T{index}</text>'
        )
    return parts


def _axis(longest: float, place: Any, top: float) -> list[str]:
    step = next(
        s * 10.0**p for p in range(-9, 6) for s in (1, 2, 5) if longest / (s * 10.0**p) <= 6.5
    )
    right = _WIDTH - _RIGHT
    parts = [f'<line class="axis" x1="{_LEFT:g}" x2="{right:g}" y1="{top:g}" y2="{top:g}"/>']
    for index in range(int(longest / step + 1e-9) + 1):
        x = place(index * step)
        parts.append(
            f'<line class="axis" x1="{x:.1f}" x2="{x:.1f}" y1="{top:g}" y2="{top + 4:g}"/>'
            f'<text x="{x:.1f}" y="{top + 16:g}" text-anchor="middle">{1e3 * index * step:g}</text>'
        )
    parts.append(f'<text x="{_LEFT - 6:g}" y="{top + 16:g}" text-anchor="end">ms</text>')
    return parts
