#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "barrio/exchange/repeated/strategy_choice.hpp"

namespace barrio::exchange::detail {

/// Choice learnt by the exchanges of one class of messages. One of them at a time tries and measures, the others
/// follow, so only times of one exchange are compared. Local, without MPI; all exchanges of a class belong to one
/// thread. The ranks make and use them in the same order, and so take the same turns.
class LearntChoice {
 public:
  explicit LearntChoice(std::vector<Strategy> candidates) : choice_(std::move(candidates)) {}

  /// Return the strategy of the round that an exchange begins. @param member  the exchange
  /// @param now  returns the time in seconds; called only if there is a choice
  template <class Clock>
  [[nodiscard]] Strategy begin_round(const void* member, Clock&& now) {
    if (!choice_.is_open() || !may_lead(member)) return choice_.chosen();
    const double time = now();
    if (begun_ >= 0.0) choice_.end_round(time - begun_);
    begun_ = time;
    return choice_.now();
  }
  /// Remove an exchange that has ended.
  void leave(const void* member) noexcept {
    if (leader_ == member) leader_ = nullptr;
  }

 private:
  [[nodiscard]] bool may_lead(const void* member) {
    constexpr std::uint32_t max_others = 32;  // rounds of others after which an idle leader is replaced
    if (leader_ == member) {
      n_others_ = 0;
      return true;
    }
    if (leader_ != nullptr && ++n_others_ <= max_others) return false;
    leader_ = member;
    n_others_ = 0;
    begun_ = -1.0;
    choice_.begin_anew();
    return true;
  }

  StrategyChoice choice_;
  const void* leader_ = nullptr;
  std::uint32_t n_others_ = 0;  ///< rounds of others since its last one
  double begun_ = -1.0;         ///< start of its last round
};

/// Choices learnt by a context's exchanges, by class. Exchanges that are remade while the job runs, as those of an
/// adapted mesh, continue from their predecessors.
class StrategyMemory {
 public:
  /// Return the choice of a class. @param message_class  empty: an exchange that learns for itself alone
  [[nodiscard]] std::shared_ptr<LearntChoice> of(const std::string& message_class, std::vector<Strategy> candidates);

 private:
  std::mutex lock_;
  std::vector<std::pair<std::string, std::shared_ptr<LearntChoice>>> choices_;
};

}  // namespace barrio::exchange::detail
