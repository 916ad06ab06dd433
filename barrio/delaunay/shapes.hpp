#pragma once

/// @file Sample graphs: circles, polygons, saws, a pipe section, a square, a fractal island.

#include <cstdint>
#include <random>
#include <vector>

#include "barrio/delaunay/planar_graph.hpp"

namespace barrio::delaunay {

// Sample graphs for tests, benchmarks and examples. Local.

/// Add n points on a circle, and the segments between them. @param n  >= 3
void add_circle(PlanarGraph& graph, const Point& centre, double radius, int n, std::int32_t marker);

/// Make the cross-section of a pipe with seven pipes in it: a disc of radius 1, marker 1, with seven round holes,
/// markers 2 to 8.
[[nodiscard]] PlanarGraph pipe_section(int n_outside, int n_of_hole);

/// Make the unit square with n points a side, markers 1 to 4.
[[nodiscard]] PlanarGraph unit_square(int n);

/// Make a polygon from its corners, in order, marker 1.
[[nodiscard]] PlanarGraph polygon(std::vector<Point> corners);

/// Make a saw: teeth on a bar, marker 1. Between the teeth lie wedges of the outside.
/// @param width, height  of a tooth @param gap  between two teeth, relative to the width
[[nodiscard]] PlanarGraph saw(int n_teeth, double width, double height, double gap = 0.0);

/// Make a saw of 3 to 39 teeth of random sizes, with angles down to 0.001 radians, marker 1.
[[nodiscard]] PlanarGraph random_saw(std::mt19937_64& random);

/// Make an island with a fractal coast, marker 1, that never crosses itself: each edge of a polygon gets a peak, and
/// this is repeated. @param n_points  rounded up to the next 16 * 4^k. Source: von Koch 1904
[[nodiscard]] PlanarGraph fractal_island(std::int64_t n_points, std::uint64_t seed);

}  // namespace barrio::delaunay
