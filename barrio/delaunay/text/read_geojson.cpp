#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <numeric>
#include <set>
#include <string_view>
#include <utility>

#include "barrio/base/error.hpp"
#include "barrio/base/json.hpp"
#include "barrio/base/text.hpp"
#include "barrio/delaunay/geojson_file.hpp"

namespace barrio::delaunay {
namespace {

/// Positions of a ring, without the first one repeated at the end.
struct Ring {
  std::vector<Point> positions;
  std::int32_t feature = 0;  ///< from 1
  bool is_hole = false;
};

class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path) {}

  std::vector<Ring> read() {
    read_object(parse());
    if (rings_.empty()) refuse(ErrorCode::bad_input, path_, "has no polygons", "give Polygons or MultiPolygons");
    return std::move(rings_);
  }
  [[nodiscard]] std::int32_t n_features() const noexcept { return n_features_; }
  /// Return the name of a feature; empty if it has none.
  [[nodiscard]] std::string name_of(std::int32_t feature) const {
    const auto found = names_.find(feature);
    return found != names_.end() ? found->second : std::string();
  }
  [[nodiscard]] std::vector<std::string> left_out() const {
    std::vector<std::string> all;
    for (const auto& [type, n] : others_) all.push_back(fmt::format("{} {}{}", n, type, n == 1 ? "" : "s"));
    if (n_heights_ > 0) all.push_back(fmt::format("{} heights of positions", format_count(n_heights_)));
    for (const std::string& name : properties_) all.push_back(fmt::format("property {}", name));
    if (n_more_properties_ > 0) all.push_back("more properties");
    return all;
  }

 private:
  Json parse() {
    std::error_code ignored;
    std::ifstream in(path_);
    if (!in || std::filesystem::is_directory(path_, ignored))
      refuse(ErrorCode::failed, path_, "cannot be read", "check the name");
    try {
      return Json::parse(in);
    } catch (const Json::parse_error& error) {
      refuse(ErrorCode::bad_input, path_, fmt::format("is not JSON: byte {} is unexpected", error.byte),
             "the file may be truncated");
    } catch (const Json::exception& error) {  // a number out of range
      refuse(ErrorCode::bad_input, path_, fmt::format("is not JSON: {}", error.what()));
    }
  }

  [[noreturn]] void fail(const std::string& cause, const char* remedy = "see RFC 7946") const {
    refuse(ErrorCode::bad_input, n_features_ > 0 ? fmt::format("{}: feature {}", path_, n_features_) : path_, cause,
           remedy);
  }

  const Json& member(const Json& of, const char* name) const {
    if (!of.is_object() || !of.contains(name)) fail(fmt::format("lacks '{}'", name));
    return of[name];
  }
  std::string type_of(const Json& object) const {
    const Json& type = member(object, "type");
    if (!type.is_string()) fail("has a 'type' that is not a string");
    return type.get<std::string>();
  }

  void read_object(const Json& object) {
    const std::string type = type_of(object);
    if (type == "FeatureCollection") {
      const Json& features = member(object, "features");
      if (!features.is_array()) fail("has 'features' that are not a list");
      for (const Json& feature : features) read_feature(feature);
    } else if (type == "Feature") {
      read_feature(object);
    } else {
      ++n_features_;
      read_geometry(object);
    }
  }

  void read_feature(const Json& feature) {
    ++n_features_;
    if (type_of(feature) != "Feature") fail("is not a Feature");
    if (const auto found = feature.find("properties"); found != feature.end() && found->is_object()) {
      constexpr std::size_t max_names = 20;
      for (const auto& [name, value] : found->items()) {
        if (value.is_string() && is_name(name)) {
          names_[n_features_] = value.get<std::string>();
          continue;
        }
        if (properties_.size() < max_names)
          properties_.insert(name);
        else if (!properties_.contains(name))
          ++n_more_properties_;
      }
    }
    const Json& geometry = member(feature, "geometry");
    if (geometry.is_null())
      ++others_["feature without a geometry"];
    else
      read_geometry(geometry);
  }

  /// Tell whether a property is called name, in small or large letters.
  static bool is_name(const std::string& property) {
    return std::ranges::equal(property, std::string_view("name"), {},
                              [](char c) { return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c; });
  }

  void read_geometry(const Json& geometry) {
    const std::string type = type_of(geometry);
    if (type == "GeometryCollection") {
      const Json& all = member(geometry, "geometries");
      if (!all.is_array()) fail("has 'geometries' that are not a list");
      for (const Json& one : all) {
        if (type_of(one) == "GeometryCollection") fail("has a GeometryCollection inside another one");
        read_geometry(one);
      }
    } else if (type == "Polygon") {
      read_polygon(member(geometry, "coordinates"));
    } else if (type == "MultiPolygon") {
      const Json& all = member(geometry, "coordinates");
      if (!all.is_array()) fail("has coordinates that are not a list");
      for (const Json& one : all) read_polygon(one);
    } else if (type == "Point" || type == "MultiPoint" || type == "LineString" || type == "MultiLineString") {
      ++others_[type];
    } else {
      fail(fmt::format("has the geometry '{}'", type), "give Polygons or MultiPolygons");
    }
  }

  void read_polygon(const Json& coordinates) {
    if (!coordinates.is_array()) fail("has a polygon that is not a list of rings");
    bool is_first = true;
    for (const Json& list : coordinates) {
      Ring& ring = rings_.emplace_back();
      ring.feature = n_features_;
      ring.is_hole = !std::exchange(is_first, false);
      if (!list.is_array() || list.size() < 4) fail("has a ring of fewer than four positions");
      for (const Json& position : list) {
        const Point p = read_position(position);
        if (ring.positions.empty() || ring.positions.back() != p) ring.positions.push_back(p);
      }
      if (ring.positions.front() != ring.positions.back())
        fail(fmt::format("has a ring that starts at ({:g}, {:g}) and ends at ({:g}, {:g})", ring.positions.front()[0],
                         ring.positions.front()[1], ring.positions.back()[0], ring.positions.back()[1]),
             "close it: its last position must equal its first");
      ring.positions.pop_back();
      if (ring.positions.size() < 3) fail("has a ring of fewer than three different positions");
    }
  }

  Point read_position(const Json& position) {
    if (!position.is_array() || position.size() < 2 || !position[0].is_number() || !position[1].is_number())
      fail("has a position that is not two numbers");
    if (position.size() > 2) ++n_heights_;
    return {position[0].get<double>(), position[1].get<double>()};
  }

  const std::string& path_;
  std::vector<Ring> rings_;
  std::int32_t n_features_ = 0;
  std::map<std::int32_t, std::string> names_;  // of features
  std::map<std::string, int> others_;
  std::set<std::string> properties_;
  std::int64_t n_more_properties_ = 0;
  std::int64_t n_heights_ = 0;
};

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

/// Return twice the area of a ring, positive if it runs counterclockwise.
double double_area(const std::vector<Point>& points, std::span<const std::int32_t> ring) {
  const Point& o = points[ring.front()];
  double sum = 0.0;
  for (std::size_t i = 1; i + 1 < ring.size(); ++i) {
    const Point& a = points[ring[i]];
    const Point& b = points[ring[i + 1]];
    sum += (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0]);
  }
  return sum;
}

/// Project the points of a graph. @param ring  points of any ring, to detect a map that mirrors
void project_graph(PlanarGraph& graph, std::span<const std::int32_t> ring,
                   const std::function<void(std::span<Point>)>& project) {
  const bool was_left = double_area(graph.points, ring) > 0;
  // straight in degrees is not straight in the plane: both polygons need the same points on a shared border
  graph = cut_at_points(std::move(graph));
  // join polygons that were cut at 180 degrees
  for (Point& p : graph.points)
    if (p[0] == -180.0) p[0] = 180.0;
  std::vector<Point> distinct;
  const std::vector<std::int32_t> numbers = number_positions(graph.points, distinct);
  const auto number = [&](std::int32_t of) { return numbers[of]; };
  for (PlanarGraph::Edge& edge : graph.segments) edge.ends = {number(edge.ends[0]), number(edge.ends[1])};
  graph.points = std::move(distinct);
  project(graph.points);
  std::vector<std::int32_t> of_ring(ring.begin(), ring.end());
  for (std::int32_t& of : of_ring) of = number(of);
  if (was_left == (double_area(graph.points, of_ring) > 0)) return;
  for (auto& [left, right] : graph.sides) std::swap(left, right);  // the map mirrors: northings come first
}

}  // namespace

GeoJsonFile read_geojson(const std::string& path, const std::function<void(std::span<Point>)>& project) {
  Reader reader(path);
  const std::vector<Ring> rings = reader.read();
  GeoJsonFile file{.graph = {}, .left_out = reader.left_out()};
  PlanarGraph& graph = file.graph;
  std::vector<Point> positions;
  for (const Ring& ring : rings) positions.insert(positions.end(), ring.positions.begin(), ring.positions.end());
  const std::vector<std::int32_t> numbers = number_positions(positions, graph.points);
  for (std::int32_t feature = 1; feature <= reader.n_features(); ++feature)
    graph.regions.push_back(
        {.attribute = static_cast<double>(feature), .number = feature, .name = reader.name_of(feature)});
  std::size_t first = 0;
  for (const Ring& ring : rings) {
    const auto points = std::span(numbers).subspan(first, ring.positions.size());
    first += points.size();
    const bool is_left = (double_area(graph.points, points) > 0) != ring.is_hole;
    for (std::size_t i = 0; i < points.size(); ++i) {
      graph.segments.push_back(
          {.ends = {points[i], points[i + 1 < points.size() ? i + 1 : 0]}, .marker = ring.feature});
      graph.sides.push_back(is_left ? std::array{ring.feature, PlanarGraph::outside}
                                    : std::array{PlanarGraph::outside, ring.feature});
    }
  }
  if (project) project_graph(graph, std::span(numbers).first(rings.front().positions.size()), project);
  return file;
}

}  // namespace barrio::delaunay
