#include "barrio/delaunay/forecast.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>
#include <queue>
#include <vector>

#include "barrio/base/error.hpp"
#include "barrio/base/text.hpp"

namespace barrio::delaunay {
namespace {

/// Number of triangles of a good mesh whose areas are bounded, over that if each were as large as its bound.
constexpr double usual = 1.55;
/// Bytes of a triangle and half a vertex.
constexpr double bytes_per_triangle = 46.0;

using Corners = std::array<Point, 3>;

double area_of(const Corners& corners) noexcept {
  const auto& [a, b, c] = corners;
  return 0.5 * std::abs((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]));
}

Corners corners_of(const Triangulation& mesh, const Triangle& t) noexcept {
  return {mesh.point(t.vertices[0]), mesh.point(t.vertices[1]), mesh.point(t.vertices[2])};
}

/// Return the bound of the area of a triangle, but for the size field; infinite if there is none.
double bound_of(const Triangulation& mesh, const Triangle& t, const RefineOptions& options) noexcept {
  double bound = options.max_area > 0 ? options.max_area : std::numeric_limits<double>::infinity();
  if (options.keeps_regions)
    if (const double of_region = mesh.regions[t.region()].max_area; of_region > 0) bound = std::min(bound, of_region);
  return bound;
}

/// Expected triangles of each triangle of a mesh. With a size field, parts are cut in four: first the large ones, then
/// those where the field varies most.
class Integral {
 public:
  Integral(const Triangulation& mesh, const RefineOptions& options) : options_(&options) {
    for (const Triangle& t : mesh.triangles.items())
      if (t.is_used()) domain_ += area_of(corners_of(mesh, t));
    for (const Triangle& t : mesh.triangles.items()) {
      if (!t.is_used()) continue;
      const Corners corners = corners_of(mesh, t);
      const double bound = bound_of(mesh, t, options);
      const double expected = value(corners, bound);
      sums_.push_back(expected);
      sum_ += expected;
      push({corners, bound, expected, 0.0, sums_.size() - 1});
    }
    refine();
  }

  /// Return the expected number of triangles; 0 if no triangle is above its bound.
  [[nodiscard]] double total() const noexcept {
    double total = 0.0;
    for (const double sum : sums_) total += std::max(1.0, sum);
    return total > static_cast<double>(sums_.size()) ? total : 0.0;
  }

 private:
  struct Part {
    Corners corners;
    double bound;
    double expected;
    double priority;
    std::size_t root;  // the triangle of the mesh
    friend bool operator<(const Part& a, const Part& b) noexcept { return a.priority < b.priority; }
  };

  [[nodiscard]] bool has_field() const { return options_->area_at || options_->size; }
  /// Return the number of triangles expected by the value at the centroid; one that is not above 0 says nothing.
  [[nodiscard]] double value(const Corners& corners, double bound) const {
    if (has_field()) {
      Point centroid{};
      for (const Point& p : corners)
        for (std::size_t k = 0; k < 2; ++k) centroid[k] += p[k] / 3;
      if (options_->area_at)
        if (const double here = options_->area_at(centroid); here > 0) bound = std::min(bound, here);
      const double size = options_->size(centroid);
      bound = std::min(bound, 0.25 * std::numbers::sqrt3 * size * size);
    }
    return usual * area_of(corners) / bound;
  }

  void push(Part part) {
    constexpr double resolution = 1.0 / 8192;  // of the domain
    if (!has_field()) return;
    if (area_of(part.corners) > resolution * domain_) part.priority = std::numeric_limits<double>::infinity();
    if (part.priority > 0) parts_.push(part);
  }

  void refine() {
    constexpr double accuracy = 1e-5;
    for (int n_cuts = 1 << 14; n_cuts > 0 && !parts_.empty(); --n_cuts) {
      const Part part = parts_.top();
      if (part.priority <= accuracy * sum_) break;
      parts_.pop();
      cut(part);
    }
  }

  void cut(const Part& part) {
    const auto& [a, b, c] = part.corners;
    const auto middle = [](const Point& p, const Point& q) {
      return Point{p[0] + 0.5 * (q[0] - p[0]), p[1] + 0.5 * (q[1] - p[1])};
    };
    const Point of_a = middle(b, c);
    const Point of_b = middle(c, a);
    const Point of_c = middle(a, b);
    const std::array<Corners, 4> quarters{Corners{a, of_c, of_b}, Corners{of_c, b, of_a}, Corners{of_b, of_a, c},
                                          Corners{of_a, of_b, of_c}};
    std::array<double, 4> expected{};
    double sum = 0.0;
    for (std::size_t i = 0; i < 4; ++i) sum += expected[i] = value(quarters[i], part.bound);
    sums_[part.root] += sum - part.expected;
    sum_ += sum - part.expected;
    for (std::size_t i = 0; i < 4; ++i)
      push({quarters[i], part.bound, expected[i], std::abs(expected[i] - 0.25 * sum), part.root});
  }

  const RefineOptions* options_;
  std::priority_queue<Part> parts_;
  std::vector<double> sums_;  // of the triangles of the mesh
  double sum_ = 0.0;
  double domain_ = 0.0;  // area
};

}  // namespace

Forecast forecast(const Triangulation& mesh, const RefineOptions& options) {
  const bool has_bounds = options.max_area > 0 || options.area_at || options.size ||
                          (options.keeps_regions &&
                           std::ranges::any_of(mesh.regions, [](const Region& region) { return region.max_area > 0; }));
  Forecast expected;
  if (!has_bounds) return expected;
  expected.n_triangles = Integral(mesh, options).total();
  const double of_attributes = 0.5 * sizeof(double) * static_cast<double>(mesh.attribute_width());
  expected.memory_bytes = expected.n_triangles * (bytes_per_triangle + of_attributes);
  return expected;
}

void check_fits(const Forecast& expected, std::uint64_t available_bytes, const std::string& remedy) {
  constexpr double max_triangles = (1 << 30) - 1;
  if (expected.memory_bytes > static_cast<double>(available_bytes))
    refuse(ErrorCode::failed, "refinement",
           fmt::format("would make {}, but this machine has {} left", text_of(expected), format_bytes(available_bytes)),
           remedy);
  if (expected.n_triangles > max_triangles)
    refuse(ErrorCode::failed, "refinement",
           fmt::format("would make {}, but a triangulation has at most 2^30", text_of(expected)), remedy);
}

std::string text_of(const Forecast& expected) {
  if (!(expected.n_triangles > 0)) return "an unknown number of triangles";
  constexpr double max_bytes = 1e18;
  std::string count = fmt::format("{:.1e}", expected.n_triangles);  // 1.5e+12
  const std::size_t exponent = count.find('e');
  const int power = std::stoi(count.substr(exponent + 1));
  constexpr int long_power = 7;
  count = power < long_power ? format_count(std::llround(std::stod(count)))
                             : fmt::format("{}e{}", count.substr(0, exponent), power);
  const std::string bytes = expected.memory_bytes < max_bytes
                                ? format_bytes(static_cast<std::uint64_t>(expected.memory_bytes))
                                : fmt::format("{:.1e} bytes", expected.memory_bytes);
  return fmt::format("about {} triangles, {}", count, bytes);
}

Json to_json(const Forecast& expected) {
  const bool is_known = expected.n_triangles > 0;
  return {{"triangles", is_known ? Json(std::round(expected.n_triangles)) : Json()},
          {"memory_bytes", is_known ? Json(std::round(expected.memory_bytes)) : Json()}};
}

}  // namespace barrio::delaunay
