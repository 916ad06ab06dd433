#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "barrio/base/hash.hpp"

namespace barrio::mobile::detail {

/// Caches that hold no objects, only their names: they tell which choice of what leaves would have read the fewest
/// bytes lately. A sample of objects by their names stands for all, with as small a part of the memory. Pure.
/// Source: Waldspurger et al., "Efficient MRC construction with SHARDS", FAST 2015; Qureshi et al., set dueling, ISCA
/// 2007
class ShadowCaches {
 public:
  enum Policy : std::uint8_t { lru, mru, lfu };
  static constexpr std::size_t n_policies = 3;

  /// @param max_bytes  of the cache that they stand for
  explicit ShadowCaches(std::uint64_t max_bytes) : max_bytes_(max_bytes) {}

  /// Take note of a use. @param n_bytes  of the object now
  void use(std::uint64_t id, std::uint64_t n_bytes) {
    if (mix64(id) > threshold_) return;
    now_ += 1;
    Known& known = find(id);
    known.n_bytes = n_bytes;
    known.last = now_;
    known.n += 1;
    for (std::size_t p = 0; p < n_policies; ++p) {
      missed_[p] -= missed_[p] / 512;  // forgets slowly
      if (known.is_in[p]) continue;
      missed_[p] += static_cast<double>(n_bytes);
      known.is_in[p] = true;
      make_room(p, id);
    }
    if (known_.size() > max_known) halve();
  }
  /// Forget an object that was destroyed.
  void forget(std::uint64_t id) {
    const auto found = std::ranges::find(ids_, id);
    if (found == ids_.end()) return;
    known_.erase(known_.begin() + (found - ids_.begin()));
    ids_.erase(found);
  }
  /// Return the policy that would have read the fewest bytes lately.
  [[nodiscard]] Policy best() const noexcept {
    return static_cast<Policy>(std::ranges::min_element(missed_) - missed_.begin());
  }

 private:
  static constexpr std::size_t max_known = 256;
  struct Known {
    std::uint64_t id;
    std::uint64_t n_bytes;
    std::uint64_t last;
    std::uint64_t n;     // uses
    std::uint64_t made;  // at that time
    std::array<bool, n_policies> is_in;
  };
  Known& find(std::uint64_t id) {
    const auto found = std::ranges::find(ids_, id);
    if (found != ids_.end()) return known_[static_cast<std::size_t>(found - ids_.begin())];
    ids_.push_back(id);
    known_.push_back({id, 0, 0, 0, now_, {}});
    return known_.back();
  }
  /// Let objects leave a cache until it fits. @param used  stays
  void make_room(std::size_t p, std::uint64_t used) {
    std::uint64_t sum = 0;
    for (const Known& known : known_) sum += known.is_in[p] ? known.n_bytes : 0;
    while (sum > max_bytes_) {
      Known* worst = nullptr;
      for (Known& known : known_)
        if (known.is_in[p] && known.id != used && (worst == nullptr || worth(p, known) < worth(p, *worst)))
          worst = &known;
      if (worst == nullptr) return;
      worst->is_in[p] = false;
      sum -= worst->n_bytes;
    }
  }
  [[nodiscard]] double worth(std::size_t p, const Known& known) const noexcept {
    const auto last = static_cast<double>(known.last);
    if (p == lfu) return static_cast<double>(known.n) / static_cast<double>(now_ - known.made + 1);
    return p == lru ? last : -last;
  }
  /// Look at half as many objects from now on.
  void halve() {
    threshold_ /= 2;
    max_bytes_ /= 2;
    std::erase_if(known_, [&](const Known& known) { return mix64(known.id) > threshold_; });
    std::erase_if(ids_, [&](std::uint64_t id) { return mix64(id) > threshold_; });
    for (std::size_t p = 0; p < n_policies; ++p) make_room(p, 0);
  }

  std::uint64_t max_bytes_;
  std::uint64_t threshold_ = UINT64_MAX;
  std::uint64_t now_ = 0;
  std::vector<std::uint64_t> ids_;  // of the known ones, in their order: looked through at each use
  std::vector<Known> known_;
  std::array<double, n_policies> missed_{};  // bytes
};

}  // namespace barrio::mobile::detail
