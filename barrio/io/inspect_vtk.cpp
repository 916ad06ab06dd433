#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "barrio/base/error.hpp"
#include "barrio/io/detail/id_sets.hpp"
#include "barrio/io/detail/inspect_vtk.hpp"
#include "barrio/io/detail/vtk_file.hpp"
#include "barrio/mesh/detail/sides.hpp"

// A VTK file says little about itself before its cells, so they are read, share after share, and forgotten.

namespace barrio::io::detail {
namespace {

using mesh::CellType;

constexpr std::uintmax_t share_bytes = std::uintmax_t{64} << 20U;

const VtkArray* find_ids(const std::vector<VtkArray>& arrays, bool (*is_named_so)(std::string_view)) {
  const auto found = std::ranges::find_if(arrays, [&](const VtkArray& array) {
    return is_named_so(array.name) && array.n_components == 1 && array.values.index() == 0;
  });
  return found == arrays.end() ? nullptr : &*found;
}

class Inspector {
 public:
  Inspector(const std::string& path, const VtkShares& shares, const InspectOptions& options)
      : path_(path), shares_(shares), options_(options) {}

  Json run() {
    Json result;
    result["format"] = shares_.format;
    for (int share = 0; share < shares_.n; ++share) look_at(shares_.read(share));
    result["vertices"] = n_points_;
    add_entities(result, counts_);
    if (!lacking_.empty()) result["unsupported"] = lacking_;
    add_id_sets(result, sets_, top_, n_parts_);
    result["tags"] = tags_;
    if (!with_quality()) return result;
    add_box(result, points_);
    Quality quality;
    for (int share = 0; share < shares_.n; ++share) add_cells(shares_.read(share), quality);
    if (quality.n() > 0) result["quality"] = quality.json();
    return result;
  }

 private:
  [[nodiscard]] bool with_quality() const {
    return options_.with_quality && static_cast<std::uint64_t>(n_points_) * sizeof(Point) <= options_.limit_bytes;
  }

  /// What a cell is; nothing if barrio lacks it or passes over it.
  std::optional<VtkShape> shape_of(const VtkGrid& grid, std::size_t cell) {
    try {
      const VtkShape shape = vtk_shape(grid.types[cell], grid.offsets[cell + 1] - grid.offsets[cell], path_);
      return shape.type == CellType::vertex ? std::nullopt : std::optional(shape);
    } catch (const Error& error) {
      lacking_.insert(error.cause());
      return std::nullopt;
    }
  }

  void look_at(const VtkGrid& grid) {
    n_points_ = grid.n_points;
    const VtkArray* materials = find_ids(grid.on_cells, names_material);
    const VtkArray* parts = find_ids(grid.on_cells, names_partition);
    for (std::size_t c = 0; c < grid.types.size(); ++c) {
      const auto shape = shape_of(grid, c);
      if (!shape) continue;
      counts_[shape->type] += 1;
      const int dim = value(mesh::topology(shape->type).dim);
      top_ = std::max(top_, dim);
      const auto id_in = [&](const VtkArray& array) { return std::get<0>(array.values)[c]; };
      if (materials != nullptr && is_set_id(materials->name, id_in(*materials)) && sets_.size() <= IdSets::most)
        sets_[{dim, static_cast<int>(id_in(*materials))}];
      if (parts != nullptr) n_parts_ = std::max(n_parts_, id_in(*parts) + 1);
    }
    if (tags_.empty()) {
      add_tags(grid.on_points, "vertices", {});
      add_tags(grid.on_cells, "cells", {materials, parts});
    }
    if (!with_quality()) return;
    for (std::size_t i = 0; i + 2 < grid.coordinates.size(); i += 3)
      points_.push_back({grid.coordinates[i], grid.coordinates[i + 1], grid.coordinates[i + 2]});
  }

  /// @param others  arrays that are sets or parts
  void add_tags(const std::vector<VtkArray>& arrays, const char* on, const std::set<const VtkArray*>& others) {
    for (const VtkArray& array : arrays) {
      if (others.contains(&array)) continue;
      const auto known =
          std::find_if(tags_.begin(), tags_.end(), [&](const Json& tag) { return tag["name"] == array.name; });
      if (known != tags_.end()) {
        (*known)["dense_on"].push_back(on);
        continue;
      }
      std::string type = array.values.index() == 0 ? "int" : "double";
      if (array.n_components > 1) type += fmt::format("[{}]", array.n_components);
      tags_.push_back({{"name", array.name},
                       {"type", type},
                       {"storage", "dense"},
                       {"variable_length", false},
                       {"sparse_values", 0},
                       {"dense_on", Json::array({on})}});
    }
  }

  void add_cells(const VtkGrid& grid, Quality& quality) {
    std::vector<Point> corners;
    for (std::size_t c = 0; c < grid.types.size(); ++c) {
      const auto shape = shape_of(grid, c);
      if (!shape || value(mesh::topology(shape->type).dim) != top_) continue;
      corners.clear();
      const auto first = static_cast<std::size_t>(grid.offsets[c]);
      const std::size_t n_nodes = static_cast<std::size_t>(grid.offsets[c + 1]) - first;
      for (std::size_t k = 0; k < mesh::detail::n_corners(shape->type, n_nodes); ++k) {
        const std::int64_t node =
            grid.nodes[first + (shape->order == nullptr ? k : static_cast<std::size_t>(shape->order[k] - 'a'))];
        if (node < 0 || node >= n_points_)
          throw Error(ErrorCode::bad_input,
                      {.subject = path_, .cause = fmt::format("a cell has point {}, which does not exist", node)});
        corners.push_back(points_[static_cast<std::size_t>(node)]);
      }
      quality.add(shape->type, corners);
    }
  }

  const std::string& path_;
  const VtkShares& shares_;
  const InspectOptions& options_;
  std::int64_t n_points_ = 0;
  std::map<CellType, std::int64_t> counts_;
  std::map<std::pair<int, int>, std::string> sets_;
  std::set<std::string> lacking_;
  std::int64_t n_parts_ = 0;
  int top_ = 0;
  Json tags_ = Json::array();
  std::vector<Point> points_;
};

}  // namespace

Json inspect_vtk_shares(const std::string& path, const VtkShares& shares, const InspectOptions& options) {
  return Inspector(path, shares, options).run();
}

Json inspect_vtk(const std::string& path, const InspectOptions& options) {
  const int n = static_cast<int>(std::filesystem::file_size(path) / share_bytes) + 1;
  const VtkIndex index = index_vtk(path, n);
  const VtkShares shares{index.format(), n, [&](int share) {
                           return read_vtk_share(path, index, index.pieces[static_cast<std::size_t>(share)], share, n);
                         }};
  return inspect_vtk_shares(path, shares, options);
}

}  // namespace barrio::io::detail
