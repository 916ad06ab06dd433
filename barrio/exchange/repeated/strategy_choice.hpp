#pragma once

#include <cstdint>
#include <vector>

#include "barrio/exchange/strategy.hpp"

namespace barrio::exchange::detail {

/// Choose a strategy by how long rounds took. Local, without MPI. The ranks of an exchange try the same candidates in
/// the same rounds, so that each sees the effect on all. A candidate takes over only if it is better by more than
/// noise, and trials become rarer.
class StrategyChoice {
 public:
  /// @param candidates  without repetition, one at least; the first is what is expected to be best
  explicit StrategyChoice(std::vector<Strategy> candidates);

  /// The strategy of the round that begins.
  [[nodiscard]] Strategy now() const noexcept { return candidates_[running()]; }
  /// The best one by the trials so far.
  [[nodiscard]] Strategy chosen() const noexcept { return candidates_[chosen_]; }
  /// Record the time of the last round, from its begin to the next one's, the caller's work included. Seconds.
  void end_round(double seconds);

 private:
  /// A rejected candidate's rounds run the chosen strategy: ranks that think otherwise keep step.
  [[nodiscard]] std::size_t running() const noexcept { return is_trying_ && !is_out_[tried_] ? tried_ : chosen_; }
  void begin_trial();
  void end_trial();

  std::vector<Strategy> candidates_;
  std::vector<double> best_;  ///< shortest round of each in this trial
  std::vector<bool> is_out_;  ///< too slow to be tried again in this trial
  std::size_t chosen_ = 0;
  std::size_t tried_ = 0;
  bool is_trying_ = false;
  std::uint32_t n_rounds_ = 0;  ///< of this candidate in this pass, or since the trial
  std::uint32_t n_passes_ = 0;
  std::uint32_t n_until_trial_;
};

}  // namespace barrio::exchange::detail
