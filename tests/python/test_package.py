"""Fresh interpreters: imports, the choice of the MPI, the exit. Without a launcher."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest
from mpi4py import MPI

import barrio
from barrio import _mpi

pytestmark = pytest.mark.skipif(
    MPI.COMM_WORLD.size > 1 or any(name.startswith(("OMPI_COMM_", "PMI_")) for name in os.environ),
    reason="a process started by a launcher may not start others that use MPI",
)
HERE = Path(__file__).parent


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("MPI4PY_")}
    return subprocess.run(
        [sys.executable, *arguments],
        env=kept | environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_reference_page_is_up_to_date() -> None:
    page = HERE.parents[1] / "docs/reference/python.md"
    done = run("-m", "barrio.reference")
    assert done.stdout == page.read_text(), (
        "run: python -m barrio.reference > docs/reference/python.md"
    )


def test_import_loads_neither_the_core_nor_mpi() -> None:
    names = "{'barrio._core', 'mpi4py', 'mpi4py.MPI', 'numpy'}"
    done = run("-c", f"import sys, barrio; print({names} & set(sys.modules), barrio.__version__)")
    assert done.stdout == f"set() {barrio.__version__}\n", done.stderr


def test_submodules_need_no_import_of_their_own() -> None:
    done = run("-c", "import barrio; print(barrio.delaunay.Graph, barrio.rankmap.Traffic.of)")
    assert done.returncode == 0 and "barrio.delaunay.Graph" in done.stdout, done.stderr
    assert {"delaunay", "rankmap", "report"} <= set(dir(barrio))


def test_inspect_needs_no_mpi4py() -> None:
    mesh = HERE.parents[1] / "data" / "wing" / "wing_coarse.msh"
    code = "print(barrio.inspect(sys.argv[1])['vertices'] > 0, 'mpi4py' in sys.modules)"
    done = run("-c", f"import sys, barrio; {code}", str(mesh))
    assert done.stdout == "True False\n", done.stderr


def test_all_names_are_there() -> None:
    for name in barrio.__all__:
        assert getattr(barrio, name) is not None
    assert set(barrio.__all__) <= set(dir(barrio))
    with pytest.raises(AttributeError, match="'barrio' has no attribute 'boxx'"):
        _ = barrio.boxx


def test_types_are_known() -> None:
    folder = Path(barrio.__file__).parent
    assert (folder / "py.typed").exists()
    stub = ast.parse((folder / "_core.pyi").read_text())
    known = {node.name for node in stub.body if isinstance(node, ast.ClassDef | ast.FunctionDef)}
    core = _mpi.load_core()
    assert known == {name for name in vars(core) if not name.startswith("_")}


def test_a_missing_core_is_explained(tmp_path: Path) -> None:
    package = tmp_path / "barrio"
    package.mkdir()
    for file in Path(barrio.__file__).parent.glob("*.py"):
        (package / file.name).write_text(file.read_text())
    done = run("-c", "import barrio; print('alive'); barrio.Dim", PYTHONPATH=str(tmp_path))
    assert done.stdout == "alive\n"
    assert "ImportError: barrio's compiled core is not in" in done.stderr
    assert "pip install ./python" in done.stderr


def test_another_mpi_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_mpi, "_checked", False)
    monkeypatch.setattr(MPI, "Get_library_version", lambda: "Some other MPI v1.0\nmore\0")
    with pytest.raises(ImportError, match=r"mpi4py loaded 'Some other MPI v1.0'.*Remedy: \w+"):
        barrio.box(MPI.COMM_SELF)


def test_mpich_under_open_mpi_is_refused() -> None:
    shim = Path(sys.prefix, "lib", "mpich", "libmpi.so.12")
    if _mpi.MPI_FLAVOUR != "openmpi" or not shim.exists():
        pytest.skip("needs barrio built for Open MPI, and MPICH for mpi4py (tools/setup mpich)")
    code = "import barrio; from mpi4py import MPI; barrio.box(MPI.COMM_SELF)"
    done = run("-c", code, MPI4PY_LIBMPI=str(shim))
    assert done.returncode == 1
    assert "ImportError: mpi4py and barrio use different MPI libraries" in done.stderr
    assert "MPI4PY_LIBMPI" in done.stderr


@pytest.mark.parametrize("what", [[], ["writer"], ["travelling"], ["writer", "travelling"]])
def test_the_interpreter_ends_well_with_everything_alive(what: list[str]) -> None:
    done = run(str(HERE / "exit_alive.py"), *what)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "end of the script\n"
    assert "nanobind" not in done.stderr
    assert "rror" not in done.stderr


def test_mpi_may_end_before_the_meshes() -> None:
    code = (
        "import barrio; from mpi4py import MPI; mesh = barrio.box(MPI.COMM_WORLD); MPI.Finalize();"
        "print(mesh.coordinates.shape)\n"
        "try: barrio.box(MPI.COMM_WORLD)\n"
        "except barrio.UsageError as error: print(error.cause)"
    )
    done = run("-c", code)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "(729, 3)\nhas ended already\n"
    assert done.stderr == ""
