#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "barrio/exchange/repeated/strategy_choice.hpp"

namespace barrio::exchange::detail {

/// What exchanges of one class of messages have learnt. One of them at a time tries and measures, the others follow, so
/// that only times of one exchange are compared. Local, without MPI; all exchanges of a class belong to one thread. The
/// ranks make and use them in the same order, and so come to the same turns.
class LearntChoice {
 public:
  explicit LearntChoice(std::vector<Strategy> candidates) : choice_(std::move(candidates)) {}

  /// The strategy of the round that an exchange begins. @param member  the exchange
  /// @param now  the time in seconds; asked for only where there is a choice
  template <class Clock>
  [[nodiscard]] Strategy begin_round(const void* member, Clock&& now) {
    if (!choice_.is_open() || !may_lead(member)) return choice_.chosen();
    const double time = now();
    if (begun_ >= 0.0) choice_.end_round(time - begun_);
    begun_ = time;
    return choice_.now();
  }
  /// An exchange is gone.
  void leave(const void* member) noexcept {
    if (leader_ == member) leader_ = nullptr;
  }

 private:
  [[nodiscard]] bool may_lead(const void* member) {
    constexpr std::uint32_t max_others = 32;  // rounds of others after which a leader that begins none is none
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
  double begun_ = -1.0;         ///< when its last round began
};

/// What a context's exchanges have learnt, by class: exchanges that are made anew while the job runs, as those of an
/// adapted mesh, go on where those before them stood.
class StrategyMemory {
 public:
  /// @param message_class  empty: an exchange that learns for itself alone
  [[nodiscard]] std::shared_ptr<LearntChoice> of(const std::string& message_class, std::vector<Strategy> candidates);

 private:
  std::mutex lock_;
  std::vector<std::pair<std::string, std::shared_ptr<LearntChoice>>> choices_;
};

}  // namespace barrio::exchange::detail
