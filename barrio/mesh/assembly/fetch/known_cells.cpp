#include "barrio/mesh/assembly/fetch/known_cells.hpp"

#include "barrio/mesh/tables/append_each.hpp"

namespace barrio::mesh::detail {
namespace {

/// Return the widest window of ids to index directly: it may cost as much memory as the cells do. Ids that are spread
/// wider are hashed.
std::int64_t window_limit(std::size_t n_nodes) { return 2 * n_nodes + 1024; }

}  // namespace

void KnownCells::index_vertices(std::span<const GlobalId> nodes) {
  vertices = IdIndex(nodes, window_limit(nodes.size()));
  vertices.reserve(with_room(vertices.size()));
  n_used = vertices.size();
  cells.nodes.reserve(with_room(nodes.size()));
  append_each(cells.nodes, nodes, [&](GlobalId node) { return LocalId{vertices.find(node)}; });
}

void KnownCells::index_vertices() {
  vertices = IdIndex::of_numbers(cells.nodes, window_limit(cells.nodes.size()));
  vertices.reserve(with_room(vertices.size()));
  n_used = vertices.size();
  vertices.replace_by_places(cells.nodes);
}

void KnownCells::index_known(std::span<const GlobalId> ids, std::size_t n_nodes) {
  vertices = IdIndex(ids, window_limit(n_nodes));
  vertices.reserve(with_room(ids.size()));
}

}  // namespace barrio::mesh::detail
