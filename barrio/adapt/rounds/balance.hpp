#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "barrio/adapt/adapt.hpp"
#include "barrio/mesh/mesh.hpp"
#include "barrio/mpi/context.hpp"

namespace barrio::adapt::detail {

/// Predict how many cells each owned cell becomes. Collective.
/// @param function  or nullptr: sizes are `nodal`
/// @throws AgreedError{bad_input} for an invalid size
[[nodiscard]] std::vector<double> predicted_cells(const mesh::Mesh& mesh, const SizeFunction* function,
                                                  std::span<const double> nodal);
/// Predict the work of each cell: one unit for looking at it, and one for each cell that it becomes. Local.
[[nodiscard]] std::vector<std::int64_t> predicted_work(std::span<const double> n_cells);
/// Predicted cells and work of a rank, averaged over ranks.
struct Forecast {
  double cells;
  double work;
};
/// Add up the predictions for this rank's cells. Collective. Cost: one reduction
/// @param max_per_rank  as AdaptOptions::max_cells_per_rank
/// @throws AgreedError{usage} for more cells than that on average
[[nodiscard]] Forecast forecast(mpi::Context& context, std::span<const double> n_cells,
                                std::span<const std::int64_t> work, double max_per_rank);

/// Load balance: moves cells to other ranks where that pays. Its functions are collective.
class Balance {
 public:
  Balance(mpi::Context& context, bool is_wanted) : context_(context), is_wanted_(is_wanted && context.size() > 1) {}

  /// Tell whether no rank has much more than the mean. Cost: one reduction
  [[nodiscard]] bool is_even(double of_rank, double mean);
  /// Balance the work, and give each rank the ghosts around its cells. @param mean  work of a rank on average
  void before(mesh::Mesh& mesh, std::span<const std::int64_t> work, double mean);
  /// Balance the number of cells. @param ghosts  that the mesh gets
  void after(mesh::Mesh& mesh, const mesh::BuildOptions& ghosts);
  [[nodiscard]] double seconds() const noexcept { return seconds_; }

 private:
  mpi::Context& context_;
  bool is_wanted_;
  double seconds_ = 0.0;
};

}  // namespace barrio::adapt::detail
