"""Neighbourhood computing on distributed meshes: barrio's C++ core with mpi4py and numpy.

    from mpi4py import MPI
    import barrio

    mesh = barrio.read(MPI.COMM_WORLD, "wing.msh", ghost_layers=1)
    field = mesh.add_field("temperature", barrio.Dim.vertex)
    field.values[:] = 300.0
    field.exchange()

The core and MPI are loaded at the first use of a name of the core, so `python -m barrio.report`
needs neither.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from barrio import _mpi
from barrio.errors import BadInputError, Error, ErrorCode, FailedError, UsageError

if TYPE_CHECKING:
    from barrio._core import (
        CellType,
        Context,
        Dim,
        Exchange,
        Field,
        GatherScatter,
        LocalMesh,
        Mesh,
        MeshSet,
        MeshTag,
        Pieces,
        Round,
        SetKind,
        SharedIds,
        Sides,
        StructuredMesh,
        VtkhdfWriter,
        adapt,
        adopt,
        box,
        commit,
        convert,
        inspect,
        join,
        mpi_library,
        partition,
        probe,
        read,
        read_structured,
        write,
    )

try:
    from barrio._build import VERSION as __version__
except ImportError:  # run from the source folder, where only the report works
    __version__ = "unknown"

__all__ = [
    "BadInputError",
    "CellType",
    "Context",
    "Dim",
    "Error",
    "ErrorCode",
    "Exchange",
    "FailedError",
    "Field",
    "GatherScatter",
    "LocalMesh",
    "Mesh",
    "MeshSet",
    "MeshTag",
    "Pieces",
    "Round",
    "SetKind",
    "SharedIds",
    "Sides",
    "StructuredMesh",
    "UsageError",
    "VtkhdfWriter",
    "__version__",
    "adapt",
    "adopt",
    "box",
    "commit",
    "convert",
    "inspect",
    "join",
    "mpi_library",
    "partition",
    "probe",
    "read",
    "read_structured",
    "write",
]

_mpi.choose_library()


_submodules = ("amr", "delaunay", "rankmap", "report")


def __getattr__(name: str) -> Any:
    if name in _submodules:
        return importlib.import_module(f"barrio.{name}")
    if name not in __all__:
        raise AttributeError(f"module 'barrio' has no attribute {name!r}")
    core = _mpi.load_core()
    value = getattr(core, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_submodules})
