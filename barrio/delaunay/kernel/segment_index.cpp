#include "barrio/delaunay/kernel/segment_index.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace barrio::delaunay::detail {
namespace {

std::array<std::int32_t, 2> ordered(std::int32_t a, std::int32_t b) noexcept {
  return {std::min(a, b), std::max(a, b)};
}

}  // namespace

SegmentIndex::SegmentIndex(const Triangulation& mesh) : mesh_(&mesh), by_ends_(mesh.segments.size()) {
  std::iota(by_ends_.begin(), by_ends_.end(), 0U);
  std::ranges::stable_sort(
      by_ends_, {}, [&](std::uint32_t s) { return ordered(mesh.segments[s].ends[0], mesh.segments[s].ends[1]); });
}

std::uint32_t SegmentIndex::find(std::int32_t a, std::int32_t b) const noexcept {
  for (const std::int32_t v : {a, b})
    if (const VertexInfo info = mesh_->info(v); info.kind() == VertexKind::on_segment) return info.segment();
  const auto ends = [&](std::uint32_t s) { return ordered(mesh_->segments[s].ends[0], mesh_->segments[s].ends[1]); };
  const auto found = std::ranges::lower_bound(by_ends_, ordered(a, b), {}, ends);
  return found != by_ends_.end() && ends(*found) == ordered(a, b) ? *found : no_segment;
}

}  // namespace barrio::delaunay::detail
