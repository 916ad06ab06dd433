#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "barrio/base/assert.hpp"
#include "barrio/mesh/mesh.hpp"
#include "barrio/mesh/tables/canonical_shapes.hpp"
#include "barrio/mesh/tables/order_of_runs.hpp"
#include "barrio/mesh/topology.hpp"

namespace barrio::mesh::detail {

/// The sides of cells, numbered in the order in which they were found.
struct SidesOfCells {
  std::vector<LocalId> of_cells;
  std::vector<std::int32_t> offsets;  ///< of cells in of_cells; empty if all cells have per_cell sides
  std::size_t per_cell = 0;
  std::vector<LocalId> of_listed;  ///< side of each listed entity; no_local_id if it is not a side of a cell
};

/// The distinct sides of all local cells, in an order that is the same on all ranks. Everything is local.
/// @tparam n_corners  room for the corners of a side: 2 for edges, 3 for triangles alone, else 4 or more
template <int n_corners>
class MatchedSides {
 public:
  /// Corners in canonical order; unused ones are no_local_id.
  using Corners = std::array<LocalId, n_corners>;

  /// Cost: O(n_local), and a sort of the vertices whose ids do not come in runs
  MatchedSides(const Mesh& mesh, Dim dim) : vertices_(mesh.vertices()) {
    match(mesh.cells(), dim);
    match_listed(mesh.entities(dim));
    sort();
  }

  [[nodiscard]] std::size_t size() const noexcept { return corners_.size(); }
  /// Return the sides, ordered by the global id of the lowest corner, then by those of the others. Global ids of sides
  /// have the same order.
  [[nodiscard]] const std::vector<Corners>& corners() const& noexcept { return corners_; }
  const std::vector<Corners>& corners() && = delete;
  /// Tell whether an owned cell has this side, not only ghosts.
  [[nodiscard]] bool is_own(std::size_t side) const { return is_own_[side]; }
  /// Call `visit(side)` for the sides whose lowest corner is v, ascending.
  template <class Visit>
  void for_each_at(LocalId v, Visit&& visit) const {
    for (std::int32_t s = first_[index(v)]; s < std::ssize(corners_) && corners_[s][0] == v; ++s) visit(s);
  }
  /// Find the side with these corners, given in canonical order. @return -1 if there is none
  [[nodiscard]] std::int32_t find(const Corners& corners) const {
    std::int32_t found = -1;
    for_each_at(corners[0], [&](std::int32_t s) {
      if (corners_[s] == corners) found = s;
    });
    return found;
  }

  /// Move the sides of cells out; call it once.
  [[nodiscard]] SidesOfCells take_sides_of_cells() noexcept { return std::move(sides_of_cells_); }
  /// Return the place in `corners()` of each side, by its number.
  [[nodiscard]] const std::vector<std::int32_t>& place_of() const& noexcept { return place_of_; }
  const std::vector<std::int32_t>& place_of() && = delete;

  [[nodiscard]] static std::size_t size_of(const Corners& corners) {
    if constexpr (n_corners < 4) return std::size_t{n_corners};
    std::size_t n = n_corners;
    while (n > 3 && corners[n - 1] == no_local_id) --n;
    return n;
  }

 private:
  // A linked list of sides for each lowest corner.
  struct Link {
    Corners corners;
    std::int32_t next;
  };

  [[nodiscard]] Corners canonical_of(std::span<const LocalId> side) const {
    BARRIO_ASSERT(cheap, side.size() >= std::min<std::size_t>(n_corners, 3), side.size());
    Corners corners;
    corners.fill(no_local_id);
    std::ranges::copy(side, corners.begin());
    return canonical(corners, [&](LocalId v) { return vertices_.global_ids[index(v)]; });
  }
  [[nodiscard]] std::int32_t find_link(const Corners& corners) const {
    std::int32_t side = first_[index(corners[0])];
    while (side >= 0 && links_[side].corners != corners) side = links_[side].next;
    return side;
  }
  LocalId find_or_add(const Corners& corners) {
    if (const std::int32_t side = find_link(corners); side >= 0) return LocalId{side};
    const auto side = static_cast<std::int32_t>(links_.size());
    links_.push_back({corners, std::exchange(first_[index(corners[0])], side)});
    return LocalId{side};
  }

  void match(const EntityTable& cells, Dim dim);
  void match_listed(const EntityTable& listed);
  void sort();

  const VertexTable& vertices_;
  SidesOfCells sides_of_cells_;
  std::vector<std::int32_t> first_;  // first side of each vertex: in links_, after sort() in corners_
  std::vector<Link> links_;
  std::int64_t n_own_ = 0;  // links of owned cells come first
  std::vector<Corners> corners_;
  std::vector<bool> is_own_;
  std::vector<std::int32_t> place_of_;
};

template <int n_corners>
void MatchedSides<n_corners>::match(const EntityTable& cells, Dim dim) {
  auto& [of_cells, offsets, per_cell, of_listed] = sides_of_cells_;
  first_.assign(vertices_.size(), -1);
  std::array<std::unique_ptr<CanonicalShapes<n_corners>>, n_cell_types> shapes;
  for (const CellType type : all_cell_types)
    if (has_fixed_sides(type) && topology(type).dim > dim)
      shapes[index(type)] = std::make_unique<CanonicalShapes<n_corners>>(type, dim);
  if (cells.has_one_type && has_fixed_sides(cells.types[0])) {
    per_cell = shapes[index(cells.types[0])]->n_sides();
    of_cells.reserve(per_cell * cells.size());
    links_.reserve(per_cell * cells.size() / 2 + vertices_.size());  // usually enough
  } else {
    offsets.push_back(0);
  }
  std::array<GlobalId, 8> ids;  // of the corners of a cell
  std::vector<LocalId> of_cell;
  for (std::size_t c = 0; c < cells.size(); ++c) {
    if (c == cells.n_owned) n_own_ = links_.size();
    const auto nodes = cells.nodes_of(c);
    of_cell.clear();
    if (!has_fixed_sides(cells.type(c))) {
      for_each_side<LocalId>(dim, cells.type(c), nodes, [&](std::span<const LocalId> side) {
        of_cell.push_back(find_or_add(canonical_of(side)));
      });
    } else {
      const std::size_t n = mesh::n_corners(cells.type(c), nodes.size());
      for (std::size_t i = 0; i < n; ++i) ids[i] = vertices_.global_ids[index(nodes[i])];
      for (const auto& shape : shapes[index(cells.type(c))]->of(std::span(ids).first(n))) {
        Corners corners;
        for (std::size_t i = 0; i < n_corners; ++i) corners[i] = shape[i] < 0 ? no_local_id : nodes[shape[i]];
        of_cell.push_back(find_or_add(corners));
      }
    }
    of_cells.insert(of_cells.end(), of_cell.begin(), of_cell.end());
    if (!offsets.empty()) offsets.push_back(static_cast<std::int32_t>(of_cells.size()));
  }
  if (cells.size() == cells.n_owned) n_own_ = links_.size();
}

template <int n_corners>
void MatchedSides<n_corners>::match_listed(const EntityTable& listed) {
  std::vector<LocalId>& of_listed = sides_of_cells_.of_listed;
  of_listed.reserve(listed.size());
  for (std::size_t i = 0; i < listed.size(); ++i) {
    const auto nodes = listed.nodes_of(i);
    const auto corners = without_padding(nodes.first(mesh::n_corners(listed.type(i), nodes.size())));
    of_listed.push_back(corners.size() > n_corners ? no_local_id : LocalId{find_link(canonical_of(corners))});
  }
}

template <int n_corners>
void MatchedSides<n_corners>::sort() {
  const std::vector<std::int32_t> by_id = order_of_runs(vertices_.global_ids);
  std::vector<std::int32_t> rank(by_id.size());  // place of a vertex in the order of ids
  std::int32_t n_ranked = 0;
  for (const std::int32_t v : by_id) rank[v] = n_ranked++;
  struct Named {
    std::array<std::int32_t, n_corners - 1> others;  // ranks of all corners but the lowest
    std::int32_t side;
  };
  corners_.reserve(links_.size());
  is_own_.reserve(links_.size());
  place_of_.resize(links_.size());
  std::vector<Named> chain;
  std::int32_t n = 0;  // sides in corners_
  for (const std::int32_t v : by_id) {
    std::int32_t& first = first_[v];
    chain.clear();
    for (std::int32_t side = first; side >= 0;) {
      const Link& link = links_[side];
      Named& one = chain.emplace_back();
      one.side = side;
      for (std::size_t i = 1; i < n_corners; ++i)
        one.others[i - 1] = link.corners[i] == no_local_id ? -1 : rank[index(link.corners[i])];
      side = link.next;
    }
    std::ranges::reverse(chain);  // a list starts with the side found last; reversed, it is nearly sorted
    std::ranges::sort(chain, {}, &Named::others);
    first = n;
    for (const Named& one : chain) {
      place_of_[one.side] = n++;
      corners_.push_back(links_[one.side].corners);
      is_own_.push_back(one.side < n_own_);
    }
  }
  links_ = {};
}

}  // namespace barrio::mesh::detail
