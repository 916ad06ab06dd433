#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "barrio/adapt/kernel/tets.hpp"
#include "barrio/base/ids.hpp"
#include "barrio/base/ragged.hpp"

namespace barrio::adapt::detail {

/// Index of vertices by key: open addressing, without removal.
class KeyIndex {
 public:
  void clear(std::size_t n_expected);
  /// Find a vertex. @return no_slot if the key is not known
  [[nodiscard]] Slot find(const Key& key) const noexcept;
  void insert(const Key& key, Slot slot);

 private:
  struct Entry {
    Key key;
    Slot slot = no_slot;
  };
  void put(const Key& key, Slot slot) noexcept;
  std::vector<Entry> entries_ = std::vector<Entry>(16);
  std::size_t n_ = 0;
};

/// Border of this rank: the tetrahedra that have a vertex of another rank. A rank sees each tetrahedron that has a
/// vertex of its own, so two ranks both see all tetrahedra that have vertices of both. Local.
class Border {
 public:
  Border(Tets& mesh, Rank me) : mesh_(mesh), me_(me) {}

  /// Find the border among all tetrahedra. Cost: O(n_tets).
  void find_all();
  /// Take in the tetrahedra that were added, and forget vertices of other ranks that none of them has any more. Must
  /// precede a round. Cost: O(border).
  void update();
  /// Add tetrahedra at the next update.
  void add(std::span<const Slot> made);

  /// Return the ranks that see a tetrahedron that this one sees, ascending; as of the last update.
  [[nodiscard]] std::span<const Rank> neighbours() const noexcept { return neighbours_; }
  /// Tell whether a vertex of this rank has a tetrahedron that others see; as of the last update.
  [[nodiscard]] bool is_met(Slot v) const noexcept { return mesh_.vertices[v].is_met; }
  /// Return the tetrahedra at a vertex of another rank; as of the last update.
  [[nodiscard]] std::span<const Slot> around(Slot foreign) const noexcept {
    const std::int32_t row = row_[foreign];
    return row < 0 ? std::span<const Slot>() : around_[row];
  }
  /// Find a vertex of the border by key, also one added since the last update. @return no_slot if it is not there
  [[nodiscard]] Slot find(const Key& key) const noexcept { return index_.find(key); }
  /// Add a vertex of another rank.
  Slot add_foreign(const Vertex& vertex);

 private:
  [[nodiscard]] bool has_foreign(const Tet& tet) const noexcept;

  Tets& mesh_;
  Rank me_;
  std::vector<Slot> tets_;
  std::vector<Slot> met_;               // own vertices
  std::vector<Slot> foreign_;           // known vertices of others
  Ragged<Slot, std::uint32_t> around_;  // of foreign vertices, by row
  std::vector<std::int32_t> row_;       // of each vertex: a foreign one's in `around_`, or -1
  std::vector<Rank> neighbours_;
  KeyIndex index_;
};

}  // namespace barrio::adapt::detail
