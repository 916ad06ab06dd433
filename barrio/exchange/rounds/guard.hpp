#pragma once

#include <cstddef>

#include "barrio/base/assert.hpp"
#include "barrio/base/ids.hpp"

namespace barrio::exchange::detail {

/// With expensive checks a pattern follows the message handed out last, until the next one is allocated or the buffer
/// leaves. It reveals a write past the end of a message before the message leaves.
inline constexpr bool has_guards = BARRIO_ASSERTS(expensive);
/// Bytes of a send buffer beyond its packet.
inline constexpr std::size_t guard_bytes = has_guards ? 8 : 0;

/// Write the pattern. Does nothing without expensive checks.
void set_guard(std::byte* message_end);
/// Check the pattern. @throws Error{usage} if it was overwritten
void check_guard(const std::byte* message_end, Rank to);

}  // namespace barrio::exchange::detail
