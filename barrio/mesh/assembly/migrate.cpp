#include <algorithm>
#include <utility>

#include "barrio/mesh/assembly/cells_around.hpp"
#include "barrio/mesh/assembly/meet.hpp"
#include "barrio/mesh/assembly/migration.hpp"
#include "barrio/mesh/assembly/sides_along.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::mesh {
namespace {

using detail::MessageWriter;
using detail::SetRun;

constexpr RegionName migrate_region{"mesh.migrate"};

/// Members of each set on one dimension as runs of local ids.
std::vector<SetRun> runs_of(const std::vector<MeshSet>& sets, Dim dim) {
  std::vector<SetRun> runs;
  for (std::size_t s = 0; s < sets.size(); ++s) {
    const Range& members = dim == Dim::vertex ? sets[s].vertices : sets[s].entities[index(dim)];
    for (const LocalRange& run : members.runs())
      runs.push_back({static_cast<std::int32_t>(s), value(run.first), static_cast<std::int32_t>(run.size())});
  }
  return runs;
}

/// Owned entities by ascending global id: a merge of interior and fringe, each of which ascends.
std::vector<std::int32_t> by_global_id(const EntityTable& table) {
  std::vector<std::int32_t> order(table.n_owned);
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int32_t>(i);
  std::ranges::inplace_merge(order, order.begin() + table.n_interior, {},
                             [&](std::int32_t i) { return table.global_ids[i]; });
  return order;
}

void keep_shape(const EntityTable& from, EntityTable& to) {
  to.has_one_type = from.has_one_type;
  to.nodes_per_entity = from.nodes_per_entity;
  to.n_global = from.n_global;
  if (from.has_one_type) to.types = from.types;
  if (from.nodes_per_entity == 0) to.offsets.push_back(0);
}

}  // namespace

MeshMigration::MeshMigration(const Mesh::Storage& from, std::span<const Rank> to, exchange::Termination termination,
                             Mesh::Storage& out)
    : MeshAssembly(*from.context, from.options, out),
      old_(from),
      to_(to),
      reach_(*from.context, from.neighbours, {.termination = termination, .delivery = exchange::Delivery::by_rank}) {}

void MeshMigration::run() {
  const Region region(context_.trace(), migrate_region);
  out_.context = old_.context;
  out_.cell_dim = old_.cell_dim;
  out_.options = old_.options;
  out_.revision = old_.revision + 1;
  PartSets former = old_.part_sets;
  drop_part_sets(context_, former);
  out_.n_parts = context_.size();
  out_.parts = {LocalId{context_.rank()}, LocalId{context_.rank() + 1}};
  for (const MeshTag& tag : old_.tags) {
    out_.tags.push_back({tag.info, {}, tag.on_sets});
    for (int d = 0; d <= value(out_.cell_dim); ++d) old_tags_[d].emplace_back(tag, Dim{d}, old_.n_local(Dim{d}));
  }
  for (const auto& field : old_.fields) {
    const FieldValues none =
        std::visit([]<class T>(const std::vector<T>&) { return FieldValues(std::vector<T>()); }, field->values);
    out_.fields.push_back(std::make_unique<FieldData>(FieldData{field->name, field->dim, field->n_components, none}));
  }
  send_cells();
  take_cells();
  take_vertices();
  share_vertices();
  std::vector<SetInfo> infos;
  for (const MeshSet& set : old_.sets) infos.push_back(set.info);
  choose_ghosts(infos);
  add_ghosts();
  number_vertices();
  number_cells();
  for (int d = 1; d < value(out_.cell_dim); ++d)
    if (has_sides(Dim{d})) place_sides(Dim{d}, take_sides(Dim{d}));
  fill_sets(infos);
  take_values();
}

void MeshMigration::send_cells() {
  const EntityTable& cells = old_table(out_.cell_dim);
  const Rank me = context_.rank();
  PlacesByRank going;
  std::vector<std::int32_t> leaving;
  for (const std::int32_t c : by_global_id(cells)) {
    const Rank to = to_[c];
    if (to == me) continue;
    going.of(to).push_back(c);
    leaving.push_back(c);
  }
  std::ranges::sort(leaving);

  // Sides follow the cells that have them, and also stay if one of these stays.
  std::array<PlacesByRank, 4> sides_going;
  std::array<std::vector<std::int32_t>, 4> sides_leaving;
  std::array<std::vector<SetRun>, 4> side_sets;
  std::array<detail::SetsOfPlaces, 4> sets_of_sides;
  for (std::size_t d = 1; d < 4; ++d) {
    const Dim dim{static_cast<int>(d)};
    if (!has_sides(dim)) continue;
    const auto follow = [&](std::int32_t side, std::int32_t c) {
      const Rank to = to_[c];
      detail::add_once(to == me ? kept_sides_[d] : sides_going[d].of(to), side);
      if (to != me) detail::add_once(sides_leaving[d], side);
    };
    detail::for_each_side_and_cell(cells, cells.n_owned, old_.vertices.size(), old_table(dim), follow);
    side_sets[d] = runs_of(old_.sets, dim);
    sets_of_sides[d] = detail::SetsOfPlaces(side_sets[d], sides_leaving[d]);
  }

  const std::vector<Rank> vertex_owners = old_.vertices.owners.to_vector();
  const std::vector<SetRun> cell_runs = runs_of(old_.sets, out_.cell_dim);
  const std::vector<SetRun> vertex_runs = runs_of(old_.sets, Dim::vertex);
  detail::CellPacker packer({.cells = cells,
                             .parts = old_.cell_parts,
                             .vertex_ids = old_.vertices.global_ids,
                             .coordinates = old_.vertices.coordinates,
                             .vertex_owners = vertex_owners,
                             .sharers = {},
                             .rank_sets = old_.vertices.rank_sets,
                             .cell_sets = cell_runs,
                             .vertex_sets = vertex_runs},
                            std::move(leaving));
  auto round = reach_.begin_byte_round();
  MessageWriter message;
  for (std::size_t r = 0; r < going.ranks.size(); ++r) {
    message.clear();
    const auto carried = packer.put_into(message, going.places[r]);
    for (std::size_t d = 1; d < 4; ++d) {
      if (!has_sides(Dim{static_cast<int>(d)})) continue;
      detail::columns_of(sides_going[d].of(going.ranks[r]), old_.entities[d], sets_of_sides[d],
                         old_.vertices.global_ids)
          .put_into(message);
    }
    put_values(message, Dim::vertex, carried);
    for (std::size_t d = 1; d < 4; ++d)
      if (has_sides(Dim{static_cast<int>(d)}))
        put_values(message, Dim{static_cast<int>(d)}, sides_going[d].of(going.ranks[r]));
    put_values(message, out_.cell_dim, going.places[r]);
    std::ranges::copy(message.bytes(), round.allocate(going.ranks[r], message.bytes().size()).begin());
  }
  round.close();
  for (const auto& [from, bytes] : round.received()) {
    Arrival& arrival = arrivals_.emplace_back(bytes);
    for (std::size_t d = 1; d < 4; ++d)
      if (has_sides(Dim{static_cast<int>(d)})) arrival.sides[d].emplace_back(arrival.reader);
    read_values(arrival, Dim::vertex);
    for (int d = 1; d < 4; ++d)
      if (has_sides(Dim{d})) read_values(arrival, Dim{d});
    read_values(arrival, out_.cell_dim);
  }
}

void MeshMigration::take_cells() {
  // What stays and what each rank sent ascends with global ids.
  const EntityTable& old = old_table(out_.cell_dim);
  struct Cell {
    GlobalId id;
    Origin origin;
  };
  std::vector<Cell> order;
  order.reserve(with_room(old.n_owned));
  for (const std::int32_t c : by_global_id(old))
    if (to_[c] == context_.rank()) order.push_back({old.global_ids[c], {Origin::old_mesh, c}});
  const std::ptrdiff_t n_kept = order.size();
  for (std::size_t m = 0; m < arrivals_.size(); ++m)
    for (std::size_t i = 0; i < arrivals_[m].cells.ids.size(); ++i)
      order.push_back({arrivals_[m].cells.ids[i], {static_cast<std::int32_t>(m), static_cast<std::int32_t>(i)}});
  std::ranges::sort(order.begin() + n_kept, order.end(), {}, &Cell::id);
  std::ranges::inplace_merge(order, order.begin() + n_kept, {}, &Cell::id);

  std::vector<std::vector<std::size_t>> first_nodes;  // of the cells of messages
  for (const Arrival& arrival : arrivals_) {
    std::vector<std::size_t>& first = first_nodes.emplace_back(1, 0);
    for (const std::int32_t size : arrival.cells.sizes) first.push_back(first.back() + static_cast<std::size_t>(size));
  }
  EntityTable& table = cells();
  keep_shape(old, table);
  n_own_cells_ = order.size();
  table.global_ids.reserve(with_room(order.size()));
  std::vector<GlobalId> nodes;
  nodes.reserve(order.size() * std::max(table.nodes_per_entity, 4));
  std::vector<std::int32_t> place_of(old.size(), -1);
  std::vector<std::vector<std::int32_t>> place_of_arrived;
  for (const Arrival& arrival : arrivals_) place_of_arrived.emplace_back(arrival.cells.ids.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Origin from = order[i].origin;
    const std::size_t at = from.at;
    table.global_ids.push_back(order[i].id);
    cell_origins_.push_back(from);
    if (from.message == Origin::old_mesh) {
      place_of[at] = static_cast<std::int32_t>(i);
      if (!table.has_one_type) table.types.push_back(old.types[at]);
      for (const LocalId v : old.nodes_of(at)) nodes.push_back(old_.vertices.global_ids[index(v)]);
    } else {
      const std::size_t m = from.message;
      const detail::CellMessage& in = arrivals_[m].cells;
      place_of_arrived[m][at] = static_cast<std::int32_t>(i);
      if (!table.has_one_type) table.types.push_back(in.types[at]);
      const std::size_t n = table.nodes_per_entity;
      const std::size_t first = n > 0 ? at * n : first_nodes[m][at];
      const std::size_t end = n > 0 ? first + n : first_nodes[m][at + 1];
      for (std::size_t k = first; k < end; ++k) nodes.push_back(in.vertex_ids[in.nodes[k]]);
    }
    if (table.nodes_per_entity == 0) table.offsets.push_back(static_cast<std::int32_t>(nodes.size()));
  }
  out_.cell_parts.assign(order.size(), context_.rank());
  keep_sets(out_.cell_dim, place_of, cell_sets());
  for (std::size_t m = 0; m < arrivals_.size(); ++m)
    for (const SetRun& run : arrivals_[m].cells.cell_sets)
      for (std::int32_t i = run.first; i < run.first + run.count; ++i)
        detail::append(cell_sets(), run.set, place_of_arrived[m][i]);

  index_vertices(nodes);
}

void MeshMigration::keep_sets(Dim dim, std::span<const std::int32_t> place_of, std::vector<SetRun>& runs) const {
  for (const SetRun& run : runs_of(old_.sets, dim))
    for (std::int32_t i = run.first; i < run.first + run.count; ++i)
      if (place_of[i] >= 0) detail::append(runs, run.set, place_of[i]);
}

void MeshMigration::take_vertices() {
  const VertexTable& old = old_.vertices;
  coordinates_.reserve(3 * with_room(n_used_));
  coordinates_.resize(3 * n_used_);
  vertex_owners_.reserve(with_room(n_used_));
  vertex_owners_.resize(n_used_);
  vertex_origins_.resize(n_used_);
  std::vector<std::int32_t> place_of(old.size(), -1);
  for (std::size_t v = 0; v < old.size(); ++v) {
    const std::int32_t place = place_of[v] = index_.find(old.global_ids[v]);
    if (place < 0) continue;
    const std::size_t at = place;
    vertex_origins_[at] = {Origin::old_mesh, static_cast<std::int32_t>(v)};
    vertex_owners_[at] = old.owners[v];
    std::copy_n(&old.coordinates[3 * v], 3, &coordinates_[3 * at]);
  }
  keep_sets(Dim::vertex, place_of, set_runs_[0]);
  for (std::size_t m = 0; m < arrivals_.size(); ++m) {
    const detail::CellMessage& in = arrivals_[m].cells;
    for (std::size_t i = 0; i < in.vertex_ids.size(); ++i) {
      const std::size_t at = index_.find(in.vertex_ids[i]);
      if (vertex_origins_[at].message != Origin::owner) continue;  // known already
      vertex_origins_[at] = {static_cast<std::int32_t>(m), static_cast<std::int32_t>(i)};
      vertex_owners_[at] = in.vertex_owners[i];
      std::copy_n(&in.coordinates[3 * i], 3, &coordinates_[3 * at]);
    }
    for (const SetRun& run : in.vertex_sets) {
      const std::int32_t place = index_.find(in.vertex_ids[run.first]);
      if (vertex_origins_[place].message == static_cast<std::int32_t>(m)) set_runs_[0].push_back({run.set, place, 1});
    }
  }
}

void MeshMigration::share_vertices() {
  sharers_at_.reserve(with_room(n_used_));
  sharers_at_.assign(n_used_, -1);
  const std::vector<Rank> former_owners = std::exchange(vertex_owners_, {});
  vertex_owners_.reserve(with_room(n_used_));
  vertex_owners_.assign(n_used_, context_.rank());
  detail::meet_at_former_owners(
      reach_, index_.ids(), former_owners, [&](GlobalId id) { return index_.find(id); },
      [&](std::int32_t place, std::span<const Rank> ranks) {
        const std::size_t at = place;
        sharers_at_[at] = out_.vertices.rank_sets.add(ranks);
        vertex_owners_[at] = drawn_owner(Dim::vertex, index_.ids()[at], ranks);
      });
  out_.vertices.n_global = old_.vertices.n_global;
  out_.neighbours = out_.vertices.rank_sets.all_but(context_.rank());
}

MeshAssembly::HeldSides MeshMigration::take_sides(Dim dim) {
  const auto d = index(dim);
  const EntityTable& old = old_.entities[d];
  keep_shape(old, table(dim));
  HeldSides held;
  detail::IdIndex known;
  std::vector<Rank> former_owners;
  std::vector<Origin> origins;
  std::vector<LocalId> local;
  const auto take = [&](GlobalId id, CellType type, Rank owner, auto&& nodes, Origin origin) {
    local.clear();
    for (const GlobalId node : nodes) local.push_back(local_vertex(node));
    held.add(id, type, local, context_.rank());
    former_owners.push_back(owner);
    origins.push_back(origin);
  };
  std::vector<std::int32_t> place_of(old.size(), -1);
  std::vector<GlobalId> nodes;
  for (const std::int32_t side : kept_sides_[d]) {
    const std::size_t s = side;
    place_of[s] = known.add(old.global_ids[s]);
    nodes.clear();
    for (const LocalId v : old.nodes_of(s)) nodes.push_back(old_.vertices.global_ids[index(v)]);
    take(old.global_ids[s], old.type(s), old.owners[s], nodes, {Origin::old_mesh, side});
  }
  keep_sets(dim, place_of, held.sets);
  for (std::size_t m = 0; m < arrivals_.size(); ++m) {
    const detail::SideColumnsView& in = arrivals_[m].sides[d].front();
    in.for_each([&](std::size_t i, std::span<const GlobalId> of_side, std::span<const std::int32_t> sets) {
      const std::size_t n_before = known.size();
      const std::int32_t place = known.add(in.ids[i]);
      if (known.size() == n_before) return;
      take(in.ids[i], in.types[i], in.owners[i], of_side, {static_cast<std::int32_t>(m), static_cast<std::int32_t>(i)});
      for (const std::int32_t set : sets) held.sets.push_back({set, place, 1});
    });
  }
  detail::meet_at_former_owners(
      reach_, known.ids(), former_owners, [&](GlobalId id) { return known.find(id); },
      [&](std::int32_t place, std::span<const Rank> ranks) { set_sharers(held.sides[place], dim, ranks); });
  side_origins_[d] = {std::move(known), std::move(origins)};
  return held;
}

}  // namespace barrio::mesh
