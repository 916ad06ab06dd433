#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "barrio/base/error.hpp"
#include "barrio/io/common/id_sets.hpp"
#include "barrio/io/common/new_tags.hpp"
#include "barrio/io/common/structured_cells.hpp"
#include "barrio/io/vtk/inspect_vtk.hpp"
#include "barrio/io/vtk/vtk_file.hpp"
#include "barrio/io/vtk/vtk_pieces.hpp"
#include "barrio/mesh/topology.hpp"

// The header of a VTK file says little, so its cells are read, share after share, and dropped.

namespace barrio::io::detail {
namespace {

using mesh::CellType;

constexpr std::uintmax_t hex_bytes = 73;  // per cell in a share

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
    for (int share = 0; share < shares_.n; ++share) look_at(shares_.read(share, with_quality()));
    result["vertices"] = shares_.n_points;
    if (n_pieces_ > 1) add_pieces(result);
    add_entities(result, counts_);
    for (std::string& what : shares_.left_out.unsupported()) lacking_.insert(std::move(what));
    if (!lacking_.empty()) result["unsupported"] = lacking_;
    add_id_sets(result, sets_, top_, n_parts_);
    result["tags"] = tags_;
    if (!with_quality()) return result;
    add_box(result, points_);
    Quality quality;
    for (int share = 0; share < shares_.n; ++share) add_cells(shares_.read(share, true), quality);
    if (quality.n() > 0) result["quality"] = quality.json();
    return result;
  }

 private:
  [[nodiscard]] bool with_quality() const { return has_quality(shares_.n_points, options_); }

  /// Return the shape of a cell; nothing if barrio lacks it.
  std::optional<VtkShape> shape_of(int vtk_type, std::int64_t n_nodes) {
    try {
      return vtk_shape(vtk_type, n_nodes, path_);
    } catch (const Error& error) {
      lacking_.insert(error.cause());
      return std::nullopt;
    }
  }

  std::optional<VtkShape> shape_of(const VtkGrid& grid, std::size_t cell) {
    return shape_of(grid.types[cell], grid.offsets[cell + 1] - grid.offsets[cell]);
  }

  void count(const VtkShape& shape, std::int64_t n) {
    if (shape.type == CellType::vertex) return;  // vertices stand for it
    counts_[{shape.type, shape.n_nodes}] += n;
    top_ = std::max(top_, value(mesh::topology(shape.type).dim));
  }

  /// Count the cells of a structured dataset without making them.
  void look_at_grid(const VtkArray* materials, const VtkArray* parts) {
    constexpr std::array<std::int64_t, 4> n_nodes{1, 2, 4, 8};
    constexpr std::array<int, 4> types{1, 3, 9, 12};
    const auto dim = std::ranges::find(types, shares_.grid_type) - types.begin();
    const auto shape = shape_of(shares_.grid_type, n_nodes[dim]);
    if (!shape || shape->type == CellType::vertex) return;
    if (counts_.empty()) count(*shape, shares_.n_grid_cells);
    const VtkArray* any = materials != nullptr ? materials : parts;
    const std::size_t n = any == nullptr ? 0 : std::get<0>(any->values).size();
    for (std::size_t c = 0; c < n; ++c) note_ids(materials, parts, static_cast<int>(dim), c);
  }

  void note_ids(const VtkArray* materials, const VtkArray* parts, int dim, std::size_t cell) {
    const auto id_in = [&](const VtkArray& array) { return std::get<0>(array.values)[cell]; };
    if (materials != nullptr && is_set_id(materials->name, id_in(*materials)) && sets_.size() <= IdSets::most) {
      const std::pair<int, int> key{dim, id_in(*materials)};
      const auto named = shares_.set_names.find(key);
      sets_[key] = named == shares_.set_names.end() ? "" : named->second;
    }
    if (parts != nullptr && dim > 0) n_parts_ = std::max(n_parts_, id_in(*parts) + 1);
  }

  /// Count the vertices that stay when the copies of points in several pieces are merged.
  void add_pieces(Json& result) {
    result["pieces"] = n_pieces_;
    if (!with_quality()) {
      lacking_.insert(fmt::format("merging the copies of points in {} pieces is left to the reading", n_pieces_));
      return;
    }
    std::erase_if(placed_, [&](const PlacedPoint& p) { return is_of_ghost_[p.row] && !is_used_[p.row]; });
    const std::int64_t n = std::ssize(placed_);
    const PointCopies by_id = find_copies_by_id();
    if (!ids_.empty() && by_id.n_ambiguous == 0 && !is_apart(by_id)) {
      result["vertices"] = n - std::ssize(by_id.copies);
      return;
    }
    if (!ids_.empty())
      lacking_.insert(fmt::format("array '{}', marked as global ids of points, which do not fit", id_name_));
    const PointCopies found = find_copies(std::move(placed_));
    result["vertices"] = n - std::ssize(found.copies);
    if (found.n_ambiguous > 0)
      lacking_.insert(
          fmt::format("at {} place(s) a piece has several points: these are left apart from those of other "
                      "pieces; barrio join --within merges them",
                      found.n_ambiguous));
  }

  [[nodiscard]] PointCopies find_copies_by_id() const {
    std::vector<PlacedPoint> points;
    for (const PlacedPoint& point : placed_)
      if (!ids_.empty())
        points.push_back({{static_cast<std::uint64_t>(ids_[point.row]), 0, 0}, point.row, point.piece});
    return find_copies(std::move(points));
  }

  /// Tell whether copies are not where their originals are, as the reader does.
  [[nodiscard]] bool is_apart(const PointCopies& found) const {
    double size = 0.0;
    for (const Point& x : points_) size = std::max({size, std::abs(x[0]), std::abs(x[1]), std::abs(x[2])});
    return std::ranges::any_of(found.copies, [&](const PointCopies::Copy& copy) {
      for (std::size_t k = 0; k < 3; ++k)
        if (std::abs(points_[copy.row][k] - points_[copy.of][k]) > point_tolerance * size) return true;
      return false;
    });
  }

  void mark(const std::vector<std::int64_t>& points, std::vector<bool>& marks) const {
    if (!with_quality()) return;
    marks.resize(shares_.n_points, false);
    for (const std::int64_t point : points)
      if (point >= 0 && point < shares_.n_points) marks[point] = true;
  }

  /// Note the points of a share, and their global ids if these are marked, to compare them with those of other pieces.
  void note_points(const VtkGrid& grid) {
    const VtkArray* ids = find_id_array(grid.on_points);
    for (std::size_t p = 0; 3 * p < grid.coordinates.size(); ++p, ++n_noted_) {
      placed_.push_back(placed_point(&grid.coordinates[3 * p], n_noted_, grid.first_points));
      if (ids != nullptr) ids_.push_back(std::get<0>(ids->values)[p]);
    }
    if (ids != nullptr) id_name_ = ids->name;
  }

  void look_at(VtkGrid grid) {
    std::vector<std::int64_t> of_ghosts;
    if (drop_ghost_cells(grid, &of_ghosts) > 0)
      lacking_.insert("ghost cells, copies of cells of other pieces, are dropped");
    mark(of_ghosts, is_of_ghost_);
    mark(grid.nodes, is_used_);
    n_pieces_ = grid.first_points.size();
    if (n_pieces_ > 1 && with_quality()) note_points(grid);
    const VtkArray* materials = find_ids(grid.on_cells, names_material);
    const VtkArray* parts = find_ids(grid.on_cells, names_partition);
    if (shares_.grid_type != 0) look_at_grid(materials, parts);
    for (std::size_t c = 0; c < grid.types.size() && shares_.grid_type == 0; ++c) {
      const auto shape = shape_of(grid, c);
      if (!shape) continue;
      count(*shape, 1);
      note_ids(materials, parts, value(mesh::topology(shape->type).dim), c);
    }
    if (tags_.empty()) {
      add_tags(grid.on_points, "vertices", {});
      add_tags(grid.on_cells, "cells", {materials, parts});
    }
    if (!with_quality()) return;
    for (std::size_t i = 0; i + 2 < grid.coordinates.size(); i += 3)
      points_.push_back({grid.coordinates[i], grid.coordinates[i + 1], grid.coordinates[i + 2]});
  }

  /// @param others  arrays that become sets or parts
  void add_tags(const std::vector<VtkArray>& arrays, const char* on, const std::set<const VtkArray*>& others) {
    for (const VtkArray& array : arrays) {
      if (others.contains(&array) || is_reserved_tag(array.name)) continue;
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

  void add_cells(VtkGrid grid, Quality& quality) {
    drop_ghost_cells(grid);
    std::vector<Point> corners;
    for (std::size_t c = 0; c < grid.types.size(); ++c) {
      const auto shape = shape_of(grid, c);
      if (!shape || value(mesh::topology(shape->type).dim) != top_) continue;
      corners.clear();
      const std::size_t first = grid.offsets[c];
      const std::size_t n_nodes = grid.offsets[c + 1] - first;
      for (std::size_t k = 0; k < mesh::n_corners(shape->type, n_nodes); ++k) {
        const std::int64_t node = grid.nodes[first + shape->place_of(k)];
        if (node < 0 || node >= shares_.n_points)
          throw Error(ErrorCode::bad_input, {.subject = path_,
                                             .cause = fmt::format("a cell has point {}, which does not exist", node),
                                             .remedy = damaged_remedy});
        corners.push_back(points_[node]);
      }
      quality.add(shape->type, corners);
    }
  }

  const std::string& path_;
  const VtkShares& shares_;
  const InspectOptions& options_;
  std::set<std::string> lacking_;
  CellCounts counts_;
  std::map<std::pair<int, int>, std::string> sets_;
  std::int64_t n_parts_ = 0;
  int top_ = 0;
  Json tags_ = Json::array();
  std::vector<Point> points_;
  std::size_t n_pieces_ = 0;
  std::vector<PlacedPoint> placed_;
  std::vector<std::int64_t> ids_;  ///< of all points, if they are marked
  std::string id_name_;
  std::int64_t n_noted_ = 0;
  std::vector<bool> is_used_;  ///< by cells that are no ghosts
  std::vector<bool> is_of_ghost_;
};

}  // namespace

Json inspect_vtk_shares(const std::string& path, const VtkShares& shares, const InspectOptions& options) {
  return Inspector(path, shares, options).run();
}

int n_shares_of(std::uintmax_t n_bytes) noexcept {
  constexpr std::uintmax_t share_bytes = std::uintmax_t{64} << 20U;
  return static_cast<int>(n_bytes / share_bytes) + 1;
}

Json inspect_vtk(const std::string& path, const InspectOptions& options) {
  int n = n_shares_of(std::filesystem::file_size(path));
  VtkIndex index = index_vtk(path, n);
  const bool makes_cells = index.is_structured() && has_quality(index.head.n_points, options);
  if (const int n_of_cells = n_shares_of(index.head.n_cells * hex_bytes); makes_cells && n_of_cells > n) {
    n = n_of_cells;
    index = index_vtk(path, n);
  }
  VtkShares shares{index.format(), n, index.head.n_points, [&](int share, bool with_grid) {
                     return read_vtk_share(path, index, index.pieces[share], share, n, with_grid);
                   }};
  shares.left_out = index.left_out;
  if (index.is_structured()) {
    shares.n_grid_cells = index.head.n_cells;
    shares.grid_type = PointGrid{index.head.dimensions}.vtk_type();
  }
  return inspect_vtk_shares(path, shares, options);
}

}  // namespace barrio::io::detail
