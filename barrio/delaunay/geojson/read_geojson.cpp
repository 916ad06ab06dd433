#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <set>
#include <utility>

#include "barrio/base/error.hpp"
#include "barrio/delaunay/geojson/holes.hpp"
#include "barrio/delaunay/geojson/meridian.hpp"
#include "barrio/delaunay/geojson/plane.hpp"
#include "barrio/delaunay/geojson/rings.hpp"
#include "barrio/delaunay/geojson_file.hpp"
#include "barrio/delaunay/snapping/crossings.hpp"

namespace barrio::delaunay {
namespace {

using detail::MapProperties;
using detail::Project;
using detail::Ring;
using detail::RingsOfFile;

/// Number distinct positions in the order of their first occurrence.
std::vector<std::int32_t> number_positions(const std::vector<Point>& all, std::vector<Point>& distinct) {
  std::vector<std::size_t> order(all.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return std::pair(all[i], i); });
  std::vector<std::size_t> first(all.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    first[order[i]] = i > 0 && all[order[i]] == all[order[i - 1]] ? first[order[i - 1]] : order[i];
  std::vector<std::int32_t> numbers(all.size());
  std::int32_t n = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (first[i] == i) {
      numbers[i] = n++;
      distinct.push_back(all[i]);
    } else {
      numbers[i] = numbers[first[i]];
    }
  }
  return numbers;
}

/// Position of a segment of the graph in the file.
struct Origin {
  std::size_t ring = 0;
  std::size_t position = 0;  // in the ring: of the first end
};

/// Rings as a graph, and the origins of its segments.
struct RingGraph {
  PlanarGraph graph;
  std::vector<Origin> origins;
};

RingGraph to_graph(const RingsOfFile& file) {
  RingGraph made;
  std::vector<Point> positions;
  for (const Ring& ring : file.rings) positions.insert(positions.end(), ring.positions.begin(), ring.positions.end());
  const std::vector<std::int32_t> numbers = number_positions(positions, made.graph.points);
  for (std::int32_t feature = 1; feature <= std::ssize(file.features); ++feature) {
    const std::string& name = file.names[feature - 1];
    made.graph.regions.push_back({.attribute = static_cast<double>(feature), .number = feature, .name = name});
    if (!name.empty()) made.graph.marker_names.push_back({feature, name});
  }
  std::size_t first = 0;
  for (std::size_t r = 0; r < file.rings.size(); ++r) {
    const Ring& ring = file.rings[r];
    const auto points = std::span(numbers).subspan(first, ring.positions.size());
    first += points.size();
    const bool is_left = (detail::double_area(ring.positions) > 0) != ring.is_hole;
    for (std::size_t i = 0; i < points.size(); ++i) {
      made.graph.segments.push_back(
          {.ends = {points[i], points[i + 1 < points.size() ? i + 1 : 0]}, .marker = ring.feature});
      made.graph.sides.push_back(is_left ? std::array{ring.feature, PlanarGraph::outside}
                                         : std::array{PlanarGraph::outside, ring.feature});
      made.origins.push_back({r, i});
    }
  }
  return made;
}

/// Derive a tolerance from the digits of the file. @see GeoJsonOptions
double default_tolerance(const RingsOfFile& file, const PlanarGraph& graph) {
  std::vector<double> lengths;
  double largest = 0.0;
  for (const auto& [ends, marker] : graph.segments) {
    lengths.push_back(std::sqrt(detail::squared_gap(graph.points[ends[0]], graph.points[ends[1]])));
    for (const double x : graph.points[ends[0]]) largest = std::max(largest, std::abs(x));
  }
  const auto half = lengths.begin() + std::ssize(lengths) / 2;
  std::ranges::nth_element(lengths, half);
  const double unit = std::pow(10.0, -std::min(file.n_decimals, 300));
  constexpr double of_edge = 0.01;
  double tolerance = std::max(unit, min_default_tolerance);
  if (tolerance > of_edge * *half) tolerance = std::pow(10.0, std::floor(std::log10(of_edge * *half)));
  return std::max(tolerance, 2 * min_tolerance(largest));
}

/// Name an edge of a ring, with its ends as the file has them.
std::string name_edge(const RingsOfFile& file, const Origin& origin) {
  const Ring& ring = file.rings[origin.ring];
  const std::size_t next = origin.position + 1 < ring.positions.size() ? origin.position + 1 : 0;
  const Point& a = ring.positions[origin.position];
  const Point& b = ring.positions[next];
  return fmt::format("{}, from position {} ({}, {}) to ({}, {})", file.name(ring), ring.numbers[origin.position], a[0],
                     a[1], b[0], b[1]);
}

/// Refuse edges that cross, since nothing is snapped. @throws Error{bad_input}
void check_crossings(const std::string& path, const RingsOfFile& file, const RingGraph& made) {
  std::vector<std::array<Point, 2>> segments;
  for (const auto& [ends, marker] : made.graph.segments)
    segments.push_back({made.graph.points[ends[0]], made.graph.points[ends[1]]});
  const auto crossings = detail::find_crossings(segments, std::vector<char>(segments.size(), 1));
  if (crossings.empty()) return;
  const auto [first, second] = crossings.front();
  const Point at =
      detail::crossing_of(segments[first][0], segments[first][1], segments[second][0], segments[second][1]);
  refuse(ErrorCode::bad_input, fmt::format("{}: {}", path, name_edge(file, made.origins[first])),
         fmt::format("crosses {}: they cross at ({}, {}){}", name_edge(file, made.origins[second]), at[0], at[1],
                     crossings.size() > 1 ? fmt::format(", and there are {} more crossings", crossings.size() - 1)
                                          : std::string()),
         "let them be snapped, or mend the file");
}

/// Project a graph without snapping.
void project_as_it_is(PlanarGraph& graph, const Project& project, const MapProperties& map, double last) {
  // straight in degrees is not straight in the plane: both polygons need the same points on a shared border
  graph = cut_at_points(std::move(graph));
  for (Point& p : graph.points)
    if (map.joins && p[0] == last - detail::whole_circle) p[0] = last;
  std::vector<Point> distinct;
  const std::vector<std::int32_t> numbers = number_positions(graph.points, distinct);
  for (PlanarGraph::Edge& edge : graph.segments) edge.ends = {numbers[edge.ends[0]], numbers[edge.ends[1]]};
  graph.points = std::move(distinct);
  project(graph.points);
  if (map.mirrors)
    for (auto& [left, right] : graph.sides) std::swap(left, right);
}

/// Add the points on either side of the last meridian to the other side, so that segments there are cut alike.
void add_twins(PlanarGraph& graph, double last) {
  std::set<Point> known;
  for (const Point& p : graph.points)
    if (p[0] == last || p[0] == last - detail::whole_circle) known.insert(p);
  for (const Point& p : std::vector<Point>(known.begin(), known.end()))
    if (const Point twin{p[0] == last ? last - detail::whole_circle : last, p[1]}; known.insert(twin).second)
      graph.points.push_back(twin);
}

/// Leave the holes empty. @throws Error{bad_input} if nothing is left
void make_holes(const std::string& path, PlanarGraph& graph, const std::vector<char>& is_hole) {
  if (std::ranges::find(is_hole, 1) == is_hole.end()) return;
  detail::leave_empty(graph, is_hole);
  if (graph.segments.empty())
    refuse(ErrorCode::bad_input, path, "has nothing but holes", "leave the area of one feature at least");
}

/// Name features and rings that nothing is left of.
std::vector<std::string> name_vanished(const RingsOfFile& file, const RingGraph& made, const SnapReport& report) {
  std::vector<std::string> names;
  const auto is_gone = [&](std::int32_t feature) {
    return std::ranges::find(report.vanished_regions, feature) != report.vanished_regions.end();
  };
  for (const std::int32_t feature : report.vanished_regions) {
    const bool is_covered =
        std::ranges::find(report.overlaps, feature, &SnapReport::Overlap::lost) != report.overlaps.end();
    names.push_back(fmt::format("{}, which {}", file.features[feature - 1],
                                is_covered ? "earlier features cover" : "is smaller than the tolerance"));
  }
  std::vector<std::size_t> n_left(file.rings.size(), 0);
  for (const Origin& origin : made.origins) ++n_left[origin.ring];
  for (const std::int32_t segment : report.vanished_segments) --n_left[made.origins[segment].ring];
  for (std::size_t r = 0; r < file.rings.size(); ++r)
    if (n_left[r] == 0 && !is_gone(file.rings[r].feature)) names.push_back(file.name(file.rings[r]));
  return names;
}

}  // namespace

GeoJsonFile read_geojson(const std::string& path, const GeoJsonOptions& options) {
  RingsOfFile rings = detail::read_rings(path);
  GeoJsonFile file{.graph = {}, .left_out = std::move(rings.left_out), .features = rings.features};
  const std::vector<char> is_hole = detail::find_features(rings, options.holes);
  RingGraph made = to_graph(rings);
  file.n_positions = std::ssize(made.graph.points);
  file.n_edges = std::ssize(made.graph.segments);
  const double tolerance = options.tolerance.value_or(default_tolerance(rings, made.graph));
  const bool has_degrees = detail::are_degrees(rings.rings);
  file.is_projected = options.project && (has_degrees || !options.projects_degrees_alone);
  if (tolerance != 0.0 && file.is_projected) {
    detail::wrap_longitudes(rings.rings);
    made = to_graph(rings);
  }
  const double last = detail::last_meridian(rings.rings);
  MapProperties map;
  if (file.is_projected) map = detail::try_projection(options.project, made.graph.points, last);
  if (tolerance == 0.0) {
    check_crossings(path, rings, made);
    file.graph = std::move(made.graph);
    if (file.is_projected) project_as_it_is(file.graph, options.project, map, last);
    make_holes(path, file.graph, is_hole);
    return file;
  }
  if (has_degrees) {
    file.n_cut_rings = detail::cut_at_meridian(rings.rings, last);
    if (map.joins) detail::end_at_poles(rings.rings, last);
    made = to_graph(rings);
  }
  PlanarGraph& graph = made.graph;
  if (map.joins) add_twins(graph, last);
  SnapReport report = snap(graph, {.tolerance = tolerance, .drops_loose_points = true});
  if (file.is_projected) detail::to_plane(graph, options.project, map, report);
  file.vanished = name_vanished(rings, made, report);
  file.snapped = std::move(report);
  file.graph = std::move(graph);
  make_holes(path, file.graph, is_hole);
  return file;
}

}  // namespace barrio::delaunay
