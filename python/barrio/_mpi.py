"""Load the core, and make sure that mpi4py uses the MPI that the core was built for.

The wheel of mpi4py looks for an MPI at run time and may find a different one from that which the
core is linked to. A communicator of one MPI is a meaningless number to the other, so the two are
compared before the first communicator is used.
"""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path
from types import ModuleType

try:
    from barrio._build import MPI_FLAVOUR, MPI_LIBRARY
except ImportError:  # run from the source folder
    MPI_FLAVOUR, MPI_LIBRARY = "", ""


def library_for_mpi4py() -> str | None:
    """Return the library that mpi4py's wheel must load to use the core's MPI; None if unknown."""
    if MPI_FLAVOUR == "mpich":
        # The wheel expects MPICH under the name libmpi.so.12. Debian has no such file;
        # tools/setup makes one.
        shim = Path(sys.prefix, "lib", "mpich", "libmpi.so.12")
        return str(shim) if shim.exists() else None
    if MPI_FLAVOUR == "openmpi" and Path(MPI_LIBRARY).is_file():
        return MPI_LIBRARY
    return None


def choose_library() -> None:
    """Set which MPI mpi4py loads, unless it is loaded already or the user has chosen one."""
    if "mpi4py.MPI" in sys.modules:
        return
    if any(name in os.environ for name in ("MPI4PY_LIBMPI", "MPI4PY_MPIABI")):
        return
    library = library_for_mpi4py()
    if library is not None:
        os.environ["MPI4PY_LIBMPI"] = library


def load_core() -> ModuleType:
    """Import barrio._core, or say what is missing."""
    try:
        return importlib.import_module("barrio._core")
    except ModuleNotFoundError as error:
        if error.name != "barrio._core":
            raise
        raise ImportError(
            f"barrio's compiled core is not in {Path(__file__).parent}: install the package "
            "(pip install ./python), or build it (cmake --build build/release --target "
            "barrio_python) and put build/release/python on PYTHONPATH"
        ) from None
    except ImportError as error:
        raise ImportError(
            f"barrio's compiled core cannot be loaded: {error}. "
            "The MPI and HDF5 it was built with must be installed (tools/doctor lists what is)"
        ) from error


_checked = False


def check_library() -> None:
    """Check that mpi4py and the core use the same MPI. Raises ImportError with a remedy if not."""
    global _checked
    if _checked:
        return
    from mpi4py import MPI

    ours = _first_line(load_core().mpi_library())
    theirs = _first_line(MPI.Get_library_version())
    if ours != theirs:
        raise ImportError(_differ(ours, theirs))
    _checked = True


def _first_line(version: str) -> str:
    return version.strip("\0 \n").split("\n")[0].strip()


def _differ(ours: str, theirs: str) -> str:
    library = library_for_mpi4py()
    if library is not None:
        remedy = f"set MPI4PY_LIBMPI={library}, or import barrio before mpi4py.MPI"
        if any(name in os.environ for name in ("MPI4PY_LIBMPI", "MPI4PY_MPIABI")):
            remedy += "; MPI4PY_LIBMPI and MPI4PY_MPIABI must name barrio's MPI or be unset"
    elif MPI_FLAVOUR == "mpich":
        remedy = (
            "run `tools/setup mpich`, which makes lib/mpich/libmpi.so.12 in build/venv; or set "
            "MPI4PY_MPIABI=mpich and LD_LIBRARY_PATH to a folder with MPICH's libmpi.so.12"
        )
    else:
        remedy = (
            "build mpi4py with that MPI: pip install --no-binary=mpi4py --force-reinstall mpi4py"
        )
    return (
        f"mpi4py and barrio use different MPI libraries: mpi4py loaded '{theirs}', "
        f"barrio is built for '{ours}'. Remedy: {remedy}"
    )
