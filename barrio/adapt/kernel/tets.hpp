#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "barrio/base/ids.hpp"

namespace barrio::adapt::detail {

/// Place of a vertex or a tetrahedron in the arrays of the kernel; a free one is used again.
using Slot = std::int32_t;
inline constexpr Slot no_slot = -1;

using Point = std::array<double, 3>;

/// Identify a vertex on all ranks: by its global id, or, if it is new, by what it was made of. Orders whatever needs an
/// order that no distribution changes.
/// None is all zero.
struct Key {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  auto operator<=>(const Key&) const = default;
};

/// Lowest dimension of what a vertex lies on: it may only move and collapse along that.
enum class Classification : std::uint8_t { corner, edge, surface, volume };

/// Fills a line of the cache, as a tetrahedron does: neighbours are met in no order.
struct alignas(64) Vertex {
  Point at{};
  double inverse_size = 0.0;  ///< 1 / wanted edge length
  Key key;
  Slot tet = no_slot;      ///< one that has it; none: the slot is free
  std::uint32_t mark = 0;  ///< scratch
  Rank owner = 0;          ///< who decides what happens to it
  std::int16_t place = 0;  ///< scratch, valid beside a mark
  Classification classification : 4 = Classification::volume;
  bool is_met : 1 = false;  ///< of this rank, with a tetrahedron that others see
  /// Low four bits: one for each operator that has not looked since something changed around it; high four bits: one
  /// for each that may find something to do (`note_wants`).
  std::uint8_t active = 0;
};

struct alignas(64) Tet {
  std::array<Slot, 4> v{no_slot, no_slot, no_slot, no_slot};  ///< det(v1 - v0, v2 - v0, v3 - v0) > 0
  /// 4 * tet + its face, across from v[i]. -1: none, or none that this rank sees
  std::array<Slot, 4> across{no_slot, no_slot, no_slot, no_slot};
  std::array<std::uint16_t, 4>
      face_membership{};       ///< of the face across from v[i]; 0: it is inside and nothing lies on it
  float quality = 0.0F;        ///< cube of the mean ratio
  std::uint32_t changed = 0;   ///< the round that made it
  std::uint32_t mark = 0;      ///< scratch
  std::uint32_t reserved = 0;  ///< the pass in which an earlier candidate waits for it
  std::uint32_t cell_membership = 0;
  std::uint8_t features = 0;  ///< bit e: edge e is a feature of the boundary

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

/// The other three, so that (i, first, second, third) is as positive as (0, 1, 2, 3).
inline constexpr std::array<std::array<std::uint8_t, 3>, 4> face_of{{{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}}};
inline constexpr std::array<std::array<std::uint8_t, 2>, 6> edge_of{{{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}}};
/// Number of the edge between two places.
inline constexpr std::array<std::array<std::uint8_t, 4>, 4> edge_between{
    {{0, 0, 1, 2}, {0, 0, 3, 4}, {1, 3, 0, 5}, {2, 4, 5, 0}}};

/// The edge of a tetrahedron between two places, as a bit.
constexpr std::uint8_t edge_bit(std::size_t from, std::size_t to) noexcept {
  return static_cast<std::uint8_t>(1U << edge_between[from][to]);
}

/// An entity of the mesh that was taken apart: whose values something has inherited.
struct Origin {
  Rank rank = -1;
  std::int32_t place = -1;  ///< among those that the rank owned
  [[nodiscard]] bool is_known() const noexcept { return rank >= 0; }
  bool operator==(const Origin&) const = default;
};

/// A tetrahedron that is to be. Its memberships and features count where what it replaces does not say them.
struct NewTet {
  std::array<Slot, 4> v{};
  std::array<std::uint16_t, 4> face_membership{};
  std::uint32_t cell_membership = 0;
  std::uint8_t features = 0;
  Origin origin = {};
};

/// The tetrahedra around an edge (a, b), in the order that makes each (a, b, link[i], link[i + 1]) positive.
struct Ring {
  std::vector<Slot> tets;
  std::vector<Slot> link;  ///< vertices; one more than tets if the ring is open
  bool is_closed = false;
};

/// Bits of memberships: faces and tetrahedra that have them stay as they are.
inline constexpr std::uint16_t frozen_face = 0x8000;
inline constexpr std::uint32_t frozen_cell = 0x8000'0000;

/// Tetrahedra that change in place: those that have a vertex of this rank, while they are adapted. Local.
class Tets {
 public:
  std::vector<Vertex> vertices;
  std::vector<Tet> tets;
  bool has_frozen = false;  ///< some membership has a bit that says so

  /// What vertices and tetrahedra carry beside their own: room for it is made before the first one is added.
  struct Carried {
    std::size_t n_values = 0;  ///< numbers of each vertex, which are linear between vertices
    bool vertex_origins = false;
    bool tet_origins = false;
  };
  void carry(const Carried& carried) noexcept { carried_ = carried; }
  [[nodiscard]] const Carried& carried() const noexcept { return carried_; }
  [[nodiscard]] std::span<double> values_of(Slot v) noexcept {
    return std::span(values_).subspan(v * carried_.n_values, carried_.n_values);
  }
  [[nodiscard]] std::span<const double> values_of(Slot v) const noexcept {
    return std::span(values_).subspan(v * carried_.n_values, carried_.n_values);
  }
  /// @return nothing known if origins are not carried
  [[nodiscard]] Origin vertex_origin(Slot v) const noexcept {
    return carried_.vertex_origins ? vertex_origins_[v] : Origin{};
  }
  void set_vertex_origin(Slot v, const Origin& origin) noexcept {
    if (carried_.vertex_origins) vertex_origins_[v] = origin;
  }
  [[nodiscard]] Origin tet_origin(Slot t) const noexcept { return carried_.tet_origins ? tet_origins_[t] : Origin{}; }

  Slot add_vertex(const Vertex& vertex);
  void free_vertex(Slot v);
  /// Add without neighbours; `link_all` finds these.
  Slot add_tet(const NewTet& tet);
  /// Find what lies across each face of all tetrahedra.
  void link_all();
  /// Put new tetrahedra in the place of old ones, and link them by their faces with each other and with what is around.
  /// @return those made; valid until the next call
  std::span<const Slot> replace(std::span<const Slot> old, std::span<const NewTet> made, std::uint32_t round);

  /// Forget one; what lies across its faces is not seen any more.
  void remove(Slot t);

  /// All tetrahedra that have a vertex of this rank. @param[out] out  replaced
  void star(Slot v, std::vector<Slot>& out);
  /// The same, unless one of them was made or moved in a round. @return whether none was
  bool untouched_star(Slot v, std::uint32_t round, std::vector<Slot>& out);
  /// @param tet  one that has both; `a` or `b` is of this rank
  void ring(Slot tet, Slot a, Slot b, Ring& out) const;

  [[nodiscard]] double quality_of(const std::array<Slot, 4>& v) const noexcept;
  [[nodiscard]] const Key& key(Slot v) const noexcept { return vertices[v].key; }
  [[nodiscard]] std::size_t n_tets() const noexcept { return tets.size() - free_tets_.size(); }
  [[nodiscard]] std::size_t n_vertices() const noexcept { return vertices.size() - free_vertices_.size(); }
  /// A number that no mark has yet.
  std::uint32_t next_mark() noexcept { return ++mark_; }

 private:
  struct FaceEntry {
    std::array<Slot, 3> key{};
    Slot tet_face = no_slot;  ///< -1: nothing lies across
    std::uint32_t generation = 0;
    std::uint16_t face_membership = 0;
    bool is_outer = false;  ///< of the cavity
  };
  template <class Accept>
  bool walk_star(Slot v, std::vector<Slot>& out, Accept&& accept);
  void open_cavity(std::span<const Slot> old, std::size_t n_made);
  void link_face(Slot tet, std::size_t face);
  FaceEntry& find_face(const std::array<Slot, 3>& key);

  Carried carried_;
  std::vector<double> values_;          // shape (vertices, n_values)
  std::vector<Origin> vertex_origins_;  // of each vertex, if carried
  std::vector<Origin> tet_origins_;     // of each tetrahedron, if carried
  std::vector<Slot> free_vertices_;
  std::vector<Slot> free_tets_;
  std::vector<Slot> made_;
  std::vector<std::array<Slot, 2>> features_;
  std::vector<FaceEntry> faces_ = std::vector<FaceEntry>(1024);
  std::uint32_t generation_ = 0;
  std::uint32_t mark_ = 0;
};

/// The three vertices of a face, ascending.
inline std::array<Slot, 3> face_key(const Tet& tet, std::size_t face) noexcept {
  const auto& at = face_of[face];
  std::array<Slot, 3> key{tet.v[at[0]], tet.v[at[1]], tet.v[at[2]]};
  if (key[0] > key[1]) std::swap(key[0], key[1]);
  if (key[1] > key[2]) std::swap(key[1], key[2]);
  if (key[0] > key[1]) std::swap(key[0], key[1]);
  return key;
}

/// The rank that a tetrahedron counts on, of all that see it: that of its lowest vertex.
inline Rank owner_of(const Tets& mesh, const Tet& tet) noexcept {
  Slot lowest = tet.v[0];
  for (const Slot v : tet.v)
    if (mesh.key(v) < mesh.key(lowest)) lowest = v;
  return mesh.vertices[lowest].owner;
}

}  // namespace barrio::adapt::detail
