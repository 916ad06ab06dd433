#include <algorithm>
#include <array>
#include <variant>

#include "barrio/base/sort_unique.hpp"
#include "barrio/mesh/migration/migration.hpp"
#include "barrio/mesh/tables/set_runs.hpp"

// Messages to a rank, column by column. First round: reports of former sharers on the interface, vertices, listed
// sides.
// Second round: answers of owners, cells. Entities are followed by their sets, tags and fields.

namespace barrio::mesh {

using detail::ColumnWriter;
using detail::Selection;
using detail::SetRun;

void MeshMigration::send_shared(exchange::ByteRound& round) const {
  // Owners must hear of a former sharer whose cells do not all stay.
  std::vector<Rank> ranks;
  for (const Going& going : going_) ranks.push_back(going.to);
  for (const Known& known : known_)
    for (const std::int32_t i : known.moved)
      if (ranks.empty() || ranks.back() != known.owners[i]) ranks.push_back(known.owners[i]);
  sort_unique(ranks);
  std::erase(ranks, me_);

  std::vector<std::int32_t> place_in_message(local_.n_vertices());
  auto next = going_.begin();
  for (const Rank rank : ranks) {
    ColumnWriter out(round, rank);
    const bool gets_cells = next != going_.end() && next->to == rank;
    out.room<std::int64_t>(1)[0] = gets_cells ? 1 : 0;
    for (int d = 0; d < value(cell_dim_); ++d)
      if (is_shared(Dim{d})) tell_owner(out, Dim{d}, rank);
    if (!gets_cells) continue;
    const detail::Selections& going = next++->chosen;
    going[0].for_each([&](std::size_t v, std::int32_t place) { place_in_message[v] = place; });
    send_vertices(out, going[0]);
    for (int d = 1; d < value(cell_dim_); ++d)
      if (has_sides(Dim{d})) send_entities(out, Dim{d}, going[d], place_in_message);
  }
}

void MeshMigration::send_cells(exchange::ByteRound& round, const Answers& answers) const {
  std::vector<Rank> ranks;
  for (const Going& going : going_) ranks.push_back(going.to);
  for (const std::vector<Answer>& of_dim : answers.all)
    for (const Answer& answer : of_dim) ranks.push_back(answer.to);
  sort_unique(ranks);

  std::vector<std::int32_t> place_in_message(place_of_vertex_.size());
  auto next = going_.begin();
  for (const Rank rank : ranks) {
    ColumnWriter out(round, rank);
    const bool gets_cells = next != going_.end() && next->to == rank;
    out.room<std::int64_t>(1)[0] = gets_cells ? 1 : 0;
    for (int d = 0; d < value(cell_dim_); ++d) {
      if (!is_shared(Dim{d})) continue;
      detail::SetColumns sharers;
      std::vector<GlobalId> ids;
      for (const Answer& answer : std::ranges::equal_range(answers.all[d], rank, {}, &Answer::to)) {
        ids.push_back(answer.id);
        sharers.add(answers.sets[d], answer.set);
      }
      out.put(ids);
      sharers.put_into(out);
    }
    if (!gets_cells) continue;
    const detail::Selections& going = next++->chosen;
    going[0].for_each([&](std::size_t v, std::int32_t place) { place_in_message[v] = place; });
    send_entities(out, cell_dim_, going[index(cell_dim_)], place_in_message);
  }
}

void MeshMigration::tell_owner(ColumnWriter& out, Dim dim, Rank owner) const {
  const auto d = index(dim);
  const Known& known = known_[d];
  std::vector<GlobalId> ids;
  detail::SetColumns users;
  const auto of_owner =
      std::ranges::equal_range(known.moved, owner, {}, [&](std::int32_t i) { return known.owners[i]; });
  for (const std::int32_t i : of_owner) {
    ids.push_back(known.ids.ids()[i]);
    users.add(users_[d].sets(), known.users[i]);
  }
  out.put(ids);
  users.put_into(out);
}

void MeshMigration::send_vertices(ColumnWriter& out, const Selection& going) const {
  going.copy(std::span<const GlobalId>(local_.vertex_ids), out.room<GlobalId>(going.size()));
  going.copy(std::span<const double>(local_.coordinates), out.room<double>(3 * going.size()), 3);
  send_users(out, Dim::vertex, going);
  send_values(out, Dim::vertex, going);
}

void MeshMigration::send_entities(ColumnWriter& out, Dim dim, const Selection& going,
                                  std::span<const std::int32_t> place_in_message) const {
  const LocalEntities& all = local_.entities[index(dim)];
  going.copy(std::span<const GlobalId>(all.ids), out.room<GlobalId>(going.size()));
  if (!has_one_type_[index(dim)]) going.copy(std::span<const CellType>(all.types), out.room<CellType>(going.size()));
  std::size_t n_nodes = going.size() * all.nodes_per_entity;
  if (all.nodes_per_entity == 0) {
    const std::span<std::int32_t> sizes = out.room<std::int32_t>(going.size());
    going.for_each([&](std::size_t i, std::int32_t place) {
      sizes[place] = static_cast<std::int32_t>(all.nodes_of(i).size());
      n_nodes += all.nodes_of(i).size();
    });
  }
  auto to = out.room<std::int32_t>(n_nodes).begin();
  for (const LocalRange& run : going.runs()) {
    const LocalId* const first = all.nodes_of(index(run.first)).data();
    const auto last = all.nodes_of(index(run.last) - 1);
    to = std::transform(first, last.data() + last.size(), to, [&](LocalId v) { return place_in_message[index(v)]; });
  }
  if (dim < cell_dim_) send_users(out, dim, going);
  send_values(out, dim, going);
}

void MeshMigration::send_users(ColumnWriter& out, Dim dim, const Selection& going) const {
  const auto d = index(dim);
  const detail::Users& users = users_[d];
  detail::SetColumns columns;
  going.for_each([&](std::size_t i, std::int32_t /*place*/) {
    // The owner of a shared entity reports its users.
    const std::int32_t set = users.set_of(i);
    columns.add(users.sets(), known_[d].is_shared[i] || users.sets()[set].size() < 2 ? -1 : set);
  });
  columns.put_into(out);
}

void MeshMigration::send_values(ColumnWriter& out, Dim dim, const Selection& going) const {
  const auto d = index(dim);
  std::vector<SetRun> members;
  for (std::int32_t s = 0; s < std::ssize(local_.sets); ++s) {
    const MeshSet& set = local_.sets[s];
    const Range chosen = going.keep(dim == Dim::vertex ? set.vertices : set.entities[d]);
    for (const LocalRange& run : chosen.runs())
      members.push_back({s, value(run.first), static_cast<std::int32_t>(run.size())});
  }
  out.put(members);
  for (const MeshTag& tag : local_.tags) {
    const MeshTag::Values chosen = going.keep(tag.on[d], tag.info);
    out.put(chosen.entities.runs());
    out.put(chosen.items.offsets);
    out.put(chosen.items.bytes);
  }
  for (const FieldData& field : local_.fields) {
    if (field.dim != dim) continue;
    const std::size_t width = field.n_components;
    std::visit(
        [&]<class T>(const std::vector<T>& values) {
          going.copy(std::span<const T>(values), out.room<T>(going.size() * width), width);
        },
        field.values);
  }
}

}  // namespace barrio::mesh
