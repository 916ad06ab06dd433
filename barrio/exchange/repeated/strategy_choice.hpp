#pragma once

#include <cstdint>
#include <vector>

#include "barrio/exchange/strategy.hpp"

namespace barrio::exchange::detail {

/// Choose a strategy by what rounds have taken. Local, without MPI. The ranks of an exchange try the same candidates in
/// the same rounds, so that each sees what it does to all. A candidate takes over only if it is better by more than
/// noise, and trials become rarer.
class StrategyChoice {
 public:
  /// @param candidates  without repetition, one at least; the first is what is expected to be best
  explicit StrategyChoice(std::vector<Strategy> candidates);

  /// For the round that begins.
  [[nodiscard]] Strategy now() const noexcept { return candidates_[running()]; }
  /// What the trials have led to so far.
  [[nodiscard]] Strategy chosen() const noexcept { return candidates_[chosen_]; }
  /// What the round that began last has taken, with all that the caller did until the next one began. Seconds.
  void end_round(double seconds);

 private:
  /// In the rounds of a candidate that is out of question, what is chosen runs: ranks that think otherwise keep step.
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
