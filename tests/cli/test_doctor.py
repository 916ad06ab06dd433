"""tools/doctor finds a library whose header includes <mpi.h> even if the compiler does not find MPI."""

import json
import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

DOCTOR = Path(os.environ["BARRIO_SOURCE"]) / "tools" / "doctor"


class Found(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="barrio-doctor-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def items(self) -> dict[str, dict]:
        environment = {**os.environ, "CMAKE_PREFIX_PATH": str(self.folder)}
        text = subprocess.run(
            ["sh", DOCTOR, "--json"], stdout=subprocess.PIPE, env=environment, text=True
        ).stdout
        document = json.loads(text)
        self.assertEqual((document["schema"], document["schema_version"]), ("barrio.doctor", 1))
        return {item["name"]: item for item in document["items"]}

    def test_zoltan_where_debian_and_where_spack_puts_it(self) -> None:
        for place, version in (("zoltan.h", "7.65"), ("trilinos/zoltan.h", "9.87")):
            header = self.folder / "include" / place
            header.parent.mkdir(parents=True, exist_ok=True)
            (header.parent / "zoltan_types.h").write_text("#define ZOLTAN_OK 0\n")
            header.write_text(
                "#include <mpi.h>\n"
                '#include "zoltan_types.h"\n'
                f"#define ZOLTAN_VERSION_NUMBER {version}\n"
                "MPI_Comm the_communicator;\n"
            )
            if place == "zoltan.h" and Path("/usr/include/trilinos/zoltan.h").exists():
                continue  # Debian's is tried first
            with self.subTest(place):
                zoltan = self.items()["Zoltan"]
                self.assertTrue(zoltan["found"], zoltan)
                self.assertEqual(zoltan["version"], version)


if __name__ == "__main__":
    unittest.main()
