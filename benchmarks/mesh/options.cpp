#include "benchmarks/mesh/options.hpp"

#include <CLI/CLI.hpp>

#include "barrio/base/error.hpp"

namespace barrio::bench {

const std::vector<std::string>& mesh_names() {
  static const std::vector<std::string> names{"tets", "hexes", "random-tets", "bricks", "brick-tets"};
  return names;
}

std::optional<MeshOptions> parse_mesh_options(mpi::Context& context, int argc, char** argv) {
  MeshOptions options;
  CLI::App app{
      "Read a mesh, resolve what ranks share, add ghosts, exchange a field: shortest times of all repetitions"};
  app.add_option("--meshes", options.meshes,
                 "tets, hexes: boxes in boxes of parts; random-tets: the same tets, elements and vertices numbered at "
                 "random; bricks, brick-tets: 4 x 4 x 4 volumes with the sets of their geometry")
      ->check(CLI::IsMember(mesh_names()))
      ->capture_default_str();
  app.add_option("--millions", options.millions, "Elements of each mesh, in millions, about")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--parts", options.n_parts, "Parts of each mesh: a power of two")->capture_default_str();
  app.add_option("--ghosts", options.ghost_layers, "Layers of ghost cells")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--repeats", options.n_repeats, "Repetitions")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--folder", options.folder, "Where the mesh files are kept; those that are not there are made")
      ->capture_default_str();
  app.add_flag("--remake", options.remakes, "Make mesh files that are there anew");
  app.add_flag("!--no-join", options.has_join, "Do not join four blocks of hexes");
  app.add_flag("!--no-structured", options.has_structured, "Do not construct structured boxes");
  app.add_flag("--json", options.is_json, "Print one JSON document");
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& wanted) {
    if (context.is_root()) app.exit(wanted);
    return {};
  } catch (const CLI::ParseError& error) {
    throw AgreedError(ErrorCode::usage, {.subject = "bench mesh", .cause = error.what(), .remedy = "see --help"});
  }
  if (options.n_parts < 1 || (options.n_parts & (options.n_parts - 1)) != 0) {
    throw AgreedError(ErrorCode::usage, {.subject = std::to_string(options.n_parts) + " parts",
                                         .cause = "is no power of two",
                                         .remedy = "ask for 1, 2, 4, ..."});
  }
  return options;
}

}  // namespace barrio::bench
