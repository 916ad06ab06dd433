#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <map>
#include <numbers>
#include <span>
#include <string>
#include <vector>

#include "barrio/base/error.hpp"
#include "barrio/delaunay/audit.hpp"
#include "barrio/delaunay/geojson_file.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::delaunay {
namespace {

class GeoJsonTest : public testing::Test {
 protected:
  static std::string write(const std::string& text) {
    const std::string path = barrio::test::scratch() / "map.geojson";
    std::ofstream(path) << text;
    return path;
  }
  /// Return the areas of regions by number.
  static std::map<std::int32_t, double> areas(const PlanarGraph& graph) {
    Triangulation mesh = triangulate(graph);
    validate(mesh);
    compact(mesh);
    const Audit found = audit(audited(mesh), graph);
    for (const Audit::Check& check : found.checks) EXPECT_TRUE(check.is_met) << check.name << ": " << check.text;
    std::map<std::int32_t, double> sums;
    for (const Triangle& t : mesh.triangles.items()) sums[mesh.regions[t.region()].number] += mesh.area(t);
    return sums;
  }
  static std::string polygon(const std::string& rings) {
    return R"({"type": "Feature", "properties": {"name": "x"}, "geometry": {"type": "Polygon", "coordinates": )" +
           rings + "}}";
  }
  static std::string collection(const std::string& features) {
    return R"({"type": "FeatureCollection", "features": [)" + features + "]}";
  }
  static std::string complaint(const std::string& text) {
    try {
      static_cast<void>(triangulate(read_geojson(write(text), {.tolerance = 0.0}).graph));
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::bad_input);
      return error.what();
    }
    return "none";
  }
};

TEST_F(GeoJsonTest, PolygonsAreRegionsWhateverTheirWayRound) {
  // a country with an island in a lake; a neighbour with one more point on the common border; a third one of islands
  const std::string text =
      collection(polygon("[[[0,0],[4,0],[4,4],[0,4],[0,0]], [[1,1],[3,1],[3,3],[1,3],[1,1]]]") + "," +
                 polygon("[[[4,0],[4,2],[4,4],[6,4],[6,0],[4,0]]]") + "," +
                 R"({"type": "Feature", "properties": null, "geometry": {"type": "MultiPolygon", "coordinates":
          [[[[1.5,1.5],[2.5,1.5],[2.5,2.5],[1.5,2.5],[1.5,1.5]]], [[[8,0],[8,1],[9,1],[9,0],[8,0]]]]}},
         {"type": "Feature", "properties": {}, "geometry": {"type": "LineString", "coordinates": [[0,0],[9,9]]}})");
  const GeoJsonFile file = read_geojson(write(text));
  const std::map<std::int32_t, double> found = areas(file.graph);
  EXPECT_EQ(found, (std::map<std::int32_t, double>{{1, 12.0}, {2, 8.0}, {3, 2.0}}));
  EXPECT_EQ(file.left_out, (std::vector<std::string>{"1 LineString"}));
  EXPECT_EQ(file.graph.regions.at(0).name, "x");
  EXPECT_EQ(file.graph.regions.at(2).name, "");
}

TEST_F(GeoJsonTest, HolesAreEmpty) {
  // a lake and an island in it with a wood, the sea around, which all others overlap, and a country beside the sea
  const std::string text = collection(polygon("[[[1,1],[2,1],[2,2],[1,2],[1,1]]]") + "," +
                                      polygon("[[[0,0],[3,0],[3,3],[0,3],[0,0]]]") + "," +
                                      R"({"type": "Feature", "properties": {"name": "sea"}, "geometry": {"type":
          "Polygon", "coordinates": [[[-2,-2],[5,-2],[5,5],[-2,5],[-2,-2]]]}},)" +
                                      polygon("[[[5,-2],[7,-2],[7,5],[5,5],[5,-2]]]"));
  using Areas = std::map<std::int32_t, double>;
  const auto found = [&](const std::vector<std::string>& holes) {
    return areas(read_geojson(write(text), {.holes = holes}).graph);
  };
  EXPECT_EQ(found({}), (Areas{{1, 1.0}, {2, 8.0}, {3, 40.0}, {4, 14.0}}));
  EXPECT_EQ(found({"2"}), (Areas{{1, 1.0}, {3, 40.0}, {4, 14.0}}));
  EXPECT_EQ(found({"1", "2"}), (Areas{{3, 40.0}, {4, 14.0}}));
  EXPECT_EQ(found({"x"}), (Areas{{3, 40.0}}));
  EXPECT_EQ(found({"sea"}), (Areas{{1, 1.0}, {2, 8.0}, {4, 14.0}}));
  // what lies within holes alone is gone: no point is left over
  const PlanarGraph sea = read_geojson(write(text), {.holes = {"x"}}).graph;
  EXPECT_EQ(sea.points.size(), 8U);
  EXPECT_EQ(sea.segments.size(), 8U);
  std::map<std::int32_t, int> markers;
  for (const PlanarGraph::Edge& edge : sea.segments) ++markers[edge.marker];
  EXPECT_EQ(markers, (std::map<std::int32_t, int>{{2, 4}, {3, 4}}));
  // borders have the names of features, those of holes too, and areas those of the features that are left
  for (const double tolerance : {0.0, 1e-6}) {
    const PlanarGraph graph = read_geojson(write(text), {.tolerance = tolerance, .holes = {"x"}}).graph;
    std::map<std::int32_t, std::string> names;
    for (const MarkerName& one : graph.marker_names) names[one.marker] = one.name;
    EXPECT_EQ(names, (std::map<std::int32_t, std::string>{{1, "x"}, {2, "x"}, {3, "sea"}, {4, "x"}})) << tolerance;
    EXPECT_EQ(graph.regions.at(1).name, "");
    EXPECT_EQ(graph.regions.at(2).name, "sea");
  }

  for (const auto& [hole, said] : {std::pair("see", "Did you mean 'sea'?"), std::pair("5", "a number from 1 to 4"),
                                   std::pair("0", "names no feature"), std::pair("", "names no feature")}) {
    try {
      static_cast<void>(found({hole}));
      ADD_FAILURE() << hole;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::usage);
      EXPECT_NE((std::string(error.what()) + error.remedy()).find(said), std::string::npos) << error.what();
    }
  }
  EXPECT_THROW(static_cast<void>(found({"x", "sea"})), Error);
}

TEST_F(GeoJsonTest, HolesNeedNoSnapping) {
  // neighbours that share borders; the middle one goes
  const std::string text =
      collection(polygon("[[[0,0],[1,0],[1,1],[0,1],[0,0]]]") + "," + polygon("[[[1,0],[2,0],[2,1],[1,1],[1,0]]]") +
                 "," + polygon("[[[2,0],[3,0],[3,0.5],[3,1],[2,1],[2,0]]]"));
  const GeoJsonFile file = read_geojson(write(text), {.tolerance = 0.0, .holes = {"2"}});
  EXPECT_EQ(areas(file.graph), (std::map<std::int32_t, double>{{1, 1.0}, {3, 1.0}}));
  EXPECT_EQ(file.graph.points.size(), 9U);
}

TEST_F(GeoJsonTest, ClosesAt180Degrees) {
  const std::string text = collection(polygon("[[[178,0],[180,0],[180,2],[178,2],[178,0]]]") + "," +
                                      polygon("[[[-180,0],[-178,0],[-178,2],[-180,2],[-180,0]]]"));
  for (const double tolerance : {0.0, 1e-6}) {
    std::size_t n_first = 0;
    const auto project = [&](std::span<Point> places) {
      if (n_first == 0) n_first = places.size();
      for (Point& p : places) p[0] = p[0] < 0 ? p[0] + 360 : p[0];
    };
    const GeoJsonFile file = read_geojson(write(text), {.tolerance = tolerance, .project = project});
    EXPECT_GE(n_first, 8U);
    EXPECT_EQ(file.graph.points.size(), 6U);
    EXPECT_EQ(areas(file.graph), (std::map<std::int32_t, double>{{1, 4.0}, {2, 4.0}}));
  }
}

TEST_F(GeoJsonTest, SharedBordersStaySharedInAnyMap) {
  // the neighbour has a point in the middle of the border; a map that bends lines moves it off the border
  const std::string text = collection(polygon("[[[0,0],[4,0],[4,4],[0,4],[0,0]]]") + "," +
                                      polygon("[[[4,0],[6,0],[6,4],[4,4],[4,1],[4,0]]]"));
  for (const bool is_mirrored : {false, true}) {
    const auto project = [&](std::span<Point> places) {
      for (Point& p : places) {
        const Point bent{p[0] + 0.1 * p[1] * p[1], p[1] + 0.01 * p[0] * p[0]};
        p = is_mirrored ? Point{bent[1], bent[0]} : bent;
      }
    };
    for (const double tolerance : {0.0, 1e-6}) {
      const GeoJsonFile file = read_geojson(write(text), {.tolerance = tolerance, .project = project});
      EXPECT_EQ(file.graph.segments.size(), 8U);
      const std::map<std::int32_t, double> found = areas(file.graph);
      ASSERT_EQ(found.size(), 2U);
      EXPECT_NEAR(found.at(1) + found.at(2), 24.0, 2.0);
    }
  }
}

TEST_F(GeoJsonTest, SaysWhatIsWrongAndWhere) {
  const auto expect = [&](const std::string& text, const std::string& part) {
    EXPECT_NE(complaint(text).find(part), std::string::npos) << complaint(text);
  };
  expect("{", "is not JSON");
  expect("[]", "lacks 'type'");
  expect(R"({"type": "Polygon", "coordinates": [[[0,0],[1e604,0],[1,1],[0,0]]]})", "is not JSON");
  expect(R"({"type": "Polygon", "coordinates": [[[2,0],[0,7],[2,0],[0,7],[11,1],[2,0]]]})", "region 1");
  expect(R"({"type": "FeatureCollection", "features": 3})", "not a list");
  expect(R"({"type": "Cube", "coordinates": []})", "the geometry 'Cube'");
  expect(R"({"type": "Point", "coordinates": [1, 2]})", "has no polygons");
  expect(collection(polygon("[[[0,0],[1,0],[1,1],[0,1]]]")),
         "map.geojson: feature 1 'x', polygon 1, ring 1: starts at (0, 0) and ends at (0, 1)");
  expect(collection(polygon("[[[0,0],[1,0],[1,1],[0,0]]]") + "," + polygon("[[[0,0],[1,0],[0,0]]]")),
         "feature 2 'x', polygon 1, ring 1: has fewer than four positions");
  expect(collection(polygon("[[[0,0],[1,0],[0,0],[0,0],[0,0]]]")), "fewer than three different");
  expect(collection(polygon("[[[0,0],[1,\"x\"],[1,1],[0,0]]]")), "has position 2, which is not two numbers");
  // polygons that overlap: borders that cross, one in another, one twice
  expect(collection(polygon("[[[0,0],[2,0],[2,2],[0,2],[0,0]]]") + "," + polygon("[[[1,1],[3,1],[3,3],[1,3],[1,1]]]")),
         "cross at (2, 1)");
  expect(collection(polygon("[[[0,0],[9,0],[9,9],[0,9],[0,0]]]") + "," + polygon("[[[1,1],[3,1],[3,3],[1,3],[1,1]]]")),
         "segments around one part must name the same region");
  expect(collection(polygon("[[[0,0],[1,0],[1,1],[0,0]]]") + "," + polygon("[[[0,0],[1,0],[1,1],[0,0]]]")),
         "areas must not overlap");
}

TEST_F(GeoJsonTest, EdgesThatCrossAreNamedWithAllDigits) {
  const std::string text = collection(
      polygon("[[[0,0],[2.0000000000000004,0],[2,2],[0,2],[0,0]]]") + "," +
      R"({"type": "Feature", "properties": {"NAME": "Chad"}, "geometry": {"type": "MultiPolygon", "coordinates":
         [[[[5,5],[6,5],[6,6],[5,5]]], [[[1,1],[1,1],[3,1],[3,3],[1,3],[1,1]]]]}})");
  const std::string found = complaint(text);
  EXPECT_NE(
      found.find("feature 1 'x', polygon 1, ring 1, from position 2 (2.0000000000000004, 0) to (2, 2): crosses "
                 "feature 2 'Chad', polygon 2, ring 1, from position 1 (1, 1) to (3, 1): they cross at (2, 1), and "
                 "there are 1 more crossings"),
      std::string::npos)
      << found;
}

TEST_F(GeoJsonTest, TheToleranceComesFromTheDigits) {
  const auto tolerance_of = [&](const std::string& rings) {
    return read_geojson(write(polygon(rings))).snapped.value().tolerance;
  };
  EXPECT_DOUBLE_EQ(tolerance_of("[[[0,0],[4.1234,0],[4,4],[0,4],[0,0]]]"), 1e-4);
  EXPECT_DOUBLE_EQ(tolerance_of("[[[0,0],[4,0],[4,4],[0,2e-5],[0,0]]]"), 1e-5);
  // more digits than anyone means, and fewer than the edges need
  EXPECT_DOUBLE_EQ(tolerance_of("[[[0,0],[4.123456789,0],[4,4],[0,4],[0,0]]]"), 1e-5);
  EXPECT_DOUBLE_EQ(tolerance_of("[[[0,0],[4,0],[4,4],[0,4],[0,0]]]"), 0.01);
  EXPECT_DOUBLE_EQ(tolerance_of("[[[0,0],[4e-5,0],[4e-5,4e-5],[0,4e-5],[0,0]]]"), 1e-7);
  EXPECT_FALSE(read_geojson(write(polygon("[[[0,0],[4,0],[4,4],[0,0]]]")), {.tolerance = 0.0}).snapped);
}

TEST_F(GeoJsonTest, BordersThatNearlyMeetMeet) {
  // the corner of the second lies 1e-15 beside the edge of the first, that of the third 1e-7 within it
  const std::string text = collection(polygon("[[[0,0],[4,0],[4,4],[0,4],[0,0]]]") + "," +
                                      polygon("[[[4.000000000000001,1],[6,0],[6,4],[4.000000000000001,1]]]") + "," +
                                      polygon("[[[1,3.9999999],[2,3.9999999],[2,6],[1,6],[1,3.9999999]]]"));
  const GeoJsonFile file = read_geojson(write(text), {.tolerance = 1e-6});
  const std::map<std::int32_t, double> found = areas(file.graph);
  EXPECT_NEAR(found.at(1), 16.0, 1e-6);
  EXPECT_NEAR(found.at(2), 4.0, 1e-6);
  EXPECT_NEAR(found.at(3), 2.0, 1e-6);
  EXPECT_EQ(file.snapped.value().n_points_on_segments, 3);
  EXPECT_TRUE(file.snapped.value().overlaps.empty());
  EXPECT_EQ(file.n_positions, 11);
  EXPECT_EQ(file.n_edges, 11);
}

TEST_F(GeoJsonTest, FeaturesAndRingsThatVanishAreNamed) {
  const std::string text =
      collection(polygon("[[[0,0],[4,0],[4,4],[0,4],[0,0]], [[1,1],[1.0000001,1],[1,1.0000001],[1,1]]]") + "," +
                 polygon("[[[1,1],[2,1],[2,2],[1,1]]]") + "," + polygon("[[[6,1],[6.0000001,1],[6,1.0000001],[6,1]]]"));
  const GeoJsonFile file = read_geojson(write(text), {.tolerance = 1e-6});
  EXPECT_EQ(file.vanished, (std::vector<std::string>{"feature 2 'x', which earlier features cover",
                                                     "feature 3 'x', which is smaller than the tolerance",
                                                     "feature 1 'x', polygon 1, ring 2"}));
  EXPECT_EQ(areas(file.graph), (std::map<std::int32_t, double>{{1, 16.0}}));
}

TEST_F(GeoJsonTest, AnEdgeBendsAroundAPointBesideIt) {
  // the map bends the long edge by 0.25 in the middle, and the corner of the other polygon with it: without a point on
  // the edge there, the two would overlap
  const std::string text =
      collection(polygon("[[[0,0],[10,0],[10,-3],[0,-3],[0,0]]]") + "," + polygon("[[[5,0.1],[6,3],[4,3],[5,0.1]]]"));
  const auto project = [](std::span<Point> places) {
    for (Point& p : places) p[1] -= 0.01 * p[0] * (10 - p[0]);
  };
  const GeoJsonFile file = read_geojson(write(text), {.tolerance = 1e-6, .project = project});
  EXPECT_TRUE(file.snapped.value().overlaps.empty());
  const std::map<std::int32_t, double> found = areas(file.graph);
  EXPECT_NEAR(found.at(2), 2.91, 1e-9);  // of its corners in the map
  EXPECT_GT(file.graph.points.size(), 7U);
}

/// Project around the north pole or the south pole; lengths along meridians are true.
void around_pole(std::span<Point> places, double pole) {
  for (Point& p : places) {
    const double radius = std::abs(pole - p[1]);
    const double angle = p[0] * std::numbers::pi / 180;
    p = {radius * std::sin(angle), (pole > 0 ? -1 : 1) * radius * std::cos(angle)};
  }
}

TEST_F(GeoJsonTest, RingsAroundAPole) {
  // an island around the pole with a lake, as files draw it: closed along the pole, by a jump, along a parallel
  std::string coast;
  for (int longitude = -180; longitude < 180; longitude += 10) coast += "[" + std::to_string(longitude) + ",-80],";
  const std::string lake = ", [[0,-85],[90,-85],[180,-85],[-90,-85],[0,-85]]]";
  const std::string closed = "[[" + coast + "[180,-80],[180,-90],[-180,-90],[-180,-80]]" + lake;
  const std::string jumping = "[[" + coast + "[-180,-80]]" + lake;
  const std::string along = "[[" + coast + "[180,-80],[-180,-80]]" + lake;
  const double of_coast = 36 * 0.5 * 100 * std::sin(std::numbers::pi / 18);
  for (const std::string& rings : {closed, jumping, along}) {
    const GeoJsonFile file = read_geojson(
        write(polygon(rings)), {.tolerance = 1e-6, .project = [](std::span<Point> p) { around_pole(p, -90); }});
    const std::map<std::int32_t, double> found = areas(file.graph);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_NEAR(found.at(1), of_coast - 50.0, 1e-4) << rings;
    EXPECT_EQ(file.graph.points.size(), 40U) << rings;
    EXPECT_EQ(file.graph.segments.size(), 40U) << rings;
  }
}

TEST_F(GeoJsonTest, RingsThatEndBesideAPoleReachIt) {
  const std::string rings =
      "[[[-180,-80],[-90,-80],[0,-80],[90,-80],[180,-80],[180,-89.999],[90,-89.999],[0,-89.999],[-90,-89.999],"
      "[-180,-89.999],[-180,-80]]]";
  const GeoJsonFile file = read_geojson(
      write(polygon(rings)), {.tolerance = 1e-6, .project = [](std::span<Point> p) { around_pole(p, -90); }});
  EXPECT_EQ(file.graph.points.size(), 4U);
  EXPECT_NEAR(areas(file.graph).at(1), 200.0, 1e-9);
}

TEST_F(GeoJsonTest, BothSidesOf180DegreesHaveTheSamePoints) {
  // the map bends the meridian, so that the eastern part would leave the western one between its corners
  const std::string text = R"({"type": "MultiPolygon", "coordinates": [
      [[[178,0],[180,0],[180,2],[178,2],[178,0]]], [[[-180,0],[-178,0],[-178,2],[-180,0.7],[-180,0]]]]})";
  const auto project = [](std::span<Point> places) {
    for (Point& p : places) p[0] = (p[0] < 0 ? p[0] + 360 : p[0]) + 0.1 * p[1] * (2 - p[1]);
  };
  const GeoJsonFile file = read_geojson(write(text), {.tolerance = 1e-6, .project = project});
  EXPECT_EQ(file.graph.points.size(), 7U);
  EXPECT_EQ(file.graph.segments.size(), 7U);
}

TEST_F(GeoJsonTest, RingsAcross180Degrees) {
  const std::string jumping = "[[[178,0],[-178,0],[-178,2],[178,2],[178,0]]]";
  const std::string beyond = "[[[178,0],[182,0],[182,2],[178,2],[178,0]]]";
  const std::string cut = R"({"type": "MultiPolygon", "coordinates": [
      [[[178,0],[180,0],[180,2],[178,2],[178,0]]], [[[-180,0],[-178,0],[-178,2],[-180,1],[-180,0]]]]})";
  const auto project = [](std::span<Point> places) {  // breaks at 0 degrees
    for (Point& p : places) p[0] = p[0] < 0 ? p[0] + 360 : p[0];
  };
  const auto same = [](std::span<Point>) {};  // breaks at 180 degrees
  for (const std::string& text : {polygon(jumping), polygon(beyond)}) {
    const GeoJsonFile joined = read_geojson(write(text), {.tolerance = 1e-6, .project = project});
    EXPECT_EQ(areas(joined.graph), (std::map<std::int32_t, double>{{1, 8.0}}));
    const GeoJsonFile apart = read_geojson(write(text), {.tolerance = 1e-6, .project = same});
    EXPECT_EQ(areas(apart.graph), (std::map<std::int32_t, double>{{1, 8.0}}));
    const auto [low, high] = std::ranges::minmax(apart.graph.points, {}, [](const Point& p) { return p[0]; });
    EXPECT_EQ(low[0], -180.0);
    EXPECT_EQ(high[0], 180.0);
    EXPECT_EQ(joined.n_cut_rings, 1);
  }
  const GeoJsonFile as_it_is = read_geojson(write(polygon(beyond)), {.tolerance = 1e-6});
  EXPECT_EQ(as_it_is.graph.points.size(), 4U);
  const GeoJsonFile joined = read_geojson(write(cut), {.tolerance = 1e-6, .project = project});
  EXPECT_EQ(areas(joined.graph), (std::map<std::int32_t, double>{{1, 7.0}}));
  EXPECT_EQ(joined.n_cut_rings, 0);
  for (const auto& [left, right] : joined.graph.sides) EXPECT_NE(left, right);
  // the latitude of the crossing is that of the edge
  const std::string slanted = "[[[178,0],[-178,1],[-178,3],[178,3],[178,0]]]";
  EXPECT_NEAR(areas(read_geojson(write(polygon(slanted)), {.tolerance = 1e-6, .project = project}).graph).at(1), 10.0,
              1e-9);
  // a box around the whole earth stays one
  const std::string box = "[[[-180,-60],[180,-60],[180,60],[-180,60],[-180,-60]]]";
  EXPECT_EQ(areas(read_geojson(write(polygon(box)), {.tolerance = 1e-6}).graph),
            (std::map<std::int32_t, double>{{1, 43200.0}}));
}

}  // namespace
}  // namespace barrio::delaunay
