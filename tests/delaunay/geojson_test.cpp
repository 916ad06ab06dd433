#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <map>
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
      static_cast<void>(triangulate(read_geojson(write(text)).graph));
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

TEST_F(GeoJsonTest, IsProjectedAtOnceAndClosesAt180Degrees) {
  const std::string text = collection(polygon("[[[178,0],[180,0],[180,2],[178,2],[178,0]]]") + "," +
                                      polygon("[[[-180,0],[-178,0],[-178,2],[-180,2],[-180,0]]]"));
  int n_calls = 0;
  const GeoJsonFile file = read_geojson(write(text), [&](std::span<Point> places) {
    ++n_calls;
    for (Point& p : places) p[0] = p[0] < 0 ? p[0] + 360 : p[0];
  });
  EXPECT_EQ(n_calls, 1);
  EXPECT_EQ(file.graph.points.size(), 6U);
  EXPECT_EQ(areas(file.graph), (std::map<std::int32_t, double>{{1, 4.0}, {2, 4.0}}));
}

TEST_F(GeoJsonTest, SharedBordersStaySharedInAnyMap) {
  // the neighbour has a point in the middle of the border; a map that bends lines moves it off the border
  const std::string text = collection(polygon("[[[0,0],[4,0],[4,4],[0,4],[0,0]]]") + "," +
                                      polygon("[[[4,0],[6,0],[6,4],[4,4],[4,1],[4,0]]]"));
  for (const bool is_mirrored : {false, true}) {
    const GeoJsonFile file = read_geojson(write(text), [&](std::span<Point> places) {
      for (Point& p : places) {
        const Point bent{p[0] + 0.1 * p[1] * p[1], p[1] + 0.01 * p[0] * p[0]};
        p = is_mirrored ? Point{bent[1], bent[0]} : bent;
      }
    });
    EXPECT_EQ(file.graph.segments.size(), 8U);
    const std::map<std::int32_t, double> found = areas(file.graph);
    ASSERT_EQ(found.size(), 2U);
    EXPECT_NEAR(found.at(1) + found.at(2), 24.0, 2.0);
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
  expect(collection(polygon("[[[0,0],[1,0],[1,1],[0,1]]]")), "feature 1: has a ring that starts at (0, 0)");
  expect(collection(polygon("[[[0,0],[1,0],[1,1],[0,0]]]") + "," + polygon("[[[0,0],[1,0],[0,0]]]")),
         "feature 2: has a ring of fewer than four");
  expect(collection(polygon("[[[0,0],[1,0],[0,0],[0,0],[0,0]]]")), "fewer than three different");
  expect(collection(polygon("[[[0,0],[1,\"x\"],[1,1],[0,0]]]")), "not two numbers");
  // polygons that overlap: borders that cross, one in another, one twice
  expect(collection(polygon("[[[0,0],[2,0],[2,2],[0,2],[0,0]]]") + "," + polygon("[[[1,1],[3,1],[3,3],[1,3],[1,1]]]")),
         "cross at (2, 1)");
  expect(collection(polygon("[[[0,0],[9,0],[9,9],[0,9],[0,0]]]") + "," + polygon("[[[1,1],[3,1],[3,3],[1,3],[1,1]]]")),
         "segments around one part must name the same region");
  expect(collection(polygon("[[[0,0],[1,0],[1,1],[0,0]]]") + "," + polygon("[[[0,0],[1,0],[1,1],[0,0]]]")),
         "areas must not overlap");
}

}  // namespace
}  // namespace barrio::delaunay
