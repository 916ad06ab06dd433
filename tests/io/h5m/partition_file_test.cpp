// Effects of `barrio partition` other than the partition: full parts, several partitions, dropped geometry.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "barrio/io/inspect.hpp"
#include "barrio/io/read.hpp"
#include "barrio/io/write.hpp"
#include "barrio/mesh/box.hpp"
#include "barrio/mesh/drop_geometry.hpp"
#include "barrio/mesh/partition_cells.hpp"
#include "barrio/partition/graph.hpp"
#include "tests/io/damage.hpp"
#include "tests/io/whole_file.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::io {
namespace {

using mesh::Dim;
using mesh::MeshTables;
using mesh::SetKind;
using test::WholeFile;
using test::world;

/// Make a box of 64 volumes, or of 8, with all the sets of a model.
MeshTables model(bool tets, int n_volumes = 2) {
  return mesh::make_box(world(), {.n = {6, 5, 4}, .tets = tets, .volumes = {n_volumes, n_volumes, n_volumes}});
}

using Nodes = std::vector<std::int64_t>;

/// Return the nodes of the cells of each dimension by row; the node of a vertex is itself.
std::array<std::vector<Nodes>, 4> nodes_by_row(const WholeFile& whole) {
  std::array<std::vector<Nodes>, 4> rows;
  for (const auto& [type, nodes] : whole.cells)
    rows[static_cast<std::size_t>(value(mesh::topology(type).dim))].push_back(nodes);
  for (std::size_t v = 0; 3 * v < whole.coordinates.size(); ++v) rows[0].push_back({static_cast<std::int64_t>(v)});
  return rows;
}

/// Return the members of each set as (dimension, nodes).
std::vector<std::set<std::pair<int, Nodes>>> members_by_nodes(const WholeFile& whole) {
  const auto rows = nodes_by_row(whole);
  std::vector<std::set<std::pair<int, Nodes>>> all;
  for (const auto& members : whole.members) {
    all.emplace_back();
    for (const auto& [dim, row] : members) all.back().insert({dim, rows[dim][row]});
  }
  return all;
}

template <class Call>
void expect_refused(Call&& call, ErrorCode code, const std::string& text) {
  try {
    call();
    ADD_FAILURE() << "should refuse: " << text;
  } catch (const AgreedError& error) {
    EXPECT_EQ(error.code(), code);
    EXPECT_EQ(std::string(error.what()), text);
  }
}

// --- full parts

/// Return the contents of each set of a file, with ranges expanded.
std::vector<std::set<std::int64_t>> contents_of_sets(const std::string& path) {
  const auto list = test::numbers(path, "/tstt/sets/list");
  const auto contents = test::numbers(path, "/tstt/sets/contents");
  std::vector<std::set<std::int64_t>> all;
  std::size_t at = 0;
  for (std::size_t s = 0; 4 * s < list.size(); ++s) {
    std::set<std::int64_t>& ids = all.emplace_back();
    const auto end = static_cast<std::size_t>(list[4 * s] + 1.0);
    const bool is_ranged = (static_cast<int>(list[4 * s + 3]) & 8) != 0;
    for (; at < end; at += is_ranged ? 2 : 1) {
      const auto first = static_cast<std::int64_t>(contents[at]);
      const auto n = is_ranged ? static_cast<std::int64_t>(contents[at + 1]) : 1;
      for (std::int64_t id = first; id < first + n; ++id) EXPECT_TRUE(ids.insert(id).second) << "twice in set " << s;
    }
  }
  return all;
}

/// Compute the same from the definition: a side is a cell of lower dimension whose vertices are all vertices of a cell.
std::vector<std::set<std::int64_t>> full_parts(const WholeFile& whole, const MeshTables& tables) {
  const auto rows = nodes_by_row(whole);
  const auto top = static_cast<std::size_t>(value(tables.top_dim()));
  // Ids of the file: vertices, then cells block by block, then parts, then sets.
  const auto n_vertices = static_cast<std::int64_t>(rows[0].size());
  std::array<std::vector<std::int64_t>, 4> id_of;
  std::int64_t next = 1 + n_vertices;
  for (const auto& [type, nodes] : whole.cells) id_of[value(mesh::topology(type).dim)].push_back(next++);
  const std::int64_t first_set = next + tables.n_parts;

  std::vector<std::set<std::int64_t>> parts(tables.n_parts);
  for (std::size_t p = 0; p < parts.size(); ++p) {
    std::array<std::set<std::int64_t>, 4> own;  // rows by dimension
    std::vector<std::set<std::int64_t>> cells;
    for (std::size_t c = 0; c < rows[top].size(); ++c) {
      if (whole.parts[c] != static_cast<std::int32_t>(p)) continue;
      own[top].insert(c);
      cells.emplace_back(rows[top][c].begin(), rows[top][c].end());
      own[0].insert(rows[top][c].begin(), rows[top][c].end());
    }
    for (std::size_t d = 1; d < top; ++d) {
      for (std::size_t i = 0; i < rows[d].size(); ++i) {
        std::set<std::int64_t> nodes(rows[d][i].begin(), rows[d][i].end());
        if (std::ranges::any_of(cells, [&](const auto& cell) { return std::ranges::includes(cell, nodes); }))
          own[d].insert(i);
      }
    }
    for (std::size_t d = 1; d <= top; ++d)
      for (const std::int64_t row : own[d]) parts[p].insert(id_of[d][row]);
    // A set is in the part if all its contents are; repeat for nested sets until nothing changes.
    std::vector<bool> is_in(whole.sets.size(), false);
    for (bool changes = true; changes;) {
      changes = false;
      for (std::size_t s = 0; s < is_in.size(); ++s) {
        const bool has_any = !whole.members[s].empty() || !tables.sets[s].contained.empty();
        const bool is_whole =
            has_any &&
            std::ranges::all_of(
                whole.members[s],
                [&](const auto& m) { return own[static_cast<std::size_t>(m.first)].contains(m.second); }) &&
            std::ranges::all_of(tables.sets[s].contained,
                                [&](const auto& inner) { return is_in[static_cast<std::size_t>(inner.set)]; });
        changes = changes || is_whole != is_in[s];
        is_in[s] = is_whole;
      }
    }
    for (std::size_t s = 0; s < is_in.size(); ++s)
      if (is_in[s]) parts[p].insert(first_set + static_cast<std::int64_t>(s));
  }
  return parts;
}

void expect_full_parts(const MeshTables& tables, const std::string& name) {
  SCOPED_TRACE(name);
  const std::string path = (test::scratch() / (name + ".h5m")).string();
  write_h5m(world(), tables, path, {.full_parts = true});
  const WholeFile whole(world(), tables);
  EXPECT_TRUE(WholeFile(world(), read_tables(world(), path)) == whole) << "it must come back";
  if (world().rank() != 0) return;
  const auto found = contents_of_sets(path);
  const auto expected = full_parts(whole, tables);
  ASSERT_EQ(found.size(), expected.size() + tables.sets.size());
  for (std::size_t p = 0; p < expected.size(); ++p) EXPECT_EQ(found[p], expected[p]) << "part " << p;
}

TEST(FullParts, HoldTheFacesEdgesAndSetsOfTheirCells) {
  for (const bool tets : {false, true}) {
    MeshTables tables = model(tets);
    // A set of sets, a set that spans parts, an empty set, and a part without cells.
    tables.sets.push_back({.name = "all", .contained = {{0, -1}, {1, -1}}});
    tables.sets.push_back({.name = "nothing"});
    tables.sets.push_back({.name = "outer", .contained = {{static_cast<std::int32_t>(tables.sets.size()) - 2}}});
    for (const int n_parts : {1, 3, 8}) {
      mesh::partition_cells(world(), tables, n_parts, "hilbert");
      expect_full_parts(tables, fmt::format("full_{}_{}", tets, n_parts));
      expect_full_parts(mesh::reorder_by_part(world(), tables), fmt::format("full_ordered_{}_{}", tets, n_parts));
    }
    tables.n_parts = 10;
    expect_full_parts(tables, fmt::format("full_{}_empty", tets));
  }
}

TEST(FullParts, WithoutListedSidesAreTheCells) {
  MeshTables tables = mesh::make_box(world(), {.n = {1, 1, 1}});
  std::erase_if(tables.blocks, [](const auto& block) { return mesh::topology(block.type).dim != Dim::volume; });
  tables.sets.clear();
  tables.members.clear();
  mesh::partition_cells(world(), tables, 1);
  expect_full_parts(tables, "full_one");
}

TEST(FullParts, OfARealModelComeBack) {
  const auto path = test::interop("h5m/64bricks_1khex.h5m");
  if (!path) GTEST_SKIP() << "the collection of sample files is not there: no 64bricks_1khex.h5m";
  MeshTables tables = read_tables(world(), path->string());
  mesh::partition_cells(world(), tables, 5);
  expect_full_parts(mesh::reorder_by_part(world(), std::move(tables)), "full_64bricks");
}

// --- without geometry

/// Compare with the definition, on the whole mesh. Geometry sets are dropped, and the sets that contain them get their
/// members. Faces and edges that are no longer in any set are dropped.
void expect_geometry_is_dropped(const MeshTables& tables, const std::string& name) {
  SCOPED_TRACE(name);
  const MeshTables dropped = mesh::drop_geometry(world(), tables);
  mesh::validate(world(), dropped, name);
  const WholeFile before(world(), tables);
  const WholeFile after(world(), dropped);
  EXPECT_EQ(after.coordinates, before.coordinates);
  EXPECT_EQ(after.parts, before.parts);

  const auto is_geometry = [&](std::size_t s) {
    const mesh::SetInfo& set = tables.sets[s];
    return set.kind == SetKind::geometry && set.more_roles.empty();
  };
  auto members = before.members;
  for (std::size_t repeat = 0; repeat < members.size(); ++repeat) {  // the max depth of nested sets
    bool changes = false;
    for (std::size_t s = 0; s < members.size(); ++s) {
      const std::size_t n = members[s].size();
      for (const mesh::SetInSet& inner : tables.sets[s].contained) {
        const auto i = static_cast<std::size_t>(inner.set);
        if (is_geometry(i)) members[s].insert(members[i].begin(), members[i].end());
      }
      changes = changes || members[s].size() != n;
    }
    if (!changes) break;
  }
  std::set<std::pair<int, std::int64_t>> in_any;
  std::set<std::pair<int, std::int64_t>> in_left;
  std::vector<std::set<std::pair<int, Nodes>>> expected_members;
  std::vector<std::string> expected_names;
  const auto rows = nodes_by_row(before);
  for (std::size_t s = 0; s < members.size(); ++s) {
    in_any.insert(members[s].begin(), members[s].end());
    if (is_geometry(s)) continue;
    in_left.insert(members[s].begin(), members[s].end());
    expected_names.push_back(tables.sets[s].name);
    expected_members.emplace_back();
    for (const auto& [dim, row] : members[s]) expected_members.back().insert({dim, rows[dim][row]});
  }
  std::array<std::vector<Nodes>, 4> expected_rows = rows;
  for (int d = 1; d < value(tables.top_dim()); ++d) {
    std::vector<Nodes>& left = expected_rows[d];
    left.clear();
    for (std::size_t i = 0; i < rows[d].size(); ++i) {
      const std::pair row(d, static_cast<std::int64_t>(i));
      if (in_left.contains(row) || !in_any.contains(row)) left.push_back(rows[d][i]);
    }
  }
  EXPECT_EQ(nodes_by_row(after), expected_rows);
  EXPECT_EQ(members_by_nodes(after), expected_members);
  std::vector<std::string> names;
  for (const mesh::SetInfo& set : dropped.sets) {
    names.push_back(set.name);
    EXPECT_NE(set.kind, SetKind::geometry);
  }
  EXPECT_EQ(names, expected_names);

  const std::string path = (test::scratch() / (name + ".h5m")).string();
  write_h5m(world(), dropped, path);
  EXPECT_TRUE(WholeFile(world(), read_tables(world(), path)) == after);
}

TEST(DropGeometry, IsWhatItSays) {
  for (const bool tets : {false, true}) {
    MeshTables tables = model(tets);
    expect_geometry_is_dropped(tables, fmt::format("plain_{}", tets));
    mesh::partition_cells(world(), tables, 4);
    const auto is_geometry = [](const mesh::SetInfo& set) { return set.kind == SetKind::geometry; };
    const auto first = std::ranges::find_if(tables.sets, is_geometry);
    ASSERT_NE(first, tables.sets.end());
    const auto geometry = static_cast<std::int32_t>(first - tables.sets.begin());
    // A geometry set that is also a Dirichlet set; one that contains another and is contained in a group.
    tables.sets[geometry].more_roles = {{SetKind::dirichlet, 5, Dim::vertex}};
    tables.sets[static_cast<std::size_t>(geometry) + 1].contained = {{geometry + 2}};
    tables.sets.push_back({.name = "group", .contained = {{geometry + 1}, {geometry}}});
    expect_geometry_is_dropped(tables, fmt::format("roles_{}", tets));
  }
}

TEST(DropGeometry, OfARealModel) {
  const auto path = test::interop("h5m/64bricks_1khex.h5m");
  if (!path) GTEST_SKIP() << "the collection of sample files is not there: no 64bricks_1khex.h5m";
  expect_geometry_is_dropped(read_tables(world(), path->string()), "dropped_64bricks");
}

TEST(DropGeometry, TagsFollow) {
  MeshTables tables = model(false);
  const std::size_t n_sets = tables.sets.size();
  // Each face has its row, each set its index, and each vertex and set a face and a set.
  const auto words = [](const auto& value) { return std::as_bytes(std::span(&value, 1)); };
  mesh::TagTable number{.info = {.name = "number"}};
  mesh::TagTable entity{.info = {.name = "entity", .type = mesh::TagType::entity}};
  for (std::size_t b = 0; b < tables.blocks.size(); ++b) {
    if (mesh::topology(tables.blocks[b].type).dim != Dim::face) continue;
    mesh::TagColumn column{.block = static_cast<std::int32_t>(b)};
    const Slabs& rows = tables.blocks[b].rows;
    for (std::int64_t row = rows.first(world().rank()); row < rows.first(world().rank() + 1); ++row)
      column.items.add(words(static_cast<std::int32_t>(row)), false);
    number.columns.push_back(column);
  }
  mesh::TagColumn on_vertices;
  const std::int64_t n_faces = tables.n_global(Dim::face);
  for (std::int64_t v = tables.vertices.first(world().rank()); v < tables.vertices.first(world().rank() + 1); ++v)
    on_vertices.items.add(words(mesh::code_of(Dim::face, GlobalId{v % n_faces})), false);
  entity.columns.push_back(on_vertices);
  for (std::size_t s = 0; s < n_sets; ++s) {
    number.on_sets.sets.push_back(static_cast<std::int32_t>(s));
    number.on_sets.items.add(words(static_cast<std::int32_t>(s)), false);
    entity.on_sets.sets.push_back(static_cast<std::int32_t>(s));
    entity.on_sets.items.add(words(mesh::code_of_set(static_cast<std::int32_t>(n_sets - 1 - s))), false);
  }
  tables.tags = {number, entity};

  const MeshTables dropped = mesh::drop_geometry(world(), tables);
  const auto old_faces = nodes_by_row(WholeFile(world(), tables))[2];
  const auto new_faces = nodes_by_row(WholeFile(world(), dropped))[2];
  ASSERT_LT(new_faces.size(), old_faces.size());
  const auto int_at = [](const mesh::TagItems& items, std::size_t i) {
    std::int32_t n = 0;
    std::memcpy(&n, items.value(i, sizeof n).data(), sizeof n);
    return n;
  };
  const auto code_at = [](const mesh::TagItems& items, std::size_t i) {
    mesh::EntityCode code{};
    std::memcpy(&code, items.value(i, sizeof code).data(), sizeof code);
    return code;
  };
  ASSERT_EQ(dropped.tags[0].columns.size(), 1U);
  const mesh::TagColumn& column = dropped.tags[0].columns[0];
  const Slabs& rows = dropped.blocks[column.block].rows;
  ASSERT_EQ(rows.n_rows, static_cast<std::int64_t>(new_faces.size()));
  for (std::size_t i = 0; i < rows.size(world().rank()); ++i) {
    const auto row = static_cast<std::size_t>(rows.first(world().rank())) + i;
    EXPECT_EQ(old_faces[static_cast<std::size_t>(int_at(column.items, i))], new_faces[row]);
  }
  for (std::size_t i = 0; i < tables.vertices.size(world().rank()); ++i) {
    const Nodes& old = old_faces[mesh::row_of(code_at(on_vertices.items, i))];
    const mesh::EntityCode code = code_at(dropped.tags[1].columns[0].items, i);
    if (std::ranges::find(new_faces, old) == new_faces.end()) {
      EXPECT_EQ(code, mesh::EntityCode::none);
    } else {
      EXPECT_EQ(new_faces[static_cast<std::size_t>(mesh::row_of(code))], old);
    }
  }
  ASSERT_EQ(dropped.tags[0].on_sets.sets.size(), dropped.sets.size());
  for (std::size_t s = 0; s < dropped.sets.size(); ++s) {
    const auto old = static_cast<std::size_t>(int_at(dropped.tags[0].on_sets.items, s));
    EXPECT_EQ(tables.sets[old].name, dropped.sets[s].name);
    const mesh::SetInfo& wanted = tables.sets[n_sets - 1 - old];
    const mesh::EntityCode code = code_at(dropped.tags[1].on_sets.items, s);
    if (wanted.kind == SetKind::geometry) {
      EXPECT_EQ(code, mesh::EntityCode::none);
    } else {
      EXPECT_EQ(dropped.sets[static_cast<std::size_t>(mesh::row_of(code))].name, wanted.name);
    }
  }
}

TEST(DropGeometry, AnOrderedSetOfGeometryIsRefused) {
  MeshTables tables = model(false);
  const auto geometry = std::ranges::find(tables.sets, SetKind::geometry, &mesh::SetInfo::kind) - tables.sets.begin();
  tables.sets.push_back(
      {.id = 3, .name = "loop", .is_ordered = true, .contained = {{static_cast<std::int32_t>(geometry), 0}}});
  expect_refused([&] { static_cast<void>(mesh::drop_geometry(world(), tables)); }, ErrorCode::bad_input,
                 "set 3 'loop': is an ordered list that contains geometry sets, whose entities have no position in it "
                 "(keep the geometry)");
}

// --- no partition

TEST(ReadWithoutAPartition, AnyPartitionerGivesTheSameMesh) {
  const std::string path = test::data("wing/wing_coarse.msh").string();
  const std::uint64_t expected = read(world(), path).checksum();
  const auto available = partition::available_graph_methods();
  for (const std::string& method : mesh::partitioner_names()) {
    SCOPED_TRACE(method);
    const bool is_by_coordinates = method == "rcb" || method == "hilbert";
    if (!is_by_coordinates && std::ranges::find(available, method) == available.end()) continue;
    const mesh::Mesh mesh = read(world(), path, {.ghost_layers = 1, .partitioner = method});
    mesh.validate();
    EXPECT_EQ(mesh.n_parts(), world().size());
    EXPECT_EQ(mesh.checksum(), expected);
    EXPECT_GT(mesh.n_owned(Dim::volume), 0U);
  }
}

// --- several partitions

TEST(PartitionTags, AreReadByName) {
  const std::string path = (test::scratch() / "partitions.h5m").string();
  const std::string both = (test::scratch() / "both.h5m").string();
  MeshTables tables = model(true);
  mesh::partition_cells(world(), tables, 4);
  const std::vector<std::int32_t> by_rcb = WholeFile(world(), tables).parts;
  write_h5m(world(), tables, path);

  MeshTables added = read_tables(world(), path, {.partition_tag = "FINE", .may_lack_partition_tag = true});
  EXPECT_EQ(added.n_parts, 0);
  mesh::partition_cells(world(), added, 6, "hilbert");
  const std::vector<std::int32_t> by_curve = WholeFile(world(), added).parts;
  write_h5m(world(), added, both, {.full_parts = true, .partition_tag = "FINE"});

  const MeshTables coarse = read_tables(world(), both);
  EXPECT_EQ(coarse.n_parts, 4);
  EXPECT_EQ(WholeFile(world(), coarse).parts, by_rcb);
  EXPECT_EQ(coarse.sets.size(), tables.sets.size() + 6) << "parts of the other one are sets like others";
  const MeshTables fine = read_tables(world(), both, {.partition_tag = "FINE"});
  EXPECT_EQ(fine.n_parts, 6);
  EXPECT_EQ(WholeFile(world(), fine).parts, by_curve);
  EXPECT_EQ(read(world(), both, {.partition_tag = "FINE"}).n_parts(), 6);
  // The same in another way: read one partition, write it back.
  write_h5m(world(), coarse, path);
  EXPECT_EQ(WholeFile(world(), read_tables(world(), path, {.partition_tag = "FINE"})).parts, by_curve);
  EXPECT_EQ(WholeFile(world(), read_tables(world(), path)).parts, by_rcb);

  if (world().rank() == 0) {
    EXPECT_EQ(inspect(both)["partitions"].dump(),
              R"([{"tag":"FINE","parts":6},{"tag":"PARALLEL_PARTITION","parts":4}])");
  }
  expect_refused([&] { static_cast<void>(read_tables(world(), both, {.partition_tag = "FIN"})); }, ErrorCode::usage,
                 both +
                     ": has no partition 'FIN'. Did you mean 'FINE'? (it has FINE (6 parts), PARALLEL_PARTITION (4 "
                     "parts))");
}

TEST(PartitionTags, AreNotFoundWhereThereAreNone) {
  const std::string path = (test::scratch() / "no_partition.h5m").string();
  write_h5m(world(), mesh::make_box(world(), {.n = {2, 2, 2}}), path);
  EXPECT_EQ(read_tables(world(), path).n_parts, 0);
  expect_refused([&] { static_cast<void>(read(world(), path, {.partition_tag = "FINE"})); }, ErrorCode::usage,
                 path + ": has no partition 'FINE'. (it has no partition; make one with barrio partition)");
  const std::string gmsh = test::data("wing/wing_coarse.msh").string();
  expect_refused([&] { static_cast<void>(read_tables(world(), gmsh, {.partition_tag = "FINE"})); }, ErrorCode::usage,
                 gmsh +
                     ": has no partition 'FINE': only .h5m files have partitions with names (partition it first: "
                     "barrio partition IN -n P --tag NAME -o OUT)");
}

TEST(PartitionTags, NamesWithAnotherMeaningAreRefused) {
  const std::string path = (test::scratch() / "refused.h5m").string();
  MeshTables tables = mesh::make_box(world(), {.n = {2, 2, 2}});
  mesh::partition_cells(world(), tables, 2);
  for (const char* name : {"MATERIAL_SET", "GEOM_DIMENSION", "NAME", "GLOBAL_ID"}) {
    expect_refused([&] { write_h5m(world(), tables, path, {.partition_tag = name}); }, ErrorCode::usage,
                   fmt::format("partition tag '{}': is a reserved name in .h5m files (choose another name; "
                               "programs look for PARALLEL_PARTITION)",
                               name));
  }
  tables.tags.push_back({.info = {.name = "heat"}});
  expect_refused([&] { write_h5m(world(), tables, path, {.partition_tag = "heat"}); }, ErrorCode::usage,
                 "partition tag 'heat': is the name of another tag of this mesh (choose another name, or read the mesh "
                 "with that partition)");
}

}  // namespace
}  // namespace barrio::io
