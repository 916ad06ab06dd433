"""CMake refuses an HDF5 that does not fit the MPI of the build, by name and with a remedy."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
PROJECT = """cmake_minimum_required(VERSION 3.25)
project(user LANGUAGES C)
list(PREPEND CMAKE_MODULE_PATH "{source}/cmake")
set(ParallelHDF5_FLAVOUR {flavour})
find_package(ParallelHDF5 REQUIRED)
message(STATUS "taken: ${{ParallelHDF5_LIBRARY}}")
"""


class FindHdf5(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="barrio-hdf5-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        for name in ("include", "lib"):
            (self.folder / "root" / name).mkdir(parents=True)
        (self.folder / "root" / "include" / "hdf5.h").touch()

    def make(self, *, is_parallel: bool, symbols: str) -> None:
        """Make a fake HDF5: CMake reads one line of its header, and the names in its library."""
        line = "#define H5_HAVE_PARALLEL 1\n" if is_parallel else "/* #undef H5_HAVE_PARALLEL */\n"
        (self.folder / "root" / "include" / "H5pubconf.h").write_text(line)
        (self.folder / "root" / "lib" / "libhdf5.so").write_bytes(b"\0" + symbols.encode() + b"\0")

    def configure(self, flavour: str) -> subprocess.CompletedProcess:
        project = PROJECT.format(source=SOURCE, flavour=flavour)
        (self.folder / "CMakeLists.txt").write_text(project)
        return subprocess.run(
            ["cmake", "-S", self.folder, "-B", self.folder / "build"],
            capture_output=True,
            text=True,
            env={**os.environ, "HDF5_ROOT": str(self.folder / "root")},
        )

    def expect_refusal(self, flavour: str, cause: str) -> None:
        outcome = self.configure(flavour)
        said = " ".join(outcome.stderr.split())  # CMake breaks lines
        self.assertNotEqual(outcome.returncode, 0, outcome.stdout)
        self.assertIn(cause, said)
        self.assertIn(f"libhdf5-{flavour}-dev", said)
        self.assertIn("HDF5_ROOT", said)

    def test_a_serial_one(self) -> None:
        self.make(is_parallel=False, symbols="H5Fopen")
        self.expect_refusal("openmpi", "has no parallel input and output")
        self.expect_refusal("other", "has no parallel input and output")

    def test_one_of_another_mpi(self) -> None:
        self.make(is_parallel=True, symbols="ompi_mpi_byte")
        self.expect_refusal("mpich", "was built for Open MPI, barrio is built for MPICH")
        self.make(is_parallel=True, symbols="MPI_File_open")
        self.expect_refusal("openmpi", "was not built for Open MPI")

    def test_a_refused_one_is_looked_for_again(self) -> None:
        self.make(is_parallel=False, symbols="MPI_File_open")
        self.expect_refusal("mpich", "has no parallel input and output")
        self.make(is_parallel=True, symbols="MPI_File_open")
        outcome = self.configure("mpich")
        self.assertEqual(outcome.returncode, 0, outcome.stderr)
        self.assertIn(f"taken: {self.folder / 'root' / 'lib' / 'libhdf5.so'}", outcome.stdout)


if __name__ == "__main__":
    unittest.main()
