#include <algorithm>
#include <bit>
#include <cmath>

#include "barrio/amr/advance/body.hpp"
#include "barrio/amr/advance/exact_sum.hpp"
#include "barrio/base/hash.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::amr {
/// The coarsest level covers the domain, and has the means of what lies on it.
template <std::size_t D>
std::vector<double> Simulation<D>::totals() const {
  const Body& body = *body_;
  const std::int64_t n = body.hierarchy.space().block_size();
  std::vector<double> most(body.n_variables);
  const auto for_each = [&](auto&& visit) {
    for (std::size_t b = 0; b < body.blocks[0].size(); ++b)
      for (int v = 0; v < body.n_variables; ++v)
        for (std::int64_t i = 0; i < n; ++i) visit(v, body.blocks[0][b][v * n + i]);
  };
  for_each([&](int v, double x) { most[v] = std::max(most[v], std::abs(x)); });
  mpi::all_reduce(body.context, std::span<double>(most), MPI_MAX);
  std::vector<detail::ExactSum> sums;
  for (const double one : most) sums.emplace_back(one, body.hierarchy.n_global(0) * n);
  for_each([&](int v, double x) { sums[v].add(x); });
  double volume = 1.0;
  for (const double size : body.hierarchy.space().cell_size(0)) volume *= size;
  std::vector<double> totals;
  for (const detail::ExactSum& sum : sums) totals.push_back(sum.over_all(body.context) * volume);
  return totals;
}

template <std::size_t D>
std::uint64_t Simulation<D>::checksum() const {
  const Body& body = *body_;
  std::uint64_t mine = 0;
  for (int level = 0; level < body.hierarchy.n_levels(); ++level) {
    for (std::size_t b = 0; b < body.blocks[level].size(); ++b) {
      Hash64 hash;
      hash.add(body.hierarchy.blocks(level)[b].key).add(static_cast<std::uint64_t>(level));
      for (const double one : body.state.values(level, b)) hash.add(std::bit_cast<std::uint64_t>(one));
      mine += hash.value();
    }
  }
  return mpi::sum(body.context, mine);
}

template std::vector<double> Simulation<2>::totals() const;
template std::vector<double> Simulation<3>::totals() const;
template std::uint64_t Simulation<2>::checksum() const;
template std::uint64_t Simulation<3>::checksum() const;

}  // namespace barrio::amr
