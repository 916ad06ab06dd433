// Interfaces of CGNS zones: blocks turned in every way, cuts of a zone with itself, lists, and those that stay open.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>
#include <set>

#include "barrio/io/inspect.hpp"
#include "barrio/io/read.hpp"
#include "barrio/mesh/partition_cells.hpp"
#include "barrio/mpi/collectives.hpp"
#include "tests/io/cgns/cgns_writer.hpp"
#include "tests/io/refusal.hpp"
#include "tests/io/whole_file.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::io {
namespace {

using test::CgnsNode;
using test::WholeFile;
using test::world;
using Integers = std::vector<int>;
using Reals = std::vector<double>;
using Coordinates = std::array<double, 3>;

std::filesystem::path written_zones(const CgnsNode& root) {
  static int n_written = 0;  // a refused file remains open in HDF5, so each file needs a new name
  auto path = test::scratch() / ("zones" + std::to_string(n_written++) + ".cgns");
  if (world().rank() == 0) test::write(root, path);
  mpi::barrier(world());
  return path;
}

CgnsNode zones_file(int cell_dim, std::vector<CgnsNode> zones) {
  return {"",
          "",
          {},
          {},
          {{"CGNSLibraryVersion", "CGNSLibraryVersion_t", Reals{4.2}},
           {"Base", "CGNSBase_t", Integers{cell_dim, 3}, {}, std::move(zones)}}};
}

/// Make a structured zone. @param place  of a vertex with indices from 0
template <class Place>
CgnsNode zone_of(const std::string& name, const Integers& n, Place&& place) {
  std::array<Reals, 3> x;
  const int layers = n.size() == 3 ? n[2] : 1;
  for (int k = 0; k < layers; ++k)
    for (int j = 0; j < n[1]; ++j)
      for (int i = 0; i < n[0]; ++i)
        for (std::size_t d = 0; const double at : place(std::array{i, j, k})) x[d++].push_back(at);
  std::vector<unsigned long long> shape;
  for (auto along = n.rbegin(); along != n.rend(); ++along) shape.push_back(static_cast<unsigned>(*along));
  Integers sizes = n;
  for (const int along : n) sizes.push_back(along - 1);
  sizes.resize(3 * n.size(), 0);
  return {name,
          "Zone_t",
          sizes,
          {3, n.size()},
          {{"ZoneType", "ZoneType_t", std::string("Structured")},
           {"GridCoordinates",
            "GridCoordinates_t",
            {},
            {},
            {{"CoordinateX", "DataArray_t", x[0], shape},
             {"CoordinateY", "DataArray_t", x[1], shape},
             {"CoordinateZ", "DataArray_t", x[2], shape}}},
           {"ZoneGridConnectivity", "ZoneGridConnectivity_t"}}};
}

void add_interface(CgnsNode& zone, const std::string& name, const std::string& donor, const Integers& range,
                   const Integers& donor_range, const Integers& transform) {
  zone.at("ZoneGridConnectivity")
      .children.push_back({name,
                           "GridConnectivity1to1_t",
                           donor,
                           {},
                           {{"PointRange", "IndexRange_t", range, {2, range.size() / 2}},
                            {"PointRangeDonor", "IndexRange_t", donor_range, {2, range.size() / 2}},
                            {"Transform", "\"int[IndexDimension]\"", transform}}});
}

/// A box of unit cells whose indices run along the axes in any order and direction.
struct Block {
  std::string name;
  std::array<int, 3> low;   // corner
  std::array<int, 3> high;  // of a plate in 2-D, high[2] = low[2]
  int n_indices = 3;
  std::array<int, 3> axis{0, 1, 2};  // along which an index runs
  std::array<bool, 3> is_back{};     // against it

  [[nodiscard]] int n_along(int d) const { return high[axis[d]] - low[axis[d]] + 1; }
  [[nodiscard]] CgnsNode zone() const {
    Integers n;
    for (int d = 0; d < n_indices; ++d) n.push_back(n_along(d));
    return zone_of(name, n, [&](const std::array<int, 3>& index) {
      Coordinates x{static_cast<double>(low[0]), static_cast<double>(low[1]), static_cast<double>(low[2])};
      for (int d = 0; d < n_indices; ++d) x[axis[d]] += is_back[d] ? n_along(d) - 1 - index[d] : index[d];
      return x;
    });
  }
  [[nodiscard]] Integers indices_at(const std::array<int, 3>& place) const {
    Integers found;
    for (int d = 0; d < n_indices; ++d) {
      const int along = place[axis[d]] - low[axis[d]];
      found.push_back(is_back[d] ? n_along(d) - along : along + 1);
    }
    return found;
  }
  /// Turn the block: the number stands for one of the 48 (8 in 2-D) ways.
  void turn(int number) {
    for (int t = number / (1 << n_indices); t > 0; --t) std::next_permutation(axis.begin(), axis.begin() + n_indices);
    for (int d = 0; d < n_indices; ++d) is_back[d] = (number >> d & 1) != 0;
  }
};

/// List where a block meets another one, if it does so in a face. @param ends  chooses the first corner of the range
void meet(const Block& a, const Block& b, CgnsNode& zone, int ends) {
  std::array<int, 3> first{};
  std::array<int, 3> last{};
  int n_flat = 0;
  for (int k = 0; k < 3; ++k) {
    first[k] = std::max(a.low[k], b.low[k]);
    last[k] = std::min(a.high[k], b.high[k]);
    if (first[k] > last[k]) return;
    n_flat += first[k] == last[k] ? 1 : 0;
    if ((ends >> k & 1) != 0) std::swap(first[k], last[k]);
  }
  if (n_flat != 4 - a.n_indices) return;
  const auto range_of = [&](const Block& block) {
    Integers range = block.indices_at(first);
    for (const int index : block.indices_at(last)) range.push_back(index);
    return range;
  };
  Integers transform;
  for (int d = 0; d < a.n_indices; ++d)
    for (int e = 0; e < b.n_indices; ++e)
      if (b.axis[e] == a.axis[d]) transform.push_back(a.is_back[d] == b.is_back[e] ? e + 1 : -e - 1);
  add_interface(zone, a.name + "-" + b.name, b.name, range_of(a), range_of(b), transform);
}

std::set<Coordinates> distinct(const WholeFile& whole) {
  std::set<Coordinates> all;
  for (std::size_t i = 0; i < whole.coordinates.size(); i += 3)
    all.insert({whole.coordinates[i], whole.coordinates[i + 1], whole.coordinates[i + 2]});
  return all;
}

/// Describe each cell by the places of its nodes.
std::vector<std::vector<Coordinates>> places(const WholeFile& whole) {
  std::vector<std::vector<Coordinates>> all;
  for (const auto& [type, nodes] : whole.cells) {
    all.emplace_back();
    for (const std::int64_t node : nodes) {
      const double* x = &whole.coordinates[3 * node];
      all.back().push_back({x[0], x[1], x[2]});
    }
  }
  return all;
}

/// Read a file, and compare with the file without interfaces: the same cells, and no two vertices in one place.
/// @return what the log said, on rank 0
std::string expect_joined(const CgnsNode& root) {
  CgnsNode open = root;
  for (CgnsNode& zone : open.at("Base").children)
    std::erase_if(zone.children, [](const CgnsNode& node) { return node.label == "ZoneGridConnectivity_t"; });
  const WholeFile torn(world(), read_tables(world(), written_zones(open).string()));
  testing::internal::CaptureStderr();
  mesh::MeshTables tables = read_tables(world(), written_zones(root).string());
  std::string said = testing::internal::GetCapturedStderr();
  const WholeFile whole(world(), tables);
  EXPECT_EQ(std::ssize(whole.coordinates) / 3, std::ssize(distinct(torn)));
  EXPECT_EQ(distinct(whole), distinct(torn));
  EXPECT_EQ(places(whole), places(torn));
  EXPECT_EQ(whole.sets, torn.sets);
  partition_cells(world(), tables, 3);
  mesh::Mesh(world(), tables, {.ghost_layers = 1}).validate();
  return said;
}

/// Make two blocks, the second of which meets a part of a face of the first one.
CgnsNode two_turned(int number, int ends, int number_of_a = 7) {
  Block a{.name = "a", .low = {0, 0, 0}, .high = {2, 3, 2}};
  Block b{.name = "b", .low = {2, 1, 0}, .high = {4, 4, 2}};
  a.turn(number_of_a);
  b.turn(number);
  CgnsNode first = a.zone();
  CgnsNode second = b.zone();
  meet(a, b, first, ends);
  meet(b, a, second, ends / 2);
  return zones_file(3, {first, second});
}

TEST(CgnsInterfaces, BlocksMeetInEveryTurn) {
  std::mt19937_64 random(test::seed());
  for (const int n_indices : {2, 3}) {
    SCOPED_TRACE(n_indices);
    const int n_turns = n_indices == 3 ? 48 : 8;
    const int thick = n_indices == 3 ? 2 : 0;
    Block a{.name = "a", .low = {0, 0, 0}, .high = {4 * n_turns, 2, thick}, .n_indices = n_indices};
    a.turn(static_cast<int>(random() % static_cast<std::uint64_t>(n_turns)));
    std::vector<CgnsNode> zones{a.zone()};
    for (int turn = 0; turn < n_turns; ++turn) {
      Block b{.name = "b" + std::to_string(turn),
              .low = {4 * turn, 2, 0},
              .high = {4 * turn + 2, 5, thick},
              .n_indices = n_indices};
      b.turn(turn);
      zones.push_back(b.zone());
      meet(a, b, zones.front(), static_cast<int>(random() % 8));
      if (turn % 2 == 0) meet(b, a, zones.back(), static_cast<int>(random() % 8));
    }
    const std::string said = expect_joined(zones_file(n_indices, zones));
    if (world().rank() != 0) continue;
    EXPECT_NE(said.find(n_indices == 3 ? "joined at 48 1-to-1 interfaces, which merged 432 vertices"
                                       : "joined at 8 1-to-1 interfaces, which merged 24 vertices"),
              std::string::npos)
        << said;
    EXPECT_EQ(said.find("open"), std::string::npos) << said;
  }
}

TEST(CgnsInterfaces, EightBlocksAroundAPointShareIt) {
  std::mt19937_64 random(test::seed());
  for (int repeat = 0; repeat < 3; ++repeat) {
    std::vector<Block> blocks;
    for (int p = 0; p < 8; ++p) {
      Block block{.name = "block" + std::to_string(p), .low = {}, .high = {}};
      for (int k = 0; k < 3; ++k) {
        block.low[k] = (p >> k & 1) != 0 ? 2 : 0;
        block.high[k] = (p >> k & 1) != 0 ? 5 : 2;
      }
      block.turn(static_cast<int>(random() % 48));
      blocks.push_back(block);
    }
    std::ranges::shuffle(blocks, random);
    std::vector<CgnsNode> zones;
    for (const Block& a : blocks) {
      zones.push_back(a.zone());
      for (const Block& b : blocks)
        if (a.name != b.name) meet(a, b, zones.back(), static_cast<int>(random() % 8));
    }
    const CgnsNode root = zones_file(3, zones);
    const std::string said = expect_joined(root);
    const auto path = written_zones(root);
    if (world().rank() != 0) continue;
    EXPECT_NE(said.find("zones are joined at 12 1-to-1 interfaces, which merged 127 vertices"), std::string::npos)
        << said;
    EXPECT_EQ(inspect(path.string())["interfaces"], 12);
  }
}

/// An O-grid of quads that meets itself, or the same wound as a C-grid around a cut.
TEST(CgnsInterfaces, AZoneMeetsItself) {
  const auto around = [](const std::array<int, 3>& index) {
    const int i = index[0] % 12;
    const double angle = std::numbers::pi / 6.0 * i;
    const double radius = 1.0 + index[1];
    return Coordinates{radius * std::cos(angle), radius * std::sin(angle), 0.0};
  };
  CgnsNode ring = zone_of("ring", {13, 4}, around);
  add_interface(ring, "cut", "ring", {1, 1, 1, 4}, {13, 1, 13, 4}, {1, 2});
  add_interface(ring, "back", "ring", {13, 1, 13, 4}, {1, 1, 1, 4}, {1, 2});
  const std::string said = expect_joined(zones_file(2, {ring}));
  if (world().rank() == 0) {
    EXPECT_NE(said.find("joined at 1 1-to-1 interfaces, which merged 4 vertices"), std::string::npos) << said;
  }
  // Five vertices of the cut, the first line of a C-grid, from 1 to 5 and back from 13 to 9.
  const auto wound = [](const std::array<int, 3>& index) {
    const int i = index[0];
    const bool is_upper = i > 6;
    const double x = std::abs(i - 6);
    return Coordinates{x + 0.1 * index[1], (is_upper ? 1.0 : -1.0) * (index[1] + (x < 2 ? 0.3 * (2 - x) : 0.0)), 0.0};
  };
  CgnsNode wake = zone_of("wake", {13, 4}, wound);
  add_interface(wake, "wake", "wake", {1, 1, 5, 1}, {13, 1, 9, 1}, {-1, -2});
  expect_joined(zones_file(2, {wake}));
}

TEST(CgnsInterfaces, FacesOfConditionsAtAnInterfaceAreListedOnce) {
  CgnsNode root = test::cgns_structured();  // "left" of B lies where A and B meet; so does a new condition of A
  root.at("Base/A").children.push_back({"ZoneGridConnectivity", "ZoneGridConnectivity_t"});
  add_interface(root.at("Base/A"), "to B", "B", {3, 1, 1, 3, 4, 2}, {1, 1, 1, 1, 4, 2}, {1, 2, 3});
  root.at("Base/A/ZoneBC")
      .children.push_back({"right",
                           "BC_t",
                           std::string("BCWall"),
                           {},
                           {{"PointRange", "IndexRange_t", Integers{3, 1, 1, 3, 4, 2}, {2, 3}}}});
  const WholeFile whole(world(), read_tables(world(), written_zones(root).string()));
  EXPECT_EQ(whole.coordinates.size(), 3U * 40);
  EXPECT_EQ(std::ranges::count(whole.cells, mesh::CellType::quad, &WholeFile::Cell::first), 22);
  const auto of = [&](std::size_t n) {
    std::vector<std::set<std::pair<int, std::int64_t>>> found;
    for (std::size_t s = 0; s < whole.sets.size(); ++s)
      if (std::get<2>(whole.sets[s]) == (n == 0 ? "right" : "left")) found.push_back(whole.members[s]);
    return found.back();
  };
  EXPECT_EQ(of(0), of(1));
}

CgnsNode list_of(const char* name, const Integers& numbers, std::size_t n_indices) {
  return {name, "IndexArray_t", numbers, {numbers.size() / n_indices, n_indices}};
}

/// Two unstructured zones of a hex and a prism; the second one is the first, moved by the width of its hex.
CgnsNode two_unstructured() {
  CgnsNode root = test::cgns_unstructured();
  CgnsNode other = root.at("Base/Zone");
  other.name = "Zone2";
  for (double& y : std::get<Reals>(other.at("GridCoordinates/CoordinateY").data)) y += 1.0;
  root.at("Base").children.push_back(other);
  root.at("Base/Zone")
      .children.push_back({"Connections",
                           "ZoneGridConnectivity_t",
                           {},
                           {},
                           {{"up",
                             "GridConnectivity_t",
                             std::string("Zone2"),
                             {},
                             {{"GridConnectivityType", "GridConnectivityType_t", std::string("Abutting1to1")},
                              list_of("PointList", {3, 4, 7, 8}, 1),
                              list_of("PointListDonor", {1, 2, 5, 6}, 1)}}}});
  return root;
}

TEST(CgnsInterfaces, ListsOfUnstructuredAndStructuredZones) {
  expect_joined(two_unstructured());
  // Lists of triples.
  CgnsNode root = two_turned(0, 1);
  for (CgnsNode& zone : root.at("Base").children) zone.at("ZoneGridConnectivity").children.clear();
  Block a{.name = "a", .low = {0, 0, 0}, .high = {2, 3, 2}};
  a.turn(7);
  Integers here;
  Integers there;
  for (int y = 1; y <= 3; ++y) {
    for (int z = 0; z <= 2; ++z) {
      for (const int index : a.indices_at({2, y, z})) here.push_back(index);
      there.insert(there.end(), {1, y, z + 1});
    }
  }
  root.at("Base/a/ZoneGridConnectivity")
      .children.push_back({"list",
                           "GridConnectivity_t",
                           std::string("b"),
                           {},
                           {{"GridConnectivityType", "GridConnectivityType_t", std::string("Abutting1to1")},
                            list_of("PointList", here, 3),
                            list_of("PointListDonor", there, 3)}});
  expect_joined(root);
  // A range, whose first index runs first, and a list.
  Integers donors;
  for (int z = 0; z <= 2; ++z)
    for (int y = 1; y <= 3; ++y)
      for (const int index : a.indices_at({2, y, z})) donors.push_back(index);
  root.at("Base/a/ZoneGridConnectivity").children.clear();
  root.at("Base/b/ZoneGridConnectivity")
      .children.push_back({"range",
                           "GridConnectivity_t",
                           std::string("a"),
                           {},
                           {{"GridConnectivityType", "GridConnectivityType_t", std::string("Abutting1to1")},
                            {"PointRange", "IndexRange_t", Integers{1, 1, 1, 1, 3, 3}, {2, 3}},
                            list_of("PointListDonor", donors, 3)}});
  expect_joined(root);
}

TEST(CgnsInterfaces, ValuesAndSetsOfMergedVerticesStay) {
  CgnsNode root = two_unstructured();
  for (const auto& [zone, first] : {std::pair("Base/Zone", 0.0), std::pair("Base/Zone2", 100.0)}) {
    Reals heat;
    for (int i = 0; i < 10; ++i) heat.push_back(first + i);
    root.at(zone).children.push_back({"Heat", "FlowSolution_t", {}, {}, {{"T", "DataArray_t", heat}}});
  }
  const mesh::Mesh mesh = read(world(), written_zones(root).string());
  std::int64_t n_fixed = 0;
  for (const mesh::MeshSet& set : mesh.sets())
    if (set.info.name == "fixed") n_fixed += test::count_owned(mesh, set)[0];
  EXPECT_EQ(n_fixed, 6) << "nodes 9, 10 and 1 of each zone; node 1 of the upper one is node 3 of the lower one";
  for (std::size_t v = 0; v < mesh.n_local(mesh::Dim::vertex); ++v) {
    double heat = 0.0;
    std::memcpy(&heat, mesh.tag("T").value(mesh::Dim::vertex, local_id(v)).data(), sizeof heat);
    const double* x = &mesh.vertices().coordinates[3 * v];
    EXPECT_EQ(heat >= 100.0, x[1] > 1.5 || (x[1] > 0.5 && x[0] > 1.5)) << "the lower zone comes first";
  }
}

TEST(CgnsInterfaces, WhatDoesNotMeetStaysOpenAndIsNamed) {
  const auto expect_open = [](const std::string& why, const std::function<void(CgnsNode & zone)>& change) {
    SCOPED_TRACE(why);
    CgnsNode root = two_turned(5, 2);
    change(root.at("Base/b"));
    change(root.at("Base/a"));
    const auto path = written_zones(root);
    testing::internal::CaptureStderr();
    const mesh::MeshTables tables = read_tables(world(), path.string());
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_EQ(tables.vertices.n_rows, 36 + 36);
    if (world().rank() != 0) return;
    EXPECT_NE(said.find(why), std::string::npos) << said;
    EXPECT_NE(said.find("`barrio join --within` merges vertices by position"), std::string::npos) << said;
    if (why.find("apart") != std::string::npos || why.find("lists no") != std::string::npos) return;
    EXPECT_NE(inspect(path.string())["unsupported"].dump().find(why), std::string::npos);
  };
  const auto first = [](CgnsNode& zone) -> CgnsNode& { return zone.at("ZoneGridConnectivity").children[0]; };
  expect_open("interface 'a-b' of zone 'a' with 'b': periodic", [&](CgnsNode& zone) {
    first(zone).children.push_back(
        {"GridConnectivityProperty", "GridConnectivityProperty_t", {}, {}, {{"Periodic", "Periodic_t"}}});
  });
  expect_open("interface 'a-b' of zone 'a' with 'elsewhere': there is no such zone",
              [&](CgnsNode& zone) { first(zone).data = std::string("elsewhere"); });
  expect_open("interface 'a-b' of zone 'a' with 'b': Overset",
              [&](CgnsNode& zone) { first(zone).label = "GridConnectivity_t"; });
  expect_open("interface 'a-b' of zone 'a' with 'b': its vertices lie up to 0.5 apart", [&](CgnsNode& zone) {
    for (double& x : std::get<Reals>(zone.at("GridCoordinates/CoordinateX").data)) x += zone.name == "b" ? 0.5 : 0.0;
  });
  expect_open("lists no 1-to-1 interface that can be joined: zones do not share vertices",
              [&](CgnsNode& zone) { zone.at("ZoneGridConnectivity").children.clear(); });
}

TEST(CgnsInterfaces, MalformedOnesAreRefused) {
  const auto expect = [](const std::string& cause, const std::function<void(CgnsNode & face)>& spoil) {
    SCOPED_TRACE(cause);
    CgnsNode root = two_turned(0, 0, 0);
    spoil(root.at("Base/a/ZoneGridConnectivity/a-b"));
    test::expect_refusal(test::verdict(written_zones(root)), "3", cause);
  };
  expect("interface 'a-b' of zone 'a' must have two ends of 3 indices in PointRange",
         [](CgnsNode& face) { face.at("PointRange") = {"PointRange", "IndexRange_t", Integers{1, 1, 3, 3}, {2, 2}}; });
  expect("interface 'a-b' of zone 'a' has index i = 9, but zone 'a' has 1 to 3",
         [](CgnsNode& face) { face.at("PointRange").data = Integers{9, 2, 1, 9, 4, 3}; });
  expect("interface 'a-b' of zone 'a' must have a transform that names each of 3 indices once",
         [](CgnsNode& face) { face.at("Transform").data = Integers{1, 1, 3}; });
  expect("interface 'a-b' of zone 'a' has ranges that its transform does not take to each other, along j",
         [](CgnsNode& face) { face.at("Transform").data = Integers{1, -2, 3}; });
  expect("interface 'a-b' of zone 'a' must be on a face of the zone, but no index is fixed", [](CgnsNode& face) {
    for (const char* range : {"PointRange", "PointRangeDonor"}) face.at(range).data = Integers{1, 1, 1, 3, 3, 3};
  });
  CgnsNode root = two_unstructured();
  std::get<Integers>(root.at("Base/Zone/Connections/up/PointListDonor").data)[2] = 11;
  test::expect_refusal(test::verdict(written_zones(root)), "3",
                       "interface 'up' of zone 'Zone' has index i = 11, but zone 'Zone2' has 1 to 10");
  root = two_unstructured();
  root.at("Base/Zone/Connections/up/PointListDonor") = list_of("PointListDonor", {1, 2, 5}, 1);
  test::expect_refusal(test::verdict(written_zones(root)), "3",
                       "interface 'up' of zone 'Zone' must have as many points as its donor, but has 4 and 3");
}

}  // namespace
}  // namespace barrio::io
