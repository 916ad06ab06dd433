#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "barrio/base/json.hpp"
#include "barrio/io/inspect.hpp"
#include "barrio/mesh/tables.hpp"

// Output of `inspect` common to several formats.

namespace barrio::io::detail {

using Point = std::array<double, 3>;

/// Tell whether quality is wanted and the points fit into the memory that it may use.
bool has_quality(std::int64_t n_points, const InspectOptions& options) noexcept;

/// Extremes and means over the cells of the top dimension.
class Quality {
 public:
  void add(mesh::CellType type, std::span<const Point> corners);
  /// Add all cells of a block. @param nodes  rows in `points`, cell after cell
  void add_all(mesh::CellType type, const std::vector<GlobalId>& nodes, int nodes_per_cell,
               const std::vector<Point>& points);
  [[nodiscard]] std::int64_t n() const noexcept { return n_; }
  [[nodiscard]] Json json() const;

 private:
  double shortest_ = std::numeric_limits<double>::infinity();
  double longest_ = 0.0;
  double min_ratio_ = 1.0;
  double sum_ratio_ = 0.0;
  std::int64_t n_inverted_ = 0;
  std::int64_t n_ = 0;
};

/// Report the bounding box of the vertices, and count those that are not finite: minima silently skip NaN.
void add_box(Json& result, const std::vector<Point>& points);
/// Numbers of cells by type and number of nodes, 0 where that varies.
using CellCounts = std::map<std::pair<mesh::CellType, int>, std::int64_t>;
/// Add "entities", the counts by type. Where cells have more nodes than corners, also add "nodes_per_cell", the counts
/// by type and number of nodes.
void add_entities(Json& result, const CellCounts& counts);
/// List the sets.
void add_sets(Json& result, const std::vector<mesh::SetInfo>& sets, std::int64_t n_parts = 0);
/// Add the times of steps, in the unit of the file; nothing unless there is one for each step.
void add_times(Json& result, const std::vector<double>& times, std::int64_t n_steps);
/// List the sets that cells name by dimension and id.
/// @param named  each once, with its name @param top  dimension of the cells (see `kind_of_id_set`)
void add_id_sets(Json& result, const std::map<std::pair<int, int>, std::string>& named, int top, std::int64_t n_parts);

Json inspect_h5m(const std::string& path, const InspectOptions& options);
Json inspect_gmsh(const std::string& path, const InspectOptions& options);
Json inspect_medit(const std::string& path, const InspectOptions& options);
Json inspect_exodus(const std::string& path, const InspectOptions& options);
Json inspect_climate(const std::string& path, const InspectOptions& options);
Json inspect_cgns(const std::string& path, const InspectOptions& options);
Json inspect_su2(const std::string& path, const InspectOptions& options);

}  // namespace barrio::io::detail
