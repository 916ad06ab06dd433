#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace barrio::exchange {

/// When a repeated exchange calls MPI. All strategies bring the same contents. Ranks may choose differently, except for
/// `coalesced` and `automatic`, which join messages: all ranks choose one of these, or none does.
/// Source: Saif 2004, sections 3.2.3, 3.3.3 and 4.3.
enum class Strategy {
  wait_each,        ///< wait for each send in begin(), then for the receives: as a rule what is written first
  delayed_waits,    ///< all sends, then wait for the receives, then for the sends
  staggered_tests,  ///< delayed waits, and tests of all messages between sends and while the caller computes
  wait_some,        ///< delayed waits, and what has arrived is handed out while the rest is on its way
  coalesced,        ///< staggered tests of one message per peer; all ranks choose it or none does
  persistent,       ///< staggered tests of requests that are made once (on the simulator: staggered tests)
  thread,           ///< the communication thread of an Engine calls MPI, the caller computes
  automatic,        ///< by what is known of this MPI (`Profile`) and by how long rounds took
};

inline constexpr std::array all_strategies{Strategy::wait_each, Strategy::delayed_waits, Strategy::staggered_tests,
                                           Strategy::wait_some, Strategy::coalesced,     Strategy::persistent,
                                           Strategy::thread,    Strategy::automatic};

/// As on a command line: "wait-each".
std::string_view name_of(Strategy strategy) noexcept;
std::optional<Strategy> strategy_of(std::string_view name) noexcept;

}  // namespace barrio::exchange
