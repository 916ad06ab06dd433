#pragma once

#include <cstdint>
#include <vector>

#include "barrio/exchange/strategy.hpp"

namespace barrio::exchange::detail {

/// Choice of a strategy by the time of rounds. Local, without MPI. The ranks of an exchange try the same candidates in
/// the same rounds, so each sees the effect on all. A candidate takes over only if it is better by more than noise, and
/// trials become rarer.
class StrategyChoice {
 public:
  /// Make a choice. @param candidates  without repetition, at least one; the first is expected to be best
  explicit StrategyChoice(std::vector<Strategy> candidates);

  /// Return the strategy of the round that begins.
  [[nodiscard]] Strategy now() const noexcept { return candidates_[running()]; }
  /// Return the best strategy by the trials so far.
  [[nodiscard]] Strategy chosen() const noexcept { return candidates_[chosen_]; }
  /// Tell whether there is more than one candidate.
  [[nodiscard]] bool is_open() const noexcept { return candidates_.size() > 1; }
  /// Record the time of the last round, from its beginning to that of the next one, including the caller's work.
  /// Seconds.
  void end_round(double seconds);
  /// Begin the rounds of a new exchange, perhaps of other sizes: its times are compared with one another only.
  void begin_anew();

 private:
  /// Times of a candidate in this trial.
  struct Evidence {
    double shortest;             ///< shortest round of this exchange; infinity if none was timed
    double sum_of_logs = 0.0;    ///< logarithms of its shortest round over the chosen one's, of previous exchanges
    std::uint32_t n_before = 0;  ///< number of exchanges in that sum
  };

  /// Return the candidate that runs. In the turn of a rejected one the chosen strategy runs, so ranks that decided
  /// otherwise keep step.
  [[nodiscard]] std::size_t running() const noexcept { return is_trying_ && !is_out_[tried_] ? tried_ : chosen_; }
  void begin_trial();
  void end_trial();
  /// Return its time over that of the chosen one, by all exchanges of this trial; 1 if unknown.
  [[nodiscard]] double ratio(std::size_t candidate) const noexcept;
  void keep_ratios();

  std::vector<Strategy> candidates_;
  std::vector<Evidence> evidence_;
  std::vector<bool> is_out_;  ///< too slow to be tried again in this trial
  std::size_t chosen_ = 0;
  std::size_t tried_ = 0;
  bool is_trying_ = false;
  bool is_timed_ = false;       ///< whether the current round counts: the first after a change does not
  std::uint32_t n_rounds_ = 0;  ///< of this candidate in this pass, or since the trial
  std::uint32_t n_passes_ = 0;
  std::uint32_t n_until_trial_;
};

}  // namespace barrio::exchange::detail
