#include "barrio/mesh/detail/builder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <tuple>

#include "barrio/base/error.hpp"
#include "barrio/base/hash.hpp"
#include "barrio/mesh/detail/outbox.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::mesh {
namespace {

using detail::WordReader;
using detail::WordWriter;

constexpr RegionName cells_region{"mesh.cells"};
constexpr RegionName share_region{"mesh.share"};
constexpr RegionName ghost_region{"mesh.ghosts"};
constexpr RegionName number_region{"mesh.number"};

template <class T>
void sort_unique(std::vector<T>& items) {
  std::sort(items.begin(), items.end());
  items.erase(std::unique(items.begin(), items.end()), items.end());
}

}  // namespace

MeshBuilder::MeshBuilder(mpi::Context& context, const MeshTables& tables, BuildOptions options, Mesh::Storage& out)
    : context_(context), tables_(tables), options_(options), out_(out) {
  if (options.ghost_layers < 0 || options.ghost_layers > 1) {
    throw AgreedError(ErrorCode::usage, {.subject = fmt::format("{} ghost layers", options.ghost_layers),
                                         .cause = "this version makes one layer or none",
                                         .remedy = "ask for 0 or 1"});
  }
  for (const CellBlock& block : tables.blocks) {
    if (block.type == CellType::polyhedron && block.rows.n_rows > 0) {
      throw AgreedError(ErrorCode::bad_input,
                        {.subject = fmt::format("{} polyhedra", block.rows.n_rows),
                         .cause = "are defined by faces, and distributed meshes of polyhedra are not supported",
                         .remedy = "split them into tets, pyramids, prisms and hexes"});
    }
  }
}

void MeshBuilder::build() {
  out_.context = &context_;
  out_.cell_dim = tables_.top_dim();
  out_.ghost_layers = options_.ghost_layers;
  out_.n_parts = tables_.n_parts;
  const Slabs slices{tables_.n_parts, context_.size()};
  out_.parts = {LocalId{static_cast<std::int32_t>(slices.first(context_.rank()))},
                LocalId{static_cast<std::int32_t>(slices.first(context_.rank() + 1))}};
  members_ = detail::memberships_at_home(context_, tables_);
  fetch_cells();
  fetch_vertices();
  fetch_ghosts();
  number_vertices();
  number_cells();
  for (int d = 1; d < value(out_.cell_dim); ++d) fetch_sides(Dim{d});
  fill_sets();
}

void MeshBuilder::fetch_cells() {
  const Region region(context_.trace(), cells_region);
  const Dim top = tables_.top_dim();
  const Slabs slices{tables_.n_parts, context_.size()};
  detail::Outbox outbox;
  std::size_t at = 0;
  for (std::size_t b = 0; b < tables_.blocks.size(); ++b) {
    const CellBlock& block = tables_.blocks[b];
    if (topology(block.type).dim != top) continue;
    const std::int64_t first = tables_.first_row(b) + block.rows.first(context_.rank());
    for (std::size_t i = 0; i < block.rows.size(context_.rank()); ++i, ++at) {
      const std::int64_t row = first + static_cast<std::int64_t>(i);
      const auto sets = detail::of_row(members_, top, row);
      const auto nodes = block.cell(i);
      auto& record = outbox.begin(slices.rank_of(tables_.parts[at]));
      record.push_back(row);
      record.push_back(tables_.parts[at]);
      record.push_back(static_cast<std::int64_t>(block.type));
      record.push_back(static_cast<std::int64_t>(nodes.size()));
      for (const GlobalId node : nodes) record.push_back(barrio::value(node));
      record.push_back(static_cast<std::int64_t>(sets.size()));
      for (const detail::Membership& m : sets) record.push_back(m.set);
    }
  }
  const auto received = exchange::route(context_, outbox.parcels());
  for (WordReader in(received.items); !in.done();) {
    Cell cell{};
    cell.id = in.get_id();
    cell.owner = context_.rank();
    cell.part = static_cast<std::int32_t>(in.get());
    cell.type = static_cast<CellType>(in.get());
    cell.n_nodes = static_cast<std::uint32_t>(in.get());
    cell.first_node = nodes_.size();
    for (const std::int64_t node : in.get(cell.n_nodes)) nodes_.push_back(GlobalId{node});
    const auto n_sets = static_cast<std::size_t>(in.get());
    for (const std::int64_t set : in.get(n_sets))
      set_members_.push_back({static_cast<std::int32_t>(set), top, cell.id});
    cells_.push_back(cell);
  }
  std::sort(cells_.begin(), cells_.end(), [](const Cell& a, const Cell& b) { return a.id < b.id; });
  n_local_cells_ = cells_.size();
}

void MeshBuilder::fetch_vertices() {
  const Region region(context_.trace(), share_region);
  std::vector<GlobalId> wanted = nodes_;
  sort_unique(wanted);
  std::vector<Rank> to;
  to.reserve(wanted.size());
  for (const GlobalId id : wanted) to.push_back(tables_.vertices.rank_of(id));
  const auto asked = exchange::route(context_, exchange::pack_by_rank<GlobalId>(to, wanted));

  // Who asks for a vertex uses it: the requests that meet at its home are its sharers.
  std::vector<Use>& uses = uses_;
  uses.reserve(asked.items.size());
  for (std::size_t p = 0; p < asked.n_peers(); ++p)
    for (const GlobalId id : asked.of(p)) uses.push_back({id, asked.peers[p]});
  std::stable_sort(uses.begin(), uses.end(), [](const Use& a, const Use& b) { return a.id < b.id; });

  exchange::Parcels<std::int64_t> answers;
  const std::int64_t first = tables_.vertices.first(context_.rank());
  for (std::size_t p = 0; p < asked.n_peers(); ++p) {
    WordWriter out;
    for (const GlobalId id : asked.of(p)) {
      const double* x = &tables_.coordinates[3 * static_cast<std::size_t>(barrio::value(id) - first)];
      for (int k = 0; k < 3; ++k) out.put(x[k]);
      const std::span<const Use> users = users_of(id);
      out.put(static_cast<std::int64_t>(users.size()));
      for (const Use& use : users) out.put(std::int64_t{use.user});
      const auto sets = detail::of_row(members_, Dim::vertex, barrio::value(id));
      out.put(static_cast<std::int64_t>(sets.size()));
      for (const detail::Membership& m : sets) out.put(std::int64_t{m.set});
    }
    answers.add(asked.peers[p], out.words());
  }
  const auto received = exchange::route(context_, answers);
  // Homes ascend with ids, so the answers stand in the order of `wanted`.
  WordReader in(received.items);
  std::vector<Rank> neighbours;
  for (const GlobalId id : wanted) {
    Vertex vertex{id, context_.rank(), {}};
    for (double& x : vertex.x) x = in.get_double();
    const auto users = in.get(static_cast<std::size_t>(in.get()));
    if (users.size() > 1) {
      shared_.push_back(id);
      for (const std::int64_t user : users) {
        sharers_.push_back(static_cast<Rank>(user));
        if (user != context_.rank()) neighbours.push_back(static_cast<Rank>(user));
      }
      sharer_offsets_.push_back(sharers_.size());
      const std::uint64_t draw = Hash64().add(barrio::value(id)).value() % users.size();
      vertex.owner = static_cast<Rank>(users[draw]);
    }
    const auto n_sets = static_cast<std::size_t>(in.get());
    for (const std::int64_t set : in.get(n_sets))
      set_members_.push_back({static_cast<std::int32_t>(set), Dim::vertex, id});
    vertices_.push_back(vertex);
  }
  sort_unique(neighbours);
  out_.neighbours = neighbours;
}

std::span<const MeshBuilder::Use> MeshBuilder::users_of(GlobalId id) const {
  const auto low = std::lower_bound(uses_.begin(), uses_.end(), id, [](const Use& u, GlobalId i) { return u.id < i; });
  auto high = low;
  while (high != uses_.end() && high->id == id) ++high;
  return {low, high};
}

std::span<const Rank> MeshBuilder::sharers_of(GlobalId id) const {
  const auto at = std::lower_bound(shared_.begin(), shared_.end(), id);
  if (at == shared_.end() || *at != id) return {};
  const auto place = static_cast<std::size_t>(at - shared_.begin());
  return std::span<const Rank>(sharers_).subspan(sharer_offsets_[place],
                                                 sharer_offsets_[place + 1] - sharer_offsets_[place]);
}

void MeshBuilder::fetch_ghosts() {
  if (options_.ghost_layers == 0) return;
  const Region region(context_.trace(), ghost_region);
  exchange::Neighborhood hood(context_, out_.neighbours);
  auto round = hood.begin_byte_round();

  // A cell is a ghost of every rank that shares one of its vertices. Its message carries all that the receiver may
  // lack.
  std::vector<SetMember> by_cell;
  for (const SetMember& m : set_members_)
    if (m.dim == out_.cell_dim) by_cell.push_back(m);
  std::sort(by_cell.begin(), by_cell.end(),
            [](const SetMember& a, const SetMember& b) { return std::tuple(a.id, a.set) < std::tuple(b.id, b.set); });
  std::vector<Rank> readers;
  std::vector<std::int64_t> record;
  for (std::size_t c = 0; c < n_local_cells_; ++c) {
    readers.clear();
    for (const GlobalId node : nodes_of(cells_[c]))
      for (const Rank rank : sharers_of(node))
        if (rank != context_.rank()) readers.push_back(rank);
    if (readers.empty()) continue;
    sort_unique(readers);
    const Cell& cell = cells_[c];
    WordWriter out;
    out.put(cell.id);
    out.put(std::int64_t{cell.part});
    out.put(static_cast<std::int64_t>(cell.type));
    out.put(std::int64_t{cell.n_nodes});
    for (const GlobalId node : nodes_of(cell)) {
      const auto at = std::lower_bound(vertices_.begin(), vertices_.end(), node,
                                       [](const Vertex& v, GlobalId id) { return v.id < id; });
      out.put(node);
      out.put(std::int64_t{at->owner});
      for (const double x : at->x) out.put(x);
    }
    const auto sets = std::equal_range(by_cell.begin(), by_cell.end(), SetMember{0, out_.cell_dim, cell.id},
                                       [](const SetMember& a, const SetMember& b) { return a.id < b.id; });
    out.put(static_cast<std::int64_t>(sets.second - sets.first));
    for (auto m = sets.first; m != sets.second; ++m) out.put(std::int64_t{m->set});
    for (const Rank reader : readers) {
      const std::span<std::byte> message = round.allocate(reader, out.words().size() * sizeof(std::int64_t));
      std::memcpy(message.data(), out.words().data(), message.size());
    }
  }
  round.close();
  std::vector<Vertex> more;
  for (const auto& [from, bytes] : round.received()) {
    record.resize(bytes.size() / sizeof(std::int64_t));
    std::memcpy(record.data(), bytes.data(), bytes.size());
    WordReader in(record);
    Cell cell{};
    cell.id = in.get_id();
    cell.owner = from;
    cell.part = static_cast<std::int32_t>(in.get());
    cell.type = static_cast<CellType>(in.get());
    cell.n_nodes = static_cast<std::uint32_t>(in.get());
    cell.first_node = nodes_.size();
    for (std::uint32_t n = 0; n < cell.n_nodes; ++n) {
      Vertex vertex{};
      vertex.id = in.get_id();
      vertex.owner = static_cast<Rank>(in.get());
      for (double& x : vertex.x) x = in.get_double();
      nodes_.push_back(vertex.id);
      more.push_back(vertex);
    }
    const auto n_sets = static_cast<std::size_t>(in.get());
    for (const std::int64_t set : in.get(n_sets))
      set_members_.push_back({static_cast<std::int32_t>(set), out_.cell_dim, cell.id});
    cells_.push_back(cell);
  }
  // Messages came in any order: sorting makes the result the same on every run.
  std::sort(cells_.begin() + static_cast<std::ptrdiff_t>(n_local_cells_), cells_.end(),
            [](const Cell& a, const Cell& b) { return std::tuple(a.owner, a.id) < std::tuple(b.owner, b.id); });
  vertices_.insert(vertices_.end(), more.begin(), more.end());
  std::stable_sort(vertices_.begin(), vertices_.end(), [](const Vertex& a, const Vertex& b) { return a.id < b.id; });
  vertices_.erase(
      std::unique(vertices_.begin(), vertices_.end(), [](const Vertex& a, const Vertex& b) { return a.id == b.id; }),
      vertices_.end());
}

LocalId MeshBuilder::local_vertex(GlobalId id) const {
  const auto at = std::lower_bound(local_of_.begin(), local_of_.end(), id,
                                   [](const auto& pair, GlobalId wanted) { return pair.first < wanted; });
  return at == local_of_.end() || at->first != id ? no_local_id : at->second;
}

void MeshBuilder::number_vertices() {
  const Region region(context_.trace(), number_region);
  const Rank me = context_.rank();
  // An owned vertex is in the fringe if some cell joins it to a copy.
  std::vector<char> in_fringe(vertices_.size(), 0);
  std::vector<std::size_t> places;
  for (const Cell& cell : cells_) {
    places.clear();
    bool has_copy = false;
    for (const GlobalId node : nodes_of(cell)) {
      const auto at = std::lower_bound(vertices_.begin(), vertices_.end(), node,
                                       [](const Vertex& v, GlobalId id) { return v.id < id; });
      places.push_back(static_cast<std::size_t>(at - vertices_.begin()));
      has_copy = has_copy || at->owner != me;
    }
    if (has_copy)
      for (const std::size_t place : places) in_fringe[place] = 1;
  }
  std::vector<std::size_t> order(vertices_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto group = [&](std::size_t v) {
    const bool is_copy = vertices_[v].owner != me;
    return std::tuple(is_copy ? 2 : static_cast<int>(in_fringe[v]), is_copy ? vertices_[v].owner : 0);
  };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return group(a) < group(b); });

  VertexTable& table = out_.vertices;
  local_of_.reserve(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Vertex& vertex = vertices_[order[i]];
    table.coordinates.insert(table.coordinates.end(), vertex.x.begin(), vertex.x.end());
    table.global_ids.push_back(vertex.id);
    table.owners.push_back(vertex.owner);
    local_of_.emplace_back(vertex.id, local_id(i));
    if (vertex.owner != me) continue;
    table.n_owned += 1;
    if (in_fringe[order[i]] == 0) table.n_interior += 1;
  }
  std::sort(local_of_.begin(), local_of_.end());
  table.n_global = mpi::sum(context_, static_cast<std::int64_t>(table.n_owned));
  if (table.n_global < tables_.vertices.n_rows) {
    context_.log().notice(fmt::format("{} vertices belong to no {} and are left out",
                                      tables_.vertices.n_rows - table.n_global,
                                      out_.cell_dim == Dim::volume ? "volume" : "cell"));
  }

  std::vector<std::pair<LocalId, std::size_t>> shared;
  for (std::size_t s = 0; s < shared_.size(); ++s) shared.emplace_back(local_vertex(shared_[s]), s);
  std::sort(shared.begin(), shared.end());
  for (const auto& [id, s] : shared) {
    table.shared.push_back(id);
    for (std::size_t k = sharer_offsets_[s]; k < sharer_offsets_[s + 1]; ++k) table.sharers.push_back(sharers_[k]);
    table.sharer_offsets.push_back(static_cast<std::int32_t>(table.sharers.size()));
  }
  const auto copies = std::span<const GlobalId>(table.global_ids).subspan(table.n_owned);
  out_.vertex_halo = std::make_shared<exchange::HaloPlan>(
      exchange::plan_halo(context_, copies, std::span<const Rank>(table.owners).subspan(table.n_owned),
                          local_id(table.n_owned), [&](GlobalId id) {
                            const LocalId local = local_vertex(id);
                            return local != no_local_id && index(local) < table.n_owned ? local : no_local_id;
                          }));
}

void MeshBuilder::fill_table(EntityTable& table, Dim dim, std::span<const Cell> cells,
                             std::span<const std::size_t> order) const {
  // Asked of the tables, which all ranks know alike: a rank without cells has the same shape as the others.
  const CellBlock* first = nullptr;
  bool same_type = true;
  bool same_size = true;
  for (const CellBlock& block : tables_.blocks) {
    if (topology(block.type).dim != dim || block.rows.n_rows == 0) continue;
    if (first == nullptr) first = &block;
    same_type = same_type && block.type == first->type;
    same_size = same_size && block.nodes_per_cell > 0 && block.nodes_per_cell == first->nodes_per_cell;
  }
  if (first != nullptr && same_size) table.nodes_per_entity = first->nodes_per_cell;
  if (first != nullptr && same_type) table.types.push_back(first->type);
  if (!same_size) table.offsets.push_back(0);
  for (const std::size_t c : order) {
    const Cell& cell = cells[c];
    if (!same_type) table.types.push_back(cell.type);
    for (const GlobalId node : nodes_of(cell)) table.nodes.push_back(local_vertex(node));
    if (!same_size) table.offsets.push_back(static_cast<std::int32_t>(table.nodes.size()));
    table.global_ids.push_back(cell.id);
    table.owners.push_back(cell.owner);
  }
}

void MeshBuilder::number_cells() {
  const Region region(context_.trace(), number_region);
  EntityTable& table = out_.entities[static_cast<std::size_t>(value(out_.cell_dim))];
  std::vector<char> is_interior(cells_.size(), 1);
  for (std::size_t c = 0; c < n_local_cells_; ++c) {
    for (const GlobalId node : nodes_of(cells_[c])) {
      if (index(local_vertex(node)) >= out_.vertices.n_owned) is_interior[c] = 0;
    }
    table.n_interior += is_interior[c] != 0 ? 1 : 0;
  }
  std::vector<std::size_t> order(cells_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(n_local_cells_),
                   [&](std::size_t a, std::size_t b) { return is_interior[a] > is_interior[b]; });
  fill_table(table, out_.cell_dim, cells_, order);
  table.n_owned = n_local_cells_;
  table.n_global = tables_.n_global(out_.cell_dim);
  for (const std::size_t c : order) out_.cell_parts.push_back(cells_[c].part);

  std::vector<std::pair<GlobalId, LocalId>> owned;
  for (std::size_t i = 0; i < n_local_cells_; ++i) owned.emplace_back(table.global_ids[i], local_id(i));
  std::sort(owned.begin(), owned.end());
  out_.cell_halo = std::make_shared<exchange::HaloPlan>(exchange::plan_halo(
      context_, std::span<const GlobalId>(table.global_ids).subspan(n_local_cells_),
      std::span<const Rank>(table.owners).subspan(n_local_cells_), local_id(n_local_cells_), [&](GlobalId id) {
        const auto at = std::lower_bound(owned.begin(), owned.end(), std::pair(id, LocalId{0}));
        return at != owned.end() && at->first == id ? at->second : no_local_id;
      }));
}

}  // namespace barrio::mesh
