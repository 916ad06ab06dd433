#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "barrio/delaunay/parted.hpp"
#include "barrio/mobile/store.hpp"

namespace barrio::delaunay::detail {

/// Parts of a rank, in memory or on the disk. Those that were not used for longest leave memory first; one that is on
/// the disk as it is leaves without being written.
class PartShelf {
 public:
  /// All in memory.
  PartShelf() = default;
  /// @param max_bytes  of parts in memory; the part in use may exceed it @throws Error as mobile::Store
  PartShelf(std::uint64_t max_bytes, const std::string& scratch);

  void add(Part part);
  [[nodiscard]] std::size_t size() const noexcept { return places_.size(); }

  /// Bring a part into memory, and keep it there until `give_back`. One at a time.
  /// @param n_more_bytes  by which it may grow, for which room is made
  [[nodiscard]] Part& take(std::size_t i, std::uint64_t n_more_bytes = 0);
  /// End the use of a part. @param is_changed  else its copy on the disk stays valid
  void give_back(std::size_t i, bool is_changed);
  [[nodiscard]] bool is_in_memory(std::size_t i) const noexcept { return places_[i].is_in_memory; }
  /// Begin to read a part, if it is on the disk and there is room.
  void prefetch(std::size_t i);

  [[nodiscard]] std::uint64_t memory_bytes() const noexcept { return used_bytes_; }
  [[nodiscard]] mobile::StoreStatistics statistics() const noexcept {
    return store_ ? store_->statistics() : mobile::StoreStatistics();
  }

 private:
  struct Place {
    Part part;
    std::uint64_t n_bytes = 0;  // in memory
    std::uint64_t last_use = 0;
    bool is_in_memory = true;
    std::optional<mobile::Store::Id> stored = {};  // a copy on the disk, as it is now
    std::size_t n_stored_bytes = 0;
  };
  void make_room(std::uint64_t n_bytes, std::size_t but);
  void evict(Place& place);

  std::vector<Place> places_;
  std::optional<mobile::Store> store_;
  std::uint64_t max_bytes_ = UINT64_MAX;
  std::uint64_t used_bytes_ = 0;
  std::uint64_t evicted_bytes_ = 0;  // since free memory was returned
  std::uint64_t clock_ = 0;
};

}  // namespace barrio::delaunay::detail
