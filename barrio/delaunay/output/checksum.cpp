#include "barrio/delaunay/checksum.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

#include "barrio/base/hash.hpp"
#include "barrio/delaunay/parallel/part_edges.hpp"
#include "barrio/delaunay/segment_edges.hpp"

namespace barrio::delaunay {
namespace {

constexpr std::uint64_t triangle_seed = 3;
constexpr std::uint64_t edge_seed = 2;

std::uint64_t hash_of(std::array<Point, 3> corners, double attribute) noexcept {
  std::ranges::rotate(corners, std::ranges::min_element(corners));
  Hash64 hash(triangle_seed);
  for (const Point& p : corners) hash.add(p[0]).add(p[1]);
  return hash.add(attribute).value();
}

std::uint64_t hash_of(const Point& a, const Point& b, std::int32_t marker) noexcept {
  const auto [low, high] = std::minmax(a, b);
  return Hash64(edge_seed).add(low[0]).add(low[1]).add(high[0]).add(high[1]).add(std::int64_t{marker}).value();
}

/// Add the hashes of the triangles of a mesh and of some of its edges.
std::uint64_t sum_of(const Triangulation& mesh, std::span<const SegmentEdge> edges) {
  std::uint64_t sum = 0;
  for (const Triangle& t : mesh.triangles.items()) {
    if (!t.is_used()) continue;
    const auto corner = [&](std::size_t i) -> const Point& { return mesh.point(t.vertices[i]); };
    sum += hash_of({corner(0), corner(1), corner(2)}, t.region() == 0 ? 0.0 : mesh.regions[t.region()].attribute);
  }
  for (const SegmentEdge& edge : edges) sum += hash_of(mesh.point(edge.ends[0]), mesh.point(edge.ends[1]), edge.marker);
  return sum;
}

}  // namespace

std::uint64_t checksum(const Triangulation& mesh) { return sum_of(mesh, segment_edges(mesh)); }

std::uint64_t detail::checksum(const Part& part) { return sum_of(part.mesh, detail::edges_of(part)); }

std::uint64_t checksum(const AuditedMesh& mesh) {
  std::uint64_t sum = 0;
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    const auto corner = [&](std::size_t i) -> const Point& { return mesh.points[mesh.triangles[t][i]]; };
    const std::int32_t region = mesh.triangle_regions.empty() ? 0 : mesh.triangle_regions[t];
    sum += hash_of({corner(0), corner(1), corner(2)}, region == 0 ? 0.0 : mesh.regions[region - 1].attribute);
  }
  for (std::size_t e = 0; e < mesh.edges.size(); ++e)
    sum += hash_of(mesh.points[mesh.edges[e][0]], mesh.points[mesh.edges[e][1]],
                   mesh.edge_markers.empty() ? 0 : mesh.edge_markers[e]);
  return sum;
}

}  // namespace barrio::delaunay
