#include <algorithm>
#include <array>
#include <utility>
#include <variant>

#include "barrio/mesh/assembly/offsets.hpp"
#include "barrio/mesh/migration/migration.hpp"
#include "barrio/mesh/tables/append_each.hpp"
#include "barrio/mesh/tables/set_runs.hpp"

// Append the columns of migrate_send.cpp to the entities that stayed. An entity that several ranks had may come more
// than once.

namespace barrio::mesh {

using detail::ColumnReader;
using detail::Selection;
using detail::SetRun;

namespace {

void append_moved(Range& to, const Range& places, std::size_t first) {
  for (const LocalRange& run : places.runs())
    to.insert({local_id(index(run.first) + first), local_id(index(run.last) + first)});
}

void append_values(MeshTag::Values& to, const MeshTag::Values& values, std::size_t first_place, bool length_varies) {
  append_moved(to.entities, values.entities, first_place);
  if (length_varies) {
    for (std::size_t i = 0; i < values.entities.size(); ++i) to.items.add(values.items.value(i, 0), true);
  } else {
    to.items.bytes.insert(to.items.bytes.end(), values.items.bytes.begin(), values.items.bytes.end());
  }
}

}  // namespace

void MeshMigration::take_shared(exchange::ByteRound& round) {
  ColumnReader in(round);
  while (const std::optional<Rank> from = in.next_rank()) {
    const bool has_cells = in.get<std::int64_t>()[0] != 0;
    for (int d = 0; d < value(cell_dim_); ++d)
      if (is_shared(Dim{d})) hear_sharer(*from, in, Dim{d});
    if (!has_cells) continue;
    const Arrived& arrived = arrived_.emplace_back(Arrived{*from, take_vertices(in)});
    for (int d = 1; d < value(cell_dim_); ++d)
      if (has_sides(Dim{d})) take_entities(in, Dim{d}, arrived.vertices);
  }
}

void MeshMigration::take_cells(exchange::ByteRound& round) {
  ColumnReader in(round);
  auto arrived = arrived_.begin();
  while (in.next_rank()) {
    const bool has_cells = in.get<std::int64_t>()[0] != 0;
    for (int d = 0; d < value(cell_dim_); ++d)
      if (is_shared(Dim{d})) hear_owner(in, Dim{d});
    if (has_cells) take_entities(in, cell_dim_, arrived++->vertices);
  }
}

void MeshMigration::hear_owner(ColumnReader& in, Dim dim) {
  Known& known = known_[index(dim)];
  std::vector<std::int32_t> places;
  for (const GlobalId id : in.get<GlobalId>()) places.push_back(known.places[known.ids.find(id)]);
  const auto [sets, numbers] = detail::SetColumns::read(in);
  for (std::size_t i = 0; i < places.size(); ++i) set_sharers(dim, places[i], sets[numbers[i]]);
}

void MeshMigration::hear_sharer(Rank from, ColumnReader& in, Dim dim) {
  Known& known = known_[index(dim)];
  const auto ids = in.get<GlobalId>();
  std::vector<Known::Told> told;
  for (const GlobalId id : ids) told.push_back({known.ids.find(id), from, -1});
  const auto [sets, numbers] = detail::SetColumns::read(in);
  std::vector<std::int32_t> number;  // in known.heard
  for (std::size_t s = 0; s < sets.size(); ++s) number.push_back(known.heard.add(sets[s]));
  for (std::size_t i = 0; i < told.size(); ++i) told[i].set = number[numbers[i]];
  known.told.insert(known.told.end(), told.begin(), told.end());
}

Selection MeshMigration::choose_new(Dim dim, std::span<const GlobalId> ids, std::vector<LocalId>& places) {
  Known& known = known_[index(dim)];
  std::size_t n = local_.size(dim);
  places.reserve(ids.size());
  Selection fresh;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const std::size_t number = known.ids.add(ids[i]);
    if (number == known.places.size()) known.places.push_back(-1);
    std::int32_t& place = known.places[number];
    if (place < 0) {
      place = static_cast<std::int32_t>(n++);
      fresh.add(local_id(i));
    }
    places.push_back(LocalId{place});
  }
  return fresh;
}

std::vector<LocalId> MeshMigration::take_vertices(ColumnReader& in) {
  const std::size_t first = local_.n_vertices();
  const auto ids = in.get<GlobalId>();
  std::vector<LocalId> places;
  const Selection fresh = choose_new(Dim::vertex, ids, places);
  fresh.append(local_.vertex_ids, ids);
  fresh.append(local_.coordinates, in.get<double>(), 3);
  take_users(in, Dim::vertex, fresh);
  take_values(in, Dim::vertex, fresh, first);
  return places;
}

void MeshMigration::take_entities(ColumnReader& in, Dim dim, std::span<const LocalId> vertices) {
  LocalEntities& all = local_.entities[index(dim)];
  const std::size_t first = all.size();
  const auto ids = in.get<GlobalId>();
  const std::size_t n = ids.size();
  std::vector<LocalId> places;
  Selection fresh;
  if (dim == cell_dim_) {
    fresh.add({LocalId{0}, local_id(n)});  // a cell is on one rank
  } else {
    fresh = choose_new(dim, ids, places);
  }
  fresh.append(all.ids, ids);
  if (!has_one_type_[index(dim)]) fresh.append(all.types, in.get<CellType>());
  const std::size_t width = all.nodes_per_entity;
  std::vector<std::size_t> offsets;  // of nodes in the message, if their number varies
  if (width == 0) {
    offsets.assign(1, 0);
    for (const std::int32_t size : in.get<std::int32_t>()) offsets.push_back(offsets.back() + size);
    fresh.for_each(
        [&](std::size_t i, std::int32_t /*place*/) { detail::append_row(all.offsets, offsets[i + 1] - offsets[i]); });
  }
  const auto nodes = in.get<std::int32_t>();
  const auto first_node = [&](LocalId i) { return width > 0 ? index(i) * width : offsets[index(i)]; };
  for (const LocalRange& run : fresh.runs()) {
    const std::size_t begin = first_node(run.first);
    detail::append_each(all.nodes, nodes.subspan(begin, first_node(run.last) - begin),
                        [&](std::int32_t v) { return vertices[v]; });
  }
  if (dim < cell_dim_) take_users(in, dim, fresh);
  take_values(in, dim, fresh, first);
}

void MeshMigration::take_users(ColumnReader& in, Dim dim, const Selection& fresh) {
  const auto read = detail::SetColumns::read(in);
  const RankSets& sets = read.first;
  const std::span<const std::int32_t> numbers = read.second;
  std::vector<std::int32_t> number;  // in the local mesh
  for (std::size_t s = 0; s < sets.size(); ++s) number.push_back(local_.rank_sets.add(sets[s]));
  fresh.for_each(
      [&](std::size_t i, std::int32_t /*place*/) { sharers(dim).push_back(numbers[i] < 0 ? -1 : number[numbers[i]]); });
}

void MeshMigration::take_values(ColumnReader& in, Dim dim, const Selection& fresh, std::size_t first_place) {
  const auto d = index(dim);
  std::vector<Range> members(local_.sets.size());
  for (const SetRun& run : in.get<SetRun>())
    members[run.set].insert({LocalId{run.first}, LocalId{run.first + run.count}});
  for (std::size_t s = 0; s < members.size(); ++s)
    append_moved(dim == Dim::vertex ? local_.sets[s].vertices : local_.sets[s].entities[d], fresh.keep(members[s]),
                 first_place);
  for (MeshTag& tag : local_.tags) {
    MeshTag::Values values;
    for (const LocalRange& run : in.get<LocalRange>()) values.entities.insert(run);
    const auto offsets = in.get<std::int64_t>();
    values.items.offsets.assign(offsets.begin(), offsets.end());
    const auto bytes = in.get<std::byte>();
    values.items.bytes.assign(bytes.begin(), bytes.end());
    append_values(tag.on[d], fresh.keep(values, tag.info), first_place, tag.info.length_varies);
  }
  for (FieldData& field : local_.fields) {
    if (field.dim != dim) continue;
    const std::size_t width = field.n_components;
    std::visit([&]<class T>(std::vector<T>& values) { fresh.append(values, in.get<T>(), width); }, field.values);
  }
}

}  // namespace barrio::mesh
