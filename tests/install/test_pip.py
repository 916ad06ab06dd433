"""pip install of a source archive, and in python/: a package that contains the library, with the same metadata as python/."""

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
import unittest
from pathlib import Path

SOURCE = Path(os.environ["BARRIO_SOURCE"])
USE = """
import barrio
from mpi4py import MPI
mesh = barrio.box(MPI.COMM_SELF, n=(2, 3, 4))
print(mesh.n_owned(barrio.Dim.volume), barrio.__file__)
"""


class Description(unittest.TestCase):
    def test_both_ways_describe_one_package(self) -> None:
        root, alone = (
            tomllib.loads((SOURCE / path / "pyproject.toml").read_text())
            for path in (".", "python")
        )
        for part in ("build-system", "project"):
            for document in (root, alone):
                document[part].pop("readme", None)
            self.assertEqual(root[part], alone[part], part)
        targets = alone["tool"]["scikit-build"]["build"]["targets"]
        self.assertEqual(
            root["tool"]["scikit-build"]["build"]["targets"], [*targets, "barrio_command"]
        )


class Installed(unittest.TestCase):
    """Runs offline, with the build tools of this Python."""

    def setUp(self) -> None:
        if importlib.util.find_spec("scikit_build_core") is None:
            self.skipTest(f"{sys.executable} has no scikit-build-core (tools/setup python)")
        self.folder = Path(tempfile.mkdtemp(prefix="barrio-pip-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def install_and_use(self, package: Path, **environment: str) -> Path:
        site = self.folder / "site"
        line = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "--no-index"]
        line += ["--no-cache-dir", "--no-build-isolation", "--no-deps", "--target", site, package]
        self.run_well(line, self.folder, environment)
        said = self.run_well([sys.executable, "-c", USE], self.folder, {"PYTHONPATH": str(site)})
        self.assertEqual(said.split(), ["24", str(site / "barrio/__init__.py")])
        self.assertTrue((site / "barrio/_core.pyi").exists())
        return site

    def run_well(self, line: list[object], folder: Path, environment: dict[str, str]) -> str:
        done = subprocess.run(
            list(map(str, line)),
            cwd=folder,
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
        )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout


class Archive(Installed):
    def test_library_and_command_inside(self) -> None:
        """Install from a source archive, which holds less than a checkout."""
        make = f"from scikit_build_core.build import build_sdist; build_sdist({str(self.folder)!r})"
        self.run_well([sys.executable, "-c", make], SOURCE, {})
        (archive,) = self.folder.glob("barrio-*.tar.gz")
        self.assertLess(archive.stat().st_size, 4_000_000)
        site = self.install_and_use(archive)
        command = site / "bin" / "barrio"
        environment = {"PYTHONPATH": str(site), "BARRIO_PYTHON": sys.executable}
        made = self.folder / "box.h5m"
        self.run_well([command, "generate", "box", "--cells", 2, 2, 2, "-o", made], self.folder, {})
        said = self.run_well([command, "--ranks", "2", "load", made], self.folder, {})
        self.assertIn("8", said)
        if importlib.util.find_spec("pyvista") is not None:
            line = [command, "show", made, "-o", "box.png", "--no-open"]
            self.run_well(line, self.folder, environment)
            self.assertTrue((self.folder / "box.png").exists())

    def test_on_an_installed_library(self) -> None:
        if "BARRIO_PREFIX" not in os.environ:
            self.skipTest("BARRIO_PREFIX does not say where barrio is installed")
        self.install_and_use(SOURCE / "python", CMAKE_PREFIX_PATH=os.environ["BARRIO_PREFIX"])


if __name__ == "__main__":
    unittest.main()
