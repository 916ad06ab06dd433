#include "barrio/delaunay/audit/euler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "barrio/delaunay/audit/joined.hpp"

namespace barrio::delaunay::detail {
namespace {

/// Fans: the corners at a vertex of triangles that share edges there. Each fan counts as a vertex.
class Fans {
 public:
  /// Join corners and, in the same pass, the triangles that share edges.
  Fans(const AuditedMesh& mesh, const EdgeTable& edges, Joined& parts)
      : mesh_(&mesh), corners_(3 * mesh.triangles.size()) {
    edges.for_each([&](std::span<const EdgeTable::Use> uses) {
      if (uses.size() != 2) return;
      parts.join(uses[0].triangle, uses[1].triangle);
      for (const std::int32_t v : {uses[0].low, uses[0].high})
        corners_.join(corner(uses[0].triangle, v), corner(uses[1].triangle, v));
    });
  }
  [[nodiscard]] std::int64_t count() const noexcept { return corners_.count(); }
  /// Return the fan of a triangle at one of its vertices.
  [[nodiscard]] std::size_t at(std::int32_t triangle, std::int32_t vertex) {
    return corners_.root(corner(triangle, vertex));
  }

 private:
  [[nodiscard]] std::size_t corner(std::size_t triangle, std::int32_t vertex) const noexcept {
    const auto& vertices = mesh_->triangles[triangle];
    return 3 * triangle + (vertices[0] == vertex ? 0 : vertices[1] == vertex ? 1 : 2);
  }

  const AuditedMesh* mesh_;
  Joined corners_;
};

/// Count the loops of the boundary. An edge is joined with the one that starts in the fan where it ends.
std::int64_t count_loops(const std::vector<EdgeTable::Use>& boundary, Fans& fans) {
  std::vector<std::pair<std::size_t, std::size_t>> begins;  // fan, boundary edge
  for (std::size_t i = 0; i < boundary.size(); ++i) {
    const EdgeTable::Use& use = boundary[i];
    begins.emplace_back(fans.at(use.triangle, use.is_upward ? use.low : use.high), i);
  }
  std::ranges::sort(begins);
  Joined loops(boundary.size());
  for (std::size_t i = 0; i < boundary.size(); ++i) {
    const EdgeTable::Use& use = boundary[i];
    const std::size_t fan = fans.at(use.triangle, use.is_upward ? use.high : use.low);
    const auto next = std::ranges::lower_bound(begins, std::pair{fan, std::size_t{0}});
    if (next != begins.end() && next->first == fan) loops.join(i, next->second);
  }
  return loops.count();
}

}  // namespace

Audit::Check check_euler(const AuditedMesh& mesh, const EdgeTable& edges, const std::vector<EdgeTable::Use>& boundary,
                         std::int64_t n_stray) {
  Joined parts(mesh.triangles.size());
  Fans fans(mesh, edges, parts);
  const std::int64_t n_parts = parts.count();
  const std::int64_t n_fans = fans.count();
  const std::int64_t n_loops = count_loops(boundary, fans);
  const std::int64_t number = n_fans - edges.n_edges() + std::ssize(mesh.triangles);
  const std::int64_t wanted = 2 * n_parts - n_loops;
  return {"euler", number == wanted && n_stray == 0,
          fmt::format("{} - {} + {} = {}; {} parts and {} loops require {}; {} vertices without triangles", n_fans,
                      edges.n_edges(), mesh.triangles.size(), number, n_parts, n_loops, wanted, n_stray)};
}

}  // namespace barrio::delaunay::detail
