#include "barrio/adapt/assembly/other_cells.hpp"

#include <algorithm>
#include <iterator>

#include "barrio/adapt/assembly/from_mesh.hpp"
#include "barrio/base/sort_unique.hpp"
#include "barrio/mesh/topology.hpp"

namespace barrio::adapt::detail {
namespace {

using mesh::Dim;

Key key_of(const mesh::Mesh& mesh, LocalId v) { return {of_mesh, index(mesh.vertices().global_ids[index(v)])}; }

/// Return the keys around a face from the lowest corner, towards the lower one of its neighbours.
std::array<Key, 4> keys_around(const mesh::Mesh& mesh, std::span<const LocalId> corners) {
  std::array<Key, 4> keys{};
  std::ranges::transform(corners, keys.begin(), [&](LocalId v) { return key_of(mesh, v); });
  const auto end = keys.begin() + std::ssize(corners);
  std::rotate(keys.begin(), std::min_element(keys.begin(), end), end);
  if (*(end - 1) < keys[1]) std::reverse(keys.begin() + 1, end);
  return keys;
}

}  // namespace

void OtherCells::take(const mesh::Mesh& mesh, const Transfer& transfer, std::span<const Rank> owner,
                      const MeshMemberships& memberships) {
  if (mesh.cells().has_one_type) return;
  const Rank me = mesh.context().rank();
  std::vector<LocalId> used;
  std::vector<std::pair<LocalId, Rank>> at;  // vertex of this rank, rank with such a cell at it
  for (std::size_t c = 0; c < mesh.cells().size(); ++c) {
    if (is_tet(mesh.cells(), c)) continue;
    const Rank rank = mesh.cells().owner(c);
    const auto nodes = mesh.cells().nodes_of(c);
    if (rank != me && std::ranges::none_of(nodes, [&](LocalId v) { return owner[index(v)] == me; })) continue;
    for (const LocalId v : nodes) {
      const Rank decides = owner[index(v)];
      used.push_back(v);
      if (decides == me) at.emplace_back(v, rank);
      if (rank == me && decides != me) neighbours_.push_back(decides);
      if (rank != me && decides == me) neighbours_.push_back(rank);
    }
  }
  sort_unique(neighbours_);
  sort_unique(at);
  sort_unique(used);
  std::ranges::sort(used, {}, [&](LocalId v) { return mesh.vertices().global_ids[index(v)]; });
  std::vector<std::int32_t> place(mesh.n_local(Dim::vertex), -1);
  std::vector<Rank> ranks;
  for (const LocalId v : used) {
    place[index(v)] = static_cast<std::int32_t>(vertices_.size());
    Vertex& vertex = vertices_.emplace_back();
    for (std::size_t i = 0; i < 3; ++i) vertex.at[i] = mesh.vertices().coordinates[3 * index(v) + i];
    vertex.key = key_of(mesh, v);
    vertex.owner = owner[index(v)];
    vertex.classification = Classification::corner;
    vertex.inverse_size = 1.0F;  // unused: no length is measured here
    std::ranges::copy(transfer.values_of(v), std::back_inserter(values_));
    vertex_parents_.push_back(transfer.vertex_parent(v));
    ranks.clear();
    for (auto one = std::ranges::lower_bound(at, std::pair{v, Rank{0}}); one != at.end() && one->first == v; ++one)
      ranks.push_back(one->second);
    ranks_.add(ranks);
  }
  std::vector<std::int32_t> nodes;
  for (std::size_t c = 0; c < mesh.n_owned(Dim::volume); ++c) {
    if (is_tet(mesh.cells(), c)) continue;
    types_.push_back(mesh.cells().type(c));
    nodes.clear();
    for (const LocalId v : mesh.cells().nodes_of(c)) nodes.push_back(place[index(v)]);
    nodes_.add(nodes);
    memberships_.push_back(memberships.cells[c]);
    parents_.push_back(transfer.cell_parent(local_id(c)));
  }
  take_faces(mesh, owner, memberships.faces);
  take_edges(mesh, owner, memberships.edges);
}

void OtherCells::take_faces(const mesh::Mesh& mesh, std::span<const Rank> owner,
                            std::span<const std::uint32_t> membership_of_face) {
  struct Side {
    std::array<Key, 4> keys;
    Rank rank;
    auto operator<=>(const Side&) const = default;
  };
  const auto is_mine = [&](std::span<const LocalId> corners) {
    const LocalId lowest =
        *std::ranges::min_element(corners, {}, [&](LocalId v) { return mesh.vertices().global_ids[index(v)]; });
    return owner[index(lowest)] == mesh.context().rank();
  };
  std::vector<Side> sides;
  for (std::size_t c = 0; c < mesh.cells().size(); ++c) {
    if (is_tet(mesh.cells(), c)) continue;
    mesh::for_each_side(mesh.cells().type(c), mesh.cells().nodes_of(c), [&](std::span<const LocalId> corners) {
      if (is_mine(corners)) sides.push_back({keys_around(mesh, corners), mesh.cells().owner(c)});
    });
  }
  std::ranges::sort(sides);
  const mesh::EntityTable& listed = mesh.entities(Dim::face);
  for (std::size_t f = 0; f < listed.size(); ++f) {
    if (!is_mine(listed.nodes_of(f))) continue;
    OtherFace face{keys_around(mesh, listed.nodes_of(f)), static_cast<std::uint16_t>(membership_of_face[f])};
    std::size_t n = 0;
    for (auto one = std::ranges::lower_bound(sides, face.keys, {}, &Side::keys);
         one != sides.end() && one->keys == face.keys && n < face.ranks.size(); ++one)
      face.ranks[n++] = one->rank;
    if (n > 0) faces_.push_back(face);
  }
  std::ranges::sort(faces_, {}, &OtherFace::keys);
}

void OtherCells::take_edges(const mesh::Mesh& mesh, std::span<const Rank> owner,
                            std::span<const std::uint32_t> membership_of_edge) {
  const mesh::EntityTable& listed = mesh.entities(Dim::edge);
  std::vector<std::pair<std::array<Key, 2>, std::uint16_t>> known;
  const auto keys_of = [&](std::span<const LocalId> ends) {
    std::array<Key, 2> keys{key_of(mesh, ends[0]), key_of(mesh, ends[1])};
    std::ranges::sort(keys);
    return keys;
  };
  for (std::size_t e = 0; e < listed.size(); ++e)
    known.emplace_back(keys_of(listed.nodes_of(e)), static_cast<std::uint16_t>(membership_of_edge[e]));
  if (known.empty()) return;
  std::ranges::sort(known);
  for (std::size_t c = 0; c < mesh.cells().size(); ++c) {
    if (is_tet(mesh.cells(), c)) continue;
    mesh::for_each_side(Dim::edge, mesh.cells().type(c), mesh.cells().nodes_of(c), [&](std::span<const LocalId> ends) {
      const std::array<Key, 2> keys = keys_of(ends);
      const LocalId lowest = key_of(mesh, ends[0]) == keys[0] ? ends[0] : ends[1];
      if (owner[index(lowest)] != mesh.context().rank()) return;
      const auto at = std::ranges::lower_bound(known, keys, {}, [](const auto& one) { return one.first; });
      if (at != known.end() && at->first == keys) edges_.push_back({keys, mesh.cells().owner(c), at->second});
    });
  }
  sort_unique(edges_);
}

void OtherCells::add_to(Tets& tets) {
  if (is_empty()) return;
  std::vector<std::pair<Key, Slot>> known;
  for (Slot v = 0; v < std::ssize(tets.vertices); ++v)
    if (tets.vertices[v].tet != no_slot && tets.key(v).high == of_mesh) known.emplace_back(tets.key(v), v);
  std::ranges::sort(known);
  const std::size_t width = tets.carried().n_values;
  for (std::size_t i = 0; i < vertices_.size(); ++i) {
    const auto at = std::ranges::lower_bound(known, vertices_[i].key, {}, &std::pair<Key, Slot>::first);
    if (at != known.end() && at->first == vertices_[i].key) {
      slots_.push_back(at->second);
      continue;
    }
    const Slot slot = tets.add_vertex(vertices_[i]);
    std::ranges::copy(std::span(values_).subspan(i * width, width), tets.values_of(slot).begin());
    tets.set_vertex_parent(slot, vertex_parents_[i]);
    slots_.push_back(slot);
  }
  place_.assign(tets.vertices.size(), -1);
  for (std::int32_t i = 0; i < std::ssize(slots_); ++i) place_[slots_[i]] = i;
}

Slot OtherCells::slot_of(const Key& key) const noexcept {
  return slots_[std::ranges::lower_bound(vertices_, key, {}, &Vertex::key) - vertices_.begin()];
}

std::vector<Slot> OtherCells::nodes_of(std::size_t c) const {
  std::vector<Slot> nodes;
  for (const std::int32_t place : nodes_[c]) nodes.push_back(slots_[place]);
  return nodes;
}

}  // namespace barrio::adapt::detail
