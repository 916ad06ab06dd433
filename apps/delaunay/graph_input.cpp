#include "apps/delaunay/graph_input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "apps/delaunay/projection.hpp"
#include "barrio/base/error.hpp"
#include "barrio/base/text.hpp"
#include "barrio/delaunay/flat_mesh.hpp"
#include "barrio/delaunay/geojson_file.hpp"
#include "barrio/delaunay/poly_file.hpp"
#include "barrio/io/read.hpp"

namespace barrio::apps {
namespace {

using mesh::Dim;
using mesh::MeshTables;

/// Conversion of tables on one rank to a triangle mesh of the plane.
class FlatTables {
 public:
  FlatTables(const MeshTables& tables, const std::string& path, std::vector<std::string>& left_out)
      : tables_(tables), path_(path), left_out_(left_out) {}

  delaunay::FlatMesh make() {
    take_points();
    take_cells();
    take_sets();
    take_tags();
    return std::move(mesh_);
  }

 private:
  void take_points() {
    const std::vector<double>& x = tables_.coordinates;
    const double z = x.empty() ? 0.0 : x[2];
    for (std::size_t i = 0; i + 2 < x.size(); i += 3) {
      if (x[i + 2] != z)
        refuse(ErrorCode::bad_input, path_,
               fmt::format("vertex {} lies at z = {:g}, but vertex 0 at {:g}", i / 3, x[i + 2], z),
               "all vertices must have the same z");
      mesh_.points.push_back({x[i], x[i + 1]});
    }
    if (z != 0.0) left_out_.push_back(fmt::format("z = {:g} of all vertices", z));
  }

  void take_cells() {
    for (const mesh::CellBlock& block : tables_.blocks) {
      const std::size_t n = block.nodes_per_cell > 0 ? block.nodes.size() / block.nodes_per_cell
                            : block.offsets.empty()  ? 0
                                                     : block.offsets.size() - 1;
      if (n == 0) continue;
      const auto node = [&](std::size_t i, std::size_t k) {
        return static_cast<std::int32_t>(value(block.cell(i)[k]));
      };
      if (block.type == mesh::CellType::triangle && block.nodes_per_cell == 3) {
        for (std::size_t i = 0; i < n; ++i) mesh_.triangles.push_back({node(i, 0), node(i, 1), node(i, 2)});
      } else if (block.type == mesh::CellType::edge) {
        for (std::size_t i = 0; i < n; ++i) mesh_.edges.push_back({.ends = {node(i, 0), node(i, 1)}, .marker = 0});
      } else {
        refuse(ErrorCode::bad_input, path_, fmt::format("has {}", mesh::topology(block.type).plural),
               "give a mesh of triangles, or of triangles and edges");
      }
    }
    if (mesh_.triangles.empty())
      refuse(ErrorCode::bad_input, path_, "has no triangles", "give a mesh of triangles of the plane");
  }

  /// Turn material sets of triangles into regions, and sets of edges into markers.
  void take_sets() {
    region_of_.assign(tables_.sets.size(), 0);
    has_edges_.assign(tables_.sets.size(), 0);
    std::vector<char> is_taken(tables_.sets.size(), 0);
    std::vector<char> is_lost(tables_.sets.size(), 0);
    const std::vector<std::vector<std::int32_t>> holders = find_holders();
    for (const mesh::SetRows& rows : tables_.members)
      for (const std::int32_t set : holders[rows.set]) (take_rows(set, rows) ? is_taken : is_lost)[set] = 1;
    for (std::size_t s = 0; s < is_taken.size(); ++s) {
      const mesh::SetInfo& set = tables_.sets[s];
      const char* const part = is_taken[s] != 0 ? "a part of " : "";
      if (is_lost[s] != 0) left_out_.push_back(fmt::format("{}{} set {}", part, mesh::name(set.kind), text_of(set)));
      if (set.name.empty()) continue;
      if (region_of_[s] > 0) mesh_.regions[region_of_[s] - 1].name = set.name;
      if (const auto marker = marker_of(set); has_edges_[s] != 0 && marker)
        mesh_.marker_names.push_back({*marker, set.name});
    }
    if (n_markers_left_ > 0)
      left_out_.push_back(fmt::format("{} markers of edges beyond the first", format_count(n_markers_left_)));
  }

  /// Find for each set the sets that have its members: itself and all that contain it, directly or through others.
  [[nodiscard]] std::vector<std::vector<std::int32_t>> find_holders() const {
    std::vector<std::vector<std::int32_t>> holders(tables_.sets.size());
    for (std::size_t s = 0; s < holders.size(); ++s) {
      std::vector<std::int32_t> within{static_cast<std::int32_t>(s)};
      for (std::size_t i = 0; i < within.size(); ++i) {
        holders[within[i]].push_back(static_cast<std::int32_t>(s));
        for (const mesh::SetInSet& inner : tables_.sets[within[i]].contained)
          if (std::ranges::find(within, inner.set) == within.end()) within.push_back(inner.set);
      }
    }
    return holders;
  }

  /// Take rows of a set. @return whether the mesh can hold them
  bool take_rows(std::int32_t set, const mesh::SetRows& rows) {
    const mesh::SetInfo& info = tables_.sets[set];
    const auto first = static_cast<std::size_t>(rows.first);
    const auto end = first + static_cast<std::size_t>(rows.count);
    if (rows.dim == Dim::face && info.id_as(mesh::SetKind::material)) {
      std::int32_t& region = region_of_[set];
      if (region == 0) region = add_region(set);
      mesh_.triangle_regions.resize(mesh_.triangles.size(), 0);
      for (std::size_t t = first; t < end; ++t) {
        const std::int32_t there = std::exchange(mesh_.triangle_regions[t], region);
        if (there == 0 || there == region) continue;
        refuse(ErrorCode::bad_input, path_,
               fmt::format("triangle {} is in materials {} and {}", t, number_of(there), number_of(region)),
               "give each triangle one material");
      }
      return true;
    }
    const std::optional<std::int32_t> marker = marker_of(info);
    if (rows.dim != Dim::edge || !marker) return false;
    has_edges_[set] = 1;
    for (std::size_t e = first; e < end; ++e) {
      std::int32_t& there = mesh_.edges[e].marker;
      if (there != 0 && there != *marker) ++n_markers_left_;
      if (there == 0) there = *marker;
    }
    return true;
  }

  [[nodiscard]] std::int32_t number_of(std::int32_t region) const { return mesh_.regions[region - 1].number; }

  static std::string text_of(const mesh::SetInfo& set) {
    return set.name.empty() ? std::to_string(set.id) : fmt::format("{} ({})", set.id, set.name);
  }

  static std::optional<std::int32_t> marker_of(const mesh::SetInfo& set) {
    for (const mesh::SetKind kind : {mesh::SetKind::neumann, mesh::SetKind::material, mesh::SetKind::dirichlet})
      if (const auto id = set.id_as(kind)) return id;
    return {};
  }

  std::int32_t add_region(std::int32_t set) {
    const std::int32_t number = *tables_.sets[static_cast<std::size_t>(set)].id_as(mesh::SetKind::material);
    mesh_.regions.push_back({.attribute = static_cast<double>(number), .max_area = 0.0, .number = number});
    for (const mesh::TagTable& tag : tables_.tags) {
      if (tag.info.name != "REGION_ATTRIBUTE" || tag.info.type != mesh::TagType::float64) continue;
      const auto at = std::ranges::lower_bound(tag.on_sets.sets, set);
      if (at == tag.on_sets.sets.end() || *at != set) continue;
      const auto bytes =
          tag.on_sets.items.value(static_cast<std::size_t>(at - tag.on_sets.sets.begin()), tag.info.value_bytes());
      if (bytes.size() == sizeof(double)) std::memcpy(&mesh_.regions.back().attribute, bytes.data(), sizeof(double));
    }
    return static_cast<std::int32_t>(mesh_.regions.size());
  }

  /// Turn real-valued tags of vertices into attributes; a graph cannot hold others.
  void take_tags() {
    std::vector<std::pair<const mesh::TagColumn*, std::size_t>> columns;  // and components
    for (const mesh::TagTable& tag : tables_.tags) {
      const auto n = static_cast<std::size_t>(tag.info.n_components);
      const auto column = std::ranges::find(tag.columns, -1, &mesh::TagColumn::block);
      const bool is_taken = tag.info.type == mesh::TagType::float64 && !tag.info.length_varies &&
                            column != tag.columns.end() && column->is_dense;
      if (is_taken) {
        mesh_.attributes.push_back({.name = tag.info.name, .n_components = tag.info.n_components});
        columns.emplace_back(&*column, n);
      }
      const bool has_more = !tag.on_sets.sets.empty() || std::ranges::any_of(tag.columns, [&](const auto& other) {
        return other.block >= 0 || !is_taken;
      });
      if (has_more && tag.info.name != "REGION_ATTRIBUTE" && tag.info.name != "GLOBAL_ID")
        left_out_.push_back(fmt::format("tag {}{}", tag.info.name, is_taken ? " except on vertices" : ""));
    }
    for (std::size_t v = 0; v < mesh_.points.size(); ++v) {
      for (const auto& [column, n] : columns) {
        const auto bytes = column->items.value(v, n * sizeof(double));
        const std::size_t first = mesh_.attribute_values.size();
        mesh_.attribute_values.resize(first + n);
        std::memcpy(mesh_.attribute_values.data() + first, bytes.data(), n * sizeof(double));
      }
    }
  }

  const MeshTables& tables_;
  const std::string& path_;
  std::vector<std::string>& left_out_;
  delaunay::FlatMesh mesh_;
  std::vector<std::int32_t> region_of_;  // of each set: its region in the mesh, from 1
  std::vector<char> has_edges_;          // of each set: whether it gave edges their marker
  std::int64_t n_markers_left_ = 0;
};

/// Name what vanished and what overlaps. @param name  of a region by its position in the list from 1
template <class Name>
void tell(GraphInput& input, Name&& name) {
  for (const delaunay::SnapReport::Inverted& one : input.snapped->inverted)
    input.inverted.push_back(fmt::format("{} by {:.3g}", name(one.region), one.area));
  for (const delaunay::SnapReport::Overlap& overlap : input.snapped->overlaps)
    input.overlaps.push_back(fmt::format("{} and {} by {:.3g}", name(overlap.kept), name(overlap.lost), overlap.area));
}

GraphInput read_polygons(const std::string& path, const GraphInputOptions& options) {
  GraphInput input;
  const std::string project = options.project.empty() ? "auto" : options.project;
  delaunay::GeoJsonFile file = delaunay::read_geojson(path, {.tolerance = options.snap,
                                                             .project = make_projection(project, input.projection),
                                                             .projects_degrees_alone = options.project.empty(),
                                                             .holes = options.holes});
  if (!file.is_projected) input.projection.clear();
  input.has_default_projection = file.is_projected && options.project.empty();
  input.graph = std::move(file.graph);
  input.left_out = std::move(file.left_out);
  input.n_points = file.n_positions;
  input.n_segments = file.n_edges;
  input.n_cut_rings = file.n_cut_rings;
  input.snapped = std::move(file.snapped);
  input.has_default_tolerance = !options.snap;
  input.vanished = std::move(file.vanished);
  if (input.snapped) tell(input, [&](std::int32_t region) { return file.features[region - 1]; });
  return input;
}

/// Snap the graph of a file without polygons, if that is requested.
void snap(GraphInput& input, const std::optional<double>& tolerance) {
  input.n_points = std::ssize(input.graph.points);
  input.n_segments = std::ssize(input.graph.segments);
  if (tolerance.value_or(0.0) == 0.0) return;
  input.snapped = delaunay::snap(input.graph, {.tolerance = *tolerance});
  if (const std::size_t n = input.snapped->vanished_segments.size(); n > 0)
    input.vanished.push_back(fmt::format("{} segments shorter than the tolerance", n));
}

}  // namespace

GraphInput read_graph(const std::string& path, const GraphInputOptions& options) {
  if (path.ends_with(".geojson") || path.ends_with(".json")) return read_polygons(path, options);
  if (!options.project.empty())
    refuse(ErrorCode::usage, "--project", "applies to GeoJSON alone, which has longitudes and latitudes",
           "leave it out");
  if (!options.holes.empty())
    refuse(ErrorCode::usage, "--hole", "applies to features of GeoJSON alone",
           "give .poly files a position in each hole; leave triangles of other files out of the mesh");
  GraphInput input;
  if (path.ends_with(".poly") || path.ends_with(".node")) {
    delaunay::PolyFile file = delaunay::read_poly(path);
    input.graph = std::move(file.graph);
    input.segment_numbers = std::move(file.segment_numbers);
    snap(input, options.snap);
    return input;
  }
  if (options.snap)
    refuse(ErrorCode::usage, "--snap", "applies to points, segments and polygons, not to triangles", "leave it out");
  input.graph = delaunay::to_graph(read_flat_mesh(path, input.left_out), input.left_out);
  snap(input, {});
  return input;
}

delaunay::FlatMesh read_flat_mesh(const std::string& path, std::vector<std::string>& left_out) {
  if (path.ends_with(".ele")) return delaunay::read_ele(path, left_out);
  mpi::Context alone(MPI_COMM_SELF);
  const MeshTables tables = io::read_tables(alone, path, {.to_linear = true});
  return FlatTables(tables, path, left_out).make();
}

}  // namespace barrio::apps
