#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "barrio/base/error.hpp"
#include "barrio/base/hash.hpp"
#include "barrio/exchange/router.hpp"
#include "barrio/mesh/mesh.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::mesh {
namespace {

[[noreturn]] void broken(std::string what) {
  throw Error(ErrorCode::internal,
              {.subject = "mesh", .cause = std::move(what), .remedy = "this is a bug in barrio, please report it"});
}

/// Interior, fringe, copies by owner; ascending ids within each.
void check_order(std::span<const GlobalId> ids, const Owners& owners, std::size_t n_interior, std::size_t n_owned,
                 Rank me, const char* what) {
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if ((owners[i] == me) != (i < n_owned)) broken(fmt::format("{} {} stands among the wrong ones", what, i));
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
      if (node == no_local_id || index(node) >= v.size()) broken(fmt::format("cell {} has no vertex", c));
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
      broken(fmt::format("shared vertex {} is not shared", barrio::value(v.global_ids[i])));
    const Rank owner = sharers[Hash64().add(barrio::value(v.global_ids[i])).value() % sharers.size()];
    if (owner != v.owners[i]) broken(fmt::format("vertex {} has the wrong owner", barrio::value(v.global_ids[i])));
  }
}

/// Each owned id meets at a rank drawn by hash; there it must be alone.
void check_owned_once(mpi::Context& context, std::span<const GlobalId> owned, std::int64_t n_global, const char* what) {
  std::vector<Rank> to;
  for (const GlobalId id : owned)
    to.push_back(static_cast<Rank>(mix64(static_cast<std::uint64_t>(barrio::value(id))) %
                                   static_cast<std::uint64_t>(context.size())));
  std::vector<GlobalId> met = exchange::route(context, exchange::pack_by_rank<GlobalId>(to, owned)).items;
  const auto n = mpi::sum(context, static_cast<std::int64_t>(owned.size()));
  agree_after(context, [&] {
    std::sort(met.begin(), met.end());
    const auto twice = std::adjacent_find(met.begin(), met.end());
    if (twice != met.end()) broken(fmt::format("{} {} is owned twice", what, barrio::value(*twice)));
    if (n != n_global) broken(fmt::format("{} {} are owned, {} exist", n, what, n_global));
  });
}

/// Both ends of each pair of neighbours list the same shared vertices with the same sharers.
void check_sharers(const Mesh& mesh) {
  mpi::Context& context = mesh.context();
  const VertexTable& v = mesh.vertices();
  std::vector<std::uint64_t> digest(mesh.neighbours().size(), 0);
  for (std::size_t s = 0; s < v.shared.size(); ++s) {
    Hash64 hash;
    hash.add(barrio::value(v.global_ids[index(v.shared[s])]));
    for (const Rank rank : v.sharers_of(s)) hash.add(static_cast<std::int64_t>(rank));
    for (const Rank rank : v.sharers_of(s)) {
      if (rank == context.rank()) continue;
      const auto at = std::lower_bound(mesh.neighbours().begin(), mesh.neighbours().end(), rank);
      digest[static_cast<std::size_t>(at - mesh.neighbours().begin())] += hash.value();
    }
  }
  const auto heard = exchange::route(context, exchange::pack_by_rank<std::uint64_t>(mesh.neighbours(), digest));
  agree_after(context, [&] {
    if (!std::equal(heard.peers.begin(), heard.peers.end(), mesh.neighbours().begin(), mesh.neighbours().end()))
      broken("neighbours are not mutual");
    for (std::size_t n = 0; n < digest.size(); ++n)
      if (heard.items[n] != digest[n])
        broken(fmt::format("shared vertices differ from those of rank {}", heard.peers[n]));
  });
}

/// Send hashes of the owned entities over the plan: each copy must get the hash of itself.
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
  });
  check_owned_once(here, std::span<const GlobalId>(v.global_ids).first(v.n_owned), v.n_global, "vertex");
  check_owned_once(here, std::span<const GlobalId>(c.global_ids).first(c.n_owned), c.n_global, "cell");
  for (int d = 1; d < value(cell_dim()); ++d) {
    const EntityTable& e = entities(Dim{d});
    check_owned_once(here, std::span<const GlobalId>(e.global_ids).first(e.n_owned), e.n_global, "entity");
  }
  check_sharers(*this);
  check_copies(*this, Dim::vertex, [&](std::size_t i) {
    return Hash64()
        .add(barrio::value(v.global_ids[i]))
        .add_all(std::span<const double>(&v.coordinates[3 * i], 3))
        .value();
  });
  check_copies(*this, cell_dim(), [&](std::size_t i) {
    Hash64 hash;
    hash.add(barrio::value(c.global_ids[i])).add(static_cast<std::int64_t>(cell_parts()[i]));
    for (const LocalId node : c.nodes_of(i)) hash.add(barrio::value(v.global_ids[index(node)]));
    return hash.value();
  });
}

}  // namespace barrio::mesh
