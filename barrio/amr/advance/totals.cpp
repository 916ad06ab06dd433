#include <algorithm>
#include <bit>

#include "barrio/amr/advance/body.hpp"
#include "barrio/base/hash.hpp"
#include "barrio/mpi/collectives.hpp"
#include "barrio/mpi/exact_sum.hpp"

namespace barrio::amr {

/// Sum over the coarsest level: it covers the domain, and has the means of finer cells.
template <std::size_t D>
std::vector<double> Simulation<D>::totals() const {
  const Body& body = *body_;
  const std::int64_t n = body.hierarchy.space().block_size();
  std::vector<mpi::ExactSum> sums(body.n_variables);
  for (const double* const block : body.blocks[0])
    for (int v = 0; v < body.n_variables; ++v)
      for (std::int64_t i = 0; i < n; ++i) sums[v].add(block[v * n + i]);
  double volume = 1.0;
  for (const double size : body.hierarchy.space().cell_size(0)) volume *= size;
  std::vector<double> totals = mpi::ExactSum::over_all(body.context, sums);
  for (double& total : totals) total *= volume;
  return totals;
}

template <std::size_t D>
std::vector<double> Simulation<D>::integrals(int n, const CellFunction& function) const {
  const Body& body = *body_;
  const BlockSpace<D>& space = body.hierarchy.space();
  std::vector<mpi::ExactSum> sums(n);
  std::vector<double> u(body.n_variables);
  std::vector<double> values(n);
  std::vector<std::uint8_t> is_covered(space.block_size());
  for (int level = 0; level < body.hierarchy.n_levels(); ++level) {
    double volume = 1.0;
    for (const double size : space.cell_size(level)) volume *= size;
    for (std::size_t b = 0; b < body.blocks[level].size(); ++b) {
      const auto cells = space.cells(body.hierarchy.blocks(level)[b].at);
      mark_covered(level, b, is_covered);
      for (std::int64_t i = 0; i < cells.size(); ++i) {
        if (is_covered[i] != 0) continue;
        for (int v = 0; v < body.n_variables; ++v) u[v] = body.blocks[level][b][v * cells.size() + i];
        function(space.centre(level, cells.at(i)), u, values);
        for (int k = 0; k < n; ++k) sums[k].add(values[k] * volume);
      }
    }
  }
  return mpi::ExactSum::over_all(body.context, sums);
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
template std::vector<double> Simulation<2>::integrals(int, const CellFunction&) const;
template std::vector<double> Simulation<3>::integrals(int, const CellFunction&) const;
template std::uint64_t Simulation<2>::checksum() const;
template std::uint64_t Simulation<3>::checksum() const;

}  // namespace barrio::amr
