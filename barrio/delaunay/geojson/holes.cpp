#include "barrio/delaunay/geojson/holes.hpp"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "barrio/base/error.hpp"
#include "barrio/base/text.hpp"

namespace barrio::delaunay::detail {
namespace {

constexpr std::array<std::int32_t, 2> outside_alone{PlanarGraph::outside, PlanarGraph::outside};

/// Name some features of a file for the user.
std::string some_names(const RingsOfFile& file) {
  constexpr std::size_t max_named = 5;
  std::string text;
  std::size_t n = 0;
  for (const std::string& name : file.names) {
    if (name.empty()) continue;
    if (n++ == max_named) return text + ", ...";
    text += fmt::format("{}'{}'", n > 1 ? ", " : "", name);
  }
  return text;
}

void drop_loose_points(PlanarGraph& graph) {
  std::vector<std::int32_t> row(graph.points.size(), -1);
  for (const PlanarGraph::Edge& edge : graph.segments)
    for (const std::int32_t end : edge.ends) row[end] = 0;
  std::int32_t n = 0;
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (row[i] < 0) continue;
    graph.points[n] = graph.points[i];
    row[i] = n++;
  }
  graph.points.resize(n);
  for (PlanarGraph::Edge& edge : graph.segments)
    for (std::int32_t& end : edge.ends) end = row[end];
}

}  // namespace

std::vector<char> find_features(const RingsOfFile& file, std::span<const std::string> wanted) {
  const std::size_t n = file.features.size();
  std::vector<char> is_wanted(n, 0);
  for (const std::string& feature : wanted) {
    bool is_known = false;
    for (std::size_t i = 0; i < n; ++i) {
      if (feature.empty() || file.names[i] != feature) continue;
      is_wanted[i] = 1;
      is_known = true;
    }
    for (std::size_t i = 0; i < n && !is_known; ++i) {
      if (std::to_string(i + 1) != feature) continue;
      is_wanted[i] = 1;
      is_known = true;
    }
    if (is_known) continue;
    const std::string names = some_names(file);
    refuse(ErrorCode::usage, fmt::format("hole '{}'", feature),
           fmt::format("names no feature of the file.{}", did_you_mean(feature, file.names)),
           fmt::format("give a number from 1 to {}{}", n, names.empty() ? "" : ", or a name: " + names));
  }
  return is_wanted;
}

void leave_empty(PlanarGraph& graph, const std::vector<char>& is_empty) {
  for (auto& sides : graph.sides)
    for (std::int32_t& side : sides)
      if (side > 0 && is_empty[side - 1] != 0) side = PlanarGraph::outside;
  for (std::size_t r = 0; r < is_empty.size(); ++r)
    if (is_empty[r] != 0) graph.regions[r].name.clear();
  std::size_t n = 0;
  for (std::size_t s = 0; s < graph.segments.size(); ++s) {
    if (graph.sides[s] == outside_alone) continue;
    graph.segments[n] = graph.segments[s];
    graph.sides[n++] = graph.sides[s];
  }
  graph.segments.resize(n);
  graph.sides.resize(n);
  drop_loose_points(graph);
}

}  // namespace barrio::delaunay::detail
