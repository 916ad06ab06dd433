"""Convert a rank's cells to a pyvista grid."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from barrio.errors import ErrorCode, FailedError, UsageError

if TYPE_CHECKING:
    import pyvista

    from barrio._core import Mesh, MeshTag

# VTK's type number and the corner count of each type; 0: the count varies.
VTK_TYPES = {
    "vertex": (1, 1),
    "edge": (3, 2),
    "triangle": (5, 3),
    "quad": (9, 4),
    "polygon": (7, 0),
    "tet": (10, 4),
    "pyramid": (14, 5),
    "prism": (13, 6),
    "knife": (12, 7),
    "hex": (12, 8),
    "polyhedron": (42, 0),
}
MAX_WITH_EDGES = 150_000  # cells that are drawn with edges
DUPLICATE = 1  # bit of vtkGhostType, the same for points and cells


def _load() -> Any:
    try:
        import pyvista
    except ImportError as reason:
        raise FailedError(
            ErrorCode.failed, "pyvista", f"cannot be loaded: {reason}", "pip install pyvista"
        ) from None
    return pyvista


def loops(nodes: np.ndarray) -> list[np.ndarray]:
    """Return the faces of a polyhedron. Its nodes repeat the first vertex of each face at the end."""
    faces, first = [], 0
    while first < len(nodes):
        end = first + 1 + int(np.flatnonzero(nodes[first + 1 :] == nodes[first])[0])
        faces.append(nodes[first:end])
        first = end + 1
    return faces


def vtk_nodes(name: str, nodes: np.ndarray) -> np.ndarray:
    """Return a cell's points as VTK expects them: a polyhedron by faces, a knife as a degenerate hex."""
    if name == "polyhedron":
        faces = loops(nodes)
        return np.concatenate([[len(faces)], *(np.append(len(face), face) for face in faces)])
    if name == "knife":
        return np.append(nodes[:7], nodes[5])
    if name == "polygon":  # a padded one repeats its last node
        return nodes[np.append(True, nodes[1:] != nodes[:-1])] if len(nodes) > 1 else nodes
    return nodes[: VTK_TYPES[name][1]]


class _Rows:
    """Nodes of cells, cell after cell."""

    def __init__(self, offsets: np.ndarray, nodes: np.ndarray) -> None:
        self._offsets, self._nodes = offsets, nodes

    def __getitem__(self, cell: int) -> np.ndarray:
        return self._nodes[self._offsets[cell] : self._offsets[cell + 1]].astype(np.int64)


def cell_stream(mesh: Mesh, n: int) -> tuple[np.ndarray, np.ndarray, bool]:
    """Return VTK's stream of the first n cells by local vertices, their types, and if nodes were dropped."""
    from barrio._core import CellType

    types = np.asarray(mesh.cell_types)[:n]
    names = {t: CellType(int(t)).name for t in np.unique(types)}
    vtk_types = np.zeros(n, np.uint8)
    for number, name in names.items():
        vtk_types[types == number] = VTK_TYPES[name][0]
    connectivity = mesh.cells
    if isinstance(connectivity, np.ndarray):
        rows = connectivity[:n].astype(np.int64)
        if len(names) == 1 and VTK_TYPES[next(iter(names.values()))][1] == rows.shape[1] != 7:
            counts = np.full((n, 1), rows.shape[1])
            return np.hstack([counts, rows]).ravel(), vtk_types, False
    else:
        offsets, nodes = connectivity
        rows = _Rows(offsets, nodes)
    corners = np.zeros(n, np.int64)  # of each cell; 0: they vary
    for number, name in names.items():
        corners[types == number] = VTK_TYPES[name][1] + (name == "knife")
    lengths = np.diff(offsets[: n + 1]) if isinstance(rows, _Rows) else None
    others = {}
    for cell in np.flatnonzero(corners == 0):
        others[cell] = vtk_nodes(names[types[cell]], rows[cell])
        corners[cell] = len(others[cell])
    starts = np.concatenate([[0], np.cumsum(corners + 1)])
    stream = np.empty(starts[-1], np.int64)
    stream[starts[:-1]] = corners
    is_cut = False
    for number, name in names.items():
        cells = np.flatnonzero(types == number)
        if VTK_TYPES[name][1] == 0:
            continue
        n_nodes = rows.shape[1] if lengths is None else int(lengths[cells].max())
        is_cut = is_cut or n_nodes > VTK_TYPES[name][1]
        taken = [0, 1, 2, 3, 4, 5, 6, 5] if name == "knife" else list(range(VTK_TYPES[name][1]))
        if lengths is None:
            stream[starts[cells][:, None] + 1 + np.arange(len(taken))] = rows[cells][:, taken]
        else:
            first = offsets[:-1][cells].astype(np.int64)[:, None]
            stream[starts[cells][:, None] + 1 + np.arange(len(taken))] = nodes[first + taken]
    for cell, points in others.items():
        stream[starts[cell] + 1 : starts[cell + 1]] = points
    return stream, vtk_types, is_cut


def used_points(
    stream: np.ndarray, types: np.ndarray, n_local: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the vertices that a stream uses, ascending, and the stream renumbered to their positions."""
    is_point = np.ones(len(stream), bool)
    at = 0
    for kind in types:
        is_point[at] = False
        if kind == VTK_TYPES["polyhedron"][0]:
            face = at + 2
            is_point[at + 1] = False
            for _ in range(stream[at + 1]):
                is_point[face] = False
                face += stream[face] + 1
        at += stream[at] + 1
    used = np.unique(stream[is_point])
    places = np.zeros(n_local, np.int64)
    places[used] = np.arange(len(used))
    moved = stream.copy()
    moved[is_point] = places[stream[is_point]]
    return used, moved


def tag_values(tag: MeshTag, dim: Any, n: int) -> np.ndarray | None:
    """Return a tag's values on all n local entities; None without values or for types without numbers."""
    if tag.length_varies or tag.type not in ("int32", "float64"):
        return None
    ids, values = tag.values(dim)
    if len(ids) == 0:
        return None
    if len(ids) == n:
        return np.array(values)
    if tag.default is not None:
        all_of_them = np.empty((n, *values.shape[1:]), values.dtype)
        all_of_them[:] = tag.default if values.ndim > 1 else tag.default[0]
    else:
        all_of_them = np.full((n, *values.shape[1:]), np.nan)
    all_of_them[ids] = values
    return all_of_them


def add_arrays(mesh: Mesh, dim: Any, data: Any, chosen: np.ndarray) -> None:
    """Add global ids, tags and fields of a dimension. A field replaces a tag of the same name."""
    data["global_id"] = np.array(mesh.global_ids(dim))[chosen]
    for tag in mesh.tags:
        values = tag_values(tag, dim, mesh.n_local(dim))
        if values is not None:
            data[tag.name] = values[chosen]
    for field in mesh.fields:
        if field.dim == dim:
            data[field.name] = field.values[chosen]


def to_pyvista(mesh: Mesh, ghosts: bool) -> pyvista.UnstructuredGrid:
    """See `Mesh.to_pyvista`."""
    pyvista = _load()
    from barrio._core import Dim, SetKind

    cell_dim, n_vertices = mesh.cell_dim, mesh.n_local(Dim.vertex)
    n = mesh.n_local(cell_dim) if ghosts else mesh.n_owned(cell_dim)
    if n == 0:
        return pyvista.UnstructuredGrid()  # pyvista refuses empty arrays
    stream, types, is_cut = cell_stream(mesh, n)
    if is_cut:
        warnings.warn("cells of second order are shown by their corners", stacklevel=3)
    used, stream = used_points(stream, types, n_vertices)
    grid = pyvista.UnstructuredGrid(stream, types, np.array(mesh.coordinates)[used])
    cells = np.arange(n)
    material = np.full(mesh.n_local(cell_dim), -1, np.int32)  # 0 may be an id
    for one in mesh.sets:
        if one.kind == SetKind.material:
            material[one.entities(cell_dim)] = one.id
    grid.cell_data["part"] = np.array(mesh.cell_parts)[:n]
    grid.cell_data["material"] = material[:n]
    add_arrays(mesh, Dim.vertex, grid.point_data, used)
    add_arrays(mesh, cell_dim, grid.cell_data, cells)
    if ghosts:
        for data, dim, chosen in (
            (grid.point_data, Dim.vertex, used),
            (grid.cell_data, cell_dim, cells),
        ):
            data["owner"] = np.array(mesh.owners(dim))[chosen]
            is_copy = chosen >= mesh.n_owned(dim)
            data["vtkGhostType"] = np.where(is_copy, DUPLICATE, 0).astype(np.uint8)
    return grid


def plot(mesh: Mesh, field: str | None, path: Any, ghosts: bool) -> None:
    """See `Mesh.plot`."""
    pyvista = _load()
    grid = to_pyvista(mesh, ghosts)
    known = [*grid.point_data, *grid.cell_data]
    if field is not None and field not in known and grid.n_cells:
        raise UsageError(
            ErrorCode.usage, f"field '{field}'", "is not on vertices or cells", ", ".join(known)
        )
    plotter = pyvista.Plotter(off_screen=path is not None)
    if grid.n_cells:
        look = {"scalars": field, "show_scalar_bar": True} if field else {"color": "#a9c1d9"}
        plotter.add_mesh(grid, show_edges=grid.n_cells < MAX_WITH_EDGES, **look)
        plotter.show_bounds(location="outer", all_edges=False)
    if path is None:
        plotter.show()
    else:
        plotter.screenshot(str(path))
        plotter.close()


def html(mesh: Mesh) -> str:
    """Describe a mesh as a table, for notebooks."""
    from html import escape

    from barrio._core import Dim

    n = {dim.name: mesh.n_global(dim) for dim in (mesh.cell_dim, Dim.vertex)}
    rows = [("cells", f"{n[mesh.cell_dim.name]:,}"), ("vertices", f"{n['vertex']:,}")]
    rows.append(("parts", f"{mesh.n_parts:,}"))
    rows += [(f"set {one.kind.name} {one.id}", one.name) for one in mesh.sets]
    rows += [("field", f"{field.name} on {field.dim.name}") for field in mesh.fields]
    cells = "".join(f"<tr><th>{escape(a)}</th><td>{escape(b)}</td></tr>" for a, b in rows)
    return f"<table><caption>barrio.Mesh</caption>{cells}</table>"
