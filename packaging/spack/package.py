"""Recipe for Spack; untried there. Put it into a repository of your own: packages/barrio/package.py."""

from spack.package import *
from spack_repo.builtin.build_systems.cmake import CMakePackage


class Barrio(CMakePackage):
    """Parallel computing on meshes that change while they run: neighbourhood communication, mesh adaptation,
    structured AMR, quality triangulation in parts and out of core, and rank mapping.
    """

    git = "file:///path/to/barrio"  # a clone, until there is a public one

    maintainers("barrio")
    license("BSD-3-Clause")

    version("main", branch="main")

    variant("shared", default=True, description="Build shared libraries")
    variant("tools", default=True, description="Build the command barrio")
    variant("python", default=False, description="Build the Python package")
    variant("metis", default=True, description="Partition with METIS")
    variant("ptscotch", default=True, description="Partition with PT-Scotch")
    variant("zoltan", default=False, description="Partition with Zoltan's hypergraph")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("mpi")
    depends_on("hdf5@1.10:+mpi")
    depends_on("fmt")
    depends_on("spdlog")
    depends_on("nlohmann-json")
    depends_on("pugixml")
    depends_on("gmp")
    depends_on("xxhash")
    depends_on("zlib-api")
    depends_on("cli11", when="+tools")
    depends_on("toml11", when="+tools")
    depends_on("muparser", when="+tools")
    depends_on("libpng", when="+tools")
    depends_on("proj", when="+tools")
    depends_on("metis", when="+metis")
    depends_on("scotch+mpi", when="+ptscotch")
    depends_on("trilinos+zoltan", when="+zoltan")
    depends_on("python@3.11:", when="+python", type=("build", "link", "run"))
    depends_on("py-nanobind@2.4:", when="+python", type="build")
    depends_on("py-numpy@1.26:", when="+python", type=("build", "run"))
    depends_on("py-mpi4py@4:", when="+python", type=("build", "run"))

    conflicts("%gcc@:11", msg="barrio needs C++20 of GCC 12 or newer")

    def cmake_args(self):
        return [
            self.define_from_variant("BUILD_SHARED_LIBS", "shared"),
            self.define_from_variant("BARRIO_APPS", "tools"),
            self.define_from_variant("BARRIO_PYTHON", "python"),
            self.define("BARRIO_BENCHMARKS", False),
            self.define("BARRIO_EXAMPLES", False),
            self.define("BARRIO_TESTS", False),
            self.define("CMAKE_UNITY_BUILD", True),
            self.define("CMAKE_UNITY_BUILD_BATCH_SIZE", 24),
        ]
