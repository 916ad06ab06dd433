// Write seeds for the fuzzers: small sound files of the formats on HDF5 and netCDF, of Medit and of planar graphs, and
// the binary form of small.msh, which must exist: fuzz_seeds FOLDER
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "barrio/delaunay/poly_file.hpp"
#include "barrio/delaunay/shapes.hpp"
#include "barrio/io/write.hpp"
#include "barrio/mesh/box.hpp"
#include "barrio/mesh/partition_cells.hpp"
#include "barrio/mpi/run.hpp"
#include "tests/delaunay/cases.hpp"
#include "tests/io/cgns/cgns_writer.hpp"
#include "tests/io/climate/climate_sample.hpp"
#include "tests/io/damage.hpp"
#include "tests/io/exodus/exodus_sample.hpp"
#include "tests/io/gmsh/gmsh_binary.hpp"
#include "tests/io/medit/medit_sample.hpp"
#include "tests/io/tagged_box.hpp"
#include "tests/mesh/polyhedra.hpp"

namespace barrio::test {
namespace {

void write_medit_seeds(const std::filesystem::path& folder) {
  const auto put = [&](const std::string& name, const std::string& contents) {
    std::ofstream(folder / name, std::ios::binary) << contents;
  };
  for (int version = 1; version <= 4; ++version)
    put(fmt::format("binary{}.mesh", version), medit_file(medit_sample(), {.is_binary = true, .version = version}));
  put("swapped.mesh", medit_file(medit_sample(), {.is_binary = true, .is_swapped = true}));
  put("flat.mesh", medit_file(flat_medit_sample(), {.is_binary = true}, 2));
  put("text.mesh", medit_file(medit_sample(), {}));
  put("flat_text.mesh", medit_file(flat_medit_sample(), {}, 2));
}

/// Write one graph of each hard kind, always the same ones.
void write_graph_seeds(const std::filesystem::path& folder) {
  std::mt19937_64 random(1);
  for (int kind = 0; kind < delaunay::test::n_hardnesses; ++kind)
    write_poly(delaunay::test::random_graph(random, static_cast<delaunay::test::Hardness>(kind)),
               folder / fmt::format("hard{}.poly", kind));
  write_poly(delaunay::pipe_section(12, 5), folder / "pipe.poly");
}

/// Write VTKHDF: pieces with ids, polyhedra, and a series.
void write_vtkhdf_seeds(mpi::Context& context, const std::filesystem::path& folder) {
  mesh::MeshTables tables = mesh::make_box(context, {.n = {2, 2, 1}});
  mesh::partition_cells(context, tables, 2);
  mesh::Mesh mesh(context, tables);
  io::write(mesh, (folder / "pieces.vtkhdf").string());
  io::VtkhdfWriter series(mesh, (folder / "series.vtkhdf").string(), {.has_steps = true});
  series.write_step(0.0);
  series.write_step(1.0);
  series.close();
  tables = honeycomb(context, 2, 2, 1);
  mesh::partition_cells(context, tables, 2);
  io::write(mesh::Mesh(context, tables), (folder / "polyhedra.vtkhdf").string());
}

void write_seeds(mpi::Context& context, const std::filesystem::path& folder) {
  mesh::MeshTables tables = tagged_box(context);
  io::write_h5m(context, tables, folder / "tagged.h5m");
  mesh::partition_cells(context, tables, 3);
  io::write_h5m(context, tables, folder / "parts.h5m");
  tables = mesh::make_box(context, {.n = {2, 1, 1}});
  io::write_h5m(context, tables, folder / "polygons.h5m");
  make_polygons(folder / "polygons.h5m", "/tstt/elements/Quad4");
  io::write_h5m(context, honeycomb(context, 2, 2, 1), folder / "polyhedra.h5m");
  write_gmsh_binary(folder / "small.msh", folder / "small_binary.msh");
  write(exodus_sample(), folder / "classic.e", NetcdfFormat::cdf1);
  write(exodus_sample(), folder / "offsets.e", NetcdfFormat::cdf2);
  write(exodus_sample(), folder / "large.e", NetcdfFormat::cdf5);
  write(exodus_sample(), folder / "hdf5.e", NetcdfFormat::hdf5);
  write(climate_sample(), folder / "classic.nc", NetcdfFormat::cdf1);
  write(climate_sample(), folder / "hdf5.nc", NetcdfFormat::hdf5);
  write(climate_grid({0, 10, 20}, {40, 50}), folder / "region.nc", NetcdfFormat::cdf5);
  write(cgns_structured(), folder / "structured.cgns");
  write(cgns_unstructured(), folder / "unstructured.cgns");
  write_vtkhdf_seeds(context, folder);
  write_medit_seeds(folder);
  write_graph_seeds(folder);
}

}  // namespace
}  // namespace barrio::test

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  return barrio::mpi::run(argc, argv, [&](barrio::Context& context) { barrio::test::write_seeds(context, argv[1]); });
}
