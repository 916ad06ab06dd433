#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <random>
#include <set>
#include <tuple>

#include "barrio/base/error.hpp"
#include "barrio/io/read.hpp"
#include "barrio/io/write.hpp"
#include "barrio/mesh/box.hpp"
#include "barrio/mesh/partition_cells.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"
#include "tests/io/damage.hpp"
#include "tests/io/tagged_box.hpp"
#include "tests/io/whole_file.hpp"
#include "tests/support/mpi_test.hpp"

// Some ranks save a mesh, and others continue with it.

namespace barrio::io {
namespace {

using mesh::Dim;
using mesh::Range;
using test::WholeFile;
using test::world;
namespace fs = std::filesystem;

void scatter(mesh::Mesh& mesh) {
  std::vector<Rank> to;
  for (std::size_t c = 0; c < mesh.n_owned(mesh.cell_dim()); ++c) {
    std::mt19937_64 random(test::seed() + static_cast<std::uint64_t>(value(mesh.cells().global_ids[c])));
    to.push_back(static_cast<Rank>(random() % static_cast<std::uint64_t>(world().size())));
  }
  mesh.migrate(to);
}

bool has_polyhedra(const mesh::Mesh& mesh) {
  const mesh::EntityTable& cells = mesh.cells();
  return std::ranges::find(cells.types, mesh::CellType::polyhedron) != cells.types.end() && cells.has_one_type;
}

TEST(Checkpoint, MayStandBehindAUserBlock) {
  mesh::MeshTables tables = mesh::make_box(world(), {.n = {3, 2, 2}, .tets = true});
  mesh::partition_cells(world(), tables, 3);
  const fs::path plain = test::scratch() / "plain.h5m";
  const fs::path behind = test::scratch() / "behind.h5m";
  write_h5m(world(), tables, plain.string());
  agree_after(world(), [&] {
    if (!world().is_root()) return;
    std::ofstream out(behind, std::ios::binary);
    out << std::string(512, ' ') << std::ifstream(plain, std::ios::binary).rdbuf();
  });
  EXPECT_EQ(detect_format(behind.string()), Format::h5m);
  EXPECT_EQ(read(world(), behind.string()).checksum(), mesh::Mesh(world(), tables).checksum());
}

TEST(Checkpoint, FileOfAMeshIsThatOfItsTables) {
  mesh::MeshTables tagged = test::tagged_box(world());
  for (mesh::SetInfo& set : tagged.sets) {  // a mesh does not keep the order of sets
    set.is_ordered = false;
    for (mesh::SetInSet& inner : set.contained) inner.position = -1;
  }
  for (mesh::SetRows& rows : tagged.members) rows.position = -1;
  for (mesh::MeshTables tables : {tagged, mesh::make_box(world(), {.n = {5, 4, 3}, .tets = true})}) {
    mesh::partition_cells(world(), tables, 6);
    const fs::path of_tables = test::scratch() / "of_tables.h5m";
    const fs::path of_mesh = test::scratch() / "of_mesh.h5m";
    write_h5m(world(), tables, of_tables.string());
    write(mesh::Mesh(world(), tables, {.ghost_layers = 1}), of_mesh.string());
    EXPECT_EQ(test::digest(of_mesh), test::digest(of_tables));
  }
}

TEST(Checkpoint, FieldsComeBackByGlobalIdOnAnotherRankCount) {
  mesh::MeshTables tables = test::tagged_box(world());
  mesh::partition_cells(world(), tables, 4);
  const fs::path path = test::scratch() / "checkpoint.h5m";
  std::uint64_t checksum = 0;
  {
    mesh::Mesh mesh(world(), tables, {.ghost_layers = 1});
    for (const Dim dim : {Dim::vertex, Dim::volume}) {
      auto heat = mesh.add_field<double>("heat", dim, 2);
      for (std::size_t i = 0; i < mesh.n_owned(dim); ++i)
        for (std::size_t c = 0; c < 2; ++c)
          heat.values()[2 * i + c] = static_cast<double>(value(mesh.global_ids(dim)[i])) / 3.0 + static_cast<double>(c);
    }
    scatter(mesh);
    checksum = mesh.checksum();
    write(mesh, path.string());
  }
  const mpi::Comm split = mpi::Comm::split(world().comm(), world().rank() == 0 ? 0 : 1, world().rank());
  mpi::Context some(split.get());  // rank 0 alone, the others together
  for (mpi::Context* context : {&world(), &some}) {
    mesh::Mesh mesh = read(*context, path.string(), {.ghost_layers = 1});
    mesh.validate();
    EXPECT_EQ(mesh.n_parts(), world().size());
    EXPECT_EQ(mesh.checksum(), checksum);
    const mesh::MeshTag& heat = mesh.tag("heat");
    EXPECT_EQ(heat.info.n_components, 2);
    for (const Dim dim : {Dim::vertex, Dim::volume}) {
      for (std::size_t i = 0; i < mesh.n_local(dim); ++i) {
        std::array<double, 2> found{};
        ASSERT_EQ(heat.value(dim, local_id(i)).size(), sizeof found);
        std::memcpy(found.data(), heat.value(dim, local_id(i)).data(), sizeof found);
        const double expected = static_cast<double>(value(mesh.global_ids(dim)[i])) / 3.0;
        EXPECT_EQ(found, (std::array{expected, expected + 1.0}));
      }
    }
    // Again, after a step: the field replaces the tag.
    if (context != &world()) continue;
    auto next = mesh.add_field<double>("heat", Dim::vertex);
    for (double& x : next.values()) x = 7.0;
    const fs::path later = test::scratch() / "later.h5m";
    write(mesh, later.string());
    const mesh::Mesh again = read(world(), later.string());
    EXPECT_EQ(again.tag("heat").info.n_components, 1);
    EXPECT_EQ(again.tag("heat").on[0].entities.size(), again.n_local(Dim::vertex));
    EXPECT_TRUE(again.tag("heat").on[3].entities.empty());
    write_h5m(mesh, later.string(), {.with_fields = false});
    EXPECT_EQ(read(world(), later.string()).tag("heat").info.n_components, 2);
  }
}

TEST(Checkpoint, RealFilesAreReadAndSaved) {
  for (const char* name : {"64bricks_1khex.h5m", "p8ex1.h5m", "oneside.h5m", "ln4.h5m", "32hex_ef.h5m",
                           "16_unmerged_hex.h5m", "onepart.h5m", "twoPolyh.h5m", "mpas_p8.h5m", "Homme_2pt.h5m",
                           "field1.h5m", "portable_x86_64.h5m", "test_geom.h5m", "quads.h5m", "3k-tri-cube.h5m"}) {
    const auto path = test::interop(std::string("h5m/") + name);
    if (!path) GTEST_SKIP() << "the collection of sample files is not there: no " << name;
    SCOPED_TRACE(name);
    const fs::path saved = test::scratch() / "saved.h5m";
    mesh::Mesh before = read(world(), path->string(), {.ghost_layers = 1});
    scatter(before);
    write(before, saved.string());
    const mesh::Mesh after = read(world(), saved.string(), {.ghost_layers = 1});
    after.validate();
    for (int d = 0; d <= value(before.cell_dim()); ++d) {
      if (d == 2 && has_polyhedra(before)) continue;  // the file lists all their faces
      EXPECT_EQ(after.n_global(Dim{d}), before.n_global(Dim{d}));
    }
    using Counted = std::tuple<mesh::SetKind, std::int32_t, std::string, std::array<std::int64_t, 4>>;
    std::array<std::multiset<Counted>, 2> sets;
    for (const mesh::Mesh* mesh : {static_cast<const mesh::Mesh*>(&before), &after})
      for (const mesh::MeshSet& set : mesh->sets())
        sets[mesh == &after ? 1 : 0].emplace(set.info.kind, set.info.id, set.info.name, test::count_owned(*mesh, set));
    EXPECT_EQ(sets[1], sets[0]);
    for (const mesh::MeshTag& tag : before.tags()) {
      for (std::size_t d = 0; d <= static_cast<std::size_t>(value(before.cell_dim())); ++d) {
        const auto n_values = [&](const mesh::Mesh& mesh) {
          const Range own = mesh.tag(tag.info.name)
                                .on[d]
                                .entities.intersected({LocalId{0}, local_id(mesh.n_owned(Dim{static_cast<int>(d)}))});
          return mpi::sum(world(), static_cast<std::int64_t>(own.size()));
        };
        EXPECT_EQ(n_values(after), n_values(before)) << tag.info.name;
      }
    }
  }
}

TEST(Checkpoint, FieldsWhoseNameMeansSomethingElseAreRefused) {
  mesh::MeshTables tables = mesh::make_box(world(), {.n = {2, 2, 2}});
  mesh::partition_cells(world(), tables, 2);
  const fs::path path = test::scratch() / "refused.h5m";
  for (const char* name : {"NAME", "GLOBAL_ID", "MATERIAL_SET", default_partition_tag}) {
    mesh::Mesh mesh(world(), tables);
    mesh.add_field<std::int32_t>(name, Dim::vertex);
    try {
      write(mesh, path.string());
      FAIL() << name;
    } catch (const AgreedError& error) {
      EXPECT_EQ(error.code(), ErrorCode::usage);
      EXPECT_EQ(error.what(), "field '" + std::string(name) +
                                  "': has a name that is reserved in .h5m files (give it another name, or "
                                  "save without fields)");
    }
    EXPECT_FALSE(fs::exists(path));
  }
}

}  // namespace
}  // namespace barrio::io
