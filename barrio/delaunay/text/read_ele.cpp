#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "barrio/base/line_reader.hpp"
#include "barrio/delaunay/flat_mesh.hpp"
#include "barrio/delaunay/poly_file.hpp"

namespace barrio::delaunay {
namespace {

/// Make a region for each attribute, in ascending order.
void find_regions(FlatMesh& mesh, const std::vector<double>& attributes) {
  std::vector<double> distinct = attributes;
  std::ranges::sort(distinct);
  const auto repeated = std::ranges::unique(distinct);
  distinct.erase(repeated.begin(), repeated.end());
  std::int32_t number = 0;
  for (const double attribute : distinct)
    mesh.regions.push_back({.attribute = attribute, .max_area = 0.0, .number = ++number});
  for (const double attribute : attributes)
    mesh.triangle_regions.push_back(
        static_cast<std::int32_t>(std::ranges::lower_bound(distinct, attribute) - distinct.begin() + 1));
}

}  // namespace

FlatMesh read_ele(const std::string& path, std::vector<std::string>& left_out) {
  const std::string stem = path.substr(0, path.size() - std::string_view(".ele").size());
  PolyFile poly = read_poly(stem + (std::filesystem::exists(stem + ".poly") ? ".poly" : ".node"));
  FlatMesh mesh{.points = std::move(poly.graph.points),
                .point_markers = std::move(poly.graph.point_markers),
                .attributes = std::move(poly.graph.attributes),
                .attribute_values = std::move(poly.graph.attribute_values),
                .edges = std::move(poly.graph.segments)};
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  LineReader reader(path);
  std::vector<double> attributes;
  std::int64_t n = -1;
  std::int64_t n_attributes = 0;
  while (std::ssize(mesh.triangles) != n && reader.next_line()) {
    const auto words = reader.words();
    if (words.empty() || words.front().starts_with('#')) continue;
    if (n < 0) {
      n = reader.integer(words.front(), "the number of triangles", 0, most);
      if (words.size() > 1 && reader.integer(words[1], "nodes of a triangle", 3, 6) != 3)
        reader.fail("has triangles of more than three nodes", "give triangles of three nodes");
      if (words.size() > 2) n_attributes = reader.integer(words[2], "the number of attributes", 0, 1000);
      continue;
    }
    if (words.size() < 4) reader.fail("a triangle must have three vertices", "the line is too short");
    auto& triangle = mesh.triangles.emplace_back();
    for (std::size_t i = 0; i < 3; ++i)
      triangle[i] = static_cast<std::int32_t>(reader.integer(words[i + 1], "a vertex", poly.first_number, most) -
                                              poly.first_number);
    if (n_attributes == 0) continue;
    if (words.size() < 5) reader.fail("the attribute of a triangle is missing", "the line is too short");
    attributes.push_back(reader.real(words[4], "an attribute"));
  }
  if (std::ssize(mesh.triangles) != n) reader.fail("the file ends before its triangles", "the file may be truncated");
  if (n_attributes > 1)
    left_out.push_back(fmt::format("{} attributes of each triangle after the first", n_attributes - 1));
  if (n_attributes > 0) find_regions(mesh, attributes);
  for (const PlanarGraph::RegionSeed& seed : poly.graph.regions)
    for (Region& region : mesh.regions)
      if (region.attribute == seed.attribute && seed.max_area > 0)
        region.max_area = region.max_area > 0 ? std::min(region.max_area, seed.max_area) : seed.max_area;
  return mesh;
}

}  // namespace barrio::delaunay
