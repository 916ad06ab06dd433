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
  /// Whether there is more than one.
  [[nodiscard]] bool is_open() const noexcept { return candidates_.size() > 1; }
  /// Record the time of the last round, from its begin to the next one's, the caller's work included. Seconds.
  void end_round(double seconds);
  /// What follows are rounds of an exchange made anew, maybe of other sizes: its times compare with one another only.
  void begin_anew();

 private:
  /// What is known of a candidate in this trial.
  struct Evidence {
    double shortest;             ///< round of this exchange; infinity if none was timed
    double sum_of_logs = 0.0;    ///< of its shortest round over the chosen one's, of exchanges before
    std::uint32_t n_before = 0;  ///< exchanges in that sum
  };

  /// A rejected candidate's rounds run the chosen strategy: ranks that think otherwise keep step.
  [[nodiscard]] std::size_t running() const noexcept { return is_trying_ && !is_out_[tried_] ? tried_ : chosen_; }
  void begin_trial();
  void end_trial();
  /// Its time over that of the chosen one, by all exchanges of this trial; 1 if nothing is known.
  [[nodiscard]] double ratio(std::size_t candidate) const noexcept;
  void keep_ratios();

  std::vector<Strategy> candidates_;
  std::vector<Evidence> evidence_;
  std::vector<bool> is_out_;  ///< too slow to be tried again in this trial
  std::size_t chosen_ = 0;
  std::size_t tried_ = 0;
  bool is_trying_ = false;
  bool is_timed_ = false;       ///< whether the round that runs counts: the first after a change does not
  std::uint32_t n_rounds_ = 0;  ///< of this candidate in this pass, or since the trial
  std::uint32_t n_passes_ = 0;
  std::uint32_t n_until_trial_;
};

}  // namespace barrio::exchange::detail
