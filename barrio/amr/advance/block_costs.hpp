#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "barrio/amr/hierarchy.hpp"

namespace barrio::amr::detail {

/// What the blocks of this rank take to advance, over what blocks do in the mean; it goes with them when they move.
template <std::size_t D>
class BlockCosts {
 public:
  explicit BlockCosts(int n_levels) : measured_(n_levels), weights_(n_levels) {}

  void add(int level, std::size_t block, double seconds) noexcept {
    Measured& one = measured_[level][block];
    one.seconds += seconds;
    one.n += 1;
  }
  /// Weigh blocks by what was measured since the last time, half of it, and what was known before. Collective.
  void weigh(mpi::Context& context);
  /// For Hierarchy::change.
  [[nodiscard]] std::span<const std::vector<std::int32_t>> weights() const& noexcept { return weights_; }
  /// Take over the blocks that there are after a change.
  void follow(const Hierarchy<D>& hierarchy, const BlockMotion& motion);

 private:
  struct Measured {
    double seconds = 0.0;
    std::int64_t n = 0;
  };
  std::vector<std::vector<Measured>> measured_;
  std::vector<std::vector<std::int32_t>> weights_;
};

extern template class BlockCosts<2>;
extern template class BlockCosts<3>;

}  // namespace barrio::amr::detail
