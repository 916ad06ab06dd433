#include "barrio/delaunay/audit/labels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace barrio::delaunay::detail {
namespace {

std::string place(const Point& p) { return fmt::format("({:.9g}, {:.9g})", p[0], p[1]); }

bool is_boundary(const Labelled& of, const std::array<std::int32_t, 2>& edge) {
  return of.edges.find(edge[0], edge[1]).size() == 1;
}

/// Describe what is wrong with a listed edge; empty if nothing is.
std::string fault_of(const Labelled& of, std::size_t row) {
  const auto& edge = of.mesh.edges[row];
  const auto pieces = of.chains.find_all(edge[0], edge[1]);
  const auto where = [&] {
    return fmt::format("{} to {}", place(of.mesh.points[edge[0]]), place(of.mesh.points[edge[1]]));
  };
  if (pieces.empty()) {
    if (of.fills_hull && is_boundary(of, edge)) return {};
    return fmt::format("the edge from {} is listed, but lies on no segment", where());
  }
  if (of.mesh.edge_markers.empty()) return {};
  const std::int32_t marker = of.mesh.edge_markers[row];
  const auto marker_of = [&](std::uint32_t i) { return of.segments[of.chains.pieces()[i].segment].marker; };
  if (std::ranges::any_of(pieces, [&](std::uint32_t i) { return marker_of(i) == marker; })) return {};
  constexpr std::int32_t of_boundary = 1;  // in Triangle's files
  if (marker == of_boundary && marker_of(pieces.front()) == 0 && is_boundary(of, edge)) return {};
  return fmt::format("the edge from {} has the marker {}, its segment {}", where(), marker, marker_of(pieces.front()));
}

/// Tell whether a marker is one that a vertex of the graph without a marker, or an added one, may have.
class DerivedMarkers {
 public:
  explicit DerivedMarkers(const Labelled& of) {
    for (std::size_t i = 0; i < of.mesh.edges.size(); ++i) {
      const bool at_boundary = is_boundary(of, of.mesh.edges[i]);
      for (const std::int32_t v : of.mesh.edges[i]) {
        if (!of.mesh.edge_markers.empty()) allowed_.emplace_back(v, of.mesh.edge_markers[i]);
        if (at_boundary) allowed_.emplace_back(v, 1);
      }
    }
    std::ranges::sort(allowed_);
  }
  [[nodiscard]] bool allow(std::int32_t vertex, std::int32_t marker) const noexcept {
    return marker == 0 || std::ranges::binary_search(allowed_, std::pair{vertex, marker});
  }

 private:
  std::vector<std::pair<std::int32_t, std::int32_t>> allowed_;  // vertex, marker
};

/// A component of an attribute of the graph, and the same one of the mesh.
struct Component {
  std::string name;
  std::size_t of_graph;
  std::size_t of_mesh;
};

/// Find the components that both have: by name, or by position where names differ, as in files that have none.
std::vector<Component> common_components(const AuditedMesh& mesh, const PlanarGraph& graph) {
  std::vector<Component> found;
  std::vector<Component> by_position;
  const bool has_same_width = width_of(mesh.attributes) == width_of(graph.attributes);
  std::size_t of_graph = 0;
  for (const Attribute& attribute : graph.attributes) {
    const std::size_t n = attribute.n_components;
    for (std::size_t k = 0; k < n && has_same_width; ++k)
      by_position.push_back({attribute.name, of_graph + k, of_graph + k});
    std::size_t of_mesh = 0;
    for (const Attribute& other : mesh.attributes) {
      const bool is_same = other.name == attribute.name && other.n_components == attribute.n_components;
      for (std::size_t k = 0; k < n && is_same; ++k) found.push_back({attribute.name, of_graph + k, of_mesh + k});
      of_mesh += other.n_components;
    }
    of_graph += n;
  }
  return found.empty() ? by_position : found;
}

/// Check of one component of an attribute.
class ComponentCheck {
 public:
  ComponentCheck(const Labelled& of, const Component& component, const std::vector<char>& is_input)
      : of_(of), component_(component), is_input_(is_input) {}

  /// Return the first fault in words; empty if there is none.
  [[nodiscard]] std::string fault() const {
    for (std::size_t i = 0; i < of_.graph.points.size(); ++i) {
      const std::int32_t v = of_.chains.vertices()[i];
      if (v < 0 || at_vertex(v) == at_point(i)) continue;
      return fmt::format("attribute {} at {} is {}, not {}", component_.name, place(of_.graph.points[i]), at_vertex(v),
                         at_point(i));
    }
    std::string found = fault_of_range();
    return found.empty() ? fault_on_segments() : found;
  }

 private:
  [[nodiscard]] double at_vertex(std::size_t v) const {
    return of_.mesh.attribute_values[v * width_of(of_.mesh.attributes) + component_.of_mesh];
  }
  [[nodiscard]] double at_point(std::size_t i) const {
    return of_.graph.attribute_values[i * width_of(of_.graph.attributes) + component_.of_graph];
  }
  [[nodiscard]] std::string fault_of_range() const {
    if (of_.graph.points.empty()) return {};
    double low = at_point(0);
    double high = low;
    for (std::size_t i = 0; i < of_.graph.points.size(); ++i) {
      low = std::min(low, at_point(i));
      high = std::max(high, at_point(i));
    }
    for (std::size_t v = 0; v < of_.mesh.points.size(); ++v)
      if (!(at_vertex(v) >= low && at_vertex(v) <= high))
        return fmt::format("attribute {} at {} is {}, but {} to {} in the graph", component_.name,
                           place(of_.mesh.points[v]), at_vertex(v), low, high);
    return {};
  }
  /// Find a vertex on a segment whose value is not linear between the points of the graph before and after it.
  [[nodiscard]] std::string fault_on_segments() const {
    const std::vector<Chains::Piece>& pieces = of_.chains.pieces();
    std::size_t first = 0;  // of the pieces since the last point of the graph
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      const bool continues =
          i > first && pieces[i].segment == pieces[first].segment && pieces[i].from == pieces[i - 1].to;
      if (!continues) first = i;
      if (is_input_[pieces[i].to] == 0 || is_input_[pieces[first].from] == 0) continue;
      for (std::size_t k = first; k < i; ++k)
        if (std::string found = fault_between(pieces[first].from, pieces[i].to, pieces[k].to); !found.empty())
          return found;
      first = i + 1;
    }
    return {};
  }
  [[nodiscard]] std::string fault_between(std::int32_t a, std::int32_t b, std::int32_t v) const {
    const Point& from = of_.mesh.points[a];
    const Point& to = of_.mesh.points[b];
    const Point& p = of_.mesh.points[v];
    const double length = std::hypot(to[0] - from[0], to[1] - from[1]);
    const double part = ((p[0] - from[0]) * (to[0] - from[0]) + (p[1] - from[1]) * (to[1] - from[1])) / length / length;
    const double wanted = at_vertex(a) + part * (at_vertex(b) - at_vertex(a));
    // each split rounds its value, and its place by an ulp of the coordinates
    constexpr double rounding = 1e-13;
    const double coordinate = std::max({std::abs(p[0]), std::abs(p[1]), length});
    const double allowed = rounding * (std::max(std::abs(at_vertex(a)), std::abs(at_vertex(b))) +
                                       std::abs(at_vertex(b) - at_vertex(a)) * coordinate / length);
    if (std::abs(at_vertex(v) - wanted) <= allowed) return {};
    return fmt::format("attribute {} at {} is {}, but {} between the ends of its segment", component_.name, place(p),
                       at_vertex(v), wanted);
  }

  const Labelled& of_;
  const Component& component_;
  const std::vector<char>& is_input_;
};

}  // namespace

Audit::Check check_markers(const Labelled& of) {
  // an edge that is none of a triangle is a fault of the segments
  if (!of.chains.fault().empty()) return {"markers", false, "not compared: " + of.chains.fault()};
  for (std::size_t i = 0; i < of.mesh.edges.size(); ++i)
    if (std::string fault = fault_of(of, i); !fault.empty()) return {"markers", false, std::move(fault)};
  if (of.mesh.edge_markers.empty() && !of.mesh.edges.empty())
    return {"markers", true, "not compared: the mesh gives none to edges"};
  return {"markers", true, fmt::format("{} edges have those of their segments", of.mesh.edges.size())};
}

Audit::Check check_point_markers(const Labelled& of) {
  constexpr const char* name = "point markers";
  if (of.mesh.point_markers.empty()) return {name, true, "not compared: the mesh has none"};
  const DerivedMarkers derived(of);
  std::vector<std::int32_t> wanted(of.mesh.points.size(), 0);
  for (std::size_t i = 0; i < of.graph.point_markers.size(); ++i)
    if (const std::int32_t v = of.chains.vertices()[i]; v >= 0) wanted[v] = of.graph.point_markers[i];
  for (std::int32_t v = 0; v < std::ssize(of.mesh.points); ++v) {
    const std::int32_t marker = of.mesh.point_markers[v];
    if (wanted[v] != 0 ? marker == wanted[v] : derived.allow(v, marker)) continue;
    return {name, false,
            wanted[v] != 0
                ? fmt::format("the point at {} has the marker {}, not {}", place(of.mesh.points[v]), marker, wanted[v])
                : fmt::format("the vertex at {} has the marker {}, but no edge there has it", place(of.mesh.points[v]),
                              marker)};
  }
  return {name, true, fmt::format("{} vertices have those of their points or edges", of.mesh.points.size())};
}

Audit::Check check_region_labels(const Labelled& of, Parts* parts) {
  constexpr const char* name = "region labels";
  if (of.mesh.triangle_regions.empty()) return {name, true, "not compared: the mesh has none"};
  std::vector<char> is_used(of.mesh.regions.size(), 0);
  for (std::uint32_t t = 0; t < of.mesh.triangles.size(); ++t) {
    const std::int32_t row = of.mesh.triangle_regions[t];
    const std::int32_t wanted = parts != nullptr ? parts->region(t) : 0;
    const Region* const there = row > 0 ? &of.mesh.regions[row - 1] : nullptr;
    const PlanarGraph::RegionSeed* const seed = wanted > 0 ? &of.graph.regions[wanted - 1] : nullptr;
    const double attribute = there != nullptr ? there->attribute : 0.0;
    const double wanted_attribute = seed != nullptr ? seed->attribute : 0.0;
    const auto where = [&] { return place(of.mesh.points[of.mesh.triangles[t][0]]); };
    if (attribute != wanted_attribute)
      return {name, false,
              fmt::format("triangle {} at {} has the attribute {}, its region {}", t, where(), attribute,
                          wanted_attribute)};
    // formats without numbers have 0 here
    const std::int32_t number = there != nullptr ? there->number : 0;
    const std::int32_t wanted_number = seed != nullptr && seed->number != 0 ? seed->number : wanted;
    if (number != 0 && number != wanted_number)
      return {name, false,
              fmt::format("triangle {} at {} has the region {}, not {}", t, where(), number, wanted_number)};
    if (row > 0) is_used[row - 1] = 1;
  }
  return {name, true, fmt::format("{} regions have their numbers and attributes", std::ranges::count(is_used, 1))};
}

Audit::Check check_attributes(const Labelled& of) {
  constexpr const char* name = "attributes";
  if (of.graph.attributes.empty()) return {name, true, "the graph has none"};
  const std::vector<Component> components = common_components(of.mesh, of.graph);
  if (components.empty()) return {name, true, "not compared: the mesh has none"};
  std::vector<char> is_input(of.mesh.points.size(), 0);
  for (const std::int32_t v : of.chains.vertices())
    if (v >= 0) is_input[v] = 1;
  for (const Component& component : components)
    if (std::string fault = ComponentCheck(of, component, is_input).fault(); !fault.empty())
      return {name, false, std::move(fault)};
  return {name, true, fmt::format("{} components are those of the graph", components.size())};
}

}  // namespace barrio::delaunay::detail
