// Real files of other programs. Two other readers found their contents: the counts are in the collection's own README;
// the members of sets come from an h5py script that expands ranges and follows nested sets.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "barrio/io/inspect.hpp"
#include "barrio/io/read.hpp"
#include "barrio/mpi/collectives.hpp"
#include "tests/io/whole_file.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::io {
namespace {

using mesh::CellType;
using mesh::SetKind;
using test::world;

struct Sample {
  const char* file;
  std::int64_t n_vertices;
  std::map<CellType, std::int64_t> n;
  int n_parts;
  std::map<SetKind, int> n_sets;
  std::uint64_t checksum;  ///< computed by one rank
};

/// Print the file's name in messages of failing tests.
void PrintTo(const Sample& sample, std::ostream* out) { *out << sample.file; }

class Interop : public testing::TestWithParam<Sample> {};

#define BARRIO_INTEROP_FILE(path, name)                          \
  const auto path = test::interop(std::string("h5m/") + (name)); \
  if (!path) GTEST_SKIP() << "the collection of sample files is not there: no " << (name)

TEST_P(Interop, CountsSetsAndChecksumAreRight) {
  const Sample& sample = GetParam();
  BARRIO_INTEROP_FILE(path, sample.file);
  const mesh::MeshTables tables = read_tables(world(), path->string());
  EXPECT_EQ(tables.vertices.n_rows, sample.n_vertices);
  std::map<CellType, std::int64_t> n;
  for (const mesh::CellBlock& block : tables.blocks) n[block.type] += block.rows.n_rows;
  EXPECT_EQ(n, sample.n);
  EXPECT_EQ(tables.n_parts, sample.n_parts);
  std::map<SetKind, int> n_sets;
  for (const mesh::SetInfo& set : tables.sets)
    if (set.kind != SetKind::other) n_sets[set.kind] += 1;
  EXPECT_EQ(n_sets, sample.n_sets);

  const mesh::Mesh mesh = read(world(), path->string(), {.ghost_layers = 1});
  mesh.validate();
  EXPECT_EQ(mesh.checksum(), sample.checksum) << fmt::format("{:#018x}", mesh.checksum());
}

TEST_P(Interop, InspectingFindsTheSame) {
  const Sample& sample = GetParam();
  BARRIO_INTEROP_FILE(path, sample.file);
  if (world().rank() != 0) return;  // local
  const Json found = inspect(path->string());
  EXPECT_EQ(found["vertices"], sample.n_vertices);
  EXPECT_EQ(found["entities"].size(), sample.n.size());
  for (const auto& [type, n] : sample.n) EXPECT_EQ(found["entities"][std::string(mesh::topology(type).plural)], n);
  EXPECT_EQ(found["sets"]["parts"], sample.n_parts);
  for (const auto& [kind, n] : sample.n_sets) EXPECT_EQ(found["sets"][std::string(mesh::name(kind))], n);
}

TEST(DamagedHistory, IsNotLookedAt) {
  // One wrong bit each in the heap of the strings of /tstt/history, which no reader needs.
  for (const char* name : {"flipped_124.h5m", "flipped_129.h5m"}) {
    const auto path = test::interop(std::string("foreign/") + name);
    if (!path) GTEST_SKIP() << "the collection of sample files is not there: no " << name;
    try {  // other bits are wrong too
      read_tables(world(), path->string());
      ADD_FAILURE() << name;
    } catch (const AgreedError& error) {
      EXPECT_EQ(error.code(), ErrorCode::bad_input) << error.what();
    }
    if (world().is_root()) {
      EXPECT_THROW(inspect(path->string()), Error) << name;
    }
  }
}

constexpr auto edge = CellType::edge;
constexpr auto triangle = CellType::triangle;
constexpr auto quad = CellType::quad;
constexpr auto polygon = CellType::polygon;
constexpr auto tet = CellType::tet;
constexpr auto hex = CellType::hex;
constexpr auto polyhedron = CellType::polyhedron;
using Sets = std::map<SetKind, int>;
const Sets bricks{{SetKind::material, 64}, {SetKind::neumann, 3}, {SetKind::dirichlet, 3}, {SetKind::geometry, 729}};

INSTANTIATE_TEST_SUITE_P(
    Samples, Interop,
    testing::Values(
        Sample{"64bricks_1khex.h5m", 2197, {{hex, 1728}, {quad, 2160}, {edge, 3780}}, 256, bricks, 0xffbc4dd59594c019U},
        Sample{"64bricks_12ktet.h5m",
               2472,
               {{tet, 12310}, {triangle, 4186}, {edge, 5739}},
               256,
               bricks,
               0x7b8efeeb9b6da3beU},
        Sample{"p8ex1.h5m",
               75,
               {{hex, 32}, {quad, 64}},
               8,
               {{SetKind::material, 4}, {SetKind::neumann, 6}, {SetKind::dirichlet, 1}},
               0xcb9fce9aa04d6799U},
        Sample{"oneside.h5m",
               45,
               {{hex, 16}, {quad, 4}},
               2,
               {{SetKind::material, 1}, {SetKind::neumann, 1}},
               0x909d1b38a68c545bU},
        Sample{"ln4.h5m", 10, {{quad, 4}}, 4, {}, 0x955b045fbd4af696U},
        Sample{"32hex_ef.h5m", 75, {{hex, 32}, {quad, 128}, {edge, 170}}, 4, {}, 0x6d44c4679081cf80U},
        Sample{"16_unmerged_hex.h5m",
               54,
               {{hex, 16}, {quad, 8}},
               0,
               {{SetKind::material, 1}, {SetKind::neumann, 1}},
               0x96fe3d9ccdd27d8dU},
        Sample{"onepart.h5m",
               12,
               {{hex, 2}, {quad, 6}, {edge, 16}},
               1,
               {{SetKind::material, 1}, {SetKind::neumann, 2}, {SetKind::geometry, 12}},
               0x9ae5978acd8877caU},
        Sample{"twoPolyh.h5m", 12, {{polyhedron, 2}, {quad, 11}}, 2, {{SetKind::material, 1}}, 0x037a6924f6f2065fU},
        Sample{"mpas_p8.h5m", 1280, {{polygon, 642}}, 8, {}, 0xaefdec0052c12afaU},
        Sample{"Homme_2pt.h5m", 728, {{quad, 726}}, 2, {{SetKind::material, 1}}, 0x859a1b0574a21263U},
        Sample{"field1.h5m", 728, {{quad, 726}}, 16, {{SetKind::material, 1}}, 0x859a1b0574a21263U},
        Sample{"portable_x86_64.h5m", 81, {{quad, 64}}, 0, {}, 0x3facf1be62e6da40U},
        Sample{"test_geom.h5m", 8, {{triangle, 12}, {edge, 12}}, 0, {{SetKind::geometry, 27}}, 0xedafd3b06ce98c01U},
        Sample{"hex_2048.h5m", 2601, {{hex, 2048}}, 0, {}, 0x6ea7ee0257e3930cU},
        Sample{"quads.h5m", 151, {{quad, 127}, {edge, 56}}, 0, {{SetKind::geometry, 15}}, 0xd2351d0f9eebc346U},
        Sample{"3k-tri-cube.h5m", 1472, {{triangle, 2940}, {edge, 180}}, 0, {}, 0x383bf19094fd2ae5U}),
    [](const auto& sample) {
      std::string name = sample.param.file;
      name.resize(name.find('.'));
      std::replace(name.begin(), name.end(), '-', '_');
      return name;
    });

TEST(InteropFiles, OwnedCellsAndGhostsEqualTheSerialOracle) {
  for (const char* name : {"64bricks_1khex.h5m", "p8ex1.h5m", "ln4.h5m", "mpas_p8.h5m"}) {
    BARRIO_INTEROP_FILE(path, name);
    SCOPED_TRACE(name);
    test::expect_equals_oracle(world(), read_tables(world(), path->string()));
  }
}

/// Members by set id: vertices, edges, faces, volumes.
using Members = std::map<std::int32_t, std::array<std::int64_t, 4>>;

Members members_of(const mesh::Mesh& mesh, SetKind kind) {
  Members members;
  for (const mesh::MeshSet& set : mesh.sets())
    if (set.info.kind == kind) members[set.info.id] = test::count_owned(mesh, set);
  return members;
}

TEST(InteropFiles, SetsOfP8ex1HaveTheirMembers) {
  BARRIO_INTEROP_FILE(path, "p8ex1.h5m");
  const mesh::Mesh mesh = read(world(), path->string(), {.ghost_layers = 1});
  EXPECT_EQ(members_of(mesh, SetKind::material),
            (Members{{1, {0, 0, 0, 8}}, {2, {0, 0, 0, 8}}, {3, {0, 0, 0, 8}}, {4, {0, 0, 0, 8}}}));
  EXPECT_EQ(members_of(mesh, SetKind::neumann), (Members{{1, {0, 0, 16, 0}},
                                                         {2, {0, 0, 8, 0}},
                                                         {3, {0, 0, 16, 0}},
                                                         {4, {0, 0, 8, 0}},
                                                         {5, {0, 0, 8, 0}},
                                                         {6, {0, 0, 8, 0}}}));
  EXPECT_EQ(members_of(mesh, SetKind::dirichlet), (Members{{3, {15, 0, 0, 0}}}));
}

// Its boundary and material sets contain geometry sets, which contain the entities.
TEST(InteropFiles, SetsOf64BricksHaveTheirMembersThroughOtherSets) {
  BARRIO_INTEROP_FILE(path, "64bricks_1khex.h5m");
  const mesh::Mesh mesh = read(world(), path->string());
  Members materials;
  for (std::int32_t id = 1; id <= 64; ++id) materials[id] = {8, 0, 0, 27};
  EXPECT_EQ(members_of(mesh, SetKind::material), materials);
  const Members boundaries{{100, {64, 192, 144, 0}}, {200, {64, 192, 144, 0}}, {300, {64, 192, 144, 0}}};
  EXPECT_EQ(members_of(mesh, SetKind::neumann), boundaries);
  EXPECT_EQ(members_of(mesh, SetKind::dirichlet), boundaries);
  // Every entity belongs to exactly one geometry set.
  std::array<std::int64_t, 4> total{};
  for (const mesh::MeshSet& set : mesh.sets()) {
    if (set.info.kind != SetKind::geometry) continue;
    const auto n = test::count_owned(mesh, set);
    for (std::size_t d = 0; d < 4; ++d) total[d] += n[d];
  }
  EXPECT_EQ(total, (std::array<std::int64_t, 4>{2197, 3780, 2160, 1728}));
}

TEST(InteropFiles, MixedSetsOf64BricksOfTets) {
  BARRIO_INTEROP_FILE(path, "64bricks_12ktet.h5m");
  const mesh::Mesh mesh = read(world(), path->string());
  EXPECT_EQ(members_of(mesh, SetKind::neumann),
            (Members{{100, {60, 324, 280, 0}}, {200, {60, 324, 280, 0}}, {300, {59, 321, 278, 0}}}));
  EXPECT_EQ(members_of(mesh, SetKind::dirichlet),
            (Members{{100, {60, 324, 280, 0}}, {200, {60, 324, 280, 0}}, {300, {60, 324, 280, 0}}}));
  std::array<std::int64_t, 4> total{};
  for (const auto& [id, n] : members_of(mesh, SetKind::material))
    for (std::size_t d = 0; d < 4; ++d) total[d] += n[d];
  EXPECT_EQ(total, (std::array<std::int64_t, 4>{854, 0, 0, 12310}));
}

}  // namespace
}  // namespace barrio::io
