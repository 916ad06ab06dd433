#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "barrio/mesh/detail/order_of_runs.hpp"
#include "barrio/mesh/detail/sides.hpp"
#include "barrio/mesh/mesh.hpp"

// Which sides of cells are the same one, and the order that all ranks see them in. Everything is local.

namespace barrio::mesh::detail {

/// Corners of the sides of a type with fixed sides, as places in the cell; -1 fills up.
template <int n_corners>
std::vector<std::array<std::int8_t, n_corners>> shapes_of(CellType type, Dim dim) {
  std::vector<std::array<std::int8_t, n_corners>> shapes;
  std::array<std::int8_t, n_corners> shape{};
  shape.fill(-1);
  if (value(dim) + 1 == value(topology(type).dim)) {
    std::size_t n = 0;
    for (const std::int8_t corner : topology(type).sides) {
      if (corner >= 0) {
        if (n < n_corners) shape[n] = corner;  // larger ones are of types that the mesh does not have
        n += 1;
        continue;
      }
      shapes.push_back(shape);
      shape.fill(-1);
      n = 0;
    }
  } else {
    const auto edges = topology(type).edges;
    for (std::size_t e = 0; e + 1 < edges.size(); e += 2) {
      shape[0] = edges[e];
      shape[1] = edges[e + 1];
      shapes.push_back(shape);
    }
  }
  return shapes;
}

/// Rotate and turn corners so that the one with the lowest id comes first and its lower neighbour next.
/// @param[in] c  corners or their places, unused ones -1 at the end @param id  of a corner
template <std::size_t n_corners, class Corner, class IdOf>
std::array<Corner, n_corners> canonical(const std::array<Corner, n_corners>& c, IdOf&& id) {
  std::size_t n = n_corners;
  if constexpr (n_corners == 2) {
    return id(c[1]) < id(c[0]) ? std::array<Corner, 2>{c[1], c[0]} : c;
  } else if constexpr (n_corners > 3) {
    while (n > 3 && c[n - 1] == Corner{-1}) --n;
  }
  std::size_t low = 0;
  for (std::size_t i = 1; i < n; ++i)
    if (id(c[i]) < id(c[low])) low = i;
  const std::size_t before = (low == 0 ? n : low) - 1;
  const std::size_t after = low + 1 == n ? 0 : low + 1;
  const bool turns = id(c[before]) < id(c[after]);
  std::array<Corner, n_corners> out = c;  // for the unused ones
  for (std::size_t i = 0, at = low; i < n; ++i) {
    out[i] = c[at];
    at = turns ? (at == 0 ? n : at) - 1 : (at + 1 == n ? 0 : at + 1);
  }
  return out;
}

/// Sides of cells of one type in their canonical order. It depends only on how the ids of a cell's corners compare, and
/// that on few patterns: those met lately are kept.
template <int n_corners>
class CanonicalShapes {
 public:
  using Shape = std::array<std::int8_t, n_corners>;
  CanonicalShapes(CellType type, Dim dim) : shapes_(shapes_of<n_corners>(type, dim)) {}
  CanonicalShapes(CanonicalShapes&&) = delete;

  /// Corners of all sides of a cell, as places in it. @param[in] ids  of its corners, eight at most
  const std::vector<Shape>& of(std::span<const GlobalId> ids) {
    if (last_ != nullptr && is_of(*last_, ids)) return last_->shapes;
    std::array<std::uint32_t, 8> n_lower{};  // than the id of each corner
    std::uint32_t pattern = 0;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      for (const GlobalId other : ids) n_lower[i] += other < ids[i] ? 1U : 0U;
      pattern |= n_lower[i] << (4 * i);
    }
    Known& known = known_[pattern * 0x9e3779b1U >> (32U - log2_known)];
    last_ = &known;
    if (!known.shapes.empty() && is_of(known, ids)) return known.shapes;
    for (std::size_t i = 0; i < ids.size(); ++i) known.ascending[n_lower[i]] = static_cast<std::uint8_t>(i);
    known.shapes.clear();
    for (const Shape& shape : shapes_)
      known.shapes.push_back(canonical(shape, [&](std::int8_t at) { return ids[static_cast<std::size_t>(at)]; }));
    return known.shapes;
  }
  [[nodiscard]] std::size_t n_sides() const noexcept { return shapes_.size(); }

 private:
  static constexpr unsigned log2_known = 6;
  struct Known {
    std::array<std::uint8_t, 8> ascending{};  // places of corners by their ids
    std::vector<Shape> shapes;
  };
  static bool is_of(const Known& known, std::span<const GlobalId> ids) {
    bool ascends = true;
    for (std::size_t i = 0; i + 1 < ids.size(); ++i)
      ascends = ascends && ids[known.ascending[i]] < ids[known.ascending[i + 1]];
    return ascends;
  }
  std::vector<Shape> shapes_;
  std::array<Known, 1U << log2_known> known_;
  const Known* last_ = nullptr;
};

/// The different sides of all local cells, and which of them a cell has.
/// @tparam n_corners  room for the corners of a side: 2 for edges, 3 for triangles alone, else 4 or more
template <int n_corners>
class MatchedSides {
 public:
  /// Corners in their one order, unused ones no_local_id.
  using Corners = std::array<LocalId, n_corners>;

  /// Cost: O(n_local) beside the order of vertices that do not come in runs
  MatchedSides(const Mesh& mesh, Dim dim) : vertices_(mesh.vertices()) {
    match(mesh.cells(), dim);
    match_listed(mesh.entities(dim));
    sort();
  }

  [[nodiscard]] std::size_t size() const noexcept { return corners_.size(); }
  /// By the lowest corner's global id, then the others': as global ids of sides ascend.
  [[nodiscard]] const std::vector<Corners>& corners() const& noexcept { return corners_; }
  /// Whether a cell of this rank has it, not ghosts alone.
  [[nodiscard]] bool is_own(std::size_t side) const { return is_own_[side]; }
  /// Call `visit(side)` for the sides whose lowest corner is v, ascending.
  template <class Visit>
  void for_each_at(LocalId v, Visit&& visit) const {
    for (auto s = static_cast<std::size_t>(first_[index(v)]); s < size() && corners_[s][0] == v; ++s) visit(s);
  }
  /// The side with such corners in their one order, or size().
  [[nodiscard]] std::size_t find(const Corners& corners) const {
    std::size_t found = size();
    for_each_at(corners[0], [&](std::size_t s) {
      if (corners_[s] == corners) found = s;
    });
    return found;
  }

  // Sides of cells are numbers in the order in which they were met; that is where they are in `corners()`.
  [[nodiscard]] const std::vector<std::int32_t>& place_of() const& noexcept { return place_of_; }
  std::vector<LocalId> of_cells;
  std::vector<std::int32_t> offsets;  // of cells in of_cells; empty if all have per_cell
  std::size_t per_cell = 0;
  std::vector<LocalId> of_listed;  // or no_local_id

  [[nodiscard]] static std::size_t size_of(const Corners& corners) {
    if constexpr (n_corners < 4) return std::size_t{n_corners};
    std::size_t n = n_corners;
    while (n > 3 && corners[n - 1] == no_local_id) --n;
    return n;
  }

 private:
  // Sides by lowest corner, as chains.
  struct Link {
    Corners corners;
    std::int32_t next;
  };

  [[nodiscard]] Corners canonical_of(std::span<const LocalId> side) const {
    Corners corners;
    corners.fill(no_local_id);
    std::ranges::copy(side, corners.begin());
    return canonical(corners, [&](LocalId v) { return vertices_.global_ids[index(v)]; });
  }
  [[nodiscard]] std::int32_t find_link(const Corners& corners) const {
    std::int32_t side = first_[index(corners[0])];
    while (side >= 0 && links_[static_cast<std::size_t>(side)].corners != corners)
      side = links_[static_cast<std::size_t>(side)].next;
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
  std::vector<std::int32_t> first_;  // by vertex: in links_, then in corners_
  std::vector<Link> links_;
  std::size_t n_own_ = 0;  // links of own cells come first
  std::vector<Corners> corners_;
  std::vector<bool> is_own_;
  std::vector<std::int32_t> place_of_;
};

template <int n_corners>
void MatchedSides<n_corners>::match(const EntityTable& cells, Dim dim) {
  first_.assign(vertices_.size(), -1);
  std::array<std::unique_ptr<CanonicalShapes<n_corners>>, n_cell_types> shapes;
  for (int t = 0; t < n_cell_types; ++t) {
    const auto type = static_cast<CellType>(t);
    if (has_fixed_sides(type) && topology(type).dim > dim)
      shapes[static_cast<std::size_t>(t)] = std::make_unique<CanonicalShapes<n_corners>>(type, dim);
  }
  if (cells.has_one_type && has_fixed_sides(cells.types[0])) {
    per_cell = shapes[static_cast<std::size_t>(cells.types[0])]->n_sides();
    of_cells.reserve(per_cell * cells.size());
    links_.reserve(per_cell * cells.size() / 2 + vertices_.size());  // more than there are, as a rule
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
      const std::size_t n = detail::n_corners(cells.type(c), nodes.size());
      for (std::size_t i = 0; i < n; ++i) ids[i] = vertices_.global_ids[index(nodes[i])];
      for (const auto& shape : shapes[static_cast<std::size_t>(cells.type(c))]->of(std::span(ids).first(n))) {
        Corners corners;
        for (std::size_t i = 0; i < n_corners; ++i)
          corners[i] = shape[i] < 0 ? no_local_id : nodes[static_cast<std::size_t>(shape[i])];
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
  of_listed.reserve(listed.size());
  for (std::size_t i = 0; i < listed.size(); ++i) {
    const auto nodes = listed.nodes_of(i);
    const auto corners = without_padding(nodes.first(detail::n_corners(listed.type(i), nodes.size())));
    of_listed.push_back(corners.size() > n_corners ? no_local_id : LocalId{find_link(canonical_of(corners))});
  }
}

template <int n_corners>
void MatchedSides<n_corners>::sort() {
  const std::vector<std::int32_t> by_id = order_of_runs(vertices_.global_ids);
  std::vector<std::int32_t> rank(by_id.size());  // of a vertex in the order of ids
  for (std::size_t r = 0; r < by_id.size(); ++r)
    rank[static_cast<std::size_t>(by_id[r])] = static_cast<std::int32_t>(r);
  struct Named {
    std::array<std::int32_t, n_corners - 1> others;  // ranks of all corners but the lowest
    std::int32_t side;
  };
  corners_.reserve(links_.size());
  is_own_.reserve(links_.size());
  place_of_.resize(links_.size());
  std::vector<Named> chain;
  for (const std::int32_t v : by_id) {
    std::int32_t& first = first_[static_cast<std::size_t>(v)];
    chain.clear();
    for (std::int32_t side = first; side >= 0;) {
      const Link& link = links_[static_cast<std::size_t>(side)];
      Named& one = chain.emplace_back();
      one.side = side;
      for (std::size_t i = 1; i < n_corners; ++i)
        one.others[i - 1] = link.corners[i] == no_local_id ? -1 : rank[index(link.corners[i])];
      side = link.next;
    }
    std::ranges::reverse(chain);  // the last one met stands first in a chain: so it is nearly sorted
    std::ranges::sort(chain, {}, &Named::others);
    first = static_cast<std::int32_t>(corners_.size());
    for (const Named& one : chain) {
      place_of_[static_cast<std::size_t>(one.side)] = static_cast<std::int32_t>(corners_.size());
      corners_.push_back(links_[static_cast<std::size_t>(one.side)].corners);
      is_own_.push_back(static_cast<std::size_t>(one.side) < n_own_);
    }
  }
  links_ = {};
}

}  // namespace barrio::mesh::detail
