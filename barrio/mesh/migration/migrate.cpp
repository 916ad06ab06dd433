#include <algorithm>
#include <utility>

#include "barrio/base/memory.hpp"
#include "barrio/base/sort_unique.hpp"
#include "barrio/mesh/assembly/adoption.hpp"
#include "barrio/mesh/assembly/sides_along.hpp"
#include "barrio/mesh/migration/migration.hpp"

namespace barrio::mesh {
namespace {

constexpr RegionName migrate_region{"mesh.migrate"};

}  // namespace

MeshMigration::MeshMigration(Mesh::Storage& from, std::span<const Rank> to, exchange::Termination termination)
    : old_(from),
      to_(to),
      me_(from.context->rank()),
      cell_dim_(from.cell_dim),
      reach_(*from.context, from.neighbours, {.termination = termination, .delivery = exchange::Delivery::by_rank}) {
  for (std::size_t d = 0; d < 4; ++d) {
    is_listed_[d] = from.halos[d] != nullptr;
    has_one_type_[d] = from.entities[d].has_one_type;
  }
}

LocalMesh MeshMigration::run() {
  const Region region(old_.context->trace(), migrate_region);
  drop_part_sets(*old_.context, old_.part_sets);
  plan();
  const std::size_t n_vertices = old_.vertices.size();
  local_ = MeshAssembly::taken_apart(old_);
  free_memory(local_.cell_parts);  // each rank becomes one part
  {
    auto round = reach_.begin_byte_round();
    send_shared(round);
    round.close();
    place_of_vertex_ = kept_[0].places(n_vertices);
    for (int d = 0; d < value(cell_dim_); ++d)
      if (is_shared(Dim{d})) keep(Dim{d});
    take_shared(round);
  }
  const Answers answers = find_sharers();
  auto round = reach_.begin_byte_round();
  send_cells(round, answers);
  round.close();
  keep(cell_dim_);
  take_cells(round);
  return std::move(local_);
}

void MeshMigration::keep(Dim dim) {
  MeshAssembly::keep(local_, dim, kept_[index(dim)], place_of_vertex_);
  if (dim < cell_dim_) keep_sharers(dim, sharers(dim));
  if (dim == Dim::vertex || has_one_type_[index(dim)]) return;
  LocalEntities& all = local_.entities[index(dim)];
  all.types.resize(all.size());  // keep leaves a single entry as it is, even if its entity left
}

void MeshMigration::plan() {
  const EntityTable& cells = old_.entities[index(cell_dim_)];
  std::vector<Rank> ranks;
  for (std::size_t c = 0; c < to_.size(); ++c)
    if (to_[c] != me_ && (ranks.empty() || ranks.back() != to_[c])) ranks.push_back(to_[c]);
  sort_unique(ranks);
  for (const Rank rank : ranks) going_.push_back({rank, {}});

  // Runs of cells with the same destination.
  users_[0] = detail::Users(old_.vertices.size());
  const auto d = index(cell_dim_);
  for (std::size_t c = 0; c < to_.size();) {
    const std::size_t first = c;
    const Rank rank = to_[c];
    const std::int32_t alone = users_[0].alone(rank);
    for (; c < to_.size() && to_[c] == rank; ++c)
      for (const LocalId v : cells.nodes_of(c)) users_[0].add(index(v), alone, rank);
    const std::size_t r = std::ranges::lower_bound(ranks, rank) - ranks.begin();
    (rank == me_ ? kept_[d] : going_[r].chosen[d]).add({local_id(first), local_id(c)});
  }
  select(Dim::vertex, old_.vertices);
  for (int side = 1; side < value(cell_dim_); ++side) {
    if (!has_sides(Dim{side})) continue;
    const EntityTable& table = old_.entities[side];
    users_[side] = detail::Users(table.size());
    detail::for_each_side_and_cell(cells, to_.size(), old_.vertices.size(), table, [&](std::int32_t s, std::int32_t c) {
      users_[side].add(s, users_[side].alone(to_[c]), to_[c]);
    });
    select(Dim{side}, table);
  }
}

template <class Table>
void MeshMigration::select(Dim dim, const Table& table) {
  const auto d = index(dim);
  const detail::Users& users = users_[d];
  struct Ways {
    bool stays = false;
    std::vector<std::size_t> going;
  };
  std::vector<Ways> ways(users.sets().size());
  for (std::size_t set = 0; set < ways.size(); ++set) {
    for (const Rank rank : users.sets()[set]) {
      if (rank == me_) {
        ways[set].stays = true;
      } else {
        ways[set].going.push_back(std::ranges::lower_bound(going_, rank, {}, &Going::to) - going_.begin());
      }
    }
  }
  for (std::size_t i = 0; i < users.size();) {
    const std::int32_t set = users.set_of(i);
    const std::size_t first = i;
    while (i < users.size() && users.set_of(i) == set) ++i;
    if (set < 0) continue;
    const LocalRange run{local_id(first), local_id(i)};
    if (ways[set].stays) kept_[d].add(run);
    for (const std::size_t r : ways[set].going) going_[r].chosen[d].add(run);
  }
  Known& known = known_[d];
  known.former_sets = table.rank_sets;
  known.former = table.sharer_sets;
  known.is_shared.assign(table.size(), false);
  for (const LocalId id : table.shared) {
    known.ids.add(table.global_ids[index(id)]);
    known.owners.push_back(table.owners[index(id)]);
    known.users.push_back(users.set_of(index(id)));
    known.is_shared[index(id)] = true;
    known.places.push_back(value(id));  // a local id until the mesh is taken apart
    const auto of_id = users.of(index(id));
    if (of_id.size() > 1 || of_id[0] != me_) known.moved.push_back(static_cast<std::int32_t>(known.places.size()) - 1);
  }
  std::ranges::stable_sort(known.moved, {}, [&](std::int32_t i) { return known.owners[i]; });
}

void MeshMigration::keep_sharers(Dim dim, std::vector<std::int32_t>& sharers) {
  const auto d = index(dim);
  const detail::Users& users = users_[d];
  Known& known = known_[d];
  sharers.assign(kept_[d].size(), -1);
  std::vector<std::int32_t> number(users.sets().size(), -2);  // in the local mesh; -2: not looked up yet
  kept_[d].for_each([&](std::size_t id, std::int32_t place) {
    const std::int32_t set = users.set_of(id);
    if (number[set] == -2) {
      const auto ranks = users.sets()[set];
      number[set] = ranks.size() > 1 ? local_.rank_sets.add(ranks) : -1;
    }
    sharers[place] = number[set];
  });
  const std::vector<std::int32_t> place_of = kept_[d].places(users.size());
  number.assign(known.former_sets.size(), -2);
  for (std::size_t i = 0; i < known.places.size(); ++i) {
    std::int32_t& place = known.places[i];
    place = place_of[place];
    if (place < 0) continue;
    const std::int32_t former = known.former[i];
    if (number[former] == -2) number[former] = local_.rank_sets.add(known.former_sets[former]);
    sharers[place] = number[former];  // unless the owner reports others
  }
}

MeshMigration::Answers MeshMigration::find_sharers() {
  Answers answers;
  std::vector<Rank> now;
  std::vector<Rank> must_hear;
  for (int d = 0; d < value(cell_dim_); ++d) {
    Known& known = known_[d];
    std::ranges::sort(known.told, {}, [](const Known::Told& told) { return std::pair(told.number, told.from); });
    auto told = known.told.begin();
    for (std::int32_t i = 0; i < std::ssize(known.former); ++i) {
      if (known.owners[i] != me_) continue;
      const auto former = known.former_sets[known.former[i]];
      now.clear();
      must_hear.clear();  // even if the sharers are the same: ranks that did not keep the entity
      for (const Rank rank : former) {
        std::span<const Rank> part(&rank, 1);
        if (rank == me_) {
          part = users_[d].sets()[known.users[i]];
        } else if (told != known.told.end() && told->number == i && told->from == rank) {
          part = known.heard[told++->set];
        }
        now.insert(now.end(), part.begin(), part.end());
        if (!std::ranges::binary_search(part, rank)) must_hear.push_back(rank);
      }
      sort_unique(now);
      if (std::ranges::binary_search(now, me_)) set_sharers(Dim{d}, known.places[i], now);
      const bool is_as_before = std::ranges::equal(now, former);
      for (const Rank rank : now)
        if (rank != me_ && (!is_as_before || std::ranges::binary_search(must_hear, rank)))
          answers.all[d].push_back({rank, known.ids.ids()[i], answers.sets[d].add(now)});
    }
    std::ranges::stable_sort(answers.all[d], {}, &Answer::to);
  }
  return answers;
}

Mesh MeshAssembly::moved(Mesh::Storage& old, std::span<const Rank> to, exchange::Termination termination) {
  mpi::Context& context = *old.context;
  MeshAdoption::Shape shape = MeshAdoption::shape_of(old);
  LocalMesh local = MeshMigration(old, to, termination).run();
  Mesh mesh(std::make_unique<Mesh::Storage>());
  MeshAdoption adoption(context, local, *mesh.storage_);
  adoption.trust(std::move(shape));
  adoption.run();
  return mesh;
}

}  // namespace barrio::mesh
