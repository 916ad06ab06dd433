#include "barrio/exchange/repeated/strategy_choice.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "barrio/base/assert.hpp"

namespace barrio::exchange::detail {
namespace {

constexpr std::uint32_t n_first_rounds = 4;   // caches and connections are cold
constexpr std::uint32_t n_rounds_of_try = 3;  // the first of them is not timed: it follows another strategy
constexpr std::uint32_t n_passes_of_trial = 3;
constexpr std::uint32_t n_rounds_after_trial = 400;
constexpr std::uint32_t max_rounds_after_trial = 100'000;
constexpr double hopeless = 1.1;    // a candidate that takes this multiple of the best time is not tried again
constexpr double advantage = 0.97;  // a candidate must take less of the chosen one's time to replace it
constexpr double never = std::numeric_limits<double>::infinity();

}  // namespace

StrategyChoice::StrategyChoice(std::vector<Strategy> candidates)
    : candidates_(std::move(candidates)), n_until_trial_(n_first_rounds) {
  BARRIO_ASSERT(cheap, !candidates_.empty());
}

void StrategyChoice::begin_trial() {
  is_trying_ = true;
  is_timed_ = false;
  tried_ = 0;
  n_rounds_ = 0;
  n_passes_ = 0;
  evidence_.assign(candidates_.size(), {.shortest = never});
  is_out_.assign(candidates_.size(), false);
}

double StrategyChoice::ratio(std::size_t candidate) const noexcept {
  const Evidence& one = evidence_[candidate];
  double sum = one.sum_of_logs;
  std::uint32_t n = one.n_before;
  const double reference = evidence_[chosen_].shortest;
  if (one.shortest < never && reference < never && one.shortest > 0.0 && reference > 0.0) {
    sum += std::log(one.shortest / reference);
    n += 1;
  }
  return n == 0 ? 1.0 : std::exp(sum / n);
}

void StrategyChoice::keep_ratios() {
  const double reference = evidence_[chosen_].shortest;
  for (Evidence& one : evidence_) {
    if (one.shortest < never && reference < never && one.shortest > 0.0 && reference > 0.0) {
      one.sum_of_logs += std::log(one.shortest / reference);
      one.n_before += 1;
    }
    one.shortest = never;
  }
}

void StrategyChoice::end_trial() {
  std::size_t found = chosen_;
  for (std::size_t i = 0; i < candidates_.size(); ++i)
    if (ratio(i) < ratio(found)) found = i;
  const bool is_better = ratio(found) < advantage;
  // A choice that holds is checked less often.
  n_until_trial_ = is_better ? n_rounds_after_trial
                             : std::min(std::max(n_until_trial_, n_rounds_after_trial / 4) * 4, max_rounds_after_trial);
  if (is_better) chosen_ = found;
  is_trying_ = false;
  n_rounds_ = 0;
}

void StrategyChoice::begin_anew() {
  is_timed_ = false;
  if (is_trying_) keep_ratios();
}

void StrategyChoice::end_round(double seconds) {
  if (candidates_.size() == 1) return;
  n_rounds_ += 1;
  if (!is_trying_) {
    if (n_rounds_ >= n_until_trial_) begin_trial();
    return;
  }
  double& shortest = evidence_[running()].shortest;
  if (is_timed_) shortest = std::min(shortest, seconds);
  is_timed_ = true;
  if (n_rounds_ < n_rounds_of_try) return;
  n_rounds_ = 0;
  is_timed_ = false;
  if (++tried_ < candidates_.size()) return;
  tried_ = 0;
  if (++n_passes_ == n_passes_of_trial) return end_trial();
  double least = 1.0;
  for (std::size_t i = 0; i < candidates_.size(); ++i) least = std::min(least, ratio(i));
  for (std::size_t i = 0; i < candidates_.size(); ++i) is_out_[i] = i != chosen_ && ratio(i) > hopeless * least;
}

}  // namespace barrio::exchange::detail
