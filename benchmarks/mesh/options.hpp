#pragma once

#include <optional>
#include <string>
#include <vector>

#include "barrio/mpi/context.hpp"
#include "benchmarks/output.hpp"

namespace barrio::bench {

/// Options of `bench mesh`.
struct MeshOptions {
  Output output = {};
  std::vector<std::string> meshes{"tets", "hexes", "random-tets", "bricks"};
  double millions = 1.0;  ///< elements of each mesh, approximately
  int n_parts = 16;
  int ghost_layers = 1;
  int n_repeats = 5;
  std::vector<std::string> peers{};  ///< other programs that load the meshes in the order of their parts
  double max_seconds = 5.0;          ///< a peer whose load took longer is skipped afterwards
  std::string folder = ".";          ///< of the mesh files
  bool remakes = false;              ///< make existing files again
  bool is_unordered = false;         ///< files in the order of the generator, not of their parts
  bool is_load_only = false;         ///< no exchange, no faces and edges of the loaded mesh
  bool has_join = true;              ///< time joining four blocks too
  bool has_structured = true;        ///< time structured boxes too
};

/// Return the names of all meshes.
const std::vector<std::string>& mesh_names();

/// Parse the command line. Collective. @return nothing after printing help
/// @throws AgreedError{usage}
std::optional<MeshOptions> parse_mesh_options(mpi::Context& context, int argc, char** argv);

}  // namespace barrio::bench
