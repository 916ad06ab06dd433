#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "barrio/base/ids.hpp"

namespace barrio::mobile::detail {

/// Ranks that have no work, and what they are given. Pure: sends nothing.
///
/// A rank without work tells its partners, once; the note stays with them until one has work to give, or until the rank
/// has work again. So notes are no more than arrivals of objects, and the end of a run is found as without them. The
/// partners of a rank are at distances of powers of two, both ways: work spreads to all ranks in log2(ranks) steps.
class Balancer {
 public:
  Balancer(Rank here, int n_ranks) {
    for (int distance = 1; distance < n_ranks; distance *= 2) {
      partners_.push_back((here + distance) % n_ranks);
      partners_.push_back((here + n_ranks - distance) % n_ranks);
    }
    std::ranges::sort(partners_);
    partners_.erase(std::ranges::unique(partners_).begin(), partners_.end());
    std::erase(partners_, here);
  }
  [[nodiscard]] std::span<const Rank> partners() const noexcept { return partners_; }
  /// Tell whether partners are to be told that this rank has no work; they are then.
  [[nodiscard]] bool tells() noexcept { return !std::exchange(has_told_, true); }
  /// Tell whether partners are to be told that this rank has work again; they are then.
  [[nodiscard]] bool takes_back() noexcept { return std::exchange(has_told_, false); }
  /// Take note that a rank has no work, or has some again.
  void note(Rank rank, bool is_short) {
    std::erase(short_, rank);
    if (is_short) short_.push_back(rank);
  }
  [[nodiscard]] bool has_short() const noexcept { return !short_.empty(); }
  void clear() noexcept {
    short_.clear();
    has_told_ = false;
  }

  /// Object that could be given, with the time that it is expected to take.
  struct Item {
    double seconds;
    std::size_t place;  // among the candidates
  };
  /// Share work with the ranks that have none: each gets about as much as stays. Their notes are done with.
  /// @param items  sorted by falling time here @return the new rank of each candidate; -1: it stays
  [[nodiscard]] std::vector<Rank> share(std::vector<Item>& items) {
    std::ranges::sort(items, [](const Item& a, const Item& b) {
      return a.seconds > b.seconds || (a.seconds == b.seconds && a.place < b.place);
    });
    std::vector<double> loads(short_.size() + 1, 0.0);  // the last one: here, which keeps the longest
    std::vector<Rank> to(items.size(), -1);
    for (const Item& item : items) {
      const auto least = std::min_element(loads.rbegin(), loads.rend());
      *least += item.seconds;
      if (least != loads.rbegin()) to[item.place] = short_[static_cast<std::size_t>(loads.rend() - least) - 1];
    }
    short_.clear();
    return to;
  }

 private:
  std::vector<Rank> partners_;
  std::vector<Rank> short_;  // partners without work
  bool has_told_ = false;
};

}  // namespace barrio::mobile::detail
