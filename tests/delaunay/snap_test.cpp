#include "barrio/delaunay/snap.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "barrio/base/error.hpp"
#include "barrio/delaunay/shapes.hpp"
#include "tests/delaunay/snapped.hpp"

namespace barrio::delaunay {
namespace {

using test::areas_of;
using test::Ends;
using test::segments_of;

/// Add the border of a rectangle with a region on its inner side.
void add_rectangle(PlanarGraph& graph, const Point& low, const Point& high, std::int32_t region) {
  const auto first = static_cast<std::int32_t>(graph.points.size());
  for (const Point& p : {low, Point{high[0], low[1]}, high, Point{low[0], high[1]}}) graph.points.push_back(p);
  for (std::int32_t i = 0; i < 4; ++i) {
    graph.segments.push_back({.ends = {first + i, first + (i + 1) % 4}, .marker = region});
    graph.sides.push_back({region, PlanarGraph::outside});
  }
  while (std::ssize(graph.regions) < region) graph.regions.push_back({});
}

std::string complaint(PlanarGraph graph, double tolerance, ErrorCode code) {
  try {
    static_cast<void>(snap(graph, {.tolerance = tolerance}));
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    EXPECT_FALSE(error.remedy().empty());
    return error.what();
  }
  return "none";
}

TEST(Snap, PointsMergeAndOthersStayBitByBit) {
  PlanarGraph graph = unit_square(1);
  graph.points.push_back({1.0 + 0.0006, 0.0007});  // next to corner 1
  graph.points.push_back({0.3, 0.7});
  graph.segments[1].ends[0] = 4;
  const SnapReport report = snap(graph, {.tolerance = 1e-3});
  EXPECT_EQ(report.n_merged_points, 1);
  EXPECT_DOUBLE_EQ(report.max_move, std::hypot(1.0006 - 1.0, 0.0007));
  EXPECT_EQ(graph.points, (std::vector<Point>{{0, 0}, {1, 0}, {1, 1}, {0, 1}, {0.3, 0.7}}));
  EXPECT_EQ(graph.segments.size(), 4U);
  EXPECT_EQ(graph.segments[1].ends, (std::array<std::int32_t, 2>{1, 2}));
  EXPECT_EQ(report.n_crossings + report.n_points_on_segments + report.n_repeated_segments, 0);
}

TEST(Snap, LoosePointsAreDroppedOnRequest) {
  PlanarGraph graph = unit_square(1);
  graph.points.push_back({0.3, 0.7});
  snap(graph, {.tolerance = 1e-3, .drops_loose_points = true});
  EXPECT_EQ(graph.points.size(), 4U);
}

TEST(Snap, SegmentsAreCutAtNearPoints) {
  PlanarGraph graph = unit_square(1);
  graph.points.push_back({0.5, 0.0009});   // taken in
  graph.points.push_back({0.75, 0.0025});  // not
  const SnapReport report = snap(graph, {.tolerance = 1e-3});
  EXPECT_EQ(report.n_points_on_segments, 1);
  EXPECT_EQ(segments_of(graph), (std::set<Ends>{Ends{Point{0, 0}, Point{0.5, 0.0009}},
                                                Ends{Point{0.5, 0.0009}, Point{1, 0}}, Ends{Point{1, 0}, Point{1, 1}},
                                                Ends{Point{0, 1}, Point{1, 1}}, Ends{Point{0, 0}, Point{0, 1}}}));
  EXPECT_EQ(graph.segments[0].marker, 1);
  EXPECT_EQ(graph.segments[1].marker, 1);
}

TEST(Snap, CrossingsBecomePointsOfBothSegments) {
  PlanarGraph graph = unit_square(1);
  graph.segments.push_back({{0, 2}, 7});
  graph.segments.push_back({{1, 3}, 8});
  const SnapReport report = snap(graph, {.tolerance = 1e-6});
  EXPECT_EQ(report.n_crossings, 1);
  ASSERT_EQ(graph.points.size(), 5U);
  EXPECT_EQ(graph.points[4], (Point{0.5, 0.5}));
  std::map<std::int32_t, int> markers;
  for (const auto& [ends, marker] : graph.segments) ++markers[marker];
  EXPECT_EQ(markers, (std::map<std::int32_t, int>{{1, 1}, {2, 1}, {3, 1}, {4, 1}, {7, 2}, {8, 2}}));
  validate(triangulate(graph));
}

TEST(Snap, ManySegmentsThroughOnePlaceShareOnePoint) {
  PlanarGraph graph;
  constexpr int n = 40;
  for (int i = 0; i < n; ++i) {
    const double angle = 3.14159 * i / n;
    const double aside = 1e-7 * ((i * 7) % 5 - 2);  // they do not quite meet in one point
    for (const double sign : {-1.0, 1.0})
      graph.points.push_back({sign * std::cos(angle) - aside * std::sin(angle), sign * std::sin(angle) + aside});
    graph.segments.push_back({{2 * i, 2 * i + 1}, i});
  }
  const SnapReport report = snap(graph, {.tolerance = 1e-3});
  EXPECT_EQ(report.n_crossings, 1);
  EXPECT_EQ(graph.segments.size(), 2U * n);
  validate(triangulate(graph, {.fills_hull = true}));
}

TEST(Snap, SegmentsThatCoincideMergeWithTheirMarkers) {
  PlanarGraph graph = unit_square(1);
  for (const Point& p : {Point{0.2, 0.0005}, Point{0.8, -0.0005}, Point{0.2001, 0.0}, Point{0.9, 0.9}})
    graph.points.push_back(p);
  graph.segments[0].marker = 0;
  graph.segments.push_back({{4, 5}, 9});  // beside the lower side
  graph.segments.push_back({{6, 4}, 5});  // shorter than the tolerance
  graph.segments.push_back({{7, 7}, 5});
  const SnapReport report = snap(graph, {.tolerance = 1e-3});
  EXPECT_EQ(report.vanished_segments, (std::vector<std::int32_t>{5, 6}));
  EXPECT_EQ(report.n_repeated_segments, 1);
  std::vector<std::int32_t> markers;
  for (const auto& [ends, marker] : graph.segments) markers.push_back(marker);
  EXPECT_EQ(markers, (std::vector<std::int32_t>{0, 9, 0, 2, 3, 4}));
  segments_of(graph);
}

TEST(Snap, AttributesStayLinearAndMarkersOfPointsStay) {
  PlanarGraph graph;
  const auto value = [](const Point& p) { return 3 + 2 * p[0] - p[1]; };
  graph.points = {{5, 5.0005}, {0, 0}, {4, 2}, {1, 3}, {3, -1}, {5, 5}, {7, 0}, {7, 0.0005}};
  graph.point_markers = {9, 1, 2, 3, 4, 6, 0, 8};
  graph.attributes = {{"depth"}};
  for (const Point& p : graph.points) graph.attribute_values.push_back(value(p));
  graph.segments = {{{1, 2}, 1}, {{3, 4}, 2}};
  snap(graph, {.tolerance = 1e-3});
  EXPECT_EQ(graph.points[0], (Point{5, 5}));
  ASSERT_EQ(graph.points.size(), 7U);
  EXPECT_EQ(graph.point_markers, (std::vector<std::int32_t>{6, 1, 2, 3, 4, 8, 0}));
  for (std::size_t i = 0; i < graph.points.size(); ++i)
    EXPECT_NEAR(graph.attribute_values[i], value(graph.points[i]), 1e-14);
}

TEST(Snap, TheFirstRegionKeepsAnOverlap) {
  PlanarGraph graph;
  add_rectangle(graph, {0, 0}, {2, 2}, 1);
  add_rectangle(graph, {1, 1}, {3, 3}, 2);
  add_rectangle(graph, {0.5, 0.5}, {0.9, 0.9}, 3);    // within the first
  add_rectangle(graph, {2, 0}, {3, 1}, 4);            // beside them
  add_rectangle(graph, {0.8, 0.8}, {0.95, 0.95}, 5);  // within the first, across the border of the third
  const SnapReport report = snap(graph, {.tolerance = 1e-6, .drops_loose_points = true});
  std::set<std::int32_t> ends;
  for (const PlanarGraph::Edge& segment : graph.segments) ends.insert(segment.ends.begin(), segment.ends.end());
  EXPECT_EQ(ends.size(), graph.points.size());
  EXPECT_EQ(areas_of(graph), (std::map<std::int32_t, double>{{1, 4.0}, {2, 3.0}, {4, 1.0}}));
  EXPECT_EQ(report.vanished_regions, (std::vector<std::int32_t>{3, 5}));
  ASSERT_EQ(report.overlaps.size(), 3U);
  EXPECT_EQ(report.overlaps[0].kept, 1);
  EXPECT_EQ(report.overlaps[0].lost, 2);
  EXPECT_DOUBLE_EQ(report.overlaps[0].area, 1.0);
  EXPECT_NEAR(report.overlap_area, 1.1825, 1e-12);
}

TEST(Snap, BordersOfOneRegionAloneGoButInnerSegmentsStay) {
  PlanarGraph graph;
  add_rectangle(graph, {0, 0}, {1, 1}, 1);
  add_rectangle(graph, {1, 0}, {2, 1}, 1);  // the same region beyond the border
  graph.segments.push_back({.ends = {0, 2}, .marker = 9});
  graph.sides.push_back({1, 1});
  snap(graph, {.tolerance = 1e-6, .drops_loose_points = true});
  EXPECT_EQ(graph.segments.size(), 7U);
  EXPECT_EQ(areas_of(graph), (std::map<std::int32_t, double>{{1, 2.0}}));
  EXPECT_EQ(std::ranges::count(graph.segments, 9, &PlanarGraph::Edge::marker), 1);
}

TEST(Snap, AHoleBeyondItsAreaCoversNothing) {
  PlanarGraph graph;
  add_rectangle(graph, {0, 0}, {4, 4}, 1);
  add_rectangle(graph, {3, 1}, {5, 3}, 1);
  for (std::size_t s = 4; s < 8; ++s) graph.sides[s] = {PlanarGraph::outside, 1};
  const SnapReport report = snap(graph, {.tolerance = 1e-6});
  EXPECT_EQ(areas_of(graph), (std::map<std::int32_t, double>{{1, 14.0}}));
  ASSERT_EQ(report.inverted.size(), 1U);
  EXPECT_EQ(report.inverted[0].region, 1);
  EXPECT_DOUBLE_EQ(report.inverted[0].area, 2.0);
}

TEST(Snap, NarrowRegionsVanishAndAreNamed) {
  PlanarGraph graph;
  add_rectangle(graph, {0, 0}, {1, 1}, 1);
  add_rectangle(graph, {1, 0}, {1 + 1e-7, 1}, 2);
  add_rectangle(graph, {3, 0}, {3 + 1e-7, 1e-7}, 3);
  const SnapReport report = snap(graph, {.tolerance = 1e-6, .drops_loose_points = true});
  EXPECT_EQ(report.vanished_regions, (std::vector<std::int32_t>{2, 3}));
  EXPECT_EQ(graph.points.size(), 4U);
  EXPECT_EQ(graph.segments.size(), 4U);
  EXPECT_EQ(areas_of(graph), (std::map<std::int32_t, double>{{1, 1.0}}));
}

TEST(Snap, ARowOfPointsDoesNotPullASegmentAway) {
  // each point lies within the tolerance of the segment that ends in the one before
  PlanarGraph graph;
  graph.points = {{0, 0}, {100, 0}};
  for (int i = 1; i < 60; ++i) graph.points.push_back({100 - 1.2 * i, 0.7 * i});
  graph.segments = {{{0, 1}, 1}};
  snap(graph, {.tolerance = 1.0});
  EXPECT_GT(graph.segments.size(), 1U);
  for (const auto& [ends, marker] : graph.segments)
    for (const std::int32_t end : ends) EXPECT_LE(graph.points[end][1], 2.0);
}

TEST(Snap, WhatCannotBeSnapped) {
  const PlanarGraph square = unit_square(1);
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const auto expect = [&](const PlanarGraph& graph, double tolerance, ErrorCode code, const std::string& part) {
    const std::string text = complaint(graph, tolerance, code);
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  expect(square, nan, ErrorCode::usage, "tolerance: is nan");
  expect(square, -1.0, ErrorCode::usage, "tolerance: is -1");
  expect(square, 0.0, ErrorCode::usage, "tolerance: is 0");
  expect(square, 1.5, ErrorCode::usage, "is 1.5, but all points lie within a square of size 1");
  expect(square, 1e-16, ErrorCode::usage, "which doubles cannot resolve beside the coordinate 1");
  PlanarGraph graph = square;
  graph.points[2][0] = nan;
  expect(graph, 1e-3, ErrorCode::bad_input, "point 2: has the coordinate nan");
  graph = square;
  graph.segments[1].ends[0] = 4;
  expect(graph, 1e-3, ErrorCode::bad_input, "segment 1: ends in point 4, but there are 4 points");
  graph = square;
  graph.point_markers = {1, 2};
  expect(graph, 1e-3, ErrorCode::bad_input, "markers: are not as many as points");
  graph = square;
  graph.attributes = {{"depth"}};
  expect(graph, 1e-3, ErrorCode::bad_input, "attributes: are not as many as points need");
  graph = square;
  graph.sides = {{1, 2}};
  expect(graph, 1e-3, ErrorCode::bad_input, "sides: are not as many as segments");
  graph = square;
  graph.points.push_back({1, 0.0001});
  graph.segments = {{{1, 4}, 1}};
  expect(graph, 1e-3, ErrorCode::bad_input, "segments: all vanish within the tolerance 0.001");
  graph = {};
  add_rectangle(graph, {0, 0}, {1, 1}, 1);
  for (std::size_t s = 0; s < 4; ++s) graph.segments.push_back({.ends = graph.segments[s].ends, .marker = 1});
  for (std::size_t s = 0; s < 4; ++s) graph.sides.push_back({PlanarGraph::outside, 1});  // a hole as large
  expect(graph, 1e-3, ErrorCode::bad_input, "segments: enclose no area that is wider than the tolerance 0.001");
  graph = square;
  graph.sides.assign(4, {1, PlanarGraph::outside});
  graph.regions.push_back({});
  graph.segments.pop_back();
  graph.sides.pop_back();
  expect(graph, 1e-3, ErrorCode::bad_input, "region 1: has segments beside it that do not close around it");
}

TEST(Snap, HolesThatVanishAreNamed) {
  PlanarGraph graph = unit_square(1);
  add_circle(graph, {0.5, 0.5}, 1e-4, 8, 2);
  add_circle(graph, {0.25, 0.25}, 0.1, 8, 3);
  graph.holes = {{0.25, 0.25}};
  PlanarGraph without = graph;
  snap(without, {.tolerance = 1e-3});
  EXPECT_EQ(without.segments.size(), 12U);
  graph.holes.push_back({0.5, 0.5});
  std::string text = complaint(graph, 1e-3, ErrorCode::bad_input);
  EXPECT_NE(text.find("hole (0.5, 0.5): lies where snapping moves the segment from"), std::string::npos) << text;
  graph.holes.pop_back();
  graph.regions.push_back({.place = {0.5, 0.5}});
  text = complaint(graph, 1e-3, ErrorCode::bad_input);
  EXPECT_NE(text.find("region (0.5, 0.5): lies where snapping moves"), std::string::npos) << text;
}

}  // namespace
}  // namespace barrio::delaunay
