"""check_one_mpi.py must refuse a program with two MPIs, no MPI, or the wrong MPI."""

from __future__ import annotations

import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).with_name("check_one_mpi.py")
C = "\tlinux-vdso.so.1 (0x7ffc)\n\tlibc.so.6 => /lib/libc.so.6 (0x7f00)\n\t/lib64/ld-linux-x86-64.so.2 (0x7f01)\n"
OPENMPI = "\tlibmpi.so.40 => /usr/lib/libmpi.so.40 (0x7f02)\n\tlibopen-rte.so.40 => /usr/lib/libopen-rte.so.40 (0x7f)\n"
MPICH = "\tlibmpich.so.12 => /usr/lib/libmpich.so.12 (0x7f04)\n"
MPICH_ABI = "\tlibmpi.so.12 => /usr/lib/libmpi.so.12 (0x7f04)\n"
HDF5_OPENMPI = "\tlibhdf5_openmpi.so.103 => /usr/lib/libhdf5_openmpi.so.103 (0x7f05)\n"
HDF5_SERIAL = "\tlibhdf5_serial.so.103 => /usr/lib/libhdf5_serial.so.103 (0x7f05)\n"


def check(flavour: str, listing: str) -> tuple[bool, str]:
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "program")
        path.write_text(listing, encoding="utf-8")
        done = subprocess.run(
            [sys.executable, SCRIPT, "--flavour", flavour, "--listing", path],
            capture_output=True,
            text=True,
            check=False,
        )
    return done.returncode == 0, done.stdout + done.stderr


class CheckOneMpi(unittest.TestCase):
    def test_one_is_right(self) -> None:
        for flavour, listing in (
            ("openmpi", C + OPENMPI + HDF5_OPENMPI),
            ("mpich", C + MPICH),
            ("mpich", C + MPICH_ABI),
            ("other", C + MPICH),
        ):
            with self.subTest(flavour):
                passed, output = check(flavour, listing)
                self.assertTrue(passed, output)

    def test_anything_else_is_refused(self) -> None:
        for flavour, listing, reason in (
            (
                "openmpi",
                C + OPENMPI + MPICH,
                "loads 2 MPI libraries, not one: libmpi.so.40, libmpich.so.12",
            ),
            ("openmpi", C, "loads 0 MPI libraries, not one: none"),
            ("openmpi", C + MPICH, "loads libmpich.so.12, which is not of openmpi"),
            ("mpich", C + OPENMPI, "loads libmpi.so.40, which is not of mpich"),
            (
                "mpich",
                C + MPICH + HDF5_OPENMPI,
                "loads libhdf5_openmpi.so.103 (/usr/lib/libhdf5_openmpi.so.103), which",
            ),
            (
                "openmpi",
                C + OPENMPI + HDF5_SERIAL,
                "loads libhdf5_serial.so.103, which has no MPI in it",
            ),
            ("openmpi", C + OPENMPI + "\tlibx.so => not found\n", "libx.so is not found"),
        ):
            with self.subTest(reason):
                passed, output = check(flavour, listing)
                self.assertIn(reason, output)
                self.assertFalse(passed)


if __name__ == "__main__":
    unittest.main()
