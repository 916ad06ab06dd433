#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Make the swept-wing demo meshes with the Gmsh Python API.

The domain is the fluid around a half-span swept, tapered wing in a box. The wing itself is a
hole. All lengths are in root chords; x points downstream, y along the span, z up.

Wing     NACA four-digit section (Jacobs, Ward, Pinkerton, NACA Report 460, 1933) with the last
         thickness coefficient set to -0.1036, so that the trailing edge closes in a point.
         Root chord 1 on the plane y=0 with its leading edge at the origin, tip chord 0.5 at
         y=2, leading edge swept by 27 degrees, dihedral 3 degrees, no twist, planar tip cap.
Box      x in [-2, 4], y in [0, 3.5], z in [-2, 2]; y=0 is the symmetry plane.
Regions  the volume is cut by a smaller block around the wing into "near" (inside the block) and
         "far" (outside). The mesh is conformal across the cut. The cut is not stored.

Physical groups (dimension, tag, name):

    2   1  wing        upper side, lower side and tip cap
    2   2  symmetry    the plane y=0 outside the root section
    2   3  farfield    the five other sides of the box
    3  11  near        the block around the wing, minus the wing
    3  12  far         the rest of the box

Only the elements of these groups are written: first-order triangles and tetrahedra, in MSH 4.1.
The triangles' normals point out of the fluid (so those of "wing" point into the wing).

Usage:

    python make_wing.py             writes wing.msh (binary) beside this script
    python make_wing.py --coarse    writes wing_coarse.msh (ASCII) beside this script

The only dependency is the "gmsh" Python module. The result is repeatable: everything runs on
one thread with a fixed random seed. Another Gmsh version may give another mesh.
After writing, the script reads the file back, checks it, and prints a summary; it exits with
status 1 if a check fails.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import gmsh

HERE = Path(__file__).resolve().parent

# (xmin, ymin, zmin), (xmax, ymax, zmax)
FAR_BOX = ((-2.0, 0.0, -2.0), (4.0, 3.5, 2.0))
NEAR_BOX = ((-0.4, 0.0, -0.45), (2.1, 2.4, 0.55))

SURFACE_GROUPS = {"wing": 1, "symmetry": 2, "farfield": 3}
VOLUME_GROUPS = {"near": 11, "far": 12}

TRIANGLE = 2  # Gmsh element type of the 3-node triangle
TETRAHEDRON = 4  # Gmsh element type of the 4-node tetrahedron

Point = tuple[float, float, float]


@dataclass(frozen=True)
class Wing:
    """Planform and section of the half wing; lengths in root chords, angles in degrees."""

    naca: str = "2412"
    root_chord: float = 1.0
    tip_chord: float = 0.5
    half_span: float = 2.0
    sweep: float = 27.0
    dihedral: float = 3.0
    section_points: int = 61  # on each side of the section


@dataclass(frozen=True)
class Sizes:
    """Target edge lengths: the least of `far` and two rules of the form h0 + growth * distance.

    At the trailing edge of the tip the upper side, the lower side and the tip cap meet in a
    corner of about 16 degrees. The edge across that corner is much shorter than its neighbours,
    so the lengths are raised to `corner` there, falling off linearly over twice that distance.
    """

    corner: float
    edge: float  # on the leading and trailing edges and around the tip section
    edge_growth: float
    wing: float  # on the rest of the wing surface
    wing_growth: float
    far: float  # upper bound


FINE = Sizes(corner=0.10, edge=0.027, edge_growth=0.22, wing=0.045, wing_growth=0.17, far=0.22)
COARSE = Sizes(corner=0.40, edge=0.14, edge_growth=0.35, wing=0.25, wing_growth=0.32, far=0.72)


def naca_four_digit(code: str, count: int) -> tuple[list[tuple[float, float]], ...]:
    """Return the upper and the lower side of a NACA four-digit section of unit chord.

    Each side is a list of `count` points (x, z) from the leading edge to the trailing edge,
    cosine-spaced, starting at exactly (0, 0) and ending at exactly (1, 0).
    """
    camber = int(code[0]) / 100.0
    position = int(code[1]) / 10.0
    thickness = int(code[2:]) / 100.0

    upper = [(0.0, 0.0)]
    lower = [(0.0, 0.0)]
    for i in range(1, count - 1):
        x = 0.5 * (1.0 - math.cos(math.pi * i / (count - 1)))
        half = (thickness / 0.2) * (
            0.2969 * math.sqrt(x) - 0.1260 * x - 0.3516 * x**2 + 0.2843 * x**3 - 0.1036 * x**4
        )
        if camber == 0.0:
            line, slope = 0.0, 0.0
        elif x < position:
            line = camber / position**2 * (2.0 * position * x - x**2)
            slope = 2.0 * camber / position**2 * (position - x)
        else:
            aft = (1.0 - position) ** 2
            line = camber / aft * (1.0 - 2.0 * position + 2.0 * position * x - x**2)
            slope = 2.0 * camber / aft * (position - x)
        angle = math.atan(slope)
        upper.append((x - half * math.sin(angle), line + half * math.cos(angle)))
        lower.append((x + half * math.sin(angle), line - half * math.cos(angle)))
    upper.append((1.0, 0.0))
    lower.append((1.0, 0.0))
    return upper, lower


def add_section(wing: Wing, y: float) -> int:
    """Add the closed wire of the section at span station y and return its tag."""
    occ = gmsh.model.occ
    along = y / wing.half_span
    chord = (1.0 - along) * wing.root_chord + along * wing.tip_chord
    x0 = y * math.tan(math.radians(wing.sweep))
    z0 = y * math.tan(math.radians(wing.dihedral))
    upper, lower = naca_four_digit(wing.naca, wing.section_points)

    def add(point: tuple[float, float]) -> int:
        return int(occ.addPoint(x0 + chord * point[0], y, z0 + chord * point[1]))

    leading = add(upper[0])
    trailing = add(upper[-1])
    sides = []
    for side in (upper, lower):
        inner = [add(point) for point in side[1:-1]]
        sides.append(occ.addSpline([leading, *inner, trailing]))
        occ.remove([(0, point) for point in inner])
    return int(occ.addWire([sides[0], -sides[1]], checkClosed=True))


def add_box(corners: tuple[Point, Point]) -> int:
    """Add an axis-aligned box given by two opposite corners and return its tag."""
    low, high = corners
    size = [b - a for a, b in zip(low, high, strict=True)]
    return int(gmsh.model.occ.addBox(*low, *size))


def in_box(bounds: tuple[float, ...], box: tuple[Point, Point], slack: float = 1e-4) -> bool:
    """Tell whether a bounding box (xmin, ymin, zmin, xmax, ymax, zmax) lies in `box`."""
    low, high = box
    return all(bounds[i] >= low[i] - slack and bounds[i + 3] <= high[i] + slack for i in range(3))


def on_plane(bounds: tuple[float, ...], axis: int, value: float, slack: float = 1e-4) -> bool:
    """Tell whether a bounding box is flat and lies on the plane coordinate[axis] = value."""
    return abs(bounds[axis] - value) < slack and abs(bounds[axis + 3] - value) < slack


def build_geometry(wing: Wing) -> dict[str, list[int]]:
    """Build the two fluid volumes, add the physical groups, return the tags for the sizes.

    The result holds the surface tags of the wing ("wing"), the tags of its leading edge,
    trailing edge and tip section curves ("edges"), and the tag of the most downstream point of
    the tip section ("corner").
    """
    model, occ = gmsh.model, gmsh.model.occ
    root = add_section(wing, 0.0)
    tip = add_section(wing, wing.half_span)
    solid = occ.addThruSections([root, tip], makeSolid=True, makeRuled=True)
    far_box = add_box(FAR_BOX)
    near_box = add_box(NEAR_BOX)
    far, _ = occ.cut([(3, far_box)], [(3, near_box)], removeTool=False)
    near, _ = occ.cut([(3, near_box)], [pair for pair in solid if pair[0] == 3])
    occ.fragment(far, near)
    occ.synchronize()

    regions: dict[str, list[int]] = {"near": [], "far": []}
    for _, tag in model.getEntities(3):
        name = "near" if in_box(model.getBoundingBox(3, tag), NEAR_BOX) else "far"
        regions[name].append(tag)
    if any(len(tags) != 1 for tags in regions.values()):
        raise RuntimeError(f"expected one near and one far volume, got {regions}")

    outer = [tag for _, tag in model.getBoundary(model.getEntities(3), oriented=False)]
    groups: dict[str, list[int]] = {name: [] for name in SURFACE_GROUPS}
    for tag in outer:
        bounds = model.getBoundingBox(2, tag)
        if on_plane(bounds, 1, 0.0):
            groups["symmetry"].append(tag)
        elif any(on_plane(bounds, a, side[a]) for a in range(3) for side in FAR_BOX):
            groups["farfield"].append(tag)
        else:
            groups["wing"].append(tag)
    expected = {"wing": 3, "symmetry": 2, "farfield": 5}
    if {name: len(tags) for name, tags in groups.items()} != expected:
        raise RuntimeError(f"unexpected boundary surfaces: {groups}")

    for name, tag in SURFACE_GROUPS.items():
        model.addPhysicalGroup(2, groups[name], tag, name)
    for name, tag in VOLUME_GROUPS.items():
        model.addPhysicalGroup(3, regions[name], tag, name)

    # The wing's curves, less the root section, which has no edge to resolve.
    curves = model.getBoundary([(2, t) for t in groups["wing"]], combined=False, oriented=False)
    edges = {tag for _, tag in curves if not on_plane(model.getBoundingBox(1, tag), 1, 0.0)}
    points = {tag for _, tag in model.getBoundary([(1, t) for t in edges], combined=False)}
    corner = max(points, key=lambda tag: sum(model.getValue(0, tag, [])[:2]))
    return {"wing": groups["wing"], "edges": sorted(edges), "corner": [corner]}


def set_sizes(parts: dict[str, list[int]], sizes: Sizes) -> None:
    """Set the mesh size field: linear growth away from the wing's edges and surface."""
    field = gmsh.model.mesh.field

    def add_rule(
        key: str, tags: list[int], sizes: tuple[float, float], reach: float, sampling: int = 0
    ) -> int:
        """Add a size that goes from sizes[0] on the entities to sizes[1] at distance `reach`."""
        distance: int = field.add("Distance")
        field.setNumbers(distance, key, tags)
        if sampling:
            field.setNumber(distance, "Sampling", sampling)
        rule: int = field.add("Threshold")
        field.setNumber(rule, "InField", distance)
        field.setNumber(rule, "SizeMin", sizes[0])
        field.setNumber(rule, "SizeMax", sizes[1])
        field.setNumber(rule, "DistMin", 0.0)
        field.setNumber(rule, "DistMax", reach)
        return rule

    def add_choice(kind: str, rules: list[int]) -> int:
        """Add the least ("Min") or the greatest ("Max") of some rules."""
        choice: int = field.add(kind)
        field.setNumbers(choice, "FieldsList", rules)
        return choice

    edge_reach = (sizes.far - sizes.edge) / sizes.edge_growth
    wing_reach = (sizes.far - sizes.wing) / sizes.wing_growth
    edges = add_rule("CurvesList", parts["edges"], (sizes.edge, sizes.far), edge_reach, 400)
    wing = add_rule("SurfacesList", parts["wing"], (sizes.wing, sizes.far), wing_reach, 100)
    corner = add_rule("PointsList", parts["corner"], (sizes.corner, 0.0), 2.0 * sizes.corner)
    field.setAsBackgroundMesh(add_choice("Max", [corner, add_choice("Min", [edges, wing])]))
    for option in ("FromPoints", "FromCurvature", "ExtendFromBoundary"):
        gmsh.option.setNumber(f"Mesh.MeshSize{option}", 0)


def generate(optimize_passes: int) -> None:
    """Mesh the model and improve the tetrahedra with both of Gmsh's optimizers."""
    mesh = gmsh.model.mesh
    gmsh.option.setNumber("Mesh.Algorithm", 6)  # Frontal-Delaunay on surfaces
    gmsh.option.setNumber("Mesh.Algorithm3D", 1)  # Delaunay in volumes
    gmsh.option.setNumber("Mesh.Optimize", 1)
    gmsh.option.setNumber("Mesh.OptimizeThreshold", 0.4)
    for _, volume in gmsh.model.getEntities(3):
        mesh.setOutwardOrientation(volume)
    mesh.generate(3)
    for _ in range(optimize_passes):
        mesh.optimize("Netgen")
        mesh.optimize("")


def renumber_stored_elements() -> None:
    """Drop what is not stored (curves, points, the near/far cut) and number the rest from 1."""
    model, mesh = gmsh.model, gmsh.model.mesh
    kept = {
        (dim, tag)
        for dim, group in model.getPhysicalGroups()
        for tag in model.getEntitiesForPhysicalGroup(dim, group)
    }
    for dim, tag in model.getEntities():
        if (dim, tag) not in kept:
            types, tags, _ = mesh.getElements(dim, tag)
            for _, elements in zip(types, tags, strict=True):
                mesh.removeElements(dim, tag, elements)
    mesh.renumberElements()


def read_group(dim: int, group: int, kind: int) -> tuple[list[int], list[tuple[int, ...]]]:
    """Return the element tags and the node tuples of one physical group of the open model."""
    tags: list[int] = []
    cells: list[tuple[int, ...]] = []
    for entity in gmsh.model.getEntitiesForPhysicalGroup(dim, group):
        element_tags, node_tags = gmsh.model.mesh.getElementsByType(kind, entity)
        tags.extend(int(tag) for tag in element_tags)
        flat = [int(node) for node in node_tags]
        cells.extend(zip(*(flat[i :: dim + 1] for i in range(dim + 1)), strict=True))
    return tags, cells


def check_topology(triangles: list[tuple[int, ...]], tets: list[tuple[int, ...]]) -> list[str]:
    """Check that the triangles are the outer faces, normals outward; return what is wrong."""
    failures = []
    uses: Counter[tuple[int, ...]] = Counter()
    outward: dict[tuple[int, ...], tuple[int, ...]] = {}
    for a, b, c, d in tets:
        for face in ((b, c, d), (a, d, c), (a, b, d), (a, c, b)):
            key = tuple(sorted(face))
            uses[key] += 1
            outward[key] = face
    stored = Counter(tuple(sorted(triangle)) for triangle in triangles)
    if max(uses.values()) > 2:
        failures.append("a face is shared by more than two tetrahedra")
    if max(stored.values()) > 1:
        failures.append("a triangle is stored twice")
    if set(stored) != {face for face, count in uses.items() if count == 1}:
        failures.append("the triangles are not exactly the outer faces of the tetrahedra")
    else:
        for a, b, c in triangles:
            if outward[tuple(sorted((a, b, c)))] not in ((a, b, c), (b, c, a), (c, a, b)):
                failures.append("a triangle's normal points into the fluid")
                break
    return failures


def check_file(path: Path) -> list[str]:
    """Read the file back, print a summary and return the list of failed checks."""
    model, mesh = gmsh.model, gmsh.model.mesh
    gmsh.clear()
    gmsh.open(str(path))

    groups = {(dim, tag): model.getPhysicalName(dim, tag) for dim, tag in model.getPhysicalGroups()}
    expected = {(2, tag): name for name, tag in SURFACE_GROUPS.items()}
    expected |= {(3, tag): name for name, tag in VOLUME_GROUPS.items()}
    if groups != expected:
        return [f"the physical groups are {groups}"]

    surfaces = {name: read_group(2, tag, TRIANGLE) for name, tag in SURFACE_GROUPS.items()}
    volumes = {name: read_group(3, tag, TETRAHEDRON) for name, tag in VOLUME_GROUPS.items()}
    triangles = [cell for _, cells in surfaces.values() for cell in cells]
    tets = [cell for _, cells in volumes.values() for cell in cells]
    tet_tags = [tag for tags, _ in volumes.values() for tag in tags]
    node_tags, coordinates, _ = mesh.getNodes()

    failures = check_topology(triangles, tets)
    if sum(len(tags) for tags in mesh.getElements()[1]) != len(tets) + len(triangles):
        failures.append("there are elements outside the groups")
    if {int(tag) for tag in node_tags} != {node for cell in tets for node in cell}:
        failures.append("there are nodes outside the tetrahedra")
    if len(set(zip(*(coordinates[i::3] for i in range(3)), strict=True))) != len(node_tags):
        failures.append("two nodes share one place")

    def measure(name: str) -> list[float]:
        return [float(value) for value in mesh.getElementQualities(tet_tags, name)]

    volume, sicn, gamma = measure("volume"), measure("minSICN"), measure("gamma")
    shortest, longest = min(measure("minEdge")), max(measure("maxEdge"))
    if min(volume) <= 0.0 or min(sicn) <= 0.0:
        failures.append("a tetrahedron is flat or inverted")

    box = [(min(coordinates[i::3]), max(coordinates[i::3])) for i in range(3)]
    print(f"{path.name}: Gmsh {gmsh.__version__}, {path.stat().st_size} bytes")
    print(f"  nodes {len(node_tags)}, tetrahedra {len(tets)}, triangles {len(triangles)}")
    for name, (tags, _) in (surfaces | volumes).items():
        print(f"    {name:<9} {len(tags)}")
    print("  box " + " x ".join(f"[{low:g}, {high:g}]" for low, high in box))
    print(f"  volume {sum(volume):.6f}")
    print(f"  edges {shortest:.5f} to {longest:.5f}, ratio {longest / shortest:.1f}")
    for name, values in (("minSICN", sicn), ("gamma", gamma)):
        print(f"  {name} min {min(values):.4f}, mean {sum(values) / len(values):.4f}")
    return failures


def section_code(text: str) -> str:
    """Return `text` if it is a usable NACA four-digit code (for argparse)."""
    if not (len(text) == 4 and text.isascii() and text.isdigit()):
        raise argparse.ArgumentTypeError(f"not a NACA four-digit code: {text!r}")
    if text[2:] == "00" or (text[0] == "0") != (text[1] == "0"):
        raise argparse.ArgumentTypeError(f"not a usable NACA four-digit code: {text!r}")
    return text


def parse_arguments() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(
        description="Make the swept-wing demo mesh (Gmsh MSH 4.1).",
        epilog="All lengths are in root chords. The default output is binary, --coarse is ASCII.",
    )
    parser.add_argument("--coarse", action="store_true", help="make the small mesh for tests")
    parser.add_argument(
        "--naca",
        type=section_code,
        default="2412",
        help="four-digit section (default: %(default)s)",
    )
    parser.add_argument("-o", "--output", type=Path, help="default: beside this script")
    parser.add_argument("-v", "--verbose", action="store_true", help="show what Gmsh does")
    return parser.parse_args()


def main() -> int:
    """Make one mesh file and check it."""
    arguments = parse_arguments()
    name = "wing_coarse.msh" if arguments.coarse else "wing.msh"
    output: Path = arguments.output or HERE / name

    gmsh.initialize(readConfigFiles=False)
    try:
        gmsh.option.setNumber("General.Terminal", 1)
        gmsh.option.setNumber("General.Verbosity", 5 if arguments.verbose else 2)
        gmsh.option.setNumber("General.NumThreads", 1)
        gmsh.option.setNumber("Mesh.RandomSeed", 1)
        gmsh.option.setNumber("Mesh.MshFileVersion", 4.1)
        gmsh.option.setNumber("Mesh.Binary", 0 if arguments.coarse else 1)
        gmsh.option.setNumber("Mesh.SaveAll", 0)
        gmsh.model.add("wing")
        set_sizes(build_geometry(Wing(naca=arguments.naca)), COARSE if arguments.coarse else FINE)
        generate(optimize_passes=3)
        renumber_stored_elements()
        gmsh.write(str(output))
        failures = check_file(output)
    finally:
        gmsh.finalize()
    for failure in failures:
        print(f"check failed: {failure}", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
