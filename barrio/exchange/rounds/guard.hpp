#pragma once

#include <cstddef>

#include "barrio/base/assert.hpp"
#include "barrio/base/ids.hpp"

namespace barrio::exchange::detail {

/// With dear checks a pattern stands behind the message handed out last, until the next one is asked for or the buffer
/// leaves. So a message that is written past its end is noticed before it goes out.
inline constexpr bool has_guards = BARRIO_ASSERTS(dear);
/// What a send buffer has beyond its packet.
inline constexpr std::size_t guard_bytes = has_guards ? 8 : 0;

/// Write the pattern. Does nothing without dear checks.
void set_guard(std::byte* message_end);
/// @throws Error{usage} if the pattern is gone
void check_guard(const std::byte* message_end, Rank to);

}  // namespace barrio::exchange::detail
