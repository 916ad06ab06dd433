#include <algorithm>
#include <limits>
#include <utility>

#include "barrio/base/assert.hpp"
#include "barrio/exchange/repeated/strategy_choice.hpp"

namespace barrio::exchange::detail {
namespace {

constexpr std::uint32_t n_first_rounds = 4;   // caches and connections are cold
constexpr std::uint32_t n_rounds_of_try = 3;  // of which the first does not count: it follows another strategy
constexpr std::uint32_t n_passes_of_trial = 3;
constexpr std::uint32_t n_rounds_after_trial = 400;
constexpr std::uint32_t most_rounds_after_trial = 100'000;
constexpr double hopeless = 1.1;    // what a candidate takes of the best one's time to be tried no more
constexpr double advantage = 0.97;  // what a candidate must take of the chosen one's time to take its place

}  // namespace

StrategyChoice::StrategyChoice(std::vector<Strategy> candidates)
    : candidates_(std::move(candidates)), n_until_trial_(n_first_rounds) {
  BARRIO_ASSERT(cheap, !candidates_.empty());
}

void StrategyChoice::begin_trial() {
  is_trying_ = true;
  tried_ = 0;
  n_rounds_ = 0;
  n_passes_ = 0;
  best_.assign(candidates_.size(), std::numeric_limits<double>::infinity());
  is_out_.assign(candidates_.size(), false);
}

void StrategyChoice::end_trial() {
  const std::size_t found = std::ranges::min_element(best_) - best_.begin();
  const bool is_better = best_[found] < advantage * best_[chosen_];
  // A choice that holds is checked less often.
  n_until_trial_ = is_better
                       ? n_rounds_after_trial
                       : std::min(std::max(n_until_trial_, n_rounds_after_trial / 4) * 4, most_rounds_after_trial);
  if (is_better) chosen_ = found;
  is_trying_ = false;
  n_rounds_ = 0;
}

void StrategyChoice::end_round(double seconds) {
  if (candidates_.size() == 1) return;
  n_rounds_ += 1;
  if (!is_trying_) {
    if (n_rounds_ >= n_until_trial_) begin_trial();
    return;
  }
  if (n_rounds_ > 1) best_[running()] = std::min(best_[running()], seconds);
  if (n_rounds_ < n_rounds_of_try) return;
  n_rounds_ = 0;
  if (++tried_ < candidates_.size()) return;
  tried_ = 0;
  if (++n_passes_ == n_passes_of_trial) return end_trial();
  const double shortest = *std::ranges::min_element(best_);
  for (std::size_t i = 0; i < candidates_.size(); ++i) is_out_[i] = i != chosen_ && best_[i] > hopeless * shortest;
}

}  // namespace barrio::exchange::detail
