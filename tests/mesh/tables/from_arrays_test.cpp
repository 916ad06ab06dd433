#include "barrio/mesh/from_arrays.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>

#include "barrio/base/error.hpp"
#include "barrio/mesh/box.hpp"
#include "barrio/mesh/partition_cells.hpp"
#include "barrio/mpi/collectives.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::mesh {
namespace {

using test::world;

/// One rank's part of a row of hexes along x, as vectors that its arrays refer to.
struct Given {
  std::vector<double> x = {};
  std::vector<std::int64_t> ids = {};
  std::vector<std::int64_t> hexes = {};
  std::vector<std::int64_t> quads = {};
  std::vector<std::int32_t> parts = {};
  std::vector<double> load = {};          // of hexes, two each
  std::vector<std::int32_t> number = {};  // of vertices
  std::vector<std::int64_t> odd = {};     // hexes
  std::vector<std::int64_t> left = {};    // vertices
  std::vector<std::int64_t> inlet = {};   // quads

  [[nodiscard]] MeshArrays arrays(bool with_ids, bool with_parts) const {
    MeshArrays all;
    all.coordinates = x;
    if (with_ids) all.vertex_ids = ids;
    all.cells.push_back({.type = CellType::hex, .nodes_per_cell = 8, .nodes = hexes});
    if (with_parts) all.cells.back().parts = parts;
    all.cells.push_back({.type = CellType::quad, .nodes_per_cell = 4, .nodes = quads});
    all.add_set(SetKind::material, 7, "odd").members.push_back({CellType::hex, odd});
    all.add_set(SetKind::dirichlet, 3, "left").members.push_back({CellType::vertex, left});
    all.add_set(SetKind::neumann, 5, "inlet").members.push_back({CellType::quad, inlet});
    all.add_tag("load", TagType::float64, 2).values.push_back({CellType::hex, std::as_bytes(std::span(load))});
    all.add_tag("number", TagType::int32).values.push_back({CellType::vertex, std::as_bytes(std::span(number))});
    return all;
  }
};

constexpr int n_hexes = 12;

/// Add vertex k of the row: four at each position along x.
void add_vertex(Given& given, std::int64_t k, std::int64_t id) {
  const auto corner = k % 4;
  given.x.insert(given.x.end(),
                 {static_cast<double>(k / 4), corner == 1 || corner == 2 ? 1.0 : 0.0, corner > 1 ? 1.0 : 0.0});
  given.ids.push_back(id);
  given.number.push_back(static_cast<std::int32_t>(10 * k));
  if (k < 4) given.left.push_back(std::ssize(given.ids) - 1);
}

void add_hex(Given& given, std::int64_t h, const std::function<std::int64_t(std::int64_t)>& name) {
  if (h % 2 == 1) given.odd.push_back(std::ssize(given.hexes) / 8);
  for (std::int64_t k = 4 * h; k < 4 * h + 8; ++k) given.hexes.push_back(name(k));
  given.load.insert(given.load.end(), {static_cast<double>(h), -1.0});
  given.parts.push_back(static_cast<std::int32_t>(h * world().size() / n_hexes));
  if (h != 0) return;
  for (std::int64_t k = 0; k < 4; ++k) given.quads.push_back(name(k));
  given.inlet.push_back(0);
}

/// Distribute vertices and hexes to ranks in ranges, numbered rank by rank; the first `first` ranks have nothing.
Given dealt_in_runs(Rank first) {
  Given given;
  const int n_ranks = world().size() - first;
  const Rank me = world().rank() - first;
  if (me < 0) return given;
  const Slabs vertices{4 * (n_hexes + 1), n_ranks};
  const Slabs hexes{n_hexes, n_ranks};
  for (std::int64_t k = vertices.first(me); k < vertices.first(me + 1); ++k) add_vertex(given, k, k);
  for (std::int64_t h = hexes.first(me); h < hexes.first(me + 1); ++h)
    add_hex(given, h, [](std::int64_t k) { return k; });
  return given;
}

/// Distribute hexes cyclically, with all their vertices, by ids with gaps.
Given dealt_by_cells() {
  Given given;
  std::vector<std::int64_t> mine;
  for (std::int64_t h = world().rank(); h < n_hexes; h += world().size())
    for (std::int64_t k = 4 * h; k < 4 * h + 8; ++k) mine.push_back(k);
  std::ranges::sort(mine, std::greater<>());
  mine.erase(std::unique(mine.begin(), mine.end()), mine.end());
  const auto name = [](std::int64_t k) { return 1000 + 7 * k; };
  for (const std::int64_t k : mine) add_vertex(given, k, name(k));
  for (std::int64_t h = world().rank(); h < n_hexes; h += world().size()) add_hex(given, h, name);
  return given;
}

/// Check the whole mesh, by the coordinates of the vertices. Collective.
void expect_row_of_hexes(const Mesh& mesh) {
  mesh.validate();
  EXPECT_EQ(mesh.n_global(Dim::vertex), 4 * (n_hexes + 1));
  EXPECT_EQ(mesh.n_global(Dim::volume), n_hexes);
  EXPECT_EQ(mesh.n_global(Dim::face), 1);
  std::int64_t n_left = 0;
  for (const LocalId v : mesh.set(SetKind::dirichlet, "left").vertices) {
    EXPECT_EQ(mesh.vertices().coordinates[3 * index(v)], 0.0);
    n_left += index(v) < mesh.n_owned(Dim::vertex) ? 1 : 0;
  }
  EXPECT_EQ(mpi::sum(world(), n_left), 4);
  EXPECT_EQ(
      mpi::sum(world(), static_cast<std::int64_t>(mesh.set(SetKind::neumann, "inlet")
                                                      .entities[2]
                                                      .intersected({LocalId{0}, local_id(mesh.n_owned(Dim::face))})
                                                      .size())),
      1);
  const MeshTag& number = mesh.tag("number");
  for (std::size_t v = 0; v < mesh.n_local(Dim::vertex); ++v) {
    const double* x = &mesh.vertices().coordinates[3 * v];
    const int corner = x[2] > 0.0 ? (x[1] > 0.0 ? 2 : 3) : (x[1] > 0.0 ? 1 : 0);
    const std::int64_t k = 4 * static_cast<std::int64_t>(x[0]) + corner;
    EXPECT_EQ(value(mesh.vertices().global_ids[v]), k);
    std::int32_t found = 0;
    std::memcpy(&found, number.value(Dim::vertex, local_id(v)).data(), sizeof found);
    EXPECT_EQ(found, 10 * k);
  }
  const Range& odd = mesh.set(SetKind::material, "odd").entities[3];
  for (std::size_t c = 0; c < mesh.cells().size(); ++c) {
    std::array<double, 2> load{};
    std::memcpy(load.data(), mesh.tag("load").value(Dim::volume, local_id(c)).data(), sizeof load);
    const double h = mesh.vertices().coordinates[3 * index(mesh.cells().nodes_of(c)[0])];
    EXPECT_EQ(load[0], h);
    EXPECT_EQ(load[1], -1.0);
    EXPECT_EQ(odd.contains(local_id(c)), std::fmod(h, 2.0) == 1.0);
  }
}

TEST(FromArrays, AnyRankGivesAnyShare) {
  for (const Rank first : {0, world().size() - 1}) {
    const Given given = dealt_in_runs(first);
    const Mesh mesh = mesh_from_arrays(world(), given.arrays(false, false), {.build = {.ghost_layers = 1}});
    expect_row_of_hexes(mesh);
    const Given alone = dealt_in_runs(0);
    // Cells are numbered rank by rank in the given order, so along the row.
    for (std::size_t c = 0; c < mesh.cells().size(); ++c)
      EXPECT_EQ(static_cast<double>(value(mesh.cells().global_ids[c])),
                mesh.vertices().coordinates[3 * index(mesh.cells().nodes_of(c)[0])]);
  }
}

TEST(FromArrays, SharedVerticesByTheirIds) {
  const Given given = dealt_by_cells();
  expect_row_of_hexes(mesh_from_arrays(world(), given.arrays(true, false), {.partitioner = "hilbert"}));
}

TEST(FromArrays, CellsStayWhereTheirPartsAre) {
  const Given given = dealt_by_cells();
  Given here = given;
  std::ranges::fill(here.parts, world().rank());
  MeshArrays arrays = here.arrays(true, true);
  arrays.n_parts = world().size();
  const Mesh mesh = mesh_from_arrays(world(), arrays, {.build = {.ghost_layers = 2}});
  expect_row_of_hexes(mesh);
  EXPECT_EQ(mesh.n_owned(Dim::volume), given.parts.size());
}

TEST(FromArrays, PolygonsAndPolyhedra) {
  // A prism over a pentagon, and its bottom as a listed polygon, both on the last rank.
  std::vector<double> x;
  std::vector<std::int64_t> faces;
  std::vector<std::int64_t> bottom;
  std::vector<std::int64_t> cell_ends{0};
  std::vector<std::int64_t> face_ends{0};
  if (world().rank() == world().size() - 1) {
    for (const double z : {0.0, 1.0})
      for (int k = 0; k < 5; ++k) x.insert(x.end(), {std::cos(1.25 * k), std::sin(1.25 * k), z});
    faces = {0, 1, 2, 3, 4, 0, 5, 6, 7, 8, 9, 5};
    for (std::int64_t k = 0; k < 5; ++k)
      for (const std::int64_t node : {k, (k + 1) % 5, 5 + (k + 1) % 5, 5 + k, k}) faces.push_back(node);
    bottom = {0, 1, 2, 3, 4};
    cell_ends.push_back(std::ssize(faces));
    face_ends.push_back(5);
  }
  MeshArrays arrays;
  arrays.coordinates = x;
  arrays.cells.push_back({.type = CellType::polyhedron, .offsets = cell_ends, .nodes = faces});
  arrays.cells.push_back({.type = CellType::polygon, .offsets = face_ends, .nodes = bottom});
  const Mesh mesh = mesh_from_arrays(world(), arrays);
  mesh.validate();
  EXPECT_EQ(mesh.n_global(Dim::volume), 1);
  EXPECT_EQ(mesh.n_global(Dim::face), 1);
}

/// Spoil one rank's data, and expect the same error on all ranks.
void expect_refused(const std::string& text, ErrorCode code, const std::function<void(Given&)>& spoil,
                    bool with_ids = false, bool with_parts = false) {
  Given given = with_ids ? dealt_by_cells() : dealt_in_runs(0);
  if (world().rank() == world().size() - 1) spoil(given);
  std::string found;
  try {
    static_cast<void>(tables_from_arrays(world(), given.arrays(with_ids, with_parts)));
  } catch (const AgreedError& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    found = error.what();
  }
  EXPECT_NE(found.find(text), std::string::npos) << "\"" << found << "\" and not " << text;
}

TEST(FromArrays, RefusalsAreTheSameOnAllRanks) {
  constexpr auto usage = ErrorCode::usage;
  constexpr auto bad_input = ErrorCode::bad_input;
  expect_refused("coordinates: must be three numbers", usage, [](Given& g) { g.x.pop_back(); });
  expect_refused("of vertex 1 on this rank must be finite", bad_input,
                 [](Given& g) { g.x[4] = std::numeric_limits<double>::quiet_NaN(); });
  expect_refused("hexes: have", usage, [](Given& g) { g.hexes.pop_back(); });
  expect_refused("hex 0 on this rank: has vertex 52, but all ranks together give 52 vertices", bad_input,
                 [](Given& g) { g.hexes[3] = 52; });
  expect_refused("has vertex -1", bad_input, [](Given& g) { g.hexes[3] = -1; });
  expect_refused("twice", bad_input, [](Given& g) { g.hexes[3] = g.hexes[4]; });
  expect_refused("tag 'load': has", usage, [](Given& g) { g.load.pop_back(); });
  expect_refused("material set 'odd': has member 1000", bad_input, [](Given& g) { g.odd = {1000}; });
  expect_refused("parts: are", usage, [](Given& g) { g.parts.pop_back(); }, false, true);
  expect_refused(", but one is -3", bad_input, [](Given& g) { g.parts[0] = -3; }, false, true);
  expect_refused("hexes: refer to vertex 5, which no rank gives", bad_input, [](Given& g) { g.hexes[0] = 5; }, true);
  expect_refused("vertex ids: are", usage, [](Given& g) { g.ids.pop_back(); }, true);
  if (world().size() > 1) {
    expect_refused(
        "is given with different coordinates", bad_input, [](Given& g) { g.x[g.x.size() - 2] += 0.5; }, true);
    expect_refused("vertex ids: are given by some ranks", usage, [](Given& g) { g.ids.clear(); }, true);
  }
  MeshArrays nothing;
  EXPECT_THROW(static_cast<void>(tables_from_arrays(world(), nothing)), AgreedError);
  const Given given = dealt_by_cells();
  MeshArrays doubled = given.arrays(true, false);
  doubled.tags.front().values.push_back(doubled.tags.front().values.front());
  try {
    static_cast<void>(tables_from_arrays(world(), doubled));
    ADD_FAILURE() << "the second array of values was ignored";
  } catch (const AgreedError& error) {
    EXPECT_EQ(error.code(), usage);
    EXPECT_NE(std::string(error.what()).find("has more than one array of values of"), std::string::npos)
        << error.what();
  }
}

TEST(FromArrays, ListsMustBeTheSameOnAllRanks) {
  if (world().size() == 1) GTEST_SKIP() << "one rank agrees with itself";
  const Given given = dealt_in_runs(0);
  for (int fault = 0; fault < 4; ++fault) {
    MeshArrays arrays = given.arrays(false, false);
    if (world().rank() == 0) {
      if (fault == 0) arrays.sets.pop_back();
      if (fault == 1) arrays.tags[0].info.name = "lode";
      if (fault == 2) arrays.n_parts = 3;
      if (fault == 3) {
        arrays.tags[1].info.type = TagType::float64;
        arrays.tags[1].values[0].bytes = std::as_bytes(std::span(given.x)).first(8 * given.ids.size());
      }
    }
    try {
      static_cast<void>(tables_from_arrays(world(), arrays));
      ADD_FAILURE() << fault;
    } catch (const AgreedError& error) {
      EXPECT_EQ(error.code(), ErrorCode::usage);
      const std::string cause = fault < 3 ? "do not list the same" : "has values of 1 x int32 on some ranks";
      EXPECT_NE(error.cause().find(cause), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace barrio::mesh
