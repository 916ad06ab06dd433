#pragma once

#include <string>

#include "barrio/mesh/tables.hpp"
#include "benchmarks/mesh/options.hpp"

namespace barrio::bench {

/// Expected counts of a mesh, in closed form.
struct MeshFile {
  std::string name;
  std::string path;
  std::int64_t n_cells;
  std::int64_t n_vertices;
  std::int64_t n_sides;  ///< listed faces and edges
  std::int64_t n_sets;   ///< parts included
  bool is_tets;
  bool is_in_order_of_parts = true;
  std::int64_t n_bytes = 0;
};

/// Make the file of a mesh unless it exists. Collective. The file does not depend on the rank count.
MeshFile provide_mesh(mpi::Context& context, const MeshOptions& options, const std::string& name);

}  // namespace barrio::bench
