#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "barrio/mesh/assembly/ghosts/cells_around.hpp"
#include "barrio/mesh/assembly/ghosts/side_message.hpp"
#include "barrio/mesh/assembly/sets_of_places.hpp"

// Listed sides follow the cells that have them.

namespace barrio::mesh::detail {

/// Call `visit(side, cell)` for each cell that has a listed side, by ascending side, then cell. Local.
/// @param n_cells  number of cells to search, the first ones of the table
/// @param sides  with size(), type(i) and nodes_of(i), the corners first
template <class Sides, class Visit>
void for_each_side_and_cell(const EntityTable& cells, std::size_t n_cells, std::size_t n_vertices, const Sides& sides,
                            Visit&& visit) {
  std::vector<LocalId> anchors;
  anchors.reserve(sides.size());
  for (std::size_t s = 0; s < sides.size(); ++s) anchors.push_back(sides.nodes_of(s)[0]);
  const CellsAround around(cells, n_cells, anchors, n_vertices);
  for (std::int32_t s = 0; s < std::ssize(sides); ++s)
    for_each_cell_with(cells, around, anchors[s], sides.type(s), sides.nodes_of(s),
                       [&](std::int32_t cell) { visit(s, cell); });
}

/// Add a place to an ascending list, unless it is there.
inline void add_once(std::vector<std::int32_t>& places, std::int32_t place) {
  if (places.empty() || places.back() != place) places.push_back(place);
}

/// Collect the sides that go to one rank, for a message. Local.
/// @param places  ascending
/// @param sets  of the sides
/// @param vertex_ids  by local id
template <class Sides>
SideColumns columns_of(std::span<const std::int32_t> places, const Sides& sides, const SetsOfPlaces& sets,
                       std::span<const GlobalId> vertex_ids) {
  SideColumns out;
  for (const std::int32_t place : places) {
    for (const std::int32_t set : sets.of(place)) append(out.sets, set, out.next_place());
    const auto nodes = sides.nodes_of(place);
    out.add(sides.id(place), sides.type(place), sides.owner(place), nodes.size());
    for (const LocalId v : nodes) out.nodes.push_back(vertex_ids[index(v)]);
  }
  return out;
}

}  // namespace barrio::mesh::detail
