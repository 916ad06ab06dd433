#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "barrio/base/error.hpp"
#include "barrio/base/hash.hpp"
#include "barrio/base/sort_unique.hpp"
#include "barrio/exchange/router.hpp"
#include "barrio/mesh/mesh.hpp"
#include "barrio/mesh/remote_ids.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::mesh {
namespace {

[[noreturn]] void broken(std::string what) {
  throw Error(ErrorCode::internal,
              {.subject = "mesh", .cause = std::move(what), .remedy = "this is a bug in barrio, please report it"});
}

/// Check the local order: interior, fringe, copies by owner; ascending ids within each.
void check_order(std::span<const GlobalId> ids, const Owners& owners, std::size_t n_interior, std::size_t n_owned,
                 Rank me, const char* what) {
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if ((owners[i] == me) != (i < n_owned)) broken(fmt::format("{} {} is in the wrong group", what, i));
    if (i == 0 || i == n_interior || i == n_owned) continue;
    const bool is_copy = i > n_owned;
    const bool ascends =
        is_copy ? std::tuple(owners[i - 1], ids[i - 1]) < std::tuple(owners[i], ids[i]) : ids[i - 1] < ids[i];
    if (!ascends) broken(fmt::format("{} {} is out of order", what, i));
  }
}

void check_vertices(const Mesh& mesh) {
  const VertexTable& v = mesh.vertices();
  const Rank me = mesh.context().rank();
  check_order(v.global_ids, v.owners, v.n_interior, v.n_owned, me, "vertex");
  const EntityTable& cells = mesh.cells();
  for (std::size_t c = 0; c < cells.size(); ++c) {
    bool has_copy = false;
    bool has_interior = false;
    for (const LocalId node : cells.nodes_of(c)) {
      if (node == no_local_id || index(node) >= v.size())
        broken(fmt::format("cell {} refers to a vertex that does not exist", c));
      has_copy = has_copy || index(node) >= v.n_owned;
      has_interior = has_interior || index(node) < v.n_interior;
    }
    if (has_copy && has_interior) broken(fmt::format("cell {} joins an interior vertex to a copy", c));
    if (c < cells.n_interior && has_copy) broken(fmt::format("interior cell {} has a copy", c));
  }
  for (std::size_t s = 0; s < v.shared.size(); ++s) {
    const auto sharers = v.sharers_of(s);
    const auto i = index(v.shared[s]);
    if (!std::binary_search(sharers.begin(), sharers.end(), me) || sharers.size() < 2)
      broken(fmt::format("shared vertex {} is not shared by this rank and others", barrio::value(v.global_ids[i])));
    const Rank owner = sharers[Hash64().add(barrio::value(v.global_ids[i])).value() % sharers.size()];
    if (owner != v.owners[i]) broken(fmt::format("vertex {} has the wrong owner", barrio::value(v.global_ids[i])));
  }
}

/// Check that each id has one owner: each owned id goes to a rank drawn by its hash, where it must be unique.
void check_owned_once(mpi::Context& context, std::span<const GlobalId> owned, std::int64_t n_global, Dim dim) {
  std::vector<Rank> to;
  for (const GlobalId id : owned) to.push_back(static_cast<Rank>(mix64(index(id)) % context.size()));
  std::vector<GlobalId> met = exchange::route(context, exchange::pack_by_rank<GlobalId>(to, owned)).items;
  const auto n = mpi::sum(context, std::ssize(owned));
  agree_after(context, [&] {
    std::sort(met.begin(), met.end());
    const auto twice = std::adjacent_find(met.begin(), met.end());
    if (twice != met.end())
      broken(fmt::format("entity {} of dimension {} is owned twice", barrio::value(*twice), value(dim)));
    if (n != n_global) broken(fmt::format("{} entities of dimension {} are owned, {} exist", n, value(dim), n_global));
  });
}

/// Check that both ranks of each pair of neighbours list the same shared entities with the same sharers.
void check_sharers(const Mesh& mesh, Dim dim) {
  mpi::Context& context = mesh.context();
  const Sharing& sharing = mesh.sharing(dim);
  const std::span<const GlobalId> ids = mesh.global_ids(dim);
  std::vector<std::uint64_t> digest(mesh.neighbours().size(), 0);
  Rank stranger = -1;
  for (std::size_t s = 0; s < sharing.shared.size(); ++s) {
    Hash64 hash;
    hash.add(barrio::value(ids[index(sharing.shared[s])]));
    for (const Rank rank : sharing.sharers_of(s)) hash.add(std::int64_t{rank});
    for (const Rank rank : sharing.sharers_of(s)) {
      if (rank == context.rank()) continue;
      const auto at = std::lower_bound(mesh.neighbours().begin(), mesh.neighbours().end(), rank);
      if (at == mesh.neighbours().end() || *at != rank) {
        stranger = rank;
        continue;
      }
      digest[at - mesh.neighbours().begin()] += hash.value();
    }
  }
  const auto heard = exchange::route(context, exchange::pack_by_rank<std::uint64_t>(mesh.neighbours(), digest));
  agree_after(context, [&] {
    if (stranger >= 0) broken(fmt::format("rank {} shares an entity but is not a neighbour", stranger));
    if (!std::equal(heard.peers.begin(), heard.peers.end(), mesh.neighbours().begin(), mesh.neighbours().end()))
      broken("neighbours are not mutual");
    for (std::size_t n = 0; n < digest.size(); ++n)
      if (heard.items[n] != digest[n])
        broken(fmt::format("shared entities of dimension {} differ from those of rank {}", value(dim), heard.peers[n]));
  });
}

/// Check that the remote id of the remote id is the entity itself, for ghosts too: each rank tells every other holder
/// of an entity the local id that it has recorded for that holder.
void check_remote_ids(const Mesh& mesh, Dim dim) {
  struct Claim {
    LocalId yours;
    LocalId mine;
    GlobalId global_id;
  };
  const RemoteIds remote(mesh, dim);
  const Rank me = mesh.context().rank();
  const std::span<const GlobalId> ids = mesh.global_ids(dim);
  std::vector<Rank> holders;
  for (std::size_t i = 0; i < remote.entities().size(); ++i)
    holders.insert(holders.end(), remote.ranks_of(i).begin(), remote.ranks_of(i).end());
  sort_unique(holders);
  std::erase(holders, me);
  exchange::Neighborhood hood(mesh.context(), holders);
  auto round = hood.begin_round<Claim>();
  for (std::size_t i = 0; i < remote.entities().size(); ++i)
    for (std::size_t k = 0; k < remote.ranks_of(i).size(); ++k)
      if (const Rank rank = remote.ranks_of(i)[k]; rank != me)
        round.allocate(rank) = {remote.ids_of(i)[k], remote.entities()[i], ids[index(remote.entities()[i])]};
  round.close();
  const auto claims = round.collect();
  agree_after(mesh.context(), [&] {
    for (const auto& [from, claim] : claims) {
      const std::size_t i = remote.find(claim.yours);
      const auto here = barrio::value(claim.yours);
      if (i == remote.entities().size())
        broken(fmt::format("rank {} holds entity {}, for which this rank knows no other holder", from, here));
      const auto at = std::ranges::lower_bound(remote.ranks_of(i), from);
      if (at == remote.ranks_of(i).end() || *at != from)
        broken(fmt::format("rank {} holds entity {}, but this rank does not know it", from, here));
      if (remote.ids_of(i)[at - remote.ranks_of(i).begin()] != claim.mine)
        broken(fmt::format("the remote id of entity {} on rank {} is not its own", here, from));
      if (ids[index(claim.yours)] != claim.global_id)
        broken(fmt::format("entity {} is a different entity on rank {}", here, from));
    }
    const Sharing& sharing = mesh.sharing(dim);
    for (std::size_t s = 0; s < sharing.shared.size(); ++s) {
      const std::size_t i = remote.find(sharing.shared[s]);
      if (i == remote.entities().size() || !std::ranges::includes(remote.ranks_of(i), sharing.sharers_of(s)))
        broken(fmt::format("a sharer of entity {} does not hold it", barrio::value(sharing.shared[s])));
    }
  });
}

/// Check that a 1 from every sharer sums up to the number of sharers.
void check_sum_of_sharers(const Mesh& mesh, Dim dim) {
  const Sharing& sharing = mesh.sharing(dim);
  std::vector<std::int32_t> ones(mesh.n_local(dim), 0);
  for (std::size_t i = 0; i < mesh.n_owned(dim); ++i) ones[i] = 1;
  for (const LocalId id : sharing.shared) ones[index(id)] = 1;
  exchange::HaloExchange<std::int32_t> halo(mesh.context(), mesh.halo_plan(dim), ones, 1);
  halo.reduce(exchange::Reduction::sum);
  agree_after(mesh.context(), [&] {
    for (std::size_t i = 0; i < mesh.n_owned(dim); ++i) {
      const auto n_sharers = std::max<std::size_t>(mesh.status(dim, local_id(i)).sharers.size(), 1);
      if (std::cmp_not_equal(ones[i], n_sharers))
        broken(fmt::format("{} ranks use entity {} of dimension {}, which has {} sharers", ones[i], i, value(dim),
                           n_sharers));
    }
  });
}

/// Check that each copy equals its owner's entity: it must get its own hash when owners send theirs over the plan.
template <class HashOf>
void check_copies(const Mesh& mesh, Dim dim, HashOf&& hash_of) {
  std::vector<std::uint64_t> values(mesh.n_local(dim), 0);
  for (std::size_t i = 0; i < mesh.n_owned(dim); ++i) values[i] = hash_of(i);
  exchange::HaloExchange<std::uint64_t> halo(mesh.context(), mesh.halo_plan(dim), values, 1);
  halo.exchange();
  agree_after(mesh.context(), [&] {
    for (std::size_t i = mesh.n_owned(dim); i < values.size(); ++i)
      if (values[i] != hash_of(i))
        broken(fmt::format("copy {} of dimension {} differs from its owner's", i, value(dim)));
  });
}

}  // namespace

void Mesh::validate() const {
  mpi::Context& here = context();
  const VertexTable& v = vertices();
  const EntityTable& c = cells();
  agree_after(here, [&] {
    check_vertices(*this);
    check_order(c.global_ids, c.owners, c.n_interior, c.n_owned, here.rank(), "cell");
    for (const GlobalId id : c.global_ids)
      if (barrio::value(id) < 0) broken(fmt::format("a cell has the negative id {}", barrio::value(id)));
  });
  for (int d = 0; d <= value(cell_dim()); ++d) {
    const Dim dim{d};
    check_owned_once(here, global_ids(dim).first(n_owned(dim)), n_global(dim), dim);
    if (n_global(dim) == 0) continue;
    check_remote_ids(*this, dim);
    if (dim == cell_dim()) continue;
    check_sharers(*this, dim);
    check_sum_of_sharers(*this, dim);
  }
  check_copies(*this, Dim::vertex, [&](std::size_t i) {
    return Hash64()
        .add(barrio::value(v.global_ids[i]))
        .add_all(std::span<const double>(&v.coordinates[3 * i], 3))
        .value();
  });
  for (int d = 1; d <= value(cell_dim()); ++d) {
    const EntityTable& e = entities(Dim{d});
    if (e.n_global == 0) continue;
    check_copies(*this, Dim{d}, [&](std::size_t i) {
      Hash64 hash;
      hash.add(barrio::value(e.global_ids[i])).add(static_cast<std::int64_t>(e.type(i)));
      if (Dim{d} == cell_dim()) hash.add(std::int64_t{cell_parts()[i]});
      for (const LocalId node : e.nodes_of(i)) hash.add(barrio::value(v.global_ids[index(node)]));
      return hash.value();
    });
  }
}

}  // namespace barrio::mesh
