"""A build of shared libraries: its command, its Python package and a program of a user run where it is installed."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(os.environ["BARRIO_SOURCE"])
USE = """
import barrio
from mpi4py import MPI
print(barrio.box(MPI.COMM_SELF, n=(2, 3, 4)).n_owned(barrio.Dim.volume))
"""
PROGRAM = """
#include "barrio/mesh/mesh.hpp"
#include "barrio/io/read.hpp"
#include "barrio/mpi/run.hpp"
#include <cstdio>
int main(int argc, char** argv) {
  return barrio::run(argc, argv, [&](barrio::Context& context) {
    std::printf("%td\\n", static_cast<std::ptrdiff_t>(barrio::io::read(context, argv[1]).n_owned(barrio::Dim::volume)));
  });
}
"""


class Shared(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="barrio-shared-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def run_well(self, *words: object, **environment: str) -> str:
        done = subprocess.run(
            list(map(str, words)),
            cwd=self.folder,
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
        )
        self.assertEqual(done.returncode, 0, (done.stdout + done.stderr)[-4000:])
        return done.stdout

    def test_what_is_installed_finds_its_libraries(self) -> None:
        build, prefix = self.folder / "build", self.folder / "prefix"
        options = {
            "BUILD_SHARED_LIBS": "ON",
            "BARRIO_PYTHON": "ON",
            "BARRIO_BENCHMARKS": "OFF",
            "BARRIO_EXAMPLES": "OFF",
            "CMAKE_UNITY_BUILD": "ON",
            "CMAKE_UNITY_BUILD_BATCH_SIZE": "24",
            "Python_EXECUTABLE": sys.executable,
        }
        given = [f"-D{name}={value}" for name, value in options.items()]
        self.run_well("cmake", "-S", SOURCE, "-B", build, "-G", "Ninja", *given)
        self.run_well("cmake", "--build", build, "--target", "barrio-install")
        self.run_well("cmake", "--install", build, "--prefix", prefix)
        shutil.rmtree(build)
        (version,) = prefix.glob("lib*/**/libbarrio_mesh.so.0.1.0")
        self.assertTrue((version.parent / "libbarrio_mesh.so.0.1").is_symlink())

        command = prefix / "bin" / "barrio"
        self.run_well(command, "generate", "box", "--cells", 2, 2, 2, "-o", "box.h5m")
        self.assertIn("8", self.run_well(command, "--ranks", 2, "load", "box.h5m"))
        (package,) = prefix.glob("lib*/**/barrio/python")
        said = self.run_well(sys.executable, "-c", USE, PYTHONPATH=str(package))
        self.assertEqual(said.split(), ["24"])

        (self.folder / "use.cpp").write_text(PROGRAM, encoding="utf-8")
        (settings,) = prefix.glob("lib*/**/pkgconfig")
        flags = self.run_well(
            "pkg-config", "--cflags", "--libs", "barrio", PKG_CONFIG_PATH=str(settings)
        )
        self.run_well("mpicxx", "use.cpp", "-o", "use", *flags.split())
        said = self.run_well("./use", "box.h5m", LD_LIBRARY_PATH=str(version.parent))
        self.assertEqual(said.split(), ["8"])


if __name__ == "__main__":
    unittest.main()
