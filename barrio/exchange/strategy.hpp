#pragma once

/// @file Strategies of a repeated exchange: when it calls MPI.

#include <array>
#include <optional>
#include <string_view>

namespace barrio::exchange {

/// Strategy of a repeated exchange: when it calls MPI. All strategies deliver the same contents. Ranks may choose
/// differently, except for `coalesced` and `automatic`, which join messages: all ranks choose the same one of these, or
/// none does.
/// Source: Saif 2004, sections 3.2.3, 3.3.3 and 4.3.
enum class Strategy {
  wait_each,        ///< wait for each send in begin(), then for the receives: the usual first version
  delayed_waits,    ///< all sends, then wait for the receives, then for the sends
  staggered_tests,  ///< delayed waits, and tests of all messages between sends and while the caller computes
  wait_some,        ///< delayed waits; messages that have arrived are handed out while others are in flight
  coalesced,        ///< staggered tests of one message per peer; all ranks choose it or none does
  persistent,       ///< staggered tests of persistent requests (on the simulator: staggered tests)
  thread,           ///< the communication thread of an Engine calls MPI, the caller computes
  automatic,        ///< by the properties of this MPI (`Profile`) and the measured time of rounds
};

/// All strategies, in the order of the enumeration.
inline constexpr std::array all_strategies{Strategy::wait_each, Strategy::delayed_waits, Strategy::staggered_tests,
                                           Strategy::wait_some, Strategy::coalesced,     Strategy::persistent,
                                           Strategy::thread,    Strategy::automatic};

/// Return the name as on a command line: "wait-each".
std::string_view name_of(Strategy strategy) noexcept;
/// Find the strategy with a name, as `name_of` returns it; empty if there is none.
std::optional<Strategy> strategy_of(std::string_view name) noexcept;

}  // namespace barrio::exchange
