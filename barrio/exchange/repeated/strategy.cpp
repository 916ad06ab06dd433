#include "barrio/exchange/strategy.hpp"

#include <algorithm>

namespace barrio::exchange {

std::string_view name_of(Strategy strategy) noexcept {
  switch (strategy) {
    case Strategy::wait_each: return "wait-each";
    case Strategy::delayed_waits: return "delayed-waits";
    case Strategy::staggered_tests: return "staggered-tests";
    case Strategy::wait_some: return "wait-some";
    case Strategy::coalesced: return "coalesced";
    case Strategy::persistent: return "persistent";
    case Strategy::thread: return "thread";
    case Strategy::automatic: return "automatic";
  }
  return "";
}

std::optional<Strategy> strategy_of(std::string_view name) noexcept {
  const auto found = std::ranges::find(all_strategies, name, &name_of);
  return found == all_strategies.end() ? std::nullopt : std::optional(*found);
}

}  // namespace barrio::exchange
