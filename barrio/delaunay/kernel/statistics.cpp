#include "barrio/delaunay/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>

#include "barrio/delaunay/kernel/quality.hpp"

namespace barrio::delaunay {

ShapeStatistics shape_statistics(const Triangulation& mesh) {
  constexpr double degree = std::numbers::pi / 180;
  ShapeStatistics found;
  std::array<double, 61> sine_squared{};
  for (int d = 0; d < std::ssize(sine_squared); ++d) sine_squared[d] = std::pow(std::sin(degree * d), 2);
  double least = 1.0;
  double min_area = std::numeric_limits<double>::infinity();
  for (const Triangle& t : mesh.triangles.items()) {
    if (!t.is_used()) continue;
    const detail::Shape shape(mesh.point(t.vertices[0]), mesh.point(t.vertices[1]), mesh.point(t.vertices[2]));
    const double area = 0.5 * shape.double_area;
    found.area += area;
    min_area = std::min(min_area, area);
    found.max_area = std::max(found.max_area, area);
    // divide twice: the product of the squares might underflow
    const double sine = shape.double_area / shape.squares[next_corner(shape.shortest)] * shape.double_area /
                        shape.squares[previous_corner(shape.shortest)];
    least = std::min(least, sine);
    const auto above = std::ranges::upper_bound(sine_squared.begin() + 1, sine_squared.end(), sine);
    ++found.n_of_degree[above - sine_squared.begin() - 1];
  }
  if (found.max_area > 0) {
    found.min_angle = std::asin(std::sqrt(least)) / degree;
    found.min_area = min_area;
  }
  return found;
}

Json to_json(const ShapeStatistics& statistics) {
  return {{"angles", {{"min", statistics.min_angle}, {"triangles_of_degree", statistics.n_of_degree}}},
          {"areas", {{"sum", statistics.area}, {"min", statistics.min_area}, {"max", statistics.max_area}}}};
}

}  // namespace barrio::delaunay
