#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace barrio::delaunay::detail {

/// Disjoint sets (union-find) of at most 2^32 - 1 items.
class Joined {
 public:
  explicit Joined(std::size_t n) : parents_(n) { std::iota(parents_.begin(), parents_.end(), 0U); }
  std::size_t root(std::size_t i) {
    while (parents_[i] != i) i = parents_[i] = parents_[parents_[i]];
    return i;
  }
  void join(std::size_t a, std::size_t b) { parents_[root(a)] = static_cast<std::uint32_t>(root(b)); }
  [[nodiscard]] std::int64_t count() const noexcept {
    std::int64_t n = 0;
    for (std::size_t i = 0; i < parents_.size(); ++i) n += parents_[i] == i ? 1 : 0;
    return n;
  }

 private:
  std::vector<std::uint32_t> parents_;
};

}  // namespace barrio::delaunay::detail
