#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "barrio/base/error.hpp"
#include "barrio/mesh/box.hpp"
#include "barrio/mesh/structured.hpp"
#include "barrio/mesh/structured/grid_numbers.hpp"

// Coordinates of the vertices of a structured mesh.

namespace barrio::mesh {
namespace {

using Place = std::array<std::int64_t, 3>;

}  // namespace

void StructuredMesh::check_axis(std::size_t axis) const {
  const double low = options_.low[axis];
  const double high = options_.high[axis];
  const std::vector<double>& along = options_.along[axis];
  if (along.empty()) {
    if (!(std::isfinite(low) && std::isfinite(high) && low < high))
      refuse_together(ErrorCode::usage, fmt::format("box from {} to {} along axis {}", low, high, axis),
                      "needs finite corners, the lower one below the upper one");
    return;
  }
  if (std::ssize(along) != options_.n[axis] + 1)
    refuse_together(ErrorCode::usage, fmt::format("{} places along axis {}", along.size(), axis),
                    fmt::format("must be one for each of the {} vertices there", options_.n[axis] + 1));
  const bool ascends = std::ranges::adjacent_find(along, std::ranges::greater_equal{}) == along.end();
  const bool descends = std::ranges::adjacent_find(along, std::ranges::less_equal{}) == along.end();
  if (!std::ranges::all_of(along, [](double x) { return std::isfinite(x); }) || (!ascends && !descends))
    refuse_together(ErrorCode::usage, fmt::format("places along axis {}", axis),
                    "must be finite numbers that strictly ascend or strictly descend");
}

std::array<double, 3> StructuredMesh::coordinates(const Place& vertex) const noexcept {
  std::array<double, 3> x{};
  for (std::size_t k = 0; k < 3; ++k) {
    if (!options_.along[k].empty()) {
      x[k] = options_.along[k][vertex[k]];
      continue;
    }
    const double t = detail::ratio_of(vertex[k], options_.n[k]);
    x[k] = options_.low[k] * (1.0 - t) + options_.high[k] * t;
  }
  return x;
}

std::vector<double> StructuredMesh::make_coordinates() const {
  const IndexBox box = own_vertices();
  std::vector<double> all(3 * box.size());
  std::array<std::vector<double>, 3> along;
  for (std::size_t k = 0; k < 3; ++k)
    for (Place at = box.low; at[k] < box.high[k]; ++at[k]) along[k].push_back(coordinates(at)[k]);
  double* to = all.data();
  for (const double z : along[2]) {
    for (const double y : along[1]) {
      for (const double x : along[0]) {
        *to++ = x;
        *to++ = y;
        *to++ = z;
      }
    }
  }
  return all;
}

MeshTables StructuredMesh::to_tables() const {
  if (options_.is_periodic != std::array<bool, 3>{false, false, false}) {
    throw AgreedError(ErrorCode::usage, {.subject = "tables of a periodic box",
                                         .cause = "would need two positions for one vertex",
                                         .remedy = "make the box without periodic axes"});
  }
  MeshTables tables = make_box(*context_, {.n = options_.n, .parts = grid_});
  int n_descending = 0;
  for (const std::vector<double>& x : options_.along) n_descending += !x.empty() && x.front() > x.back() ? 1 : 0;
  const Rank me = context_->rank();
  tables.coordinates.clear();
  for (std::int64_t row = tables.vertices.first(me); row < tables.vertices.first(me + 1); ++row) {
    const std::array<double, 3> x = coordinates(all_vertices().at(row));
    tables.coordinates.insert(tables.coordinates.end(), x.begin(), x.end());
  }
  if (n_descending % 2 == 0) return tables;
  for (CellBlock& block : tables.blocks) {
    const std::ptrdiff_t width = block.nodes_per_cell;
    for (auto cell = block.nodes.begin(); cell != block.nodes.end(); cell += width) {
      if (block.type == CellType::hex) std::swap_ranges(cell, cell + 4, cell + 4);
      if (block.type == CellType::quad) std::swap(cell[1], cell[3]);
    }
  }
  return tables;
}

}  // namespace barrio::mesh
