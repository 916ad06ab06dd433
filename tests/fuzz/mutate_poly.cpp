#include "tests/fuzz/mutate_poly.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>
#include <random>

#include "barrio/delaunay/poly_file.hpp"
#include "tests/fuzz/finds.hpp"

namespace barrio::test {
namespace {

using delaunay::PlanarGraph;
using delaunay::Point;

/// Changes a graph step by step, usually to points with nearly degenerate signs.
class GraphMutator {
 public:
  GraphMutator(PlanarGraph& graph, unsigned seed) : graph_(&graph), source_(seed) {}

  void change_something() {
    if (graph_->points.empty()) graph_->points.push_back({0, 0});
    width_ = graph_->attribute_values.size() / graph_->points.size();
    switch (below(12)) {
      case 0:
      case 1:
      case 2: graph_->points[any_point()] = place(); break;
      case 3:
      case 4: add_point(); break;
      case 5: remove_point(any_point()); break;
      case 6:
      case 7: add_segment(); break;
      case 8: change_segment(); break;
      case 9: change_hole(); break;
      case 10: change_region(); break;
      default: change_all(); break;
    }
  }
  std::string options() {
    static constexpr std::array<double, 6> angles{0, 20, 20.7, 30, 34, 5};
    static constexpr std::array<double, 6> areas{0, 0, 0, 0.01, 1, 1e-4};
    return fmt::format("{}{} {} {}\n", options_word, angles[below(6)], areas[below(6)], below(16));
  }
  std::size_t below(std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(source_); }

 private:
  double part() { return std::uniform_real_distribution<double>(0, 1)(source_); }
  double sign() { return below(2) == 0 ? 1 : -1; }
  std::size_t any_point() { return below(graph_->points.size()); }
  const Point& some() { return graph_->points[any_point()]; }

  /// Return a distance: zero, of the size of rounding, or any.
  double little() {
    if (below(3) == 0) return 0;
    return sign() * std::pow(10.0, -static_cast<double>(below(18)));
  }

  Point place() {
    const Point a = some();
    const Point b = some();
    switch (below(7)) {
      case 0: return {static_cast<double>(below(9)), static_cast<double>(below(9))};
      case 1: return {part() * 8, part() * 8};
      case 2: {  // on or near the line through two points
        const double t = below(2) == 0 ? 0.5 : 2 * part() - 0.5;
        return {a[0] + t * (b[0] - a[0]) + little(), a[1] + t * (b[1] - a[1]) + little()};
      }
      case 3: return {a[0] + little(), a[1] + little()};  // near another point
      case 4: {                                           // at the same distance from one point as another
        const double angle = below(2) == 0 ? little() : 6.3 * part();
        const Point u{b[0] - a[0], b[1] - a[1]};
        return {a[0] + std::cos(angle) * u[0] - std::sin(angle) * u[1],
                a[1] + std::sin(angle) * u[0] + std::cos(angle) * u[1]};
      }
      case 5: return {a[0], b[1]};
      default: {
        constexpr double infinity = std::numeric_limits<double>::infinity();
        return {std::nextafter(a[0], sign() * infinity),
                below(2) == 0 ? a[1] : std::nextafter(a[1], sign() * infinity)};
      }
    }
  }

  void add_point() {
    graph_->points.push_back(place());
    if (!graph_->point_markers.empty()) graph_->point_markers.push_back(0);
    graph_->attribute_values.resize(graph_->points.size() * width_, 1.0);
    if (below(2) == 0) add_segment_from(graph_->points.size() - 1);
  }
  void remove_point(std::size_t i) {
    if (graph_->points.size() < 2) return;
    const auto number = static_cast<std::int32_t>(i);
    graph_->points.erase(std::next(graph_->points.begin(), number));
    if (!graph_->point_markers.empty()) graph_->point_markers.erase(std::next(graph_->point_markers.begin(), number));
    graph_->attribute_values.resize(graph_->points.size() * width_);
    std::erase_if(graph_->segments,
                  [&](const PlanarGraph::Edge& edge) { return edge.ends[0] == number || edge.ends[1] == number; });
    for (PlanarGraph::Edge& edge : graph_->segments)
      for (std::int32_t& end : edge.ends)
        if (end > number) --end;
  }

  void add_segment_from(std::size_t from) {
    const std::size_t to = any_point();
    if (from == to) return;
    graph_->segments.push_back({.ends = {static_cast<std::int32_t>(from), static_cast<std::int32_t>(to)},
                                .marker = static_cast<std::int32_t>(below(3))});
  }
  void add_segment() { add_segment_from(any_point()); }
  void change_segment() {
    if (graph_->segments.empty()) return add_segment();
    const std::size_t i = below(graph_->segments.size());
    const PlanarGraph::Edge old = graph_->segments[i];
    graph_->segments.erase(std::next(graph_->segments.begin(), static_cast<std::ptrdiff_t>(i)));
    if (below(3) == 0) return;
    add_segment_from(static_cast<std::size_t>(old.ends[below(2)]));
  }

  void change_hole() {
    if (!graph_->holes.empty() && below(2) == 0) {
      graph_->holes.pop_back();
    } else {
      graph_->holes.push_back(place());
    }
  }
  void change_region() {
    if (!graph_->regions.empty() && below(2) == 0) {
      graph_->regions.pop_back();
    } else {
      graph_->regions.push_back({.place = place(), .attribute = 1, .max_area = below(2) == 0 ? 0 : std::abs(little())});
    }
  }

  /// Scale or move all points.
  void change_all() {
    static constexpr std::array<double, 8> factors{2, 0.1, 1e-3, 1e6, 1e-20, 1e20, 1e-44, 1e59};
    const double factor = below(2) == 0 ? factors[below(factors.size())] : 1.0;
    const Point by = factor == 1.0 ? place() : Point{0, 0};
    const auto change = [&](Point& p) { p = {factor * p[0] + by[0], factor * p[1] + by[1]}; };
    std::ranges::for_each(graph_->points, change);
    std::ranges::for_each(graph_->holes, change);
    for (PlanarGraph::RegionSeed& seed : graph_->regions) change(seed.place);
  }

  PlanarGraph* graph_;
  std::size_t width_ = 0;  // of attributes of a point
  std::minstd_rand source_;
};

/// Return the line of options, or "".
std::string options_line(std::string_view text) {
  const std::size_t at = text.find(options_word);
  if (at == std::string_view::npos) return {};
  return std::string(text.substr(at, text.find('\n', at) - at)) + '\n';
}

}  // namespace

std::size_t mutate_poly(std::span<std::uint8_t> room, std::size_t size, const std::string& path, unsigned seed) {
  const std::string_view text(reinterpret_cast<const char*>(room.data()), size);
  std::string result = options_line(text);
  try {
    write_bytes(path, room.first(size));
    PlanarGraph graph = delaunay::read_poly(path).graph;
    GraphMutator mutator(graph, seed);
    for (std::size_t n = mutator.below(4) + 1; n > 0; --n) mutator.change_something();
    if (mutator.below(8) == 0) result = mutator.options();
    delaunay::write_poly(graph, path);
  } catch (const Error&) {
    return 0;
  }
  std::ifstream file(path, std::ios::binary);
  result.append(std::istreambuf_iterator<char>(file), {});
  if (result.size() > room.size()) return 0;
  std::ranges::copy(result, room.begin());
  return result.size();
}

}  // namespace barrio::test
