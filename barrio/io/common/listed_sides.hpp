#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "barrio/mesh/tables.hpp"

namespace barrio::io::detail {

/// A side of a cell that a boundary set names.
struct ListedSide {
  std::int64_t position = 0;  ///< in the list of all sides of the file; of this rank's slab of it
  std::int32_t set = 0;       ///< place in MeshTables::sets
  mesh::CellType type = mesh::CellType::quad;
  std::uint8_t n_nodes = 0;
  std::array<GlobalId, 9> nodes{};  ///< corners first
};

/// Places, in a cell, of the nodes of one of its sides: corners, then mid-side nodes if the cell has them.
struct SidePlaces {
  mesh::CellType type = mesh::CellType::edge;
  std::vector<std::int8_t> places;
};
/// @param n_nodes  of the cell @param side  0-based, as `mesh::topology` counts @pre the side exists
SidePlaces side_places(mesh::CellType type, int n_nodes, int side);
/// Number of sides of a type.
int n_sides(mesh::CellType type) noexcept;

/// Make sides cells of the tables, and members of their sets. Collective.
/// Each distinct side is listed once, in the order in which the sides appear; one that the tables have already, such as
/// a shell, is not listed again. New blocks stand behind those of their dimension, so no row changes; columns of tags
/// follow their blocks.
/// @param mine  sides with positions in this rank's slab of `positions`
/// Cost: two routed exchanges of the sides; if cells of their dimension exist, these go along in the first.
void list_sides(mpi::Context& context, mesh::MeshTables& tables, const std::vector<ListedSide>& mine,
                const Slabs& positions);

/// Append rows to this rank's share of a set as runs. @param rows  in any order, repetitions allowed
void add_members(mesh::MeshTables& tables, std::int32_t set, mesh::Dim dim, std::vector<std::int64_t> rows);

}  // namespace barrio::io::detail
