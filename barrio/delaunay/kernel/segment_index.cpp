#include "barrio/delaunay/kernel/segment_index.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace barrio::delaunay::detail {
namespace {

/// Tell whether a segment is there: one that is dropped with the area that it bounds has no ends.
bool has_ends(const Segment& segment) noexcept { return segment.ends[0] >= 0 && segment.ends[1] >= 0; }

}  // namespace

SegmentIndex::SegmentIndex(const Triangulation& mesh) : mesh_(&mesh) {
  std::int32_t last = -1;
  for (const Segment& segment : mesh.segments)
    if (has_ends(segment)) last = std::max({last, segment.ends[0], segment.ends[1]});
  // sort by counting: `first_[v + 1]` is where the next segment of v goes, and in the end where those of v + 1 start
  first_.assign(static_cast<std::size_t>(last) + 2, 0);
  const auto each_end = [&](auto&& take) {
    for (std::uint32_t s = 0; s < mesh.segments.size(); ++s)
      if (has_ends(mesh.segments[s]))
        for (const std::int32_t end : mesh.segments[s].ends) take(s, end);
  };
  each_end([&](std::uint32_t /*segment*/, std::int32_t end) { ++first_[end + 1]; });
  std::uint32_t n = 0;
  for (std::size_t v = 1; v < first_.size(); ++v) {
    const std::uint32_t count = first_[v];
    first_[v] = n;
    n += count;
  }
  segments_.resize(n);
  each_end([&](std::uint32_t segment, std::int32_t end) { segments_[first_[end + 1]++] = segment; });
}

std::uint32_t SegmentIndex::find(std::int32_t a, std::int32_t b) const noexcept {
  for (const std::int32_t v : {a, b})
    if (const VertexInfo info = mesh_->info(v); info.kind() == VertexKind::on_segment) return info.segment();
  if (at(b).size() < at(a).size()) std::swap(a, b);
  for (const std::uint32_t s : at(a))
    if (other_end(s, a) == b) return s;
  return no_segment;
}

}  // namespace barrio::delaunay::detail
