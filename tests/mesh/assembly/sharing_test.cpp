#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>

#include "barrio/mesh/box.hpp"
#include "barrio/mesh/mesh.hpp"
#include "barrio/mesh/partition_cells.hpp"
#include "barrio/mesh/remote_ids.hpp"
#include "barrio/mesh/sharing_tags.hpp"
#include "barrio/mesh/sides.hpp"
#include "barrio/mpi/collectives.hpp"
#include "tests/mesh/oracle.hpp"
#include "tests/support/collect.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::mesh {
namespace {

using test::parted_box;
using test::WholeMesh;
using test::world;

TEST(Sharing, EveryEntityKnowsWhatItIs) {
  const MeshTables tables = parted_box(world(), {5, 4, 3}, true, 8);
  const WholeMesh whole(world(), tables);
  const Mesh mesh(world(), tables, {.ghost_layers = 2});
  const auto sharers = whole.sharers(world().size());
  for (std::size_t i = 0; i < mesh.n_local(Dim::vertex); ++i) {
    const EntityStatus status = mesh.status(Dim::vertex, local_id(i));
    const std::set<int>& expected = sharers.at(value(mesh.vertices().global_ids[i]));
    const bool is_used = expected.count(world().rank()) > 0;
    EXPECT_EQ(status.is_owned, i < mesh.n_owned(Dim::vertex));
    EXPECT_EQ(status.is_ghost, !is_used);
    EXPECT_EQ(expected.count(status.owner), 1U);
    EXPECT_EQ(status.is_shared(), is_used && expected.size() > 1);
    EXPECT_EQ(status.is_multi_shared(), is_used && expected.size() > 2);
    if (status.is_shared()) {
      EXPECT_EQ(std::set<int>(status.sharers.begin(), status.sharers.end()), expected);
    }
  }
  for (std::size_t c = 0; c < mesh.n_local(Dim::volume); ++c) {
    const EntityStatus status = mesh.status(Dim::volume, local_id(c));
    EXPECT_EQ(status.is_ghost, c >= mesh.n_owned(Dim::volume));
    EXPECT_EQ(status.owner, mesh.cells().owners[c]);
    EXPECT_FALSE(status.is_shared());
  }
}

TEST(Sharing, IsReadAsTags) {
  const Mesh mesh(world(), parted_box(world(), {5, 4, 3}, false, 8), {.ghost_layers = 1, .ghost_sides = true});
  const std::vector<MeshTag> tags = sharing_tags(mesh);
  ASSERT_EQ(tags.size(), 4U);
  const auto numbers = [&](std::size_t tag, Dim dim, LocalId id) {
    const auto bytes = tags[tag].value(dim, id);
    std::vector<std::int32_t> all(bytes.size() / sizeof(std::int32_t));
    if (!all.empty()) std::memcpy(all.data(), bytes.data(), bytes.size());
    return all;
  };
  for (const Dim dim : {Dim::vertex, Dim::face, Dim::volume}) {
    const std::vector<Interface> interfaces = mesh.interfaces(dim);
    for (std::size_t i = 0; i < mesh.n_local(dim); ++i) {
      const LocalId id = local_id(i);
      const EntityStatus status = mesh.status(dim, id);
      const std::int32_t bits = (status.is_owned ? 0 : 1) + (status.is_shared() ? 2 : 0) +
                                (status.is_multi_shared() ? 4 : 0) + (status.is_ghost ? 8 : 0);
      EXPECT_EQ(numbers(0, dim, id), std::vector{bits});
      EXPECT_EQ(numbers(1, dim, id), std::vector{status.owner});
      EXPECT_EQ(numbers(2, dim, id), std::vector<std::int32_t>(status.sharers.begin(), status.sharers.end()));
      const std::int32_t at = numbers(3, dim, id).at(0);
      ASSERT_EQ(at >= 0, status.is_shared());
      if (at >= 0) {
        EXPECT_TRUE(interfaces[static_cast<std::size_t>(at)].entities.contains(id));
      }
    }
  }
}

TEST(Sharing, InterfacesAreTheSharedEntitiesByTheirSharers) {
  const MeshTables tables = parted_box(world(), {5, 4, 3}, false, 7);
  const Mesh mesh(world(), tables, {.ghost_layers = 1});
  std::map<std::set<int>, std::set<std::int64_t>> expected;
  std::map<int, std::set<std::int64_t>> with;
  for (const auto& [id, ranks] : WholeMesh(world(), tables).sharers(world().size())) {
    if (ranks.size() < 2 || ranks.count(world().rank()) == 0) continue;
    expected[ranks].insert(id);
    for (const int rank : ranks) with[rank].insert(id);
  }
  const auto ids_of = [&](const Range& range) {
    std::set<std::int64_t> ids;
    for (const LocalId id : range) ids.insert(value(mesh.vertices().global_ids[index(id)]));
    return ids;
  };
  std::map<std::set<int>, std::set<std::int64_t>> found;
  for (const Interface& one : mesh.interfaces(Dim::vertex))
    found[std::set<int>(one.ranks.begin(), one.ranks.end())] = ids_of(one.entities);
  EXPECT_EQ(found, expected);
  for (const Rank rank : mesh.neighbours()) EXPECT_EQ(ids_of(mesh.shared_with(Dim::vertex, rank)), with[rank]);
}

/// Gather the local index of each entity on each rank that holds it, without the mesh's own sharing data.
std::map<std::int64_t, std::map<int, int>> holders_of(std::span<const GlobalId> ids) {
  struct Known {
    std::int64_t id;
    std::int32_t rank;
    std::int32_t local;
  };
  std::vector<Known> here;
  for (std::size_t i = 0; i < ids.size(); ++i)
    here.push_back({value(ids[i]), world().rank(), static_cast<std::int32_t>(i)});
  std::map<std::int64_t, std::map<int, int>> all;
  for (const Known& known : test::collect(world(), here)) all[known.id][known.rank] = known.local;
  return all;
}

void expect_all_holders(const RemoteIds& remote, std::span<const GlobalId> ids) {
  const auto holders = holders_of(ids);
  std::size_t n_held_elsewhere = 0;
  for (std::size_t local = 0; local < ids.size(); ++local) {
    const std::map<int, int>& expected = holders.at(value(ids[local]));
    const std::size_t i = remote.find(LocalId{static_cast<std::int32_t>(local)});
    if (expected.size() == 1) {
      EXPECT_EQ(i, remote.entities().size());
      continue;
    }
    n_held_elsewhere += 1;
    ASSERT_LT(i, remote.entities().size());
    std::map<int, int> found;
    for (std::size_t k = 0; k < remote.ranks_of(i).size(); ++k)
      found[remote.ranks_of(i)[k]] = value(remote.ids_of(i)[k]);
    EXPECT_EQ(found, expected);
    EXPECT_EQ(remote.ids_of(i).size(), expected.size());
    EXPECT_TRUE(std::ranges::is_sorted(remote.ranks_of(i)));
  }
  EXPECT_EQ(remote.entities().size(), n_held_elsewhere);
  EXPECT_TRUE(std::ranges::is_sorted(remote.entities()));
}

TEST(Sharing, RemoteIdsNameEveryCopyToEveryHolder) {
  for (const int layers : {0, 1, 2})
    for (const bool has_sides : {false, true}) {
      const Mesh mesh(world(), parted_box(world(), {5, 4, 3}, true, 8),
                      {.ghost_layers = layers, .ghost_sides = has_sides});
      for (const Dim dim : {Dim::vertex, Dim::face, Dim::volume})
        expect_all_holders(RemoteIds(mesh, dim), mesh.global_ids(dim));
      const Sides edges(mesh, Dim::edge);
      expect_all_holders(RemoteIds(world(), *edges.halo_plan()), edges.table().global_ids);
      if (layers == 0) {
        const RemoteIds cells(mesh, Dim::volume);
        const RemoteIds vertices(mesh, Dim::vertex);
        EXPECT_TRUE(cells.entities().empty());
        EXPECT_TRUE(std::ranges::equal(vertices.entities(), mesh.sharing(Dim::vertex).shared));
      }
      EXPECT_THROW(RemoteIds(mesh, Dim::edge), Error);  // the file lists no edges
    }
}

TEST(Sharing, ReducesByName) {
  Mesh mesh(world(), parted_box(world(), {5, 4, 3}, false, 8));
  const auto sharers = WholeMesh(world(), parted_box(world(), {5, 4, 3}, false, 8)).sharers(world().size());
  const auto reduced = [&]<class T>(exchange::Reduction reduction, T value_here) {
    std::vector<T> values(mesh.n_local(Dim::vertex), value_here);
    exchange::HaloExchange<T>(world(), mesh.halo_plan(Dim::vertex), values, 1).reduce(reduction);
    return values;
  };
  const int rank = world().rank();
  const auto sum = reduced(exchange::Reduction::sum, 1.0 + rank);
  const auto low = reduced(exchange::Reduction::min, rank);
  const auto high = reduced(exchange::Reduction::max, rank);
  const auto any = reduced(exchange::Reduction::any, rank == 1 ? 5 : 0);
  for (std::size_t i = 0; i < mesh.n_owned(Dim::vertex); ++i) {
    const std::set<int>& ranks = sharers.at(value(mesh.vertices().global_ids[i]));
    double expected = 0.0;
    for (const int r : ranks) expected += 1.0 + r;
    EXPECT_EQ(sum[i], expected);
    EXPECT_EQ(low[i], *ranks.begin());
    EXPECT_EQ(high[i], *ranks.rbegin());
    EXPECT_EQ(any[i], ranks.count(1) > 0 ? 5 : 0);
  }
}

/// Break a mesh in one place on the last rank; all ranks must get the error.
void expect_refused(const std::function<bool(VertexTable&, EntityTable&)>& break_it) {
  const Mesh mesh(world(), parted_box(world(), {5, 4, 3}, true, 8), {.ghost_layers = 1});
  bool is_broken = false;
  if (world().rank() == world().size() - 1)
    is_broken = break_it(const_cast<VertexTable&>(mesh.vertices()), const_cast<EntityTable&>(mesh.cells()));
  if (mpi::max(world(), static_cast<std::int64_t>(is_broken)) == 0) return;  // not applicable on so few ranks
  EXPECT_THROW(mesh.validate(), AgreedError);
}

TEST(Sharing, ValidateFindsWhatIsBroken) {
  expect_refused([](VertexTable& v, EntityTable&) {
    std::swap(v.global_ids[0], v.global_ids[1]);
    return v.size() > 1;
  });
  expect_refused([](VertexTable& v, EntityTable&) {
    if (v.n_owned < v.size()) v.coordinates.back() += 1.0;  // a copy
    return v.n_owned < v.size();
  });
  expect_refused([](VertexTable& v, EntityTable&) {
    if (v.shared.empty()) return false;
    v.shared.pop_back();
    v.sharer_sets.pop_back();
    return true;
  });
  expect_refused([](VertexTable& v, EntityTable&) {
    for (std::size_t s = 1; s < v.shared.size(); ++s) {
      if (v.sharer_sets[s] == v.sharer_sets[s - 1]) continue;
      v.sharer_sets[s] = v.sharer_sets[s - 1];
      return true;
    }
    return false;
  });
  expect_refused([](VertexTable&, EntityTable& c) {
    std::swap(c.nodes.front(), c.nodes.back());
    return c.n_owned < c.size();
  });
  expect_refused([](VertexTable&, EntityTable& c) {
    if (c.size() > 0) c.global_ids[0] = GlobalId{-5};
    return c.size() > 0;
  });
}

}  // namespace
}  // namespace barrio::mesh
