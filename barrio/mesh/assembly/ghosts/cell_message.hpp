#pragma once

#include <span>
#include <vector>

#include "barrio/mesh/assembly/sets_of_places.hpp"
#include "barrio/mesh/mesh.hpp"
#include "barrio/mesh/tables/message.hpp"

namespace barrio::mesh::detail {

/// Cells and their vertices as a rank knows them, by place. Borrowed.
struct CellSource {
  const EntityTable& cells;
  std::span<const std::int32_t> parts;
  std::span<const GlobalId> vertex_ids;
  std::span<const double> coordinates;
  std::span<const Rank> vertex_owners;
  std::span<const std::int32_t> sharers;  ///< of vertices: numbers in `rank_sets` or -1; empty if they are not sent
  const RankSets& rank_sets;
  std::span<const SetRun> cell_sets;
  std::span<const SetRun> vertex_sets;
};

/// Packs cells with their vertices and with the sets that contain them. All members are local.
class CellPacker {
 public:
  /// @param leaving  places of all cells that go anywhere, ascending
  CellPacker(const CellSource& source, std::vector<std::int32_t> leaving);
  CellPacker(CellPacker&&) = delete;

  /// Append the cells of one message.
  /// @return places of the vertices that go with them, in the order of the message; valid until the next call
  /// Cost: O(cells of the message)
  std::span<const std::int32_t> put_into(MessageWriter& out, std::span<const std::int32_t> cells);

 private:
  CellSource source_;
  std::vector<std::int32_t> leaving_;
  std::vector<std::int32_t> vertices_;  // of leaving cells, ascending; empty if no vertex is in a set
  SetsOfPlaces sets_of_cells_;
  SetsOfPlaces sets_of_vertices_;
  std::vector<std::int32_t> place_in_message_;
  std::vector<std::int32_t> carried_;
};

/// Cells with their vertices and sets, as read from a message.
struct CellMessage {
  std::span<const GlobalId> vertex_ids;
  std::span<const Rank> vertex_owners;
  std::span<const double> coordinates;
  std::span<const std::int32_t> sharers;  ///< numbers in rank_sets or -1; empty if they were not sent
  RankSets rank_sets;
  std::span<const SetRun> vertex_sets;
  std::span<const GlobalId> ids;
  std::span<const std::int32_t> parts;
  std::span<const CellType> types;      ///< empty if the mesh has one type
  std::span<const std::int32_t> sizes;  ///< empty if all cells have the same number of nodes
  std::span<const std::int32_t> nodes;  ///< places in vertex_ids
  std::span<const SetRun> cell_sets;

  explicit CellMessage(MessageReader& in);  // advances the reader past it
};

}  // namespace barrio::mesh::detail
