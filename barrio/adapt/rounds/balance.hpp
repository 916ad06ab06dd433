#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "barrio/adapt/adapt.hpp"
#include "barrio/mesh/mesh.hpp"
#include "barrio/mpi/context.hpp"

namespace barrio::adapt::detail {

/// How many cells each owned one is to become. Collective.
/// @param function  or nullptr: then sizes are `nodal`
/// @throws AgreedError{bad_input} for a size that is none
[[nodiscard]] std::vector<double> predicted_cells(const mesh::Mesh& mesh, const SizeFunction* function,
                                                  std::span<const double> nodal);
/// What each cell will cost, by the cells that it is to become, and the looks at it that it takes to get there. Local.
[[nodiscard]] std::vector<std::int64_t> predicted_work(std::span<const double> n_cells);
/// What a rank is to have, in the mean.
struct Forecast {
  double cells;
  double work;
};
/// Add up what is predicted for this rank's cells. Collective. Cost: one reduction
/// @throws AgreedError{usage} for more cells than that
[[nodiscard]] Forecast forecast(mpi::Context& context, std::span<const double> n_cells,
                                std::span<const std::int64_t> work, double max_per_rank);

/// Cells that move to other ranks, where it is worth it. Its functions are collective.
class Balance {
 public:
  Balance(mpi::Context& context, bool is_wanted) : context_(context), is_wanted_(is_wanted && context.size() > 1) {}

  /// Whether no rank has much more than the mean. Cost: one reduction
  [[nodiscard]] bool is_even(double of_rank, double mean);
  /// Share the work, and give each rank the cells around its own. @param mean  of all ranks
  void before(mesh::Mesh& mesh, std::span<const std::int64_t> work, double mean);
  /// Share the cells. @param ghosts  that the mesh is to have
  void after(mesh::Mesh& mesh, const mesh::BuildOptions& ghosts);
  [[nodiscard]] double seconds() const noexcept { return seconds_; }

 private:
  mpi::Context& context_;
  bool is_wanted_;
  double seconds_ = 0.0;
};

}  // namespace barrio::adapt::detail
