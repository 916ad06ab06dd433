"""Draw the figures of the explanation pages: `build/venv/bin/python docs/images/draw.py` writes them beside itself.

cavity.svg: a collapse whose cavity crosses three ranks. tile.svg: the neighbourhoods of the pattern `tile` of
`barrio bench exchange`, read from its source. ghosts.svg: one exchange of a field, from owners to ghost copies.
"""

from __future__ import annotations

import re
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.tri import Triangulation

HERE = Path(__file__).resolve().parent
SOURCE = HERE.parents[1]
COLOURS = ["#cfe2f3", "#fde2c8", "#d8ead2", "#e6d9ec"]
STRONG = ["#2b6cb0", "#c05621", "#2f855a", "#6b46c1"]
mpl.rcParams |= {"svg.hashsalt": "barrio", "font.size": 8.5, "svg.fonttype": "none"}


def figure(n: int, width: float, height: float) -> tuple[Figure, list[Axes]]:
    made = Figure(figsize=(width, height), layout="constrained")
    panels = [made.add_subplot(1, n, i + 1) for i in range(n)]
    for axes in panels:
        axes.set_aspect("equal")
        axes.axis("off")
    return made, panels


def save(made: Figure, name: str) -> None:
    made.savefig(HERE / name, metadata={"Date": None, "Creator": None})


# A row of points more or less even, so that cells look like those of a mesh.
def mesh_points() -> np.ndarray:
    rows = []
    for j in range(6):
        x = np.arange(7) + 0.5 * (j % 2)
        rows.append(np.column_stack([x, np.full(7, 0.87 * j)]))
    points = np.concatenate(rows)
    inside = (
        (points[:, 0] > 0.1) & (points[:, 0] < 6.4) & (points[:, 1] > 0.1) & (points[:, 1] < 4.3)
    )
    shift = np.random.default_rng(11).normal(0.0, 0.07, points.shape)
    points[inside] += shift[inside]
    return points


def rank_of(points: np.ndarray, triangles: np.ndarray, around: np.ndarray) -> np.ndarray:
    centres = points[triangles].mean(axis=1)
    angle = np.arctan2(*(centres - around).T[::-1])
    return np.digitize((angle + 3.0) % (2 * np.pi), [1.6, 3.3])  # three ranks around a point


def draw_cells(
    axes: Axes, points: np.ndarray, triangles: np.ndarray, ranks: np.ndarray, alpha: float = 1.0
) -> None:
    for triangle, rank in zip(triangles, ranks, strict=True):
        axes.fill(
            *points[triangle].T,
            facecolor=COLOURS[rank],
            edgecolor="#666666",
            linewidth=0.7,
            alpha=alpha,
        )
    sides: dict[tuple[int, int], list[int]] = {}
    for t, triangle in enumerate(triangles):
        for a, b in ((0, 1), (1, 2), (2, 0)):
            sides.setdefault(tuple(sorted((triangle[a], triangle[b]))), []).append(t)
    for (a, b), cells in sides.items():
        if len(cells) == 2 and ranks[cells[0]] != ranks[cells[1]]:
            axes.plot(*points[[a, b]].T, color="black", linewidth=1.8, linestyle=(0, (4, 2)))


def name_ranks(axes: Axes) -> None:
    axes.set_ylim(-0.6, 5.0)
    for rank, place in enumerate(((0.6, -0.35), (5.6, -0.35), (0.9, 4.62))):
        axes.text(
            *place, f"rank {rank}", color=STRONG[rank], ha="center", va="center", fontweight="bold"
        )


def draw_cavity() -> None:
    points = mesh_points()
    triangles = Triangulation(*points.T).triangles
    gone = int(np.argmin(np.linalg.norm(points - [3.2, 2.2], axis=1)))
    ranks = rank_of(points, triangles, points[gone])
    star = [t for t, triangle in enumerate(triangles) if gone in triangle]
    around = sorted(
        {int(v) for t in star for v in triangles[t]} - {gone},
        key=lambda v: np.arctan2(*(points[v] - points[gone])[::-1]),
    )
    target = min(around, key=lambda v: np.linalg.norm(points[v] - points[gone]))
    made, (before, middle, after) = figure(3, 11.0, 3.2)
    draw_cells(before, points, triangles, ranks)
    before.plot(*points[gone], "o", color="black", markersize=6)
    before.annotate(
        "",
        points[target],
        points[gone],
        arrowprops={"arrowstyle": "->", "linewidth": 1.6, "color": "black"},
    )
    before.set_title("A short edge is to be collapsed:\nits cavity has cells of three ranks")
    draw_cells(middle, points, triangles, ranks, 0.45)
    ring = points[[*around, around[0]]]
    middle.fill(*ring.T, facecolor="none", edgecolor="#b00020", linewidth=2.4)
    for t in star:
        middle.fill(
            *points[triangles[t]].T, facecolor=COLOURS[ranks[t]], edgecolor="#b00020", linewidth=0.9
        )
    middle.set_title(
        "All ranks that see the cavity know its cells and\nreach the same decision. No cell moves"
    )
    kept = [t for t in range(len(triangles)) if t not in star]
    start = around.index(target)
    order = around[start:] + around[:start]
    made_new = [[target, order[i], order[i + 1]] for i in range(1, len(order) - 1)]
    new = np.concatenate([triangles[kept], np.array(made_new)])
    new_ranks = np.concatenate([ranks[kept], rank_of(points, np.array(made_new), points[gone])])
    draw_cells(after, points, new, new_ranks)
    after.fill(*ring.T, facecolor="none", edgecolor="#b00020", linewidth=2.4)
    after.plot(*points[target], "o", color="black", markersize=6)
    after.set_title(
        "Each of them applies it by the same function.\nThe surface of the cavity stays"
    )
    for axes in (before, middle, after):
        name_ranks(axes)
    save(made, "cavity.svg")


def tile_links() -> list[tuple[int, int, int, int]]:
    text = (SOURCE / "benchmarks" / "exchange" / "tile_graph.cpp").read_text()
    body = text[text.index("TileGraph::semi_regular") :]
    return [tuple(map(int, found)) for found in re.findall(r"\{(\d), (\d), (-?\d), (-?\d)\}", body)]


def neighbours_in_grid(x: int, y: int, n: int) -> set[tuple[int, int]]:
    found = set()
    for link_x, link_y, dx, dy in tile_links():
        if (link_x, link_y) == (x % 4, y % 4):
            found.add(((x + dx) % n, (y + dy) % n))
        if (link_x, link_y) == ((x - dx) % 4, (y - dy) % 4):
            found.add(((x - dx) % n, (y - dy) % n))
    return found - {(x, y)}


def draw_tile() -> None:
    n = 12
    made, panels = figure(4, 11.0, 3.2)
    for k, axes in enumerate(panels):
        x, y = 4 + k, 4 + k
        near = neighbours_in_grid(x, y, n)
        for i in range(n):
            for j in range(n):
                is_near = (i, j) in near
                face = STRONG[0] if is_near else "white"
                axes.plot(
                    i,
                    j,
                    "o",
                    markersize=6,
                    markerfacecolor=face,
                    markeredgecolor="#555555",
                    markeredgewidth=0.7,
                )
        axes.plot(
            x,
            y,
            "o",
            markersize=8,
            markerfacecolor="#f6c244",
            markeredgecolor="black",
            markeredgewidth=1.4,
        )
        for at in (3.5, 7.5):
            axes.axhline(at, color="#999999", linewidth=0.9, linestyle="--")
            axes.axvline(at, color="#999999", linewidth=0.9, linestyle="--")
        axes.set_title(f"rank ({k}, {k}) of its tile:\n{len(near)} neighbours")
    save(made, "tile.svg")


def draw_ghosts() -> None:
    made, (axes,) = figure(1, 8.6, 2.7)
    n_x, n_y, gap = 6, 3, 3.4
    points = np.array([(i, j) for j in range(n_y + 1) for i in range(n_x + 1)], dtype=float)
    corners = [j * (n_x + 1) + i for j in range(n_y) for i in range(n_x)]
    cells = [((a, a + 1, a + n_x + 2), (a, a + n_x + 2, a + n_x + 1)) for a in corners]
    triangles = np.array([cell for both in cells for cell in both])
    of_cell = (points[triangles].mean(axis=1)[:, 0] > 3).astype(int)
    # Of the vertices that both ranks share each has one owner.
    of_vertex = np.where(points[:, 0] == 3, points[:, 1].astype(int) % 2, points[:, 0] > 3).astype(
        int
    )
    shifted = [points, points + np.array([gap, 0.0])]
    seen: list[set[int]] = []
    for rank, place in enumerate(shifted):
        own = of_cell == rank
        touched = set(triangles[own].ravel())
        ghosts = ~own & np.array([bool(touched & set(cell)) for cell in triangles])
        seen.append(set(triangles[own | ghosts].ravel()))
        draw_cells(axes, place, triangles[own], of_cell[own])
        for cell in triangles[ghosts]:
            axes.fill(
                *place[cell].T,
                facecolor=COLOURS[1 - rank],
                edgecolor="#888888",
                linewidth=0.7,
                hatch="//",
                alpha=0.55,
            )
        side = (1.5, 4.5 + gap)[rank]
        axes.text(side, -0.5, f"rank {rank}", color=STRONG[rank], ha="center", fontweight="bold")
    for v in sorted(seen[0] | seen[1]):
        owner = of_vertex[v]
        for rank in (0, 1):
            if v not in seen[rank]:
                continue
            axes.plot(
                *shifted[rank][v],
                "o",
                markersize=6,
                zorder=3,
                markerfacecolor=STRONG[owner] if rank == owner else "white",
                markeredgecolor=STRONG[owner],
                markeredgewidth=1.4,
            )
        if v in seen[0] & seen[1]:
            line = {
                "arrowstyle": "->",
                "color": STRONG[owner],
                "linewidth": 0.9,
                "shrinkA": 4,
                "shrinkB": 4,
            }
            line["connectionstyle"] = "arc3,rad=-0.12"
            axes.annotate("", shifted[1 - owner][v], shifted[owner][v], arrowprops=line, zorder=2)
    axes.text(4.7, 3.75, "one message each way", ha="center", color="#333333")
    axes.set_ylim(-0.8, 4.1)
    save(made, "ghosts.svg")


if __name__ == "__main__":
    draw_cavity()
    draw_tile()
    draw_ghosts()
