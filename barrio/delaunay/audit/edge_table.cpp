#include "barrio/delaunay/audit/edge_table.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace barrio::delaunay::detail {

EdgeTable::EdgeTable(const AuditedMesh& mesh) {
  uses_.reserve(3 * mesh.triangles.size());
  for (std::int64_t t = 0; t < std::ssize(mesh.triangles); ++t) {
    for (std::int32_t i = 0; i < 3; ++i) {
      const std::int64_t from = mesh.triangles[t][(i + 1) % 3];
      const std::int64_t to = mesh.triangles[t][(i + 2) % 3];
      uses_.push_back(
          {.low = std::min(from, to), .high = std::max(from, to), .triangle = t, .corner = i, .is_upward = from < to});
    }
  }
  std::ranges::sort(uses_, {}, [](const Use& use) { return std::array{use.low, use.high, use.triangle}; });
  for_each([this](std::span<const Use>) { ++n_edges_; });
}

std::span<const EdgeTable::Use> EdgeTable::find(std::int64_t a, std::int64_t b) const noexcept {
  const auto found = std::ranges::equal_range(uses_, std::array{std::min(a, b), std::max(a, b)}, {},
                                              [](const Use& use) { return std::array{use.low, use.high}; });
  return {found.begin(), found.end()};
}

}  // namespace barrio::delaunay::detail
