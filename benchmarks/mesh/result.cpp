#include "benchmarks/mesh/result.hpp"

#include <fmt/format.h>

#include "barrio/mpi/report.hpp"
#include "benchmarks/goals.hpp"

namespace barrio::bench {
namespace {

double phase(const LoadFigures& figures, const std::string& name) {
  const auto found = figures.phases.find(name);
  return found == figures.phases.end() ? 0.0 : found->second;
}

const LoadFigures* find(const std::vector<LoadFigures>& all, const std::string& name) {
  for (const LoadFigures& figures : all)
    if (figures.file.name == name) return &figures;
  return nullptr;
}

/// Return barrio's time for the work that a peer did.
double seconds_of_barrio(const LoadFigures& load, const PeerFigures& peer) {
  return load.load_seconds + (peer.has_sides ? load.all_sides_seconds : 0.0);
}

Json peers_of(const LoadFigures& load) {
  Json peers = Json::array();
  for (const PeerFigures& peer : load.peers) {
    Json one{{"name", peer.name},
             {"seconds", peer.seconds},
             {"phases", peer.phases},
             {"over_barrio", peer.seconds / seconds_of_barrio(load, peer)}};
    if (peer.cell_exchange_seconds > 0.0) {
      one["cell_exchange_seconds"] = peer.cell_exchange_seconds;
      one["cell_exchange_over_barrio"] = peer.cell_exchange_seconds / load.cell_exchange_seconds;
    }
    peers.push_back(one);
  }
  return peers;
}

std::string peers_as_text(const Json& peers) {
  std::string text;
  for (const Json& peer : peers) {
    text += fmt::format("  {}: {:.4f} s, {:.2f} x barrio;", peer["name"].get<std::string>(),
                        peer["seconds"].get<double>(), peer["over_barrio"].get<double>());
    for (const auto& [name, seconds] : peer["phases"].items())
      text += fmt::format(" {} {:.4f}", name, seconds.get<double>());
    if (peer.contains("cell_exchange_seconds"))
      text += fmt::format("; exchange of a double on cells {:.4f} ms, {:.2f} x barrio",
                          1e3 * peer["cell_exchange_seconds"].get<double>(),
                          peer["cell_exchange_over_barrio"].get<double>());
    text += "\n";
  }
  return text;
}

void add_goals_of_change(const ChangeFigures& change, Goals& goals, int n_ranks) {
  goals.add("tets.move_none", 1e3 * change.idle_seconds, "ms", 1.0);
  goals.add("tets.move_few", change.few_seconds, "s", 0.05);
  goals.add("tets.move_half", static_cast<double>(change.n_half) / change.half_seconds / n_ranks / 1e6, "M tets/s/core",
            2.5, true);
  goals.add("tets.move_half_peak", change.half_peak_bytes / static_cast<double>(change.memory_bytes), "of the mesh",
            1.4);
}

/// Make the goals. They are for 2 ranks on 2 cores; those in seconds for meshes of a million elements.
Json goals_of(mpi::Context& context, const MeshOptions& options, const MeshFigures& figures) {
  const std::vector<LoadFigures>& all = figures.loads;
  Goals goals;
  if (context.size() != 2 || options.ghost_layers != 1 || options.is_unordered || options.is_load_only)
    return goals.list();
  const bool is_million = options.millions == 1.0;
  for (const LoadFigures& load : all) {
    const std::string& name = load.file.name;
    const auto n = static_cast<double>(load.file.n_cells);
    const double rate = n / load.load_seconds / context.size();
    if (name == "tets") goals.add("tets.load", rate / 1e6, "M elements/s/core", 5.0, true);
    if (name == "hexes") goals.add("hexes.load", rate / 1e6, "M elements/s/core", 2.0, true);
    if (name == "tets") goals.add("tets.memory", static_cast<double>(load.memory_bytes) / n, "B/tet", 40.0);
    if (name == "hexes") goals.add("hexes.memory", static_cast<double>(load.memory_bytes) / n, "B/hex", 90.0);
    if (name == "tets") goals.add("tets.peak", load.peak_growth_bytes / n, "B/tet", 75.0);
    if (name == "hexes") goals.add("hexes.peak", load.peak_growth_bytes / n, "B/hex", 165.0);
    if (load.change && (name == "tets" || name == "hexes"))
      goals.add(name + ".adopt", load.change->adopt_seconds / load.load_seconds, "of load", 0.5);
    if (load.change && name == "tets") add_goals_of_change(*load.change, goals, context.size());
    for (const PeerFigures& peer : load.peers) {
      // The probe does less work than a mesh needs; the others do the same or more.
      const double over = peer.seconds / seconds_of_barrio(load, peer);
      const double goal = peer.name == "probe" ? 0.25 : 5.0;
      if (name == "tets" || name == "hexes") goals.add(fmt::format("{}.{}", name, peer.name), over, "x", goal, true);
    }
    if (!is_million) continue;
    if (name == "hexes") {
      goals.add("hexes.resolve_vertices", phase(load, "mesh.share"), "s", 0.05);
      goals.add("hexes.ghost_layer", phase(load, "mesh.ghosts"), "s", 0.02);
    }
    if (name == "tets" || name == "hexes")
      goals.add(name + ".cell_exchange", 1e3 * load.cell_exchange_seconds, "ms", 0.07);
    if (name == "tets") goals.add("tets.all_faces_and_edges", load.all_sides_seconds, "s", 0.3);
    if (name == "hexes") goals.add("hexes.resolve_all", phase(load, "mesh.share") + load.all_sides_seconds, "s", 0.4);
    if (name == "random-tets") {
      goals.add("random-tets.load", load.load_seconds, "s", 0.3);
      goals.add("random-tets.cell_exchange", 1e3 * load.cell_exchange_seconds, "ms", 0.2);
      if (const LoadFigures* ordered = find(all, "tets"))
        goals.add("random-tets.of_ordered", load.load_seconds / ordered->load_seconds, "x", 3.0);
    }
    if (name == "bricks") {
      const double read = load.load_seconds - phase(load, "mesh.share") - phase(load, "mesh.ghosts");
      goals.add("bricks.read", read, "s", 0.15);
    }
  }
  if (figures.join && is_million) goals.add("join.four_blocks", figures.join->seconds, "s", 0.15);
  for (const StructuredFigures& one : figures.structured) {
    if (!is_million) break;
    const std::string id = "structured." + one.decomposition;
    goals.add(id + ".implicit", 1e3 * one.implicit_seconds, "ms", 0.2);
    goals.add(id + ".explicit", 1e3 * one.explicit_seconds, "ms", 5.0);
    goals.add(id + ".explicit_memory", one.explicit_bytes_per_cell, "B/cell", 25.0);
  }
  if (figures.boxes)
    goals.add("boxes.of_persistent", figures.boxes->halo_seconds / figures.boxes->persistent_seconds, "x", 1.1);
  return goals.list();
}

}  // namespace

Json make_document(mpi::Context& context, const MeshOptions& options, const MeshFigures& all) {
  Json document = mpi::document(context, "barrio.bench.mesh", 1);
  document["repeats"] = options.n_repeats;
  document["ghost_layers"] = options.ghost_layers;
  Json meshes = Json::array();
  for (const LoadFigures& figures : all.loads) {
    const auto n = static_cast<double>(figures.file.n_cells);
    Json one;
    one["name"] = figures.file.name;
    one["cells"] = figures.file.n_cells;
    one["vertices"] = figures.file.n_vertices;
    one["sides"] = figures.file.n_sides;
    one["sets"] = figures.file.n_sets;
    one["file_bytes"] = figures.file.n_bytes;
    one["is_in_order_of_parts"] = figures.file.is_in_order_of_parts;
    one["load_seconds"] = figures.load_seconds;
    one["elements_per_second_per_rank"] = n / figures.load_seconds / context.size();
    one["phases"] = figures.phases;
    one["ghosts"] = figures.n_ghosts;
    one["shared_vertices"] = figures.n_shared_vertices;
    one["bytes_per_element"] = static_cast<double>(figures.memory_bytes) / n;
    one["resident_bytes_per_element"] = figures.resident_growth_bytes / n;
    one["peak_bytes_per_element"] = figures.peak_growth_bytes / n;
    if (!options.is_load_only) {
      one["vertex_exchange_seconds"] = figures.vertex_exchange_seconds;
      one["cell_exchange_seconds"] = figures.cell_exchange_seconds;
      one["all_sides_seconds"] = figures.all_sides_seconds;
      one["faces"] = figures.n_faces;
      one["edges"] = figures.n_edges;
    }
    if (figures.change) {
      const ChangeFigures& change = *figures.change;
      one["change"] = {{"adopt_seconds", change.adopt_seconds},
                       {"adopt_peak_bytes_per_element", change.adopt_peak_bytes / n},
                       {"move_none_seconds", change.idle_seconds},
                       {"move_few_seconds", change.few_seconds},
                       {"moved_few", change.n_few},
                       {"move_half_seconds", change.half_seconds},
                       {"moved_half", change.n_half},
                       {"move_half_peak_bytes_per_element", change.half_peak_bytes / n}};
    }
    one["checksum"] = fmt::format("{:016x}", figures.checksum);
    one["peers"] = peers_of(figures);
    meshes.push_back(one);
  }
  document["meshes"] = meshes;
  document["not_built"] = Json::array();
  for (const PeerKind& kind : all_peers())
    if (!kind.make) document["not_built"].push_back({{"name", kind.name}, {"reason", kind.lacking}});
  if (all.join) {
    document["join"] = {{"blocks", 4},
                        {"cells", all.join->n_cells},
                        {"vertices_before", all.join->n_vertices_before},
                        {"vertices", all.join->n_vertices},
                        {"seconds", all.join->seconds}};
  }
  Json structured = Json::array();
  for (const StructuredFigures& one : all.structured) {
    structured.push_back({{"decomposition", one.decomposition},
                          {"cells", one.n_cells},
                          {"shared_vertices", one.n_shared},
                          {"implicit_seconds", one.implicit_seconds},
                          {"explicit_seconds", one.explicit_seconds},
                          {"general_seconds", one.general_seconds},
                          {"implicit_bytes_per_cell", one.implicit_bytes_per_cell},
                          {"explicit_bytes_per_cell", one.explicit_bytes_per_cell}});
  }
  document["structured"] = structured;
  if (all.boxes) {
    document["boxes"] = {{"boxes", all.boxes->n_boxes},
                         {"width", all.boxes->width},
                         {"halo_seconds", all.boxes->halo_seconds},
                         {"persistent_seconds", all.boxes->persistent_seconds},
                         {"layout_seconds", all.boxes->layout_seconds}};
  }
  document["goals"] = goals_of(context, options, all);
  return document;
}

std::string to_text(const Json& document) {
  std::string text;
  for (const Json& one : document["meshes"]) {
    text += fmt::format("{}: {} cells, {} listed sides, {} sets, {} ghosts\n", one["name"].get<std::string>(),
                        one["cells"].get<std::int64_t>(), one["sides"].get<std::int64_t>(),
                        one["sets"].get<std::int64_t>(), one["ghosts"].get<std::int64_t>());
    text += fmt::format("  load {:.4f} s, {:.2f} M elements/s/rank;", one["load_seconds"].get<double>(),
                        one["elements_per_second_per_rank"].get<double>() / 1e6);
    for (const auto& [name, seconds] : one["phases"].items())
      if (seconds.get<double>() > 0.0005) text += fmt::format(" {} {:.4f}", name, seconds.get<double>());
    text += fmt::format("\n  {:.1f} B/element (resident {:.0f}, peak {:.0f} while loading)\n",
                        one["bytes_per_element"].get<double>(), one["resident_bytes_per_element"].get<double>(),
                        one["peak_bytes_per_element"].get<double>());
    if (one.contains("faces")) {
      text += fmt::format(
          "  exchange of a double: vertices {:.4f} ms, cells {:.4f} ms; all {} faces and {} edges: {:.4f} s\n",
          1e3 * one["vertex_exchange_seconds"].get<double>(), 1e3 * one["cell_exchange_seconds"].get<double>(),
          one["faces"].get<std::int64_t>(), one["edges"].get<std::int64_t>(), one["all_sides_seconds"].get<double>());
    }
    if (one.contains("change")) {
      const Json& change = one["change"];
      text += fmt::format(
          "  release and adopt {:.4f} s (+{:.0f} B/element); migrate: nothing {:.4f} s, {} cells {:.4f} s, {} cells "
          "{:.4f} s (+{:.0f} B/element)\n",
          change["adopt_seconds"].get<double>(), change["adopt_peak_bytes_per_element"].get<double>(),
          change["move_none_seconds"].get<double>(), change["moved_few"].get<std::int64_t>(),
          change["move_few_seconds"].get<double>(), change["moved_half"].get<std::int64_t>(),
          change["move_half_seconds"].get<double>(), change["move_half_peak_bytes_per_element"].get<double>());
    }
    text += peers_as_text(one["peers"]);
  }
  for (const Json& one : document["not_built"])
    text += fmt::format("not built: {} {}\n", one["name"].get<std::string>(), one["reason"].get<std::string>());
  if (document.contains("join")) {
    const Json& join = document["join"];
    text += fmt::format("join of 4 blocks: {} hexes, {} vertices of {}, {:.4f} s\n", join["cells"].get<std::int64_t>(),
                        join["vertices"].get<std::int64_t>(), join["vertices_before"].get<std::int64_t>(),
                        join["seconds"].get<double>());
  }
  for (const Json& one : document["structured"]) {
    text += fmt::format(
        "structured {:<10} {} cells, {} shared vertices: {:.4f} ms, with coordinates {:.4f} ms; the general mesh "
        "{:.4f} ms\n",
        one["decomposition"].get<std::string>(), one["cells"].get<std::int64_t>(),
        one["shared_vertices"].get<std::int64_t>(), 1e3 * one["implicit_seconds"].get<double>(),
        1e3 * one["explicit_seconds"].get<double>(), 1e3 * one["general_seconds"].get<double>());
  }
  if (document.contains("boxes")) {
    const Json& boxes = document["boxes"];
    text += fmt::format(
        "ghosts of {} boxes of {} cells a side, 2 layers of 5 variables: {:.4f} ms, by hand {:.4f} ms; made in {:.4f} "
        "ms\n",
        boxes["boxes"].get<std::int64_t>(), boxes["width"].get<std::int64_t>(),
        1e3 * boxes["halo_seconds"].get<double>(), 1e3 * boxes["persistent_seconds"].get<double>(),
        1e3 * boxes["layout_seconds"].get<double>());
  }
  for (const Json& goal : document["goals"]) {
    text += fmt::format("{:<9}{:<28}{:>9.4g} {} (goal {} {:g})\n", goal["met"].get<bool>() ? "met" : "NOT MET",
                        goal["id"].get<std::string>(), goal["value"].get<double>(), goal["unit"].get<std::string>(),
                        goal["better"] == "higher" ? ">=" : "<=", goal["goal"].get<double>());
  }
  return text;
}

}  // namespace barrio::bench
