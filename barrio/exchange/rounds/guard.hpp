#pragma once

#include <cstddef>

#include "barrio/base/assert.hpp"
#include "barrio/base/ids.hpp"

namespace barrio::exchange::detail {

/// Where checks are dear, a pattern stands behind the message that was handed out last, until the next one is asked
/// for or the buffer leaves; so a message that is written past its end is noticed before it goes out.
inline constexpr bool has_guards = BARRIO_ASSERTS(dear);
/// What a send buffer has beyond its packet.
inline constexpr std::size_t guard_bytes = has_guards ? 8 : 0;

/// Put the pattern there. Does nothing where checks are not dear.
void set_guard(std::byte* message_end);
/// @throws Error{usage} if the pattern is not there any more
void check_guard(const std::byte* message_end, Rank to);

}  // namespace barrio::exchange::detail
