#pragma once

/// @file Owner of each local entity of one dimension.

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "barrio/base/memory.hpp"
#include "barrio/mesh/range.hpp"

namespace barrio::mesh {

/// Owner of each entity of one dimension on a rank. This rank's own entities come first; copies are grouped by owner.
/// Memory: O(number of owners). All members are local.
class Owners {
 public:
  /// Consecutive copies that one rank owns.
  struct Run {
    Rank owner;      ///< not this rank
    LocalRange ids;  ///< of its copies here
  };

  Owners() = default;
  /// Construct the owners of a rank's own entities; `add` appends the copies.
  Owners(Rank me, std::size_t n_owned) : me_(me), n_owned_(n_owned), size_(n_owned) {}

  /// Add copies at the end.
  void add(Rank owner, std::size_t n) {
    if (runs_.empty() || runs_.back().owner != owner) runs_.push_back({owner, {local_id(size_), local_id(size_)}});
    size_ += n;
    runs_.back().ids.last = local_id(size_);
  }

  /// Return the owner of an entity. Cost: O(1) for entities of this rank, O(log owners) for copies.
  [[nodiscard]] Rank operator[](std::size_t i) const noexcept {
    if (i < n_owned_) return me_;
    const auto after = std::ranges::upper_bound(runs_, local_id(i), {}, [](const Run& run) { return run.ids.first; });
    return std::prev(after)->owner;
  }
  /// Return the number of entities on this rank, copies included.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// Return the runs of copies, by ascending local id.
  [[nodiscard]] std::span<const Run> copies() const& noexcept { return runs_; }
  /// Return one rank per entity.
  [[nodiscard]] std::vector<Rank> to_vector() const {
    std::vector<Rank> all(size_, me_);
    for (const Run& run : runs_)
      std::fill(all.begin() + value(run.ids.first), all.begin() + value(run.ids.last), run.owner);
    return all;
  }
  /// Return the bytes of the runs on this rank.
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept { return barrio::memory_bytes(runs_); }

 private:
  Rank me_ = 0;
  std::size_t n_owned_ = 0;
  std::size_t size_ = 0;
  std::vector<Run> runs_;
};

}  // namespace barrio::mesh
