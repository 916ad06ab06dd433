#include "barrio/amr/advance/block_costs.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "barrio/mpi/collectives.hpp"

namespace barrio::amr::detail {
namespace {

constexpr double mean_weight = 64.0;
constexpr double max_weight = 100.0 * mean_weight;

}  // namespace

template <std::size_t D>
void BlockCosts<D>::weigh(mpi::Context& context) {
  std::array<double, 2> sums{};
  for (const auto& level : measured_) {
    for (const Measured& one : level) {
      if (one.n == 0) continue;
      sums[0] += one.seconds / static_cast<double>(one.n);
      sums[1] += 1.0;
    }
  }
  mpi::all_reduce(context, std::span<double>(sums), MPI_SUM);
  if (!(sums[0] > 0.0)) return;
  const double per_second = mean_weight * sums[1] / sums[0];
  for (std::size_t level = 0; level < measured_.size(); ++level) {
    for (std::size_t block = 0; block < measured_[level].size(); ++block) {
      Measured& one = measured_[level][block];
      if (one.n == 0) continue;
      const double now = per_second * one.seconds / static_cast<double>(one.n);
      std::int32_t& weight = weights_[level][block];
      weight = static_cast<std::int32_t>(std::lround(std::clamp(0.5 * (now + weight), 1.0, max_weight)));
      one = {};
    }
  }
}

template <std::size_t D>
void BlockCosts<D>::follow(const Hierarchy<D>& hierarchy, const BlockMotion& motion) {
  for (int level = 0; level < hierarchy.n_levels(); ++level) {
    const std::size_t n = hierarchy.blocks(level).size();
    measured_[level].assign(n, {});
    weights_[level] = motion.weights.empty() ? std::vector<std::int32_t>(n, static_cast<std::int32_t>(mean_weight))
                                             : motion.weights[level];
  }
}

template class BlockCosts<2>;
template class BlockCosts<3>;

}  // namespace barrio::amr::detail
