#pragma once

#include <optional>
#include <string>
#include <vector>

#include "barrio/mpi/context.hpp"
#include "benchmarks/output.hpp"

namespace barrio::bench {

/// What `bench mesh` is asked for.
struct MeshOptions {
  Output output = {};
  std::vector<std::string> meshes{"tets", "hexes", "random-tets", "bricks"};
  double millions = 1.0;  ///< elements of each mesh, about
  int n_parts = 16;
  int ghost_layers = 1;
  int n_repeats = 5;
  std::vector<std::string> peers{};  ///< who else loads the meshes that are in the order of their parts
  double max_seconds = 5.0;          ///< a peer whose load took longer is left out of the repetitions that follow
  std::string folder = ".";          ///< where the mesh files are, or are made
  bool remakes = false;              ///< make files that are there anew
  bool is_unordered = false;         ///< files in the order of the generator, not of their parts
  bool is_load_only = false;         ///< no exchange, no faces and edges of the loaded mesh
  bool has_join = true;              ///< time the joining of four blocks too
  bool has_structured = true;        ///< time structured boxes too
};

/// Names of all meshes.
const std::vector<std::string>& mesh_names();

/// Read the command line. Collective. @return nothing if only help was wanted
/// @throws AgreedError{usage}
std::optional<MeshOptions> parse_mesh_options(mpi::Context& context, int argc, char** argv);

}  // namespace barrio::bench
