#include "benchmarks/mesh/options.hpp"

#include <fmt/format.h>

#include "barrio/base/error.hpp"
#include "benchmarks/mesh/peers.hpp"

namespace barrio::bench {

const std::vector<std::string>& mesh_names() {
  static const std::vector<std::string> names{"tets", "hexes", "random-tets", "bricks", "brick-tets"};
  return names;
}

namespace {

/// Return the peers for the given names; a name may stand for several.
std::vector<std::string> choose_peers(const std::vector<std::string>& wanted) {
  std::vector<std::string> chosen;
  const auto add = [&](const std::string& name) {
    if (std::ranges::find(chosen, name) == chosen.end()) chosen.push_back(name);
  };
  for (const std::string& name : wanted) {
    if (name == "none") continue;
    if (name != "all") {
      add(find_peer(name).name);
      continue;
    }
    for (const PeerKind& kind : all_peers())
      if (kind.make) add(kind.name);
  }
  return chosen;
}

}  // namespace

std::optional<MeshOptions> parse_mesh_options(mpi::Context& context, int argc, char** argv) {
  MeshOptions options;
  CLI::App app{"Read a mesh, resolve shared entities, add ghosts, exchange a field: min times over repetitions"};
  std::string names;
  for (const PeerKind& kind : all_peers()) {
    names += fmt::format("\n  {:<14}{}", kind.name, kind.make ? kind.about : "not built: " + kind.lacking);
    if (kind.make && !kind.has_sides) options.peers.push_back(kind.name);
  }
  app.footer("Peers:" + names);
  app.add_option("--meshes", options.meshes,
                 "tets, hexes: boxes in boxes of parts; random-tets: the same tets, elements and vertices numbered at "
                 "random; bricks, brick-tets: 4 x 4 x 4 volumes with the sets of their geometry")
      ->check(CLI::IsMember(mesh_names()))
      ->capture_default_str();
  app.add_option("--millions", options.millions, "Approximate number of elements of each mesh, in millions")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--parts", options.n_parts, "Parts of each mesh; must be a power of two")->capture_default_str();
  app.add_option("--ghosts", options.ghost_layers, "Layers of ghost cells")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--repeats", options.n_repeats, "Repetitions")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option(
         "--peers", options.peers,
         "Other programs to load the meshes whose file is in the order of its parts, in the same repetitions: none, "
         "all, or some of those below")
      ->default_str("those without sides");
  app.add_option("--max-seconds", options.max_seconds, "Skip a peer whose load took longer")->capture_default_str();
  app.add_option("--folder", options.folder, "Folder of the mesh files; missing files are made")->capture_default_str();
  app.add_flag("--remake", options.remakes, "Make existing mesh files again");
  app.add_flag("--unordered", options.is_unordered,
               "Keep the elements of the files in the order of the generator, row by row or volume by volume, not of "
               "their parts");
  app.add_flag("--load-only", options.is_load_only, "Time only loads: no exchange, no numbering of faces and edges");
  app.add_flag("!--no-join", options.has_join, "Do not join four blocks of hexes");
  app.add_flag("!--no-structured", options.has_structured, "Do not construct structured boxes");
  add_output_options(app, options.output);
  if (!parse(app, "bench mesh", context, argc, argv)) return {};
  options.peers = choose_peers(options.peers);
  if (options.n_parts < 1 || (options.n_parts & (options.n_parts - 1)) != 0) {
    throw AgreedError(ErrorCode::usage, {.subject = std::to_string(options.n_parts) + " parts",
                                         .cause = "must be a power of two",
                                         .remedy = "ask for 1, 2, 4, ..."});
  }
  return options;
}

}  // namespace barrio::bench
