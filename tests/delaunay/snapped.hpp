#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <set>

#include "barrio/delaunay/planar_graph.hpp"

namespace barrio::delaunay::test {

using Ends = std::array<Point, 2>;

/// Return the segments by their places.
inline std::set<Ends> segments_of(const PlanarGraph& graph) {
  std::set<Ends> all;
  for (const auto& [ends, marker] : graph.segments) {
    const Point& a = graph.points[ends[0]];
    const Point& b = graph.points[ends[1]];
    EXPECT_TRUE(all.insert({std::min(a, b), std::max(a, b)}).second) << "a segment is there twice";
  }
  return all;
}

/// Return the areas of regions by their positions in the list.
inline std::map<std::int32_t, double> areas_of(const PlanarGraph& graph) {
  const Triangulation mesh = triangulate(graph);
  validate(mesh);
  std::map<std::int32_t, double> areas;
  for (const Triangle& t : mesh.triangles.items())
    if (t.is_used()) areas[t.region()] += mesh.area(t);
  return areas;
}

}  // namespace barrio::delaunay::test
