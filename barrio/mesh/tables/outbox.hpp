#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "barrio/exchange/router.hpp"

namespace barrio::mesh::detail {

/// Collect records of varying length for several ranks. Records for one rank keep their order.
class Outbox {
 public:
  /// Begin a record to a rank; push its words on what is returned, before the next call.
  std::vector<std::int64_t>& begin(Rank to) {
    to_.push_back(to);
    first_.push_back(words_.size());
    return words_;
  }

  /// The records, grouped by rank. Cost: O(n log n) for n records, one copy of the words.
  [[nodiscard]] exchange::Parcels<std::int64_t> parcels() const {
    std::vector<std::size_t> order(to_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return to_[a] < to_[b]; });
    exchange::Parcels<std::int64_t> out;
    out.items.reserve(words_.size());
    for (const std::size_t i : order) {
      if (out.peers.empty() || out.peers.back() != to_[i]) {
        out.peers.push_back(to_[i]);
        out.offsets.push_back(out.items.size());
      }
      const std::size_t end = i + 1 < first_.size() ? first_[i + 1] : words_.size();
      out.items.insert(out.items.end(), words_.begin() + static_cast<std::ptrdiff_t>(first_[i]),
                       words_.begin() + static_cast<std::ptrdiff_t>(end));
      out.offsets.back() = out.items.size();
    }
    return out;
  }

 private:
  std::vector<Rank> to_;
  std::vector<std::size_t> first_;
  std::vector<std::int64_t> words_;
};

}  // namespace barrio::mesh::detail
