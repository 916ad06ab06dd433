#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "barrio/adapt/kernel/listed_edges.hpp"
#include "barrio/adapt/kernel/node_sets.hpp"
#include "barrio/base/ids.hpp"

namespace barrio::adapt::detail {

/// Place of a vertex or a tetrahedron in the arrays of the kernel; free slots are reused.
using Slot = std::int32_t;
inline constexpr Slot no_slot = -1;

using Point = std::array<double, 3>;

/// Identity of a vertex on all ranks: its global id, or for a new vertex a hash of the edge that it splits. The order
/// of keys does not depend on the distribution. All zero: no vertex.
struct Key {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  auto operator<=>(const Key&) const = default;
};
inline constexpr std::uint64_t of_mesh = 1;             ///< `Key::high` of a vertex that has a global id
inline constexpr std::uint64_t of_split = 1ULL << 63U;  ///< bit of `Key::high` of a vertex that splits an edge
/// Tell whether a vertex is a copy of a pinched one: a vertex with groups of tetrahedra that meet in it alone. Each
/// group has a copy, whose key has the global id and the number of the copy.
constexpr bool is_pinched(const Key& key) noexcept { return key.high > of_mesh && key.high < of_split; }

/// Classification of a vertex: the entity of lowest dimension that it lies on. It moves and collapses along that only.
enum class Classification : std::uint8_t { corner, edge, surface, volume };

inline constexpr std::uint8_t no_short_edge = 63;

/// A vertex. It fills a cache line, as a tetrahedron does, since walks visit neighbours in no order.
struct alignas(64) Vertex {
  Point at{};
  Key key;
  float inverse_size = 0.0F;  ///< 1 / wanted edge length
  Slot tet = no_slot;         ///< one of its tetrahedra; no_slot: this slot is free
  std::uint32_t mark = 0;     ///< scratch
  Rank owner = 0;             ///< decides about candidates at it
  std::int32_t place = 0;     ///< scratch, valid beside a mark
  Classification classification : 4 = Classification::volume;
  bool is_met : 1 = false;  ///< owned by this rank, with a tetrahedron that other ranks see
  /// Low four bits: operators that have not looked here since something changed around it; high four bits: operators
  /// that may find work (`note_wants`).
  std::uint8_t active = 0;
  std::uint8_t short_step = no_short_edge;  ///< step of a length (`step_of`): none of its edges is shorter
};

struct alignas(64) Tet {
  std::array<Slot, 4> v{no_slot, no_slot, no_slot, no_slot};  ///< det(v1 - v0, v2 - v0, v3 - v0) > 0
  /// Neighbour across the face opposite v[i], as 4 * tet + face. -1: none, or none that this rank sees
  std::array<Slot, 4> across{no_slot, no_slot, no_slot, no_slot};
  std::array<std::uint16_t, 4> face_membership{};  ///< of the face opposite v[i]; 0: an inner face that is not listed
  float quality = 0.0F;                            ///< cube of the mean ratio
  std::uint32_t changed = 0;                       ///< the round that made it
  std::uint32_t mark = 0;                          ///< scratch
  std::uint32_t reserved = 0;                      ///< the pass in which an earlier candidate waits for it
  std::uint32_t cell_membership = 0;
  std::uint8_t features = 0;  ///< bit e: edge e is a feature edge

  [[nodiscard]] bool is_free() const noexcept { return v[0] < 0; }
  /// @pre the vertex is one of the four
  [[nodiscard]] std::size_t place_of(Slot vertex) const noexcept {
    return v[0] == vertex ? 0U : v[1] == vertex ? 1U : v[2] == vertex ? 2U : 3U;
  }
  [[nodiscard]] bool has(Slot vertex) const noexcept {
    return v[0] == vertex || v[1] == vertex || v[2] == vertex || v[3] == vertex;
  }
};
static_assert(sizeof(Vertex) == 64 && sizeof(Tet) == 64);

/// Vertices of the face opposite vertex i, ordered so that (i, first, second, third) has the sign of (0, 1, 2, 3).
inline constexpr std::array<std::array<std::uint8_t, 3>, 4> face_of{{{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}}};
inline constexpr std::array<std::array<std::uint8_t, 2>, 6> edge_of{{{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}}};
/// Number of the edge between two vertices, by their places.
inline constexpr std::array<std::array<std::uint8_t, 4>, 4> edge_between{
    {{0, 0, 1, 2}, {0, 0, 3, 4}, {1, 3, 0, 5}, {2, 4, 5, 0}}};

/// Return the bit of the edge between two vertices of a tetrahedron, by their places.
constexpr std::uint8_t edge_bit(std::size_t from, std::size_t to) noexcept {
  return static_cast<std::uint8_t>(1U << edge_between[from][to]);
}

/// Parent of an entity: the entity of the imported mesh whose values it inherits.
struct Parent {
  Rank rank = -1;
  std::int32_t place = -1;  ///< among those that the rank owned
  [[nodiscard]] bool is_known() const noexcept { return rank >= 0; }
  bool operator==(const Parent&) const = default;
};

/// A tetrahedron to be added. Its memberships and features apply where the replaced tetrahedra do not determine them.
struct NewTet {
  std::array<Slot, 4> v{};
  std::array<std::uint16_t, 4> face_membership{};
  std::uint32_t cell_membership = 0;
  std::uint8_t features = 0;
  Parent parent = {};
};

/// The tetrahedra around an edge (a, b), in the order that makes each (a, b, link[i], link[i + 1]) positive.
struct Ring {
  std::vector<Slot> tets;
  std::vector<Slot> link;  ///< vertices; one more than tets if the ring is open
  bool is_closed = false;
};

/// Bits of memberships: faces and tetrahedra with them stay as they are.
inline constexpr std::uint16_t frozen_face = 0x8000;  ///< of listed edges too
inline constexpr std::uint32_t frozen_cell = 0x8000'0000;

/// Tetrahedra that are adapted in place: all that have a vertex of this rank. Local.
class Tets {
 public:
  std::vector<Vertex> vertices;
  std::vector<Tet> tets;
  bool has_frozen = false;  ///< some membership has a frozen bit

  /// Data that vertices and tetrahedra carry in addition. Must be set before the first one is added.
  struct Carried {
    std::size_t n_values = 0;  ///< reals of each vertex, linear between vertices
    bool vertex_parents = false;
    bool tet_parents = false;
    bool node_sets = false;  ///< some vertex is in a set
    Rank rank = 0;           ///< this one
  };
  void carry(const Carried& carried, NodeSets node_sets = {}) noexcept {
    carried_ = carried;
    node_sets_ = std::move(node_sets);
  }
  [[nodiscard]] const Carried& carried() const noexcept { return carried_; }
  [[nodiscard]] std::span<double> values_of(Slot v) noexcept {
    return std::span(values_).subspan(v * carried_.n_values, carried_.n_values);
  }
  [[nodiscard]] std::span<const double> values_of(Slot v) const noexcept {
    return std::span(values_).subspan(v * carried_.n_values, carried_.n_values);
  }
  /// Return the parent of a vertex; an unknown one if parents are not carried.
  [[nodiscard]] Parent vertex_parent(Slot v) const noexcept {
    return carried_.vertex_parents ? vertex_parents_[v] : Parent{};
  }
  void set_vertex_parent(Slot v, const Parent& parent) noexcept {
    if (carried_.vertex_parents) vertex_parents_[v] = parent;
  }
  [[nodiscard]] const NodeSets& node_sets() const noexcept { return node_sets_; }
  /// Return the membership of a vertex in sets, by the numbers of `node_sets`.
  [[nodiscard]] NodeSets::Number membership_of(Slot v) const noexcept {
    return carried_.node_sets ? memberships_[v] : NodeSets::Number{0};
  }
  void set_membership(Slot v, NodeSets::Number membership) noexcept {
    if (carried_.node_sets) memberships_[v] = membership;
  }
  [[nodiscard]] const ListedEdges& listed_edges() const noexcept { return listed_edges_; }
  [[nodiscard]] ListedEdges& listed_edges() noexcept { return listed_edges_; }
  /// Tell whether an edge has an end of this rank.
  [[nodiscard]] bool has_own_end(Slot a, Slot b) const noexcept {
    return vertices[a].owner == carried_.rank || vertices[b].owner == carried_.rank;
  }
  [[nodiscard]] Parent tet_parent(Slot t) const noexcept { return carried_.tet_parents ? tet_parents_[t] : Parent{}; }

  Slot add_vertex(const Vertex& vertex);
  void free_vertex(Slot v);
  /// Add a tetrahedron without neighbours; `link_all` finds them.
  Slot add_tet(const NewTet& tet);
  /// Find the neighbours across all faces of all tetrahedra.
  void link_all();
  /// Replace old tetrahedra by new ones, and link these by their faces with each other and with those around.
  /// @return the new ones; valid until the next call
  std::span<const Slot> replace(std::span<const Slot> old, std::span<const NewTet> made, std::uint32_t round);

  /// Remove a tetrahedron that this rank sees no longer; its neighbours have none across their faces then.
  void remove(Slot t);

  /// Find all tetrahedra at a vertex of this rank. @param[out] out  replaced
  void star(Slot v, std::vector<Slot>& out);
  /// Find the star unless a tetrahedron of it was made or moved in a round. @return whether none was
  bool untouched_star(Slot v, std::uint32_t round, std::vector<Slot>& out);
  /// Find the tetrahedra around edge (a, b). @param tet  one of them; `a` or `b` is of this rank
  void ring(Slot tet, Slot a, Slot b, Ring& out) const;

  [[nodiscard]] double quality_of(const std::array<Slot, 4>& v) const noexcept;
  /// Measure the quality of a tetrahedron that is new or was moved.
  void measure(Tet& tet) const noexcept { tet.quality = static_cast<float>(quality_of(tet.v)); }
  [[nodiscard]] const Key& key(Slot v) const noexcept { return vertices[v].key; }
  [[nodiscard]] std::size_t n_tets() const noexcept { return tets.size() - free_tets_.size(); }
  [[nodiscard]] std::size_t n_vertices() const noexcept { return vertices.size() - free_vertices_.size(); }
  /// Return a mark that nothing has yet.
  std::uint32_t next_mark() noexcept { return ++mark_; }

 private:
  struct FaceEntry {
    std::array<Slot, 3> key{};
    Slot tet_face = no_slot;  ///< -1: no neighbour across
    std::uint32_t generation = 0;
    std::uint16_t face_membership = 0;
    bool is_outer = false;  ///< of the cavity
  };
  template <class Accept>
  bool walk_star(Slot v, std::vector<Slot>& out, Accept&& accept);
  void open_cavity(std::span<const Slot> old, std::size_t n_made);
  void link_face(Slot tet, int face);
  void follow_listed_edges();
  FaceEntry& find_face(const std::array<Slot, 3>& key);

  Carried carried_;
  std::vector<double> values_;          // shape (vertices, n_values)
  std::vector<Parent> vertex_parents_;  // of each vertex, if carried
  std::vector<Parent> tet_parents_;     // of each tetrahedron, if carried
  NodeSets node_sets_;
  std::vector<NodeSets::Number> memberships_;  // of each vertex, if carried
  ListedEdges listed_edges_;
  std::vector<Slot> free_vertices_;
  std::vector<Slot> free_tets_;
  std::vector<Slot> made_;
  std::vector<std::array<Slot, 2>> features_;  // of a cavity, by ascending slot
  std::vector<FaceEntry> faces_ = std::vector<FaceEntry>(1024);
  std::uint32_t generation_ = 0;
  std::uint32_t mark_ = 0;
};

/// Return the three vertices of a face, ascending.
inline std::array<Slot, 3> face_key(const Tet& tet, std::size_t face) noexcept {
  const auto& at = face_of[face];
  std::array<Slot, 3> key{tet.v[at[0]], tet.v[at[1]], tet.v[at[2]]};
  if (key[0] > key[1]) std::swap(key[0], key[1]);
  if (key[1] > key[2]) std::swap(key[1], key[2]);
  if (key[0] > key[1]) std::swap(key[0], key[1]);
  return key;
}

/// Return the owner of a tetrahedron, of all ranks that see it: that of its lowest vertex.
inline Rank owner_of(const Tets& mesh, const Tet& tet) noexcept {
  Slot lowest = tet.v[0];
  for (const Slot v : tet.v)
    if (mesh.key(v) < mesh.key(lowest)) lowest = v;
  return mesh.vertices[lowest].owner;
}

}  // namespace barrio::adapt::detail
