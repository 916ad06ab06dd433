#include "barrio/mesh/assembly/ghosts/cell_message.hpp"

#include <algorithm>
#include <utility>

namespace barrio::mesh::detail {

CellPacker::CellPacker(const CellSource& source, std::vector<std::int32_t> leaving)
    : source_(source),
      leaving_(std::move(leaving)),
      sets_of_cells_(source.cell_sets, leaving_),
      place_in_message_(source.vertex_ids.size(), -1) {
  if (source.vertex_sets.empty()) return;
  constexpr std::int32_t seen = -2;
  for (const std::int32_t c : leaving_)
    for (const LocalId node : source.cells.nodes_of(c))
      if (std::exchange(place_in_message_[index(node)], seen) != seen) vertices_.push_back(value(node));
  for (const std::int32_t v : vertices_) place_in_message_[v] = -1;
  std::ranges::sort(vertices_);
  sets_of_vertices_ = SetsOfPlaces(source.vertex_sets, vertices_);
}

std::span<const std::int32_t> CellPacker::put_into(MessageWriter& out, std::span<const std::int32_t> cells) {
  const EntityTable& table = source_.cells;
  carried_.clear();
  std::vector<std::int32_t> nodes;
  std::vector<std::int32_t> sizes;
  std::vector<CellType> types;
  std::vector<GlobalId> ids;
  std::vector<std::int32_t> parts;
  std::vector<SetRun> cell_sets;
  for (std::int32_t i = 0; i < std::ssize(cells); ++i) {
    const std::size_t c = cells[i];
    const auto of_cell = table.nodes_of(c);
    for (const LocalId node : of_cell) {
      std::int32_t& at = place_in_message_[index(node)];
      if (at < 0) {
        at = static_cast<std::int32_t>(carried_.size());
        carried_.push_back(value(node));
      }
      nodes.push_back(at);
    }
    if (table.nodes_per_entity == 0) sizes.push_back(static_cast<std::int32_t>(of_cell.size()));
    if (!table.has_one_type) types.push_back(table.types[c]);
    ids.push_back(table.global_ids[c]);
    parts.push_back(source_.parts[c]);
    for (const std::int32_t set : sets_of_cells_.of(cells[i])) append(cell_sets, set, i);
  }
  std::vector<GlobalId> vertex_ids;
  std::vector<Rank> owners;
  std::vector<double> coordinates;
  std::vector<std::int32_t> sharers;
  std::vector<SetRun> vertex_sets;
  RankSets carried_sets;
  for (std::int32_t i = 0; i < std::ssize(carried_); ++i) {
    const std::size_t v = carried_[i];
    place_in_message_[v] = -1;
    vertex_ids.push_back(source_.vertex_ids[v]);
    owners.push_back(source_.vertex_owners[v]);
    for (std::size_t k = 0; k < 3; ++k) coordinates.push_back(source_.coordinates[3 * v + k]);
    if (!source_.sharers.empty())
      sharers.push_back(source_.sharers[v] < 0 ? -1 : carried_sets.add(source_.rank_sets[source_.sharers[v]]));
    for (const std::int32_t set : sets_of_vertices_.of(carried_[i])) vertex_sets.push_back({set, i, 1});
  }
  out.put(vertex_ids);
  out.put(owners);
  out.put(coordinates);
  out.put(sharers);
  put(out, carried_sets);
  out.put(vertex_sets);
  out.put(ids);
  out.put(parts);
  out.put(types);
  out.put(sizes);
  out.put(nodes);
  out.put(cell_sets);
  return carried_;
}

CellMessage::CellMessage(MessageReader& in)
    : vertex_ids(in.get<GlobalId>()),
      vertex_owners(in.get<Rank>()),
      coordinates(in.get<double>()),
      sharers(in.get<std::int32_t>()),
      rank_sets(take_rank_sets(in)),
      vertex_sets(in.get<SetRun>()),
      ids(in.get<GlobalId>()),
      parts(in.get<std::int32_t>()),
      types(in.get<CellType>()),
      sizes(in.get<std::int32_t>()),
      nodes(in.get<std::int32_t>()),
      cell_sets(in.get<SetRun>()) {}

}  // namespace barrio::mesh::detail
