#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "barrio/base/ids.hpp"

namespace barrio::mesh::detail {

/// Map from the global ids that a rank uses to places 0 .. n - 1 in its arrays. Everything is local.
///
/// Ids that lie close together are looked up in a window, an array over their span; ids spread over the whole mesh in a
/// hash table. Both need O(number of ids) memory, independent of the size of the mesh.
class IdIndex {
 public:
  /// Index the distinct `ids`; places ascend with ids. @param[in] ids  in any order, duplicates allowed
  /// @param window_limit  largest span, in ids, for which the window is used
  IdIndex(std::span<const GlobalId> ids, std::int64_t window_limit) { take(ids, window_limit); }
  /// Index vertices whose global ids are still stored as numbers of 32 bits.
  static IdIndex of_numbers(std::span<const LocalId> numbers, std::int64_t window_limit) {
    IdIndex index;
    index.take(numbers, window_limit);
    return index;
  }
  IdIndex() = default;

  /// Return the place of an id, or -1.
  [[nodiscard]] std::int32_t find(GlobalId id) const noexcept {
    const std::int64_t at = value(id) - first_;
    if (at >= 0 && at < std::ssize(window_)) {
      const std::int32_t place = window_[at];
      if (place >= 0) return place;
    }
    return table_.empty() ? -1 : table_[slot_of(id)].place;
  }
  /// Replace ids that are stored as numbers by their places. @pre all of them are in the index
  void replace_by_places(std::span<LocalId> numbers) const noexcept {
    if (!table_.empty()) {
      for (LocalId& number : numbers) number = LocalId{find(GlobalId{value(number)})};
      return;
    }
    const std::int64_t first = first_;
    const std::span<const std::int32_t> window(window_);
    for (LocalId& number : numbers) number = LocalId{window[value(number) - first]};
  }
  /// Return the place of an id; a new id gets the next place.
  std::int32_t add(GlobalId id);

  void reserve(std::size_t n) { ids_.reserve(n); }

  /// Return the ids by place.
  [[nodiscard]] const std::vector<GlobalId>& ids() const& noexcept { return ids_; }
  [[nodiscard]] std::size_t size() const noexcept { return ids_.size(); }

 private:
  struct Slot {
    GlobalId id;
    std::int32_t place;  // -1: free
  };
  [[nodiscard]] std::size_t slot_of(GlobalId id) const noexcept {
    std::size_t slot = index(id) * 0x9e3779b97f4a7c15U >> shift_;
    while (table_[slot].place >= 0 && table_[slot].id != id) slot = (slot + 1) & (table_.size() - 1);
    return slot;
  }
  template <class Id>
  void take(std::span<const Id> ids, std::int64_t window_limit);
  void grow();

  std::vector<GlobalId> ids_;
  std::int64_t first_ = 0;
  std::vector<std::int32_t> window_;
  std::vector<Slot> table_;
  std::size_t n_in_table_ = 0;
  int shift_ = 64;
};

}  // namespace barrio::mesh::detail
