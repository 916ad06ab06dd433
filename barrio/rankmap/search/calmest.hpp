#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "barrio/rankmap/search/candidate.hpp"
#include "barrio/rankmap/search/deadline.hpp"

namespace barrio::rankmap::detail {

struct ReliefPlan {
  double bottleneck = 0.0;  ///< share of the busiest node, see `mixed_cost`; 0: nothing is done
  std::uint64_t seed = 1;
  const std::vector<bool>& is_fixed;  ///< by rank; empty: no rank is fixed
};

/// The best placement in the mixed cost, derived from placements that are good in Z. Never worse than `given`.
class Calmest {
 public:
  /// Start from `given`. Borrows the graph, the machine and the plan's list.
  Calmest(const CommunicationGraph& graph, const Machine& machine, const Candidate& given, const ReliefPlan& plan,
          Deadline deadline);

  /// Relieve the busiest node of `found`, or of the best so far if `found` is not new. @pre each call's `found` costs
  /// no more than the last one's. Cost: about twice `seconds`, counted in work
  void relieve(const Candidate& found, double seconds);
  /// Relieve it in calls of doubling length, within `seconds`: more seconds never give a worse result.
  void relieve_in_rungs(const Candidate& found, double seconds);

  [[nodiscard]] const Candidate& best() const& noexcept { return best_; }
  const Candidate& best() const&& = delete;
  [[nodiscard]] bool is_complete() const noexcept { return is_complete_; }

 private:
  [[nodiscard]] double mixed(const Candidate& one) const;

  const CommunicationGraph& graph_;
  const Machine& machine_;
  ReliefPlan plan_;
  Deadline deadline_;
  Candidate best_;
  double mixed_given_, mixed_best_;
  double last_cost_ = std::numeric_limits<double>::infinity();
  std::uint64_t n_calls_ = 0;
  bool is_complete_ = true;
};

}  // namespace barrio::rankmap::detail
