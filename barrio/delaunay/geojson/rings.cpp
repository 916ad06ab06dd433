#include "barrio/delaunay/geojson/rings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "barrio/base/error.hpp"
#include "barrio/base/json.hpp"
#include "barrio/base/text.hpp"

namespace barrio::delaunay::detail {
namespace {

/// Count the decimals of the shortest text of a number.
int n_decimals(double x) {
  std::array<char, 32> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), x).ptr;
  const std::string_view text(buffer.data(), end - buffer.data());
  const std::size_t exponent = text.find('e');
  const std::string_view digits = text.substr(0, exponent);
  const std::size_t point = digits.find('.');
  int n = point == std::string_view::npos ? 0 : static_cast<int>(digits.size() - point - 1);
  if (exponent != std::string_view::npos) {
    int power = 0;
    const std::size_t sign = text[exponent + 1] == '+' ? 2 : 1;
    std::from_chars(text.data() + exponent + sign, end, power);
    n -= power;
  }
  return std::max(n, 0);
}

class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path) {}

  RingsOfFile read() {
    read_object(parse());
    if (file_.rings.empty()) refuse(ErrorCode::bad_input, path_, "has no polygons", "give Polygons or MultiPolygons");
    file_.left_out = left_out();
    return std::move(file_);
  }

 private:
  [[nodiscard]] std::vector<std::string> left_out() const {
    std::vector<std::string> all;
    for (const auto& [type, n] : others_) all.push_back(fmt::format("{} {}{}", n, type, n == 1 ? "" : "s"));
    if (n_heights_ > 0) all.push_back(fmt::format("{} heights of positions", format_count(n_heights_)));
    constexpr std::size_t max_names = 5;
    std::size_t n = 0;
    for (const std::string& name : properties_)
      if (++n <= max_names) all.push_back(fmt::format("property {}", name));
    if (n > max_names) all.push_back(fmt::format("{} more properties", n - max_names));
    return all;
  }

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
    std::string subject = path_;
    if (ring_ != nullptr)
      subject += ": " + file_.name(*ring_);
    else if (!file_.features.empty())
      subject += ": " + file_.features.back();
    refuse(ErrorCode::bad_input, subject, cause, remedy);
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
      begin_feature({});
      read_geometry(object);
    }
  }

  /// Give a feature its number, and its name for the user.
  void begin_feature(const std::string& name) {
    const std::size_t number = file_.features.size() + 1;
    file_.features.push_back(name.empty() ? fmt::format("feature {}", number)
                                          : fmt::format("feature {} '{}'", number, name));
    file_.names.push_back(name);
    n_polygons_ = 0;
  }

  /// Find the property that names a feature, in capitals or not. @return empty if there is none
  static std::string name_of(const Json& feature) {
    const auto found = feature.find("properties");
    if (found == feature.end() || !found->is_object()) return {};
    for (const std::string_view wanted : {"name", "name_long", "admin", "title", "id"})
      for (const auto& [key, value] : found->items())
        if (value.is_string() && std::ranges::equal(key, wanted, {}, [](unsigned char c) { return std::tolower(c); }))
          return value.get<std::string>();
    return {};
  }

  void read_feature(const Json& feature) {
    begin_feature(feature.is_object() ? name_of(feature) : std::string());
    if (type_of(feature) != "Feature") fail("is not a Feature");
    if (const auto found = feature.find("properties"); found != feature.end() && found->is_object())
      for (const auto& [name, value] : found->items())
        if (!value.is_string() || value != file_.names.back()) properties_.insert(name);
    const Json& geometry = member(feature, "geometry");
    if (geometry.is_null())
      ++others_["feature without a geometry"];
    else
      read_geometry(geometry);
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
    ++n_polygons_;
    std::int32_t number = 0;
    for (const Json& list : coordinates) {
      ++number;
      Ring ring{.feature = static_cast<std::int32_t>(file_.features.size()),
                .polygon = n_polygons_,
                .number = number,
                .is_hole = number > 1};
      ring_ = &ring;
      read_ring(list, ring);
      ring_ = nullptr;
      file_.rings.push_back(std::move(ring));
    }
  }

  void read_ring(const Json& list, Ring& ring) {
    if (!list.is_array() || list.size() < 4) fail("has fewer than four positions");
    std::int32_t number = 0;
    for (const Json& position : list) {
      const Point p = read_position(position, ++number);
      if (!ring.positions.empty() && ring.positions.back() == p) continue;
      ring.positions.push_back(p);
      ring.numbers.push_back(number);
    }
    const Point& first = ring.positions.front();
    const Point& last = ring.positions.back();
    if (first != last)
      fail(fmt::format("starts at ({}, {}) and ends at ({}, {})", first[0], first[1], last[0], last[1]),
           "close it: its last position must equal its first");
    ring.positions.pop_back();
    ring.numbers.pop_back();
    if (ring.positions.size() < 3) fail("has fewer than three different positions");
  }

  Point read_position(const Json& position, std::int32_t number) {
    if (!position.is_array() || position.size() < 2 || !position[0].is_number() || !position[1].is_number())
      fail(fmt::format("has position {}, which is not two numbers", number));
    if (position.size() > 2) ++n_heights_;
    const Point p{position[0].get<double>(), position[1].get<double>()};
    for (const double x : p) file_.n_decimals = std::max(file_.n_decimals, n_decimals(x));
    return p;
  }

  const std::string& path_;
  RingsOfFile file_;
  const Ring* ring_ = nullptr;  // being read
  std::int32_t n_polygons_ = 0;
  std::map<std::string, int> others_;
  std::set<std::string> properties_;
  std::int64_t n_heights_ = 0;
};

}  // namespace

std::string RingsOfFile::name(const Ring& ring) const {
  return fmt::format("{}, polygon {}, ring {}", features[ring.feature - 1], ring.polygon, ring.number);
}

RingsOfFile read_rings(const std::string& path) { return Reader(path).read(); }

bool are_degrees(const std::vector<Ring>& rings) noexcept {
  constexpr double max_longitude = 360.0;
  constexpr double max_latitude = 90.0 + 1e-9;  // poles that were rounded
  return std::ranges::all_of(rings, [&](const Ring& ring) {
    return std::ranges::all_of(ring.positions, [&](const Point& p) {
      return std::abs(p[0]) <= max_longitude && std::abs(p[1]) <= max_latitude;
    });
  });
}

}  // namespace barrio::delaunay::detail
