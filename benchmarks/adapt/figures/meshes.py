"""Pictures of CUBE and BUBBLE before and after, cut open and coloured by part."""

from __future__ import annotations

import argparse
import math
import os
from pathlib import Path
from typing import Any

from figure_tools import drawing, output_of
from measure import CASES

COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#999999")
FIGURES = {"cube": "figure12", "bubble": "figure13"}
CUT = {"cube": 0.35, "bubble": 0.3}  # cells below this y are removed

# As in cases.cpp.
BOXES = 55
CENTRES = ((0.3, 0.3, 0.3), (0.7, 0.3, 0.5), (0.3, 0.7, 0.6), (0.68, 0.7, 0.3), (0.55, 0.5, 0.75))
HALF = math.sqrt(0.5)
WAYS = ((1, 0, 0), (0, 1, 0), (0, 0, 1), (HALF, HALF, 0), (0, HALF, HALF))
RADIUS = 0.12


def draw(options: argparse.Namespace) -> None:
    """Make the meshes with the command, and draw them."""
    files = _make(options)
    for case, figure in FIGURES.items():
        with drawing(figure, options.out, (7.4, 4.1)) as canvas:
            for axes, when in zip(canvas.subplots(1, 2), ("before", "after"), strict=True):
                picture, n_cells = _picture(files[case, when], CUT[case])
                axes.imshow(picture)
                axes.axis("off")
                n = f"{n_cells:,}".replace(",", "\u202f")
                axes.set_title(f"{CASES[case]} {when}: {n} tets, {options.mesh_ranks} parts")


def _plane(scale: float) -> list[str]:
    return [
        f"plane,x=0.5,min_size={0.028 * scale},max_size={0.2 * scale},width=0.04,growth={0.4 * scale}"
    ]


def _bubbles(scale: float, steps: int) -> list[str]:
    factor = scale * (1.14 ** (-1 / 3) if steps > 0 else 1.0)
    sizes = []
    for centre, way in zip(CENTRES, WAYS, strict=True):
        x, y, z = (c + steps * RADIUS / 5 * w for c, w in zip(centre, way, strict=True))
        sizes.append(
            f"sphere,x={x},y={y},z={z},radius={RADIUS},min_size={0.008 * factor},"
            f"max_size={0.2 * factor},width=0.016,growth={0.4 * factor}"
        )
    return sizes


def _make(options: argparse.Namespace) -> dict[tuple[str, str], Path]:
    n = options.mesh_boxes
    scale = BOXES / n
    box = options.out / "box.h5m"
    parted = options.out / "bubble.h5m"
    files = {
        (case, when): options.out / f"{case}-{when}.vtkhdf"
        for case in CASES
        for when in ("before", "after")
    }

    if options.redraw and all(path.exists() for path in files.values()):
        return files

    def barrio(*words: object) -> None:
        output_of([str(options.barrio), "--ranks", str(options.mesh_ranks), *map(str, words)])

    def adapt(source: Path, sizes: list[str], target: Path) -> None:
        barrio("adapt", source, *(word for size in sizes for word in ("-s", size)), "-o", target)

    barrio("generate", "box", "-c", n, n, n, "--tets", "-n", options.mesh_ranks, "-o", box)
    barrio("convert", box, files["cube", "before"])
    adapt(box, _plane(scale), files["cube", "after"])
    adapt(box, _bubbles(scale, 0), parted)
    barrio("convert", parted, files["bubble", "before"])
    adapt(parted, _bubbles(scale, 1), files["bubble", "after"])
    return files


def _picture(path: Path, cut: float) -> tuple[Any, int]:
    """Return the image of the cells behind a plane of constant y, and the number of all cells."""
    os.environ.setdefault("VTK_DEFAULT_OPENGL_WINDOW", "vtkEGLRenderWindow")
    import numpy as np
    import pyvista as pv

    mesh = pv.read(path)
    whole = (
        pv.merge(list(mesh), merge_points=True) if isinstance(mesh, pv.PartitionedDataSet) else mesh
    )
    kept = whole.extract_cells(whole.cell_centers().points[:, 1] > cut)
    surface = kept.extract_surface(algorithm="dataset_surface")
    parts = np.asarray(surface.cell_data["part"]).astype(int)
    palette = np.array([pv.Color(colour).int_rgb for colour in COLOURS], dtype=np.uint8)
    surface.cell_data["colour"] = palette[parts % len(COLOURS)]
    plotter = pv.Plotter(off_screen=True, window_size=[1400, 1400])
    plotter.enable_anti_aliasing("ssaa")
    plotter.add_mesh(
        surface,
        scalars="colour",
        rgb=True,
        show_edges=True,
        edge_color="#20242a",
        line_width=1.0,
        ambient=0.5,
        diffuse=0.6,
    )
    plotter.enable_parallel_projection()
    plotter.camera_position = [(2.4, -2.9, 2.2), (0.5, 0.6, 0.48), (0, 0, 1)]
    plotter.camera.parallel_scale = 0.82
    image = plotter.screenshot(return_img=True)
    plotter.close()
    return image, whole.n_cells
