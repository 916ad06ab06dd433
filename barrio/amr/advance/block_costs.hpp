#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "barrio/amr/hierarchy.hpp"

namespace barrio::amr::detail {

/// Measured costs of this rank's blocks, over the mean of all blocks; they move with the blocks.
template <std::size_t D>
class BlockCosts {
 public:
  explicit BlockCosts(int n_levels) : measured_(n_levels), weights_(n_levels) {}

  void add(int level, std::size_t block, double seconds) noexcept {
    Measured& one = measured_[level][block];
    one.seconds += seconds;
    one.n += 1;
  }
  /// Update the weights: the mean of the old ones and those measured since the last update. Collective.
  void weigh(mpi::Context& context);
  /// Return the weights for Hierarchy::change.
  [[nodiscard]] std::span<const std::vector<std::int32_t>> weights() const& noexcept { return weights_; }
  /// Follow a change of the hierarchy.
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
