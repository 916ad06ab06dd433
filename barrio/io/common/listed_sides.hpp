#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "barrio/mesh/tables.hpp"

namespace barrio::io::detail {

/// A side of a cell, named by a boundary set.
struct ListedSide {
  std::int64_t position = 0;  ///< in the file's list of all sides, within this rank's slab
  std::int32_t set = 0;       ///< index in MeshTables::sets
  mesh::CellType type = mesh::CellType::quad;
  std::uint8_t n_nodes = 0;
  std::array<GlobalId, 9> nodes{};  ///< corners first
};

/// Indices, in a cell, of the nodes of one of its sides: corners, then mid-side nodes if the cell has them.
struct SidePlaces {
  mesh::CellType type = mesh::CellType::edge;
  std::vector<std::int8_t> places;
};
/// Return the nodes of a side. @param n_nodes  of the cell @param side  0-based, as `mesh::topology` counts @pre the
/// side exists
SidePlaces side_places(mesh::CellType type, int n_nodes, int side);
/// Count the sides of a type.
int n_sides(mesh::CellType type) noexcept;

/// Add sides to the tables as cells, and to their sets as members. Collective.
/// Each distinct side is listed once, in the order of first appearance. A side that the tables already have, such as a
/// shell, is not listed again. New blocks follow those of their dimension, so no row changes; columns of tags follow
/// their blocks.
/// @param mine  sides with positions in this rank's slab of `positions`
/// Cost: two routed exchanges of the sides; existing cells of their dimension join the first one.
void list_sides(mpi::Context& context, mesh::MeshTables& tables, const std::vector<ListedSide>& mine,
                const Slabs& positions);

/// Append a set without members. Local. @return its index in MeshTables::sets
std::int32_t add_set(mesh::MeshTables& tables, mesh::SetInfo info);

/// Append rows to this rank's share of a set, as runs. @param rows  in any order, repetitions allowed
void add_members(mesh::MeshTables& tables, std::int32_t set, mesh::Dim dim, std::vector<std::int64_t> rows);

}  // namespace barrio::io::detail
