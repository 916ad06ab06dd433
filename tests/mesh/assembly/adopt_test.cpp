#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <string>

#include "barrio/base/error.hpp"
#include "barrio/mesh/box.hpp"
#include "barrio/mesh/local_mesh.hpp"
#include "barrio/mesh/mesh.hpp"
#include "barrio/mesh/partition_cells.hpp"
#include "barrio/mesh/polyhedron_faces.hpp"
#include "tests/mesh/filled_mesh.hpp"
#include "tests/mesh/oracle.hpp"
#include "tests/mesh/polyhedra.hpp"
#include "tests/mesh/sets_and_tags.hpp"
#include "tests/support/mpi_test.hpp"

// A released and adopted mesh equals the original, and `adopt` checks the data of a program.

namespace barrio::mesh {
namespace {

using test::add_sets_in_sets;
using test::add_tags;
using test::expect_filled;
using test::expect_same_mesh;
using test::fill;
using test::mixed_plane;
using test::parted_box;
using test::world;

/// Make prisms and pyramids below hexes: a column of each over every square of a grid.
MeshTables layers_of_all_types(std::int64_t n) {
  const Rank me = world().rank();
  MeshTables tables;
  const std::int64_t plane = (n + 1) * (n + 1);
  tables.vertices = {3 * plane + n * n, world().size()};  // three planes, and the apexes of pyramids
  const auto vertex = [&](std::int64_t i, std::int64_t j, std::int64_t k) {
    return GlobalId{k * plane + j * (n + 1) + i};
  };
  for (std::int64_t v = tables.vertices.first(me); v < tables.vertices.first(me + 1); ++v) {
    const bool is_tip = v >= 3 * plane;
    const std::int64_t at = is_tip ? v - 3 * plane : v % plane;
    const std::int64_t width = is_tip ? n : n + 1;
    const double shift = is_tip ? 0.5 : 0.0;
    tables.coordinates.push_back(static_cast<double>(at % width) + shift);
    tables.coordinates.push_back(static_cast<double>(at / width) + shift);
    tables.coordinates.push_back(is_tip ? 2.5 : static_cast<double>(v / plane));
  }
  const auto add = [&](CellType type, std::int64_t n_rows, auto&& nodes_of) {
    CellBlock block;
    block.type = type;
    block.rows = {n_rows, world().size()};
    for (std::int64_t row = block.rows.first(me); row < block.rows.first(me + 1); ++row)
      for (const GlobalId node : nodes_of(row)) block.nodes.push_back(node);
    block.nodes_per_cell = topology(type).n_corners;
    tables.blocks.push_back(block);
  };
  const auto corner = [&](std::int64_t cell, std::int64_t di, std::int64_t dj, std::int64_t k) {
    return vertex(cell % n + di, cell / n + dj, k);
  };
  add(CellType::hex, n * n, [&](std::int64_t c) {
    return std::vector{corner(c, 0, 0, 0), corner(c, 1, 0, 0), corner(c, 1, 1, 0), corner(c, 0, 1, 0),
                       corner(c, 0, 0, 1), corner(c, 1, 0, 1), corner(c, 1, 1, 1), corner(c, 0, 1, 1)};
  });
  add(CellType::prism, 2 * n * n, [&](std::int64_t row) {
    const std::int64_t c = row / 2, x = row % 2;
    std::vector<GlobalId> nodes;
    for (const std::int64_t k : {1, 2})
      for (const GlobalId node : {corner(c, 0, 0, k), corner(c, 1, x, k), corner(c, 1 - x, 1, k)})
        nodes.push_back(node);
    return nodes;
  });
  add(CellType::pyramid, n * n, [&](std::int64_t c) {
    return std::vector{corner(c, 0, 0, 2), corner(c, 1, 0, 2), corner(c, 1, 1, 2), corner(c, 0, 1, 2),
                       GlobalId{3 * plane + c}};
  });
  add(CellType::quad, n * n, [&](std::int64_t c) {
    return std::vector{corner(c, 0, 0, 0), corner(c, 1, 0, 0), corner(c, 1, 1, 0), corner(c, 0, 1, 0)};
  });
  partition_cells(world(), tables, world().size() + 1);
  return tables;
}

/// Make all test meshes.
std::vector<MeshTables> meshes() {
  std::vector<MeshTables> all{parted_box(world(), {4, 3, 4}, true, 5),
                              parted_box(world(), {6, 4, 3}, false, world().size()), mixed_plane(6),
                              layers_of_all_types(4)};
  for (MeshTables& tables : all) {
    add_tags(tables);
    add_sets_in_sets(tables);
  }
  MeshTables polyhedra = test::honeycomb(world(), 4, 3, 2);
  static_cast<void>(list_polyhedron_faces(world(), polyhedra));
  partition_cells(world(), polyhedra, world().size());
  all.push_back(polyhedra);
  all.push_back(test::scattered(world(), make_box(world(), {.n = {3, 4, 3}, .tets = true}), 7));
  all.push_back(parted_box(world(), {2, 2, 2}, false, 1));  // other ranks are empty
  return all;
}

std::vector<BuildOptions> ways() {
  return {{}, {.ghost_layers = 1}, {.ghost_layers = 2, .ghost_sides = true}, {.ghost_layers = 1, .bridge = Dim::edge}};
}

/// Shuffle all entities of one dimension.
void shuffle(LocalMesh& local, Dim dim, std::mt19937_64& random) {
  const std::size_t n = local.size(dim);
  std::vector<std::int32_t> order(n);  // old index by new index
  std::iota(order.begin(), order.end(), 0);
  std::ranges::shuffle(order, random);
  std::vector<std::int32_t> place(n);
  for (std::size_t i = 0; i < n; ++i) place[order[i]] = static_cast<std::int32_t>(i);
  const auto permute = [&](auto& items, std::size_t width = 1) {
    if (items.size() < n * width || n == 0) return;
    auto moved = items;
    for (std::size_t i = 0; i < n; ++i) std::copy_n(items.begin() + order[i] * width, width, moved.begin() + i * width);
    items = moved;
  };
  if (dim == Dim::vertex) {
    permute(local.vertex_ids);
    permute(local.coordinates, 3);
    permute(local.vertex_sharers);
    for (LocalEntities& of_dim : local.entities)
      for (LocalId& v : of_dim.nodes) v = LocalId{place[index(v)]};
  } else {
    LocalEntities& all = local.entities[index(dim)];
    if (all.types.size() > 1) permute(all.types);
    permute(all.ids);
    permute(all.sharers);
    if (all.offsets.empty()) {
      permute(all.nodes, all.nodes_per_entity);
    } else {
      LocalEntities moved;
      moved.offsets = {0};
      for (const std::int32_t old : order) {
        moved.nodes.insert(moved.nodes.end(), all.nodes.begin() + all.offsets[old],
                           all.nodes.begin() + all.offsets[old + 1]);
        moved.offsets.push_back(static_cast<std::int32_t>(moved.nodes.size()));
      }
      all.nodes = moved.nodes;
      all.offsets = moved.offsets;
    }
    if (dim == local.cell_dim) permute(local.cell_parts);
  }
  for (MeshSet& set : local.sets) {
    Range& members = dim == Dim::vertex ? set.vertices : set.entities[index(dim)];
    Range moved;
    for (const LocalId id : members) moved.insert(LocalId{place[index(id)]});
    members = moved;
  }
  for (MeshTag& tag : local.tags) {
    MeshTag::Values& values = tag.on[index(dim)];
    std::vector<std::pair<std::int32_t, std::size_t>> moved;  // new index, number of the value
    for (const LocalId id : values.entities) moved.emplace_back(place[index(id)], moved.size());
    std::ranges::sort(moved);
    MeshTag::Values sorted;
    for (const auto& [at, which] : moved) {
      sorted.entities.insert(LocalId{at});
      sorted.items.add(values.items.value(which, tag.info.value_bytes()), tag.info.length_varies);
    }
    values = sorted;
  }
  for (FieldData& field : local.fields)
    if (field.dim == dim) std::visit([&](auto& values) { permute(values, field.n_components); }, field.values);
}

TEST(Adopt, GivesTheMeshThatCameApart) {
  for (const MeshTables& tables : meshes()) {
    for (const BuildOptions& options : ways()) {
      const Mesh built(world(), tables, options);
      Mesh mesh(world(), tables, options);
      fill(mesh);
      const std::uint64_t checksum = mesh.checksum();
      EXPECT_EQ(mesh.revision(), 0U);

      LocalMesh local = std::move(mesh).release();
      const Mesh adopted = adopt(world(), std::move(local));
      expect_same_mesh(adopted, built);
      expect_filled(adopted);
      EXPECT_EQ(adopted.checksum(), checksum);
      EXPECT_EQ(adopted.revision(), 1U);
      EXPECT_EQ(adopted.ghost_layers(), options.ghost_layers);
    }
  }
}

TEST(Adopt, TakesEntitiesInAnyOrder) {
  std::mt19937_64 random(test::seed() + static_cast<std::uint64_t>(world().rank()));
  for (const MeshTables& tables : meshes()) {
    const BuildOptions options{.ghost_layers = 1, .ghost_sides = true};
    const Mesh built(world(), tables, options);
    Mesh mesh(world(), tables, options);
    fill(mesh);
    LocalMesh local = std::move(mesh).release();
    for (int d = 0; d <= value(local.cell_dim); ++d) shuffle(local, Dim{d}, random);
    const Mesh adopted = adopt(world(), std::move(local));
    expect_same_mesh(adopted, built);
    expect_filled(adopted);
  }
}

TEST(Adopt, MovesAfterwards) {
  const MeshTables tables = parted_box(world(), {4, 3, 4}, true, world().size());
  Mesh mesh(world(), tables, {.ghost_layers = 1});
  fill(mesh);
  Mesh adopted = adopt(world(), std::move(mesh).release());
  adopted.migrate(std::vector<Rank>(adopted.n_owned(Dim::volume), (world().rank() + 1) % world().size()));
  expect_filled(adopted);
  EXPECT_EQ(adopted.revision(), world().size() > 1 ? 2U : 1U);
}

/// Each rank drops some of its cells without communication.
TEST(Adopt, LeavesOutWhatNoCellUses) {
  for (const bool tets : {false, true}) {
    MeshTables tables = parted_box(world(), {4, 3, 4}, tets, world().size());
    add_sets_in_sets(tables);
    const auto stays = [](std::int64_t cell) { return cell % 7 != 0 && (cell < 20 || cell > 35); };
    Mesh mesh(world(), tables, {.ghost_layers = 1, .ghost_sides = true});
    fill(mesh);
    LocalMesh local = std::move(mesh).release();
    // A set of all vertices: dropped vertices leave it too.
    MeshSet& all = local.sets.emplace_back();
    all.info.name = "all";
    if (local.n_vertices() > 0) all.vertices.insert({LocalId{0}, local_id(local.n_vertices())});
    LocalEntities& cells = local.entities[index(Dim::volume)];
    // Indices of the remaining cells; `keep` moves data of cells.
    std::vector<std::size_t> kept;
    for (std::size_t c = 0; c < cells.size(); ++c)
      if (stays(value(cells.ids[c]))) kept.push_back(c);
    const auto keep = [&](auto& items, std::size_t width) {
      for (std::size_t k = 0; k < kept.size(); ++k)
        std::copy_n(items.begin() + kept[k] * width, width, items.begin() + k * width);
      items.resize(kept.size() * width);
    };
    const test::WholeMesh whole(world(), tables);
    for (MeshSet& set : local.sets) {
      Range members;
      for (std::size_t k = 0; k < kept.size(); ++k)
        if (set.entities[3].contains(local_id(kept[k]))) members.insert(local_id(k));
      set.entities[3] = members;
    }
    keep(cells.ids, 1);
    keep(cells.nodes, cells.nodes_per_entity);
    keep(local.cell_parts, 1);
    for (FieldData& field : local.fields)
      if (field.dim == Dim::volume) std::visit([&](auto& values) { keep(values, field.n_components); }, field.values);

    const Mesh left = adopt(world(), std::move(local));
    left.validate();
    expect_filled(left);
    for (std::size_t v = 0; v < left.vertices().size(); ++v) {
      const bool is_member = left.sets().back().vertices.contains(local_id(v));
      EXPECT_TRUE(is_member || left.status(Dim::vertex, local_id(v)).is_ghost);
    }
    EXPECT_LE(left.sets().back().vertices.size(), left.vertices().size());
    // The oracle: users of each vertex among the remaining cells.
    std::map<std::int64_t, std::set<int>> users;
    std::int64_t n_cells = 0;
    for (std::size_t c = 0; c < whole.cells.size(); ++c) {
      if (!stays(c)) continue;
      n_cells += 1;
      for (const std::int64_t v : whole.cells[c].nodes)
        users[v].insert(whole.rank_of(whole.cells[c].part, world().size()));
    }
    EXPECT_EQ(left.n_global(Dim::volume), n_cells);
    EXPECT_EQ(left.n_global(Dim::vertex), std::ssize(users));
    for (const auto& [id, ranks] : users) {
      const auto& ids = left.vertices().global_ids;
      const auto at = std::ranges::find(ids, GlobalId{id});
      ASSERT_EQ(at != ids.end() && !left.status(Dim::vertex, local_id(at - ids.begin())).is_ghost,
                ranks.contains(world().rank()));
      if (!ranks.contains(world().rank())) continue;
      const std::span<const Rank> sharers = left.status(Dim::vertex, local_id(at - ids.begin())).sharers;
      if (ranks.size() == 1) {
        EXPECT_TRUE(sharers.empty());
      } else {
        EXPECT_TRUE(std::ranges::equal(sharers, ranks)) << "vertex " << id;
      }
    }
  }
}

TEST(Adopt, TakesArraysOfAProgram) {
  // A fan of triangles around vertex 0, some on each rank; every rank knows which ranks share the spokes.
  const int n_ranks = world().size();
  const Rank me = world().rank();
  LocalMesh local;
  local.cell_dim = Dim::face;
  const int n_each = 3;
  const int n = n_each * n_ranks;  // triangles; vertices 1 .. n are on a circle, closed on one rank
  LocalEntities& cells = local.entities[index(Dim::face)];
  cells.types = {CellType::triangle};
  cells.nodes_per_entity = 3;
  std::vector<Rank> all(n_ranks);
  std::iota(all.begin(), all.end(), 0);
  const auto share = [&](std::vector<Rank> ranks) {
    std::ranges::sort(ranks);
    ranks.erase(std::ranges::unique(ranks).begin(), ranks.end());
    return ranks.size() > 1 ? local.rank_sets.add(ranks) : -1;
  };
  const auto add_vertex = [&](std::int64_t id, std::vector<Rank> ranks) {
    const double angle = 6.283185307179586 * static_cast<double>(id) / n;
    local.vertex_ids.push_back(GlobalId{id});
    for (const double x : {id == 0 ? 0.0 : std::cos(angle), id == 0 ? 0.0 : std::sin(angle), 0.0})
      local.coordinates.push_back(x);
    local.vertex_sharers.push_back(share(std::move(ranks)));
  };
  add_vertex(0, all);
  const Rank before = (me + n_ranks - 1) % n_ranks, after = (me + 1) % n_ranks;
  for (int i = 0; i <= n_each; ++i) {
    if (i == n_each && n_ranks == 1) break;  // the first vertex again
    add_vertex((me * n_each + i) % n + 1,
               i == 0 ? std::vector{before, me} : (i == n_each ? std::vector{me, after} : std::vector{me}));
  }
  for (int i = 0; i < n_each; ++i) {
    cells.ids.push_back(GlobalId{me * n_each + i});
    const int last = n_ranks == 1 && i + 1 == n_each ? 0 : i + 1;
    for (const int place : {0, i + 1, last + 1}) cells.nodes.push_back(LocalId{place});
  }
  local.options.ghost_layers = 1;
  const Mesh mesh = adopt(world(), std::move(local));
  mesh.validate();
  EXPECT_EQ(mesh.n_global(Dim::face), n);
  EXPECT_EQ(mesh.n_global(Dim::vertex), n + 1);
  EXPECT_EQ(mesh.cells().size(), static_cast<std::size_t>(n)) << "all triangles touch the middle";
  EXPECT_EQ(mesh.n_parts(), n_ranks);
}

// A fault on one rank: all ranks get the same error, and the passed data remain.

using Spoil = std::function<void(LocalMesh&)>;

/// Expect that `adopt` refuses a spoilt mesh. @param words  in the message
void expect_refused(const Spoil& spoil, Rank on, const std::string& words) {
  MeshTables tables = parted_box(world(), {4, 3, 4}, true, world().size());
  add_tags(tables);
  Mesh mesh(world(), tables, {.ghost_layers = 1});
  fill(mesh);
  const std::uint64_t checksum = mesh.checksum();
  LocalMesh local = std::move(mesh).release();
  const LocalMesh before = local;
  if (world().rank() == on % world().size()) spoil(local);
  const LocalMesh spoilt = local;
  try {
    static_cast<void>(adopt(world(), std::move(local)));
    ADD_FAILURE() << "nobody noticed: " << words;
  } catch (const AgreedError& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
  }
  EXPECT_EQ(local.vertex_ids, spoilt.vertex_ids);
  EXPECT_EQ(local.coordinates.size(), spoilt.coordinates.size());
  EXPECT_EQ(local.entities[3].nodes, spoilt.entities[3].nodes);
  EXPECT_EQ(local.fields.size(), spoilt.fields.size());
  const Mesh whole = adopt(world(), LocalMesh(before));
  EXPECT_EQ(whole.checksum(), checksum);
}

TEST(Adopt, RefusesArraysThatDoNotFit) {
  const Rank last = world().size() - 1;
  expect_refused([](LocalMesh& m) { m.vertex_ids.push_back(m.vertex_ids[0]); }, 0, "is given twice");
  expect_refused([](LocalMesh& m) { m.coordinates.pop_back(); }, last, "coordinates");
  expect_refused([](LocalMesh& m) { m.coordinates[4] = std::nan(""); }, last, "must be finite");
  expect_refused([](LocalMesh& m) { m.vertex_ids[1] = GlobalId{-4}; }, last, "vertex -4");
  expect_refused([](LocalMesh& m) { m.entities[3].ids[0] = m.entities[3].ids[1]; }, last, "is given twice");
  expect_refused([](LocalMesh& m) { m.entities[3].nodes[1] = local_id(m.n_vertices()); }, last, "refers to vertex");
  expect_refused([](LocalMesh& m) { m.entities[3].nodes.pop_back(); }, 1, "nodes of cells");
  expect_refused([](LocalMesh& m) { m.entities[3].types[0] = CellType::quad; }, 1, "cell type");
  expect_refused([](LocalMesh& m) { m.cell_parts[0] = 99; }, 1, "part 99");
  expect_refused([](LocalMesh& m) { std::get<std::vector<double>>(m.fields[0].values).pop_back(); }, 1, "field 'x'");
  expect_refused([](LocalMesh& m) { m.tags[0].on[0].items.bytes.pop_back(); }, 1, "tag 'dense'");
  if (world().size() == 1) return;
  expect_refused([](LocalMesh& m) { m.fields[0].name = "y"; }, 1, "the same sets, tags, fields");
  expect_refused([](LocalMesh& m) { m.tags.pop_back(); }, 1, "the same sets, tags, fields");
}

TEST(Adopt, RefusesEntitiesOnRanksThatDoNotShareThem) {
  if (world().size() == 1) return;
  const Rank last = world().size() - 1;
  const auto id_of_another_rank = [](std::vector<GlobalId> mine) {
    std::ranges::sort(mine);
    std::int64_t id = 0;
    for (const GlobalId one : mine) id += value(one) == id ? 1 : 0;
    return GlobalId{id};
  };
  expect_refused([&](LocalMesh& m) { m.entities[3].ids[0] = id_of_another_rank(m.entities[3].ids); }, last,
                 "which do not share it (give each cell on one rank)");
  const auto take_another = [&](LocalMesh& m) {
    const auto inner = std::ranges::find(m.vertex_sharers, -1) - m.vertex_sharers.begin();
    m.vertex_ids[inner] = id_of_another_rank(m.vertex_ids);
  };
  expect_refused(take_another, last, "which do not share it (give it with its sharers)");
}

TEST(Adopt, RefusesContradictions) {
  if (world().size() == 1) return;
  // The first shared vertex of the last rank, which shares some with its neighbours.
  const auto shared = [](const LocalMesh& m) {
    return std::ranges::find_if(m.vertex_sharers, [](std::int32_t s) { return s >= 0; }) - m.vertex_sharers.begin();
  };
  const Rank last = world().size() - 1;
  expect_refused([&](LocalMesh& m) { m.coordinates[3 * shared(m)] += 1e-9; }, last,
                 "has different sharers, nodes or coordinates");
  expect_refused([&](LocalMesh& m) { m.vertex_sharers[shared(m)] = -1; }, last, "is shared with rank");
  expect_refused([&](LocalMesh& m) { m.vertex_ids[shared(m)] = GlobalId{1000000}; }, last, "is shared with rank");
  expect_refused(
      [&](LocalMesh& m) {
        m.vertex_sharers[0] = m.rank_sets.add(std::vector<Rank>{0, world().size() - 1});
        for (std::size_t v = 1; v < m.n_vertices(); ++v)
          if (m.vertex_sharers[v] < 0) m.vertex_sharers[v] = m.vertex_sharers[0];
      },
      last, "is shared with rank");
  expect_refused([](LocalMesh& m) { m.options.ghost_ranks = {0}; }, last, "options of ghosts");
  expect_refused([](LocalMesh& m) { m.options.ghost_layers = -1; }, last, "options of ghosts");
  expect_refused(  // a set of one rank
      [](LocalMesh& m) {
        m.rank_sets = {};
        m.rank_sets.add(std::vector<Rank>{0});
        std::ranges::fill(m.vertex_sharers, -1);
      },
      last, "set of ranks 0: 0");
}

TEST(Adopt, RefusesACellOfTwoRanks) {
  if (world().size() == 1) return;
  // One tet with all its vertices, on all ranks.
  LocalMesh local;
  std::vector<Rank> all(world().size());
  std::iota(all.begin(), all.end(), 0);
  const std::int32_t set = local.rank_sets.add(all);
  local.vertex_ids = {GlobalId{0}, GlobalId{1}, GlobalId{2}, GlobalId{3}};
  local.coordinates = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
  local.vertex_sharers.assign(4, set);
  LocalEntities& cells = local.entities[3];
  cells.ids = {GlobalId{5}};
  cells.types = {CellType::tet};
  cells.nodes_per_entity = 4;
  cells.nodes = {LocalId{0}, LocalId{1}, LocalId{2}, LocalId{3}};
  try {
    static_cast<void>(adopt(world(), std::move(local)));
    ADD_FAILURE() << "a cell of all ranks was taken";
  } catch (const AgreedError& error) {
    EXPECT_NE(std::string(error.what()).find("cell 5"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("is given by rank"), std::string::npos) << error.what();
  }
}

TEST(Adopt, RefusesNothingAtAll) { EXPECT_THROW(static_cast<void>(adopt(world(), LocalMesh{})), AgreedError); }

}  // namespace
}  // namespace barrio::mesh
