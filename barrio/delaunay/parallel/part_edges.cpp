#include "barrio/delaunay/parallel/part_edges.hpp"

#include <unordered_map>

#include "barrio/delaunay/kernel/interfaces.hpp"

namespace barrio::delaunay::detail {
std::span<const std::int32_t> chain_of(const Part& part, std::size_t interface) noexcept {
  const std::int32_t first = interface > 0 ? part.chain_end[interface - 1] : 0;
  return std::span(part.chains).subspan(first, part.chain_end[interface] - first);
}

std::int64_t n_owned_alone(const Part& part) noexcept {
  std::int64_t n = part.mesh.n_vertices() - std::ssize(part.shared);
  for (std::size_t i = 0; i < part.interfaces.size(); ++i)
    if (!owns_chain(part, i)) n -= std::ssize(chain_of(part, i));
  return n;
}

std::vector<SegmentEdge> edges_of(const Part& part) {
  std::unordered_map<std::uint64_t, std::size_t> interface_of;
  for (std::size_t i = 0; i < part.interfaces.size(); ++i) {
    std::int32_t from = part.interfaces[i].ends[0];
    for (const std::int32_t v : chain_of(part, i)) {
      interface_of.emplace(edge_key(from, v), i);
      from = v;
    }
    interface_of.emplace(edge_key(from, part.interfaces[i].ends[1]), i);
  }
  std::vector<SegmentEdge> edges = segment_edges(part.mesh);
  std::erase_if(edges, [&](SegmentEdge& edge) {
    const auto found = interface_of.find(edge_key(edge.ends[0], edge.ends[1]));
    if (found == interface_of.end()) return false;
    edge.is_boundary = false;
    return part.interfaces[found->second].segment >= 0 || !owns_chain(part, found->second);
  });
  return edges;
}

}  // namespace barrio::delaunay::detail
