#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "barrio/adapt/adapt.hpp"
#include "barrio/adapt/kernel/operator.hpp"
#include "barrio/adapt/kernel/sizes.hpp"
#include "barrio/adapt/kernel/tets.hpp"
#include "barrio/adapt/rounds/rounds.hpp"
#include "barrio/adapt/rounds/shape.hpp"
#include "barrio/adapt/rounds/stages.hpp"
#include "barrio/mpi/context.hpp"

namespace barrio::adapt::detail {

/// Schedule: the order of rounds.
class Schedule {
 public:
  /// Construct. Collective. @param tets, sizes, options  borrowed @param tolerance  of planes and lines
  /// @param n_expected  predicted cells of a rank
  Schedule(mpi::Context& context, Tets& tets, const Sizes& sizes, const AdaptOptions& options, double tolerance,
           double n_expected);

  /// Run all rounds. Collective.
  void run();
  /// Tell whether all rounds were run.
  [[nodiscard]] bool is_complete() const noexcept { return !rounds_.must_stop(); }
  /// Return the shape of the mesh as it is. Collective, unless no round was run since the last call.
  [[nodiscard]] const Shape& shape();
  /// Return the ranks that see tetrahedra that this one sees.
  [[nodiscard]] std::span<const Rank> neighbours() { return rounds_.neighbours(); }
  [[nodiscard]] const OperatorCounts& collapses() const noexcept { return counts_[0]; }
  [[nodiscard]] const OperatorCounts& splits() const noexcept { return counts_[1]; }
  [[nodiscard]] const OperatorCounts& swaps() const noexcept { return counts_[2]; }
  [[nodiscard]] const OperatorCounts& moves() const noexcept { return counts_[3]; }

 private:
  bool set_limits();
  int sweep();
  void activate_all();
  bool correct_density(double from, double to);
  void improve();
  void finish();
  void mend();
  std::int64_t repeat(Operator& op, OperatorCounts& of, double part, int max_rounds = 100);

  mpi::Context& context_;
  const Tets& tets_;
  double min_quality_;
  Limits limits_;
  Rounds rounds_;
  Collapse collapse_;
  Split split_;
  Swap swap_;
  Smooth smooth_;
  std::array<OperatorCounts, 4> counts_;
  Stages stages_;
  double n_expected_;
  std::optional<Shape> shape_;  // until the next round
};

}  // namespace barrio::adapt::detail
