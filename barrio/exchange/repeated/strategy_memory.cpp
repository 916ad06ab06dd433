#include "barrio/exchange/repeated/strategy_memory.hpp"

#include <algorithm>

namespace barrio::exchange::detail {

std::shared_ptr<LearntChoice> StrategyMemory::of(const std::string& message_class, std::vector<Strategy> candidates) {
  // Without a choice nothing is learnt; and a strategy that one caller has named must not become that of others.
  if (message_class.empty() || candidates.size() == 1) return std::make_shared<LearntChoice>(std::move(candidates));
  const std::lock_guard lock(lock_);
  const auto found = std::ranges::find(choices_, message_class, &decltype(choices_)::value_type::first);
  if (found != choices_.end()) return found->second;
  return choices_.emplace_back(message_class, std::make_shared<LearntChoice>(std::move(candidates))).second;
}

}  // namespace barrio::exchange::detail
